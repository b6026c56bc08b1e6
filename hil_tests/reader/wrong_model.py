"""A first network that is wrong on purpose.

Owns: the ways in which it may err, done to the real one's findings. Caught is a reading that states
no values. A wrong finding is stated with full confidence: the second reader and the height must do
it alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hil_tests.reader.outcomes import Said, said
from hil_tests.reader.stage import REFUSED, Shown, Stage
from vision.calibration import Calibration
from vision.frame import Frame
from vision.networks.classifier import FoundDie
from vision.networks.near_look import NearReader
from vision.reading import DICE
from vision.table.model_view import ModelView
from vision.table.reader import Finder, TableReader

Found = list[FoundDie]
Lie = Callable[[Found, Calibration, np.random.Generator], Found | None]
"""What a wrong model says instead; None where it has nothing to be wrong about."""


def sure(die: FoundDie, value: int) -> FoundDie:
    """The die with another value, stated with full confidence."""
    value_p = np.full(6, 0.001, np.float32)
    value_p[value - 1] = 0.995
    return replace(die, value=value, value_p=value_p)


def _other_value(found: Found, _: Calibration, random: np.random.Generator) -> Found | None:
    """One die with another value."""
    if not found:
        return None
    which = int(random.integers(len(found)))
    value = (found[which].value - 1 + int(random.integers(1, 6))) % 6 + 1
    return [*found[:which], sure(found[which], value), *found[which + 1 :]]


def _swapped(found: Found, _: Calibration, random: np.random.Generator) -> Found | None:
    """Two dice have each other's values: the triple is the same, its places are not."""
    pairs = [(a, b) for a, b in itertools.combinations(range(len(found)), 2)
             if found[a].value != found[b].value]  # fmt: skip
    if not pairs:
        return None
    a, b = pairs[int(random.integers(len(pairs)))]
    swapped = list(found)
    swapped[a], swapped[b] = sure(found[a], found[b].value), sure(found[b], found[a].value)
    return swapped


def _missed(found: Found, _: Calibration, random: np.random.Generator) -> Found | None:
    """One die is not seen."""
    gone = int(random.integers(len(found)))
    return [die for i, die in enumerate(found) if i != gone]


def _away_from(found: Found, calibration: Calibration, random: np.random.Generator) -> np.ndarray:
    """(2,) pixels: a place on the floor where no die is."""
    while True:
        turn = random.uniform(0, 2 * np.pi)
        reach = (calibration.compartment_radius_mm - 9) * np.sqrt(random.random())
        place = np.array([[reach * np.cos(turn), reach * np.sin(turn), calibration.die_mm]])
        px = calibration.to_px(place)[0]
        if all(np.hypot(*(px - die.centre)) > 1.2 * calibration.die_px for die in found):
            return np.asarray(px)


def _moved(die: FoundDie, by: np.ndarray) -> FoundDie:
    return replace(die, corners=(die.corners + by).astype(np.float32))


def _reflection(found: Found, calibration: Calibration, random: np.random.Generator) -> Found:
    """One die is not seen, and a box lies on a reflection instead: still three."""
    which = int(random.integers(len(found)))
    place = _away_from(found, calibration, random)
    ghost = sure(_moved(found[which], place - found[which].centre), int(random.integers(1, 7)))
    return [*found[:which], ghost, *found[which + 1 :]]


def _extra(found: Found, calibration: Calibration, random: np.random.Generator) -> Found:
    """A fourth die where there is none."""
    ghost = found[int(random.integers(len(found)))]
    return [*found, _moved(ghost, _away_from(found, calibration, random) - ghost.centre)]


def _side_face(found: Found, calibration: Calibration, random: np.random.Generator) -> Found:
    """The box lies half beside the die, with the value of its side face."""
    which = int(random.integers(len(found)))
    die = found[which]
    turn = random.uniform(0, 2 * np.pi)
    by = random.uniform(0.35, 0.6) * calibration.die_px * np.array([np.cos(turn), np.sin(turn)])
    value = die.value % 6 + 1
    return [*found[:which], sure(_moved(die, by), value), *found[which + 1 :]]


def _shifted(found: Found, calibration: Calibration, random: np.random.Generator) -> Found:
    """The corners of one die are off by half an edge or more; its value is right."""
    which = int(random.integers(len(found)))
    turn = random.uniform(0, 2 * np.pi)
    by = random.uniform(0.5, 0.8) * calibration.die_px * np.array([np.cos(turn), np.sin(turn)])
    return [*found[:which], _moved(found[which], by), *found[which + 1 :]]


def says_flat(found: Found, calibration: Calibration, random: np.random.Generator) -> Found:
    """Every die looks flat and upright, also one that leans: what the picture of it is."""
    upright = []
    for die in found:
        place = calibration.to_mm(die.centre, calibration.die_mm)[0]
        below = calibration.to_px(np.array([(place[0], place[1], 0.0)]))[0]
        upright.append(replace(die, flat_p=0.99, down=(below - die.centre).astype(np.float32)))
    return upright


LIES: dict[str, Lie] = {
    "another value": _other_value,
    "two values swapped": _swapped,
    "a die missed": _missed,
    "a box on a reflection": _reflection,
    "an extra die": _extra,
    "a side face read": _side_face,
    "shifted corners": _shifted,
}
LEANING = "a leaning die called flat"
LEANING_BOTH = "the same, also by the near look"
"""On pictures in which one die leans by 8° to 30°."""
NOTHING = "nothing to be wrong about"
CELLS = (*LIES, LEANING, LEANING_BOTH)


def wrong_network(stage: Stage) -> Shown:
    """A picture of which the first network says something false."""
    name = CELLS[stage.number % len(CELLS)]
    toss = stage.toss
    if name not in LIES:
        toss = toss.tilted(float(stage.random.uniform(8, 30)), stage.random, stage.die_mm)
    return Shown(stage.shots(toss), toss.values, REFUSED, name)


def deceived(stage: Stage, shown: Shown) -> Said:
    """What the rest of the reader says of the first picture."""
    table = stage.table
    wrong = WrongModel(
        table.finder, table.calibration, LIES.get(shown.cell, says_flat), stage.seed(),
        is_alone=shown.cell == LEANING_BOTH,
    )  # fmt: skip
    reader = TableReader(wrong, table.calibration, teaching=table.teaching)
    opinion = reader.read(Frame(next(iter(shown.pictures)))).opinion
    return {"said": said(opinion, shown.values) if wrong.has_lied else NOTHING}


class WrongModel:
    """A finder that lies about what the real one found. The near look is another network: it says
    what it sees, unless `is_alone`, which leaves it out as if it said the same."""

    def __init__(
        self, finder: Finder, calibration: Calibration, lie: Lie, seed: int, *, is_alone: bool
    ) -> None:
        self._finder, self._calibration, self._lie = finder, calibration, lie
        self.near: NearReader | None = None if is_alone else getattr(finder, "near", None)
        self._random = np.random.default_rng(seed)
        self._view = ModelView(calibration)
        self.has_lied = False

    def find(self, image: np.ndarray) -> Sequence[FoundDie]:
        """What the real model found, wrong in one way; nothing in a window around a single die, so
        that the lie stays."""
        if image.shape[1::-1] != self._view.size:
            return []
        # A glint that the model takes for a fourth die is dropped later: a lie about it is none.
        best = sorted(self._finder.find(image), key=lambda die: -die.score)[:DICE]
        found = [self._view.to_frame(die) for die in best]
        told = self._lie(found, self._calibration, self._random) if found else None
        self.has_lied = told is not None
        return [self._view.from_frame(die) for die in (found if told is None else told)]
