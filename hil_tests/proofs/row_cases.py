"""`python -m hil_tests.proofs.row_cases`: one moment for each row and each of its guards.

Owns the search for such moments and the file `row_cases.jsonl`. A line holds a table, a state, an
event, and what comes of it. Without `guard`, the row is taken. With `guard`, this guard alone
fails: the row is not taken, and would be if the guard were left out. `tests/test_row_cases.py`
tries all of them; so a row that is deleted and a guard that is left out fail a test of that row's
name.

The states are those of a bounded walk from whole stories on every table that is proved, and on a
few imagined ones. A guard that never fails alone there is listed with `never`; `WHY` says why it
stands there all the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from rich.progress import track

from hil_tests.proofs.alphabet import BEFORE, LONG_AGO, NOW, OCCASIONS, PEOPLE, PLAN, alphabet
from hil_tests.proofs.explore import normal
from hil_tests.proofs.posted import is_posted
from hil_tests.proofs.tables import TODAY, ExploredTable, imagined, tables
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.machine import MACHINE, ROWS, initial, noted
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.row import Context, Guard, Row
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.tests.playing import (
    DEALER,
    FLOOR,
    SUPERVISOR,
    TILTED,
    UNREADABLE,
    Playing,
)
from shaker_ctl.rules.vocabulary import (
    Occasion,
    Part,
    Person,
    Purpose,
    RetireStep,
    Timer,
    TimeTrust,
    Verified,
)

FILE = Path(__file__).with_name("row_cases.jsonl")
STATES = 3500
"""States that are tried on each table."""
CANDIDATES = 8
"""Moments of which the one most like the row's own is kept."""

AT_ONCE = tuple(row for row in ROWS if row.on is None)


class Situation(NamedTuple):
    table: ExploredTable
    state: TableState
    event: ev.Event


Key = tuple[str, str]
"""A row's name, and the guard that fails alone; "" where the row is taken."""

WHY: dict[str, tuple[Key, ...]] = {
    "what denies has ended the round or cycle before; asked for again, because a motor starts": (
        ("lamps answered dark and healthy: shake", "nothing denies"),
        ("lamps answered dark and healthy: shake", "cover is right"),
        ("a cycle is started", "nothing denies"),
        ("a cycle is started, under the cover", "nothing denies"),
    ),
    "this timer runs only where a player starts, and bets close before that": (
        ("the player did not press in time", "bets close before activation"),
        ("the player did not press in time, cover first", "bets close before activation"),
    ),
    "where no cover may be, bets close before activation; the rows of other contacts need it": (
        (
            "a cover is put on after no more bets, before the toss: the round does not start",
            "bets close before activation",
        ),
    ),
    "whoever named these serials first was held to it; the row of the first has the same guards": (
        ("serials put right, by two persons, before the dice are used", "three dice"),
        ("serials put right, by two persons, before the dice are used", "no other dice"),
    ),
}
"""Why a guard stands that never fails alone."""


def plain(moment: Situation) -> dict[str, Any]:
    """Return a moment as the file has it: of the state, what differs from a new table's."""
    fresh = to_record(initial(moment.table.rules))
    state = {k: v for k, v in to_record(moment.state).items() if v != fresh[k]}
    return {"table": moment.table.name, "state": state, "event": to_record(moment.event)}


def outcome(moment: Situation) -> dict[str, Any]:
    """Return what comes of a moment: rows, changed fields of the state, kinds of command."""
    step = MACHINE.step(moment.state, moment.event, moment.table.rules)
    if step.refused is not None:
        return {"refused": step.refused.reason}
    before, after = to_record(moment.state), to_record(step.state)
    return {
        "rows": [row.name for row in step.rows],
        "changes": {name: value for name, value in after.items() if value != before[name]},
        "commands": [type(command).__name__ for command in step.commands],
    }


def pairs() -> set[Key]:
    """Return every row with each of its guards."""
    guards = {(row.name, guard.name) for row in ROWS for guard in row.when}
    return guards | {(row.name, "") for row in ROWS}


