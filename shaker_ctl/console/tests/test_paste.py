"""Typing, a script's turns, a paste: distinguished by amounts and times alone."""

from __future__ import annotations

import pytest

from shaker_ctl.console.paste import MAX_LEVEL, SILENCE_S, Burst


@pytest.mark.parametrize("baud", [9600, 115_200])
def test_a_script_that_waits_for_its_answers_is_never_a_flood(baud: int) -> None:
    burst = Burst(baud / 10)
    now = 0.0
    for _ in range(10_000):
        assert burst.admit(b"status\r", now)
        now += 600 / (baud / 10)


def test_a_paste_is_a_flood_after_a_kilobyte_until_silence() -> None:
    burst = Burst(11_520)
    admitted = sum(burst.admit(b"x" * 115, number * 0.01) for number in range(900))
    assert admitted * 115 <= 2 * MAX_LEVEL
    end = 9.0
    assert burst.flood_ended(end + SILENCE_S / 2) == 0
    assert burst.flood_ended(end + SILENCE_S) > 100_000
    assert burst.flood_ended(end + 1) == 0
    assert burst.admit(b"status\r", end + 1)
