"""Every moment that a room sees, brought about by people at the consoles of a table."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import uvicorn

from hil_tests.waiting import until
from shaker_ctl.console.json_voice import plain
from shaker_ctl.page.app import Page
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.paytable import paid
from shaker_ctl.rules.state import Phase
from shaker_ctl.view.tests.seated import Seated
from vision.reading import Kind, NoRoll

ROUNDS = 22
"""Rounds that were played before."""


@contextmanager
def served(page: Page) -> Iterator[str]:
    """Serve a page of posed views on loopback; its address. The page ends with it."""
    config = uvicorn.Config(page.app, port=0, lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.started, limit_s=20)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    page.end_streams()
    server.should_exit = True
    thread.join(20)
    page.book.stop()
    page.site.looked.close()


def view_of(table: Seated) -> dict[str, Any]:
    """What the table's status socket says, with its lamps measured as they are lit."""
    view: Any = plain(table.desk.view())
    lit = sorted(table.lit)
    view["lamps"] |= {"measured": lit, "commanded": lit}
    odds = paid(table.rules.profile, table.rules.parameters.paytable)
    return {**view, "odds": odds, "monotonic_s": 0.0}


class Jammed(Seated):
    """The shaker fails in each toss."""

    def _performed(self, command: do.Command) -> Iterator[ev.Event]:
        if isinstance(command, do.StartToss) and self.state.round:
            yield ev.TossStarted(command.occasion)
            yield ev.ShakerFault(command.occasion, "tach-silent")
        else:
            yield from super()._performed(command)


def opened(kind: type[Seated] = Seated) -> Seated:
    table = kind().opened()
    table.state = replace(table.state, round=ROUNDS)
    return table


def betting() -> Seated:
    table = opened()
    table.dan.does("bets")
    return table


def tossing() -> Seated:
    table = betting()
    table.dan.does("nmb")
    return table


def announcing(kind: type[Seated] = Seated) -> Seated:
    table = opened(kind)
    return table.asked(table.dan)


def typed(line: str, table: Seated | None = None) -> Seated:
    table = table or announcing()
    table.dan.does(line)
    return table


def no_roll() -> Seated:
    table = opened()
    table.read = NoRoll(0, Kind.TILTED)
    return typed("000", table.asked(table.dan))


def by_hand() -> Seated:
    table = announcing()
    table.is_lamp_broken = True
    return typed("1 4 4", table)


def restarted() -> Seated:
    table = announcing()
    table.state = replace(table.state, phase=Phase.INTERRUPTED, dice_in_doubt=True, reading=None)
    return table


def out_of_service() -> Seated:
    table = opened()
    table.tom.does("out-of-order")
    return table


MOMENTS: dict[str, tuple[Callable[[], Seated], str, str]] = {
    "closed": (Seated, "The table is closed.", ""),
    "between": (opened, "The next round begins soon.", ""),
    "betting": (betting, "Place your bets.", ""),
    "tossing": (tossing, "No more bets.", ""),
    "announcing": (announcing, "The dealer announces the dice.", ""),
    "result": (lambda: typed("1 4 4"), "Losing wagers are collected.", ""),
    "dispute": (lambda: typed("5 6 4"), "Please wait: a floorperson is called.", "DISPUTE"),
    "no-roll": (no_roll, "This round has no result.", "NO ROLL"),
    "void": (lambda: announcing(Jammed), "This round has no result.", "VOID"),
    "by-hand": (by_hand, "Please wait: a floorperson is called.", "BY HAND"),
    "restart": (restarted, "Please wait: a floorperson is called.", "ON HOLD"),
    "out-of-service": (out_of_service, "This table is out of service.", "OUT OF SERVICE"),
}
"""(how people bring the table there, the room's sentence, what is called in the result's place)."""
