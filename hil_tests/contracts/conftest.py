"""What contract tests are given: a bench for the pins by each way, and a journal's two places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hil_tests.contracts.far_bench import FarBench
from hil_tests.contracts.gpio_bench import GpioBench, GpiodBench, PigpioBench
from hil_tests.contracts.pins import Pins
from hil_tests.rig.gpiochip import trap
from hil_tests.rig.rigfile import Gpio, RigFile
from shaker_ctl.journal.parameters import JournalParameters


@pytest.fixture
def parameters(tmp_path: Path) -> JournalParameters:
    (tmp_path / "stick").mkdir()
    return JournalParameters(
        path=tmp_path / "journal.jsonl", second=tmp_path / "stick" / "journal.jsonl"
    )


@pytest.fixture(params=[PigpioBench, GpiodBench], ids=["pigpio", "gpiod"])
def bench(request: pytest.FixtureRequest, rig_table: RigFile) -> Iterator[GpioBench]:
    """A board and a way to its pins, contacts at rest: the rig's of `--rig`."""
    made: GpioBench
    if request.param is GpiodBench and (reason := trap.why_not()):
        pytest.skip(f"no virtual gpiochip on this machine: {reason}")
    if rig_table.gpio.wires in (Gpio.VIRTUAL, Gpio.GPIOCHIP):
        made = request.param()
    elif request.param is PigpioBench:
        made = FarBench(rig_table)
    else:
        pytest.skip(f"the pins of the rig {rig_table.name!r} have a daemon, not a gpiochip")
    yield made
    made.close()


@pytest.fixture
def pins(bench: GpioBench) -> Iterator[Pins]:
    """An open controller's side on that bench."""
    with bench.controller() as made:
        yield made
