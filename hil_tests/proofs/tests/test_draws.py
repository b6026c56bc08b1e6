"""The count of multipliers tells an even draw from one that is not."""

from __future__ import annotations

from random import Random

import pytest

from hil_tests.proofs.draws import LEAST_P, chances


def test_an_even_draw_is_believed() -> None:
    assert min(chances(5_000, Random(1).randrange).values()) >= LEAST_P


@pytest.mark.parametrize("source", ["small byte", "two drawn, the lower taken"])
def test_an_uneven_draw_is_not(source: str) -> None:
    luck = Random(1)

    def uneven(n: int) -> int:
        if source == "small byte":
            return luck.randrange(64) % n
        return min(luck.randrange(n), luck.randrange(n))

    assert min(chances(5_000, uneven).values()) < LEAST_P