def find() -> dict[Key, Situation]:
    """Return a moment for each row and guard for which the walk has one."""
    found: dict[Key, list[Situation]] = {}
    for table in track([*tables(), *imagined()], "tables"):
        for moment in _moments(table):
            for key in _shown(moment):
                kept = found.setdefault(key, [])
                if len(kept) < CANDIDATES:
                    kept.append(moment)
    chosen: dict[Key, Situation] = {}
    for (row, guard), moments in found.items():
        own = found.get((row, ""), moments)[0]
        chosen[row, guard] = min(moments, key=lambda each: _distance(each, own))
    return chosen


def _distance(one: Situation, other: Situation) -> int:
    """Return in how many fields two moments differ."""
    differing = sum(
        a.get(name) != b.get(name)
        for a, b in zip(_fields(one), _fields(other), strict=True)
        for name in a.keys() | b.keys()
    )
    return differing + (one.table.name != other.table.name)


def _fields(moment: Situation) -> list[dict[str, Any]]:
    """Return the fields of a moment's state, and those of its event."""
    told = plain(moment)
    return [{**told[part], "type": (part, told["event"]["type"])} for part in ("state", "event")]


def _moments(table: ExploredTable) -> Iterator[Situation]:
    """Walk from the stories of a table: always on in the phase least visited so far."""
    waiting: dict[Phase, list[TableState]] = {}
    seen: set[TableState] = set()
    visits: Counter[Phase] = Counter()

    def put(state: TableState) -> None:
        if state not in seen:
            seen.add(state)
            waiting.setdefault(state.phase, []).append(state)

    put(normal(initial(table.rules)))
    for state in _stories(table):
        put(state)
    for turn in range(STATES):
        phases = [phase for phase, states in waiting.items() if states]
        if not phases:
            return
        phase = min(phases, key=lambda each: (visits[each], each.value))
        visits[phase] += 1
        state = waiting[phase].pop(0 if turn % 2 else -1)
        for event in _events(table, state):
            yield Situation(table, state, event)
            step = MACHINE.step(state, event, table.rules)
            if step.refused is None:
                put(normal(step.state))


def _events(table: ExploredTable, state: TableState) -> Iterator[ev.Event]:
    for event in (*alphabet(table, state.purpose), *_MORE):
        if is_posted(event) and MACHINE.has_rows(state.phase, type(event)):
            yield event


_MORE = (
    *(ev.TimerExpired(timer, each) for timer in Timer for each in OCCASIONS),
    *(ev.ReadingMade(each, UNREADABLE) for each in OCCASIONS),
    *(ev.TossPlanDrawn(each, PLAN, TODAY, TimeTrust.NONE) for each in OCCASIONS),
    *(
        ev.TimeChecked(Occasion(Purpose.CLOCK, number), TODAY, TimeTrust.NONE)
        for number in (NOW, BEFORE)
    ),
    *(ev.CorrectionAgreed(person, BEFORE, None) for person in PEOPLE),
    *(ev.ValuesEntered(person, NOW, (1, 4, 7)) for person in PEOPLE),
    *(ev.LampValuesEntered(person, (1, 4, 7)) for person in PEOPLE),
)
"""Letters that the alphabet does without: late ones, and values that no die has."""


def _shown(moment: Situation) -> Iterator[Key]:
    """Yield the row that each stage of a step takes, and rows that one guard alone keeps out."""
    step = MACHINE.step(moment.state, moment.event, moment.table.rules)
    taken = {row.name for row in step.rows}
    yield from ((name, "") for name in taken)
    for machine_rows, context in _stages(moment, step.rows):
        for row in machine_rows:
            if row.name in taken:
                break
            failing = [guard for guard in row.when if not _holds(guard, context)]
            if len(failing) == 1 and not _raises(row, failing[0], context):
                yield row.name, failing[0].name


