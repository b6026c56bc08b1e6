"""The floor's page: every view, with what tables say and with what none should; in a browser."""

from __future__ import annotations

import json
import random
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hil_tests.described import fits
from hil_tests.door import day_report, results
from hil_tests.floor.database import free_port
from hil_tests.floor.house import SITE, House, is_there
from hil_tests.floor.journals import InventedTable, RunningLink
from hil_tests.floor.show import page_part
from hil_tests.floor.tests.test_handing_on import metrics, stored_as
from hil_tests.floor.tests.test_strangers import NOWHERE, as_floor, connected, turned
from hil_tests.reliability.large_journal import a_round
from hil_tests.waiting import until
from shaker_ctl.floor.door import described
from shaker_ctl.floor.tests.a_table import alarm, birth
from shaker_ctl.journal.record import Head, Record, chain_hash, genesis
from shaker_ctl.journal.record import link as chained
from shaker_ctl.link import home_assistant, messages, packing
from shaker_ctl.link.packing import Batch
from shaker_ctl.link.topics import Place

HOSTILE = (
    ("birth", b'{"session":7,"table":{"a":1},"version":[],"digests":[1,2],"identity":"<b>"}'),
    (
        "state",
        b'{"service":true,"life":["open"],"round_id":"x","health":3,"journal":[],"dice":"x"}',
    ),
    ("result", b'{"values":["<script>alert(1)</script>",2,3],"total":{}}'),
    ("alive", b'{"is":"online","behind":"many","disputed":{"a":1}}'),
    ("alarm/x", b'{"code":"<img src=x onerror=alert(1)>","cause":5}'),
)


@pytest.fixture(scope="module")
def floor_page(house: House) -> Iterator[str]:
    port = free_port()
    page = page_part(house, port)
    page.start()
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: "page: http" in page.log.read_text(), limit_s=60.0, every_s=0.05)
        yield address
    finally:
        page.stop()


def got(address: str) -> tuple[int, str]:
    request = urllib.request.Request(address, headers={"Accept": "text/html"})
    try:
        with urllib.request.urlopen(request, timeout=40) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_every_view_shows_what_is_stored_and_what_tables_say(
    house: House, floor_page: str, tmp_path: Path, name: str
) -> None:
    table = InventedTable(tmp_path, name)
    table.play(2)
    with closing(house.store()) as store:
        with RunningLink(house.link_parameters(name, table.settings)):
            until(lambda: stored_as(store, table))
            until(lambda: name in got(f"{floor_page}/")[1], every_s=0.1)
            until(lambda: name in shown_by(floor_page), every_s=0.1)
            for path, what in {
                "/state.json": "FloorState",
                f"/tables/{name}/rounds.json": "FloorRounds",
                f"/tables/{name}/rounds/2.json": "RoundProof",
                "/day.json": "FloorDay",
            }.items():
                fits(json.loads(got(floor_page + path)[1]), described(), what)
            for path, wanted in {
                f"/tables/{name}": table.identity,
                f"/tables/{name}/rounds/2": table.head().hash.hex()[:16],
                "/day": name,
            }.items():
                status, text = got(floor_page + path)
                assert (status, wanted in text) == (200, True), path
        until(lambda: "no link" in got(f"{floor_page}/tables/{name}")[1], every_s=0.2)
    for path in ("/tables/nobody", f"/tables/{name}/rounds/99", "/tables/..%2f..%2fetc", "/x"):
        assert got(floor_page + path)[0] == 404, path


