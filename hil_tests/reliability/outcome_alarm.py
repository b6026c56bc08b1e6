"""After how many tosses of unfair dice the controller rings, beside what its statistics promise.

Owns the streams of faces, drawn from shares of which one is too large or tossed with a die that is
loaded in the physics (`--load-mm`), and the count.

`python -m hil_tests.reliability.outcome_alarm --help`
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from hil_tests.rig.plant.physics import Parts, Trial, run_trial
from shaker_ctl.journal.distributions import chi_square_power
from shaker_ctl.journal.statistics import ALPHA, judge
from shaker_ctl.journal.tally import tally_of

LOOKS = (100, 300, 1000, 3000, 10_000, 30_000)
"""Tosses after which somebody asks for the statistics."""

FREEDOM = 5
"""Of the chi-square test on six faces."""

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


def flat(trial: Trial) -> list[Values]:
    """The tosses that end flat."""
    records = [record for run in trial.records for record in run]
    flat = [record.dice for record in records if all(die.is_flat for die in record.dice)]
    return [(a.value, b.value, c.value) for a, b, c in flat]


def loaded(tosses: list[Values], size: int) -> tuple[int, int, float]:
    """Cut the tosses into samples of so many: how many samples, in how many the statistics ring,
    and their power against a bias as large as all the tosses show, less what chance adds to it."""
    samples = [tosses[n : n + size] for n in range(0, len(tosses) - size + 1, size)]
    (found,) = (test for test in judge(tally_of(tosses)) if test.name == "faces")
    noncentrality = max(0.0, found.statistic - FREEDOM) * size / len(tosses)
    power = chi_square_power(noncentrality, FREEDOM, ALPHA)
    return len(samples), sum(map(rung, samples)), power


def promised(excess: float, dice: int, tosses: int) -> float:
    """Power of the chi-square test on all faces against that excess on so many of three dice."""
    more = excess / 6.0 * dice / 3.0
    noncentrality = 3 * tosses * 6 * (more**2 + 5 * (more / 5) ** 2)
    return chi_square_power(noncentrality, FREEDOM, ALPHA)


def rung(tosses: list[Values]) -> bool:
    """Whether the statistics' test on all faces lies outside its limits."""
    return any(test.is_outside for test in judge(tally_of(tosses)) if test.name == "faces")


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
    results: Annotated[
        Path, typer.Option(help="Folder of what is tossed; a run that was ended goes on.")
    ] = Path("var/tosses"),
    jobs: Annotated[int, typer.Option(help="Processes; 0 is one for each core.", min=0)] = 0,
) -> None:
    """Print how often the statistics ring, and the power that they promise, by bias and tosses."""
    typer.echo(
        "bias: how much too often a face comes; dice: how many dice have it;\n"
        "rang: share of samples with the alarm; promised: the power that the statistics state.\n"
    )
    typer.echo("| bias | dice | tosses | rang | promised |\n| --- | --- | --- | --- | --- |")
    for excess in (0.20, 0.05):
        for dice in (3, 1):
            for tosses in (look for look in LOOKS if look <= most):
                share = count(excess, dice, tosses, repeats, seed)
                power = promised(excess, dice, tosses)
                typer.echo(f"| {excess:.0%} | {dice} | {tosses:,} | {share:.0%} | {power:.0%} |")
    if load_mm:
        parts = Parts(results, "standard", "approved", seed, load_mm)
        rolled = flat(run_trial(parts, most, jobs or os.cpu_count() or 1, Console()))
        faces = np.bincount([first for first, _, _ in rolled], minlength=7)[1:]
        typer.echo(f"loaded by {load_mm:g} mm: its faces in {len(rolled)} flat tosses: {faces}")
        for look in (look for look in LOOKS if look <= len(rolled)):
            samples, rang, power = loaded(rolled, look)
            typer.echo(f"| {look:,} | rang in {rang} of {samples} | {power:.0%} |")


if __name__ == "__main__":
    typer.run(main)
