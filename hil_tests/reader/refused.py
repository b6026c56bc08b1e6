"""Pictures of everything that is no three readable dice.

Owns: seeded cases of eighteen kinds, and of a fourth die that something in the floor's colour
almost hides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator

import cv2
import numpy as np

from hil_tests.reader.picture_damage import (
    cloth,
    lay_thing,
    over_expose,
    paint_faces,
    repaint_pips,
    smear,
    with_grain,
)
from hil_tests.reader.stage import REFUSED, Shown, Stage
from hil_tests.reader.tosses import RigCamera, Toss, level_axes
from shaker_ctl.reading.stream import FROZEN_FRAMES, LOOPED_FRAMES
from vision.table import consensus

_FRAMES = consensus.FRAMES + 1
"""Pictures of a case that does not move: one more than a consensus needs."""
_LEFT_OVER = (0.1, 0.4)
"""Share of an almost hidden die that is in sight."""

Pictures = Iterable[np.ndarray]
Maker = Callable[[Stage], Pictures]


def refused(stage: Stage) -> Shown:
    """One of the kinds that must be refused."""
    names = list(KINDS)
    name = names[stage.number % len(names)]
    pictures = KINDS[name](stage)
    return Shown(pictures, stage.toss.values, REFUSED, name)


def hidden_die(stage: Stage) -> Shown:
    """A fourth die, almost hidden by something in the floor's colour."""
    fourth = stage.fourth()
    turn = float(stage.random.uniform(0, 2 * math.pi))
    reach = (0.5 - float(stage.random.uniform(*_LEFT_OVER))) * stage.die_mm
    along = np.array([math.cos(turn), math.sin(turn), 0.0])
    # The cover ends along a line over the top of the die; beyond the line the die is seen.
    edge = fourth.position_mm[0] + along * reach + (0.0, 0.0, stage.die_mm / 2)
    ends = np.array([edge, edge + along])
    bare, seen = stage.shots(), stage.shots(stage.toss.plus(fourth))

    def shown() -> Iterator[np.ndarray]:
        eyes = stage.camera.eyes
        for pair in zip(seen, bare, strict=False):
            four, floor = (np.split(picture, len(eyes), axis=1) for picture in pair)
            parts = zip(four, floor, eyes, strict=True)
            yield np.hstack([_covered(a, b, eye, ends) for a, b, eye in parts])

    return Shown(shown(), stage.toss.values, REFUSED)


def _covered(
    picture: np.ndarray, floor: np.ndarray, eye: RigCamera, ends_mm: np.ndarray
) -> np.ndarray:
    """The picture where it lies beyond a line; elsewhere the floor. `ends_mm`: (2, 3) a point of
    the line, and one beyond it."""
    at, beyond = eye.to_px(ends_mm)
    y, x = np.mgrid[0 : picture.shape[0], 0 : picture.shape[1]]
    is_beyond = (np.dstack([x, y]) - at) @ (beyond - at) > 0
    return np.where(is_beyond[..., None], picture, floor)


def _few(pictures: Iterator[np.ndarray], count: int = _FRAMES) -> Pictures:
    return itertools.islice(pictures, count)


def _edited(stage: Stage, edit: Callable[[np.ndarray, RigCamera], np.ndarray],
            toss: Toss | None = None) -> Pictures:  # fmt: skip
    """Pictures of the toss, each changed alike before either lens."""
    return (stage.camera.edited(picture, edit) for picture in _few(stage.shots(toss)))


def _two_dice(stage: Stage) -> Pictures:
    keep = stage.random.permutation(3)[:2].tolist()
    return _few(stage.shots(stage.toss.only(keep)))


def _four_dice(stage: Stage) -> Pictures:
    fourth = stage.fourth()
    return _few(stage.shots(stage.toss.plus(fourth)))


def _thing(kind: str, radii_mm: tuple[float, float]) -> Maker:
    def make(stage: Stage) -> Pictures:
        radius = float(stage.random.uniform(*radii_mm))
        place, seed = stage.free_place(radius), stage.seed()
        return _edited(stage, lambda part, eye: lay_thing(part, eye, kind, place, radius, seed))

    return make


def _hand(stage: Stage) -> Pictures:
    return _few(stage.shots(hand=float(stage.random.uniform(0.75, 1.0))))


def _cloth(stage: Stage) -> Pictures:
    seed = stage.seed()
    return _edited(stage, lambda part, eye: cloth(part, eye, seed))


def _black(stage: Stage) -> Pictures:
    share = float(stage.random.uniform(0.0, 0.45))
    dark = _few(stage.shots(light=0.0))
    return (with_grain(picture * share, stage.random, 1.5) for picture in dark)


def _over_exposed(stage: Stage) -> Pictures:
    times = float(stage.random.uniform(7, 16))
    return (over_expose(picture, times) for picture in _few(stage.shots()))


