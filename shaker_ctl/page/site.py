"""A site of pages: templates, words, logins, errors. The table's page and the floor's stand on it.

Owns how a request becomes a page for the person who sent it, and what somebody gets who may not see
it. Must not know what the pages show.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import jinja2
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Lifespan

from shaker_ctl.console.accounts import Accounts
from shaker_ctl.errors import ShakerError
from shaker_ctl.page.guard import RequestGuard, bearer
from shaker_ctl.page.look_log import NAME as LOOKED
from shaker_ctl.page.look_log import LookedLog
from shaker_ctl.page.parameters import PageParameters
from shaker_ctl.page.people import (
    ASKED_A_SECOND,
    COOKIE,
    MACHINES,
    NOBODY,
    RIGHTS,
    Logins,
    PageLogin,
    Right,
    UncheckedPassword,
)
from shaker_ctl.page.server import client_of
from shaker_ctl.page.words import Words

log = logging.getLogger(__name__)

HERE = Path(__file__).parent
TEMPLATES, STATIC = HERE / "templates", HERE / "static"

LANGUAGE = "language"
"""Cookie and query field with the language that a person has chosen."""

A_YEAR_S = 31_536_000
OF_ONE_ADDRESS = 2
"""Logins that wait for their check, of one address; one more is asked to come again. So an address
that sends login after login keeps another one waiting for two checks."""

Handler = Callable[[Request], Awaitable[Response]]


class Site:
    """Pages for people. One event loop."""

    def __init__(
        self,
        p: PageParameters,
        users_file: Path,
        *,
        menu: Sequence[tuple[Right, str, str]],
        described: Callable[[], Mapping[str, Any]],
        templates: Sequence[Path] = (),
        facts: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        """Open the log of looks. `menu`: (right, path, English name) of each page. `described`:
        what machines may read. `templates`: folders before this room's own. `facts`: what every
        template knows, asked for each page. Raises JournalError where there can be no log.
        """
        self._p = p
        self.people = Logins(Accounts(users_file), p.idle_s, is_open=not p.login)
        self.words = Words(p.words, p.language)
        self.looked = LookedLog(p.state_dir / LOOKED)
        self._described = described
        self._menu = menu
        self._facts = facts
        self._waiting: Counter[str] = Counter()
        """How many logins of each address wait."""
        self._turn = asyncio.Lock()
        """Held by the login that is checked; whoever waits gets it in the order of coming. Each
        check takes memory and time by design."""
        self.templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader([*templates, TEMPLATES]),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
            cache_size=100,
        )
        self.templates.filters["time"] = clock_time
        self.templates.filters["moment"] = moment

    def application(self, routes: Sequence[BaseRoute], life: Lifespan[Starlette]) -> RequestGuard:
        """Return the ASGI application of these routes and the site's own, behind its guard."""
        pages = Starlette(
            routes=[*routes, *self.routes()], exception_handlers=self.errors(), lifespan=life
        )
        # Starlette answers a broken page in front of all its middleware: so the guard is none.
        return RequestGuard(
            pages,
            name=self._p.name,
            only_loopback=not self._p.login,
            is_tls=self._p.certificate is not None,
            is_machine=lambda token: self.people.machine(token) is not NOBODY,
        )

    # ── Drawing ─────────────────────────────────────────────────────────────

    def language(self, request: Request) -> str:
        """Return the language of a request."""
        asked = request.query_params.get(LANGUAGE) or request.cookies.get(LANGUAGE, "")
        return self.words.chosen(asked, request.headers.get("accept-language", ""))

    def draw(self, template: str, language: str, /, **facts: Any) -> str:
        """Return a template drawn in a language."""
        say = self.words.say(language)
        return self.templates.get_template(template).render(_=say, language=language, **facts)

    def page(
        self, request: Request, template: str, /, *, status: int = 200, **facts: Any
    ) -> HTMLResponse:
        """Return a whole page for whoever sent the request. `marks`: of the records that it shows;
        they stand beside those of the table's own.
        """
        language = self.language(request)
        session = self.session(request, keeps=False)
        known = dict(self._facts())
        known["marks"] = tuple(dict.fromkeys([*known.get("marks", ()), *facts.pop("marks", ())]))
        menu = [(path, name) for right, path, name in self._menu if right in session.rights]
        html = self.draw(
            template,
            language,
            session=session,
            menu=menu,
            here=request.url.path,
            languages=self.words.languages,
            is_open=self.people.is_open,
            **known,
            **facts,
        )
        response = HTMLResponse(html, status)
        if request.query_params.get(LANGUAGE) in self.words.languages:
            response.set_cookie(LANGUAGE, language, max_age=A_YEAR_S, samesite="strict")
        return response

    # ── Who may ─────────────────────────────────────────────────────────────

    def session(self, request: Request, *, keeps: bool = True) -> PageLogin:
        """Return who has sent a request: a machine by its token, a person by the cookie."""
        if token := bearer(request.headers.get("authorization", "")):
            machine = self.people.machine(token)
            if machine is not NOBODY or not self.people.is_open:
                return machine
        return self.people.session(request.cookies.get(COOKIE), keeps=keeps)

    def admitted(self, request: Request, right: Enum, *, keeps: bool = True) -> PageLogin:
        """Return who has sent a request, with `right`. Raises HTTPException for everybody else, and
        for a machine that asks too often.
        """
        session = self.session(request, keeps=keeps)
        if right not in session.rights:
            raise HTTPException(401 if session is NOBODY else 403)
        if session.role in MACHINES:
            now = int(time.monotonic())
            session.asked = (now, session.asked[1] + 1 if session.asked[0] == now else 1)
            if session.asked[1] > ASKED_A_SECOND:
                raise HTTPException(429)
        return session

    def guarded(self, right: Enum, handler: Handler, *, is_page: bool = True) -> Handler:
        """Return a handler that only people with `right` reach. Others log in first, or are told
        that it is not for them. What is no page is refused with a status alone, and keeps nobody
        logged in: a script may ask for it.
        """

        async def guard(request: Request) -> Response:
            try:
                session = self.admitted(request, right, keeps=is_page)
            except HTTPException as refused:
                if refused.status_code != 401 or not is_page:
                    raise
                path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
                return RedirectResponse(f"/login?next={quote(path, safe='')}", 303)
            if is_page and session.role in MACHINES:
                raise HTTPException(403)  # a page shows its people also the round in hand
            return await handler(request)

        return guard

    def noted(self, request: Request, kind: str, what: str) -> None:
        """Put on record that whoever sent this request looks at something.

        Raises ShakerError where that cannot be recorded: then it is not shown.
        """
        session = self.session(request, keeps=False)
        if session.role in MACHINES:
            if kind in session.noted:
                return
            session.noted.add(kind)
        self.looked.note(kind, session, what)

    # ── Routes ──────────────────────────────────────────────────────────────

    def routes(self) -> list[BaseRoute]:
        """What every site has: login, logout, whether one is logged in, its description, files."""
        return [
            Route("/login", self._login, methods=["GET", "POST"]),
            Route("/logout", self._logout, methods=["POST"]),
            Route("/alive", self._alive),
            Route("/openapi.json", self.guarded(Right.SIGN, self._description, is_page=False)),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]

    def errors(self) -> dict[Any, Any]:
        """Return the handlers of what goes wrong, for the application."""
        return {HTTPException: self._refused, ShakerError: self._failed, Exception: self._broken}

    async def _description(self, _request: Request) -> Response:
        return JSONResponse(self._described())

    async def _login(self, request: Request) -> Response:
        wanted = _inside(request.query_params.get("next", "/"))
        if self.people.is_open or self.session(request) is not NOBODY:
            return RedirectResponse(wanted, 303)
        if request.method != "POST":
            return self._login_page(request, wanted)
        form = await form_of(request)
        name, role, word = (form.get(key, "") for key in ("name", "role", "passphrase"))
        client = client_of(request.client.host) if request.client else ""
        got = await self._checked(name, role, word, client)
        if isinstance(got, str):
            is_locked = self.people.is_locked(name, client)
            kind = "login-locked" if is_locked else "login-refused"
            # A name that nobody has may be a passphrase typed too early: it is not recorded.
            known = name if self.people.knows(name) else "?"
            if not isinstance(got, UncheckedPassword):
                role = role if role in RIGHTS else "?"
                self.looked.note(kind, PageLogin(known, role, "", 0.0), got)
            return self._login_page(request, wanted, got, name[:32], role)
        secret, session = got
        try:
            self.looked.note("login", session, "")
        except ShakerError:
            self.people.log_out(session)
            raise
        response = RedirectResponse(wanted, 303)
        response.set_cookie(COOKIE, secret, secure=True, httponly=True, samesite="strict")
        return response

    def _login_page(
        self, request: Request, wanted: str, refused: str = "", name: str = "", role: str = ""
    ) -> HTMLResponse:
        """The form, filled as it was sent, but for the passphrase."""
        filled = {"wanted": wanted, "refused": refused, "name": name, "chosen": role}
        status = 403 if refused else 200
        return self.page(request, "login.html", status=status, roles=tuple(RIGHTS), **filled)

    async def _checked(
        self, name: str, role: str, word: str, client: str
    ) -> tuple[str, PageLogin] | str:
        if self._waiting[client] >= OF_ONE_ADDRESS:
            return UncheckedPassword("too many people log in at once; try again")
        self._waiting[client] += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(self.people.log_in, name, role, word, client)
        finally:
            self._waiting[client] -= 1
            self._waiting += Counter()  # forgets who waits no more

    async def _logout(self, request: Request) -> Response:
        session = self.session(request)
        if session.role in MACHINES:
            raise HTTPException(403)  # a person withdraws a token
        if session is not NOBODY and not self.people.is_open:
            self.people.log_out(session)
            self.looked.note("logout", session, "")
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict")
        return response

    async def _alive(self, request: Request) -> Response:
        """For scripts of a page whose stream has ended: 204, or 401 where one must log in."""
        session = self.session(request, keeps=False)
        return Response(status_code=401 if session is NOBODY else 204)

    # ── What goes wrong ─────────────────────────────────────────────────────

    async def _refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        is_bare = error.detail == HTTPStatus(error.status_code).phrase
        return self._told(request, error.status_code, "" if is_bare else error.detail)

    async def _failed(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, ShakerError)
        log.warning("%s: %s", request.url.path, error.line())
        return self._told(request, 503, error.line())

    async def _broken(self, request: Request, error: Exception) -> Response:
        log.error("%s", request.url.path, exc_info=error)
        return self._told(request, 500, "")

    def _told(self, request: Request, status: int, why: str) -> Response:
        if "text/html" not in request.headers.get("accept", ""):
            return Response(why, status_code=status)
        return self.page(request, "error.html", status=status, code=status, why=why)


