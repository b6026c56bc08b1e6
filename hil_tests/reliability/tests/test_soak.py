"""Growth is told from warm-up and from noise; what is thrown in, the rig understands."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest

from hil_tests.reliability.soak import (
    ALLOWED,
    PASSING,
    STOPPING,
    ResourceUse,
    growth,
    sample,
    too_much,
)
from hil_tests.rig.faults import EVENTS, parse


def run(memory: list[float], threads: int = 20, camera: int = 7) -> list[ResourceUse]:
    """Four samples a minute."""
    return [ResourceUse(15.0 * i, mb, 150.0, 60, threads, camera) for i, mb in enumerate(memory)]


MINUTES = 4
"""Samples in one of them."""


def test_warm_up_is_no_growth() -> None:
    warming = [80.0 + i for i in range(12 * MINUTES)]
    assert too_much(growth(run([*warming, *[130.0] * (13 * MINUTES)]))) == []


def test_a_leak_is_growth_and_is_named_with_what_it_comes_to_in_an_hour() -> None:
    leaking = run([100.0 + 0.1 * i for i in range(30 * MINUTES)])
    assert growth(leaking)["service_mb"].per_hour == pytest.approx(24.0)
    (line,) = too_much(growth(leaking))
    assert line.startswith("service_mb grows by +24.0 an hour")


def test_what_is_too_noisy_to_exclude_growth_does_not_pass() -> None:
    chance = random.Random(1)
    wild = [100.0 + 15.0 * (chance.random() < 0.5) for i in range(30)]
    noisy = [level for level in wild for _ in range(MINUTES)]
    trend = growth(run(noisy))["service_mb"]
    assert trend.at_most - trend.per_hour > ALLOWED["service_mb"]
    assert too_much(growth(run(noisy)))


@pytest.mark.parametrize("name", ALLOWED)
def test_every_figure_is_looked_at(name: str) -> None:
    uses = run([100.0] * (20 * MINUTES))
    for late in range(15 * MINUTES, 20 * MINUTES):
        changed = {f: getattr(uses[late], f) for f in ResourceUse.__slots__} | {name: 1000}
        uses[late] = ResourceUse(**changed)
    assert [line.split()[0] for line in too_much(growth(uses))] == [name]


def test_a_camera_process_that_was_started_anew_has_not_grown() -> None:
    uses = [*run([100.0] * 80, camera=7), *run([100.0] * 80, camera=8)]
    uses = [replace(u, t_s=15.0 * i) for i, u in enumerate(uses)]
    uses[-20:] = [replace(u, camera_pid=9, camera_mb=400.0) for u in uses[-20:]]
    assert too_much(growth(uses)) == []


def test_a_run_that_is_too_short_does_not_pass() -> None:
    assert growth(run([100.0] * 7)) == {}
    assert len(too_much({})) == len(ALLOWED)


def test_a_process_is_sampled() -> None:
    use = sample(os.getpid(), None, 1.0)
    assert use.service_mb > 5.0
    assert use.handles >= 3
    assert use.threads >= 1


@pytest.mark.parametrize("sentence", [*PASSING, *STOPPING])
def test_what_is_thrown_in_is_a_sentence(sentence: str) -> None:
    order = parse(sentence)
    assert order.after is None or order.after[1] in EVENTS
