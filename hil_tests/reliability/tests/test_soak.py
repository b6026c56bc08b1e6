"""Growth is told from warm-up and from noise; what is thrown in, the rig understands."""

from __future__ import annotations

import os

import pytest

from hil_tests.reliability.soak import (
    ALLOWED,
    PASSING,
    STOPPING,
    Use,
    growth,
    sample,
    too_much,
)
from hil_tests.rig.faults import EVENTS, parse


def run(memory: list[float], threads: int = 20) -> list[Use]:
    return [Use(5.0 * i, mb, 150.0, 60, threads) for i, mb in enumerate(memory)]


def test_warm_up_is_no_growth() -> None:
    assert too_much(growth(run([80.0, 90.0, 95.0, 99.0, *[100.0] * 12]))) == []


def test_noise_is_no_growth() -> None:
    assert too_much(growth(run([100.0 + (i % 3) for i in range(40)]))) == []


def test_a_leak_is_growth_and_is_named() -> None:
    assert too_much(growth(run([100.0 + i for i in range(40)]))) == [
        "service_mb grew by +20.0 (allowed 6)"
    ]


@pytest.mark.parametrize("name", ALLOWED)
def test_every_figure_is_looked_at(name: str) -> None:
    uses = run([100.0] * 16)
    for late in range(12, 16):
        changed = {f: getattr(uses[late], f) for f in Use.__slots__} | {name: 1000}
        uses[late] = Use(**changed)
    assert [line.split()[0] for line in too_much(growth(uses))] == [name]


def test_a_run_that_is_too_short_claims_nothing() -> None:
    assert growth(run([100.0] * 7)) == {}


def test_a_process_is_sampled() -> None:
    use = sample(os.getpid(), None, 1.0)
    assert use.service_mb > 5.0
    assert use.handles >= 3
    assert use.threads >= 1


@pytest.mark.parametrize("sentence", [*PASSING, *STOPPING])
def test_what_is_thrown_in_is_a_sentence(sentence: str) -> None:
    order = parse(sentence)
    assert order.after is None or order.after[1] in EVENTS
