"""The floor's page: every table at a glance, and what is stored of each.

It is built of parts of the table's page: the same look, login and stream. Owns which address
shows what. Nothing here acts on a table; accepting an alarm is a command of a named person.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from shaker_ctl import __version__
from shaker_ctl.errors import JournalCorruptError, JournalError, ShakerError
from shaker_ctl.floor import door
from shaker_ctl.floor.cards import TableCard, card_of, in_order
from shaker_ctl.floor.parameters import FloorParameters
from shaker_ctl.floor.store import Store
from shaker_ctl.floor.tables import ShownTable
from shaker_ctl.floor.watch import FloorWatch
from shaker_ctl.journal.record import NOT_UNDERSTOOD
from shaker_ctl.journal.volume import began, gaming_day
from shaker_ctl.link import topics
from shaker_ctl.page.door import RoundProof, answer, text
from shaker_ctl.page.history import MAX_NUMBER
from shaker_ctl.page.journal import RoundRecord, round_of
from shaker_ctl.page.people import PageLogin, Right
from shaker_ctl.page.regions import JSON, Regions, fields_of
from shaker_ctl.page.site import Site
from shaker_ctl.page.words import sentences
from shaker_ctl.view.archive import decided_in, said_in

HERE = Path(__file__).parent
MENU = (
    (Right.SIGN, "/", "Floor"),
    (Right.DAY, "/day", "Day sheet"),
)
ROUNDS_SHOWN = 50
STATE, ROOM_STATE = f"tables{JSON}", f"tables.room{JSON}"


class FloorPage:
    """One house's page. `app` is the ASGI application; its life starts and ends the thread."""

    def __init__(self, parameters: FloorParameters) -> None:
        """Raises SettingsError, StoreError, JournalError."""
        self._p = parameters
        self._store = Store(parameters.store, parameters.site)
        self._regions = Regions(self._draw, self._said)
        self.watch = FloorWatch(parameters.for_page(), self._regions.changed)
        self._histories: dict[str, str] = {}
        self.site = Site(
            parameters.page,
            parameters.users_file,
            menu=MENU,
            described=door.described,
            templates=(HERE / "templates",),
            facts=lambda: {"table": parameters.site, "marks": (), "version": __version__},
        )
        page, read = self.site.guarded, partial(self.site.guarded, is_page=False)
        routes = [
            Route("/", page(Right.SIGN, self._floor)),
            Route("/stream/{page}", self._stream),
            Route("/state.json", read(Right.SIGN, self._state)),
            Route("/tables/{name}", page(Right.ROUNDS, self._table)),
            Route("/tables/{name}/rounds.json", read(Right.ROUNDS, self._rounds_json)),
            Route("/tables/{name}/rounds/{number:int}", page(Right.ROUNDS, self._round)),
            Route("/tables/{name}/rounds/{number:int}.json", read(Right.ROUNDS, self._round_json)),
            Route("/day", page(Right.DAY, self._day)),
            Route("/day.json", read(Right.DAY, self._day_json)),
            Mount("/floor", StaticFiles(directory=HERE / "static")),
        ]
        self.app = self.site.application(routes, self._life)

    def end_streams(self) -> None:
        """Have every stream end at once."""
        self._regions.end()

    @asynccontextmanager
    async def _life(self, _app: Starlette) -> AsyncIterator[None]:
        self._regions.loop = asyncio.get_running_loop()
        self.watch.start()
        looking = asyncio.create_task(self._look_at_histories())
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.to_thread(self.watch.stop)
            self.site.looked.close()
            self._store.close()

    async def _look_at_histories(self) -> None:
        """Alarms of the record are the database's; tables do not know of them."""
        while True:
            try:
                standing = await asyncio.to_thread(self._store.alarms)
                found = {one.table_name: one.trouble for one in standing}
                if found != self._histories:
                    self._histories = found
                    self._regions.changed()
            except ShakerError as error:
                self._histories = {"database": error.line()}
            await asyncio.sleep(2.0)

    # ── Every table ─────────────────────────────────────────────────────────

    async def _floor(self, request: Request) -> Response:
        language = self.site.language(request)
        names = self._parts_for(self.site.session(request, keeps=False))
        parts = {name: self._regions.part(name, language) for name in names}
        return self.site.page(request, "floor.html", parts=parts, marks=self._marks())

    @staticmethod
    def _parts_for(session: PageLogin) -> tuple[str, ...]:
        """Whoever may see the wall alone reads of each table what its room reads."""
        return ("summary", "cards" if Right.STAFF in session.rights else "room_cards")

    def _marks(self) -> list[str]:
        tables = list(self.watch.tables.by_name.values())
        return sorted({mark for one in tables for mark in one.marks})

    def _cards(self) -> list[TableCard]:
        tables = list(self.watch.tables.by_name.values())
        return in_order(card_of(t, self._histories.get(t.place.table, "")) for t in tables)

    def _draw(self, name: str, language: str) -> str:
        cards = self._cards()
        if name.endswith(JSON):
            return text(cards if name == STATE else [door.public(one) for one in cards])
        is_staff = name != "room_cards"
        name = name.removeprefix("room_")
        say = self.site.words.say(language)
        return self.site.draw(
            f"parts/{name}.html",
            language,
            cards=cards,
            is_staff=is_staff,
            counts=Counter(card.life for card in cards),
            wrong=sum(card.shape in ("cross", "triangle") for card in cards),
            behind=sum(card.behind or 0 for card in cards),
            trouble=self.watch.trouble or self._histories.get("database", ""),
            sentences=lambda text: sentences(text, say),
        )

    async def _stream(self, request: Request) -> Response:
        page = request.path_params["page"]
        if page not in ("floor", "state"):
            raise HTTPException(404)
        session = self.site.admitted(request, Right.SIGN)
        language = self.site.language(request)
        names = self._parts_for(session)
        if page == "state":
            names, language = (_state_part(session),), "en"
        return self._regions.streamed(names, language, session, self.site.people.goes_on)

    async def _state(self, request: Request) -> Response:
        name = _state_part(self.site.session(request, keeps=False))
        part = {name: self._regions.part(name, "en")}
        return answer({**fields_of(part), **self._said()[1]})

    def _said(self) -> tuple[int, Mapping[str, object]]:
        return 0, {"age_s": None if self.watch.trouble else 0.0, "version": __version__}

    # ── One table ───────────────────────────────────────────────────────────

    def _named(self, request: Request) -> str:
        name: str = request.path_params["name"]
        if topics.parsed(topics.Place(self._p.site, name).topic(topics.STATE)) is None:
            raise HTTPException(404)
        return name

    async def _table(self, request: Request) -> Response:
        name = self._named(request)
        shown = self.watch.tables.by_name.get(name)
        rounds = await asyncio.to_thread(self._store.rounds, name, count=ROUNDS_SHOWN)
        lines = await asyncio.to_thread(self._store.lines, name)
        if shown is None and not lines:
            raise HTTPException(404)
        shown = shown or ShownTable(topics.Place(self._p.site, name))
        return self.site.page(
            request,
            "floor_table.html",
            name=name,
            card=card_of(shown, self._histories.get(name, "")),
            birth=shown.birth,
            alarms=sorted(shown.alarms.items()),
            rounds=rounds,
            lines=lines,
            marks=shown.marks,
        )

    async def _rounds_json(self, request: Request) -> Response:
        name = self._named(request)
        rows = await asyncio.to_thread(self._store.rounds, name, count=ROUNDS_SHOWN)
        return answer(door.FloorRounds(tuple(rows)))

    async def _round(self, request: Request) -> Response:
        name, found = self._named(request), await self._found(request)
        words: dict[str, Any] = {"said_in": said_in, "decided_in": decided_in}
        marks, page = found.told.marks, "floor_round.html"
        return self.site.page(request, page, name=name, found=found, marks=marks, **words)

    async def _round_json(self, request: Request) -> Response:
        found = await self._found(request)
        if not found.told.ended_in:
            raise HTTPException(404)
        return answer(RoundProof(found.told, found.identity, found.head, found.damage))

    async def _found(self, request: Request) -> RoundRecord:
        name, number = self._named(request), request.path_params["number"]
        if number >= MAX_NUMBER:
            raise HTTPException(404)
        records = await asyncio.to_thread(self._store.round_records, name, number)
        if not records:
            raise HTTPException(404)
        before = await asyncio.to_thread(self._store.before, name, records[0].sequence)
        self.site.noted(request, "round", f"{name} {number}")
        try:
            where = "the floor's database"
            return round_of(number, before.identity, before.head, records, where)
        except (*NOT_UNDERSTOOD, JournalCorruptError) as error:
            # A chain says that the records are the table's, not that they make sense.
            raise JournalError(
                f"no table of this software writes what {name} recorded of round {number}",
                remedy=f"`shaker-floor export {name} --round {number}` prints it as it came",
            ) from error

    # ── The house ───────────────────────────────────────────────────────────

    async def _counted(self, request: Request) -> door.FloorDay:
        asked = request.query_params.get("day", "")
        begins = self._p.day_begins
        try:
            day = date.fromisoformat(asked or gaming_day(datetime.now().astimezone(), begins))
            since, until = (
                began(one.isoformat(), begins).astimezone(UTC).isoformat(timespec="milliseconds")
                for one in (day, day + timedelta(days=1))
            )
        except (ValueError, OverflowError):
            raise HTTPException(400) from None
        tables = await asyncio.to_thread(self._store.day, since, until)
        return door.FloorDay(day.isoformat(), tables)

    async def _day(self, request: Request) -> Response:
        found = await self._counted(request)
        total = {key: sum(getattr(one, key) for one in found.tables) for key in door.COUNTED}
        begins = f"{began(found.day, self._p.day_begins):%H:%M %Z}"
        return self.site.page(
            request, "floor_day.html", found=found, total=total, begins=begins, keys=door.COUNTED
        )

    async def _day_json(self, request: Request) -> Response:
        return answer(await self._counted(request))


def _state_part(session: PageLogin) -> str:
    return STATE if Right.STAFF in session.rights else ROOM_STATE
