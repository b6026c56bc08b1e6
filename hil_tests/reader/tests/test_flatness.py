"""The regression behind the weights finds known ones, and says what it measured."""

import numpy as np
import pytest

from hil_tests.reader.cases import TrueDie, rig_cases
from hil_tests.reader.flatness import MeasuredDie, balance, fit, measurements, odds, regress, report
from vision.networks.classifier import DieFinder
from vision.reading import DieEvidence


def test_known_weights_come_back():
    random = np.random.default_rng(3)
    x = random.normal(0, (1.0, 4.0), (6000, 2)) + np.array((0.5, -2.0))
    chance = 1 / (1 + np.exp(-(0.7 + x @ (1.5, -0.4))))
    found = regress(x, random.random(6000) < chance, np.ones(6000))
    assert found[1:] == pytest.approx((1.5, -0.4), abs=0.12)
    assert found[0] == pytest.approx(0.7, abs=0.15)


def test_every_origin_and_both_kinds_count_alike():
    nothing = DieEvidence((), 0.0, 0.0, 0.0, None, None, None)

    def die(name, tilt):
        return MeasuredDie(name, TrueDie(0, 0, tilt, False, 1.0), nothing)

    seen = [die("a", 0.0)] * 9 + [die("a", 9.0)] + [die("b", 0.0)] * 2 + [die("b", 20.0)] * 2
    worth = balance(seen)
    sums = [worth[:9].sum(), worth[9], worth[10:12].sum(), worth[12:].sum()]
    assert sums == pytest.approx([len(seen) / 4] * 4)


def test_truth_between_is_neither():
    assert TrueDie(0, 0, 3.0, False, 1.0).is_flat is None
    assert TrueDie(0, 0, 0.5, False, 0.7).is_flat is None
    assert TrueDie(0, 0, 0.5, True, 1.0).is_flat is False
    assert TrueDie(0, 0, 6.0, False, 1.0).is_flat is False


def test_dice_of_the_rig_are_measured_told_apart_and_reported(capsys):
    seen = list(
        measurements(DieFinder(), "rig", rig_cases(16, 77, set(), are_some_set_up=True), 16)
    )
    flat = [m for m in seen if m.truth.is_flat is True]
    other = [m for m in seen if m.truth.is_flat is False]
    assert len(flat) > 15
    assert len(other) > 3
    sums = odds(seen, *fit(seen)).sum(axis=1)
    right = [
        sums[i] > sums[j]
        for i, a in enumerate(seen)
        for j, b in enumerate(seen)
        if a.truth.is_flat is True and b.truth.is_flat is False
    ]
    assert np.mean(right) > 0.9
    report(seen, odds(seen, *fit(seen)))
    assert "rig: " in capsys.readouterr().out
