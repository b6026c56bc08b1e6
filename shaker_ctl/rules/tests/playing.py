"""A table in a test: short calls send events, and a test can look at the last step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from shaker_ctl.rules import events as ev
from shaker_ctl.rules.commands import Command
from shaker_ctl.rules.machine import initial, step
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Part, Person, Role, Timer, TimeTrust, TossPlan, TossProof
from vision.reading import Kind, NoRoll, Unreadable, Verified

DEALER = Person("Dana", Role.DEALER)
FLOOR = Person("Flora", Role.FLOORPERSON)
SUPERVISOR = Person("Sam", Role.SUPERVISOR)
TECHNICIAN = Person("Tess", Role.TECHNICIAN)
PLAN = TossPlan(720.0, 3.0, "steady")
PROOF = TossProof(3.0, 700.0, 740.0, 36.0)
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TILTED = NoRoll(1, Kind.TILTED, 11.0)
UNREADABLE = Unreadable.of("glare")
ENTRIES: tuple[Values, ...] = ((6, 6, 6), (2, 2, 5), (1, 3, 4))
"""What a floorperson enters: a triple, a pair, three different values."""


class Playing:
    """A table that a test plays on. Unexpected refusals fail at once."""

    def __init__(self, **settings: Any) -> None:
        self.rules = rulebook(TableParameters.model_validate(settings))
        self.state: TableState = initial(self.rules)
        self.now = NOON
        self.last = Step(self.state, (), ())
        self.history: list[tuple[ev.Event, Step]] = []

    def tell(self, event: ev.Event) -> Step:
        """Step, whatever comes of it."""
        self.last = step(self.state, event, self.rules)
        self.state = self.last.state
        self.history.append((event, self.last))
        return self.last

    def do(self, *events: ev.Event) -> Playing:
        """Step through events that must all be accepted."""
        for event in events:
            refused = self.tell(event).refused
            assert refused is None, refused
        return self

    @property
    def phase(self) -> Phase:
        return self.state.phase

    @property
    def said(self) -> Any:
        """What the first of two persons has stated."""
        return self.state.stated and self.state.stated.said

    @property
    def commands(self) -> list[type[Command]]:
        return [type(command) for command in self.last.commands]

    def last_of(self, kind: type[Command]) -> Any:
        """The command of this kind in the last step."""
        return next(each for each in self.last.commands if type(each) is kind)

    # ── stretches ──

    def locked(self) -> Playing:
        """A powered-up table with known dice."""
        self.do(ev.Restarted(False, False, False))
        return self.do(ev.DiceChanged(TECHNICIAN, ("1", "2", "3"), self.now - timedelta(hours=1)))

    def lamps_inspected(self, seen_by: Person = FLOOR, part: Part = Part.ALL) -> Playing:
        self.do(ev.InspectionRequested(seen_by, part, self.now))
        return self.lamps_seen(seen_by)

    def lamps_seen(self, seen_by: Person = FLOOR) -> Playing:
        """The lamps' part of an inspection that has begun."""
        for values in ENTRIES:
            self.lit_for(values, seen_by).do(ev.LampsSeen(seen_by))
            self.do(ev.LampsDark(self.state.occasion))
        self.do(ev.WalkRequested(seen_by))
        self.do(ev.EachLampProved(self.state.occasion, self.rules.areas))
        self.do(ev.LampsSeen(seen_by))
        if self.phase is Phase.ODDS_TRIED:
            self.do(ev.MultipliersShown(self.state.occasion), ev.LampsSeen(seen_by))
        return self

    def lit_for(self, values: Values, who: Person = FLOOR) -> Playing:
        """An inspection's entry of these values, lit for as long as a look takes."""
        self.do(ev.LampValuesEntered(who, values))
        self.do(ev.LampsShown(self.state.occasion, values))
        return self.do(ev.TimerExpired(Timer.LOOK, self.state.occasion))

    def cycled(self, by: Person = FLOOR, *, tossed: bool = True) -> Playing:
        """One cycle that this person starts and judges."""
        self.do(ev.CycleRequested(by)).tossed().at_rest().read(Verified((1, 2, 3)))
        return self.do(ev.CycleJudged(by, tossed))

    def tossed(self) -> Playing:
        """From the drawn plan until settled."""
        if self.phase is Phase.COVERING:
            self.do(ev.CoverClosed())
        o = self.state.occasion
        self.do(ev.TossPlanDrawn(o, PLAN, self.now), ev.LampsProvedDark(o, 0.0))
        return self.do(ev.TossStarted(o), ev.TossSettled(o, PROOF))

    def at_rest(self) -> Playing:
        if self.phase is Phase.REVEALING:
            self.do(ev.CoverOpened())
        return self.do(ev.AtRest(self.state.occasion))

    def read(self, verdict: Verified | NoRoll | Unreadable) -> Playing:
        return self.do(ev.ReadingMade(self.state.occasion, verdict))

    def inspected(self, by: Person = FLOOR) -> Playing:
        """Lamps, three good cycles, signature."""
        self.locked().lamps_inspected(by)
        for _ in range(3):
            self.cycled(by)
        return self.do(ev.Signed(by, self.now))

    def open(self, by: Person = FLOOR) -> Playing:
        self.inspected(by).do(ev.OpenRequested(by))
        self.clock()
        if self.state.shift_due and self.phase is Phase.READY:
            self.do(ev.ShiftInspectionRequested(SUPERVISOR))
            for _ in range(3):
                self.cycled(SUPERVISOR)
            self.do(ev.Signed(SUPERVISOR, self.now))
        return self

    def clock(self, trust: TimeTrust = TimeTrust.RTC) -> Playing:
        return self.do(ev.TimeChecked(self.state.question, self.now, trust))

    def betting(self) -> Playing:
        if self.phase is Phase.READY:
            self.do(ev.BetsRequested(DEALER))
        if self.phase is Phase.ADMITTING:
            self.clock()
        return self

    def no_more_bets(self) -> Playing:
        if self.rules.autonomous:
            return self.do(ev.TimerExpired(Timer.BETTING, self.state.occasion))
        return self.do(ev.NoMoreBetsCalled(DEALER, self.state.round))

    def settled(self) -> Playing:
        """An open table: bets, and a toss that has settled (under the cover where there is one)."""
        self.betting()
        if self.rules.nmb_before.value == "activate":
            self.no_more_bets()
        if self.phase in (Phase.BETTING, Phase.NO_MORE_BETS):
            self.do(ev.ActivationRequested(DEALER, self.state.round))
        return self.tossed()

    def revealed(self) -> Playing:
        if self.phase is Phase.COVERED:
            self.no_more_bets()
            if self.state.phase.value == "no_more_bets":
                self.do(ev.RevealRequested(DEALER, self.state.round))
        if self.phase is Phase.REVEALING:
            self.do(ev.CoverOpened())
        return self

    def awaiting_dealer(self, verdict: Verified | NoRoll | Unreadable) -> Playing:
        return self.settled().revealed().at_rest().read(verdict)

    def lit(self, values: Values = (1, 4, 4)) -> Playing:
        """A round up to proved lamps."""
        self.awaiting_dealer(Verified(values))
        if self.phase is Phase.AWAITING_DEALER:
            confirms = self.rules.entry.value == "dealer_confirm"
            kind = ev.ValuesConfirmed if confirms else ev.ValuesEntered
            self.do(kind(DEALER, self.state.round, values))
        return self.do(ev.LampsShown(self.state.occasion, values))

    def cleared(self) -> Playing:
        """From lit lamps to the next round."""
        o = self.state.occasion
        if not self.rules.people_settle:
            self.do(ev.TimerExpired(Timer.SETTLING, o), ev.TimerExpired(Timer.PAYOUT, o))
        else:
            self.do(ev.WagersSettled(DEALER, self.state.round))
            self.do(ev.LampsOffRequested(DEALER, self.state.round))
        self.do(ev.LampsDark(o))
        return self.do(ev.TimerExpired(Timer.MIN_ROUND, self.state.occasion))