def test_a_report_and_a_list_of_results_written_from_the_descriptions_alone(
    house: House, floor_page: str, tmp_path: Path, name: str
) -> None:
    table = InventedTable(tmp_path, name)
    table.play(3)
    heard: list[str] = []
    found: list[tuple[str, bytes]] = []
    known = house.link_parameters(name, table.settings, home_assistant=True)
    topic = home_assistant.topic(Place(SITE, name))
    with (
        RunningLink(known),
        closing(house.store()) as store,
        connected(as_floor(house, "display"), "homes", [topic], found) as homes,
    ):
        turned(homes, lambda: found)
        wanted = {one.where.rpartition("/")[2]: one.what for one in messages.READS}
        kinds = ["alive", "birth", "result", "state"]
        topics = [Place(SITE, name).topic(kind) for kind in kinds]
        got_now: list[tuple[str, bytes]] = []
        with connected(as_floor(house, "page"), "reader", topics, got_now) as reader:
            turned(reader, lambda: {topic for topic, _ in got_now} == set(topics))
        for where, told in got_now:
            what = wanted[where.rpartition("/")[2]]
            assert what is not None
            fits(json.loads(told), messages.described(), what.__name__)
        assert json.loads(found[0][1]) == home_assistant.discovery(Place(SITE, name), name)
        until(lambda: stored_as(store, table))
        until(lambda: (shown_by(floor_page).get(name) or {}).get("ended"), every_s=0.1)
        folder = house.folder / "display"
        client = results.listening("127.0.0.1", house.port, SITE, folder, heard.append)
        client.loop_start()
        until(lambda: any(line.startswith(f"{name} round 3: ") for line in heard))
        client.loop_stop()
        client.disconnect()
    lines = list(day_report.report(floor_page, ""))
    assert f"{name}: 3 rounds, 3 settled" in lines


def test_what_no_table_should_say_breaks_no_view_and_runs_nowhere(
    house: House, floor_page: str
) -> None:
    own = f"shaker/1/{SITE}/pit-evil"
    with connected(house.link_parameters("pit-evil", NOWHERE), "pit-evil", [], []) as evil:
        for kind, payload in HOSTILE:
            evil.publish(f"{own}/{kind}", payload, qos=1, retain=True)
        turned(evil, lambda: "pit-evil" in got(f"{floor_page}/")[1])
        for path in ("/", "/tables/pit-evil", "/state.json", "/day"):
            status, text = got(floor_page + path)
            assert status == 200, path
            assert "<script>alert" not in text
            assert "<img src=x" not in text
        for kind, _ in HOSTILE:
            evil.publish(f"{own}/{kind}", b"", qos=1, retain=True)
        evil.turn(0.1)


def shown_by(floor_page: str) -> dict[str, Any]:
    """Table to its card, as machines get it."""
    tables = json.loads(got(f"{floor_page}/state.json")[1])["tables"]
    return {one["name"]: one for one in tables}


ODD_WALLS = ("9999-12-31T23:59:59.999-14:00", "0001-01-01T00:00:00+14:00")


def test_records_with_odd_times_are_shown_and_strange_ones_are_named(
    house: House, floor_page: str
) -> None:
    """Both tables' chains are sound: what stands in the records is their own."""
    odd, strange = [], []
    identity = "pit-odd founded 2026-11-23T06:00:00+00:00"
    head = genesis(identity)
    for wall, entry in zip(ODD_WALLS * 18, a_round(1, random.Random(1)), strict=False):
        odd.append(chained(head, entry, monotonic_s=0.0, wall=wall, digests={}))
        head = Head(odd[-1].sequence, odd[-1].hash)
    command = {"type": "RecordRound", "round": 2, "ending": "x" * 999, "values": [1, 2, 3]}
    frame = {"round": 2, "kind": "step", "sequence": len(odd) + 2}
    for plain in (
        {"round": 2, "kind": "step", "wall": {"a": 1}, "monotonic": "now", "sequence": []},
        {**frame, "wall": ODD_WALLS[0], "event": {"type": "Tick"}, "decision": [command]},
    ):
        body = json.dumps(plain).encode()
        head = Head(head.sequence + 1, chain_hash(head.hash, body))
        strange.append(Record(head.sequence, head.hash, body))
    own = f"shaker/1/{SITE}/pit-odd"
    with (
        closing(house.store()) as store,
        connected(house.link_parameters("pit-odd", NOWHERE), "pit-odd", [], []) as liar,
    ):
        liar.publish(f"{own}/birth", birth(identity), qos=1)
        liar.publish(f"{own}/alarm/{'c' * 5000}", alarm("c"), qos=1, retain=True)
        everything = Batch(identity, genesis(identity), (*odd, *strange), head.sequence)

        def is_stored() -> bool:
            liar.publish(f"{own}/journal", packing.pack(everything))
            liar.turn(0.2)
            line = store.kept("pit-odd").line
            return line is not None and line.head == head

        until(is_stored)
        status, text = got(f"{floor_page}/tables/pit-odd")
        assert (status, "c" * 40 in text, "c" * 41 in text) == (200, True, False)
        status, text = got(f"{floor_page}/tables/pit-odd/rounds/1")
        assert (status, "9999-12-31" in text) == (200, True)
        status, text = got(f"{floor_page}/tables/pit-odd/rounds/2")
        assert (status, "shaker-floor export pit-odd --round 2" in text) == (503, True)
        assert [got(floor_page + path)[0] for path in ("/day", "/")] == [200] * 2
        assert 'ending="other"' in metrics(house)
        liar.publish(f"{own}/alarm/{'c' * 5000}", b"", qos=1, retain=True)
        liar.turn(0.1)


