"""What each measurement of a die's lie is worth: `python -m hil_tests.reader flatness`.

    python -m hil_tests.reader flatness var/scenes/traced-shots-taught-… --rig 400 --seed 501
    python -m hil_tests.reader flatness var/scenes/traced-shots-… --check

Owns: dice of known lie with both readers' measurements, and the logistic regression that gives
the weights in `vision.parameters`. Fit on some seeds and `--check` on others; what is printed then
is what the shipped weights do.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.progress import track

from hil_tests.reader.cases import Case, TrueDie, rig_cases, scene_cases
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import readers
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.parameters import LIMITS
from vision.reading import DieEvidence
from vision.table import judgement, no_roll, witnesses

RIG = "rig"
_HARD_DEG = 14.0
"""Dice that lean by more are found by any weights, and would draw these to themselves."""
_NEAR_MM = 5.0
_RIDGE = 3e-3
_ROUNDS = 40


Weights = tuple[float, ...]
"""A constant and one weight for each feature, log-odds."""


@dataclass(frozen=True, slots=True)
class MeasuredDie:
    """One die that the model found."""

    name: str
    truth: TrueDie
    evidence: DieEvidence


def measurements(
    finder: DieFinder, name: str, cases: Iterator[Case], total: int
) -> Iterator[MeasuredDie]:
    """Every die that the model finds in `total` cases of one origin."""
    reader_of = readers(finder)
    shown_cases = track(itertools.islice(cases, total), f"measuring {name}", total=total)
    for shown in shown_cases:
        reader = reader_of(shown.calibration)
        for die in reader.read(Frame(shown.shoot(), 0.0, shown.number)).dice:
            gaps = [np.hypot(t.x_mm - die.x_mm, t.y_mm - die.y_mm) for t in shown.dice]
            nearest = int(np.argmin(gaps))
            if die.model is not None and gaps[nearest] < _NEAR_MM:
                yield MeasuredDie(name, shown.dice[nearest], die)


def features(seen: Sequence[MeasuredDie]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N, 6) of the networks, (N, 10) of the second reader, zeros where it sees no die, and (N,)
    if it sees one."""
    network, outline, is_seen = [], [], []
    for each in seen:
        model, measured, vote = each.evidence.model, each.evidence.measured, each.evidence.second
        assert model is not None
        assert measured is not None
        network.append(witnesses.network_features(model, measured))
        has_value = vote is not None and vote.value is not None
        is_seen.append(has_value)
        outline.append(
            witnesses.outline_features(vote)
            if vote is not None and has_value
            else np.zeros(len(witnesses.OUTLINE_FEATURES))
        )
    return np.array(network), np.array(outline), np.array(is_seen, bool)


def regress(x: np.ndarray, is_flat: np.ndarray, worth: np.ndarray) -> Weights:
    """Logistic regression of (N, K) features on (N,) bool, each row worth so much: Newton steps on
    standardised features, with a ridge that keeps weights of useless features near nothing."""
    middle, scale = x.mean(axis=0), x.std(axis=0) + 1e-6
    z = np.c_[np.ones(len(x)), (x - middle) / scale]
    w = np.zeros(z.shape[1])
    ridge = _RIDGE * worth.sum() * np.r_[0.0, np.ones(x.shape[1])]
    for _ in range(_ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(z @ w, -30, 30)))
        slope = z.T @ (worth * (p - is_flat)) + ridge * w
        curve = (z * (worth * p * (1 - p))[:, None]).T @ z + np.diag(ridge + 1e-9)
        step = np.linalg.solve(curve, slope)
        w -= step
        if np.abs(step).max() < 1e-6:
            break
    each = w[1:] / scale
    return (float(w[0] - middle @ each), *(float(v) for v in each))


def balance(seen: Sequence[MeasuredDie]) -> np.ndarray:
    """(N,) so that every origin counts alike, and in each of them flat dice as much as others."""
    worth = np.zeros(len(seen))
    names = np.array([each.name for each in seen])
    flat = np.array([bool(each.truth.is_flat) for each in seen])
    for name in set(names):
        for kind in (True, False):
            here = (names == name) & (flat == kind)
            if here.any():
                worth[here] = 1.0 / here.sum()
    return worth * len(seen) / worth.sum()


