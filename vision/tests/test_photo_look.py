"""The look at one thing of a photograph: what the shipped network says, and what becomes of it."""

import cv2
import numpy as np
import pytest

from vision.errors import ModelError
from vision.networks.classifier import DieFinder, FoundDie
from vision.networks.model_card import ModelFile
from vision.networks.photo_look import PhotoLook, PhotoLooker
from vision.parameters import PHOTO
from vision.photo.finder import PhotoFinder, worth
from vision.tests.drawing import TABLE, Die, draw
from vision.tests.truth import TruthFinder, found_die

DICE = [Die(-22.0, -8.0, 20.0, 2), Die(4.0, 14.0, 65.0, 5), Die(24.0, -10.0, 40.0, 4)]
FOUND = PHOTO.sure


@pytest.fixture(scope="module")
def looker() -> PhotoLooker:
    photo = DieFinder().photo
    assert photo is not None
    return photo


def truths() -> list[FoundDie]:
    return [found_die(die, TABLE, die.value, 0.9, np.zeros(2, np.float32)) for die in DICE]


def test_it_reads_drawn_dice(looker):
    dice = truths()
    looks = looker.look(draw(DICE), [(die.centre, die.edge_px) for die in dice])
    assert [int(look.value_p.argmax()) + 1 for look in looks] == [2, 5, 4]
    assert all(look.die_p > 0.9 for look in looks)


@pytest.mark.parametrize("size", [0.3, 1.0, 3.0])
def test_a_picture_of_another_size_says_the_same(looker, size):
    die = truths()[1]
    how = cv2.INTER_AREA if size < 1 else cv2.INTER_CUBIC
    picture = cv2.resize(draw(DICE), None, fx=size, fy=size, interpolation=how)
    look = looker.look(picture, [((die.centre + 0.5) * size - 0.5, size * die.edge_px)])[0]
    assert look.die_p > 0.9
    assert int(look.value_p.argmax()) + 1 == 5


def test_what_is_no_die_is_none(looker):
    picture = draw(DICE)
    die = truths()[1]
    floor = (np.array([320.0, 100.0]), die.edge_px)
    pip = (die.centre, 0.25 * die.edge_px)
    all_three = (die.centre, 3.0 * die.edge_px)
    for thing in (floor, pip, all_three):
        assert looker.look(picture, [thing])[0].die_p < 0.5


class Looks:
    """In place of the network: it says the same of every thing."""

    def __init__(self, die_p: float, value: int) -> None:
        value_p = np.full(6, 0.01)
        value_p[value - 1] = 0.95
        self._look = PhotoLook(die_p, value_p)

    def look(self, image, things):
        return [self._look for _ in things]


class Both(TruthFinder):
    """A finder that knows one drawn die, and has a photo look beside it."""

    def __init__(self, photo: Looks) -> None:
        super().__init__([DICE[1]])
        self.photo = photo
        middle = np.full(2, (224 - 1) / 2)
        die = self._found[0]
        self._near = die.corners - die.centre + middle

    def find(self, image, min_score=None):
        die = self._found[0]
        if image.shape[:2] != (224, 224):
            scale = image.shape[1] / 640
            tall = image.shape[0] / 480
            return [FoundDie((die.corners * (scale, tall)).astype(np.float32), die.value,
                             die.value_p, die.flat_p, die.score, die.down)]  # fmt: skip
        size = 72.0 / die.edge_px
        corners = (self._near - 111.5) * size + 111.5
        return [FoundDie(corners.astype(np.float32), die.value, die.value_p, die.flat_p,
                         die.score, die.down)]  # fmt: skip


def found_with(photo: Looks) -> tuple[list[FoundDie], list[FoundDie]]:
    return PhotoFinder(Both(photo)).find(draw(DICE), FOUND)


def test_both_agree():
    found, _ = found_with(Looks(0.99, 5))
    assert [die.value for die in found] == [5]
    assert worth(found[0]) > 0.9


def test_what_the_photo_look_takes_for_none_is_worth_less():
    (sure, _), (_, doubted) = found_with(Looks(0.99, 5)), found_with(Looks(1e-3, 5))
    assert worth(doubted[0]) < 0.5 * worth(sure[0])
    found, faint = found_with(Looks(1e-5, 5))
    assert found == []
    assert [die.value for die in faint] == [5]


def test_two_values_are_worth_less_than_one():
    (one, _), (two, _) = found_with(Looks(0.99, 5)), found_with(Looks(0.99, 3))
    assert [die.value for die in two] == [5], "the finder leads"
    assert float(two[0].value_p.max()) < float(one[0].value_p.max())


def test_a_table_never_loads_it():
    finder = DieFinder()
    assert "photo" not in vars(finder)
    assert finder.photo is finder.photo


def test_a_file_that_is_no_network_is_refused(tmp_path):
    (tmp_path / "other.onnx").write_bytes(b"no network")
    with pytest.raises(ModelError, match="does not load or run"):
        PhotoLooker(ModelFile(tmp_path / "other.onnx", ""))
