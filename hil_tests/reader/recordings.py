"""A recording of an earlier toss, changed as a box in the camera's line could change it.

Owns: the changes, and what the memory of tosses says of them. One change puts dice of two tosses
together over the median of all. Must not know dips: a box in the line can make its recording follow
the light.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import cv2
import numpy as np

from hil_tests.reader.outcomes import MAX_FRAMES, Said, said
from hil_tests.reader.picture_damage import with_grain
from hil_tests.reader.stage import REFUSED, Shown, Stage
from hil_tests.reader.tosses import RigCamera, Toss
from shaker_ctl.reading.messages import DiePose
from shaker_ctl.reading.toss_memory import TossMemory
from vision.frame import Frame
from vision.reading import DICE, Observation, Reason, Verified
from vision.table.consensus import agree, refuse
from vision.table.still_scene import StillScene

CHANGES = ("pure", "relit", "rotated", "shifted", "rotated and relit", "put together")
EARLIER = 7
"""Tosses that the table has seen."""
TAKEN = "NEW TOSS TAKEN FOR A RECORDING"
_SHIFT_PX = 8.0
_APART = 1.8
"""Least distance of two dice, in edges, at which each can be cut out with its shadow."""


def recording(stage: Stage) -> Shown:
    """`EARLIER` tosses as they were, a picture each, and then for ever a recording of the first, or
    of two put together."""
    how = CHANGES[stage.number % len(CHANGES)]
    seen = _earlier(stage)
    while (dice := _apart(seen, stage.die_mm)) is None:
        stage.again()
        seen = _earlier(stage)
    pictures = [stage.camera.picture(toss) for toss in seen]
    is_mixed = how == "put together"
    recorded = _mixed(stage.camera, seen, pictures, dice) if is_mixed else pictures[0]
    shown = _changed(stage, recorded, how)
    again = (with_grain(shown, stage.random, 1.2) for _ in itertools.count())
    values = tuple(sorted(seen[toss].dice[die].value for toss, die in dice))
    return Shown(
        itertools.chain(pictures, again), values if is_mixed else seen[0].values, REFUSED, how
    )


def after_tosses(stage: Stage, shown: Shown) -> Said:
    """What a table says of the recording if it remembers the tosses before."""
    reader, pictures, memory = stage.table.reader, iter(shown.pictures), TossMemory()
    for number in range(EARLIER):
        seen = reader.read(Frame(next(pictures)))
        if isinstance(seen.opinion, Verified):
            if _is_known(memory, number, seen):
                return {"said": TAKEN}
            memory.keep(number, _poses(seen))
    scene = StillScene(reader)
    for number, picture in enumerate(itertools.islice(pictures, MAX_FRAMES)):
        scene.look(Frame(picture, number / 30, number))
        agreed = agree(scene.observations)
        if agreed is not None:
            if _is_known(memory, EARLIER, agreed.shown_by):
                return {"said": Reason.LOOPED.value}
            return {"said": said(agreed.verdict, shown.values)}
    return {"said": said(refuse(scene.observations), shown.values)}


def _earlier(stage: Stage) -> list[Toss]:
    seen = [stage.toss]
    while len(seen) < EARLIER:
        toss = stage.other()
        if all(toss is not other for other in seen):
            seen.append(toss)
    return seen


def _apart(seen: Sequence[Toss], edge_mm: float) -> list[tuple[int, int]] | None:
    """Two dice of the first toss and one of another that lie apart, each as toss and die."""
    for second, taken, other in itertools.product(range(1, len(seen)), range(DICE), range(DICE)):
        dice = [(0, die) for die in range(DICE) if die != taken] + [(second, other)]
        middles = np.array([seen[toss].position_mm[die, :2] for toss, die in dice])
        gaps = np.linalg.norm(middles - np.roll(middles, 1, axis=0), axis=1)
        if gaps.min() > _APART * edge_mm:
            return dice
    return None


def _mixed(
    camera: RigCamera, seen: Sequence[Toss], pictures: Sequence[np.ndarray],
    dice: Sequence[tuple[int, int]],
) -> np.ndarray:  # fmt: skip
    """The dice of several pictures over the empty floor."""
    shown = np.median(np.stack(pictures), axis=0)
    for toss, die in dice:
        top = seen[toss].position_mm[die] + (0.0, 0.0, camera.die_mm / 2)
        radius = round(_APART / 2 * camera.calibration.die_px)

        def around(
            part: np.ndarray, eye: RigCamera, top: np.ndarray = top, radius: int = radius
        ) -> np.ndarray:
            mask = np.zeros(part.shape[:2], np.float32)
            at = tuple(int(v) for v in np.rint(eye.to_px(top[None])[0]))
            cv2.circle(mask, at, radius, 1.0, -1)
            return np.asarray(cv2.GaussianBlur(mask, (0, 0), 2.0))

        mask = camera.edited(shown, around)
        shown = shown + mask[..., None] * (pictures[toss] - shown)
    return np.asarray(shown)


def _changed(stage: Stage, picture: np.ndarray, how: str) -> np.ndarray:
    """The picture as the box shows it again."""
    random = stage.random
    turn = float(random.uniform(5, 355)) if "rotated" in how else 0.0
    shift = random.uniform(-_SHIFT_PX, _SHIFT_PX, 2) if "shifted" in how else np.zeros(2)
    light = random.uniform(0.75, 1.1) if "relit" in how else 1.0

    def moved(part: np.ndarray, eye: RigCamera) -> np.ndarray:
        u, v = eye.to_px(np.zeros((1, 3)))[0]
        matrix = cv2.getRotationMatrix2D((float(u), float(v)), turn, 1.0)
        matrix[:, 2] = matrix[:, 2] + shift
        size = (part.shape[1], part.shape[0])
        return np.asarray(cv2.warpAffine(part, matrix, size, borderMode=cv2.BORDER_REPLICATE))

    shown = np.asarray(picture, np.float32)
    if turn or shift.any():
        shown = stage.camera.edited(shown, moved)
    return shown * light


def _is_known(memory: TossMemory, number: int, seen: Observation) -> bool:
    poses = _poses(seen)
    return memory.seen_before(number, poses) is not None or (
        memory.put_together(number, poses) is not None
    )


def _poses(seen: Observation) -> list[DiePose]:
    return [
        DiePose(die.x_mm, die.y_mm, die.turn_deg, die.second.value if die.second else None)
        for die in seen.dice
    ]