def fit(seen: Sequence[MeasuredDie]) -> tuple[Weights, Weights]:
    """Weights of the networks' and of the second reader's measurements, each fitted by itself; the
    second reader's on the rig's dice, where there are any: on soft edges in odd light an outline
    says too little to learn from."""
    known = [
        each
        for each in seen
        if each.truth.is_flat or (each.truth.is_flat is False and each.truth.tilt_deg < _HARD_DEG)
    ]
    network, outline, is_seen = features(known)
    flat = np.array([bool(each.truth.is_flat) for each in known])
    worth = balance(known)
    is_rig = np.array([each.name == RIG for each in known])
    clear = is_seen & (is_rig if is_rig.any() else ~is_rig)
    return (
        regress(network, flat, worth),
        regress(outline[clear], flat[clear], worth[clear]),
    )


def odds(seen: Sequence[MeasuredDie], network: Weights, outline: Weights) -> np.ndarray:
    """(N, 2) log-odds of both, as `vision.table.witnesses` has them with these weights."""
    x, y, is_seen = features(seen)
    first = network[0] + x @ np.array(network[1:])
    second = outline[0] + y @ np.array(outline[1:])
    return np.c_[first, np.where(is_seen, second, 0.0)]


def report(seen: Sequence[MeasuredDie], sums: np.ndarray) -> None:
    """Per origin: how well each sum orders flat dice and others, and how many pass."""
    flat = np.array([each.truth.is_flat is True for each in seen])
    other = np.array([each.truth.is_flat is False for each in seen])
    names = np.array([each.name for each in seen])
    read = np.array([bool(e.evidence.second and e.evidence.second.value) for e in seen])
    passes = np.array([judgement.passes(*pair) for pair in sums])
    fails = np.array([no_roll.fails(*pair) for pair in sums])
    for name in sorted(set(names)):
        here = (names == name) & read
        a, b = sums[here & flat], sums[here & other]
        if not len(a) or not len(b):
            continue
        rates = [
            float((u[:, None] > v[None]).mean())
            for u, v in ((a[:, 0], b[:, 0]), (a[:, 1], b[:, 1]), (a.sum(axis=1), b.sum(axis=1)))
        ]
        sys.stdout.write(
            f"{name}: {len(a)} flat dice, {len(b)} others; pairs in the right order by network "
            f"{rates[0]:.2%}, outline {rates[1]:.2%}, both {rates[2]:.2%}\n"
            f"   flat: {passes[here & flat].mean():.1%} pass, {fails[here & flat].sum()} called "
            f"not flat; others: {passes[here & other].sum()} pass, "
            f"{fails[here & other].mean():.1%} called not flat\n"
        )
    worst = [i for i in np.argsort(-sums.sum(axis=1)) if other[i] and read[i]][:12]
    for i in worst:
        t = seen[i].truth
        sys.stdout.write(
            f"   flattest other: {names[i]} {t.tilt_deg:.1f}°{' stacked' if t.is_stacked else ''} "
            f"network {sums[i, 0]:+.1f}, outline {sums[i, 1]:+.1f}\n"
        )


def main(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Sets of calibrated shots.", show_default=False)
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Pictures of each set.")] = 1_000_000,
    rig: Annotated[int, typer.Option(min=0, help="Pictures of the rig.")] = 0,
    seed: Seed = 501,
    model: Model = None,
    check: Annotated[bool, typer.Option(help="Do not fit; use the shipped weights.")] = False,
) -> None:
    """Weigh what each measurement says of a die's lie."""
    finder = DieFinder(model)
    seen = [
        measurement
        for folder in folders or []
        for measurement in measurements(
            finder, folder.name.split("-")[0], scene_cases(folder, set()), most
        )
    ]
    if rig:
        seen += measurements(finder, RIG, rig_cases(rig, seed, set(), are_some_set_up=True), rig)
    weights = (LIMITS.network, LIMITS.outline) if check else fit(seen)
    for name, names, each in zip(
        ("NETWORK", "OUTLINE"),
        (witnesses.NETWORK_FEATURES, witnesses.OUTLINE_FEATURES),
        weights,
        strict=True,
    ):
        sys.stdout.write(f"{name} = ({', '.join(f'{value:.5g}' for value in each)})\n")
        sys.stdout.write(
            "".join(f"   {w:+.3f} {n}\n" for n, w in zip(("", *names), each, strict=True))
        )
    report(seen, odds(seen, *weights))
