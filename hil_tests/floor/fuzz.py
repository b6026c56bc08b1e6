"""A million messages that no table sends: `python -m hil_tests.floor fuzz`.

They go through the parts that read what comes from the network, at both ends, without a broker
between: noise, and true messages with bytes changed, removed or inserted. What must hold: each is
refused by name or is a true one, nothing else is raised, and no record is taken that no table has.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hil_tests.floor.journals import RecordedTable
from shaker_ctl.floor.asking import Asked, Asking
from shaker_ctl.floor.page import card_of
from shaker_ctl.floor.tables import Tables
from shaker_ctl.journal.record import genesis
from shaker_ctl.link import packing, requests, topics
from shaker_ctl.link.outbox import Outbox
from shaker_ctl.link.packing import Ack, Batch, ProtocolError
from shaker_ctl.link.topics import Place

PLACE = Place("house", "pit-1")


def changed(chance: random.Random, true: list[bytes]) -> bytes:
    """Something like a message."""
    if chance.random() < 0.2:
        return chance.randbytes(chance.randrange(300))
    payload = bytearray(chance.choice(true))
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(payload) + 1)
        match chance.randrange(3):
            case 0:
                payload[at : at + 1] = chance.randbytes(1)
            case 1:
                del payload[at : at + chance.randrange(1, 20)]
            case _:
                payload[at:at] = chance.randbytes(chance.randrange(1, 20))
    return bytes(payload)


def true_messages(table: RecordedTable) -> tuple[Batch, list[bytes]]:
    """A batch of a table, and one message of each kind."""
    outbox = Outbox(table.path)
    outbox.acknowledge(Ack(table.identity, genesis(table.identity)))
    batch = outbox.next_batch("0123456789abcdef")
    outbox.close()
    assert batch is not None
    state = {"service": True, "life": "open", "journal": {"second_copy": "equal"}, "health": {}}
    small: list[dict[str, Any]] = [
        {"v": 1, "session": batch.session, "identity": table.identity, "digests": {"model": "ab"}},
        state,
        {"is": "online", "session": batch.session, "behind": 3, "disputed": [1, 2]},
        {"values": [1, 2, 3], "total": 6, "side": "small", "round": 4, "withdrawn": ""},
        {"id": "0123456789abcdef", "what": "picture", "sequence": 3, "sha256": "ab" * 32},
        {"id": "0123456789abcdef", "from": 1},
    ]
    whole = [packing.pack(batch), packing.ack_message(Ack(table.identity, batch.end, "0" * 16))]
    return batch, whole + [packing.to_json(each) for each in small]


def fuzzed(count: int, seed: int) -> Iterator[str]:
    """Read so many messages; say what became of them."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        table = RecordedTable(Path(folder), "pit-1")
        table.play(1)
        batch, true = true_messages(table)
    tables, asking = Tables("house"), Asking()
    asking.request(Asked(PLACE, "bundle"))
    readers: tuple[tuple[str, Callable[[bytes], object]], ...] = (
        ("journal", packing.unpack),
        ("ack", packing.ack_of),
        ("want", requests.parsed),
        ("answer", lambda payload: asking.take(PLACE, payload)),
    )
    ends: Counter[str] = Counter()
    others = 0
    for _ in range(count):
        payload = changed(chance, true)
        if chance.random() < 0.3:
            kind = chance.choice((*topics.SHOWN[:-1], "alarm/lamp"))
            shown = tables.take(PLACE.topic(kind), payload)
            assert shown is not None
            shown.runs(), shown.faults(), shown.last_result()
            card_of(shown, "")
            ends["shown, within bounds"] += 1
            continue
        name, read = chance.choice(readers)
        try:
            got = read(payload)
        except ProtocolError:
            ends["refused by name"] += 1
            continue
        ends[f"read as a true {name}"] += 1
        if isinstance(got, Batch) and got.before == batch.before and got.identity == batch.identity:
            others += got.records != batch.records[: len(got.records)]
    yield f"{count:,} messages: " + ", ".join(f"{what} {n:,}" for what, n in ends.most_common())
    yield f"{'NOT good: ' if others else ''}{others} with records that the table does not have"
