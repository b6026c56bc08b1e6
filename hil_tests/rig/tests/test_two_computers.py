"""The rig on one computer, the controller on another: two network namespaces, serial cables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from hil_tests.rig import link_test
from hil_tests.rig.wires.line import BoxEnd, Line, Port
from hil_tests.rig.wires.uart import Framing
from hil_tests.waiting import until

pytestmark = pytest.mark.rig

RIG_FILE = """
name = "rig computer"
bind = "0.0.0.0"
address = "10.77.0.1"
"""
COMPUTERS = Path(__file__).parents[2] / "rigs" / "two-computers"
LOOK = """
import cv2, json, pathlib, pigpio, sys
where = json.loads(pathlib.Path(sys.argv[1]).read_text())
assert where["camera"]["url"].startswith("http://10.77.0.1:"), where["camera"]
pi = pigpio.pi(where["pigpiod"]["host"], where["pigpiod"]["port"], show_errors=False)
assert pi.connected
estop = pi.read(13)
stream = cv2.VideoCapture(where["camera"]["url"])
is_read, picture = stream.read()
print(json.dumps({"estop": estop, "picture": is_read and list(picture.shape)}))
"""


@pytest.fixture
def computers(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A running rig on one computer; its folder, and the process that stands for the other."""
    tools = ("unshare", "nsenter", "ip")
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        pytest.skip(f"{', '.join(missing)} is not installed (Debian packages util-linux, iproute2)")
    if os.geteuid() or subprocess.run(["unshare", "-n", "true"], check=False).returncode:
        pytest.skip("network namespaces need root")
    (tmp_path / "rig.toml").write_text(RIG_FILE)
    rig = f"{sys.executable} -c 'from hil_tests.rig.main import app; app()'"
    words = f"{rig} run --dir {tmp_path}/rig --rig {tmp_path}/rig.toml"
    run = subprocess.Popen(
        ["bash", str(COMPUTERS), "bash", "-c", f"echo $OTHER_COMPUTER; exec {words}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert run.stdout is not None
    other = run.stdout.readline().strip()
    if not other.isdigit():
        run.wait(10)
        pytest.skip(f"no two namespaces here: {other}")
    try:
        until((tmp_path / "rig" / "rig.json").exists, 60.0)
        yield tmp_path / "rig" / "rig.json", other
    finally:
        run.terminate()
        run.wait(20)
        run.stdout.close()
    assert not Path(f"/proc/{other}").exists()


def test_camera_and_pins_are_reached_from_another_computer(computers: tuple[Path, str]) -> None:
    addresses, other = computers
    ran = subprocess.run(
        ["nsenter", "-t", other, "-n", sys.executable, "-c", LOOK, str(addresses)],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {"estop": 0, "picture": [480, 640, 3]}


@pytest.mark.parametrize(
    ("took_ms", "says"),
    [
        ([0.2] * 100, ""),
        ([0.2] * 99 + [19.0], ""),
        ([1.5] * 100, "1.50 ms in the median (0.8 at most)"),
        ([0.2] * 95 + [40.0] * 5, "40.0 ms for one in a hundred (20 at most)"),
    ],
)
def test_a_link_that_is_too_slow_for_the_control_loop_is_named(
    took_ms: list[float], says: str
) -> None:
    told = link_test.judged("10.77.0.1:8888", [took / 1000 for took in took_ms])
    assert says in told
    assert bool(told) is bool(says)


def test_a_daemon_that_does_not_answer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        link_test.main("127.0.0.1:1")
    assert "the GPIO daemon at 127.0.0.1:1 does not answer" in capsys.readouterr().err


def test_a_line_ends_at_a_serial_port_of_this_computer_and_comes_back_when_plugged_in() -> None:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    box = BoxEnd()
    line = Line("lamp", Port(Path(os.ttyname(theirs)), Framing(9600)), box, framing=None)
    try:
        os.write(ours, b"asked")
        assert box.receive(5.0) == b"asked"
        box.send(b"answered")
        assert os.read(ours, 100) == b"answered"
        line.faults.inject("line_unplugged")
        until(lambda: not line.ends[0].is_open())
        os.write(ours, b"lost")
        assert box.receive(0.2) == b""
        line.faults.heal("line_unplugged")
        until(line.ends[0].is_open)
        box.send(b"again")
        assert b"again" in os.read(ours, 100)
    finally:
        line.close()
        os.close(ours)
        os.close(theirs)
