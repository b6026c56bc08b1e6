"""Dice that something holds up at 6° to 20°: `python -m hil_tests.reader leaning`.

Owns: seeded dice that lean on a hidden crumb, a coin, a neighbour or the wall, and the count of
what a table says of them within six frames, with the witness of contact and without it. Each result
is a line in `var/leaning`; a stopped run goes on where it was.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import typer

from hil_tests.reader.kept import digest_of, results
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import MAX_FRAMES, readers, said, told
from hil_tests.reader.samples import RIG, STEREO
from hil_tests.reader.tosses import RigCamera, Toss, flat_tosses, level_axes
from hil_tests.rig.plant.dice import CORNERS, DieAtRest, Lie, top_face
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.reading import DieEvidence, Observation
from vision.table.consensus import agree, refuse
from vision.table.reader import TableReader

SUPPORTS = ("crumb under an edge", "crumb under a corner", "coin", "neighbour", "wall")
BANDS_DEG = ((6.0, 8.0), (8.0, 12.0), (12.0, 20.0))
_COIN_MM = 10.0
"""Radius of the rig's coin; its middle is half-way to the wall, to the right."""
_POOL = 16
"""Tosses of each compartment that the cases show in turn."""
_TRIES = 400


def lean(
    toss: Toss, support: str, degrees: float, radius_mm: float, edge_mm: float,
    random: np.random.Generator,
) -> Toss | None:  # fmt: skip
    """The toss with its first die held up by `support`; None if there is no room for that here."""
    rotation, position = toss.rotation.copy(), toss.position_mm.copy()
    turn_about_z = _turned((0, 0, 1), float(random.uniform(0, 360)))
    upright = turn_about_z @ rotation[0]
    level = level_axes(upright)
    axis = level[int(random.integers(2))] * float(random.choice([-1, 1]))
    if support == "crumb under a corner":
        axis = (level[0] + level[1] * float(random.uniform(0.3, 1.0))) * random.choice([-1, 1])
        axis /= np.linalg.norm(axis)
    raised = np.cross(axis, (0, 0, -1.0))  # towards the side that goes up
    rotation[0] = _turned(axis, degrees) @ upright
    cube = CORNERS * edge_mm / 2
    corners = cube @ rotation[0].T
    position[0, 2] = -float(corners[:, 2].min())
    reach = float((corners @ raised).max())
    low = corners[corners[:, 2] < 0]
    if support == "coin":
        under = float((low @ raised).max())
        at = np.array((radius_mm / 2, 0.0)) - raised[:2] * (
            under + random.uniform(0, 0.6) * _COIN_MM
        )
    elif support == "neighbour":
        side = level_axes(rotation[1])[int(random.integers(2))] * float(random.choice([-1, 1]))
        yaw = np.degrees(np.arctan2(-side[1], -side[0]) - np.arctan2(raised[1], raised[0]))
        rotation[0] = _turned((0, 0, 1), float(yaw)) @ rotation[0]
        slide = np.cross(side, (0, 0, 1.0)) * float(random.uniform(-0.4, 0.4)) * edge_mm
        at = (position[1] + side * (edge_mm / 2 + reach + 0.05) + slide)[:2]
    elif support == "wall":
        # Both corners of the raised edge stand at the wall.
        at = raised[:2] * (float(np.sqrt((radius_mm - 0.6) ** 2 - edge_mm**2 / 4)) - reach)
    else:
        far = (radius_mm - 0.8 * edge_mm) * float(np.sqrt(random.random()))
        heading = float(random.uniform(0, 2 * np.pi))
        at = far * np.array((np.cos(heading), np.sin(heading)))
    position[0, :2] = at
    gaps = np.linalg.norm(position[1:, :2] - at, axis=1) / edge_mm
    nearest = (1.0 if support == "neighbour" else 1.45, 1.45)
    corners = cube @ rotation[0].T + position[0]
    is_inside = np.linalg.norm(corners[:, :2], axis=1).max() < radius_mm - 0.2
    if not is_inside or (gaps < nearest).any():
        return None
    value, tilt_deg = top_face(rotation[0])
    return Toss(position, rotation, (DieAtRest(value, tilt_deg, Lie.TILTED), *toss.dice[1:]))