async def form_of(request: Request) -> dict[str, str]:
    """Return the first value of each field of a form. Raises HTTPException where it is none."""
    try:
        text = (await request.body()).decode()
        fields = parse_qs(text, max_num_fields=8, keep_blank_values=True)
    except ValueError:
        raise HTTPException(400) from None
    return {name: values[0] for name, values in fields.items()}


def _inside(path: str) -> str:
    """A place of this site to go on to; anything else becomes the first page."""
    is_here = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_here and path.isprintable() else "/"


def clock_time(wall: str | float) -> str:
    """A wall time as the house's clock has it: hours, minutes, seconds."""
    when = _local(wall)
    return str(wall)[:40] if when is None else when.strftime("%H:%M:%S")


def moment(wall: str | float) -> Markup:
    """A wall time, or seconds since 1970, as the house's clock has it, with the day."""
    when = _local(wall)
    if when is None:
        return Markup.escape(str(wall)[:40])
    # A narrow column breaks between the two, and not at the hyphens of the day.
    return Markup(when.strftime("<time>%Y-%m-%d</time> <time>%H:%M:%S</time>"))


def _local(wall: str | float) -> datetime | None:
    """None for what is no time on this machine: a record is shown whatever its clock said."""
    try:
        if isinstance(wall, str):
            return datetime.fromisoformat(wall).astimezone()
        return datetime.fromtimestamp(wall).astimezone()
    except (ValueError, OverflowError, OSError):
        return None
