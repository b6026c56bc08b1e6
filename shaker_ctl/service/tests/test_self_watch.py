"""A stepped clock, and memory or disk running out, are named once, and before it is too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaker_ctl.service.fault_queue import WORDS
from shaker_ctl.service.parameters import ServiceParameters
from shaker_ctl.service.self_watch import CLOCK, DISK, MEMORY, SelfWatch, available_memory_b

PLENTY = 10**10


class Clocks:
    """Two clocks that a test moves."""

    def __init__(self) -> None:
        self.monotonic_s = 1000.0
        self.wall_s = 1.8e9

    def monotonic(self) -> float:
        return self.monotonic_s

    def wall(self) -> float:
        return self.wall_s

    def advance(self, seconds: float, *, step: float = 0.0) -> None:
        self.monotonic_s += seconds
        self.wall_s += seconds + step


class Ground:
    def __init__(self) -> None:
        self.clock = Clocks()
        self.memory: int | None = PLENTY
        self.disk: int | None = PLENTY
        self.watch = SelfWatch(
            self.clock,
            ServiceParameters(),
            Path("/var/lib/journal.jsonl"),
            memory_free_b=lambda: self.memory,
            disk_free_b=lambda _: self.disk,
        )


@pytest.fixture
def ground() -> Ground:
    return Ground()


def test_a_clock_that_runs_and_is_slewed_is_no_news(ground: Ground) -> None:
    for _ in range(100):
        ground.clock.advance(0.5, step=0.00025)  # adjtimex slews by at most 500 ppm
        assert ground.watch.look() == ()


@pytest.mark.parametrize("step", [-3600.0, 86_400.0, 2.5])
def test_a_step_of_the_clock_is_a_fault_once_and_so_is_the_step_back(
    ground: Ground, step: float
) -> None:
    ground.clock.advance(0.5, step=step)
    assert ground.watch.look() == (CLOCK,)
    ground.clock.advance(0.5)
    assert ground.watch.look() == ()
    ground.clock.advance(0.5, step=-step)
    assert ground.watch.look() == (CLOCK,)


def test_what_runs_out_is_news_until_it_was_well_again(ground: Ground) -> None:
    ground.memory, ground.disk = 10**6, 10**6
    assert ground.watch.look() == (DISK, MEMORY)
    assert ground.watch.look() == ()
    ground.memory = PLENTY
    assert ground.watch.look() == ()
    ground.memory = 10**6
    assert ground.watch.look() == (MEMORY,)


def test_a_figure_that_cannot_be_read_is_no_fault(ground: Ground, tmp_path: Path) -> None:
    ground.memory = ground.disk = None
    assert ground.watch.look() == ()
    assert available_memory_b(tmp_path / "nothing") is None


def test_the_kernels_own_figure_is_read() -> None:
    free_b = available_memory_b()
    assert free_b is not None
    assert free_b > 10**6


def test_each_has_a_cause_and_a_remedy() -> None:
    assert {CLOCK, MEMORY, DISK} <= WORDS.keys()
