"""Dirt on the dome is found by what moves below it; a mark of the floor is none."""

import cv2
import numpy as np
import pytest

from vision.table.dome import DomeWatch
from vision.tests.drawing import TABLE

PX = TABLE.px_per_mm(TABLE.die_mm)


def frames(count, random, mark=None):
    """Pictures of three bright squares that jump about a dark floor with grain."""
    width, height = TABLE.image_size
    grain = random.normal(0, 1.2, (height, width + 97, 3)).astype(np.float32)
    reach = TABLE.compartment_radius_mm * 0.8
    for _ in range(count):
        picture = np.full((height, width, 3), 60, np.uint8)
        if mark is not None:
            cv2.circle(picture, mark, round(PX), (200, 200, 200), -1)
        for _ in range(3):
            turn, away = random.uniform(0, 2 * np.pi), reach * np.sqrt(random.random())
            at = TABLE.to_px(np.array([[away * np.cos(turn), away * np.sin(turn), TABLE.die_mm]]))[
                0
            ]
            box = cv2.boxPoints((at.tolist(), (TABLE.die_px,) * 2, random.uniform(0, 90)))
            cv2.fillPoly(picture, [np.round(box).astype(np.int32)], (225, 225, 225))
            for pip in (box + box.mean(axis=0)) / 2:
                cv2.circle(
                    picture, np.round(pip).astype(int).tolist(), round(2 * PX), (20,) * 3, -1
                )
        at = int(random.integers(97))
        yield np.clip(picture + grain[:, at : at + width], 0, 255).astype(np.uint8)


@pytest.fixture
def random():
    return np.random.default_rng(3)


def place(x_mm, y_mm):
    x, y = TABLE.to_px(np.array([[x_mm, y_mm, TABLE.die_mm]]))[0]
    return round(float(x)), round(float(y))


def test_a_blot_is_found_where_it_is_and_as_large_as_it_is(random):
    watch = DomeWatch(TABLE)
    for picture in frames(110, random):
        cv2.circle(picture, place(12.0, -9.0), round(0.9 * PX), (30, 30, 30), -1)
        watch.take(picture)
    blots = watch.blots()
    assert blots is not None
    assert len(blots) == 1
    assert (blots[0].x_mm, blots[0].y_mm) == pytest.approx((12.0, -9.0), abs=0.5)
    assert blots[0].width_mm == pytest.approx(1.8, abs=0.6)
    assert str(blots[0]).endswith("(12 mm right and 9 mm up from the middle)")
    assert watch.blots() is None  # forgotten: it must be found again


@pytest.mark.parametrize("clean", [30, 110, 300])
def test_dirt_that_comes_after_clean_tosses_is_found(random, clean):
    watch, told = DomeWatch(TABLE), []
    for number, picture in enumerate(frames(clean + 440, random)):
        if number >= clean:
            cv2.circle(picture, place(12.0, -9.0), round(0.9 * PX), (30, 30, 30), -1)
        watch.take(picture)
        if number % 110 == 109:
            told.append(watch.blots())
    assert any(told)
    assert not any(told[: clean // 110])


def test_neither_a_clean_dome_nor_a_mark_of_the_floor_is_dirt(random):
    watch = DomeWatch(TABLE)
    for picture in frames(110, random, mark=place(-10.0, 5.0)):
        watch.take(picture)
    assert watch.blots() == ()


def test_dice_at_rest_and_too_few_frames_say_nothing(random):
    watch = DomeWatch(TABLE)
    still = next(frames(1, random))
    cv2.circle(still, place(0.0, 0.0), round(0.9 * PX), (30, 30, 30), -1)
    for _ in range(100):
        watch.take(still)
    for picture in frames(30, random):
        cv2.circle(picture, place(0.0, 0.0), round(0.9 * PX), (30, 30, 30), -1)
        watch.take(picture)
    assert watch.blots() is None
