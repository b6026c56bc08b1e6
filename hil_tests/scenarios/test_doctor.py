"""`shaker-ctl doctor` on the rig: all ok; and with each thing broken, the line that says so.

The rig stands for everything behind pins and lines. What only a Raspberry Pi has (its model, the
firmware's word about the supply, a thermometer, an RTC) is a folder of files that a real one was
written down from; what an installation brings is staged into the same folder by the shipped code.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
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
        *("calibration",),
        *("lamp box", "lamps", "technician's console", "dealer's console"),
        *("GPIO", "camera", "picture", "ring light", "exposure"),
        *("e-stop", "compartment", "cover", "driver fault", "player's button"),
        *("tach at rest", "motor supply", "shaker"),
    ]


@dataclass(frozen=True)
class Trouble:
    """Something broken, the lines that must fail, and what the first one's remedy must say."""

    break_it: Callable[[Bench], object]
    lines: tuple[str, ...]
    remedy: str
    warned: tuple[str, ...] = ()
    """Lines that follow from it."""


def on_the_rig(sentence: str) -> Callable[[Bench], None]:
    return lambda bench: bench.session.ask_rig(sentence)


def without_people(bench: Bench) -> None:
    bench.rewrite(bench.session.folder / "users.toml", None)


def with_dealers_only(bench: Bench) -> None:
    bench.rewrite(bench.session.folder / "users.toml", "")
    accounts.add(
        bench.session.folder / "users.toml", "dan", Role.DEALER, "long enough to be taken", "dan-1"
    )


def with_undervoltage(bench: Bench) -> None:
    bench.rewrite(bench.file("sys/class/hwmon/hwmon0/in0_lcrit_alarm"), "1\n")


def with_another_pin(bench: Bench) -> None:
    bench.edit("[gpio.pins]\n", "[gpio.pins]\nlatch_release = 22\n")


def with_a_console_that_is_not_there(bench: Bench) -> None:
    device = bench.session.rig["console"]["dealer"]["service"]
    bench.edit(json.dumps(device), '"/dev/shaker-dealer"')


def with_both_copies_on_one_medium(bench: Bench) -> None:
    bench.edit(f"{bench.second}/journal.jsonl", f"{bench.session.folder}/copy.jsonl")


def without_the_second_medium(bench: Bench) -> None:
    bench.edit(f"{bench.second}/journal.jsonl", "/media/nothing-here/journal.jsonl")


def without_a_pin_tool(bench: Bench) -> None:
    bench.rewrite(bench.file("usr/bin/pinctrl"), None)


def without_the_stop_script(bench: Bench) -> None:
    bench.rewrite(bench.file("usr/libexec/shaker-ctl/motor-off"), None)


CONTACTS_LOST = ("GPIO", "ring light")

