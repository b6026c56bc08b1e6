"""What displays may show of a round, from the record alone.

Owns when a result exists: from the record that its lamps were read back lit. It is withdrawn by
name when the table corrects it, or when the round ends with other values or none. Must not know
where records come from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import Record
from shaker_ctl.journal.tally import Values, values_of

_KINDS_READ = (b'"LampsShown"', b'"RecordRound"', b'"PushLamps"')
"""Words of records that can change a result; all others are passed over undecoded."""


@frozen
class Result:
    """Of one round."""

    round: int
    values: Values
    sequence: int
    """Of the record that proves its lamps lit, or withdraws it."""
    wall: str
    withdrawn: str = ""
    """Why it does not hold, in words; empty while it holds."""
    marks: tuple[str, ...] = ()
    """Of the record: `DEMONSTRATION`, ..."""

    def plain(self) -> dict[str, Any]:
        """As displays get it."""
        total = sum(self.values)
        is_triple = len(set(self.values)) == 1
        side = "triple" if is_triple else "big" if total > 10 else "small"
        return {
            "round": self.round,
            "values": list(self.values),
            "total": total,
            "side": side,
            "sequence": self.sequence,
            "wall": self.wall,
            "withdrawn": self.withdrawn,
            "marks": list(self.marks),
        }


def follow(last: Result | None, record: Record) -> Result | None:
    """Return the result after `record`; `last` itself where the record changes none.

    Raises whatever a record leads to that says what this program does not know.
    """
    if not any(word in record.body for word in _KINDS_READ):
        return last
    plain, wall = record.plain, record.plain["wall"]
    if plain.get("kind") != "step":
        return last
    for command in plain.get("decision", ()):
        if last is not None and not last.withdrawn and (why := _withdrawn(last, command)):
            return replace(last, sequence=record.sequence, wall=wall, withdrawn=why)
    event = plain.get("event") or {}
    occasion = event.get("occasion") or {}
    if event.get("type") != "LampsShown" or occasion.get("purpose") != "play":
        return last
    values = values_of(event.get("values") or None)
    if values is None:
        return last
    marks = tuple(plain.get("marks", ()))
    return Result(occasion["number"], values, record.sequence, wall, marks=marks)


def _withdrawn(last: Result, command: dict[str, Any]) -> str:
    """Say why the command ends a result; empty: it does not."""
    if command.get("type") == "PushLamps":
        occasion = command.get("occasion") or {}
        if command.get("corrects") and occasion.get("number") == last.round:
            return "corrected at the table"
    if command.get("type") == "RecordRound" and command.get("round") == last.round:
        values = command.get("values")
        if values is None or tuple(values) != last.values:
            return f"the round ended otherwise: {command.get('ending')}"
    return ""
