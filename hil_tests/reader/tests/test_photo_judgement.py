"""The judgement of photographs is fitted on some sets, and counted on others."""

from pathlib import Path

import numpy as np
import pytest

from hil_tests.reader.photo_judgement import Case, case_of, fit, left_out, table_of
from vision.photo.labels import Label
from vision.photo.places import Weights
from vision.tests.drawing import draw, toss
from vision.tests.test_photos import truth


def drawn(seed: int) -> list[Case]:
    """Tosses whose dice a network finds and reads rightly, but for the first die of every third."""
    rng = np.random.default_rng(seed)
    cases = []
    for number in range(9):
        dice = toss(rng)
        image = draw(dice, seed=seed + number)
        values = [die.value for die in dice]
        found = truth(dice, [values[0] % 6 + 1, *values[1:]] if number % 3 == 0 else None)
        labels = [
            Label((*die.corners.min(axis=0), *die.corners.max(axis=0)), value)
            for die, value in zip(truth(dice), values, strict=True)
        ]
        path = Path(f"{seed}-{number}.png")
        cases.append(case_of(path, labels, image, found))
    return cases


@pytest.fixture(scope="module")
def cases() -> dict[str, list[Case]]:
    return {name: drawn(seed) for seed, name in ((100, "a"), (200, "b"))}


def test_a_set_is_judged_by_weights_that_never_saw_it(cases):
    counted = dict(left_out(cases))
    assert list(counted) == ["a", "b", "all"]
    together = counted["all"]
    assert (together.images, together.exact, together.wrong_accepted) == (18, 12, 0)
    assert together.refused["readers-disagree"] >= 5
    assert together.accepted >= 6


def test_weights_are_the_same_after_they_were_written(cases):
    weights = fit(cases)
    again = Weights.of(table_of(weights))
    case = cases["a"][1]
    for face, die in zip(case.faces, case.found, strict=True):
        one, other = (each.vote(face, die.value) for each in (weights, again))
        assert one.value == other.value
        assert one.lead == pytest.approx(other.lead, abs=1e-3)


def test_one_face_of_a_photograph_gets_a_speck_that_changes_its_value(cases):
    case = next(case for case in cases["a"] if case.speck)
    which, value, face = case.speck
    weights = fit(cases)
    assert weights.vote(face, value).value == value != case.found[which].value
    spoilt = case.with_speck()
    assert spoilt.found[which].value == value
    assert spoilt.with_speck() is None


def test_the_least_certainty_keeps_the_promise(cases):
    """Drawn dice are all alike, so the lowest limit keeps it."""
    assert fit(cases).certainty_least == 0.0