def test_a_day_of_the_house_begins_when_its_gaming_day_does(
    house: House, floor_page: str, tmp_path: Path, name: str
) -> None:
    """At six by the machine's clock, not at midnight in UTC; a day that no calendar has is 400."""
    table = InventedTable(tmp_path, name)
    before, after = (
        datetime(2026, 3, 2, 5 + n, 59 - 58 * n).astimezone(UTC).isoformat(timespec="milliseconds")
        for n in (0, 1)
    )
    chance = random.Random(2)
    for number, wall in ((1, before), (2, after), (3, after)):
        table.append(a_round(number, chance), wall=wall)
    with closing(house.store()) as store:
        with RunningLink(house.link_parameters(name, table.settings)):
            until(lambda: stored_as(store, table))
        for day, rounds in (("2026-03-01", 1), ("2026-03-02", 2), ("2026-03-03", None)):
            found = json.loads(got(f"{floor_page}/day.json?day={day}")[1])["tables"]
            counted = [one["rounds"] for one in found if one["table"] == name]
            assert counted == ([] if rounds is None else [rounds]), day
    for day in ("9999-12-31", "0001-01-01", "2026-02-30", "x"):
        assert got(f"{floor_page}/day?day={day}")[0] in (200, 400), day


@pytest.mark.browser
@pytest.mark.timeout(400)
@pytest.mark.skipif(not is_there("chromium"), reason="chromium is not installed")
def test_a_browser_finds_no_fault_with_any_view(
    house: House, floor_page: str, tmp_path: Path
) -> None:
    """Axe finds nothing, nothing is said on the console, and live figures come by themselves."""
    sync_api = pytest.importorskip("playwright.sync_api")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    pictures = Path("var/floor-page")
    pictures.mkdir(parents=True, exist_ok=True)
    tables = [InventedTable(tmp_path / str(n), f"wall-{n}", seed=n) for n in range(6)]
    links = [RunningLink(house.link_parameters(t.name, t.settings)) for t in tables]
    for table, link in zip(tables, links, strict=True):
        table.play(3)
        link.__enter__()
    said: list[str] = []
    try:
        with sync_api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox"]
            )
            for name, width, height in (
                ("phone", 390, 844),
                ("desk", 1280, 800),
                ("wall", 1920, 1080),
            ):
                page = browser.new_page(viewport={"width": width, "height": height})
                page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
                page.on("pageerror", lambda error: said.append(str(error)))
                page.goto(f"{floor_page}/")
                page.get_by_text("wall-5").first.wait_for()
                for view in ("", "tables/wall-1", "tables/wall-1/rounds/2", "day"):
                    page.goto(f"{floor_page}/{view}")
                    page.locator("main").wait_for()
                    shown = view.replace("/", "-") or "floor"
                    page.screenshot(path=str(pictures / f"{shown}-{name}.png"))
                    found = axe.Axe().run(page)
                    assert found.violations_count == 0, f"{view}: {found.generate_report()}"
                page.close()
            page = browser.new_page()
            page.goto(f"{floor_page}/")
            page.get_by_text("wall-2").first.wait_for()
            before = page.locator("[data-part=cards]").inner_text()
            tables[2].play(4)
            until(lambda: page.locator("[data-part=cards]").inner_text() != before, every_s=0.2)
            browser.close()
    finally:
        for link in links:
            link.__exit__()
    assert said == []
