"""What must be refused, and for which reason: `python -m hil_tests.reader refusals`.

Owns: seeded cases of everything that is no three readable dice, made from the rig's tosses and its
camera, and the table of what was accepted and of which reasons were given. Must not know how the
reader works: it judges a short stream of pictures as the camera process does
(`shaker_ctl.reading.stream`, `vision.table.motion`, `vision.table.consensus`), but without the dip
of the light and without the proof of the toss, so that nothing is refused here for another reason
than the picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import typer

from hil_tests.reader.kept import digest_of, results
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import told
from hil_tests.reader.picture_damage import (
    cloth,
    lay_thing,
    over_expose,
    paint_faces,
    repaint_pips,
    smear,
    with_grain,
)
from hil_tests.reader.tosses import RigCamera, Toss, flat_tosses, level_axes
from hil_tests.rig.plant.geometry import GEOMETRIES, Geometry
from shaker_ctl.reading.stream import FROZEN_FRAMES, LOOPED_FRAMES, StreamMemory
from vision.frame import Frame, digest
from vision.networks.classifier import DieFinder
from vision.reading import Reason, Unreadable, Verdict, Verified
from vision.table import consensus
from vision.table.motion import StillnessDetector
from vision.table.reader import TableReader
from vision.table.still_scene import StillScene

FRAMES = consensus.FRAMES + 1
"""Pictures of a case that does not move: one more than a consensus needs."""
STYLES = ("white", "red", "asian", "ivory", "blue")

Frames = list[np.ndarray]
Maker = Callable[["Stage"], Frames]


class Stage:
    """Tosses, a camera and chance for one case."""

    def __init__(self, geometry: Geometry, camera: RigCamera, pool: Sequence[Toss], seed: int):
        self.geometry, self.camera, self.pool = geometry, camera, pool
        self.random = np.random.default_rng(seed)
        self.toss = pool[int(self.random.integers(len(pool)))]

    def shots(self, toss: Toss | None = None, count: int = FRAMES, light: float = 1.0) -> Frames:
        """Pictures of a toss, each with its own grain."""
        return [self.camera.picture(toss or self.toss, light) for _ in range(count)]

    def other(self) -> Toss:
        """Another toss of the pool."""
        while True:
            toss = self.pool[int(self.random.integers(len(self.pool)))]
            if toss is not self.toss:
                return toss

    def with_a_fourth(self) -> Toss | None:
        """The toss and a die of another one; None if that one's dice have no room here."""
        other = self.other()
        for die in range(3):
            gaps = self.toss.position_mm[:, :2] - other.position_mm[die, :2]
            if np.linalg.norm(gaps, axis=1).min() > 1.45 * self.geometry.die_mm:
                return self.toss.plus(other.only([die]))
        return None

    def free_place(self, radius_mm: float) -> np.ndarray | None:
        """(2,) mm, x right and y up: where a thing of that radius fits between the dice."""
        for _ in range(200):
            turn = self.random.uniform(0, 2 * np.pi)
            reach = (self.geometry.radius_mm - radius_mm - 1) * np.sqrt(self.random.random())
            place = reach * np.array([np.cos(turn), np.sin(turn)])
            gap = np.linalg.norm(self.toss.position_mm[:, :2] - place, axis=1).min()
            if gap > radius_mm + 0.75 * self.geometry.die_mm:
                return place
        return None


def _two_dice(stage: Stage) -> Frames:
    keep = stage.random.permutation(3)[:2].tolist()
    return stage.shots(stage.toss.only(keep))


def _four_dice(stage: Stage) -> Frames:
    while (four := stage.with_a_fourth()) is None:
        stage.toss = stage.other()
    return stage.shots(four)


def _thing(kind: str, radii_mm: tuple[float, float]) -> Maker:
    def make(stage: Stage) -> Frames:
        while True:
            radius = float(stage.random.uniform(*radii_mm))
            place = stage.free_place(radius)
            if place is not None:
                break
            stage.toss = stage.other()
        seed = int(stage.random.integers(2**31))
        return [
            lay_thing(picture, stage.camera, kind, place, radius, seed) for picture in stage.shots()
        ]

    return make


def _hand(stage: Stage) -> Frames:
    share = float(stage.random.uniform(0.75, 1.0))
    return [stage.camera.picture(stage.toss, hand=share) for _ in range(FRAMES)]


def _cloth(stage: Stage) -> Frames:
    seed = int(stage.random.integers(2**31))
    return [cloth(picture, stage.camera, seed) for picture in stage.shots()]


def _black(stage: Stage) -> Frames:
    share = float(stage.random.uniform(0.0, 0.45))
    dark = stage.shots(light=0.0)
    return [with_grain(picture * share, stage.random, 1.5) for picture in dark]


