"""The motor is off in time whatever happens to its controller. `motor_off` measures more trials."""

from __future__ import annotations

import pytest

from hil_tests.contracts.motor_off import LIMIT_S, measure

pytestmark = pytest.mark.rig


@pytest.mark.parametrize("backend", ["pigpio", "gpiod"])
def test_the_motor_is_off_within_150_ms_of_losing_its_controller(backend: str) -> None:
    ways = ["killed (SIGKILL)", "stopped (SIGSTOP)", "state thread hung", "motion thread hung"]
    ways.append("e-stop, journal hung")
    if backend == "gpiod":
        ways += ["dead-man killed", "dead-man stopped"]
    found = measure(1, ways, backend=backend)
    assert all(distribution.times_s for distribution in found)
    told = "\n".join(distribution.line() for distribution in found)
    assert max(distribution.worst_s for distribution in found) <= LIMIT_S, told
