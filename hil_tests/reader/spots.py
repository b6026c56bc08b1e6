"""Flat dice with something on top of them, or with a pip that has lost its paint."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from hil_tests.reader.cases import Case
from hil_tests.reader.picture_damage import disc, lay_thing, with_grain
from hil_tests.reader.stage import Shown, Stage
from hil_tests.reader.tosses import RigCamera
from hil_tests.rig.fault_set import Active
from hil_tests.rig.plant.looks import pip_places
from vision.calibration import Calibration

PLACES = ("centre", "empty place", "pip", "random", "dome")
SHADES = {"dark": (5.0, 70.0), "bright": (190.0, 255.0)}
SIZES_MM = {"smaller": (0.3, 1.3), "as a pip": (1.3, 2.0)}
"""From the radius between them on a disc covers a pip of the rig's dice, or passes for one."""
LEFT = (0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
"""How much of a pip is left. A person sees from 0.3 down at once that it is paler."""
WORN = (3, 5)
"""Faces that become another legal face without their middle pip."""
_SMEARED = (1, 3, 5)
_SMEAR_MM = (1.5, 5.0)
_SOFT_PX = (0.5, 1.0, 1.5, 3.0, 5.0)
_DOME_MM = 60.0
"""Height of the dome over the floor, where two lenses see it at different places."""
_DOME_REACH_MM = 30.0
_SCATTER_MM = 0.1


def speck(stage: Stage) -> Shown:
    """A dark or bright disc, sharp or soft, on a die or on the dome over them."""
    random, case, calibration = stage.random, stage.case, stage.table.calibration
    cells = list(itertools.product(PLACES, SHADES, SIZES_MM))
    place, shade, size = cells[stage.number % len(cells)]
    at_px = seen_at(place_mm(place, case, calibration.die_mm, random), calibration)
    radius_px = random.uniform(*SIZES_MM[size]) * calibration.px_per_mm(calibration.die_mm)
    grey, soft_px = random.uniform(*SHADES[shade]), float(random.choice(_SOFT_PX))

    def pictures() -> Iterator[np.ndarray]:
        while True:
            picture = case.shoot()
            for at in at_px:
                picture = disc(picture, at, radius_px, grey, soft_px)
            yield with_grain(picture, random, 1.0)

    dice = "clear" if _is_clear(stage) else "opaque"
    return Shown(pictures(), case.values, "flat", ", ".join((place, shade, size, dice)))


def place_mm(kind: str, case: Case, die_mm: float, random: np.random.Generator) -> np.ndarray:
    """(3,) mm in the calibration's axes: where a disc lies, on the top face of one die or on the
    dome."""
    if kind == "dome":
        reach, turn = _DOME_REACH_MM * np.sqrt(random.random()), random.uniform(0, 2 * np.pi)
        return np.array([reach * np.cos(turn), reach * np.sin(turn), _DOME_MM])
    die = int(random.integers(3))
    a, b, c, d = case.tops_mm[die]
    u, v = place_on_face(kind, case.faces[die], random)
    x, y = np.array([u, v]) + random.normal(0, _SCATTER_MM, 2) / die_mm + 0.5
    at = (1 - y) * ((1 - x) * a + x * b) + y * ((1 - x) * d + x * c)
    return np.array([*at, die_mm])


def place_on_face(kind: str, value: int, random: np.random.Generator) -> tuple[float, float]:
    """Where a disc lies on a top face that shows `value`, in edges from its middle."""
    if kind == "random":
        u, v = random.uniform(-0.5, 0.5, 2)
        return float(u), float(v)
    if kind == "centre":
        return 0.0, 0.0
    places = pip_places(value, are_empty=kind == "empty place")
    return places[int(random.integers(len(places)))]


def seen_at(point_mm: np.ndarray, calibration: Calibration) -> np.ndarray:
    """(N, 2) pixels of the whole picture: where each of the lenses shows a point (3,)."""
    places = [calibration.to_px(point_mm[None])[0]]
    if calibration.right is not None:
        right = calibration.right.to_px(point_mm[None])[0]
        places.append(right + np.array((calibration.image_size[0], 0)))
    return np.array(places)


def _is_clear(stage: Stage) -> bool:
    camera = stage.table.camera
    return "translucent" in stage.table.name if camera is None else camera.look.glow is not None


def lost_pip(stage: Stage) -> Shown:
    """A three or a five that has so much of its middle pip left."""
    die = _with_face(stage, WORN)
    left = LEFT[stage.number % len(LEFT)]
    pictures = stage.shots(flaws=flaw(die, stage.toss.dice[die].value, left))
    dice = "clear" if _is_clear(stage) else "opaque"
    return Shown(pictures, stage.toss.values, "flat", f"{dice}, {left:.0%} left")


def flaw(die: int, face: int, left: float) -> Active:
    """The flaw of a die, counted from 0, whose face has so much of its middle pip left."""
    return {"pip_lost": {"die": die + 1, "face": face, "left": left}}


def smeared(stage: Stage) -> Shown:
    """A greasy smear over the middle pip of one die."""
    die = _with_face(stage, _SMEARED)
    value, at = stage.toss.dice[die].value, stage.toss.position_mm[die, :2]
    radius, seed = float(stage.random.uniform(*_SMEAR_MM)), stage.seed()

    def smear(picture: np.ndarray, eye: RigCamera) -> np.ndarray:
        return lay_thing(picture, eye, "smear", at, radius, seed)

    pictures = (stage.camera.edited(picture, smear) for picture in stage.shots())
    return Shown(pictures, stage.toss.values, "flat", f"of a {value}")


def _with_face(stage: Stage, faces: tuple[int, ...]) -> int:
    """A die of the toss that shows one of these faces; takes another toss if none does."""
    while not set(faces) & set(stage.toss.values):
        stage.again()
    return int(stage.random.choice([i for i in range(3) if stage.toss.dice[i].value in faces]))