def _over_exposed(stage: Stage) -> Frames:
    times = float(stage.random.uniform(7, 16))
    return [over_expose(picture, times) for picture in stage.shots()]


def _defocused(stage: Stage) -> Frames:
    sigma = float(stage.random.uniform(5, 11))
    return [
        with_grain(cv2.GaussianBlur(picture, (0, 0), sigma), stage.random, 2.0)
        for picture in stage.shots()
    ]


def _frozen(stage: Stage) -> Frames:
    return [stage.shots(count=1)[0]] * (FROZEN_FRAMES + 2)


def _looped(stage: Stage) -> Frames:
    recorded = stage.shots(count=40)
    return recorded + recorded[: LOOPED_FRAMES + 1]


def _torn(stage: Stage) -> Frames:
    row = int(stage.random.uniform(0.15, 0.85) * stage.camera.calibration.image_size[1])
    kind = ("grey", "smear", "black-white")[int(stage.random.integers(3))]
    return [smear(picture, row, kind) for picture in stage.shots()]


def _moving(speeds_mm_s: tuple[float, float]) -> Maker:
    def make(stage: Stage) -> Frames:
        which = int(stage.random.integers(3))
        # Across the middle: a die that leaves the picture would leave two at rest behind it.
        x, y = stage.toss.position_mm[which, :2]
        turn = np.arctan2(-y, -x) + stage.random.uniform(-0.4, 0.4)
        step = (
            float(stage.random.uniform(*speeds_mm_s)) / 30 * np.array([np.cos(turn), np.sin(turn)])
        )
        frames = []
        for number in range(FRAMES + 3):
            moved = stage.toss.moved(which, step * number)
            frames.append(stage.camera.picture(moved))
        return frames

    return make


def _bumped(stage: Stage) -> Frames:
    turn = stage.random.uniform(0, 2 * np.pi)
    shift = stage.random.uniform(5.5, 18)
    matrix = np.array([[1, 0, shift * np.cos(turn)], [0, 1, shift * np.sin(turn)]])
    size = stage.camera.calibration.image_size
    return [
        cv2.warpAffine(picture, matrix, size, borderMode=cv2.BORDER_REPLICATE)
        for picture in stage.shots()
    ]


def _touching(stage: Stage) -> Frames:
    """Two dice side against side, and their seam under a smear on the dome."""
    toss = _pressed_together(stage)
    pair = toss.position_mm[:2, :2]
    seed = int(stage.random.integers(2**31))
    return [
        lay_thing(picture, stage.camera, "smear", pair.mean(axis=0), 10.0, seed)
        for picture in stage.shots(toss)
    ]


def _pressed_together(stage: Stage) -> Toss:
    """The toss with its first two dice side against side, and the third out of the way."""
    edge = stage.geometry.die_mm
    while True:
        toss, base = stage.toss, stage.toss.position_mm[0]
        level = level_axes(toss.rotation[0])
        axis = level[int(stage.random.integers(2))] * stage.random.choice([-1, 1])
        slide = np.cross(axis, [0, 0, 1.0]) * stage.random.uniform(-0.6, 0.6) * edge
        place = base + axis * (edge + 0.05) + slide
        gap = np.linalg.norm(place[:2] - toss.position_mm[2, :2])
        if np.hypot(*place[:2]) < stage.geometry.radius_mm - 0.72 * edge and gap > 1.5 * edge:
            rotation, position = toss.rotation.copy(), toss.position_mm.copy()
            yaw = math.atan2(axis[1], axis[0])
            own = level_axes(toss.rotation[1])[0]
            turn = yaw - math.atan2(own[1], own[0])
            c, s = math.cos(turn), math.sin(turn)
            rotation[1] = np.array([(c, -s, 0), (s, c, 0), (0, 0, 1)]) @ toss.rotation[1]
            position[1, :2] = place[:2]
            return Toss(position, rotation, toss.dice)
        stage.toss = stage.other()


def _illegal(stage: Stage) -> Frames:
    seed = int(stage.random.integers(2**31))
    return [repaint_pips(picture, stage.camera, stage.toss, seed) for picture in stage.shots()]


def _strange(stage: Stage) -> Frames:
    seed = int(stage.random.integers(2**31))
    return [paint_faces(picture, stage.camera, stage.toss, seed) for picture in stage.shots()]


