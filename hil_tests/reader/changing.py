"""Scenes that change after a frame was read.

Owns: seeded scenes of three frames. The first frame, or the first two, show three flat dice; the
others show something else: a pip more or less, another value, a hand, a coin, a fourth die, a die
that topples. The three frames together must never state values. The check of rest that a table
makes before it reads is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hil_tests.reader.outcomes import Said, said
from hil_tests.reader.picture_damage import disc, lay_thing
from hil_tests.reader.stage import REFUSED, Shown, Stage
from hil_tests.reader.tosses import RigCamera, Toss, level_axes
from hil_tests.rig.plant.dice import DieAtRest, Lie, top_face
from hil_tests.rig.plant.looks import pip_places
from vision.frame import Frame
from vision.reading import Verified
from vision.table.consensus import FRAMES, agree, refuse
from vision.table.still_scene import StillScene

_PIP_EDGES, _ACE_EDGES = 0.19, 0.54
"""Diameter of what covers a pip, and of what covers the largest ace, in edges."""
_TOPPLES_DEG = (8.0, 45.0)
_HAND = (0.6, 1.0)
_COIN_MM = (8.0, 12.0)
UNREAD = "not read before"

Show = Callable[[], np.ndarray]
"""Shows the changed scene, a picture each time."""


def changing(stage: Stage) -> Shown:
    """A scene that changes after its first frame, or its second."""
    names = list(CHANGES)
    name = names[stage.number % len(names)]
    changed = CHANGES[name](stage)
    unchanged = int(stage.random.integers(1, FRAMES))

    def pictures() -> Iterator[np.ndarray]:
        for number in range(FRAMES):
            yield stage.camera.picture(stage.toss) if number < unchanged else changed()

    return Shown(pictures(), stage.toss.values, REFUSED, name)


def in_all_frames(stage: Stage, shown: Shown) -> Said:
    """What the frames state together, which is none of their first dice alone."""
    scene = StillScene(stage.table.reader)
    for number, picture in enumerate(shown.pictures):
        scene.look(Frame(picture, number / 30, number))
    seen = scene.observations
    agreed = agree(seen)
    if agreed is not None:
        return {"said": said(agreed.verdict, shown.values)}
    if not isinstance(seen[0].opinion, Verified):
        return {"said": UNREAD}
    return {"said": said(refuse(seen), shown.values)}


def _pip(stage: Stage) -> Show:
    """One place of one top face painted over: in the colour beside it, or in a pip's."""
    random, places = stage.random, list[tuple[float, float]]()
    while not places:
        stage.again()
        die = int(random.integers(3))
        value = stage.toss.dice[die].value
        is_more = value < 6 and bool(random.random() < 0.5)
        places = _known_places(value, is_more)
    toss, camera = stage.toss, stage.camera
    u, v = places[int(random.integers(len(places)))]
    is_ace = value == 1 and not is_more
    level = level_axes(toss.rotation[die])
    edge = camera.die_mm
    top = toss.position_mm[die] + (0.0, 0.0, edge / 2)
    place_beside = (u / 2, v / 2) if u or v else (0.32, 0.32) if is_ace else (0.125, 0.25)
    if is_more:
        place_beside = (-v, u)  # Empty as well, and clear of a large ace.
    at_mm, beside_mm = (
        (top + edge * (x * level[0] + y * level[1]))[None] for x, y in ((u, v), place_beside)
    )
    diameter = _ACE_EDGES if is_ace else _PIP_EDGES

    def painted(picture: np.ndarray, eye: RigCamera) -> np.ndarray:
        x, y = np.rint(eye.to_px(beside_mm)[0]).astype(int)
        ground = float(np.median(picture[y - 1 : y + 2, x - 1 : x + 2]))
        grey = 255.0 - ground if is_more else ground
        return disc(picture, eye.to_px(at_mm)[0], diameter / 2 * eye.calibration.die_px, grey, 0.7)

    return lambda: camera.edited(camera.picture(toss), painted)


def _known_places(value: int, are_empty: bool) -> list[tuple[float, float]]:
    """Places of a face that it has whichever way its pips lie: those of a two, three or six lie
    this way or that."""
    places = [(float(u), float(v)) for u, v in np.round(pip_places(value, are_empty=are_empty), 3)]
    return [(u, v) for u, v in places if (-v, u) in places]


def _value(stage: Stage) -> Show:
    """One die rolled onto another face where it lies."""
    toss, die = stage.toss, int(stage.random.integers(3))
    level = level_axes(toss.rotation[die])
    axis = level[int(stage.random.integers(2))]
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    rotation = toss.rotation.copy()
    rotation[die] = (np.outer(axis, axis) + cross) @ rotation[die]
    dice = list(toss.dice)
    dice[die] = DieAtRest(*top_face(rotation[die]), Lie.FLAT)
    rolled = Toss(toss.position_mm, rotation, tuple(dice))
    return lambda: stage.camera.picture(rolled)


def _hand(stage: Stage) -> Show:
    share = float(stage.random.uniform(*_HAND))
    return lambda: stage.camera.picture(stage.toss, hand=share)


def _coin(stage: Stage) -> Show:
    radius = float(stage.random.uniform(*_COIN_MM))
    place, seed, camera = stage.free_place(radius), stage.seed(), stage.camera

    def laid(picture: np.ndarray, eye: RigCamera) -> np.ndarray:
        return lay_thing(picture, eye, "coin", place, radius, seed)

    return lambda: camera.edited(camera.picture(stage.toss), laid)


def _fourth_die(stage: Stage) -> Show:
    fourth = stage.fourth()
    four = stage.toss.plus(fourth)
    return lambda: stage.camera.picture(four)


def _topples(stage: Stage) -> Show:
    degrees = float(stage.random.uniform(*_TOPPLES_DEG))
    fallen = stage.toss.tilted(degrees, stage.random, stage.die_mm)
    return lambda: stage.camera.picture(fallen)


CHANGES: dict[str, Callable[[Stage], Show]] = {
    "a pip more or less": _pip,
    "another value": _value,
    "a hand": _hand,
    "a coin": _coin,
    "a fourth die": _fourth_die,
    "a die topples": _topples,
}
