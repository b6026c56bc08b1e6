"""`shaker-ctl doctor` on the rig: all ok; and with each thing broken, the line that says so.

The rig stands for everything behind pins and lines. What only a Raspberry Pi has (its model, the
firmware's word about the supply, a thermometer, an RTC) is a folder of files that a real one was
written down from; what an installation brings is staged into the same folder by the shipped code.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl import settings
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.commands import seal
from shaker_ctl.console import accounts
from shaker_ctl.doctor.computer import Computer
from shaker_ctl.doctor.examination import examine
from shaker_ctl.doctor.finding import Finding, Grade
from shaker_ctl.errors import RefusedError
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.seal import place
from shaker_ctl.tests.installed_table import install_table

pytestmark = [pytest.mark.rig, pytest.mark.timeout(180)]

RTC = "sys/class/rtc/rtc0/since_epoch"

PI = {
    "proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.5\0",
    "etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_CODENAME=bookworm\n',
    "sys/class/hwmon/hwmon0/name": "rpi_volt\n",
    "sys/class/hwmon/hwmon0/in0_lcrit_alarm": "0\n",
    "sys/class/thermal/thermal_zone0/temp": "51600\n",
    "boot/firmware/config.txt": "dtparam=audio=off\n",
    "usr/bin/pigpiod": "",
    RTC: "",  # set at each examination
    "usr/bin/pinctrl": "#!/bin/sh\n",
}


@dataclass
class Bench:
    """A rig without a service, the settings of a table on it, and a Pi made of files."""

    session: Session
    computer: Computer
    config: Path
    second: Path
    healed: list[Callable[[], object]] = field(default_factory=list)

    def examine(self, *, is_jogged: bool = True, is_sealed_anew: bool = True) -> dict[str, Finding]:
        """Seal the table as it is, as its approver would after a change, and examine it."""
        if is_sealed_anew:
            key = self.config.parent.parent / "approver.key"
            seal.write(key=key, by="the approver", config=self.config)
        self.file(RTC).write_text(f"{time.time():.0f}\n")
        found = settings.load(self.config)
        lines = examine(found, self.config, machine=self.computer, is_jogged=is_jogged)
        return {one.name: one for one in lines}

    def file(self, name: str) -> Path:
        return self.computer.root / name

    def rewrite(self, path: Path, text: str | None) -> None:
        """Change a file, or take it away, until the end of the test."""
        before, mode = path.read_bytes(), path.stat().st_mode

        def restore() -> None:
            path.write_bytes(before)
            path.chmod(mode)

        self.healed.append(restore)
        path.unlink()
        if text is not None:
            path.write_text(text)

    def edit(self, old: str, new: str) -> None:
        """Change the table's settings until the end of the test."""
        text = self.config.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the settings"
        self.rewrite(self.config, text.replace(old, new))


@pytest.fixture(scope="module", autouse=True)
def in_the_texts_zone() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("doctor")
    root = folder / "pi"
    for name, text in PI.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "usr/bin/pinctrl").chmod(0o755)
    install_table(root, PinParameters(motor_supply=27))
    session = Session(Plan(seed=5), folder / "table")
    # Another medium than the journal's: on this machine, memory.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as second:
        try:
            session.start_rig()
            session.write_settings()
            config = session.folder / "settings.toml"
            text = config.read_text()
            here = json.dumps(str(session.folder / "journal-second.jsonl"))
            text = text.replace(here, json.dumps(f"{second}/journal.jsonl"))
            config.write_text(text)
            seal.keys(folder / "approver.key", config.parent / place.PUBLIC_KEY, unguarded=True)
            computer = Computer(root, machine="aarch64", path=str(root / "usr/bin"))
            yield Bench(session, computer, config, Path(second))
        finally:
            session.close()


@pytest.fixture
def bench(table: Bench) -> Iterator[Bench]:
    yield table
    table.session.ask_rig("heal all")
    table.session.ask_rig("hands release estop")
    while table.healed:
        table.healed.pop()()


UNOPENED = "dice"
"""The line that warns at a table which nobody has opened yet: no dice are on record."""