def _turned(axis: Sequence[float] | np.ndarray, degrees: float) -> np.ndarray:
    turn, _ = cv2.Rodrigues(np.asarray(axis, float) * np.radians(degrees))
    return np.asarray(turn)


def main(
    count: Annotated[int, typer.Option(min=1, help="Cases.")] = 150,
    seed: Seed = 1,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("var/leaning"),
    stereo: Annotated[bool, typer.Option(help="Before a stereo camera.")] = False,
) -> None:
    """Count what is said of dice that something holds up; status 1 where a goal is missed."""
    finder = DieFinder(model)
    reader_of = readers(finder)
    sample = STEREO if stereo else RIG
    names = list(sample.compartments)
    tosses = cache(lambda name: flat_tosses(sample.compartments[name], seed, _POOL))
    camera_of = cache(lambda name, lens: sample.camera(name, lens, 0, seed))

    def case(number: int) -> dict[str, Any]:
        random = np.random.default_rng((seed, number))
        name = names[int(random.integers(len(names)))]
        lens = int(random.integers(len(sample.lenses)))
        camera = camera_of(name, lens)
        kind = SUPPORTS[number % len(SUPPORTS)]
        low, high = BANDS_DEG[number // len(SUPPORTS) % len(BANDS_DEG)]
        toss = _set_up(tosses(name), kind, (low, high), camera, random)
        style = list(sample.styles)[int(random.integers(len(sample.styles)))]
        row = _case(camera, reader_of(camera.calibration), toss, style, is_coin=kind == "coin")
        row |= {"kind": kind, "band": f"{low:.0f}-{high:.0f}°", "look": f"{name} {style}"}
        return row | {"lens": lens}

    name = f"leaning-{seed}{'-stereo' if stereo else ''}-{digest_of(finder)}.jsonl"
    raise typer.Exit(1 if _report(results(out / name, count, case)) else 0)


def _set_up(
    pool: Sequence[Toss], support: str, band: tuple[float, float], camera: RigCamera,
    random: np.random.Generator,
) -> Toss:  # fmt: skip
    radius_mm = camera.calibration.compartment_radius_mm
    for _ in range(_TRIES):
        toss = pool[int(random.integers(len(pool)))]
        degrees = float(random.uniform(*band))
        made = lean(toss, support, degrees, radius_mm, camera.die_mm, random)
        if made is not None:
            return made
    raise ValueError(f"no room for a die on a {support} in a compartment of {radius_mm:.0f} mm")


def _case(
    camera: RigCamera, reader: TableReader, toss: Toss, style: str, *, is_coin: bool
) -> dict[str, Any]:
    shown = camera.with_dice(style)
    pictures = [shown.picture(toss, coin=is_coin) for _ in range(MAX_FRAMES)]
    seen: list[Observation] = []
    for number, picture in enumerate(pictures):
        seen.append(reader.read(Frame(picture, number / 30, number)))
        if agree(seen) is not None:
            break
    at = toss.position_mm[0]
    die = min(seen[0].dice, key=lambda d: np.hypot(d.x_mm - at[0], d.y_mm + at[1]), default=None)
    return {
        "tilt_deg": toss.dice[0].tilt_deg,
        "said": _said(seen, toss),
        "witnesses": _odds(die),
        "frames": len(seen),
    }


def _said(seen: Sequence[Observation], toss: Toss) -> str:
    for last in range(1, len(seen) + 1):
        consensus = agree(seen[:last])
        if consensus is not None:
            word = said(consensus.verdict, toss.values)
            return "VERIFIED" if word in ("right", "WRONG") else word
    return said(refuse(seen), toss.values)


def _odds(die: DieEvidence | None) -> dict[str, float]:
    return {} if die is None else {w.name: round(w.odds, 2) for w in die.witnesses}


def _report(done: Sequence[dict[str, Any]]) -> bool:
    """Print what was said, by angle and support; True if more is verified than the goals allow."""
    is_missed = False
    for band in sorted({row["band"] for row in done}, key=lambda b: int(b.split("-")[0])):
        rows = sorted((r for r in done if r["band"] == band), key=lambda r: str(r["kind"]))
        sys.stdout.write(f"{band}\n")
        verified = told(rows, "VERIFIED")
        is_missed |= verified > (0.02 if band.startswith("6") else 0.0) * len(rows)
    return is_missed
