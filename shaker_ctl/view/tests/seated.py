"""People at the consoles of a table that plays by the product's rules, with devices that answer at
once and do what the test says.

What a person types goes the whole way: console, desk, event, rules; what the rules command is
answered here, and what they announce is heard at every console.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from shaker_ctl.console.desk import JournalView
from shaker_ctl.console.tests.support import PASSPHRASE, QuickAccounts, Terminal
from shaker_ctl.journal.record import Record
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import machine
from shaker_ctl.rules.outcome import Area, Values
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.tests.playing import ENTRIES, NOON, PLAN, PROOF
from shaker_ctl.rules.vocabulary import Multiplied, Role, Timer, TimeTrust
from shaker_ctl.service.fault_queue import FaultQueue
from shaker_ctl.service.state_thread import PostOutcome
from shaker_ctl.view.announcer import Announcer
from shaker_ctl.view.desk import TableDesk
from shaker_ctl.view.tests.paper import facts
from shaker_ctl.view.tests.test_archive import made, record
from vision.reading import Verdict, Verified

READ: Values = (1, 4, 4)


class Seat(Terminal):
    """A person who is logged in at a console of their own."""

    def does(self, line: str) -> str:
        """Give a command that must be taken; return what the table answers."""
        reply = self.ask(line)
        assert reply["status"] == "ok", (line, reply)
        return str(reply["text"])

    def is_refused(self, line: str) -> str:
        """Give a command that must not be taken; return why."""
        reply = self.ask(line)
        assert reply["status"] == "error", (line, reply)
        return str(reply["text"])


class Seated:
    """A table with people. Words of people come by `Seat`, all else by the attributes."""

    def __init__(self, **settings: Any) -> None:
        self.rules = rulebook(TableParameters.model_validate(settings))
        self.state = machine.initial(self.rules)
        self.now = NOON
        self.read: Verdict = Verified(READ)
        """What the reader will say of the next dice at rest."""
        self.odds: tuple[Multiplied, ...] = ()
        """What is drawn next."""
        self.are_odds_shown = True
        self.is_lamp_broken = False
        self.lit: frozenset[Area] = frozenset()
        self.heard: list[str] = []
        self.records: list[do.RecordRound] = []
        self.timer: do.StartTimer | None = None
        self._journal: list[Record] = []
        self._due: deque[ev.Event] = deque()
        faults, announcer = FaultQueue(), Announcer()
        self._faults, self._announcer = faults, announcer
        wall: Any = SimpleNamespace(
            now=lambda: self.now, trust=lambda: TimeTrust.RTC, stands_behind_records=False
        )
        self.facts = facts(
            self.rules,
            self,
            faults=faults,
            wall=wall,
            archive=SimpleNamespace(
                view=lambda: JournalView(state="good"),
                round=lambda number: made(*self._journal).round(number),
            ),
            announcer=announcer,
        )
        self.desk = TableDesk(self.facts)
        self.desk.subscribe(lambda said: self.heard.append(said.text))
        announcer.speak_at(self.desk.tell)
        self.happens(ev.Restarted(False, False, False))

    # ── people ──

    def seat(self, role: Role, name: str) -> Seat:
        """Somebody logs in at a console of their own."""
        seat = Seat(self.desk, Path(), accounts=QuickAccounts())
        seat.type("mode machine")
        seat.type(f"login {role.value} {name}")
        assert '"ok"' in seat.type(PASSPHRASE)
        return seat

    @property
    def dan(self) -> Seat:
        return self.seat(Role.DEALER, "dan")

    @property
    def fay(self) -> Seat:
        return self.seat(Role.FLOORPERSON, "fay")

    @property
    def sue(self) -> Seat:
        return self.seat(Role.SUPERVISOR, "sue")

    @property
    def tom(self) -> Seat:
        return self.seat(Role.TECHNICIAN, "tom")

    # ── devices and time ──

    def post(
        self,
        event: ev.Event,
        pictures: object = None,
        answer: Callable[[PostOutcome], None] | None = None,
    ) -> None:
        """Take an event as the state thread does, and all that devices answer to it."""
        step = machine.step(self.state, event, self.rules)
        if step.refused is None:
            self.state = step.state
            self.facts.why_due.observe(step, event)
            self._journal.append(
                record(
                    len(self._journal) + 1,
                    kind="step",
                    round=step.state.round or None,
                    event=to_record(event),
                    decision=[to_record(command) for command in step.commands],
                )
            )
            for command in step.commands:
                self._due.extend(self._performed(command))
        if answer is not None:
            refused = step.refused
            answer(
                PostOutcome(True, "ok", "", 1)
                if refused is None
                else PostOutcome(False, refused.code, refused.reason)
            )
        while self._due:
            self.post(self._due.popleft())

    def happens(self, *events: ev.Event) -> Seated:
        """What devices notice by themselves."""
        for event in events:
            self.post(event)
        return self

    def time_passes(self) -> Seated:
        """The timer that runs runs out."""
        assert self.timer is not None
        return self.happens(ev.TimerExpired(self.timer.timer, self.timer.occasion))

    def _performed(self, command: do.Command) -> Iterator[ev.Event]:
        match command:
            case do.StartTimer(timer=Timer.MIN_ROUND, occasion=o):
                yield ev.TimerExpired(Timer.MIN_ROUND, o)
            case do.StartTimer():
                self.timer = command
            case do.CancelTimer():
                self.timer = None
            case do.CheckTime(occasion=o):
                yield ev.TimeChecked(o, self.now, TimeTrust.RTC)
            case do.DrawTossPlan(occasion=o):
                yield ev.TossPlanDrawn(o, PLAN, self.now)
            case do.StartToss(occasion=o):
                yield ev.TossStarted(o)
                yield ev.TossSettled(o, PROOF)
            case do.StartReading(occasion=o):
                yield ev.AtRest(o)
                yield ev.ReadingMade(o, self.read)
            case do.DriveCover(open=is_open):
                yield ev.CoverOpened() if is_open else ev.CoverClosed()
            case do.DrawMultipliers(occasion=o):
                yield ev.MultipliersDrawn(o, self.odds)
            case do.ShowMultipliers(occasion=o):
                shown = self.are_odds_shown
                yield ev.MultipliersShown(o) if shown else ev.MultipliersNotShown(o, "readback")
            case do.Announce():
                self._announcer.notice(command)
            case do.RecordRound():
                self._announcer.round_ended(command)
                self.records.append(command)
            case do.RaiseFault(kind=kind, code=code):
                self._faults.raise_(kind, code, self.now.timestamp())
            case do.ClearFaults(kind=kind):
                self._faults.clear(kind)
            case _:
                yield from self._lamps(command)

    def _lamps(self, command: do.Command) -> Iterator[ev.Event]:
        match command:
            case do.ProveLampsDark(occasion=o):
                yield ev.LampsProvedDark(o, 0.0)
            case do.PushLamps(occasion=o) if self.is_lamp_broken:
                yield ev.LampFault(o, "lamp-readback")
            case do.PushLamps(occasion=o, values=values, areas=areas):
                self.lit = frozenset(areas)
                yield ev.LampsShown(o, values)
            case do.ClearLamps(occasion=o) | do.DarkenLamps(occasion=o):
                self.lit = frozenset()
                yield ev.LampsDark(o)
            case do.ProveEachLamp(occasion=o, areas=areas):
                yield ev.EachLampProved(o, areas)

    # ── stretches ──

    def inspected(self, fay: Seat | None = None) -> Seated:
        """From wherever an inspection is due to its signature, by the book."""
        fay = fay or self.fay
        if self.state.dice is None:
            fay.does("dice changed A1 A2 A3")
        fay.does("inspect all")
        for values in ENTRIES:
            fay.does("inspect enter {} {} {}".format(*values))
            self.time_passes()
            fay.does("inspect seen")
        fay.does("inspect walk")
        fay.does("inspect seen")
        if self.rules.multipliers:
            fay.does("inspect seen")
        while self.state.phase.value == "cycle_awaited":
            fay.does("inspect cycle")
            fay.does("inspect tossed")
        fay.does("sign")
        return self

    def opened(self) -> Seated:
        """An open table with dice that a floorperson locked in an hour ago."""
        fay = self.fay
        self.now = NOON - timedelta(hours=1)
        fay.does("dice changed A1 A2 A3")
        self.now = NOON
        self.inspected(fay)
        fay.does("open")
        if self.state.shift_due:
            self.shift_inspected()
        return self

    def shift_inspected(self) -> None:
        sue = self.sue
        sue.does("inspect shift")
        while self.state.phase.value == "cycle_awaited":
            sue.does("inspect cycle")
            sue.does("inspect tossed")
        sue.does("sign")

    def asked(self, dan: Seat) -> Seated:
        """A round up to the question for its values."""
        for line in ("bets", "nmb", "activate"):
            dan.does(line)
        return self
