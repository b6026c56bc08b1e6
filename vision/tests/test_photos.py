"""Photographs without a calibration: both readers alone, and what they must say together."""

from typing import cast

import cv2
import numpy as np
import pytest

from vision.errors import ModelError
from vision.faces_by_pips.faces import read_photo
from vision.faces_by_pips.pips import SPOTS
from vision.faces_by_pips.spots import find_spots, to_lab
from vision.frame import Frame
from vision.networks.classifier import DieFinder, FoundDie
from vision.parameters import PHOTO
from vision.photo import places
from vision.photo.finder import PhotoFinder, ScoredFinder, worth
from vision.photo.places import measure, shipped
from vision.photo.reader import PhotoReader
from vision.reading import Reason, Unreadable, Verified
from vision.tests.drawing import BLUE, LOOKS, TABLE, WHITE, Die, Look, draw, toss
from vision.tests.truth import found_die

FAINT = Look(face=(120, 122, 124), pip=(96, 97, 98))
ALL_LOOKS = LOOKS | {"faint": FAINT}


def three(look: Look = WHITE, values: tuple[int, int, int] = (2, 5, 4)) -> list[Die]:
    places = ((-22.0, -8.0, 20.0), (4.0, 14.0, 65.0), (24.0, -10.0, 40.0))
    return [
        Die(x, y, turn, value, look=look)
        for (x, y, turn), value in zip(places, values, strict=True)
    ]


def values_of(image: np.ndarray) -> list[int | None]:
    return [die.face.value for die in read_photo(image).dice]


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


# ── The second reader ───────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ALL_LOOKS)
@pytest.mark.parametrize("value", range(1, 7))
def test_every_face_of_every_style_is_read(name, value):
    dice = [Die(3.0, -4.0, 27.0, value, look=ALL_LOOKS[name])]
    assert values_of(draw(dice)) == [value]


@pytest.mark.parametrize("scale", [0.4, 0.7, 1.5, 4.0])
def test_dice_of_any_size_are_read(scale):
    image = cv2.resize(draw(three()), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    assert values_of(image) == [2, 5, 4]


@pytest.mark.parametrize("value", SPOTS)
def test_a_crop_of_one_die_shows_that_die_and_nothing_else(value):
    image = draw([Die(0, 0, 5, value)])
    height, width = image.shape[:2]
    crop = image[height // 2 - 50 : height // 2 + 50, width // 2 - 50 : width // 2 + 50]
    dice, faint = PhotoFinder(DieFinder()).find(crop.copy(), PHOTO.found)
    assert [die.value for die in dice] == [value]
    assert not faint


def test_faces_lie_where_they_were_drawn():
    dice = three()
    for found, die in zip(read_photo(draw(dice)).dice, truth(dice), strict=True):
        assert np.hypot(*(found.centre - die.centre)) < 0.08 * die.edge_px


def test_tosses_are_seldom_misread():
    rng = np.random.default_rng(5)
    right = wrong = of = 0
    for seed in range(8):
        dice = toss(rng)
        seen = read_photo(draw(dice, seed=seed)).dice
        for die in truth(dice):
            near = [s for s in seen if np.hypot(*(s.centre - die.centre)) < 0.4 * die.edge_px]
            right += any(s.face.value == die.value for s in near)
            wrong += any(s.face.value != die.value for s in near)
            of += 1
    assert right >= 0.9 * of
    assert wrong <= 0.03 * of


def test_two_dice_on_an_even_table_are_no_giant_two():
    dice = [Die(-18, 0, 10, 1, look=BLUE), Die(18, 4, 50, 1, look=BLUE)]
    assert values_of(draw(dice)) == [1, 1]


def test_the_middle_of_a_five_is_no_ace():
    image = draw([Die(0, 0, 15, 5)])
    ring = read_photo(image).dice
    assert [die.face.value for die in ring] == [5]


def a_face(value: int, spacing: float, pip: float, turn_deg: float = 17.0) -> np.ndarray:
    """A dark die of 120 pixels on a light table, with pips of that share of its edge."""
    picture = np.full((320, 320, 3), (150, 170, 175), np.uint8)
    frame = cv2.boxPoints(((160, 160), (120, 120), turn_deg))
    cv2.fillConvexPoly(picture, np.round(frame * 16).astype(np.int32), (60, 30, 20), cv2.LINE_AA, 4)
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    for x, y in SPOTS[value][0]:
        at = 160 + 120 * spacing * np.array((c * x - s * y, s * x + c * y))
        at = np.round(at * 16).astype(int)
        cv2.circle(picture, at.tolist(), round(60 * pip * 16), (240,) * 3, -1, cv2.LINE_AA, 4)
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), 1.2))


