"""How sure a counted share is."""

from __future__ import annotations

import pytest

from vision.shares import bounds


@pytest.mark.parametrize("of", [1, 3, 300, 10_000])
def test_none_or_all_of_so_few_would_come_once_in_twenty_runs_at_the_bound(of):
    none, every = bounds(0, of), bounds(of, of)
    assert (none[0], every[1]) == (0, 1)
    assert (1 - none[1]) ** of == pytest.approx(0.05)
    assert every[0] ** of == pytest.approx(0.05)


@pytest.mark.parametrize(("part", "of"), [(1, 3), (2, 3), (9, 10), (150, 300)])
def test_a_share_lies_within_its_bounds(part, of):
    low, high = bounds(part, of)
    assert 0 < low < part / of < high < 1


def test_of_none_nothing_is_known():
    assert bounds(0, 0) == (0, 1)