KINDS: dict[str, tuple[Maker, tuple[Reason, ...]]] = {
    "two dice": (_two_dice, (Reason.COUNT,)),
    "four dice": (_four_dice, (Reason.COUNT,)),
    "a coin": (_thing("coin", (8.0, 12.0)), (Reason.FOREIGN_OBJECT,)),
    "a chip, a screw, a label": (_thing("thing", (9.0, 14.0)), (Reason.FOREIGN_OBJECT,)),
    "a hand over the dome": (_hand, (Reason.BLOCKED,)),
    "a cloth over the dome": (_cloth, (Reason.BLOCKED,)),
    "black picture": (_black, (Reason.BLACK,)),
    "over-exposed picture": (_over_exposed, (Reason.OVER_EXPOSED,)),
    "defocused picture": (_defocused, (Reason.DEFOCUSED,)),
    "frozen stream": (_frozen, (Reason.FROZEN,)),
    "looped stream": (_looped, (Reason.LOOPED,)),
    "torn picture": (_torn, (Reason.TORN,)),
    "a die moves": (_moving((60.0, 350.0)), (Reason.MOVING,)),
    "a die moves slowly": (_moving((8.0, 30.0)), (Reason.MOVING,)),
    "camera bumped": (_bumped, (Reason.CAMERA_MOVED,)),
    "touching, seam smeared": (_touching, (Reason.TOUCHING,)),
    "no legal face": (_illegal, (Reason.NO_LEGAL_FACE,)),
    "unknown style": (_strange, (Reason.UNKNOWN_STYLE,)),
}
"""How each kind is made, and the reasons that are right for it."""


def judge(reader: TableReader, frames: Frames) -> Verdict:
    """What a table says of a stream of pictures: its state first, then what it shows at rest."""
    memory, watch = StreamMemory(), StillnessDetector(reader.calibration)
    before: np.ndarray | None = None
    scene = StillScene(reader)
    rested = False
    verdict: Verdict | None = None
    for number, picture in enumerate(frames):
        repeated, looped = memory.take(digest(picture))
        if repeated >= FROZEN_FRAMES:
            return Unreadable(Reason.FROZEN, f"the same picture {repeated} times")
        if looped >= LOOPED_FRAMES:
            return Unreadable(Reason.LOOPED, "pictures that had been seen before came again")
        if picture.shape[:2] == reader.calibration.image_size[::-1]:
            now = watch.thumbnail(picture)
            if before is not None and watch.has_moved(before, now):
                scene = StillScene(reader)
                verdict = None
            elif before is not None:
                rested = True
            before = now
        if repeated == 0 and verdict is None and number < 2 * FRAMES:
            scene.look(Frame(picture, number / 30, number))
            agreed = consensus.agree(scene.observations)
            verdict = None if agreed is None else agreed.verdict
    if verdict is not None:
        return verdict
    # Fewer pictures at rest than a consensus needs: it never was long enough at rest.
    if not rested or len(scene.observations) < consensus.FRAMES:
        return Unreadable(Reason.MOVING, "no rest")
    return consensus.refuse(scene.observations)


def stage_of(number: int, seed: int, pool: Sequence[Toss], cameras: Sequence[RigCamera]) -> Stage:
    """The stage of a case, the same for the same seed."""
    camera = cameras[number % len(cameras)]
    return Stage(GEOMETRIES["standard"], camera, pool, seed * 100_003 + number)


def _word(verdict: Verdict) -> str:
    if isinstance(verdict, Unreadable):
        return verdict.reason.value
    return "ACCEPTED" if isinstance(verdict, Verified) else "no roll"


def main(
    kind: Annotated[
        list[str] | None,
        typer.Option(help=f"Only these kinds; repeatable. There are: {', '.join(KINDS)}."),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Cases of each kind.")] = 50,
    seed: Seed = 1,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("var/refusals"),
) -> None:
    """Count what must be refused, and for which reason; status 1 if anything was accepted."""
    names = kind or list(KINDS)
    for name in names:
        if name not in KINDS:
            raise typer.BadParameter(f"no kind {name!r}; there are: {', '.join(KINDS)}")
    geometry = GEOMETRIES["standard"]
    pool = flat_tosses(geometry, seed, 40)
    first = RigCamera(geometry, STYLES[0], seed)
    cameras = [first.with_dice(style) for style in STYLES]
    finder = DieFinder(model)
    reader = TableReader(finder, first.calibration)

    def case(number: int) -> dict[str, Any]:
        name = names[number // count]
        make, reasons = KINDS[name]
        verdict = judge(reader, make(stage_of(number % count, seed, pool, cameras)))
        is_right = isinstance(verdict, Unreadable) and verdict.reason in reasons
        return {"kind": name, "said": "for the right reason" if is_right else _word(verdict)}

    file = out / f"refusals-{seed}-{digest_of(finder, count, *names)}.jsonl"
    raise typer.Exit(1 if told(results(file, count * len(names), case), "ACCEPTED") else 0)
