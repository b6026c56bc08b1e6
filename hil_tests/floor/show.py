"""A floor to look at: `make floor`. Broker, collector, page, tables that play and tables recorded.

Two tables play on the virtual rig; fifty others are recorded, and their records go on. Everything
listens on loopback and lies in a folder of its own, until Ctrl-C.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import tomlkit

from hil_tests.floor.house import SITE, House, Part, free_port
from hil_tests.floor.journals import RecordedTable, RunningLink


def page_part(house: House, port: int) -> Part:
    """The floor's page for this house, without a login, on loopback."""
    for name in ("certificate", "key"):
        target = house.folder / "collector" / f"page-{name}.pem"
        if not target.exists():
            target.write_bytes((house.folder / "page" / f"{name}.pem").read_bytes())
            target.chmod(0o600)
    plain = tomlkit.parse(house.config.read_text("utf-8")).unwrap()
    plain["page"] = {"port": port, "login": False, "state_dir": str(house.folder / "page-state")}
    plain["users_file"] = str(house.folder / "users.toml")
    config = house.folder / "page.toml"
    config.write_text(tomlkit.dumps(plain), "utf-8")
    program = [sys.executable, "-P", "-c", "from shaker_ctl.floor.main import app; app()"]
    return Part("page", [*program, "page", "--config", str(config)], house.folder / "page.log")


def show(
    *, rigs: int, recorded: int, pace: float, seconds: float, tell: Callable[[str], None]
) -> bool:
    """Run it so long, or until Ctrl-C; whether everything was received."""
    over = threading.Event()
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: over.set())
    folder = Path(tempfile.mkdtemp(prefix="shaker-floor-"))
    port = free_port()
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        house = stack.enter_context(House(folder))
        page = page_part(house, port)
        stack.callback(page.stop)
        page.start()
        tables = [RecordedTable(folder / f"pit-{n}", f"pit-{n}", seed=n) for n in range(recorded)]
        for table in tables:
            parameters = house.link_parameters(table.name, table.settings)
            stack.enter_context(RunningLink(parameters))
        for number in range(rigs):
            _play(stack, house, folder / f"rig-{number}", f"rig-{number}", number, over)
        tell(f"the floor's page: http://127.0.0.1:{port}/")
        tell(f"metrics: http://127.0.0.1:{house.metrics_port}/metrics")
        tell(f"commands: shaker-floor tables --config {house.config}")
        tell("Ctrl-C ends it")
        ends_s = time.monotonic() + seconds if seconds else float("inf")
        chance = random.Random(1)
        while not over.wait(0.2) and time.monotonic() < ends_s:
            for table in tables:
                if chance.random() < 0.2 * pace / 60.0:
                    table.play(1)
        with contextlib.closing(house.store()) as store:
            ends_s = time.monotonic() + 30.0
            while time.monotonic() < ends_s:
                heads = {line["table_name"]: line["sequence"] for line in store.lines(SITE)}
                if all(heads.get(t.name, 0) == t.head().sequence for t in tables):
                    tell(f"received: {sum(heads.values())} records of {len(heads)} tables")
                    return True
                time.sleep(0.5)
    return False


def _play(
    stack: contextlib.ExitStack,
    house: House,
    folder: Path,
    name: str,
    seed: int,
    over: threading.Event,
) -> None:
    """A demonstration with its link, as separate programs."""
    program = [sys.executable, "-P", "-c", "from shaker_ctl.main import app; app()"]
    demo = Part(
        name,
        [*program, "demo", "--plain", "--pace", "brisk", f"--seed={seed}", f"--report={folder}"],
        house.folder / f"{name}.log",
    )
    stack.callback(demo.stop)
    demo.start()
    link = Part(
        f"link of {name}",
        [*program, "link", "--config", str(house.link_settings(name, folder / "settings.toml"))],
        house.folder / f"{name}-link.log",
    )
    stack.callback(link.stop)

    def when_there() -> None:
        # The link wants the settings, which the demonstration writes after its rig has started.
        while not over.wait(0.5):
            if (folder / "journal.sqlite").exists():
                link.start()
                over.wait()  # what a thread has started ends with that thread
                return

    threading.Thread(target=when_there, daemon=True, name=f"await {name}").start()
