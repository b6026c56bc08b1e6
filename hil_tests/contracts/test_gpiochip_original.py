"""The virtual gpiochip beside the one it imitates: the same client asks both, and hears the same.

The original is the kernel's gpio-sim: root, and the module. Elsewhere a skip says the reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hil_tests.rig.door import Door
from hil_tests.rig.gpiochip import trap
from hil_tests.rig.gpiochip.device import NODE, GpioChip
from hil_tests.waiting import until
from virtual_pigpiod.pins.board import Board

CONFIG = Path("/sys/kernel/config/gpio-sim/shaker")
CLIENT = """
import sys, time, gpiod
from datetime import timedelta
from gpiod.line import Bias, Direction, Edge, Value
chip = gpiod.Chip(sys.argv[1])
def line(number, **how):
    global held
    held = chip.request_lines({number: gpiod.LineSettings(**how)}, consumer="me")
def events(wait_s):
    time.sleep(wait_s)
    return held.read_edge_events() if held.wait_edge_events(0) else []
for asked in sys.stdin:
    try:
        print(repr(eval(asked)), flush=True)
    except OSError as error:
        print(repr(error.errno), flush=True)
"""


class Bench(ABC):
    """A chip, hands at its wires, and a client of its own."""

    def __init__(self, node: str, *before: str) -> None:
        command = [*before, sys.executable, "-c", CLIENT, node]
        self.client = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, asked: str) -> Any:
        assert self.client.stdin is not None
        assert self.client.stdout is not None
        self.client.stdin.write(asked + "\n")
        self.client.stdin.flush()
        return eval(self.client.stdout.readline())

    def close(self) -> None:
        self.client.kill()
        self.client.communicate()

    @abstractmethod
    def drive(self, line: int, level: int) -> None: ...

    @abstractmethod
    def level(self, line: int) -> int: ...


class Imitation(Bench):
    def __init__(self, folder: Path) -> None:
        self.board = Board()
        self.chip = GpioChip(self.board, strict=True)
        self.door = Door(folder / "door", self.chip.let_in, "gpiochip")
        enter = "hil_tests.rig.gpiochip.enter"
        super().__init__(NODE, sys.executable, "-m", enter, self.door.address)

    def drive(self, line: int, level: int) -> None:
        self.board.drive(line, level)

    def level(self, line: int) -> int:
        return self.board.level(line)

    def close(self) -> None:
        super().close()
        self.door.close()
        self.chip.close()


class Original(Bench):
    """gpio-sim: a pull is what hands do."""

    def __init__(self) -> None:
        (CONFIG / "bank").mkdir(parents=True)
        (CONFIG / "bank" / "num_lines").write_text("54")
        (CONFIG / "live").write_text("1")
        device = (CONFIG / "dev_name").read_text().strip()
        self.chip = (CONFIG / "bank" / "chip_name").read_text().strip()
        self.lines = Path(f"/sys/devices/platform/{device}/{self.chip}")
        super().__init__(f"/dev/{self.chip}")

    def drive(self, line: int, level: int) -> None:
        (self.lines / f"sim_gpio{line}" / "pull").write_text("pull-up" if level else "pull-down")

    def level(self, line: int) -> int:
        return int((self.lines / f"sim_gpio{line}" / "value").read_text())

    def close(self) -> None:
        super().close()
        forget()


def forget() -> None:
    """Take away what an earlier run has left, too."""
    with suppress(OSError):
        (CONFIG / "live").write_text("0")
    for folder in (CONFIG / "bank", CONFIG):
        with suppress(OSError):
            folder.rmdir()


@pytest.fixture(params=["imitation", "original"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    made: Bench
    if request.param == "imitation":
        if reason := trap.why_not():
            pytest.skip(f"no virtual gpiochip on this machine: {reason}")
        made = Imitation(tmp_path)
    else:
        if os.geteuid() != 0:
            pytest.skip("gpio-sim needs root")
        if not CONFIG.parent.is_dir():
            pytest.skip("this kernel has no gpio-sim (modprobe gpio-sim; mount configfs)")
        forget()
        made = Original()
    yield made
    made.close()


EBUSY, EPERM = 16, 1


def test_an_output_is_driven_and_nobody_else_gets_it(bench: Bench) -> None:
    assert bench.ask("line(23, direction=Direction.OUTPUT, output_value=Value.ACTIVE)") is None
    assert bench.level(23) == 1
    assert bench.ask(
        "(lambda i: (i.used, i.consumer, i.direction.name))(chip.get_line_info(23))"
    ) == (*(True, "me", "OUTPUT"),)
    assert bench.ask("chip.request_lines({23: None})") == EBUSY
    assert bench.ask("held.set_value(23, Value.INACTIVE)") is None
    assert bench.level(23) == 0
    assert bench.ask("held.release()") is None
    until(lambda: not bench.ask("chip.get_line_info(23).used"), 2.0)


def test_what_the_kernel_refuses(bench: Bench) -> None:
    assert bench.ask("line(5, direction=Direction.INPUT)") is None
    assert bench.ask("held.set_value(5, Value.ACTIVE)") == EPERM


@pytest.mark.parametrize(("bias", "level"), [("PULL_UP", 1), ("PULL_DOWN", 0)])
def test_an_input_without_hands_has_the_level_of_its_bias(
    bench: Bench, bias: str, level: int
) -> None:
    bench.ask(f"line(6, direction=Direction.INPUT, bias=Bias.{bias})")
    assert bench.ask("held.get_value(6).value") == level
    bench.drive(6, 1 - level)
    assert bench.ask("held.get_value(6).value") == 1 - level


def test_edges_are_counted_and_stamped_by_the_monotonic_clock(bench: Bench) -> None:
    bench.drive(24, 0)
    bench.ask("line(24, direction=Direction.INPUT, edge_detection=Edge.RISING)")
    before = time.monotonic_ns()
    for level in (1, 0, 1, 0):
        bench.drive(24, level)
        time.sleep(0.01)
    found = bench.ask(
        "[(e.event_type.name, e.line_offset, e.global_seqno, e.line_seqno, e.timestamp_ns)"
        " for e in events(0.3)]"
    )
    assert [each[:4] for each in found] == [("RISING_EDGE", 24, n, n) for n in (1, 2)]
    stamps = [each[4] for each in found]
    assert before - 1_000_000 < stamps[0] < stamps[1] < time.monotonic_ns()


def test_a_pulse_below_the_debounce_is_no_event(bench: Bench) -> None:
    bench.drive(13, 0)
    bench.ask(
        "line(13, direction=Direction.INPUT, edge_detection=Edge.BOTH,"
        " debounce_period=timedelta(milliseconds=200))"
    )
    bench.drive(13, 1)
    bench.drive(13, 0)
    assert bench.ask("[e.event_type.name for e in events(0.6)]") == []
    bench.drive(13, 1)
    assert bench.ask("[e.event_type.name for e in events(0.6)]") == ["RISING_EDGE"]
