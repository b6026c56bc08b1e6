"""Who is not who they say, and what is not what it says: refused, named, and nothing stored."""

from __future__ import annotations

import contextlib
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hil_tests.floor.house import SITE, House
from hil_tests.floor.journals import InventedTable, RunningLink
from hil_tests.floor.tests.test_handing_on import metrics, stored_as
from hil_tests.waiting import until
from shaker_ctl import settings
from shaker_ctl.floor import authority, collector
from shaker_ctl.floor.parameters import FloorParameters
from shaker_ctl.floor.tests.a_table import alarm, alive, birth, result
from shaker_ctl.journal.record import Head, genesis
from shaker_ctl.link import packing
from shaker_ctl.link.connection import Connection
from shaker_ctl.link.outbox import Outbox
from shaker_ctl.link.packing import Batch, Have
from shaker_ctl.link.parameters import BrokerParameters

NOWHERE = Path("/nonexistent.toml")


def turned(connection: Connection, said: Callable[[], object], limit_s: float = 20.0) -> None:
    ends_s = time.monotonic() + limit_s
    while not said():
        assert time.monotonic() < ends_s, connection.trouble
        connection.turn(0.05)


@contextmanager
def connected(
    parameters: BrokerParameters, name: str, topics: list[str], got: list[tuple[str, bytes]]
) -> Iterator[Connection]:
    connection = Connection(
        parameters,
        name,
        connected=lambda: None,
        received=lambda topic, payload: got.append((topic, payload)),
        subscriptions=[(topic, 1) for topic in topics],
    )
    try:
        turned(connection, lambda: connection.is_connected)
        yield connection
    finally:
        connection.close()


def as_floor(house: House, name: str = "collector") -> BrokerParameters:
    """Whoever holds the floor's own certificate."""
    return house.link_parameters("any", NOWHERE).model_copy(
        update={
            "certificate": house.folder / name / "certificate.pem",
            "key": house.folder / name / "key.pem",
        }
    )


# paho leaves the socket of a failed handshake to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_certificate_of_another_authority_gets_no_connection(
    house: House, tmp_path: Path
) -> None:
    authority.begin(tmp_path / "other", "another house")
    authority.issue(tmp_path / "other", "pit-1", tmp_path / "pit-1")
    parameters = house.link_parameters("pit-1", NOWHERE).model_copy(
        update={
            "certificate": tmp_path / "pit-1" / "certificate.pem",
            "key": tmp_path / "pit-1" / "key.pem",
        }
    )
    assert "not tried" not in refused(parameters)
    # Nor does a table talk to a broker that its own authority has not signed.
    strange = house.link_parameters("pit-1", NOWHERE).model_copy(
        update={"authority": tmp_path / "pit-1" / "authority.pem"}
    )
    assert "certificate verify failed" in refused(strange)


def refused(parameters: BrokerParameters) -> str:
    """Why this broker and this table do not come together, for a second."""
    connection = Connection(
        parameters,
        "pit-1",
        connected=lambda: pytest.fail("they are connected"),
        received=lambda *_: None,
        subscriptions=[],
    )
    turned(connection, lambda: connection.trouble != "not tried yet")
    why, ends_s = connection.trouble, time.monotonic() + 1.0
    while time.monotonic() < ends_s:
        connection.turn(0.05)
    assert not connection.is_connected
    connection.close()
    return why


def test_a_table_cannot_speak_for_another_nor_for_the_floor(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    thief = house.link_parameters("pit-thief", NOWHERE)
    seen: list[tuple[str, bytes]] = []
    everything = f"shaker/1/{SITE}/#"
    stolen: list[tuple[str, bytes]] = []
    with (
        connected(as_floor(house), "listener", [f"shaker/1/{SITE}/+/birth"], seen) as listener,
        connected(thief, "pit-thief", [everything], stolen) as table,
    ):
        for topic in ("pit-1/birth", "pit-1/journal", "pit-thief/ack"):
            table.publish(f"shaker/1/{SITE}/{topic}", b"{}", qos=1)
        own = f"shaker/1/{SITE}/pit-thief/birth"
        table.publish(own, b"{}", qos=1)
        ends_s = time.monotonic() + 20.0
        while not any(topic == own for topic, _ in seen):
            assert time.monotonic() < ends_s, (listener.trouble, table.trouble)
            listener.turn(0.05)
            table.turn(0.05)
        ends_s = time.monotonic() + 0.5
        while time.monotonic() < ends_s:
            table.turn(0.05)
    assert {topic for topic, payload in seen if payload == b"{}"} == {own}
    assert caplog.text.count("Not authorized") >= 3, caplog.text
    assert not [topic for topic, _ in stolen if "pit-thief" not in topic]


def test_a_hostile_collector_gets_records_and_changes_nothing(house: House, tmp_path: Path) -> None:
    """It holds the floor's certificate and says everything that the floor may say, and more."""
    table = InventedTable(tmp_path, "pit-h")
    table.play(3)
    before = table.path.read_bytes()
    parameters = house.link_parameters("pit-h", table.settings, again_s=0.5)
    own = f"shaker/1/{SITE}/pit-h"
    chance = random.Random(4)
    head = table.head()
    with (
        closing(house.store()) as store,
        RunningLink(parameters) as running,
        connected(as_floor(house), "hostile", [], []) as hostile,
    ):
        until(lambda: stored_as(store, table))
        lies: list[tuple[str, bytes]] = [
            ("ack", packing.have_message(Have(table.identity, Head(10**9, bytes(32))))),
            ("ack", packing.have_message(Have("another", head))),
            ("ack", packing.have_message(Have(table.identity, Head(5, bytes(32))))),
            ("want", b'{"what":"open"}'),
            ("want", b'{"what":"lamps","values":[6,6,6]}'),
        ]
        for kind in ("ack", "want", "settings", "open", "play"):
            lies += [(kind, chance.randbytes(chance.randrange(200))) for _ in range(20)]
        for kind, payload in lies:
            hostile.publish(f"{own}/{kind}", payload, qos=1)
            hostile.turn(0)
        assert table.path.read_bytes() == before
        assert running.failure is None
        # The true floor's word brings the link back to work, by itself.
        house.collector.kill()
        house.collector.start()
        table.play(1)
        until(lambda: stored_as(store, table), limit_s=90.0)
        assert all(alarm.table_name != "pit-h" for alarm in store.alarms())
    assert not list(tmp_path.glob("*.replaced*"))


def true_messages(table: InventedTable) -> tuple[Batch, list[bytes]]:
    """A batch of a table, and one message of each kind."""
    outbox = Outbox(table.path)
    outbox.go_on(Have(table.identity, genesis(table.identity)))
    batch = outbox.next_batch()
    outbox.close()
    assert batch is not None
    state = {"service": True, "life": "open", "marks": []}
    small = [birth(table.identity), packing.to_json(state), alive(behind=3, disputed=[1]), result()]
    have = packing.have_message(Have(table.identity, batch.end))
    return batch, [packing.pack(batch), have, *small, alarm("lamp")]


def changed(chance: random.Random, true: list[bytes]) -> bytes:
    """Something like a message: noise, or a true one with bytes changed, removed or inserted."""
    if chance.random() < 0.2:
        return chance.randbytes(chance.randrange(300))
    payload = bytearray(chance.choice(true))
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(payload) + 1)
        gone, new = chance.randrange(20), chance.randrange(20)
        payload[at : at + gone] = chance.randbytes(new)
    return bytes(payload)


