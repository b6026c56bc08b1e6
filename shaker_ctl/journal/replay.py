"""Decides recorded events once more: would any decision differ today?

Owns the walk and the comparison. It is handed the rules as a function, so that it knows neither
their types nor their profile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import Plain, Record


@frozen
class Decided:
    """What an event leads to, in plain form: the rows taken, the commands, the state after."""

    rows: Plain
    decision: Plain
    state: Plain


Decide = Callable[[Plain, Plain], Decided]
"""(state, event) -> what follows. Raises ValueError where either cannot be understood."""


@frozen
class Difference:
    """One record that would be decided otherwise."""

    sequence: int
    round: int | None
    what: str
    then: Plain
    now: Plain


@dataclass(slots=True)
class Replay:
    """What a walk found."""

    steps: int = 0
    rounds: set[int] = field(default_factory=set)
    differences: list[Difference] = field(default_factory=list)


def replay(records: Iterable[Record], decide: Decide, initial: Plain | None) -> Replay:
    """Decide every recorded step again, from `initial` on, and compare.

    None: the first records are missing, and it begins behind the first that carries a state.

    Where a record carries the state that followed it, that state is compared too and then carried
    on with, so that one difference is told once and not in every step behind it.
    """
    found = Replay()
    state = initial
    for record in records:
        plain = record.plain
        if plain["kind"] != "step":
            continue
        if state is None:
            state = plain.get("state")
            continue
        found.steps += 1
        if plain["round"] is not None:
            found.rounds.add(plain["round"])
        try:
            decided = decide(state, plain["event"])
        except ValueError as error:
            found.differences.append(_difference(plain, "cannot be decided", "", str(error)))
            state = plain.get("state", state)
            continue
        for what, then, now in (
            ("rows", plain["rows"], decided.rows),
            ("commands", plain["decision"], decided.decision),
            ("state", plain.get("state", decided.state), decided.state),
        ):
            if then != now:
                found.differences.append(_difference(plain, what, then, now))
        state = plain.get("state", decided.state)
    return found


def _difference(plain: dict[str, Plain], what: str, then: Plain, now: Plain) -> Difference:
    event = plain["event"].get("type", "")
    return Difference(plain["sequence"], plain["round"], f"{event}: {what}", then, now)
