"""A million messages that no table sends: `python -m hil_tests.floor fuzz`.

Noise, and true messages with bytes changed, removed or inserted. A table with a good certificate
sends half of them over the broker to the collector. The other half goes straight to the functions
that read messages at both ends. Each message must be refused by a named error, or lie within the
bounds. No other error may be raised, and no record may be taken that the table does not have.
"""

from __future__ import annotations

import random
import re
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from hil_tests.floor.house import SITE, House
from hil_tests.floor.journals import InventedTable
from hil_tests.waiting import until
from shaker_ctl.floor.cards import card_of
from shaker_ctl.floor.tables import Tables
from shaker_ctl.journal.record import genesis
from shaker_ctl.link import packing, requests, topics
from shaker_ctl.link.connection import Connection
from shaker_ctl.link.outbox import Outbox
from shaker_ctl.link.packing import Batch, Have, ProtocolError
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


def true_messages(table: InventedTable) -> tuple[Batch, list[bytes]]:
    """A batch of a table, and one message of each kind."""
    outbox = Outbox(table.path)
    outbox.go_on(Have(table.identity, genesis(table.identity)))
    batch = outbox.next_batch()
    outbox.close()
    assert batch is not None
    hello = {"v": packing.VERSION, "session": "0123456789abcdef", "identity": table.identity}
    state = {"service": True, "life": "open", "journal": {"second_copy": "equal"}, "health": {}}
    small: list[dict[str, Any]] = [
        {**hello, "digests": {"model": "ab"}},
        state,
        {"is": "online", "session": "0123456789abcdef", "behind": 3, "disputed": [1, 2]},
        {"values": [1, 2, 3], "total": 6, "side": "small", "round": 4, "withdrawn": ""},
        {"what": "picture", "sequence": 3, "sha256": "ab" * 32},
    ]
    whole = [packing.pack(batch), packing.have_message(Have(table.identity, batch.end, "0" * 16))]
    return batch, whole + [packing.to_json(each) for each in small]


def sent(house: House, count: int, seed: int) -> Iterator[str]:
    """Send so many to the collector of a house; say what became of them."""
    chance = random.Random(seed)
    name = f"pit-fuzz-{seed}"
    with tempfile.TemporaryDirectory() as folder:
        table = InventedTable(Path(folder), name)
        table.play(1)
        batch, true = true_messages(table)
    own = f"shaker/1/{SITE}/{name}"
    kinds = [topics.JOURNAL] * 4
    kinds += [topics.ALIVE, topics.BIRTH, topics.STATE]
    kinds += [f"{topics.ALARM}/lamp", topics.ANSWER, topics.ASK]
    before = figures(house)
    welcome: list[str] = []
    liar = Connection(
        house.link_parameters(name, Path("/nonexistent.toml")),
        name,
        connected=lambda: None,
        received=lambda topic, _: welcome.append(topic),
        subscriptions=[(f"{own}/{topics.ACK}", 1)],
    )

    def heard() -> float:
        liar.turn(0.0)
        return figures(house)["messages"] - before["messages"]

    while not liar.is_connected:
        liar.turn(0.05)
    liar.publish(f"{own}/{topics.BIRTH}", true[2])
    while not welcome:  # from then on the collector listens to all that the table says
        liar.turn(0.05)
    for number in range(1, count):
        liar.publish(f"{own}/{chance.choice(kinds)}", changed(chance, true))
        if number % 1000 == 999:  # no more than the broker holds for the collector
            until(lambda least=number + 1: heard() >= least, limit_s=60.0, every_s=0.02)  # type: ignore[misc]
    until(lambda: heard() >= count, limit_s=60.0, every_s=0.02)
    liar.close()
    now = figures(house)
    refused = int(now["refused"] - before["refused"])
    with closing(house.store()) as store:
        kept = store.kept(SITE, name)
        stored = [] if kept.id is None else store.records(kept.id, 1, 1 << 40)
    others = [record for record in stored if record not in batch.records]
    wrong = (
        others or not house.collector.is_running or now["messages"] - before["messages"] != count
    )
    yield (
        f"{'NOT good: ' if wrong else ''}{count:,} messages to the collector: {refused:,} refused, "
        f"{count - refused:,} within bounds; {len(stored)} records stored, {len(others)} of them "
        f"not the table's; collector {house.collector.memory_mb():.0f} MB"
    )


def figures(house: House) -> dict[str, float]:
    """The collector's own counts."""
    with urllib.request.urlopen(f"http://127.0.0.1:{house.metrics_port}/metrics") as answer:
        text = answer.read().decode()
    found = re.findall(r"^shaker_floor_(\w+)_total (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}


def fuzzed(
    messages: Annotated[int, typer.Option(min=1, help="How many.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 1,
) -> Iterator[str]:
    """A million messages that no table sends."""
    yield from read(messages - messages // 2, seed)
    with (
        tempfile.TemporaryDirectory(prefix="shaker-floor-") as folder,
        House(Path(folder)) as house,
    ):
        yield from sent(house, messages // 2, seed)


def read(count: int, seed: int) -> Iterator[str]:
    """Give so many to the parts that read messages; say what became of them."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        table = InventedTable(Path(folder), "pit-1")
        table.play(1)
        batch, true = true_messages(table)
    tables = Tables("house")
    readers: tuple[tuple[str, Callable[[bytes], object]], ...] = (
        ("journal", packing.unpack),
        ("have", packing.have_of),
        ("want", requests.parsed),
        ("answer", packing.answer_of),
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
        name, reader = chance.choice(readers)
        try:
            got = reader(payload)
        except ProtocolError:
            ends["refused by name"] += 1
            continue
        ends[f"read as a true {name}"] += 1
        if isinstance(got, Batch) and got.before == batch.before and got.identity == batch.identity:
            others += got.records != batch.records[: len(got.records)]
    assert sum(ends.values()) == count
    yield f"{count:,} messages read: " + ", ".join(
        f"{what} {n:,}" for what, n in ends.most_common()
    )
    yield f"{'NOT good: ' if others else ''}{others} with records that the table does not have"
