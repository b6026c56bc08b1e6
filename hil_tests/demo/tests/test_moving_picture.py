"""What stands beside the picture is what the table says; nothing is lit before it was measured."""

from __future__ import annotations

import numpy as np
import pytest

from hil_tests.demo.moving_picture import LIT, SIDE, _frame, _words

VIEW = {
    "round_id": 3,
    "phase": "collecting",
    "says": "Losing wagers are collected.",
    "last_result": [3, 3, 6],
    "motor": {"rpm": 0.0},
    "lamps": {"measured": ["big", "total-12"]},
}


def test_a_lit_result_stands_beside_the_picture() -> None:
    words = [text for text, _, _ in _words(VIEW)]
    assert words[-2:] == ["3 3 6", "lit: big, total-12"]
    shown = _frame(np.full((480, 640, 3), 90, np.uint8), VIEW)
    assert shown.shape == (SIDE, 2 * SIDE, 3)
    assert (shown[:, :SIDE] == 90).all()
    assert (shown[:, SIDE:] == LIT).all(axis=2).any()


@pytest.mark.parametrize("measured", [[], None])
def test_nothing_is_said_to_be_lit_that_was_not_measured(measured: object) -> None:
    words = [text for text, _, _ in _words({**VIEW, "lamps": {"measured": measured}})]
    assert words == ["round 3: collecting", "Losing wagers are collected."]
