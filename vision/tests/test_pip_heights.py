"""What the height of the pips, by the second lens of a stereo camera, counts for."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from vision.calibration import Calibration
from vision.cube_outlines.outline import Fit, Pose
from vision.cube_outlines.reader import SecondDie
from vision.faces_by_pips.pips import SPOTS, Face
from vision.parameters import LIMITS
from vision.pip_heights import measure_height
from vision.reading import (
    NO_HEIGHT,
    DieEvidence,
    Height,
    NoRoll,
    Observation,
    Reason,
    Scene,
    Unreadable,
    Verdict,
    Verified,
)
from vision.table.consensus import agree
from vision.table.judgement import judge, passes
from vision.table.witnesses import HEIGHT, combine, side_of
from vision.tests.test_judgement import evidence, judged

LENS = Calibration((640, 480), 4.0, 300.0, (320.0, 240.0), 50.0, 16.0, compartment_mm=(30.0, 0.0))
RIGHT = replace(LENS, compartment_mm=(-30.0, 0.0))
STEREO = replace(LENS, right=RIGHT)
PIP_MM, SPACING_MM = 1.4, 4.2


def painted(
    lens: Calibration,
    value: int,
    above_mm: float = 0.0,
    tilt_deg: float = 0.0,
    first_mm: float = 0.0,
) -> np.ndarray:
    """A white die with dark pips, its top face a turned square that leans about its middle; the
    first pip is so far beside its place."""
    turn, lean = np.radians((20.0, tilt_deg))
    across = np.array([np.cos(turn), np.sin(turn), 0.0])
    along = np.array([-np.sin(turn) * np.cos(lean), np.cos(turn) * np.cos(lean), np.sin(lean)])
    middle = np.array([5.0, -8.0, 16.0 + above_mm])

    def on_face(places):
        return lens.to_px(np.array([middle + u * across + v * along for u, v in places]))

    image = np.full((480, 640, 3), (60, 90, 40), np.uint8)
    corners = on_face([(-8, -8), (8, -8), (8, 8), (-8, 8)])
    ring = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    shapes = [(corners, (235, 235, 235))]
    for number, (x, y) in enumerate(SPOTS[value][0]):
        beside = first_mm if number == 0 else 0.0
        places = np.c_[np.cos(ring), np.sin(ring)] * PIP_MM + np.array((x, y)) * SPACING_MM
        places[:, 0] += beside
        shapes.append((on_face(places), (30, 30, 30)))
    for outline, colour in shapes:
        points = np.round(outline * 16).astype(np.int32)
        cv2.fillPoly(image, [points], colour, cv2.LINE_AA, 4)
    return cv2.GaussianBlur(image, (3, 3), 0)


def read(value: int | None) -> SecondDie:
    """What the second reader says of the painted die."""
    face = Face(value, 0.9, 200.0, spacing=SPACING_MM / 16, pip_diameter=2 * PIP_MM / 16)
    pose = Pose(5.0, -8.0, np.radians(20.0))
    return SecondDie(
        pose, np.zeros((4, 2)), face, Fit(pose, 0.1, 0.1, 0.0, 0.0, 1.0, np.zeros((4, 2)))
    )


def height_of(value: int | None, *, right: int | None = None, **pose: float) -> Height:
    """What both lenses say of a die with this value; `right`: the second shows another."""
    shown = value or 3
    first, second = painted(STEREO, shown, **pose), painted(RIGHT, right or shown, **pose)
    return measure_height(first, second, read(value).pips(16.0), STEREO)


@pytest.mark.parametrize("value", range(1, 7))
@pytest.mark.parametrize("above_mm", [0.0, 0.75, 1.6])
def test_pips_are_found_at_their_height(value, above_mm):
    height = height_of(value, above_mm=above_mm)
    assert 16 * height.above == pytest.approx(above_mm, abs=0.15)
    assert height.least > 0.9


def test_one_pip_that_is_mistaken_does_not_raise_the_others():
    right = painted(RIGHT, 5, first_mm=0.35)
    height = measure_height(painted(STEREO, 5), right, read(5).pips(16.0), STEREO)
    assert 16 * height.above == pytest.approx(0.0, abs=0.15)
    assert height.slope > 0.05


def test_a_leaning_face_is_as_high_as_its_middle():
    assert 16 * height_of(4, above_mm=0.9, tilt_deg=7.0).above == pytest.approx(0.9, abs=0.2)


def test_a_pip_that_only_one_lens_shows_is_unlike():
    height = height_of(5, right=4)
    assert height.least < LIMITS.pip_alike < LIMITS.height_likeness < height.likeness


@pytest.mark.parametrize("value", range(2, 7))
@pytest.mark.parametrize("tilt_deg", [0.0, 6.0, 9.0])
def test_a_leaning_face_rises_by_its_lean(value, tilt_deg):
    slope = np.degrees(np.arctan(height_of(value, tilt_deg=tilt_deg).slope))
    across = 1.0 if value > 3 else np.sin(np.pi / 4)  # these show their diagonal only
    assert slope == pytest.approx(tilt_deg * across, abs=1.5)


def test_an_ace_has_no_slope():
    assert height_of(1, tilt_deg=9.0).slope == 0.0


def test_what_is_farther_from_its_place_than_any_die_is_no_pip():
    assert height_of(4, above_mm=6.0).likeness == 0.0


def test_the_pips_of_a_face_that_is_not_where_its_outline_is_are_found():
    beside = replace(read(5).face, offset=(0.06, -0.04))
    die = replace(read(5), face=beside, pose=Pose(5.0 - 1.12, -8.0 + 0.27, np.radians(20.0)))
    height = measure_height(painted(STEREO, 5), painted(RIGHT, 5), die.pips(16.0), STEREO)
    assert height.least > 0.9


def test_a_face_without_a_value_has_no_height():
    assert height_of(None) == NO_HEIGHT


# ── What it counts for ──────────────────────────────────────────────────────

HIGH, SLIGHTLY, FLAT = 0.047, 0.028, 0.001
"""Heights in dice: of a lean of 6°, of one that is doubtful, and of a flat die."""


def toss(
    above: float,
    likeness: float = 0.95,
    least: float = 0.95,
    others: float = FLAT,
    flat_p: float = 0.8,
    **looks: float,
) -> tuple[DieEvidence, DieEvidence, DieEvidence]:
    """Two flat dice, and between them one with this height, whose looks and sides are as `evidence`
    has them."""
    left, right = (
        replace(evidence(x_mm), height=Height(others, 0.97, 0.97)) for x_mm in (-25.0, 25.0)
    )
    odd = evidence(0.0, **looks)
    assert odd.model is not None
    model = replace(odd.model, flat_p=flat_p)
    return left, replace(odd, model=model, height=Height(above, likeness, least)), right


def odds_of(above: float, likeness: float = 0.95, others: float = FLAT) -> float:
    dice = combine(toss(above, likeness, others=others), Scene(3, 16.0, 70.0, 2.0, 0.0, 0.0))
    return side_of(dice[1], (HEIGHT,))


def test_the_higher_the_pips_the_less_flat():
    assert odds_of(0.0) == LIMITS.height
    assert odds_of(LIMITS.height_above) == pytest.approx(0.0)
    assert odds_of(-0.4 * LIMITS.height_above) == pytest.approx(0.6 * LIMITS.height)
    assert odds_of(HIGH) < -LIMITS.height_sure
    assert odds_of(0.2) == -LIMITS.height
    assert odds_of(HIGH, likeness=0.5) == odds_of(FLAT, likeness=0.5) == 0.0


def test_heights_speak_for_flat_only_if_all_dice_are_as_high_as_flat_ones():
    assert odds_of(FLAT) > LIMITS.height_sure
    for others in (-0.03, -0.013, 0.013, 0.03, 0.06):
        assert odds_of(FLAT, others=others) == 0.0
        assert odds_of(HIGH, others=others) < -LIMITS.height_sure
    unlike = toss(-0.1, likeness=0.5)
    placed = combine(unlike, Scene(3, 16.0, 70.0, 2.0, 0.0, 0.0))
    assert [side_of(die, (HEIGHT,)) for die in placed] == [0.0] * 3


def test_pips_that_rise_along_the_face_do_not_speak_for_flat():
    left, odd, right = toss(FLAT)
    assert odd.height is not None
    for slope, speaks in ((0.04, True), (0.06, False)):
        sloping = replace(odd, height=replace(odd.height, slope=slope))
        placed = combine((left, sloping, right), Scene(3, 16.0, 70.0, 2.0, 0.0, 0.0))
        assert (side_of(placed[1], (HEIGHT,)) > 0) is speaks
        assert side_of(placed[0], (HEIGHT,)) > 0


def test_one_lens_has_no_witness_of_height():
    dice = combine([evidence(0.0)], Scene(3, 16.0, 70.0, 2.0, 0.0, 0.0))
    assert HEIGHT not in [witness.name for witness in dice[0].witnesses]


def test_a_sure_height_reads_a_die_that_looks_askew():
    assert isinstance(judged(*toss(FLAT, near_p=0.01)), Verified)
    assert not isinstance(judged(*toss(FLAT, likeness=0.5, near_p=0.01)), Verified)


def test_a_sure_height_does_not_outweigh_a_side_that_is_wholly_against():
    sure = LIMITS.height
    assert not passes(-7.0, 9.0, height=sure)
    assert not passes(9.0, -7.0, height=sure)
    assert passes(-5.0, 9.0, height=sure)
    assert not passes(-5.0, 9.0, height=0.4 * sure)


def test_a_die_that_lies_too_high_is_not_read_however_flat_it_looks():
    verdict = judged(*toss(HIGH))
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is Reason.NOT_FLAT_DOUBTFUL
    assert "by height" in verdict.detail


def test_a_sure_height_counts_for_more_than_the_size_of_a_top_face():
    low, odd, other = toss(FLAT)
    assert odd.measured is not None
    large = replace(odd, measured=replace(odd.measured, layer=odd.measured.layer + 0.7))
    assert isinstance(judged(low, large, other), Verified)
    alone = [replace(die, height=None) for die in (low, large, other)]
    assert not isinstance(judged(*alone), Verified)
    hidden = judged(low, replace(odd, measured=replace(odd.measured, layer=2.1)))
    assert not isinstance(hidden, NoRoll)


@pytest.mark.parametrize("looks", [{"sides": -5.0}, {"near_p": 0.001, "flat_p": 0.02}])
def test_height_and_one_side_together_prove_a_lean(looks):
    verdict = judged(*toss(HIGH, **looks))
    assert isinstance(verdict, NoRoll)
    assert verdict.die == 1


def test_a_sure_height_leaves_no_lean_proved():
    leaning = {"sides": -8.0, "near_p": 0.001, "flat_p": 0.02}
    assert isinstance(judged(*toss(FLAT, likeness=0.5, **leaning)), NoRoll)
    assert not isinstance(judged(*toss(FLAT, **leaning)), NoRoll)


def test_a_height_proves_no_lean_if_the_value_is_doubted_or_no_other_die_is_flat():
    low, odd, other = toss(HIGH, sides=-5.0)
    assert odd.model is not None
    for model in (replace(odd.model, value=5), replace(odd.model, value_p=0.5)):
        assert not isinstance(judged(low, replace(odd, model=model), other), NoRoll)
    assert not isinstance(judged(*toss(HIGH, others=SLIGHTLY, sides=-5.0)), NoRoll)


def test_a_pip_that_the_other_lens_does_not_show_is_doubtful():
    verdict = judged(*toss(FLAT, least=0.2))
    assert isinstance(verdict, Unreadable)
    assert verdict.reason is Reason.DOUBTFUL


def test_a_lens_that_shows_no_die_doubts_no_pip():
    dark = Height(0.0, 0.0, 0.0)
    dice = [replace(evidence(x_mm), height=dark) for x_mm in (-25.0, 0.0, 25.0)]
    assert isinstance(judged(*dice), Verified)


def verdict_of(*heights: float, **looks: float) -> Verdict | None:
    """What frames agree on that have these heights of the middle die; None: on nothing."""
    scene = Scene(3, 16.0, 70.0, 2.0, 0.0, 0.0)
    frames = []
    for number, above in enumerate(heights):
        dice = combine(toss(above, **looks), scene)
        frames.append(Observation(number / 30, None, dice, judge(dice, scene), (), scene))
    consensus = agree(frames)
    return None if consensus is None else consensus.verdict


def test_one_frame_with_a_high_die_is_against_the_values_of_the_others():
    assert isinstance(verdict_of(FLAT, FLAT, FLAT), Verified)
    assert isinstance(verdict_of(FLAT, SLIGHTLY, FLAT), Verified)
    assert verdict_of(FLAT, 0.036, FLAT) is None
    assert verdict_of(FLAT, HIGH, FLAT) is None


def test_frames_with_a_sure_height_bear_out_what_one_side_doubts():
    assert isinstance(verdict_of(FLAT, FLAT, FLAT, sides=-8.0), Verified)
    assert isinstance(verdict_of(FLAT, FLAT, FLAT, near_p=0.01), Verified)
