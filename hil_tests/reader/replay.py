"""A recording of an earlier toss, changed as a box in the camera's line could change it.

Owns: the changes, and the count of recordings that the reader verifies and the memory of tosses
does not recognise. One change puts dice of two tosses together over the median of all. Must not
know dips: a box in the line can make its recording follow the light.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import cv2
import numpy as np
import typer

from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import told
from hil_tests.reader.picture_damage import with_grain
from hil_tests.reader.samples import RIG
from hil_tests.reader.tosses import flat_tosses
from shaker_ctl.reading.messages import DiePose
from shaker_ctl.reading.toss_memory import TossMemory
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.reading import DICE, DieEvidence, Verified
from vision.table.reader import TableReader

CHANGES = ("pure", "relit", "rotated", "shifted", "rotated and relit", "put together")
_SHIFT_PX = 8.0
_APART = 1.8
"""Least distance of two dice, in edges, at which each can be cut out with its shadow."""


def changed(picture: np.ndarray, how: str, centre: tuple[float, float], random: np.random.Generator
            ) -> np.ndarray:  # fmt: skip
    """A picture of the recording as it is shown again, with fresh grain."""
    shown = np.asarray(picture, np.float32)
    turn = float(random.uniform(5, 355)) if "rotated" in how else 0.0
    matrix = cv2.getRotationMatrix2D(centre, turn, 1.0)
    if "shifted" in how:
        matrix[:, 2] = matrix[:, 2] + random.uniform(-_SHIFT_PX, _SHIFT_PX, 2)
    if "rotated" in how or "shifted" in how:
        size = (picture.shape[1], picture.shape[0])
        shown = np.asarray(cv2.warpAffine(shown, matrix, size, borderMode=cv2.BORDER_REPLICATE))
    if "relit" in how:
        shown = shown * random.uniform(0.75, 1.1)
    return with_grain(shown, random, 1.2)


def put_together(
    pictures: Sequence[np.ndarray], places: Sequence[np.ndarray], first: int, edge_px: float
) -> np.ndarray | None:
    """Two dice of one picture and one of another over the empty floor, where such dice lie apart;
    `places`: (3, 2) pixels, the middles of each picture's dice."""
    floor = np.median(np.stack(pictures), axis=0)
    for second in range(len(pictures)):
        for taken in range(DICE if second != first else 0):
            kept = [k for k in range(DICE) if k != taken]
            for other in range(DICE):
                dice = [(first, kept[0]), (first, kept[1]), (second, other)]
                middles = np.array([places[picture][die] for picture, die in dice])
                gaps = np.linalg.norm(middles - np.roll(middles, 1, axis=0), axis=1)
                if gaps.min() < _APART * edge_px:
                    continue
                shown = floor
                for (picture, _), middle in zip(dice, middles, strict=True):
                    mask = np.zeros(floor.shape[:2], np.float32)
                    at = tuple(int(v) for v in np.rint(middle))
                    cv2.circle(mask, at, round(_APART / 2 * edge_px), 1.0, -1)
                    mask = np.asarray(cv2.GaussianBlur(mask, (0, 0), 2.0))
                    shown = shown + mask[..., None] * (pictures[picture] - shown)
                return np.asarray(shown)
    return None


def main(
    count: Annotated[int, typer.Option(min=1, help="Tries.")] = 40,
    seed: Seed = 1,
    model: Model = None,
) -> None:
    """Count recordings that would be lit; status 1 if one is, or if no new toss is."""
    camera = RIG.camera("standard", 0, 0, seed)
    reader = TableReader(DieFinder(model), camera.calibration)
    random = np.random.default_rng(seed)
    memory, new, rows = TossMemory(), list[dict[str, str]](), list[dict[str, str]]()
    kept, places = [], []
    for number, toss in enumerate(
        flat_tosses(RIG.compartments["standard"], seed, max(count // 5, 3))
    ):
        picture = camera.picture(toss)
        seen = reader.read(Frame(picture, 0.0, number))
        if not isinstance(seen.opinion, Verified):
            continue
        is_known = _is_known(memory, number, _poses(seen.dice))
        new.append({"kind": "a new toss", "said": "TAKEN FOR A RECORDING" if is_known else "new"})
        memory.keep(number, _poses(seen.dice))
        kept.append(picture)
        places.append(np.array([np.mean(die.corners, axis=0) for die in seen.dice]))
    if not kept:
        sys.stdout.write(f"  none of {max(count // 5, 3)} tosses is verified\n")
        raise typer.Exit(1)
    for number in range(count):
        how = CHANGES[number % len(CHANGES)]
        picture = kept[number // len(CHANGES) % len(kept)]
        if how == "put together":
            mixed = put_together(
                kept, places, number // len(CHANGES) % len(kept), camera.calibration.die_px
            )
            if mixed is None:
                rows.append({"kind": how, "said": "no dice lie apart"})
                continue
            picture = mixed
        shown = changed(picture, how, camera.calibration.centre_px, random)
        seen = reader.read(Frame(shown, 0.0, number))
        if not isinstance(seen.opinion, Verified):
            result = "refused by the reader"
        elif not _is_known(memory, 10_000 + number, _poses(seen.dice)):
            result = "LIT"
        else:
            result = "looped"
        rows.append({"kind": how, "said": result})
    is_wrong = [told(new, "TAKEN FOR A RECORDING"), told(rows, "LIT")] != [0, 0]
    raise typer.Exit(1 if is_wrong else 0)


def _is_known(memory: TossMemory, number: int, poses: list[DiePose]) -> bool:
    return memory.seen_before(number, poses) is not None or (
        memory.put_together(number, poses) is not None
    )


def _poses(dice: tuple[DieEvidence, ...]) -> list[DiePose]:
    return [
        DiePose(die.x_mm, die.y_mm, die.turn_deg, die.second.value if die.second else None)
        for die in dice
    ]