def test_a_table_with_nothing_wrong_is_all_ok(bench: Bench):
    found = bench.examine()
    wrong = [one for one in found.values() if one.verdict is not Grade.OK]
    assert [(one.name, one.verdict) for one in wrong] == [(UNOPENED, Grade.WARN)]
    assert list(found) == [
        *("model", "system", "power", "temperature", "clock", "service", "stop script", "groups"),
        *("boot settings",),
        *(
            "disk",
            "second disk",
            "journal",
            "resumption",
            "text",
            "time zone",
            "dice",
            "people",
            "digests",
            "libraries",
        ),
        *("calibration", "teaching"),
        *("lamp box", "lamps", "technician's console", "dealer's console"),
        *("GPIO", "camera", "picture", "ring light", "exposure"),
        *("e-stop", "compartment", "cover", "driver fault", "player's button"),
        *("tach at rest", "motor supply", "shaker"),
    ]


@dataclass(frozen=True)
class Trouble:
    """Something broken, as `doctor.toml` says it."""

    lines: list[str]
    remedy: str
    warned: list[str] = field(default_factory=list)
    rig: str = ""
    file: str = ""
    text: str | None = None
    dealer: str = ""
    edit: tuple[str, ...] = ()

    def happens(self, bench: Bench) -> None:
        folder = bench.session.folder
        words = {
            "folder": folder,
            "second": bench.second,
            "dealer": json.dumps(bench.session.rig["console"]["dealer"]["service"]),
        }
        if self.rig:
            bench.session.ask_rig(self.rig)
        if self.file:
            bench.rewrite(bench.file(self.file.format(**words)), self.text)
        if self.dealer:
            word = "long enough to be taken"
            accounts.add(folder / "users.toml", self.dealer, Role.DEALER, word, "dan-1")
        if self.edit:
            bench.edit(*(each.format(**words) for each in self.edit))


TROUBLES = {
    name: Trouble(**told)
    for name, told in tomllib.loads(Path(__file__).with_name("doctor.toml").read_text()).items()
}


@pytest.mark.parametrize("name", TROUBLES)
def test_what_is_broken_is_named_with_its_remedy(bench: Bench, name: str):
    trouble = TROUBLES[name]
    trouble.happens(bench)
    found = bench.examine()
    failed = [one.name for one in found.values() if one.verdict is Grade.FAIL]
    warned = [one.name for one in found.values() if one.verdict is Grade.WARN]
    assert (failed, warned) == (trouble.lines, [UNOPENED, *trouble.warned]), [
        one for one in found.values() if one.verdict is not Grade.OK
    ]
    assert trouble.remedy in found[trouble.lines[0]].remedy


def test_settings_that_were_changed_after_sealing_are_named(bench: Bench):
    bench.examine(is_jogged=False)
    bench.edit('table_name = "Demonstration 1"', 'table_name = "Demonstration 2"')
    found = bench.examine(is_jogged=False, is_sealed_anew=False)
    assert found["digests"].verdict is Grade.FAIL
    assert str(bench.config) in found["digests"].text
    assert "seal check" in found["digests"].remedy


def test_a_camera_that_was_never_measured_is_to_be_known(bench: Bench):
    without = re.sub(r"^measured = .*\n", "", bench.config.read_text(), flags=re.MULTILINE)
    bench.rewrite(bench.config, without)
    found = bench.examine(is_jogged=False)["calibration"]
    assert found.verdict is Grade.WARN
    assert "calibrate camera" in found.remedy


def test_the_shaker_stands_still_where_that_is_asked_for(bench: Bench):
    found = bench.examine(is_jogged=False)
    assert found["shaker"].verdict is Grade.WARN
    assert [one for one in found.values() if one.verdict is Grade.FAIL] == []


def test_no_doctor_looks_while_the_service_holds_the_hardware(bench: Bench):
    bench.session.start_service()
    try:
        with pytest.raises(RefusedError, match="the table is running") as refused:
            bench.examine()
        assert "systemctl stop shaker-ctl" in refused.value.remedy
    finally:
        bench.session.stop_service()


def test_the_command_prints_a_line_for_each_and_ends_with_status_1_where_one_fails(bench: Bench):
    bench.session.ask_rig("hands press estop")
    words = [
        *("shaker-ctl", "doctor", "--yes", "--no-jog"),
        *("--config", str(bench.config), "--root", str(bench.computer.root)),
    ]
    program = Path(sys.executable).parent / words[0]
    ran = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False)
    kept = settings.load(bench.config).journal.path.with_name("doctor.jsonl").read_text("utf-8")
    lines = {one["name"]: one for one in map(json.loads, kept.splitlines())}
    assert ran.returncode == 1
    failed = [name for name, one in lines.items() if one["verdict"] == "fail"]
    assert f"{len(failed)} failed" in ran.stdout
    assert "e-stop" in failed
    assert lines["compartment"]["verdict"] == "ok"
