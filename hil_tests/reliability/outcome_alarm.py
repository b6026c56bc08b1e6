"""After how many tosses of unfair dice the controller rings, beside what its statistics promise.

Owns the streams of faces, drawn from shares of which one is too large or tossed with a die that is
loaded in the physics (`--load-mm`), and the count.

`python -m hil_tests.reliability.outcome_alarm --help`
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
import typer

from hil_tests.rig.plant.physics import toss_run
from shaker_ctl.journal.distributions import chi_square_power
from shaker_ctl.journal.statistics import ALPHA, judge
from shaker_ctl.journal.tally import tally_of
from shaker_ctl.motion.outcome_health import OutcomeHealth

LOOKS = (100, 300, 1000, 3000, 10_000, 30_000)
"""Tosses after which somebody asks for the statistics."""

Values = tuple[int, int, int]


def unfair(excess: float, dice: int, seed: int) -> Iterator[Values]:
    """Tosses for ever, in which the six of so many dice comes `excess` more often than 1/6."""
    random = np.random.default_rng(seed)
    high = (1.0 + excess) / 6.0
    shares = np.array([(1.0 - high) / 5.0] * 5 + [high])
    fair = np.full(6, 1.0 / 6.0)
    while True:
        faces = [
            random.choice(6, size=1000, p=shares if die < dice else fair) + 1 for die in range(3)
        ]
        yield from ((int(a), int(b), int(c)) for a, b, c in zip(*faces, strict=True))


def tossed(load_mm: float, tosses: int, seed: int) -> list[Values]:
    """So many tosses in the physics with one loaded die, those that end flat."""
    (run,) = toss_run("standard", "approved", tosses, seed, load_mm=load_mm).records
    flat = [record.dice for record in run if all(die.is_flat for die in record.dice)]
    return [(a.value, b.value, c.value) for a, b, c in flat]


def promised(excess: float, dice: int, tosses: int) -> float:
    """Power of the chi-square test on all faces against that excess on so many of three dice."""
    more = excess / 6.0 * dice / 3.0
    noncentrality = 3 * tosses * 6 * (more**2 + 5 * (more / 5) ** 2)
    return chi_square_power(noncentrality, 5, ALPHA)


def rung(tosses: list[Values]) -> bool:
    """Whether the statistics' test on all faces lies outside its limits."""
    return any(test.is_outside for test in judge(tally_of(tosses)) if test.name == "faces")


def tosses_until_alarm(stream: Iterator[Values], most: int) -> int | None:
    """After how many tosses the continuous tests (O-18) take the table out of service."""
    health = OutcomeHealth()
    for toss in range(1, most + 1):
        if health.add(next(stream)) is not None:
            return toss
    return None


def count(excess: float, dice: int, tosses: int, repeats: int, seed: int) -> float:
    """Share of `repeats` samples of so many unfair tosses in which the statistics ring."""
    found = 0
    for k in range(repeats):
        stream = unfair(excess, dice, seed * 10_007 + k)
        found += rung([next(stream) for _ in range(tosses)])
    return found / repeats


def main(
    repeats: Annotated[int, typer.Option(help="Samples of each row.", min=2)] = 200,
    most: Annotated[int, typer.Option(help="Tosses of the longest sample.", min=100)] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the streams.")] = 1,
    load_mm: Annotated[
        float, typer.Option(help="Toss with one die loaded so far towards its six.", min=0.0)
    ] = 0.0,
) -> None:
    """Print how often the statistics ring, and the power that they promise, by bias and tosses."""
    typer.echo("| bias | dice | tosses | rang | promised |\n| --- | --- | --- | --- | --- |")
    for excess in (0.20, 0.05):
        for dice in (3, 1):
            for tosses in (look for look in LOOKS if look <= most):
                share = count(excess, dice, tosses, repeats, seed)
                power = promised(excess, dice, tosses)
                typer.echo(f"| {excess:.0%} | {dice} | {tosses:,} | {share:.0%} | {power:.0%} |")
    if load_mm:
        rolled = tossed(load_mm, most, seed)
        faces = np.bincount([first for first, _, _ in rolled], minlength=7)[1:]
        typer.echo(f"loaded by {load_mm:g} mm: its faces in {len(rolled)} flat tosses: {faces}")
        for tosses in (look for look in LOOKS if look <= len(rolled)):
            typer.echo(f"after {tosses:,}: {'rang' if rung(rolled[:tosses]) else 'silent'}")


if __name__ == "__main__":
    typer.run(main)
