"""Recorded pins as files that other programs open, and the command that serves anyone."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pigpio
import pytest
from typer.testing import CliRunner

from virtual_pigpiod.command import _write, app
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod
from virtual_pigpiod.traces.recorder import Trace
from virtual_pigpiod.traces.vcd import write_vcd

SERVE = "from virtual_pigpiod.command import app; app()"


def test_a_vcd_tells_every_edge_with_its_microsecond(board: Board, tmp_path: Path) -> None:
    with Trace(board, [23, 24]) as trace:
        board.output(23, 1)
        start = board.now_us() + 1000
        board.edges(24, [(start, 1), (start + 33, 0)])
        time.sleep(0.01)
    path = tmp_path / "pins.vcd"
    write_vcd(trace, path)
    text = path.read_text()
    assert "$timescale 1 us $end" in text
    assert '$var wire 1 ! gpio23 $end\n$var wire 1 " gpio24 $end' in text
    assert text.count('$dumpvars\n0!\n0"\n$end') == 1
    assert f'#{start - trace.start_us}\n1"\n#{start + 33 - trace.start_us}\n0"\n' in text


def test_a_trace_goes_on_when_the_daemon_is_killed(board: Board) -> None:
    with VirtualPigpiod(board) as daemon, Trace(board, [24]) as trace:
        daemon.kill()
        board.drive(24, 1)
        time.sleep(0.15)
        assert len(trace.edges(24)) == 1


def test_the_command_serves_and_records_until_it_is_ended(tmp_path: Path) -> None:
    vcd = tmp_path / "pins.vcd"
    options = ["--port", "0", "--wire", "17:24", "--pins", "17,24"]
    command = [sys.executable, "-u", "-c", SERVE, *options, "--vcd", str(vcd)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        match = re.search(r"port (\d+)", process.stdout.readline())
        assert match is not None
        pi = pigpio.pi("127.0.0.1", int(match[1]))
        pi.write(17, 1)
        assert pi.read(24) == 1, "GPIO 24 is wired to 17"
        pi.write(17, 0)
        pi.stop()
        process.terminate()
        assert process.wait(10) == 0
    edges = re.findall(r"^[01][!\"]$", vcd.read_text(), re.MULTILINE)
    assert edges[2:] == ["1!", '1"', "0!", '0"']


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--wire", "17:99"], "no GPIO"),
        (["--wire", "17:24", "--wire", "24:17"], "wired to itself"),
        (["--pins", "17"], "--vcd FILE"),
        (["--vcd", "x.vcd"], "which pins"),
        (["--pins", "²", "--vcd", "x.vcd"], "no GPIO"),
        (["--pins", "18", "--vcd", "nowhere/x.vcd"], "no folder nowhere"),
        (["--pins", "18", "--vcd", "."], "is a folder"),
        (["--fifo-folder", "nowhere"], "does not exist"),
        (["--fifo-folder", __file__], "is a file"),
        (["--port", "65536"], "'--port'"),
    ],
)
def test_wrong_options_are_explained(options: list[str], said: str) -> None:
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 2
    assert said in result.output


def test_a_host_that_is_not_this_computer_is_named() -> None:
    host = "192.0.2.1"
    result = CliRunner().invoke(app, ["--port", "0", "--host", host])
    assert result.exit_code == 1
    assert f"Is --host {host} an address of this computer?" in result.output
    assert "--port" not in result.output


def test_a_recording_that_cannot_be_written_in_the_end_is_said(
    board: Board, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder was there at the start and is not any more."""
    with Trace(board, [23]) as trace:
        pass
    assert not _write(trace, tmp_path / "gone" / "pins.vcd")
    assert "Cannot write" in capsys.readouterr().err


def test_a_taken_port_is_explained(daemon: VirtualPigpiod) -> None:
    result = CliRunner().invoke(app, ["--port", str(daemon.port)])
    assert result.exit_code == 1
    assert "another --port" in result.output
