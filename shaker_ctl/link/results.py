"""What displays may show of a round, from the record alone.

Owns when a result exists: from the record that its lamps were read back lit. It is withdrawn by
name when the table corrects it, or when the round ends with other values or none. Must not know
where records come from.
"""

from __future__ import annotations

from shaker_ctl.journal.history import Round, changed_by, mentions
from shaker_ctl.journal.record import Record
from shaker_ctl.link.messages import Result

_KINDS_READ = ("LampsShown", "RecordRound", "PushLamps")
"""Words of records that can change a result; all others are passed over undecoded."""


def plain(one: Round) -> Result:
    """The result of a round as displays get it."""
    assert one.shown is not None
    total = sum(one.shown)
    is_triple = len(set(one.shown)) == 1
    return {
        "round": one.number,
        "values": list(one.shown),
        "total": total,
        "side": "triple" if is_triple else "big" if total > 10 else "small",
        "sequence": one.shown_in,
        "wall": one.shown_wall,
        "withdrawn": one.taken_back,
        "marks": list(one.marks),
    }


def follow(last: Round | None, record: Record) -> Round | None:
    """Return the round whose result displays show after `record`; `last` itself where the record
    changes none.

    Raises whatever a record leads to that says what this program does not know.
    """
    if not mentions(record.body, *_KINDS_READ):
        return last
    known = {} if last is None else {last.number: last}
    for one in changed_by(record.plain, known.get):
        if one.shown_in == record.sequence:
            return one
    return last
