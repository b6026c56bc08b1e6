"""The page of one table: its parts put together, the sign, the live streams and the pictures.

Owns the addresses of these three, the menu, and the life of the two threads that follow the table.
`history` and `technician` own their addresses. Must not know how a figure comes about.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from shaker_ctl import __version__
from shaker_ctl.adapters.disk.picture_folder import recorded_picture
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.history import Round
from shaker_ctl.page import door
from shaker_ctl.page import sign as signs
from shaker_ctl.page.history import History
from shaker_ctl.page.parameters import PageParameters, SignParameters
from shaker_ctl.page.people import PageLogin, Right
from shaker_ctl.page.places import TablePlaces
from shaker_ctl.page.regions import Regions, fields_of
from shaker_ctl.page.site import Site
from shaker_ctl.page.tables import Book, marks_of
from shaker_ctl.page.technician import Technician, wiring_of
from shaker_ctl.page.words import area, sentences
from shaker_ctl.service.table_watch import TableWatch

TABLES = "rounds.sqlite"

MENU = (
    (Right.STAFF, "/staff", "Staff"),
    (Right.SIGN, "/sign", "Sign"),
    (Right.ROUNDS, "/rounds", "Rounds"),
    (Right.DAY, "/day", "Day sheet"),
    (Right.STATISTICS, "/statistics", "Statistics"),
    (Right.TECHNICIAN, "/technician", "Technician"),
    (Right.LOOKED, "/looked", "Who looked"),
)

LIVE = {
    "sign": (Right.SIGN, ("bar", "state", "result", "layout", "road", "marks")),
    "staff": (Right.STAFF, ("staff", "result", "layout", "road")),
    "technician": (Right.TECHNICIAN, ("devices",)),
    "state": (Right.SIGN, ("sign.json", "road.json", "figures.json")),
}
"""Each live page, and what machines read live: who may see it, and its parts."""

CUES = ("no-more-bets", "result")
"""What a sign lets hear."""

VIEWS_HZ = 5.0


class Page:
    """One table's page. `app` is the ASGI application; its life starts and ends the threads."""

    def __init__(
        self, parameters: PageParameters, places: TablePlaces, house: SignParameters | None = None
    ) -> None:
        """`house`: of the sign. Raises JournalError where the log of looks cannot be opened."""
        p, self._places = parameters, places
        self._house = house or SignParameters()
        self._bets: tuple[int | None, float] = (None, 0.0)
        """The round whose bets are open, and since when (monotonic, s); None while none are."""
        self._regions = Regions(self._draw, self._said)
        self.watch = TableWatch(places.runtime_dir, VIEWS_HZ, self._heard)
        journal = places.journal
        self.book = Book(
            p.state_dir / TABLES, journal.path, journal.day_begins, self._regions.changed
        )
        self.site = Site(
            p, places.users_file, menu=MENU, described=door.described, facts=self._facts
        )
        self._technician = Technician(self.site, self.watch, self.book, places)
        self._drawn: dict[tuple[str, str], tuple[object, str]] = {}
        """(part, language) to what it shows and how that is drawn: a view comes five times a
        second, and most show nothing new."""
        self._past: tuple[object, list[Round], Round | None] = (None, [], None)
        """What the tables told last, and of which end of the journal and round in hand."""
        self.app = self.site.application(self._routes(), self._life)

    @asynccontextmanager
    async def _life(self, _app: Starlette) -> AsyncIterator[None]:
        self._regions.loop = asyncio.get_running_loop()
        self.watch.start()
        self.book.start()
        try:
            yield
        finally:
            self.watch.stop()
            self.book.stop()
            self.site.looked.close()

    def _routes(self) -> list[Any]:
        guarded = self.site.guarded
        return [
            Route("/", guarded(Right.SIGN, self._first)),
            Route("/sign", guarded(Right.SIGN, self._sign)),
            Route("/sign/{name}", guarded(Right.SIGN, self._of_the_house, is_page=False)),
            Route("/staff", guarded(Right.STAFF, self._staff)),
            Route("/state.json", guarded(Right.SIGN, self._state, is_page=False)),
            Route("/stream/{page}", self._stream),
            Route("/picture/{sha256}", guarded(Right.SIGN, self._picture, is_page=False)),
            *History(self.site, self.book, self._places).routes(),
            Route("/technician", guarded(Right.TECHNICIAN, self._technicians)),
            *self._technician.routes(),
        ]

    def _heard(self) -> None:
        """In the watch's thread: a view has come, or the table has gone."""
        if (view := self.watch.live()) is not None:
            opened = view["round_id"] if view["room"]["are_bets_open"] else None
            if opened != self._bets[0]:
                self._bets = (opened, time.monotonic())
        self._regions.changed()

    def _facts(self) -> Mapping[str, Any]:
        view = self.watch.view
        return {
            "table": self._places.name if view is None else view["table"],
            "marks": () if view is None else view["marks"],
            "version": __version__,
        }

    # ── Live pages ──────────────────────────────────────────────────────────

    async def _first(self, request: Request) -> Response:
        is_staff = Right.STAFF in self.site.session(request).rights
        return RedirectResponse("/staff" if is_staff else "/sign", 303)

    async def _sign(self, request: Request) -> Response:
        own = "house" if self._house.sounds else "tones"
        return self._live_page(request, "sign", sound=own if self._house.sound else "")

    async def _of_the_house(self, request: Request) -> Response:
        """What a house has set of its sign: logo, colours, sounds."""
        name, house = request.path_params["name"], self._house
        if name == "house.css":
            wanted = {"felt": house.felt, "lit": house.accent}
            said = "".join(f"--{what}: {colour};" for what, colour in wanted.items() if colour)
            return Response(f":root:root {{ {said} }}", media_type="text/css")
        files = {f"{sound}.mp3": house.sounds and house.sounds / f"{sound}.mp3" for sound in CUES}
        file = {**files, "logo": house.logo}.get(name)
        if file is None or not await asyncio.to_thread(_is_readable, file):
            raise HTTPException(404)
        return FileResponse(file)

    async def _staff(self, request: Request) -> Response:
        return self._live_page(request, "staff")

    async def _technicians(self, request: Request) -> Response:
        return self._live_page(request, "technician", **self._technician.facts())

    def _live_page(self, request: Request, name: str, **facts: Any) -> Response:
        language = self.site.language(request)
        parts = {one: self._regions.part(one, language) for one in LIVE[name][1]}
        age_s = self.watch.age_s()
        self._sign_now()
        shown = marks_of(self._past[1])
        return self.site.page(
            request, f"{name}.html", parts=parts, age_s=age_s, marks=shown, **facts
        )

    def _draw(self, name: str, language: str) -> str:
        if name == "devices":
            view = self.watch.view
            facts = {"view": view, "version": __version__, "wiring_of": wiring_of}
            return self.site.draw(f"parts/{name}.html", language, **facts)
        sign = self._sign_now()
        rounds, staff = self._past[1], signs.staff(self.watch.view)
        shown = (sign, rounds, staff, self.watch.trouble)
        known = self._drawn.get((name, language))
        if known is not None and known[0] == shown:
            return known[1]
        if made := door.PARTS.get(name):
            html = door.text(made(sign, rounds, staff))
        else:
            html = self._html(name, language, sign, staff)
        self._drawn[name, language] = (shown, html)
        return html

    def _html(self, name: str, language: str, sign: signs.Sign, staff: signs.Staff) -> str:
        rounds, say = self._past[1], self.site.words.say(language)
        return self.site.draw(
            f"parts/{name}.html",
            language,
            sign=sign,
            house=self._house.house,
            limits=self._house.limits,
            has_logo=self._house.logo is not None,
            road=rounds[-signs.ROAD :],
            figures=signs.figures(rounds),
            marks=dict.fromkeys([*sign.marks, *marks_of(rounds)]),
            kind_of=signs.kind_of,
            staff=staff,
            area=lambda name: area(name, say),
            sentences=lambda text: sentences(text, say),
            trouble=self.watch.trouble,
        )

    def _sign_now(self) -> signs.Sign:
        """The tables are asked anew where the journal has grown, or another round is in hand."""
        view = self.watch.view
        number = None if view is None else view["round_id"]
        if self._past[0] != (wanted := (self.book.cursor, number)):
            in_hand = self.book.round(number) if number is not None else None
            self._past = (wanted, self.book.last(signs.COUNTED), in_hand)
        return signs.sign(view, self._past[2], self._places.name)

    # ── Live ────────────────────────────────────────────────────────────────

    async def _stream(self, request: Request) -> Response:
        page = request.path_params["page"]
        right, names = LIVE.get(page, (None, ()))
        if right is None:
            raise HTTPException(404)
        session = self.site.admitted(request, right)
        language = self.site.language(request)
        if page == "state":
            names, language = _state_parts(session), "en"
        return self._regions.streamed(names, language, session, self.site.people.goes_on)

    async def _state(self, request: Request) -> Response:
        names = _state_parts(self.site.session(request, keeps=False))
        parts = {name: self._regions.part(name, "en") for name in names}
        missing = {"staff": None, "left_s": None}
        return door.answer({**missing, **fields_of(parts), **self._said()[1]})

    def _said(self) -> tuple[int, Mapping[str, object]]:
        """What every event carries: how far the journal is known, and how old the view is."""
        cursor, age_s = self.book.cursor, self.watch.age_s()
        fields: dict[str, object] = {"age_s": None if age_s is None else round(age_s, 2)}
        fields["version"] = __version__
        if self._house.bets_s and self._bets[0] is not None:
            fields["left_s"] = round(self._house.bets_s - (time.monotonic() - self._bets[1]), 1)
        return 0 if cursor is None else cursor.sequence, fields

    def end_streams(self) -> None:
        """Have every stream end at once."""
        self._regions.end()

    # ── Pictures ────────────────────────────────────────────────────────────

    async def _picture(self, request: Request) -> Response:
        """A picture by its digest. Whoever sees the sign alone gets the one that it shows."""
        wanted = request.path_params["sha256"]
        session = self.site.session(request)
        is_shown = wanted == self._shown_picture()
        if not is_shown and Right.ROUNDS not in session.rights:
            raise HTTPException(403)
        name = self.book.file_of(wanted)
        if name is None or "/" in name:
            raise HTTPException(404)
        if not is_shown:
            self.site.noted(request, "picture", wanted)
        folder = self._places.journal.pictures
        try:
            data = await asyncio.to_thread(recorded_picture, folder, name, wanted)
        except OSError:
            raise HTTPException(410, "this picture is no longer kept") from None
        except RefusedError as refused:
            raise HTTPException(410, str(refused)) from None
        return Response(data, media_type="image/jpeg")

    def _shown_picture(self) -> str:
        return self._sign_now().picture


def _state_parts(session: PageLogin) -> tuple[str, ...]:
    is_staff = Right.STAFF in session.rights
    return (*LIVE["state"][1], *(("staff.json",) if is_staff else ()))


def _is_readable(file: Path) -> bool:
    return os.path.isfile(file) and os.access(file, os.R_OK)
