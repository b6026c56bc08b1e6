"""Pictures that are not fit to be read are refused by name; good ones are not."""

import cv2
import numpy as np
import pytest

from vision.frame import digest
from vision.reading import Reason
from vision.table.motion import StillnessDetector, poses_changed
from vision.table.quality import QualityGate
from vision.table.rim import Rim
from vision.tests.drawing import TABLE, Die, draw

DICE = [Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)]


@pytest.fixture(scope="module")
def gate():
    return QualityGate(TABLE)


@pytest.fixture(scope="module")
def good():
    return draw(DICE)


# At 1.1 the white dice are 255 in two channels, and 7 % of the compartment.
@pytest.mark.parametrize("light", [0.5, 0.8, 1.0, 1.05])
@pytest.mark.parametrize("dice", [DICE, []])
def test_a_good_picture_is_fit(gate, light, dice):
    assert gate.judge(draw(dice, light=light)).fault is None


def test_a_single_colour_that_clips_is_too_much_light(gate):
    image = draw(DICE)
    red = np.array([90, 80, 255], np.uint8)
    image[image.min(axis=2) > 200] = red
    assert gate.judge(image).fault is Reason.OVER_EXPOSED


def torn(image):
    image = image.copy()
    image[300:] = 128
    return image


def smeared(image):
    image = image.copy()
    image[200:] = image[200]
    return image


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda i: (i * 0.03).astype(np.uint8), Reason.BLACK),
        (lambda i: np.zeros_like(i), Reason.BLACK),
        (lambda i: cv2.convertScaleAbs(i, alpha=1, beta=190), Reason.OVER_EXPOSED),
        (lambda i: cv2.GaussianBlur(i, (0, 0), 7), Reason.DEFOCUSED),
        (torn, Reason.TORN),
        (smeared, Reason.TORN),
        (lambda i: np.roll(i, 9, axis=1), Reason.CAMERA_MOVED),
        (lambda i: np.roll(i, (6, 6), axis=(0, 1)), Reason.CAMERA_MOVED),
        (lambda i: cv2.resize(i, (320, 240)), Reason.WRONG_SIZE),
    ],
)
def test_a_spoilt_picture_is_refused_for_its_reason(gate, good, spoil, reason):
    quality = gate.judge(spoil(good))
    assert quality.fault is reason
    assert quality.detail


def test_grain_gives_every_picture_its_own_digest(good):
    assert digest(good) == digest(good.copy())
    assert digest(good) != digest(draw(DICE, seed=1))


def test_grain_and_light_are_no_motion_and_a_creeping_die_is():
    watch = StillnessDetector(TABLE)
    before = watch.thumbnail(draw(DICE, seed=1))
    for light in (1.0, 0.8, 0.6):
        assert not watch.has_moved(before, watch.thumbnail(draw(DICE, seed=2, light=light)))
    crept = [Die(-19.6, -10, 15, 6), *DICE[1:]]
    assert watch.has_moved(before, watch.thumbnail(draw(crept, seed=3)))
    assert watch.has_moved(before, np.zeros_like(before))  # no light: nothing says that they lie


def test_the_dip_is_measured_from_the_picture():
    watch = StillnessDetector(TABLE)
    before = watch.thumbnail(draw(DICE, seed=1))
    dipped = watch.thumbnail(draw(DICE, seed=2, light=0.7))
    assert watch.light_ratio(before, dipped) == pytest.approx(0.7, abs=0.03)


def test_poses_are_changed_by_moving_or_turning_and_not_by_a_quarter_turn():
    before = [(0.0, 0.0, 10.0), (20.0, 5.0, 80.0)]
    assert poses_changed(before, [(0.1, 0.1, 10.5), (20.0, 5.0, 80.0)]) == 0
    assert poses_changed(before, [(20.0, 5.0, 80.0), (0.0, 0.0, 10.0)]) == 0
    assert poses_changed(before, [(5.0, 0.0, 10.0), (20.0, 5.0, 30.0)]) == 2
    assert poses_changed([(0.0, 0.0, 89.5)], [(0.0, 0.0, 0.5)]) == 0


def test_a_cloth_over_most_of_the_rim_is_blocked(gate):
    image = draw(DICE, seed=3)
    rng = np.random.default_rng(3)
    weave = cv2.GaussianBlur(rng.normal(0, 40, image.shape[:2]).astype(np.float32), (0, 0), 1.2)
    cloth = np.clip(130 + weave[..., None] * [1.0, 0.8, 0.6], 0, 255).astype(np.uint8)
    image[:, 200:] = cloth[:, 200:]
    assert gate.judge(image).fault is Reason.BLOCKED


@pytest.mark.parametrize("shift_px", [0, 3, 6, 10])
def test_a_brighter_ring_farther_out_is_not_taken_for_the_rim(gate, shift_px):
    image = draw(DICE)
    cv2.circle(image, (320, 240), 238, (150, 150, 150), 4, cv2.LINE_AA)
    moved = np.roll(image, shift_px, axis=1)
    assert gate.judge(moved).rim_px == pytest.approx(shift_px, abs=1.0)


@pytest.mark.parametrize("shift_px", [0, 3, 8, 12])
def test_a_wall_as_bright_as_the_floor_shows_the_rim_by_its_colour(shift_px):
    """In grey only a shadow shows, eight pixels outside of the rim on one side."""
    y, x = np.mgrid[:480, :640]
    radius = TABLE.circle_px(TABLE.compartment_radius_mm)[:, 0].max() - 320
    away = np.hypot(x - 320, y - 240) - radius
    image = np.full((480, 640, 3), (100, 110, 90), np.uint8)
    image[away > 0] = (140, 84, 126)
    assert np.ptp(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)) == 0
    image[(np.abs(away - 8) < 2) & (y < 240)] = (110, 60, 100)
    grain = np.random.default_rng(5).normal(0, 2, image.shape)
    seen = np.roll(np.clip(image + grain, 0, 255).astype(np.uint8), shift_px, axis=1)
    assert Rim(TABLE).away(seen)[0] == pytest.approx(shift_px, abs=1.0)


ALONG = [Die(41 * np.cos(t), 41 * np.sin(t), np.degrees(t), 4) for t in (0.0, 0.42, 0.84)]


def test_a_ring_that_dice_hide_less_than_the_rim_does_not_outvote_it(gate):
    image = draw(ALONG, seed=4)
    cv2.circle(image, (320, 240), 226, (230, 230, 230), 4, cv2.LINE_AA)
    assert gate.judge(image).fault is None


def test_three_dice_along_the_wall_leave_the_rim_in_sight(gate):
    quality = gate.judge(draw(ALONG, seed=4))
    assert quality.fault is None
