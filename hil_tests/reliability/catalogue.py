"""The rows of the faults: what is done to a table, when, and what must become of it.

Owns how they are read from `hil_tests/faults.toml`. Must not know how a row is carried out. A row
that names no known act, moment, outcome or field is refused when the table is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from pydantic import TypeAdapter

from hil_tests.reliability import acts
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.required import Required
from hil_tests.rig.fault_set import TABLE

PROFILE = "pa-625a"
"""Uncovered; a cover is allowed and none is fitted."""

COVERED = "md"
"""A driven cover, and its contact in the interlock; bets close before the reveal."""

BARE = "pa-539"
"""A cover is forbidden: its contact must say that none is there."""

Outcomes = tuple[Required, ...]
_Kind = TypeVar("_Kind")


@dataclass(frozen=True, slots=True)
class CatalogueFault:
    """One row."""

    name: str
    act: acts.Act
    required: Mapping[Moment, Outcomes]
    """Its moments, the worst first; with several outcomes each is right."""
    dwell_s: float = 1.2
    """How long people leave the table alone at `BETS` and `LIT` after the fault."""
    hold_s: float = 0.0
    """How long the fault is left after the round is over, for what shows only then."""
    profile: str = PROFILE
    """The table that it is played at."""
    restarts: bool = False
    """The service must be started again by a person before the round can end."""

    @property
    def worst(self) -> Moment:
        return next(iter(self.required))


_ACTS: Mapping[str, type[acts.Act]] = {
    "rig": acts.InjectFault,
    "hands": acts.UseHands,
    "process": acts.SignalProcess,
    "hang": acts.HangThread,
    "medium": acts.BreakMedium,
    "clock": acts.StepClock,
    "memory": acts.LowerMemory,
    "typed": acts.TypeText,
    "other-client": acts.DriveMotor,
    "start": acts.BreakStart,
}
_SINGLE = {"rig": "sentence", "clock": "step_s", "memory": "available_kb", "start": "what"}
"""The field that an act is given as, where the table has no more to say of it."""


def _made(kind: type[_Kind], said: dict[str, Any]) -> _Kind:
    if unknown := said.keys() - {field.name for field in fields(kind)}:  # type: ignore[arg-type]
        raise ValueError(f"{kind.__name__} has no {', '.join(sorted(unknown))}")
    return TypeAdapter(kind).validate_python(said)


def _act(word: str, said: Any) -> acts.Act:
    if word == "then":
        first, second = (_act(*next(iter(said[which].items()))) for which in ("first", "second"))
        return acts.Then(first, second, said["after_s"])
    return _made(_ACTS[word], said if isinstance(said, dict) else {_SINGLE[word]: said})


def _of_rig(fault: str, row: dict[str, Any]) -> acts.Act:
    """What is done in a row below a fault of the rig; takes its words out of the row."""
    sentence = " ".join(filter(None, (fault, row.pop("with", ""))))
    if row.pop("at_start", False):
        return acts.BreakStart(sentence, of_rig=True)
    return acts.InjectFault(sentence, row.pop("for_s", None))


def _whole(like: Mapping[str, Any], said: str | dict[str, Any]) -> dict[str, Any]:
    """An outcome with what it has from the outcome that it is like."""
    own = {"is": said} if isinstance(said, str) else dict(said)
    return {**_whole(like, like[own.pop("is")]), **own} if "is" in own else own


def _required(like: Mapping[str, Any], said: str | dict[str, Any]) -> Required:
    one = _whole(like, said)
    event = one.pop("event", None)
    if event and "seen_as" not in one:
        one["seen_as"] = [f"{event}:{code}" for code in one.get("codes", ())] or [event]
    if (after_s := one.pop("en_low_after_s", None)) is not None:
        one["motor_within_s"] = one["within_s"] + after_s
    return _made(Required, one)


def read_row(
    like: Mapping[str, Any], name: str, row: Mapping[str, Any], fault: str = ""
) -> CatalogueFault:
    """A row; `like` has the outcomes by name, and `fault` is the rig's that it stands below.

    Raises for a word that there is not.
    """
    row = dict(row)
    if fault:
        act = _of_rig(fault, row)
    else:
        word = next(key for key in row if key in _ACTS or key == "then")
        act = _act(word, row.pop(word))
    moments = {moment: row.pop(key) for key in list(row) if (moment := _MOMENTS.get(key))}
    required = {
        moment: tuple(_required(like, one) for one in (said if isinstance(said, list) else [said]))
        for moment, said in moments.items()
    }
    return CatalogueFault(name, act, required, **row)


_MOMENTS = {moment.name.lower(): moment for moment in Moment}
_PARTS = TABLE.keys() - {"outcomes", "rows"}


def _read() -> Iterator[CatalogueFault]:
    """Every row of the file: those below a fault of the rig, then the others."""
    like = TABLE["outcomes"]
    for part in (part for part in TABLE if part in _PARTS):
        prefix = "camera_" if part == "camera" else ""
        for fault, said in TABLE[part].items():
            for name, row in said.get("rows", {}).items():
                yield read_row(like, name, row, prefix + fault)
    for name, row in TABLE["rows"].items():
        yield read_row(like, name, row)


FAULTS = tuple(_read())
BY_NAME = {fault.name: fault for fault in FAULTS}


def rows(*, every_moment: bool) -> list[tuple[CatalogueFault, Moment]]:
    """What is to be played: each fault at its worst moment, or the whole matrix."""
    if not every_moment:
        return [(fault, fault.worst) for fault in FAULTS]
    return [(fault, moment) for fault in FAULTS for moment in fault.required]
