"""What changes in a scene after its first frame was read: `python -m hil_tests.reader confirming`.

Owns: seeded scenes of three frames. The first frame, or the first two, show three flat dice; the
others show something else: a pip more or less, another value, a hand, a coin, a fourth die, a die
that topples. The three frames together must never state values. The check of rest that a table
makes before it reads is left out. Each result is a line in `var/confirming`; a stopped run goes on
where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hil_tests.reader.kept import digest_of, results
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import said, told
from hil_tests.reader.picture_damage import disc, lay_thing
from hil_tests.reader.refusals import STYLES, Stage
from hil_tests.reader.tosses import RigCamera, Toss, flat_tosses, level_axes
from hil_tests.rig.plant.dice import DieAtRest, Lie, top_face
from hil_tests.rig.plant.geometry import GEOMETRIES
from hil_tests.rig.plant.looks import pip_places
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.reading import Verified
from vision.table.consensus import FRAMES, agree
from vision.table.reader import TableReader
from vision.table.still_scene import StillScene

_POOL = 40
_PIP_EDGES, _ACE_EDGES = 0.19, 0.54
"""Diameter of what covers a pip, and of what covers the largest ace, in edges."""
_TOPPLES_DEG = (8.0, 45.0)
_HAND = (0.6, 1.0)
_COIN_MM = (8.0, 12.0)
UNREAD = "not read before"

Change = Callable[[Stage], Callable[[], np.ndarray] | None]
"""What shows the changed scene, a picture each time; None where this toss has no room for it."""


def _pip(stage: Stage) -> Callable[[], np.ndarray] | None:
    """One place of one top face painted over: in the colour beside it, or in a pip's."""
    toss, camera, random = stage.toss, stage.camera, stage.random
    die = int(random.integers(3))
    value = toss.dice[die].value
    is_more = value < 6 and bool(random.random() < 0.5)
    # The pips of a two, three or six lie this way or that: what is the same both ways is known.
    all_places = [tuple(place) for place in np.round(pip_places(value, are_empty=is_more), 3)]
    places = [(u, v) for u, v in all_places if (-v, u) in all_places]
    if not places:
        return None
    u, v = places[int(random.integers(len(places)))]
    is_ace = value == 1 and not is_more
    level = level_axes(toss.rotation[die])
    edge = camera.die_mm
    top = toss.position_mm[die] + (0.0, 0.0, edge / 2)
    place_beside = (u / 2, v / 2) if u or v else (0.32, 0.32) if is_ace else (0.125, 0.25)
    if is_more:
        place_beside = (-v, u)  # Empty as well, and clear of a large ace.
    at, beside = (
        camera.to_px((top + edge * (x * level[0] + y * level[1]))[None])[0]
        for x, y in ((u, v), place_beside)
    )
    radius = (_ACE_EDGES if is_ace else _PIP_EDGES) / 2 * camera.calibration.die_px

    def show() -> np.ndarray:
        picture = camera.picture(toss)
        x, y = np.rint(beside).astype(int)
        ground = float(np.median(picture[y - 1 : y + 2, x - 1 : x + 2]))
        return disc(picture, at, radius, 255.0 - ground if is_more else ground, 0.7)

    return show


def _value(stage: Stage) -> Callable[[], np.ndarray]:
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


def _hand(stage: Stage) -> Callable[[], np.ndarray]:
    share = float(stage.random.uniform(*_HAND))
    return lambda: stage.camera.picture(stage.toss, hand=share)


def _coin(stage: Stage) -> Callable[[], np.ndarray] | None:
    radius = float(stage.random.uniform(*_COIN_MM))
    place, seed = stage.free_place(radius), int(stage.random.integers(2**31))
    if place is None:
        return None
    picture = stage.camera.picture
    return lambda: lay_thing(picture(stage.toss), stage.camera, "coin", place, radius, seed)


def _fourth_die(stage: Stage) -> Callable[[], np.ndarray] | None:
    four = stage.with_a_fourth()
    return None if four is None else lambda: stage.camera.picture(four)


def _topples(stage: Stage) -> Callable[[], np.ndarray]:
    degrees = float(stage.random.uniform(*_TOPPLES_DEG))
    fallen = stage.toss.tilted(degrees, stage.random, stage.camera.die_mm)
    return lambda: stage.camera.picture(fallen)


CHANGES: dict[str, Change] = {
    "a pip more or less": _pip,
    "another value": _value,
    "a hand": _hand,
    "a coin": _coin,
    "a fourth die": _fourth_die,
    "a die topples": _topples,
}


def main(
    count: Annotated[int, typer.Option(min=1, help="Cases of each kind.")] = 200,
    seed: Seed = 1,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("var/confirming"),
) -> None:
    """Count what is stated of scenes that change after a frame was read; status 1 if any is, or if
    no frame of a kind was read before."""
    geometry = GEOMETRIES["standard"]
    pool = flat_tosses(geometry, seed, _POOL)
    first = RigCamera(geometry, STYLES[0], seed)
    cameras = [first.with_dice(style) for style in STYLES]
    finder = DieFinder(model)
    reader = TableReader(finder, first.calibration)
    names = list(CHANGES)

    def case(number: int) -> dict[str, Any]:
        camera = cameras[number // len(names) % len(cameras)]
        stage = Stage(geometry, camera, pool, seed * 100_003 + number)
        return _case(reader, stage, names[number % len(names)])

    file = out / f"confirming-{seed}-{digest_of(finder)}.jsonl"
    found = results(file, count * len(names), case)
    read = {row["kind"] for row in found if row["said"] != UNREAD}
    raise typer.Exit(1 if told(found, "STATED") or read != {row["kind"] for row in found} else 0)


def _case(reader: TableReader, stage: Stage, kind: str) -> dict[str, Any]:
    while (changed := CHANGES[kind](stage)) is None:
        stage.toss = stage.other()
    unchanged = int(stage.random.integers(1, FRAMES))
    scene = StillScene(reader)
    for number in range(FRAMES):
        picture = stage.camera.picture(stage.toss) if number < unchanged else changed()
        scene.look(Frame(picture, number / 30, number))
    before, after = scene.observations[unchanged - 1 : unchanged + 1]
    consensus = agree(scene.observations)
    if consensus is not None and isinstance(consensus.verdict, Verified):
        word = "STATED"
    elif not isinstance(before.opinion, Verified):
        word = UNREAD
    else:
        is_read = isinstance(after.opinion, Verified)
        alone = "other values" if is_read else said(after.opinion, stage.toss.values)
        word = f"{alone}{', not read in full' if after.is_confirming else ''}"
    return {"kind": kind, "style": stage.camera.style, "unchanged": unchanged, "said": word}
