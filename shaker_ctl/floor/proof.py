"""The chains in the floor's database, walked from their first record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from shaker_ctl.floor.store import Store
from shaker_ctl.journal.record import Damage, Head, Record, genesis, walk

_AT_ONCE = 5000


def broken(store: Store, line: Mapping[str, Any]) -> str:
    """Say what is wrong with a stored line; empty: nothing. Raises StoreError."""
    head = genesis(line["identity"])
    for step in walk(head, _all(store, line["id"], line["sequence"]), line["table_name"]):
        if isinstance(step, Damage):
            return step.line()
        head = Head(step.sequence, step.hash)
    if head != Head(line["sequence"], bytes(line["hash"])):
        return f"the chain ends at record {head.sequence}, acknowledged was {line['sequence']}"
    return ""


def _all(store: Store, id_: int, last: int) -> Iterator[Record]:
    for first in range(1, last + 1, _AT_ONCE):
        yield from store.records(id_, first, min(last, first + _AT_ONCE - 1))
