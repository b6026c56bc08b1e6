"""What a dealer sees who looks at the dice."""

from __future__ import annotations

import pytest

from hil_tests.table_under_test.lamps import values_of


@pytest.mark.parametrize(
    ("dice", "values"),
    [
        ([(1, True), (6, True), (3, True)], (1, 6, 3)),
        ([(1, True), (6, False), (3, True)], None),
        ([(1, True), (6, True)], None),
        ([(1, True), (6, True), (3, True), (2, True)], None),
    ],
)
def test_three_flat_dice_have_values_and_nothing_else_has(
    dice: list[tuple[int, bool]], values: tuple[int, int, int] | None
) -> None:
    lying = [{"value": value, "flat": is_flat} for value, is_flat in dice]
    assert values_of(lying) == values
