"""Every step of a reading as one picture."""

import numpy as np
import pytest

from vision.explain import explain
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.photo.reader import PhotoReader
from vision.table.reader import TableReader
from vision.tests.drawing import Die, draw
from vision.tests.taught_table import STEREO, frame

DICE = [Die(-22.0, -8.0, 20.0, 2), Die(4.0, 14.0, 65.0, 5), Die(24.0, -10.0, 40.0, 4)]


@pytest.fixture(scope="module")
def finder():
    return DieFinder()


@pytest.mark.parametrize("is_photograph", [True, False])
def test_a_picture_explains_a_photograph_and_a_frame(finder, teaching, is_photograph):
    table = TableReader(finder, STEREO, teaching=teaching)
    reader, image = (
        (PhotoReader(finder), draw(DICE)) if is_photograph else (table, frame(DICE).image)
    )
    one = explain(image, reader.look(Frame(image)))
    other = explain(image, reader.look(Frame(np.zeros_like(image))))
    assert one.shape[0] > other.shape[0] > 400  # a card for each die


@pytest.mark.parametrize("size", [(3, 3000), (3000, 2)])
def test_a_strip_is_explained_as_well(finder, size):
    image = np.zeros((*size, 3), np.uint8)
    assert explain(image, PhotoReader(finder).look(Frame(image))).shape[1] > 400