TROUBLES = {
    # The machine
    "e-stop pressed": Trouble(
        on_the_rig("hands press estop"), ("e-stop",), "loop from GPIO 13", ("shaker",)
    ),
    "e-stop wire broken": Trouble(
        on_the_rig("inject estop_contact_open"), ("e-stop",), "GPIO 13", ("shaker",)
    ),
    "compartment open": Trouble(
        on_the_rig("inject compartment_contact_open"),
        ("compartment",),
        "Close and lock it",
        ("shaker",),
    ),
    "driver fault": Trouble(
        on_the_rig("inject driver_fault"), ("driver fault",), "its own display", ("shaker",)
    ),
    "contactor welded": Trouble(
        on_the_rig("inject supply_welded"), ("motor supply",), "supply NOW", ("shaker",)
    ),
    "button stuck": Trouble(
        on_the_rig("inject button_stuck"), ("player's button",), "line to GPIO 16"
    ),
    "tach silent": Trouble(on_the_rig("inject tach_silent"), ("shaker",), "its wire to GPIO 24"),
    "shaker jammed": Trouble(on_the_rig("inject jam"), ("shaker",), "free the cam"),
    "driver dead": Trouble(on_the_rig("inject driver_dead"), ("shaker",), "motor's supply"),
    "driver ignores the duty": Trouble(
        on_the_rig("inject overspeed"), ("shaker",), "PWM wire to GPIO 18"
    ),
    # The daemon
    "daemon gone": Trouble(
        on_the_rig("inject pigpiod_terminate"), CONTACTS_LOST, "systemctl start shaker-pigpiod"
    ),
    "daemon hangs": Trouble(
        on_the_rig("inject pigpiod_hang"), CONTACTS_LOST, "systemctl restart shaker-pigpiod"
    ),
    # The camera
    "camera unplugged": Trouble(on_the_rig("inject camera_closed"), ("camera",), "[camera] device"),
    "camera out of focus": Trouble(
        on_the_rig("inject camera_defocused"), ("picture",), "focus the lens"
    ),
    "camera over-exposed": Trouble(
        on_the_rig("inject camera_over_exposed"), ("picture",), "lower the camera's exposure"
    ),
    "camera exposes by itself": Trouble(
        on_the_rig("inject camera_auto_exposure"), ("exposure",), "[camera.controls]"
    ),
    "camera knocked": Trouble(
        on_the_rig("inject camera_shifted x_px=8 y_px=-5"), ("picture",), "calibrate it again"
    ),
    "ring light stuck": Trouble(
        on_the_rig("inject light_stuck"), ("ring light",), "its wire to GPIO 12"
    ),
    # The lamps
    "lamp box silent": Trouble(on_the_rig("inject lamp_silent"), ("lamp box",), "supply"),
    "lamp box of another map": Trouble(
        on_the_rig("inject lamp_other_map"), ("lamp box",), "Fit the right box"
    ),
    "bulb stuck on": Trouble(
        on_the_rig("inject bulb_stuck area=big"), ("lamps",), "Replace their driver"
    ),
    "lamp supply low": Trouble(
        on_the_rig("inject lamp_supply_low"), ("lamps",), "Check the lamps' supply"
    ),
    # The computer
    "undervoltage": Trouble(with_undervoltage, ("power",), "5.1 V"),
    "nobody can log in": Trouble(without_people, ("people",), "console add-user"),
    "nobody may open": Trouble(with_dealers_only, ("people",), "with role floorperson"),
    "console not there": Trouble(
        with_a_console_that_is_not_there, ("dealer's console",), "Check the cable"
    ),
    "both copies on one medium": Trouble(
        with_both_copies_on_one_medium, ("second disk",), "shaker-2nd"
    ),
    "second medium missing": Trouble(without_the_second_medium, ("second disk",), "Mount"),
    "pins changed without installing": Trouble(
        with_another_pin, ("stop script", "motor supply"), "shaker-ctl setup", ("shaker",)
    ),
    "no pin tool": Trouble(without_a_pin_tool, ("stop script",), "raspi-utils"),
    "stop script gone": Trouble(without_the_stop_script, ("stop script",), "apt install"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_what_is_broken_is_named_with_its_remedy(bench: Bench, name: str):
    trouble = TROUBLES[name]
    trouble.break_it(bench)
    found = bench.examine()
    failed = [one.name for one in found.values() if one.verdict is Grade.FAIL]
    warned = [one.name for one in found.values() if one.verdict is Grade.WARN]
    assert (failed, warned) == (list(trouble.lines), [UNOPENED, *trouble.warned]), [
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
    bench.edit(f'measured = "{date.today().isoformat()}"\n', "")
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
        *("shaker-ctl", "doctor", "--yes", "--json", "--no-jog"),
        *("--config", str(bench.config), "--root", str(bench.computer.root)),
    ]
    program = Path(sys.executable).parent / words[0]
    ran = subprocess.run([program, *words[1:]], capture_output=True, text=True, check=False)
    lines = {one["name"]: one for one in map(json.loads, ran.stdout.splitlines())}
    assert ran.returncode == 1
    assert lines["e-stop"]["verdict"] == "fail"
    assert lines["compartment"]["verdict"] == "ok"
