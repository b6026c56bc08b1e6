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


def test_what_a_restart_cannot_mend_is_not_restarted():
    assert {int(word) for word in TABLE["RestartPreventExitStatus"][0].split()} == {
        EX_CONFIG,
        EX_DATAERR,
    }


def test_the_sandbox_permits_what_the_program_of_a_csi_camera_needs():
    assert "AF_NETLINK" in TABLE["RestrictAddressFamilies"][0].split()  # libcamera: libudev
    allowed = {device.split()[0] for device in TABLE["DeviceAllow"]}
    assert {"char-video4linux", "char-media", "char-dma_heap"} <= allowed
    assert "video" in TABLE["SupplementaryGroups"][0].split()


@pytest.mark.parametrize("device", ["/dev/gpiomem", "/dev/gpiomem0"])
def test_the_stop_script_reaches_the_pins_by_pinctrl_in_the_tables_sandbox(device: str):
    """`+` lifts users and capabilities, not the devices of the unit's control group."""
    assert TABLE["ExecStopPost"][0].startswith("+")
    assert f"{device} rw" in TABLE["DeviceAllow"]


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


def test_the_service_runs_as_its_user_and_tells_systemd_of_itself():
    assert TABLE["User"] == [USER]
    assert TABLE["Type"] == ["notify"]
    assert float(TABLE["WatchdogSec"][0]) <= 2
    assert "/run/" + TABLE["RuntimeDirectory"][0] == str(ServiceParameters().runtime_dir)


@pytest.mark.parametrize("unit", [TABLE, DAEMON], ids=["table", "daemon"])
def test_both_units_take_the_motors_pins_low_however_they_end(unit: dict[str, list[str]]):
    assert unit["ExecStopPost"][0].lstrip("+").endswith("/motor-off")


def test_the_table_is_given_no_environment_and_loads_nothing_but_its_own():
    assert "EnvironmentFile" not in TABLE
    assert "Environment" not in TABLE


@pytest.mark.parametrize("name", ["shaker-ctl", "shaker-page", "shaker-link"])
def test_no_unit_loads_modules_from_a_home_or_the_environment(name: str):
    assert "/python3 -I /" in assignments(f"{name}.service")["ExecStart"][0]


@pytest.mark.parametrize("name", FACES_A_NETWORK)
def test_what_faces_a_network_has_a_bound_of_memory_and_threads(name: str):
    assert {"MemoryMax", "TasksMax"} <= set(assignments(f"{name}.service"))


def test_the_link_does_not_see_who_may_log_in():
    link = assignments("shaker-link.service")
    assert link["TemporaryFileSystem"] == ["/etc/shaker-ctl:ro"]
    assert link["BindReadOnlyPaths"] == ["-/etc/shaker-ctl/settings.toml"]


def test_daemon_and_table_share_a_network_that_nobody_else_is_on():
    assert TABLE["PrivateNetwork"] == DAEMON["PrivateNetwork"] == ["yes"]
    assert TABLE["JoinsNamespaceOf"] == ["shaker-pigpiod.service"]
    assert TABLE["PrivateTmp"] == DAEMON["PrivateTmp"], "what is joined, both must have"
    assert assignments("bench.conf") == {"PrivateNetwork": ["no"]}


def test_the_daemon_is_reached_from_this_machine_alone():
    assert " -l -n 127.0.0.1 " in DAEMON["ExecStart"][0]
    assert DAEMON["IPAddressDeny"] == ["any"]
    assert DAEMON["IPAddressAllow"] == ["localhost"]


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


def test_the_stop_script_takes_motor_and_latch_low_by_pinctrl(tools: Tools):
    tools.add("pinctrl")
    pins = PinParameters()
    low = f"{pins.motor_enable},{pins.motor_pwm},{pins.latch_release}"
    assert tools.run() == (0, [f"pinctrl set {low} op dl"], "")


def test_the_stop_script_takes_the_pins_of_the_settings(tools: Tools):
    tools.add("pinctrl")
    assert tools.run(SHAKER_EN="17", SHAKER_PWM="13", SHAKER_LATCH="22")[1] == [
        "pinctrl set 17,13,22 op dl"
    ]


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


@pytest.mark.parametrize(
    ("version", "call"),
    [
        ("gpioset (libgpiod) v1.6.3", "gpioset gpiochip0 23=0 18=0 21=0"),
        ("gpioset (libgpiod) v2.2.1", "gpioset -t 0 -c gpiochip0 23=0 18=0 21=0"),
    ],
)
def test_the_stop_script_speaks_to_both_versions_of_gpioset(tools: Tools, version: str, call: str):
    tools.add("gpioset", version=version)
    assert tools.run() == (0, [call], "")


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