@pytest.mark.parametrize("value", [2, 3, 4, 5, 6])
def test_pips_so_large_that_they_touch_are_read(value):
    assert values_of(a_face(value, 0.27, 0.28)) == [value]


def test_a_six_with_rows_nearer_to_each_other_than_the_corners_of_a_four():
    picture = a_face(6, 0.25, 0.17, turn_deg=0.0)
    narrow = cv2.resize(picture[:, 60:260], (140, 320), interpolation=cv2.INTER_AREA)
    assert values_of(narrow) == [6]


@pytest.mark.parametrize("value", [1, 2, 3, 4, 5])
def test_pips_on_a_disc_let_into_a_die_of_another_colour_are_read(value):
    picture = np.full((320, 320, 3), (60, 70, 75), np.uint8)
    cv2.rectangle(picture, (95, 95), (225, 225), (225, 228, 230), -1)
    cv2.circle(picture, (160, 160), 50, (90, 60, 40), -1, cv2.LINE_AA)
    for x, y in SPOTS[value][0]:
        cv2.circle(picture, (160 + 25 * x, 160 + 25 * y), 11, (225,) * 3, -1, cv2.LINE_AA)
    assert values_of(np.asarray(cv2.GaussianBlur(picture, (0, 0), 1.0))) == [value]


def test_an_ace_with_a_house_name_around_its_pip_is_read():
    picture = a_face(1, 0.25, 0.28, turn_deg=0.0)
    for step, letter in enumerate("HOUSE HOUSE "):
        way = step * np.pi / 6
        at = (round(156 + 30 * np.cos(way)), round(163 + 30 * np.sin(way)))
        cv2.putText(picture, letter, at, cv2.FONT_HERSHEY_PLAIN, 0.8, (150,) * 3, 1, cv2.LINE_AA)
    assert values_of(np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.8))) == [1]


@pytest.mark.parametrize("kind", ["grain", "stripes"])
def test_a_floor_without_dice_has_no_sure_faces(kind):
    rng = np.random.default_rng(3)
    image: np.ndarray = rng.normal(120, 25, (300, 400)).astype(np.float32)
    image = np.asarray(cv2.GaussianBlur(image, (0, 0), 2.0 if kind == "grain" else 0.1))
    if kind == "stripes":
        image += 40 * np.sin(np.arange(400) / 7)
    picture = cv2.cvtColor(np.clip(image, 0, 255).astype(np.uint8), cv2.COLOR_GRAY2BGR)
    assert all(die.face.confidence < 0.65 for die in read_photo(picture).dice)


