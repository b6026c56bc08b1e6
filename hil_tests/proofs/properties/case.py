"""One transition as the properties see it, and how a property is registered.

Owns `Case`, `proves` and `check`. A property says nothing about most transitions. Where it has
something to say it returns True or False; how often it did is its non-vacuous count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hil_tests.proofs.tables import ExploredTable
from hil_tests.proofs.watch import NEEDS_MANUAL_SHAKER, Watch, is_current, is_of_the_camera
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Cause, Ending, FaultKind, Notice, Purpose, Role

IN_CHARGE = frozenset({Role.FLOORPERSON, Role.SUPERVISOR})
SPEAKING_ROLES = IN_CHARGE | {Role.DEALER}


class Case:
    """One event met in one state, with what was known from outside before it and after it."""

    __slots__ = (
        *("table", "rules", "expected", "before", "after", "state", "phase", "event", "step"),
        *("next", "to", "commands", "refused", "accepted", "kinds", "notices"),
    )

    def __init__(
        self,
        table: ExploredTable,
        before: Watch,
        after: Watch,
        state: TableState,
        event: ev.Event,
        step: Step,
    ) -> None:
        table = table.in_use(manual=before.manual)
        self.table, self.rules, self.expected = table, table.rules, table.expected
        self.before, self.after = before, after
        self.state, self.phase = state, state.phase
        """Where the machine stood when it met the event."""
        self.event: Any = event
        """Each property that names its events knows which type this is."""
        self.step = step
        self.next, self.to = step.state, step.state.phase
        """Where the machine stands after it."""
        self.commands = step.commands
        self.refused = step.refused is not None
        self.accepted = step.refused is None
        self.kinds = frozenset(map(type, step.commands))
        self.notices = [each.notice for each in step.commands if type(each) is do.Announce]

    @property
    def is_current(self) -> bool:
        """True when the event belongs to no occasion, or to the present one."""
        return is_current(self.state, self.event)

    @property
    def broken(self) -> frozenset[FaultKind]:
        """What is broken and missed: the reader is not, where the dealer enters without it, and
        neither it nor the shaker where a manual shaker is in use."""
        if self.after.manual:
            return self.before.faults - NEEDS_MANUAL_SHAKER
        off = self.before.camera_off or self.after.camera_off
        return self.before.faults - {FaultKind.READER} if off else self.before.faults

    @property
    def in_round(self) -> bool:
        """True while a round is in hand that has not ended without a result."""
        return self.before.playing and self.phase is not Phase.WITHOUT_RESULT

    @property
    def is_aside(self) -> bool:
        """True for what concerns a shaker or a reader that is not in use: nothing follows."""
        if is_of_the_camera(self.event):
            return self.before.manual or self.before.camera_off
        if self.before.manual:
            return isinstance(self.event, ASIDE)
        return self.before.camera_off and isinstance(self.event, ev.ReaderFault)

    @property
    def resting(self) -> Phase:
        """Where a toss that has settled uncovered goes: nothing looks at it without the reader."""
        if not self.before.camera_off:
            return Phase.COMING_TO_REST
        if self.before.playing:
            return Phase.INTERRUPTED if self.before.interrupted else Phase.AWAITING_DEALER
        if self.state.purpose is not Purpose.TRIAL:
            return Phase.CYCLE_TO_BE_JUDGED
        more = self.before.faults - {FaultKind.READER}
        return Phase.OUT_OF_SERVICE if more or self.before.out else Phase.INSPECTION_DUE

    @property
    def again(self) -> bool:
        """True when a no roll led to another toss over the same wagers."""
        onwards = (Phase.NO_MORE_BETS, Phase.COVERING, Phase.PLANNING)
        return self.tells(Notice.NO_ROLL) and self.to in onwards

    @property
    def ending(self) -> Ending | None:
        """How the round ended without a result on this transition, or would have; else None."""
        ended = self.to is Phase.WITHOUT_RESULT and self.phase is not Phase.WITHOUT_RESULT
        return Ending.NO_ROLL if self.again else self.next.ending if ended else None

    def ends(self, ending: Ending, cause: Cause) -> bool:
        """True when the round ended on this transition in this way and for this cause."""
        return self.ending is ending and (self.again or self.next.cause is cause)

    def on(self, *kinds: type[ev.Event]) -> bool:
        """True when the event is of any of these kinds."""
        return isinstance(self.event, kinds)

    def orders(self, *kinds: type[do.Command]) -> bool:
        """True when a command of any of these kinds was given."""
        return not self.kinds.isdisjoint(kinds)

    def tells(self, notice: Notice) -> bool:
        """True when people were told this."""
        return notice in self.notices

    def first(self, kind: type[do.Command]) -> Any:
        """Return the first command of this kind; there is one."""
        return next(each for each in self.commands if type(each) is kind)


def came_out(case: Case) -> bool:
    """Before a manual shaker is used the dice may be out, or the text does not ask for it."""
    may_be_out = case.before.reached or not case.before.dice
    return may_be_out or not case.expected.dice_removed


ASIDE = (
    *(ev.CompartmentOpened, ev.CompartmentClosed, ev.EstopPressed, ev.EstopReleased),
    *(ev.CoverOpened, ev.CoverClosed, ev.ShakerFault, ev.ReaderFault),
)
"""What a retired shaker reports."""


class Violation(NamedTuple):
    """A transition on which a property does not hold."""

    property: str
    table: str
    state: TableState
    event: ev.Event
    step: Step


Judge = Callable[[Case], bool | None]


class Property(NamedTuple):
    name: str
    judge: Judge


PROPERTIES: list[Property] = []
_BY_COMMAND: dict[type, list[Property]] = {}
_BY_EVENT: dict[type, list[Property]] = {}
_BY_GRANT: dict[type, list[Property]] = {}
_ON_ACCEPTED: list[Property] = []
_ON_REFUSED: list[Property] = []


def proves(
    name: str,
    *,
    commands: tuple[type, ...] = (),
    events: tuple[type, ...] = (),
    granted: tuple[type, ...] = (),
    accepted: bool = False,
    refused: bool = False,
) -> Callable[[Judge], Judge]:
    """Register a property, and on which transitions it is asked at all.

    Where one of `commands` was given; on these `events`, or on these when `granted`; or on
    everything that is `accepted`, or `refused`.
    """

    def register(judge: Judge) -> Judge:
        one = Property(name, judge)
        PROPERTIES.append(one)
        for kind in commands:
            _BY_COMMAND.setdefault(kind, []).append(one)
        for kind in events:
            _BY_EVENT.setdefault(kind, []).append(one)
        for kind in granted:
            _BY_GRANT.setdefault(kind, []).append(one)
        if accepted:
            _ON_ACCEPTED.append(one)
        if refused:
            _ON_REFUSED.append(one)
        return judge

    return register


def check(case: Case) -> list[tuple[str, bool]]:
    """Return (property, holds) for every property that has something to say."""
    return [(name, held) for name, judge in asked(case) if (held := judge(case)) is not None]


_ASKED: dict[tuple[type, bool, frozenset[type]], tuple[Property, ...]] = {}


def asked(case: Case) -> tuple[Property, ...]:
    """Return the properties to ask about such a transition."""
    kind, refused, commands = type(case.event), case.refused, case.kinds
    found = _ASKED.get((kind, refused, commands))
    if found is None:
        of_commands = [one for said in commands for one in _BY_COMMAND.get(said, ())]
        always = _ON_REFUSED if refused else (*_BY_GRANT.get(kind, ()), *_ON_ACCEPTED)
        found = (*_BY_EVENT.get(kind, ()), *always, *of_commands)
        _ASKED[kind, refused, commands] = found
    return found
