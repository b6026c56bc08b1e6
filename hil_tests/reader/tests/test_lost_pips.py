"""A three or a five that has lost its middle pip is never verified as a two or a four."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from hil_tests.reader.lost_pips import lost_pip
from hil_tests.reader.samples import RIG
from hil_tests.reader.tosses import Toss, flat_tosses, level_axes
from hil_tests.rig.plant.dice import top_face
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
    whole = 0
    flat = flat_tosses(RIG.compartments["standard"], 12, 16)
    tosses = [toss for toss in flat if {3, 5} & set(toss.values)][:6]
    assert len(tosses) == 6
    for number, toss in enumerate(tosses):
        die = next(i for i in range(3) if toss.dice[i].value in (3, 5))
        lost = lost_pip(die, toss.dice[die].value, (0.0, 0.1, 0.2)[number % 3])
        opinion = reader.read(Frame(camera.picture(toss, style=style, flaws=lost))).opinion
        assert not isinstance(opinion, Verified), (toss.values, lost)
        opinion = reader.read(Frame(camera.picture(toss, style=style))).opinion
        whole += isinstance(opinion, Verified) and tuple(sorted(opinion.values)) == toss.values
    assert whole >= 5


def showing(toss: Toss, value: int) -> Toss:
    """The same toss, but each die turned over where it lies so that it shows this value."""
    rotation = toss.rotation.copy()
    for die, own in enumerate(rotation):
        turns = (
            np.asarray(cv2.Rodrigues(axis * quarter * np.pi / 2)[0]) @ own
            for axis in level_axes(own)
            for quarter in range(4)
        )
        rotation[die] = next(turned for turned in turns if top_face(turned)[0] == value)
    return Toss(toss.position_mm, rotation, tuple(replace(die, value=value) for die in toss.dice))


@pytest.mark.parametrize("style", ["red", "blue", "green"])
def test_a_lost_pip_is_refused_where_the_other_dice_hide_that_they_are_clear(style: str) -> None:
    """Flat clear fives hide their far pips, and so does one without its middle pip."""
    cv2.setNumThreads(1)
    camera = RIG.camera("standard", 0, 0, 12)
    reader = TableReader(DieFinder(), camera.calibration)
    for toss in flat_tosses(RIG.compartments["standard"], 12, 3):
        fives, fours = showing(toss, 5), showing(toss, 4)
        lost = camera.picture(fives, style=style, flaws=lost_pip(0, 5, 0.0))
        assert not isinstance(reader.read(Frame(lost)).opinion, Verified)
        whole = reader.read(Frame(camera.picture(fours, style=style))).opinion
        assert isinstance(whole, Verified)
        assert whole.values == (4, 4, 4)
