"""One demonstration for all tests: a rig, a table that plays, its page, and a second page with
logins and TLS on the same table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from hil_tests.processes import Program, program
from hil_tests.table_under_test.people import People
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.console import accounts
from shaker_ctl.installation.certificate import CERTIFICATE, KEY, make_pair
from shaker_ctl.service.status_socket import read_status

CHROMIUM = "/usr/bin/chromium"
SHOTS = Path("var/page")
SIZES = {"phone": (390, 844), "laptop": (1366, 768), "wall": (1920, 1080)}
WORD = "correct horse battery"
PLAYED = 3
"""Rounds before anybody looks."""

PATIENCE_S = 300.0


@dataclass
class Stage:
    """What the tests play on."""

    session: Session
    people: People
    guarded: str = ""
    """Address of the page with logins."""
    page: Program | None = None

    @property
    def open(self) -> str:
        """Address of the demonstration's own page."""
        return self.session.page_address


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A table that plays by itself, and its two pages."""
    folder = tmp_path_factory.mktemp("demonstration")
    plan = Plan(profile="pa-625a", seed=1, pace="brisk", page=True)
    with Session(plan, folder) as session:
        made = Stage(session, People(session, print, are_patient=True))
        made.people.start()
        try:
            _wait_for_rounds(made)
            _start_guarded(made)
            yield made
        finally:
            made.people.stop()
            if made.page is not None:
                made.page.stop()


def _wait_for_rounds(stage: Stage) -> None:
    ends = time.monotonic() + PATIENCE_S
    while len(read_status(stage.session.runtime_dir)["rounds"]) < PLAYED:
        assert time.monotonic() < ends, f"no {PLAYED} rounds in {PATIENCE_S:g} s"
        time.sleep(0.5)


def _start_guarded(stage: Stage) -> None:
    folder = stage.session.folder
    for name, role in (("vic", "viewer"), ("sam", "surveillance"), ("tim", "technician")):
        accounts.add(folder / "users.toml", name, accounts.ROLES[role], WORD, f"{name}-1")
    keys = folder / "keys"
    keys.mkdir()
    make_pair(keys)
    told: dict[str, Any] = dict(tomlkit.parse((folder / "settings.toml").read_text("utf-8")))
    told["page"] = {
        "port": 0,
        "state_dir": str(folder / "guarded"),
        "certificate": str(keys / CERTIFICATE),
        "key": str(keys / KEY),
    }
    file = folder / "guarded.toml"
    file.write_text(tomlkit.dumps(told), "utf-8")
    stage.page = Program(
        "the guarded page",
        program("shaker_ctl.main", "page", "--config", str(file)),
        folder / "guarded.log",
    )
    stage.page.start()
    stage.guarded = stage.page.wait_for("page: ")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's browser, driven by Playwright."""
    api = pytest.importorskip("playwright.sync_api", reason="make .venv/.browser installs it")
    if not Path(CHROMIUM).exists():
        pytest.skip("apt install chromium")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def violations(page: Any) -> list[str]:
    """What axe finds that keeps somebody from a page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {node['target']}" for one in found for node in one["nodes"]
    ]


class Tab:
    """A page of the browser, and everything that went wrong in it."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address.rstrip("/")
        self.wrong: list[str] = []
        page.on("console", lambda said: self._hear(said))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))

    def _hear(self, said: Any) -> None:
        if said.type in ("error", "warning"):
            self.wrong.append(f"{said.type}: {said.text} ({said.location.get('url', '')})")

    def go(self, path: str) -> Any:
        return self.page.goto(self.address + path)

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).inner_text())


@pytest.fixture
def tab(chromium: Any, stage: Stage) -> Iterator[Tab]:
    """The demonstration's page; fails where the browser's console has an error in it."""
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, color_scheme="dark")
    made = Tab(context.new_page(), stage.open)
    yield made
    context.close()
    assert made.wrong == []


@pytest.fixture
def guarded(chromium: Any, stage: Stage) -> Iterator[Tab]:
    """The page with logins. Its certificate is its own."""
    context = chromium.new_context(ignore_https_errors=True, accept_downloads=True)
    yield Tab(context.new_page(), stage.guarded)
    context.close()
