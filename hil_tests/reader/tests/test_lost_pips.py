"""A three or a five that has lost its middle pip is never verified as a two or a four."""

from __future__ import annotations

import cv2
import pytest

from hil_tests.reader.samples import RIG
from hil_tests.reader.tosses import flat_tosses
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.reading import Verified
from vision.table.reader import TableReader


@pytest.mark.parametrize("style", ["red", "blue", "white"])
def test_an_emptied_middle_pip_is_refused_and_whole_dice_are_read(style: str) -> None:
    """On clear dice near and far face must add up to seven; on opaque ones the hole shows."""
    cv2.setNumThreads(1)
    camera = RIG.camera("standard", 0, 0, 12)
    reader = TableReader(DieFinder(), camera.calibration)
    tried = whole = 0
    flat = flat_tosses(RIG.compartments["standard"], 12, 16)
    tosses = [toss for toss in flat if {3, 5} & set(toss.values)][:6]
    for number, toss in enumerate(tosses):
        die = next(i for i in range(3) if toss.dice[i].value in (3, 5))
        lost = (die + 1, toss.dice[die].value, (0, 10, 20)[number % 3])
        opinion = reader.read(Frame(camera.picture(toss, style=style, lost_pip=lost))).opinion
        assert not isinstance(opinion, Verified), (toss.values, lost)
        tried += 1
        opinion = reader.read(Frame(camera.picture(toss, style=style))).opinion
        whole += isinstance(opinion, Verified) and tuple(sorted(opinion.values)) == toss.values
    assert tried == 6
    assert whole >= 5
