"""What the table did: rounds, one round, its export, days, figures over all of them.

Owns the addresses of the past and what each shows. Every look at a round or a day is on record
before it is answered.
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shaker_ctl.adapters.disk.record_tables import TablesReader, place
from shaker_ctl.journal.day_sheet import CLOSING_INSPECTION, DaySheet
from shaker_ctl.journal.history import Round
from shaker_ctl.journal.statistics import figures_of
from shaker_ctl.page import case, door
from shaker_ctl.page.journal import RoundRecord, read_day, read_round
from shaker_ctl.page.people import Right
from shaker_ctl.page.places import TablePlaces
from shaker_ctl.page.site import Site, form_of
from shaker_ctl.page.tables import Book, Wanted, marks_of
from shaker_ctl.quoting import cell
from shaker_ctl.rules.outcome import OUTCOMES, Values
from shaker_ctl.rules.vocabulary import Ending, words
from shaker_ctl.view.archive import decided_in, said_in

PER_PAGE = 50
MAX_NUMBER = 2**53
"""Round numbers above are none that a person means."""

ASKED = ("number", "from", "to", "ending", "cause", "person", "before")
"""What a person may look for."""

ENDINGS = tuple(ending.value for ending in Ending)

CSV_COLUMNS = (
    *("round", "began", "ended", "values", "source", "ending", "wagers", "cause"),
    "marks",
)

WAYS = Counter(map(sum, OUTCOMES))
"""In how many of 216 ways three dice give a total."""

_DAYS_KEPT = 4


class History:
    """The past's pages."""

    def __init__(self, site: Site, book: Book, places: TablePlaces) -> None:
        self._site, self._book, self._places = site, book, places
        self._days: dict[str, tuple[int, DaySheet]] = {}
        """A few days that were read, each up to its last record then."""

    def routes(self) -> list[Route]:
        """Addresses, each with the right that it needs."""
        guarded = self._site.guarded
        return [
            Route("/rounds", guarded(Right.ROUNDS, self._rounds)),
            Route("/rounds.json", guarded(Right.ROUNDS, self._rounds_json, is_page=False)),
            Route("/rounds/{number:int}", guarded(Right.ROUNDS, self._round)),
            Route(
                "/rounds/{number:int}.json",
                guarded(Right.ROUNDS, self._round_json, is_page=False),
            ),
            Route("/rounds/{number:int}/case", guarded(Right.EXPORT, self._case), methods=["POST"]),
            Route("/day", guarded(Right.DAY, self._day)),
            Route("/day.csv", guarded(Right.DAY, self._day_csv)),
            Route("/day.json", guarded(Right.DAY, self._day_json, is_page=False)),
            Route("/statistics", guarded(Right.STATISTICS, self._statistics)),
        ]

    # ── Rounds ──────────────────────────────────────────────────────────────

    async def _rounds(self, request: Request) -> Response:
        asked, wrong, found, before = await self._looked_for(request)
        return self._site.page(
            request,
            "rounds.html",
            rounds=found,
            marks=marks_of(found),
            asked=asked,
            wrong=wrong,
            more="" if before is None else urlencode({**asked, "before": str(before)}),
            endings=ENDINGS,
            causes=self._book.causes(),
            names=self._book.names(),
            trouble=self._book.trouble,
            is_behind=self._book.is_behind,
        )

    async def _rounds_json(self, request: Request) -> Response:
        _, wrong, found, before = await self._looked_for(request)
        if wrong:
            raise HTTPException(400, f"not understood: {', '.join(wrong)}")
        return door.answer(door.Rounds(tuple(one for one in found if one.ended_in), before))

    async def _looked_for(
        self, request: Request
    ) -> tuple[dict[str, str], list[str], list[Round], int | None]:
        """What was asked, which of it is not understood, the rounds, and where the next page
        begins."""
        asked = {key: request.query_params.get(key, "").strip()[:64] for key in ASKED}
        wrong: list[str] = []
        wanted = Wanted(
            number=_number(asked, "number", wrong),
            since=_time(asked, "from", wrong),
            until=_time(asked, "to", wrong),
            ending=asked.get("ending", ""),
            cause=asked.get("cause", ""),
            person=asked.get("person", ""),
            before=_number(asked, "before", wrong),
        )
        found = [] if wrong else await asyncio.to_thread(self._book.find, wanted, PER_PAGE + 1)
        before = found[PER_PAGE - 1].number if len(found) > PER_PAGE else None
        return asked, wrong, found[:PER_PAGE], before

    async def _found(self, number: int) -> RoundRecord:
        if not 0 < number < MAX_NUMBER:
            raise HTTPException(404)
        journal = self._places.journal
        found = await asyncio.to_thread(read_round, journal.path, journal.pictures, number)
        if found is None:
            raise HTTPException(404)
        return found

    async def _round(self, request: Request) -> Response:
        number = request.path_params["number"]
        found = await self._found(number)
        self._site.noted(request, "round", str(number))
        session = self._site.session(request, keeps=False)
        folder = self._places.journal.pictures
        kept = {name for _, name, _ in found.told.pictures if (folder / name).exists()}
        return self._site.page(
            request,
            "round.html",
            found=found,
            marks=found.told.marks,
            told=found.told,
            said_in=said_in,
            decided_in=decided_in,
            kept=kept,
            may_export=Right.EXPORT in session.rights,
            whole_s=sum(seconds for _, seconds in found.stages),
        )

    async def _round_json(self, request: Request) -> Response:
        number = request.path_params["number"]
        found = await self._found(number)
        if not found.told.ended_in:
            raise HTTPException(404)  # nobody reads here what is not announced yet
        self._site.noted(request, "round", str(number))
        return door.answer(door.RoundProof(found.told, found.identity, found.head, found.damage))

    async def _case(self, request: Request) -> Response:
        number = request.path_params["number"]
        found = await self._found(number)
        reason = " ".join((await form_of(request)).get("reason", "").split())[:200]
        if not reason:
            raise HTTPException(400)
        session = self._site.session(request, keeps=False)
        self._site.noted(request, "export", f"round {number}: {reason}")
        content = await asyncio.to_thread(
            case.pack,
            found,
            self._places.journal.pictures,
            table=self._places.name,
            by=session.name,
            role=session.role,
            reason=reason,
            at=datetime.now(UTC),
        )
        return download(content, f"round-{number}.zip", "application/zip")

    # ── Days ────────────────────────────────────────────────────────────────

    async def _day_of(self, request: Request) -> tuple[str, DaySheet | None, list[str]]:
        days = self._book.days()
        day = request.query_params.get("day") or next(iter(days), "")
        if day not in days:
            return day, None, list(days)
        last = days[day]
        upto, known = self._days.pop(day, (0, None))
        if known is None or upto != last:
            journal = self._places.journal
            known = await asyncio.to_thread(read_day, journal.path, day, journal.day_begins)
        self._days = dict([*self._days.items(), (day, (last, known))][-_DAYS_KEPT:])
        return day, known, list(days)

    def _dice_of(self, found: DaySheet | None) -> list[str]:
        """What the ledger of dice says of a day; nothing while it is being counted."""
        if found is None or not found.last:
            return []
        told = TablesReader(place(self._places.journal.path)).ledger(found.last)
        return [] if told is None else list(told.reconciled(found.first, found.ended))

    async def _day(self, request: Request) -> Response:
        day, found, days = await self._day_of(request)
        if found is None and "day" in request.query_params:
            raise HTTPException(404)
        self._site.noted(request, "day", day)
        return self._site.page(
            request,
            "day.html",
            day=day,
            days=days,
            sheet=found,
            dice=await asyncio.to_thread(self._dice_of, found),
            marks=() if found is None else sorted(found.marks),
            closing=CLOSING_INSPECTION,
            words=words,
            made=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S %Z (UTC%z)"),
        )

    async def _noted_day(self, request: Request, kind: str) -> tuple[str, DaySheet, list[str]]:
        day, found, days = await self._day_of(request)
        if found is None:
            raise HTTPException(404)
        self._site.noted(request, kind, day)
        return day, found, days

    async def _day_json(self, request: Request) -> Response:
        day, found, days = await self._noted_day(request, "day")
        return door.answer(door.Day(day, tuple(days), found))

    async def _day_csv(self, request: Request) -> Response:
        day, found, _ = await self._noted_day(request, "day.csv")
        text = await asyncio.to_thread(self._csv_of, found)
        return download(text.encode(), f"rounds-{day}.csv", "text/csv; charset=utf-8")

    def _csv_of(self, day: DaySheet) -> str:
        text = io.StringIO()
        rows = csv.writer(text)
        rows.writerow(CSV_COLUMNS)
        numbers = set(day.rounds)
        for one in self._book.between(min(numbers, default=0), max(numbers, default=0)):
            if one.number in numbers:
                values = " ".join(map(str, one.values or ()))
                told = (one.source, one.ending, one.wagers, one.cause, ", ".join(one.marks))
                rows.writerow(map(cell, (one.number, one.began, one.ended, values, *told)))
        return text.getvalue()

    # ── Figures ─────────────────────────────────────────────────────────────

    async def _statistics(self, request: Request) -> Response:
        counted = await asyncio.to_thread(self._counted)
        marks = await asyncio.to_thread(self._book.marks)
        return self._site.page(request, "statistics.html", marks=marks, **counted)

    def _counted(self) -> dict[str, Any]:
        """What the page of statistics shows; it looks at every round on record."""
        counted = TablesReader(place(self._places.journal.path)).counted()
        figures: dict[str, Any] = {}
        if counted is not None:
            figures = {**figures_of(counted[0]), "totals": _totals(counted[0].tosses)}
        return {
            "figures": figures,
            "until": counted[1] if counted else None,
            "readings": {words(name): n for name, n in self._book.counted("reading").items()},
            "reasons": self._book.counted("reason"),
            "causes": self._book.counted("cause"),
        }


def _totals(tosses: Counter[Values]) -> list[tuple[int, int, float]]:
    """(total, how often it came, how often of perfect dice)."""
    seen = Counter[int]()
    for values, count in tosses.items():
        seen[sum(values)] += count
    return [(total, seen[total], seen.total() * ways / 216) for total, ways in WAYS.items()]


def _number(asked: dict[str, str], key: str, wrong: list[str]) -> int | None:
    text = asked.get(key, "")
    if not text:
        return None
    if text.isascii() and text.isdigit() and int(text) < MAX_NUMBER:
        return int(text)
    wrong.append(key)
    return None


def _time(asked: dict[str, str], key: str, wrong: list[str]) -> str:
    """What a person typed as the house's time, as records have it."""
    text = asked.get(key, "")
    try:
        when = datetime.fromisoformat(text) if text else None
        return "" if when is None else when.astimezone(UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        wrong.append(key)
        return ""


def download(content: bytes, name: str, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=kind, headers=headers)