def _stages(moment: Situation, taken: tuple[Row, ...]) -> Iterator[tuple[tuple[Row, ...], Context]]:
    """Yield the rows looked through, and what they see: for the event, then those taken at once."""
    state = moment.state
    context = Context(state, moment.event, moment.table.rules.in_use(manual=state.manual))
    kind = type(moment.event)
    yield tuple(r for r in ROWS if r.on is kind and state.phase in r.phases), context
    for row in taken:
        context = noted(row, context)
        found = tuple(row for row in AT_ONCE if context.state.phase in row.phases)
        if found:
            yield found, context


def _holds(guard: Guard, context: Context) -> bool:
    with suppress(AttributeError, TypeError):  # an earlier guard sees to it that it can be asked
        return guard.holds(context)
    return False


def _raises(row: Row, left_out: Guard, context: Context) -> bool:
    """True where the guards after the one left out cannot be asked."""
    try:
        return not all(guard.holds(context) for guard in row.when if guard is not left_out)
    except (AttributeError, TypeError):
        return True


# ── Stories ─────────────────────────────────────────────────────────────────


class _Teller(Playing):
    """Tells a story on any table: where two persons name the dice, two do."""

    def locked(self) -> Playing:
        super().locked()
        named = self.state.dice_named
        return self.do(ev.DiceChanged(FLOOR, named.serials, self.now)) if named else self


def _stories(table: ExploredTable) -> Iterator[TableState]:
    """Yield the states of whole rounds, inspections and repairs, as far as a table has them."""
    for story in (
        _played,
        _no_roll,
        _unread,
        _disputed,
        _by_hand,
        _corrected,
        _corrected_in_doubt,
        _in_parts,
        _blind,
        _manual,
        _retired_whole,
        _bad_cycles,
        _cover_stays,
        _interrupted_early,
        _shift_signed_late,
    ):
        t = _Teller()
        t.rules, t.state, t.now = table.rules, initial(table.rules), table.day
        with suppress(AssertionError):  # this table's story ends here
            story(t)
        yield from (_representative(step.state) for _, step in t.history)


def _played(t: Playing) -> None:
    t.open().lit().cleared()


def _no_roll(t: Playing) -> None:
    t.open().awaiting_dealer(TILTED)


def _unread(t: Playing) -> None:
    t.open().awaiting_dealer(UNREADABLE)


def _disputed(t: Playing) -> None:
    t.open().awaiting_dealer(Verified((1, 4, 4)))
    t.do(ev.ValuesEntered(DEALER, t.state.round, (3, 3, 3)))


def _by_hand(t: Playing) -> None:
    t.open().lit().do(ev.LampFault(None, "bulb"))


def _corrected(t: Playing) -> None:
    """Typed wrongly, and no roll; wagers are dealt with before the lamps are proved dark."""
    t.open().awaiting_dealer(UNREADABLE)
    number = t.state.round
    t.do(*2 * [ev.ValuesEntered(DEALER, number, (1, 4, 4))])
    t.do(ev.LampsShown(t.state.occasion, (1, 4, 4)), ev.CorrectionNamed(DEALER, number, None))
    t.do(ev.CorrectionAgreed(FLOOR, number, None), ev.WagersSettled(DEALER, number))
    t.do(ev.TimerExpired(Timer.MIN_ROUND, t.state.occasion))


def _in_parts(t: Playing) -> None:
    t.locked().lamps_inspected(part=Part.LAMPS).do(ev.InspectionRequested(FLOOR, Part.SHAKER))
    t.cycled().cycled().cycled()
    t.tell(ev.Restarted(False, False, False))
    t.do(ev.InspectionRequested(FLOOR, Part.SHAKER)).cycled().cycled().cycled()
    t.lamps_inspected(part=Part.LAMPS)


def _blind(t: Playing) -> None:
    t.open().do(ev.ReaderFault(None, "camera"), ev.ReturnRequested(FLOOR)).lamps_inspected()
    for _ in range(3):
        t.do(ev.CycleRequested(FLOOR)).tossed()
        t.do(ev.CycleJudged(FLOOR, tossed=True))
    t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR)).clock().settled().revealed()