def _defocused(stage: Stage) -> Pictures:
    sigma = float(stage.random.uniform(5, 11))
    soft = _edited(stage, lambda part, _: np.asarray(cv2.GaussianBlur(part, (0, 0), sigma)))
    return (with_grain(picture, stage.random, 2.0) for picture in soft)


def _frozen(stage: Stage) -> Pictures:
    return [next(stage.shots())] * (FROZEN_FRAMES + 2)


def _looped(stage: Stage) -> Pictures:
    recorded = list(_few(stage.shots(), 40))
    return recorded + recorded[: LOOPED_FRAMES + 1]


def _torn(stage: Stage) -> Pictures:
    row = int(stage.random.uniform(0.15, 0.85) * stage.table.calibration.image_size[1])
    kind = ("grey", "smear", "black-white")[int(stage.random.integers(3))]
    return (smear(picture, row, kind) for picture in _few(stage.shots()))


def _moving(speeds_mm_s: tuple[float, float]) -> Maker:
    def make(stage: Stage) -> Pictures:
        which = int(stage.random.integers(3))
        # Across the middle: a die that leaves the picture would leave two at rest behind it.
        x, y = stage.toss.position_mm[which, :2]
        turn = np.arctan2(-y, -x) + stage.random.uniform(-0.4, 0.4)
        step = (
            float(stage.random.uniform(*speeds_mm_s)) / 30 * np.array([np.cos(turn), np.sin(turn)])
        )
        moved = (stage.toss.moved(which, step * number) for number in range(_FRAMES + 3))
        return map(stage.camera.picture, moved)

    return make


def _bumped(stage: Stage) -> Pictures:
    turn = stage.random.uniform(0, 2 * np.pi)
    shift = stage.random.uniform(5.5, 18)
    matrix = np.array([[1, 0, shift * np.cos(turn)], [0, 1, shift * np.sin(turn)]])
    size = stage.table.calibration.image_size
    return _edited(
        stage,
        lambda part, _: np.asarray(
            cv2.warpAffine(part, matrix, size, borderMode=cv2.BORDER_REPLICATE)
        ),
    )


def _touching(stage: Stage) -> Pictures:
    """Two dice side against side, and their seam under a smear on the dome."""
    toss = _pressed_together(stage)
    seam, seed = toss.position_mm[:2, :2].mean(axis=0), stage.seed()
    return _edited(stage, lambda part, eye: lay_thing(part, eye, "smear", seam, 10.0, seed), toss)


def _pressed_together(stage: Stage) -> Toss:
    """The toss with its first two dice side against side, and the third out of the way."""
    edge = stage.die_mm
    while True:
        toss, base = stage.toss, stage.toss.position_mm[0]
        level = level_axes(toss.rotation[0])
        axis = level[int(stage.random.integers(2))] * stage.random.choice([-1, 1])
        slide = np.cross(axis, [0, 0, 1.0]) * stage.random.uniform(-0.6, 0.6) * edge
        place = base + axis * (edge + 0.05) + slide
        gap = np.linalg.norm(place[:2] - toss.position_mm[2, :2])
        if np.hypot(*place[:2]) < stage.radius_mm - 0.72 * edge and gap > 1.5 * edge:
            rotation, position = toss.rotation.copy(), toss.position_mm.copy()
            yaw = math.atan2(axis[1], axis[0])
            own = level_axes(toss.rotation[1])[0]
            turn = yaw - math.atan2(own[1], own[0])
            c, s = math.cos(turn), math.sin(turn)
            rotation[1] = np.array([(c, -s, 0), (s, c, 0), (0, 0, 1)]) @ toss.rotation[1]
            position[1, :2] = place[:2]
            return Toss(position, rotation, toss.dice)
        stage.again()


def _on_faces(paint: Callable[[np.ndarray, RigCamera, Toss, int], np.ndarray]) -> Maker:
    def make(stage: Stage) -> Pictures:
        seed = stage.seed()
        return _edited(stage, lambda part, eye: paint(part, eye, stage.toss, seed))

    return make


KINDS: dict[str, Maker] = {
    "two dice": _two_dice,
    "four dice": _four_dice,
    "a coin": _thing("coin", (8.0, 12.0)),
    "a chip, a screw, a label": _thing("thing", (9.0, 14.0)),
    "a hand over the dome": _hand,
    "a cloth over the dome": _cloth,
    "black picture": _black,
    "over-exposed picture": _over_exposed,
    "defocused picture": _defocused,
    "frozen stream": _frozen,
    "looped stream": _looped,
    "torn picture": _torn,
    "a die moves": _moving((60.0, 350.0)),
    "a die moves slowly": _moving((8.0, 30.0)),
    "camera bumped": _bumped,
    "touching, seam smeared": _touching,
    "no legal face": _on_faces(repaint_pips),
    "unknown style": _on_faces(paint_faces),
}
"""How the pictures of each kind are made."""
