"""A shake that no longer mixes is stopped; chance is not."""

from __future__ import annotations

import random

import pytest

from shaker_ctl.motion.mixing import FaceRetentionTest, common_faces
from shaker_ctl.motion.outcome_health import OutcomeHealth


def test_common_faces_count_multiplicity() -> None:
    assert common_faces((1, 1, 2), (1, 2, 2)) == 2
    assert common_faces((1, 1, 1), (1, 1, 1)) == 3
    assert common_faces((1, 2, 3), (4, 5, 6)) == 0


def run(keep: float, tosses: int, seed: int) -> int | None:
    """Return after how many tosses a shake that keeps each face with chance `keep` is stopped."""
    chance, test = random.Random(seed), FaceRetentionTest()
    dice = [chance.randint(1, 6) for _ in range(3)]
    for n in range(1, tosses + 1):
        result = test.add((dice[0], dice[1], dice[2]))
        if not result.mixes:
            return n
        dice = [d if chance.random() < keep else chance.randint(1, 6) for d in dice]
        chance.shuffle(dice)
    return None


def test_a_shake_that_mixes_is_not_stopped() -> None:
    assert all(run(0.0, 1000, seed) is None for seed in range(10))


@pytest.mark.parametrize(("keep", "typical"), [(1.0, 8), (0.65, 20), (0.45, 40)])
def test_a_shake_that_keeps_faces_is_stopped_soon(keep: float, typical: int) -> None:
    found = [run(keep, 400, seed) for seed in range(20)]
    assert None not in found
    assert sorted(n for n in found if n is not None)[10] <= typical


def test_the_running_chance_is_exact() -> None:
    test = FaceRetentionTest()
    test.add((1, 2, 3))
    result = test.add((1, 2, 3))
    # Of 216 tosses 6 show 1, 2, 3 in some order; but chance is over both tosses.
    assert result.kept == 3
    hits = sum(
        common_faces((a, b, c), (d, e, f)) == 3
        for a in range(1, 7) for b in range(1, 7) for c in range(1, 7)
        for d in range(1, 7) for e in range(1, 7) for f in range(1, 7)
    )  # fmt: skip
    assert result.chance == pytest.approx(hits / 6**6)


def test_touched_dice_begin_a_new_comparison() -> None:
    test = FaceRetentionTest()
    test.add((1, 2, 3))
    test.forget_last()
    assert test.add((1, 2, 3)).tosses == 0


# ── O-18 ────────────────────────────────────────────────────────────────────


def test_nine_equal_faces_in_a_row_fail_the_repetition_test() -> None:
    health = OutcomeHealth()
    assert health.add([2, 5, 5]) is None
    assert health.add([5, 5, 5]) is None
    assert health.add([5, 5, 5]) is None
    failure = health.add([5, 1, 2])
    assert failure is not None
    assert (failure.test, failure.face, failure.count) == ("repetition count", 5, 9)


def test_a_face_too_frequent_in_a_window_fails_the_proportion_test() -> None:
    chance, health = random.Random(1), OutcomeHealth()
    faces = [3] + [
        3 if chance.random() < 0.3 else chance.choice([1, 2, 4, 5, 6]) for _ in range(511)
    ]
    failures = [f for f in (health.add([face]) for face in faces) if f is not None]
    assert failures
    assert failures[0].count == 129
    assert "cutoff 129" in failures[0].line()


def test_chance_alone_passes_both() -> None:
    chance, health = random.Random(2), OutcomeHealth()
    assert all(health.add([chance.randint(1, 6) for _ in range(3)]) is None for _ in range(20_000))


def test_cutoffs_are_those_of_the_standard() -> None:
    """1 + ceil(20 / H), and 1 + the critical value of a binomial(512, 1/6) at 2^-20."""
    from math import ceil, comb, log2

    assert 1 + ceil(20 / log2(6)) == 9
    tail, count = 1.0, 0
    while tail > 2.0**-20:
        tail -= comb(512, count) * (1 / 6) ** count * (5 / 6) ** (512 - count)
        count += 1
    assert count == 129
