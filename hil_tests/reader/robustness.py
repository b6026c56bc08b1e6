"""How much worse pictures may get: `python -m hil_tests.reader robustness`.

Owns: sweeps of contrast, blur, noise, glare, scale, rotation, camera tilt and die tilt over the
rig's pictures, and their counts (also of each reader alone, and of both wrong together). Must not
know how the reader works. Single frames, so what is accepted here needs three of its kind at a
table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

import cv2
import numpy as np
import typer

from hil_tests.reader.cases import Case, toss_case
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import Outcome, examine
from hil_tests.reader.picture_damage import with_grain
from hil_tests.reader.tosses import RigCamera, Toss, flat_tosses
from hil_tests.rig.camera.optics import Lens
from hil_tests.rig.plant.geometry import GEOMETRIES
from vision.networks.classifier import DieFinder
from vision.table.reader import TableReader

STYLES = ("white", "red", "asian")
SCALE = "scale: a die's edge, pixels"
CAMERA_TILT = "camera tilt, degrees"
DIE_TILT = "tilt of one die, degrees"

Spoil = Callable[[np.ndarray, float, np.random.Generator], np.ndarray]


COUNTED: tuple[tuple[str, Callable[[Outcome], bool]], ...] = (
    ("pictures", lambda _: True),
    ("model", lambda o: o.model == "right"),
    ("(wrong)", lambda o: o.model == "wrong"),
    ("second", lambda o: o.second == "right"),
    ("(wrong)", lambda o: o.second == "wrong"),
    ("both wrong", lambda o: o.same_error),
    ("accepted", lambda o: o.said in ("right", "WRONG")),
    ("(wrong)", lambda o: o.wrongly_accepted),
    ("no roll", lambda o: o.said == "no roll"),
)
"""What is counted at each level: of each reader alone three true values, or three of which one is
not true; of both wrong, with the same values; of what is accepted, not the true values or a die
that lies at 6° or more."""


def contrast(picture: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    mean = float(picture.mean())
    return with_grain((picture.astype(np.float32) - mean) * share + mean, random, 2.0)


def blur(picture: np.ndarray, sigma: float, random: np.random.Generator) -> np.ndarray:
    soft = cv2.GaussianBlur(picture, (0, 0), sigma) if sigma > 0 else picture
    return with_grain(soft, random, 2.0)


def noise(picture: np.ndarray, sigma: float, random: np.random.Generator) -> np.ndarray:
    return with_grain(picture, random, sigma)


def glare(picture: np.ndarray, strength: float, random: np.random.Generator) -> np.ndarray:
    """A window's reflection on the dome, over a quarter of the compartment."""
    layer: np.ndarray = np.zeros(picture.shape[:2], np.float32)
    x, y = random.uniform(200, 440), random.uniform(120, 360)
    box = cv2.boxPoints(((float(x), float(y)), (150.0, 110.0), float(random.uniform(0, 90))))
    cv2.fillConvexPoly(layer, box.astype(np.int32), 1.0)
    layer = np.asarray(cv2.GaussianBlur(layer, (0, 0), 5.0))
    return with_grain(picture + 255 * strength * layer[..., None], random, 2.0)


def turned(picture: np.ndarray, degrees: float, random: np.random.Generator) -> np.ndarray:
    """The picture turned about the camera's axis."""
    matrix = cv2.getRotationMatrix2D(Lens().centre_px, degrees, 1.0)
    size = (picture.shape[1], picture.shape[0])
    return np.asarray(cv2.warpAffine(picture, matrix, size, borderMode=cv2.BORDER_REPLICATE))


def camera_tilted(picture: np.ndarray, degrees: float, random: np.random.Generator) -> np.ndarray:
    """The picture of a camera that was moved so far along an arc about the compartment."""
    lens = Lens()
    turn, heading = np.radians(degrees), random.uniform(0, 2 * np.pi)
    axis = np.array([np.cos(heading), np.sin(heading), 0.0]) * turn
    u, v = lens.centre_px
    rotation, _ = cv2.Rodrigues(axis)
    k = np.array([[lens.focal_px, 0, u], [0, lens.focal_px, v], [0, 0, 1.0]])
    corners = np.array([[-60, -60, 0], [60, -60, 0], [60, 60, 0], [-60, 60, 0.0]])
    away = corners @ np.asarray(rotation).T + np.array([0, 0, lens.height_mm])
    seen = away @ k.T
    flat = (corners + np.array([0, 0, lens.height_mm])) @ k.T
    matrix = cv2.getPerspectiveTransform(
        (flat[:, :2] / flat[:, 2:]).astype(np.float32),
        (seen[:, :2] / seen[:, 2:]).astype(np.float32),
    )
    size = (picture.shape[1], picture.shape[0])
    return np.asarray(cv2.warpPerspective(picture, matrix, size, borderMode=cv2.BORDER_REPLICATE))


