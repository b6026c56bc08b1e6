"""The motor is off in time whatever happens to its controller. `motor_off` measures more trials."""

from __future__ import annotations

import pytest

from hil_tests.reliability.motor_off import LIMIT_S, Distribution, judged, measure


@pytest.mark.rig
@pytest.mark.timeout(300)  # a busy machine takes several attempts at each way
@pytest.mark.parametrize("backend", ["pigpio", "gpiod"])
def test_the_motor_is_off_within_150_ms_of_losing_its_controller(backend: str) -> None:
    ways = ["killed (SIGKILL)", "stopped (SIGSTOP)", "state thread hung", "motion thread hung"]
    if backend == "gpiod":
        ways += ["dead-man killed", "dead-man stopped"]
    found = measure(1, ways, backend=backend)
    assert all(distribution.times_s for distribution in found)
    told = "\n".join(distribution.line() for distribution in found)
    assert judged(found)[1], told


# ── The command's verdict ───────────────────────────────────────────────────


def test_times_within_the_limit_are_good_and_one_above_it_is_not() -> None:
    good = [Distribution("killed", [0.09, 0.1]), Distribution("link cut", [0.04])]
    assert judged(good) == (["worst 100.0 ms, limit 150 ms"], True)
    assert not judged([*good, Distribution("hung", [LIMIT_S + 0.001])])[1]


def test_a_way_that_was_never_measured_is_named_and_is_no_pass() -> None:
    said, is_good = judged(
        [Distribution("killed", [0.09]), Distribution("link cut", ended_before=8)]
    )
    assert not is_good
    assert said[-1].startswith("never measured: link cut;")
