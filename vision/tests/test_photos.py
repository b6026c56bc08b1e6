"""Photographs without a calibration: both readers alone, and what they must say together."""

from dataclasses import replace
from typing import cast

import cv2
import numpy as np
import pytest

from vision.errors import ModelError
from vision.frame import Frame
from vision.networks.classifier import DieFinder, FoundDie
from vision.parameters import PHOTO
from vision.photo import places
from vision.photo.finder import PhotoFinder, ScoredFinder, worth
from vision.photo.places import measure, shipped
from vision.photo.reader import PhotoReader
from vision.photo.spots import round_spots
from vision.reading import Reason, Unreadable, Verified
from vision.tests.drawing import LOOKS, SPOTS, TABLE, WHITE, Die, Look, draw
from vision.tests.truth import found_die

FAINT = Look(face=(120, 122, 124), pip=(96, 97, 98))
ALL_LOOKS = LOOKS | {"faint": FAINT}


def three(look: Look = WHITE, values: tuple[int, int, int] = (2, 5, 4)) -> list[Die]:
    places = ((-22.0, -8.0, 20.0), (4.0, 14.0, 65.0), (24.0, -10.0, 40.0))
    return [
        Die(x, y, turn, value, look=look)
        for (x, y, turn), value in zip(places, values, strict=True)
    ]


class Says:
    """In place of the model's part: it says what it was told to, true or not."""

    def __init__(self, found: list[FoundDie], faint: tuple[FoundDie, ...] = ()) -> None:
        self._found, self._faint = found, list(faint)

    def find(self, image: np.ndarray, min_worth: float):
        return sorted(self._found, key=lambda die: float(die.centre[0])), self._faint


def reader_that_hears(found: list[FoundDie], faint: tuple[FoundDie, ...] = ()) -> PhotoReader:
    reader = PhotoReader(cast(ScoredFinder, None))
    reader._finder = cast(PhotoFinder, Says(found, faint))
    return reader


def truth(dice: list[Die], values: list[int] | None = None, flat_p: float = 0.9) -> list[FoundDie]:
    said = values or [die.value for die in dice]
    return [
        found_die(die, TABLE, value, flat_p, np.zeros(2, np.float32))
        for die, value in zip(dice, said, strict=True)
    ]


# ── The places of a face ────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ALL_LOOKS)
@pytest.mark.parametrize("value", range(1, 7))
def test_the_places_of_a_face_show_its_value_whatever_the_model_says(name, value):
    dice = [Die(3.0, -4.0, 27.0, value, look=ALL_LOOKS[name])]
    face = measure(draw(dice), truth(dice)[0].corners)
    for said in range(1, 7):
        vote = shipped().vote(face, said)
        assert (vote.value, vote.lead > 0) == (value, said == value)


def a_face(value: int, spacing: float, pip: float, turn_deg: float) -> tuple[np.ndarray, ...]:
    """A dark die of 120 pixels on a light table, with pips of that share of its edge, and its
    corners."""
    picture = np.full((320, 320, 3), (150, 170, 175), np.uint8)
    frame = cv2.boxPoints(((160, 160), (120, 120), turn_deg))
    cv2.fillConvexPoly(picture, np.round(frame * 16).astype(np.int32), (60, 30, 20), cv2.LINE_AA, 4)
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    for x, y in SPOTS[value]:
        at = 160 + 120 * spacing * np.array((c * x - s * y, s * x + c * y))
        at = np.round(at * 16).astype(int)
        cv2.circle(picture, at.tolist(), round(60 * pip * 16), (240,) * 3, -1, cv2.LINE_AA, 4)
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), 1.2)), frame


@pytest.mark.parametrize("value", range(1, 7))
@pytest.mark.parametrize(("spacing", "pip"), [(0.27, 0.28), (0.19, 0.12), (0.25, 0.17)])
def test_pips_of_any_size_and_distance_are_read(value, spacing, pip):
    face = measure(*a_face(value, spacing, pip, 17.0))
    assert shipped().vote(face, value).value == value


