"""What contract tests are given: a bench for the pins, once for each way that leads to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hil_tests.contracts.gpio_bench import GpioBench, GpiodBench, PigpioBench, Pins


@pytest.fixture(params=[PigpioBench, GpiodBench], ids=["pigpio", "gpiod"])
def bench(request: pytest.FixtureRequest) -> Iterator[GpioBench]:
    """A board and a way to its pins, contacts at rest."""
    made = request.param()
    yield made
    made.close()


@pytest.fixture
def pins(bench: GpioBench) -> Iterator[Pins]:
    """An open controller's side on that bench."""
    with bench.controller() as made:
        yield made
