"""Stories of people who look at a table in a browser. In order: the last ones stop the table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hil_tests.page.conftest import SHOTS, SIZES, WORD, Stage, Tab, violations
from hil_tests.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

VIEWS = (
    "/sign",
    "/staff",
    "/rounds",
    "/rounds/1",
    "/day",
    "/statistics",
    "/technician",
    "/technician/wiring",
)
WAIT_MS = 120_000


def _name(path: str) -> str:
    return path.strip("/").replace("/", "-")


class TestViews:
    @pytest.mark.parametrize("look", ["dark", "light"])
    @pytest.mark.parametrize("path", VIEWS)
    def test_each_is_drawn_at_every_size_and_open_to_everybody(
        self, chromium: Any, stage: Stage, path: str, look: str
    ) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        for size, (width, height) in SIZES.items():
            viewport = {"width": width, "height": height}
            context = chromium.new_context(viewport=viewport, color_scheme=look)
            tab = Tab(context.new_page(), stage.open)
            assert tab.go(path).ok
            tab.page.wait_for_timeout(500)
            picture = SHOTS / f"{_name(path)}-{size}-{look}.png"
            tab.page.screenshot(path=picture, full_page=size != "wall")
            broad = tab.page.evaluate("document.documentElement.scrollWidth")
            found = violations(tab.page)
            context.close()
            assert found == []
            assert tab.wrong == []
            assert broad <= width, f"{path} at {size} must be scrolled sideways: {broad} px"

    def test_text_of_twice_the_size_stays_readable(self, tab: Tab) -> None:
        tab.page.set_viewport_size({"width": 683, "height": 384})
        for path in VIEWS:
            tab.go(path)
            broad = tab.page.evaluate("document.documentElement.scrollWidth")
            assert broad <= 683, path

    def test_everything_is_reached_by_keyboard(self, tab: Tab) -> None:
        tab.go("/staff")
        tab.page.keyboard.press("Tab")
        assert "Skip" in tab.page.evaluate("document.activeElement.textContent")
        tab.page.keyboard.press("Enter")
        assert tab.page.evaluate("document.activeElement.id") == "main"

    def test_the_sign_follows_the_table(self, tab: Tab, stage: Stage) -> None:
        tab.go("/sign")
        before = tab.text(".road li:last-child .number")

        def has_moved() -> bool:
            return tab.text(".road li:last-child .number") != before

        until(has_moved, limit_s=120, every_s=0.2)

        def is_lit() -> bool:
            return bool(tab.page.locator(".cell.lit").count())

        tab.page.set_viewport_size({"width": 1920, "height": 1080})
        until(is_lit, limit_s=120, every_s=0.05)
        tab.page.screenshot(path=SHOTS / "sign-lit.png")
        assert "stale" not in (tab.page.locator("body").get_attribute("class") or "")

    def test_it_speaks_traditional_chinese(self, chromium: Any, stage: Stage) -> None:
        context = chromium.new_context(locale="zh-TW")
        tab = Tab(context.new_page(), stage.open)
        tab.go("/staff")
        assert tab.page.locator("html").get_attribute("lang") == "zh-Hant"
        assert "實測亮燈佈局" in tab.text(".layout h2")
        tab.page.screenshot(path=SHOTS / "staff-chinese.png")
        tab.go("/staff?language=en")
        tab.go("/rounds")
        assert tab.text("h1") == "Rounds"
        context.close()


class TestPeople:
    def _log_in(self, tab: Tab, name: str, role: str, word: str = WORD) -> None:
        tab.go("/login")
        tab.page.fill("#name", name)
        tab.page.select_option("#role", role)
        tab.page.fill("#passphrase", word)
        tab.page.click("button.main")

    def test_nobody_gets_in_without_a_passphrase(self, guarded: Tab) -> None:
        guarded.go("/rounds")
        assert "/login?next=" in guarded.page.url
        self._log_in(guarded, "vic", "viewer", "wrong words")
        assert "do not belong together" in guarded.text(".refused")

    def test_surveillance_exports_a_case_that_verifies(self, guarded: Tab, tmp_path: Path) -> None:
        self._log_in(guarded, "sam", "surveillance")
        guarded.go("/rounds/1")
        guarded.page.fill("#reason", "a guest disagrees")
        with guarded.page.expect_download() as coming:
            guarded.page.click("section[aria-labelledby=case] button")
        with zipfile.ZipFile(coming.value.path()) as packed:
            packed.extractall(tmp_path)
        program = [sys.executable, "-I", str(tmp_path / "round-1" / "verify.py")]
        done = subprocess.run(program, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        assert "all fits" in done.stdout
        guarded.go("/looked")
        assert "a guest disagrees" in guarded.text("table")

    def test_logging_out_ends_it_everywhere(self, guarded: Tab) -> None:
        self._log_in(guarded, "sam", "surveillance")
        guarded.page.wait_for_selector("#live")
        other = guarded.page.context.new_page()
        other.goto(guarded.address + "/")
        guarded.page.click("header form button")
        other.wait_for_url("**/login?next=*", timeout=WAIT_MS)


class TestTrouble:
    def test_a_fault_appears_and_goes(self, tab: Tab, stage: Stage) -> None:
        tab.go("/staff")
        stage.session.ask_rig("inject bulb_burnt area=small")
        fault = tab.page.locator(".state .faults li", has_text="lamp")

        def is_there() -> bool:
            return bool(fault.count())

        until(is_there, limit_s=WAIT_MS / 1000, every_s=0.3)
        tab.page.screenshot(path=SHOTS / "staff-fault.png")
        stage.session.ask_rig("heal bulb_burnt")

        def is_gone() -> bool:
            return not fault.count()

        until(is_gone, limit_s=WAIT_MS / 1000, every_s=0.3)

    def test_a_killed_table_is_greyed_and_comes_back(self, tab: Tab, stage: Stage) -> None:
        stage.people.stop()
        tab.go("/sign")
        pid = stage.session.service_pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        tab.page.wait_for_selector("body.stale", timeout=WAIT_MS)
        assert "does not answer" in tab.text("#stale")
        tab.page.screenshot(path=SHOTS / "sign-killed.png")
        stage.session.stop_service()
        stage.session.start_service()
        tab.page.wait_for_selector("body:not(.stale)", timeout=WAIT_MS)

    def test_the_journal_alone_tells_of_a_stopped_table(self, chromium: Any, stage: Stage) -> None:
        stage.session.stop_service()
        stage.session.stop_page()
        stage.session.start_page()
        context = chromium.new_context()
        tab = Tab(context.new_page(), stage.open)
        tab.go("/sign")
        assert "has not answered yet" in tab.text("#stale")
        until(lambda: tab.page.locator(".road li").count() >= 3, limit_s=60, every_s=0.2)
        tab.go("/rounds/1")
        assert "holds" in tab.text("section[aria-labelledby=proof]")
        assert tab.page.locator("figure img").first.evaluate("one => one.naturalWidth") > 0
        context.close()