def _manual(t: Playing) -> None:
    t.open().do(ev.ShakerFault(None, "motor"), ev.CompartmentOpened(), ev.CompartmentClosed())
    t.do(ev.ShakerRetired(FLOOR, t.rules.retire_steps or frozenset(RetireStep)))
    t.do(ev.DiceChanged(FLOOR, ("7", "8", "9"), t.now)).lamps_inspected()
    t.do(ev.Signed(FLOOR, t.now), ev.OpenRequested(FLOOR)).clock()
    t.do(ev.BetsRequested(DEALER)).clock().do(ev.NoMoreBetsCalled(DEALER, t.state.round))
    t.clock()


def _corrected_in_doubt(t: Playing) -> None:
    """Put right, and then an outage casts doubt on the dice."""
    t.open().awaiting_dealer(UNREADABLE)
    number = t.state.round
    t.do(*2 * [ev.ValuesEntered(DEALER, number, (1, 4, 4))])
    t.do(ev.LampsShown(t.state.occasion, (1, 4, 4)), ev.CorrectionNamed(DEALER, number, (3, 3, 3)))
    t.do(ev.CorrectionAgreed(FLOOR, number, (3, 3, 3)), ev.Restarted(False, False, False))
    t.do(ev.LampsShown(t.state.occasion, (3, 3, 3)))


def _retired_whole(t: Playing) -> None:
    """A shaker in order is put out of use, and its camera fails."""
    t.open().do(ev.OutOfServiceRequested(FLOOR), ev.CompartmentOpened(), ev.CompartmentClosed())
    t.do(ev.ShakerRetired(FLOOR, t.rules.retire_steps or frozenset(RetireStep)))
    t.do(ev.OutOfServiceRequested(FLOOR), ev.ReaderFault(None, "camera"))


def _bad_cycles(t: Playing) -> None:
    t.locked().lamps_inspected().cycled(tossed=False).cycled(tossed=False).cycled(tossed=False)


def _cover_stays(t: Playing) -> None:
    """The reveal has its time, and the contact still says that the cover is on."""
    t.open().settled()
    if t.phase is Phase.COVERED:
        t.no_more_bets()
    if t.phase is Phase.NO_MORE_BETS:
        t.do(ev.RevealRequested(DEALER, t.state.round))
    t.do(ev.TimerExpired(Timer.COVER, t.state.occasion))


def _interrupted_early(t: Playing) -> None:
    """Interrupted before the reveal, and read all the same."""
    t.open().settled().no_more_bets()
    t.do(ev.Restarted(False, False, True, True), ev.RevealRequested(DEALER, t.state.round))
    t.do(ev.CoverOpened()).at_rest().read(Verified((1, 4, 4)))


def _shift_signed_late(t: Playing) -> None:
    t.inspected().do(ev.OpenRequested(FLOOR)).clock()
    t.do(ev.ShiftInspectionRequested(SUPERVISOR, t.now - LONG_AGO))
    for _ in range(t.rules.shift_cycles):
        t.cycled(SUPERVISOR)


def _representative(state: TableState) -> TableState:
    """Bring the people of a story to those of the proof, and the numbers to its own."""
    of_role = {person.role: person for person in PEOPLE}
    people: dict[str, object] = {
        name: of_role[value.role]
        for name, value in vars(state).items()
        if isinstance(value, Person)
    }
    return normal(state.changed(people) if people else state)


def main() -> None:
    found = find()
    lines = []
    for row in ROWS:
        for guard in ("", *dict.fromkeys(each.name for each in row.when)):
            line: dict[str, Any] = {"row": row.name} | ({"guard": guard} if guard else {})
            moment = found.get((row.name, guard))
            line |= plain(moment) | {"then": outcome(moment)} if moment else {"never": True}
            lines.append(json.dumps(line, ensure_ascii=False))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
