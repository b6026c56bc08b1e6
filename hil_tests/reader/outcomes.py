"""What a table says of pictures, beside the truth: in one word."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from hil_tests.reader.stage import REFUSED, Shown, Stage
from shaker_ctl.reading.stream import FROZEN_FRAMES, LOOPED_FRAMES, StreamMemory
from vision.findings import Findings
from vision.frame import Frame, digest
from vision.reading import NoRoll, Reason, Unreadable, Verdict, Verified
from vision.table.consensus import FRAMES, agree, refuse
from vision.table.motion import StillnessDetector
from vision.table.reader import TableReader
from vision.table.still_scene import StillScene

MAX_FRAMES = 6
RIGHT, WRONG, NO_ROLL = "right", "WRONG", "no roll"
STATED = (RIGHT, WRONG)
TOGETHER = "both readers wrong alike"

FALSE: dict[str, tuple[str, ...]] = {
    "flat": (WRONG, NO_ROLL),
    "not flat": STATED,
    "between": (WRONG,),
    REFUSED: STATED,
}
"""What must not be said of what is true."""

Said = dict[str, str]
"""`said`: the word; of dice at rest also `alone`: how both readers do in the first frame."""


def said(verdict: Verdict, values: tuple[int, ...]) -> str:
    """One word for a verdict; `values` are the true ones, in growing order."""
    if isinstance(verdict, Verified):
        return RIGHT if tuple(sorted(verdict.values)) == values else WRONG
    return NO_ROLL if isinstance(verdict, NoRoll) else verdict.reason.value


def at_rest(stage: Stage, shown: Shown) -> Said:
    """Of dice that lie still, from at most `MAX_FRAMES` frames."""
    first, verdict = read_still(stage.table.reader, itertools.islice(shown.pictures, MAX_FRAMES))
    return {"said": said(verdict, shown.values), "alone": _alone(first, shown.values)}


def read_still(reader: TableReader, pictures: Iterable[np.ndarray]) -> tuple[Findings, Verdict]:
    """Read pictures of dice at rest, in order, until enough in a row agree.

    Returns what was found on the first, and the verdict: a refusal if no frames agree.
    """
    scene = StillScene(reader)
    found = []
    for number, picture in enumerate(pictures):
        found.append(scene.look(Frame(picture, number / 30, number)))
        consensus = agree(scene.observations)
        if consensus is not None:
            return found[0], consensus.verdict
    return found[0], refuse(scene.observations)


def _alone(first: Findings, values: tuple[int, ...]) -> str:
    """How both readers do, each alone."""
    model = tuple(sorted(die.value for die in first.model))
    dice = () if first.second is None else first.second.dice
    second = tuple(sorted(die.value or 0 for die in dice))
    if model == second != values and len(model) == len(values):
        return TOGETHER
    words = ("model" * (model != values), "second" * (second != values))
    return " and ".join(filter(None, words)) or "both right"


def streamed(stage: Stage, shown: Shown) -> Said:
    """Of a stream whose end is its last picture, as the camera process judges one: its state first,
    then what it shows at rest. Without the dip of the light and without the proof of the toss, so
    that nothing is refused for another reason than the pictures."""
    return {"said": said(judge(stage.table.reader, shown.pictures), shown.values)}


def judge(reader: TableReader, pictures: Iterable[np.ndarray]) -> Verdict:
    """What a table says of a stream of pictures."""
    memory, watch = StreamMemory(), StillnessDetector(reader.calibration)
    before: np.ndarray | None = None
    scene, rested = StillScene(reader), False
    verdict: Verdict | None = None
    for number, picture in enumerate(pictures):
        repeated, looped = memory.take(digest(picture))
        if repeated >= FROZEN_FRAMES:
            return Unreadable(Reason.FROZEN, f"the same picture {repeated} times")
        if looped >= LOOPED_FRAMES:
            return Unreadable(Reason.LOOPED, "pictures that had been seen before came again")
        now = watch.thumbnail(picture)
        if before is not None and watch.has_moved(before, now):
            scene, verdict = StillScene(reader), None
        elif before is not None:
            rested = True
        before = now
        if repeated == 0 and verdict is None and number < 2 * (FRAMES + 1):
            scene.look(Frame(picture, number / 30, number))
            agreed = agree(scene.observations)
            verdict = None if agreed is None else agreed.verdict
    if verdict is not None:
        return verdict
    # Fewer pictures at rest than a consensus needs: it never was long enough at rest.
    if not rested or len(scene.observations) < FRAMES:
        return Unreadable(Reason.MOVING, "no rest")
    return refuse(scene.observations)