SWEEPS: dict[str, tuple[Spoil | None, tuple[float, ...]]] = {
    "contrast": (contrast, (1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.1)),
    "blur, sigma in pixels": (blur, (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0)),
    "noise, sigma in grey levels": (noise, (2.0, 6.0, 12.0, 20.0, 30.0, 45.0)),
    "glare, share of white": (glare, (0.0, 0.1, 0.2, 0.35, 0.5, 0.7)),
    SCALE: (None, (24.0, 32.0, 40.0, 50.0, 74.0, 100.0, 140.0)),
    "rotation, degrees": (turned, tuple(float(d) for d in range(0, 90, 5))),
    CAMERA_TILT: (camera_tilted, (0.0, 1.0, 2.0, 3.0, 5.0, 8.0)),
    DIE_TILT: (None, (0, 2, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45)),
}


def cases(
    sweep: str,
    level: float,
    cameras: Sequence[RigCamera],
    pool: Sequence[Toss],
    count: int,
    seed: int,
) -> Iterator[Case]:
    """Yield one level's cases. Every level has the same tosses."""
    random = np.random.default_rng(seed)
    spoil = SWEEPS[sweep][0]
    for number in range(count):
        camera, toss = cameras[number % len(cameras)], pool[number % len(pool)]
        if sweep == DIE_TILT:
            toss = toss.tilted(level, random, camera.die_mm)
        picture = camera.picture(toss)
        if spoil is not None:
            picture = spoil(picture, level, random)
        yield toss_case(number, camera, toss, partial(np.copy, picture))


def run(
    finder: DieFinder, count: int, seed: int, only: Sequence[str] | None = None
) -> Iterator[tuple[str, float, list[Outcome]]]:
    """What became of the pictures of every sweep, level by level."""
    geometry = GEOMETRIES["standard"]
    pool = flat_tosses(geometry, seed, count)
    first = RigCamera(geometry, STYLES[0], seed)
    usual = [first.with_dice(style) for style in STYLES]
    reader = TableReader(finder, usual[0].calibration)
    for sweep, (_, levels) in SWEEPS.items():
        if only and sweep not in only:
            continue
        for level in levels:
            cameras, judge = usual, reader
            if sweep == SCALE:
                # Farther away, with the same lens: the compartment becomes smaller as well.
                # A printed card cannot be read in the smallest: scaled like the lens.
                times = level / usual[0].calibration.die_px
                scale = Lens().floor_px_per_mm * times
                height = Lens().height_mm / min(1.0, times)
                lens = replace(Lens(), floor_px_per_mm=scale, height_mm=height)
                seen = usual[0].calibration
                measured = replace(seen, floor_px_per_mm=scale, height_mm=height)
                first = RigCamera(geometry, STYLES[0], seed, lens, calibration=measured)
                cameras = [first.with_dice(style) for style in STYLES[:2]]
                judge = TableReader(finder, cameras[0].calibration)
            shown = cases(sweep, level, cameras, pool, count, seed)
            yield sweep, level, [examine(judge, case) for case in shown]


def main(
    count: Annotated[int, typer.Option(min=1, help="Pictures at each level.")] = 12,
    seed: Seed = 4,
    sweep: Annotated[list[str] | None, typer.Option(help="Only these sweeps.")] = None,
    model: Model = None,
) -> None:
    """Spoil pictures step by step and count; status 1 if anything wrong was accepted."""
    for name in sweep or ():
        if name not in SWEEPS:
            raise typer.BadParameter(f"no sweep {name!r}; there are: {', '.join(SWEEPS)}")
    is_wrong, shown = False, ""
    for name, level, seen in run(DieFinder(model), count, seed, sweep):
        if name != shown:
            sys.stdout.write(f"{name}\n   level{''.join(f'  {title}' for title, _ in COUNTED)}\n")
            shown = name
        counts = [f"{sum(map(is_one, seen)):{len(title) + 2}}" for title, is_one in COUNTED]
        sys.stdout.write(f"{level:8.2f}{''.join(counts)}\n")
        sys.stdout.flush()
        is_wrong |= any(outcome.wrongly_accepted for outcome in seen)
    raise typer.Exit(1 if is_wrong else 0)