def test_an_ace_with_a_house_name_around_its_pip_is_read():
    picture, corners = a_face(1, 0.25, 0.28, turn_deg=0.0)
    for step, letter in enumerate("HOUSE HOUSE "):
        way = step * np.pi / 6
        at = (round(156 + 30 * np.cos(way)), round(163 + 30 * np.sin(way)))
        cv2.putText(picture, letter, at, cv2.FONT_HERSHEY_PLAIN, 0.8, (150,) * 3, 1, cv2.LINE_AA)
    assert shipped().vote(measure(picture, corners), 1).value == 1


@pytest.mark.parametrize("name", LOOKS)
def test_the_middle_of_a_clean_face_is_not_odd(name):
    dice = [Die(30 * (i - 1), 0, 20 * i, i + 2, look=LOOKS[name]) for i in range(4)]
    image = draw(dice)
    votes = [shipped().vote(measure(image, d.corners), d.value) for d in truth(dice)]
    assert all(vote.plain > 0 for vote in votes)


@pytest.mark.parametrize(("value", "shows"), [(2, 3), (4, 5)])
def test_a_speck_in_the_middle_of_a_face_is_told_on_a_photograph(value, shows):
    die = Die(-20, 0, 20, value)
    image = draw([die, Die(20, 0, 40, 6)])
    at = TABLE.to_px(np.array([[-20.0, 0.0, TABLE.die_mm]]))[0]
    cv2.circle(image, tuple(int(v) for v in np.rint(at)), 11, (60,) * 3, -1, cv2.LINE_AA)
    vote = shipped().vote(measure(image, truth([die])[0].corners), shows)
    assert vote.value != shows or vote.plain < 0