@pytest.mark.parametrize("diameter", [5, 11, 24, 60])
def test_a_spot_is_measured_whatever_its_size_and_contrast(diameter):
    picture = np.full((240, 320, 3), 140, np.uint8)
    cv2.circle(picture, (160, 120), round(diameter / 2 * 16) // 16, (112,) * 3, -1, cv2.LINE_AA)
    spots = find_spots(to_lab(picture))
    gaps = np.hypot(*(spots.xy - (160, 120)).T)
    best = int(gaps.argmin())
    assert gaps[best] < 1.0
    assert spots.diameter[best] == pytest.approx(diameter, rel=0.25, abs=1.0)


# ── The places of a face ────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ALL_LOOKS)
@pytest.mark.parametrize("value", range(1, 7))
def test_the_places_of_a_face_show_its_value_whatever_the_model_says(name, value):
    dice = [Die(3.0, -4.0, 27.0, value, look=ALL_LOOKS[name])]
    face = measure(draw(dice), truth(dice)[0].corners)
    for said in range(1, 7):
        vote = shipped().vote(face, said)
        assert (vote.value, vote.lead > 0) == (value, said == value)


def test_nothing_that_speaks_for_a_value_counts_against_it():
    weights = shipped()
    assert min(weights.certainty[1:]) >= 0
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


def with_a_spot_at(die: FoundDie, picture: np.ndarray) -> np.ndarray:
    """The same picture with one spot there that may be a pip."""
    x, y = np.round(die.centre).astype(int).tolist()
    return np.asarray(cv2.circle(picture.copy(), (x, y), 7, (30, 60, 20), -1, cv2.LINE_AA))


@pytest.mark.parametrize(("score", "is_a_die"), [(0.23, False), (0.4, True)])
def test_what_only_the_model_takes_for_a_die_is_passed_over_where_it_is_not_sure(score, is_a_die):
    dice = three()
    faint = truth([GHOST])[0]
    faint = FoundDie(faint.corners, 3, faint.value_p, 0.9, score, faint.down)
    assert PHOTO.found < worth(faint) < PHOTO.sure
    assert (worth(faint) > PHOTO.small) == is_a_die
    picture = with_a_spot_at(faint, draw(dice))
    opinion = reader_that_hears(truth(dice), (faint,)).look(Frame(picture)).observation.opinion
    assert isinstance(opinion, Unreadable if is_a_die else Verified)
    if isinstance(opinion, Unreadable):
        assert opinion.reason is Reason.COUNT


def test_a_faint_finding_counts_only_where_pips_are_seen():
    dice = three()
    faint = [
        FoundDie(die.corners, die.value, die.value_p, 0.9, 0.42, die.down)
        for die in truth([*dice, GHOST])
    ]
    assert PHOTO.found < worth(faint[-1]) < PHOTO.sure
    seen = reader_that_hears(faint).look(Frame(with_a_spot_at(faint[-1], draw(dice))))
    assert [die.value for die in seen.model] == [2, 5, 4]
    opinion = seen.observation.opinion
    assert isinstance(opinion, Unreadable)
    assert opinion.detail == "3 dice, but something else may be a die (0.42 sure)"


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


@pytest.mark.parametrize("name", LOOKS)
def test_clean_faces_of_a_photograph_have_nothing_odd(name):
    dice = [Die(30 * (i - 1), 0, 20 * i, i + 2, look=LOOKS[name]) for i in range(3)]
    assert [die.face.oddity for die in read_photo(draw(dice)).dice] == ["", "", ""]


@pytest.mark.parametrize(("value", "grey"), [(2, 60), (4, 60), (3, 236), (5, 236)])
def test_a_speck_in_the_middle_of_a_face_is_told_on_a_photograph(value, grey):
    image = draw([Die(-20, 0, 20, value), Die(20, 0, 40, 6)])
    at = TABLE.to_px(np.array([[-20.0, 0.0, TABLE.die_mm]]))[0]
    cv2.circle(image, tuple(int(v) for v in np.rint(at)), 8, (grey,) * 3, -1, cv2.LINE_AA)
    face = next(die.face for die in read_photo(image).dice if die.centre[0] < 320)
    assert face.value != value
    assert face.value is None or face.oddity


# ── The model on photographs ────────────────────────────────────────────────


@pytest.fixture(scope="module")
def finder() -> PhotoFinder:
    return PhotoFinder(DieFinder())


@pytest.mark.parametrize("scale", [0.5, 1.0, 5.0])
def test_the_model_finds_dice_of_any_size(finder, scale):
    dice = three()
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    image = cv2.resize(draw(dice), None, fx=scale, fy=scale, interpolation=interpolation)
    found, _ = finder.find(image, PHOTO.found)
    assert [die.value for die in found] == [2, 5, 4]
    for seen, die in zip(found, truth(dice), strict=True):
        assert np.hypot(*(seen.centre / scale - die.centre)) < 0.1 * die.edge_px
        assert seen.edge_px / scale == pytest.approx(die.edge_px, rel=0.12)


def test_a_picture_of_one_die_alone_is_read(finder):
    image = draw([Die(0, 0, 25, 3)])[195:290, 275:370]
    found, _ = finder.find(image, PHOTO.found)
    assert [die.value for die in found] == [3]
    assert np.hypot(*(found[0].centre - 47)) < 8


@pytest.mark.parametrize("size", [(1, 1), (7, 9), (8, 8), (15, 300), (3, 600), (1, 20_000)])
def test_a_picture_without_room_for_a_die_shows_none(size):
    reader = PhotoReader(DieFinder())
    for height, width in (size, size[::-1]):
        verdict = reader.look(Frame(np.full((height, width, 3), 90, np.uint8)))
        assert verdict.observation.opinion == Unreadable(Reason.COUNT, "no dice")
    assert len(find_spots(to_lab(np.zeros((*size, 3), np.uint8)))) == 0
