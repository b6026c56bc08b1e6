"""What contract tests are given: one bench for the pins each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hil_tests.contracts.gpio_bench import GpioBench, Pins


@pytest.fixture
def bench() -> Iterator[GpioBench]:
    """A board with its daemon, contacts at rest."""
    made = GpioBench()
    yield made
    made.close()


@pytest.fixture
def pins(bench: GpioBench) -> Iterator[Pins]:
    """An open controller's side on that bench."""
    with bench.controller() as made:
        yield made
