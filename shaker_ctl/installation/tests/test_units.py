"""Units and scripts keep what the product promises of them, also where no systemd is at hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from shaker_ctl.adapters.pins import gpiod_link, pigpio_link
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.installation.places import USER, shipped
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.main import EX_CONFIG, EX_DATAERR
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.service.parameters import ServiceParameters

LOADING_S = 10.0
"""Longest that the program may take to load its modules and to read the journal. Estimate: a slow
computer with a cold card."""

MAX_START_S = (
    LOADING_S
    + max(pigpio_link.OPEN_S, gpiod_link.START_S)
    + 2 * LampParameters().request_deadline_s  # who are you, and what did you last show
    + CameraParameters().start_timeout_s
)
"""Every wait of `Table.start`, one after the other, by the settings' defaults."""

EXPOSURE = {"shaker-ctl": 1.0, "shaker-page": 1.2, "shaker-link": 1.2, "shaker-pigpiod": 2.5}
"""Most that `systemd-analyze security` may find, of 10: a daemon of root's drives `/dev/mem`."""

FACES_A_NETWORK = ("shaker-page", "shaker-link", "shaker-floor", "shaker-floor-page")


def assignments(unit: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (shipped() / unit).read_text("utf-8").splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


TABLE = assignments("shaker-ctl.service")
DAEMON = assignments("shaker-pigpiod.service")


@pytest.mark.parametrize(
    ("unit", "key", "words"),
    [
        ("shaker-ctl", "User", USER),
        ("shaker-ctl", "Type", "notify"),
        # The program of a CSI camera: libcamera finds its devices through libudev.
        ("shaker-ctl", "RestrictAddressFamilies", "AF_NETLINK"),
        ("shaker-ctl", "SupplementaryGroups", "video"),
        ("shaker-ctl", "DeviceAllow", "char-video4linux char-media char-dma_heap"),
        # The stop script by pinctrl: `+` lifts users and capabilities, not the unit's devices.
        ("shaker-ctl", "ExecStopPost", "+/usr/libexec/shaker-ctl/motor-off"),
        ("shaker-pigpiod", "ExecStopPost", "/usr/libexec/shaker-ctl/motor-off"),
        ("shaker-ctl", "DeviceAllow", "/dev/gpiomem /dev/gpiomem0"),
        # No unit loads modules from a home or from the environment.
        ("shaker-ctl", "ExecStart", "-I"),
        ("shaker-page", "ExecStart", "-I"),
        ("shaker-link", "ExecStart", "-I"),
        # The link does not see who may log in.
        ("shaker-link", "TemporaryFileSystem", "/etc/shaker-ctl:ro"),
        ("shaker-link", "BindReadOnlyPaths", "-/etc/shaker-ctl/settings.toml"),
        # Daemon and table share a network that nobody else is on.
        ("shaker-ctl", "PrivateNetwork", "yes"),
        ("shaker-pigpiod", "PrivateNetwork", "yes"),
        ("shaker-ctl", "JoinsNamespaceOf", "shaker-pigpiod.service"),
        ("shaker-pigpiod", "ExecStart", "-l -n 127.0.0.1"),
        ("shaker-pigpiod", "IPAddressDeny", "any"),
        ("shaker-pigpiod", "IPAddressAllow", "localhost"),
    ],
)
def test_a_unit_says(unit: str, key: str, words: str):
    assert set(words.split()) <= set(" ".join(assignments(f"{unit}.service")[key]).split())


def test_what_a_restart_cannot_mend_is_not_restarted():
    assert {int(word) for word in TABLE["RestartPreventExitStatus"][0].split()} == {
        EX_CONFIG,
        EX_DATAERR,
    }


def test_the_records_process_may_lower_its_priority():
    assert TABLE["SystemCallFilter"][-1] == "setpriority"  # among @resources, denied before
    assert TABLE["CapabilityBoundingSet"] == [""]  # so none is raised


def test_the_tables_memory_is_taken_last():
    assert int(TABLE["MemoryLow"][0].removesuffix("M")) > 178  # MEASURED: its processes


def test_a_table_that_keeps_failing_stays_down():
    assert TABLE["Restart"] == ["on-failure"]
    burst, interval_s = int(TABLE["StartLimitBurst"][0]), int(TABLE["StartLimitIntervalSec"][0])
    # A start that hangs is ended after the first, and may take the second to end.
    max_s = sum(int(TABLE[key][0]) for key in ("TimeoutStartSec", "TimeoutStopSec"))
    between_starts_s = max_s + int(TABLE["RestartSec"][0])
    assert burst * between_starts_s < interval_s, "slow failures would loop for ever"


def test_a_table_whose_stick_is_not_there_is_tried_for_ever():
    """Each of its starts waits for the stick, and so few of them fall into the interval."""
    burst, interval_s = int(TABLE["StartLimitBurst"][0]), int(TABLE["StartLimitIntervalSec"][0])
    assert burst * JournalParameters().media_wait_s > interval_s


def test_the_table_starts_after_the_stick_that_was_found_at_power_on():
    """Ordered, not required: a table without a stick starts, too."""
    mount = "media-shaker\\x2djournal.mount"
    assert (shipped() / mount).exists()
    assert mount in " ".join(TABLE["After"]).split()
    assert mount not in " ".join(TABLE["Wants"] + TABLE.get("Requires", [])).split()


def test_systemd_waits_for_as_long_as_a_start_may_take():
    assert int(TABLE["TimeoutStartSec"][0]) > MAX_START_S


def test_the_watchdog_is_soon_and_the_table_is_given_no_environment():
    assert float(TABLE["WatchdogSec"][0]) <= 2
    assert "/run/" + TABLE["RuntimeDirectory"][0] == str(ServiceParameters().runtime_dir)
    assert not {"EnvironmentFile", "Environment"} & TABLE.keys()


@pytest.mark.parametrize("name", FACES_A_NETWORK)
def test_what_faces_a_network_has_a_bound_of_memory_and_threads(name: str):
    assert {"MemoryMax", "TasksMax"} <= set(assignments(f"{name}.service"))


def test_what_the_table_and_its_daemon_share_both_have():
    assert TABLE["PrivateTmp"] == DAEMON["PrivateTmp"]
    assert assignments("bench.conf") == {"PrivateNetwork": ["no"]}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
@pytest.mark.parametrize("name", EXPOSURE)
def test_units_are_hardened(name: str):
    words = ["systemd-analyze", "security", "--offline=true", "--no-pager"]
    ran = subprocess.run(
        [*words, str(shipped() / f"{name}.service")], capture_output=True, text=True, check=False
    )
    last = ran.stdout.strip().splitlines()[-1]
    assert float(last.split(":")[1].split()[0]) <= EXPOSURE[name]


# ── The stop script ─────────────────────────────────────────────────────────


class Tools:
    """Programs that write down how they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.called = folder / "called"
        (folder / "timeout").write_text('#!/bin/sh\nshift\nexec "$@"\n')
        (folder / "timeout").chmod(0o755)

    def add(self, name: str, *, status: int = 0, version: str = "") -> None:
        program = self.folder / name
        program.write_text(
            "#!/bin/sh\n"
            f'[ "$1" = --version ] && echo "{version}" && exit 0\n'
            f'echo "{name} $*" >> {self.called}\nexit {status}\n'
        )
        program.chmod(0o755)

    def run(self, **environment: str) -> tuple[int, list[str], str]:
        ran = subprocess.run(
            ["/bin/sh", str(shipped() / "motor-off")],
            env={"PATH": str(self.folder), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        called = self.called.read_text().splitlines() if self.called.exists() else []
        return ran.returncode, called, ran.stderr


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path)


PINS = PinParameters()
EN, PWM, LATCH = PINS.motor_enable, PINS.motor_pwm, PINS.latch_release
OTHER_PINS = {"SHAKER_EN": "17", "SHAKER_PWM": "13", "SHAKER_LATCH": "22"}


@pytest.mark.parametrize(
    ("tool", "version", "pins", "words"),
    [
        ("pinctrl", "", {}, f"set {EN},{PWM},{LATCH} op dl"),
        ("pinctrl", "", OTHER_PINS, "set 17,13,22 op dl"),
        ("gpioset", "gpioset (libgpiod) v1.6.3", {}, "gpiochip0 23=0 18=0 21=0"),
        ("gpioset", "gpioset (libgpiod) v2.2.1", {}, "-t 0 -c gpiochip0 23=0 18=0 21=0"),
    ],
)
def test_the_stop_script_takes_motor_and_latch_low(
    tools: Tools, tool: str, version: str, pins: dict[str, str], words: str
):
    tools.add(tool, version=version)
    assert tools.run(**pins) == (0, [f"{tool} {words}"], "")


@pytest.mark.parametrize("tool", ["pinctrl", "gpioset"])
def test_the_stop_script_leaves_a_pwm_pin_of_the_kernels_alone(tools: Tools, tool: str):
    """Made an output, it would have no PWM until the next boot: only its overlay selects that."""
    device = tools.folder / "1f00098000.pwm"
    channel = tools.folder / "class" / "pwmchip3" / "pwm2"
    device.mkdir()
    channel.mkdir(parents=True)
    (channel.parent / "device").symlink_to(device)
    (channel / "duty_cycle").write_text("21000\n")
    tools.add(tool, version="gpioset (libgpiod) v2.2.1" if tool == "gpioset" else "")
    path = f"{tools.folder}:/usr/bin:/bin"
    status, called, _ = tools.run(PATH=path, SHAKER_PWM_CLASS=str(tools.folder / "class"))
    low = "set 23,21 op dl" if tool == "pinctrl" else "-t 0 -c gpiochip0 23=0 21=0"
    assert (status, called) == (0, [f"{tool} {low}"])
    assert (channel / "duty_cycle").read_text() == "0\n"


def test_where_one_tool_fails_the_stop_script_tries_the_next(tools: Tools):
    tools.add("pinctrl", status=1)
    tools.add("raspi-gpio")
    status, called, _ = tools.run()
    assert status == 0
    assert called[1:] == [f"raspi-gpio set {pin} op dl" for pin in (23, 18, 21)]


def test_the_stop_script_never_asks_the_gpio_daemon(tools: Tools):
    tools.add("pigs")
    status, called, said = tools.run()
    assert (status, called) == (1, [])
    assert "raspi-utils" in said


def test_a_stick_that_is_mounted_keeps_its_owner():
    """systemd-tmpfiles runs at each upgrade, while the second journal's medium is in use."""
    lines = (shipped() / "shaker-ctl.tmpfiles").read_text("utf-8").splitlines()
    (stick,) = [line.split() for line in lines if line.startswith("d /media/")]
    assert all(word.startswith(":") for word in stick[2:5])