def test_fuzzed_messages_of_a_table_store_nothing(house: House, tmp_path: Path, name: str) -> None:
    """Three thousand over the broker: each is counted, refused or within its bounds."""
    chance = random.Random(11)
    table = InventedTable(tmp_path, name)
    table.play(1)
    batch, true = true_messages(table)
    own, before = f"shaker/1/{SITE}/{name}", figures(house)
    kinds = [*["journal"] * 4, "alive", "birth", "state", "alarm/lamp"]
    welcome: list[tuple[str, bytes]] = []
    parameters = house.link_parameters(name, NOWHERE)
    with connected(parameters, name, [f"{own}/ack"], welcome) as liar:
        liar.publish(f"{own}/birth", true[2])
        turned(liar, lambda: welcome)  # from then on the collector listens to all that it says
        for number in range(1, 3000):
            liar.publish(f"{own}/{chance.choice(kinds)}", changed(chance, true))
            if number % 500 == 499:  # no more than the broker holds for the collector
                wanted = before["messages"] + number + 1
                turned(liar, lambda least=wanted: figures(house)["messages"] >= least)  # type: ignore[misc]
        turned(liar, lambda: figures(house)["messages"] == before["messages"] + 3000)
    assert figures(house)["refused"] > before["refused"] + 1000
    assert f"refused from {name}" in house.collector.log.read_text()
    with closing(house.store()) as store:
        kept = store.kept(name)
        stored = [] if kept.id is None else list(store.records(kept.id))
    assert set(stored) <= set(batch.records), "nothing that the table does not have"


def figures(house: House) -> dict[str, float]:
    """The collector's own counts."""
    found = re.findall(r"^shaker_floor_(\w+)_total (\S+)$", metrics(house), re.MULTILINE)
    return {name: float(value) for name, value in found}


def test_what_waits_for_the_database_has_bounds(
    own_house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With enough at hand a collector reads no further, and loses nothing of what comes later."""
    own_house.collector.stop()
    table = InventedTable(tmp_path / "table", "pit-full")
    table.play(3)
    batch, true = true_messages(table)
    monkeypatch.setattr(collector, "ENOUGH_BYTES", 2 * collector._bytes_of(batch))
    taken: list[int] = []
    monkeypatch.setattr(
        collector.Collector, "_commit", lambda _self, pending: taken.append(len(pending))
    )
    monkeypatch.setattr(collector, "COMMIT_S", 5.0)
    reading = collector.Collector(settings.parse_file(own_house.config, FloorParameters))
    names = [f"pit-full-{n}" for n in range(5)]
    ends_s = time.monotonic() + 90.0
    with contextlib.ExitStack() as senders:
        for name in names:
            welcome: list[tuple[str, bytes]] = []
            own = f"shaker/1/{SITE}/{name}"
            parameters = own_house.link_parameters(name, NOWHERE)
            sender = senders.enter_context(connected(parameters, name, [f"{own}/ack"], welcome))
            sender.publish(f"{own}/birth", true[2], qos=1, retain=True)
            while not welcome:
                assert time.monotonic() < ends_s
                reading.turn()
                sender.turn(0.0)
            sender.publish(f"{own}/journal", true[0])
            sender.turn(0.0)
        while sum(taken) < len(names):
            assert time.monotonic() < ends_s, taken
            reading.turn()
    assert max(taken) == 2
    reading.close()
