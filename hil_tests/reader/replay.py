"""A recording of an earlier toss, changed as a box in the camera's line could change it.

Owns: the changes, and the count of recordings that the reader verifies and the memory of tosses
does not recognise. Must not know dips: a box in the line can make its recording follow the light.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Annotated

import cv2
import numpy as np
import typer

from hil_tests.reader.options import Model, Seed
from hil_tests.reader.picture_damage import with_grain
from hil_tests.reader.samples import RIG
from hil_tests.reader.tosses import flat_tosses
from shaker_ctl.reading.messages import DiePose
from shaker_ctl.reading.toss_memory import TossMemory
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.reading import DieEvidence, Verified
from vision.table.reader import TableReader

CHANGES = ("pure", "relit", "rotated", "shifted", "rotated and relit")
_SHIFT_PX = 8.0


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


def main(
    count: Annotated[int, typer.Option(min=1, help="Tries.")] = 40,
    seed: Seed = 1,
    model: Model = None,
) -> None:
    """Count recordings that would be lit; status 1 if one is, or if no new toss is."""
    camera = RIG.camera("standard", 0, 0, seed)
    reader = TableReader(DieFinder(model), camera.calibration)
    random = np.random.default_rng(seed)
    memory, told = TossMemory(), Counter[str]()
    kept = []
    for number, toss in enumerate(
        flat_tosses(RIG.compartments["standard"], seed, max(count // 5, 3))
    ):
        picture = camera.picture(toss)
        seen = reader.read(Frame(picture, 0.0, number))
        if not isinstance(seen.opinion, Verified):
            continue
        told["new tosses"] += 1
        told["new tosses, taken for a recording"] += (
            memory.seen_before(number, _poses(seen.dice)) is not None
        )
        memory.keep(number, _poses(seen.dice))
        kept.append(picture)
    if not kept:
        sys.stdout.write(f"  none of {max(count // 5, 3)} tosses is verified\n")
        raise typer.Exit(1)
    for number in range(count):
        how = CHANGES[number % len(CHANGES)]
        picture = kept[number // len(CHANGES) % len(kept)]
        seen = reader.read(
            Frame(changed(picture, how, camera.calibration.centre_px, random), 0.0, number)
        )
        if not isinstance(seen.opinion, Verified):
            result = "refused by the reader"
        elif memory.seen_before(10_000 + number, _poses(seen.dice)) is None:
            result = "LIT"
        else:
            result = "looped"
        told[f"{how}: {result}"] += 1
        told["lit"] += result == "LIT"
    for what, times in sorted(told.items()):
        sys.stdout.write(f"  {what:<40} {times:>5}\n")
    raise typer.Exit(1 if told["lit"] or told["new tosses, taken for a recording"] else 0)


def _poses(dice: tuple[DieEvidence, ...]) -> list[DiePose]:
    return [
        DiePose(die.x_mm, die.y_mm, die.turn_deg, die.second.value if die.second else None)
        for die in dice
    ]
