"""Debian's pigs and pig2vcd (package pigpio-tools), unchanged, against the virtual daemon."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod
from virtual_pigpiod.waiting import until

pytestmark = pytest.mark.skipif(
    shutil.which("pigs") is None or shutil.which("pig2vcd") is None,
    reason="pigs and pig2vcd are not installed (Debian: apt install pigpio-tools)",
)

Pigs = Callable[[str], str]


@pytest.fixture
def pigs(daemon: VirtualPigpiod) -> Pigs:
    """Run pigs with one line of words; what it printed, outputs and errors together."""
    environment = {**os.environ, "PIGPIO_ADDR": "127.0.0.1", "PIGPIO_PORT": str(daemon.port)}

    def run(line: str) -> str:
        command = ["pigs", *line.split()]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
        return (done.stdout + done.stderr).strip()

    return run


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("pigpv", "79"),
        ("hwver", "10494082"),
        ("m 25 w mg 25", "1"),
        ("w 25 1 r 25 w 25 0 r 25", "1\n0"),
        ("pud 24 u r 24 pud 24 d r 24", "1\n0"),
        ("p 17 128 gdc 17 pfs 17 2000 prrg 17", "128\n2000\n100"),
        ("hp 18 20000 250000 gdc 18 pfg 18", "250000\n20000"),
        ("s 22 1500 gpw 22", "1500"),
        ("bs1 0x1000 bc1 0x1000", ""),
        ("wvag 0x20000 0 1000 0 0x20000 1000 wvcre wvsc 2", "2\n0\n25016"),
        ("slro 24 9600 8 slr 24 10 slrc 24", "0"),
        ("mils 20 mics 50 tick", None),
        ("w 25 2", "-5\nERROR: level not 0-1"),
        ("w 1 1", "-41\nERROR: no permission to update GPIO"),
        ("i2co 1 0x20 0", "-74\nERROR: bad I2C bus"),
        ("evt 3 cgi csi 0", "0"),
    ],
)
def test_pigs_prints_what_it_prints_on_a_pi(pigs: Pigs, line: str, printed: str | None) -> None:
    output = pigs(line)
    if printed is None:
        assert output.isdigit()
    else:
        assert output.split() == printed.split()


def test_pigs_stores_and_runs_a_script(board: Board, pigs: Pigs) -> None:
    assert pigs("proc tag 0 w 23 1 mils 5 w 23 0 mils 5 dcr p0 jp 0") == "0"
    assert pigs("procp 0") == "1 0 0 0 0 0 0 0 0 0 0"
    pigs("procr 0 3")
    until(lambda: pigs("procp 0").startswith("1 "))
    assert pigs("procp 0") == "1 -1 0 0 0 0 0 0 0 0 0"
    assert board.level(23) == 0


def test_pig2vcd_draws_what_a_pipe_reports(
    daemon: VirtualPigpiod, pigs: Pigs, tmp_path: Path
) -> None:
    assert pigs("no") == "0"
    assert daemon.fifo_folder is not None
    pipe = daemon.fifo_folder / "pigpio0"
    drawn = tmp_path / "pins.vcd"
    with (
        pipe.open("rb") as reports,
        drawn.open("wb") as picture,
        subprocess.Popen(["pig2vcd"], stdin=reports, stdout=picture) as process,
    ):
        pigs("nb 0 0x20000 pfs 17 100 p 17 64")
        time.sleep(0.3)
        pigs("p 17 0 nc 0")
        assert process.wait(10) == 0
    text = drawn.read_text()
    name = next(line.split()[3] for line in text.splitlines() if line.endswith(" 17 $end"))
    rises = [line for line in text.splitlines() if line == f"1{name}"]
    assert "$timescale" in text
    assert 27 <= len(rises) <= 60
    assert not pipe.exists()
