"""The floor's page: every view, with what tables say and with what none should; in a browser."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hil_tests.floor.house import SITE, House, free_port, is_there
from hil_tests.floor.journals import RecordedTable, RunningLink
from hil_tests.floor.show import page_part
from hil_tests.floor.tests.test_handing_on import stored_as
from hil_tests.floor.tests.test_strangers import NOWHERE, connected, turned
from hil_tests.waiting import until

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
    house: House, floor_page: str, tmp_path: Path
) -> None:
    table = RecordedTable(tmp_path, "pit-5")
    table.play(2)
    with closing(house.store()) as store:
        store.name_version(SITE, "pit-5", "9.9.9", "ab" * 32, "Ann Floor")
        with RunningLink(house.link_parameters("pit-5", table.settings)):
            until(lambda: stored_as(store, table))
            until(lambda: "pit-5" in got(f"{floor_page}/")[1], every_s=0.1)
            until(lambda: "pit-5" in json.loads(got(f"{floor_page}/results.json")[1]), every_s=0.1)
            for path, wanted in {
                "/tables/pit-5": table.identity,
                "/tables/pit-5/rounds/2": table.head().hash.hex()[:16],
                "/day": "pit-5",
                "/day.csv": "pit-5,2,2,0,0,0,0,0",
                "/software": "9.9.9",
            }.items():
                status, text = got(floor_page + path)
                assert (status, wanted in text) == (200, True), path
        until(lambda: "no link" in got(f"{floor_page}/tables/pit-5")[1], every_s=0.2)
    for path in ("/tables/nobody", "/tables/pit-5/rounds/99", "/tables/..%2f..%2fetc", "/x"):
        assert got(floor_page + path)[0] == 404, path
    assert got(f"{floor_page}/picture/pit-5/1/{'0' * 64}")[0] in (404, 410, 504)


def test_what_no_table_should_say_breaks_no_view_and_runs_nowhere(
    house: House, floor_page: str
) -> None:
    own = f"shaker/1/{SITE}/pit-evil"
    with connected(house.link_parameters("pit-evil", NOWHERE), "pit-evil", [], []) as evil:
        for kind, payload in HOSTILE:
            evil.publish(f"{own}/{kind}", payload, qos=1, retain=True)
        turned(evil, lambda: "pit-evil" in got(f"{floor_page}/")[1])
        for path in ("/", "/tables/pit-evil", "/software", "/results.json", "/day"):
            status, text = got(floor_page + path)
            assert status == 200, path
            assert "<script>alert" not in text
            assert "<img src=x" not in text
        for kind, _ in HOSTILE:
            evil.publish(f"{own}/{kind}", b"", qos=1, retain=True)
        evil.turn(0.1)


@pytest.mark.rig
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
    tables = [RecordedTable(tmp_path / str(n), f"wall-{n}", seed=n) for n in range(6)]
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
                for view in ("", "tables/wall-1", "tables/wall-1/rounds/2", "day", "software"):
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