@pytest.mark.parametrize("diameter", [5, 11, 24, 60])
def test_a_spot_is_measured_whatever_its_size_and_contrast(diameter):
    picture = np.full((240, 320, 3), 140, np.uint8)
    cv2.circle(picture, (160, 120), diameter // 2, (112,) * 3, -1, cv2.LINE_AA)
    spots = round_spots(picture, 60.0)
    x, y, across, contrast = spots[np.hypot(*(spots[:, :2] - (160, 120)).T).argmin()]
    assert np.hypot(x - 160, y - 120) < 1.0
    assert across == pytest.approx(diameter, rel=0.25, abs=1.0)
    assert contrast > 6


def test_nothing_that_speaks_for_a_value_counts_against_it():
    weights = shipped()
    assert min(*weights.certainty[1:], *weights.presence[1:]) >= 0
    assert all(min(each[1:]) >= 0 for each in weights.middle.values())


@pytest.mark.parametrize("text", [None, "", "{}", '{"place": {"mean": 1}}'])
def test_weights_that_are_missing_or_damaged_are_told(tmp_path, monkeypatch, text):
    file = tmp_path / "weights.json"
    if text is not None:
        file.write_text(text)
    monkeypatch.setattr(places, "WEIGHTS", file)
    shipped.cache_clear()
    try:
        with pytest.raises(ModelError, match=r"weights\.json.* Restore models/"):
            shipped()
    finally:
        shipped.cache_clear()


# ── Both readers ────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ALL_LOOKS)
def test_what_both_readers_see_is_verified(name):
    dice = three(ALL_LOOKS[name])
    opinion = reader_that_hears(truth(dice)).look(Frame(draw(dice))).observation.opinion
    assert isinstance(opinion, Verified)
    assert opinion.values == (2, 5, 4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lie", ["swapped", "wrong value", "missed", "reflection", "side"])
def test_a_lying_model_is_not_believed(lie, seed):
    rng = np.random.default_rng(seed)
    first, second, third = (int(v) for v in rng.permutation(6)[:3] + 1)
    dice = three(values=(first, second, third))
    values = [die.value for die in dice]
    found = truth(dice)
    if lie == "swapped":
        found = truth(dice, [values[1], values[0], values[2]])
    elif lie == "wrong value":
        found = truth(dice, [values[0], values[1] % 6 + 1, values[2]])
    elif lie == "missed":
        found = found[:2]
    elif lie == "reflection":
        found += truth([Die(-5.0, -34.0, 10.0, 3)])
    else:
        found[1] = truth([Die(dice[1].x, dice[1].y + 14, 65.0, dice[1].value)])[0]
    opinion = reader_that_hears(found).look(Frame(draw(dice))).observation.opinion
    assert isinstance(opinion, Unreadable)


def test_a_die_that_looks_tilted_is_not_verified():
    dice = three()
    opinion = (
        reader_that_hears(truth(dice, flat_p=0.05)).look(Frame(draw(dice))).observation.opinion
    )
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.NOT_FLAT_DOUBTFUL


GHOST = Die(-5.0, -34.0, 10.0, 3)


@pytest.mark.parametrize(
    ("score", "counts"), [(0.02, "not at all"), (0.2, "as a doubt"), (0.9, "as a die")]
)
def test_what_the_model_is_not_sure_of_counts_by_how_sure_both_are(score, counts):
    dice = three()
    ghost = truth([Die(-5.0, -34.0, 10.0, 3)])[0]
    seen = [replace(ghost, score=score)]
    found, faint = (seen, ()) if worth(seen[0]) >= PHOTO.sure else ([], tuple(seen))
    image = draw(dice if counts == "not at all" else [*dice, Die(-5.0, -34.0, 10.0, 3)])
    read = reader_that_hears(truth(dice) + found, faint).look(Frame(image))
    assert len(read.model) == 3 + (counts == "as a die")
    opinion = read.observation.opinion
    assert isinstance(opinion, Unreadable if counts == "as a doubt" else Verified)
    if isinstance(opinion, Unreadable):
        assert opinion.detail == "3 dice, but something else may be a die (0.20 sure)"


def test_a_die_that_the_border_cuts_off_is_not_verified():
    dice = three()
    image = draw(dice)
    found = truth(dice)
    reach = max(float(die.corners[:, 0].max()) for die in found)
    # A corner of a face may be missing: its pips are all in sight.
    for off, kind in ((12, Verified), (-8, Verified), (-20, Unreadable)):
        right = round(reach) + off
        opinion = reader_that_hears(found).look(Frame(image[:, :right])).observation.opinion
        assert isinstance(opinion, kind)
    assert isinstance(opinion, Unreadable)
    assert (opinion.reason, "cuts off die 3" in opinion.detail) == (Reason.COUNT, True)


def test_another_number_of_dice_is_refused():
    dice = three()
    opinion = reader_that_hears(truth(dice)).look(Frame(draw(dice)), 2).observation.opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.reason is Reason.COUNT


# ── The model on photographs ────────────────────────────────────────────────


@pytest.fixture(scope="module")
def finder() -> PhotoFinder:
    return PhotoFinder(DieFinder())


@pytest.mark.parametrize("scale", [0.5, 1.0, 5.0])
def test_the_model_finds_dice_of_any_size(finder, scale):
    dice = three()
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    image = cv2.resize(draw(dice), None, fx=scale, fy=scale, interpolation=interpolation)
    found, _ = finder.find(image, PHOTO.sure)
    assert [die.value for die in found] == [2, 5, 4]
    for seen, die in zip(found, truth(dice), strict=True):
        assert np.hypot(*(seen.centre / scale - die.centre)) < 0.1 * die.edge_px
        assert seen.edge_px / scale == pytest.approx(die.edge_px, rel=0.12)


def test_a_picture_of_one_die_alone_is_read(finder):
    image = draw([Die(0, 0, 25, 3)])[195:290, 275:370]
    found, _ = finder.find(image, PHOTO.sure)
    assert [die.value for die in found] == [3]
    assert np.hypot(*(found[0].centre - 47)) < 8


@pytest.mark.parametrize("size", [(1, 1), (7, 9), (8, 8), (15, 300), (3, 600), (1, 20_000)])
def test_a_picture_without_room_for_a_die_shows_none(size):
    reader = PhotoReader(DieFinder())
    for height, width in (size, size[::-1]):
        verdict = reader.look(Frame(np.full((height, width, 3), 90, np.uint8)))
        assert verdict.observation.opinion == Unreadable(Reason.COUNT, "no dice")
