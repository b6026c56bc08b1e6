"""Three dice back in the poses of an earlier toss are a recording, whatever was done to it."""

import itertools

import numpy as np
import pytest

from shaker_ctl.reading.messages import DiePose
from shaker_ctl.reading.toss_memory import TossMemory


def toss(random: np.random.Generator) -> tuple[DiePose, ...]:
    """Three dice that do not overlap, anywhere in a compartment of 50 mm."""
    while True:
        places = random.uniform(-36, 36, (3, 2))
        gaps = np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1)
        if gaps.min() > 23 and np.linalg.norm(places, axis=1).max() < 38:
            return tuple(
                DiePose(
                    float(x), float(y), float(random.uniform(0, 90)), int(random.integers(1, 7))
                )
                for x, y in places
            )


def shown(
    poses: tuple[DiePose, ...], random: np.random.Generator, *, turned=False, shifted=False,
    mirrored=False,
) -> tuple[DiePose, ...]:  # fmt: skip
    """The same dice as a changed recording shows them, with the scatter of a new reading."""
    turn = random.uniform(0, 360) if turned else 0.0
    by = random.uniform(-12, 12, 2) if shifted else np.zeros(2)
    sign = -1 if mirrored else 1
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    seen = []
    for pose in poses:
        x, y = sign * pose.x_mm, pose.y_mm
        at = np.array([c * x - s * y, s * x + c * y]) + by + random.normal(0, 0.08, 2)
        angle = (sign * pose.turn_deg + turn + random.normal(0, 0.3)) % 90
        seen.append(DiePose(float(at[0]), float(at[1]), float(angle), pose.value))
    return tuple(seen[i] for i in random.permutation(3))


CHANGES = {
    "as it was": {},
    "rotated": {"turned": True},
    "shifted": {"shifted": True},
    "rotated and shifted": {"turned": True, "shifted": True},
    "mirrored": {"mirrored": True, "turned": True},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_recorded_toss_is_known_again(change):
    random = np.random.default_rng(3)
    memory = TossMemory()
    tosses = [toss(random) for _ in range(60)]
    for number, poses in enumerate(tosses):
        memory.keep(number, poses)
    known = [memory.seen_before(99, shown(t, random, **CHANGES[change])) for t in tosses[:40]]
    assert known == list(range(40))


def test_new_tosses_are_new():
    random = np.random.default_rng(4)
    memory = TossMemory()
    for number in range(1500):
        poses = toss(random)
        assert memory.seen_before(number, poses) is None
        memory.keep(number, poses)


def test_the_same_toss_read_again_and_dice_that_never_moved_are_no_recording():
    random = np.random.default_rng(5)
    memory = TossMemory()
    first, second = toss(random), toss(random)
    memory.keep(1, first)
    memory.keep(2, second)
    assert memory.seen_before(2, shown(second, random)) is None
    assert memory.seen_before(3, shown(second, random), second) is None
    assert memory.seen_before(3, shown(second, random, turned=True), second) == 2
    assert memory.seen_before(3, shown(first, random), second) == 1


def test_the_newest_toss_is_known_again_when_another_lay_between():
    random = np.random.default_rng(5)
    memory = TossMemory()
    read, entered = toss(random), toss(random)
    memory.keep(1, read)  # the next toss was entered by a dealer
    assert memory.seen_before(3, shown(read, random), entered) == 1
    assert memory.seen_before(3, shown(read, random)) == 1


def test_dice_that_are_not_all_read_say_nothing():
    random = np.random.default_rng(6)
    memory = TossMemory()
    poses = toss(random)
    memory.keep(1, poses)
    assert memory.seen_before(2, poses[:2]) is None
    unread = (DiePose(poses[0].x_mm, poses[0].y_mm, poses[0].turn_deg, None), *poses[1:])
    assert memory.seen_before(2, unread) is None


def test_one_die_elsewhere_is_another_toss():
    random = np.random.default_rng(7)
    memory = TossMemory()
    poses = toss(random)
    memory.keep(1, poses)
    memory.keep(2, toss(random))
    x, y, turn = poses[0].x_mm, poses[0].y_mm, poses[0].turn_deg
    for moved in (
        DiePose(x + 2.0, y, turn, poses[0].value),
        DiePose(x, y, (turn + 8.0) % 90, poses[0].value),
        DiePose(x, y, turn, 7 - (poses[0].value or 1)),
    ):
        assert memory.seen_before(3, (moved, *poses[1:])) is None


def test_dice_of_several_tosses_put_together_are_known_again():
    random = np.random.default_rng(8)
    memory = TossMemory()
    tosses = [toss(random) for _ in range(60)]
    for number, poses in enumerate(tosses):
        memory.keep(number, poses)
    for a, b in itertools.pairwise(tosses):
        mixed = shown((a[0], a[1], b[2]), random)
        assert memory.seen_before(99, mixed) is None
        parts = memory.put_together(99, mixed)
        assert parts is not None
        assert set(parts) == {tosses.index(a), tosses.index(b)}
    new = toss(random)
    assert memory.put_together(99, (tosses[0][0], tosses[1][1], new[2])) is None
    assert memory.put_together(99, tosses[3], tosses[3]) is None  # dice that never moved
    assert memory.put_together(3, shown(tosses[3], random)) is None  # the same toss read again


def test_new_tosses_are_not_put_together_of_earlier_ones():
    random = np.random.default_rng(9)
    memory = TossMemory()
    for number in range(1500):
        poses = toss(random)
        assert memory.put_together(number, poses) is None
        memory.keep(number, poses)
