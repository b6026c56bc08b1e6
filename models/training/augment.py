"""From a labelled picture to a training picture: other place, other light, other camera.

Owns: geometric and photometric variation at training time. Must not know: the network.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from models.training.layout import share_inside
from models.training.targets import Mark

MIN_PX, MAX_PX = 23.0, 215.0
"""Faces are scaled to edges between these; outside they are not asked for."""


def warp(
    rng: np.random.Generator,
    image: np.ndarray,
    marks: list[Mark],
    size: int,
    is_squashed: bool = False,
) -> tuple[np.ndarray, list[Mark]]:
    """A random turn, mirror, scale and crop of a picture, `size` pixels square.

    With `is_squashed` sometimes narrower along one direction too, as from farther off the
    vertical; only for pictures whose dice have no label for how they lie.
    """
    height, width = image.shape[:2]
    edges = [mark.edge for mark in marks if mark.visible > 0.5] or [80.0]
    # Every size of die, whatever size the picture came in.
    low = max(MIN_PX / min(edges), 0.35)
    high = min(MAX_PX / max(edges), 3.0, 170 / float(np.median(edges)))
    # More often small: a picture then teaches about several dice for the same work.
    reach = np.log(max(high, low * 1.01) / low)
    scale = float(low * np.exp(reach * rng.random() ** 1.35))
    angle = rng.uniform(0, 2 * np.pi) if rng.random() < 0.75 else np.pi / 2 * rng.integers(4)
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    if rng.random() < 0.5:
        turn = turn @ np.diag([-1.0, 1.0])
    if is_squashed and rng.random() < 0.5:
        way = rng.uniform(0, np.pi)
        along = np.array([np.cos(way), np.sin(way)])
        turn = turn @ (np.eye(2) - rng.uniform(0, 0.28) * np.outer(along, along))
    # Look at a die more often than at nothing.
    aim = np.array([width, height]) / 2 + rng.uniform(-0.3, 0.3, 2) * [width, height]
    if marks and rng.random() < 0.7:
        aim = marks[rng.integers(len(marks))].corners.mean(axis=0)
    target = np.full(2, size / 2) + rng.uniform(-0.42, 0.42, 2) * size
    # Shift so that the crop is filled, but for a margin at most.
    slack = abs(scale * min(width, height) - size) / 2 + 0.12 * size
    middle = target + turn @ (np.array([width, height]) / 2 - aim)
    middle = np.clip(middle, size / 2 - slack, size / 2 + slack)
    shift = middle - turn @ (np.array([width, height]) / 2)
    matrix = np.hstack([turn, shift[:, None]])
    fill = (114,) * 3 if rng.random() < 0.5 else tuple(rng.integers(0, 256, 3).tolist())
    if scale < 0.7:
        # warpAffine does not average: shrink first.
        small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        shrink = np.array([small.shape[1] / width, small.shape[0] / height])
        warped = cv2.warpAffine(
            small, np.hstack([matrix[:, :2] / shrink, matrix[:, 2:]]), (size, size),
            borderValue=fill,
        )  # fmt: skip
    else:
        warped = cv2.warpAffine(image, matrix, (size, size), borderValue=fill)
    moved = [mark.moved(matrix) for mark in marks]
    for mark in moved:
        mark.visible *= share_inside(mark.corners, size)
    return warped, moved


def repaint(rng: np.random.Generator, image: np.ndarray, marks: list[Mark]) -> None:
    """Some dice in another colour or in negative, in place: what stays is the pattern."""
    size = image.shape[0]
    for mark in marks:
        if not mark.exact or rng.random() > 0.3:
            continue
        mask, (x0, y0, x1, y1) = _silhouette(mark, size, 1.04)
        if x1 - x0 < 4 or y1 - y0 < 4:
            continue
        patch = image[y0:y1, x0:x1]
        kind = rng.random()
        if kind < 0.3:
            other = 255 - patch
        elif kind < 0.8:
            other = recoloured(patch, int(rng.integers(20, 160)), rng.uniform(0.4, 1.4))
        else:
            # Less contrast between body and pips, lighter or darker.
            middle, share = rng.uniform(40, 215, 3), rng.uniform(0.35, 0.8)
            other = np.clip(patch * share + middle * (1 - share), 0, 255).astype(np.uint8)
        over = (mask[..., None].astype(np.float32)) / 255
        image[y0:y1, x0:x1] = patch * (1 - over) + other * over


def _silhouette(
    mark: Mark, size: int, grown: float
) -> tuple[np.ndarray, tuple[int, int, int, int]]:
    """The outline of a die from its top and bottom faces, as a soft mask, and where it lies."""
    whole = np.concatenate([mark.corners, mark.corners + mark.down])
    middle = whole.mean(axis=0)
    whole = middle + (whole - middle) * grown
    x0, y0 = np.maximum(np.floor(whole.min(axis=0)).astype(int) - 2, 0).tolist()
    x1, y1 = np.minimum(np.ceil(whole.max(axis=0)).astype(int) + 3, size).tolist()
    mask = np.zeros((max(y1 - y0, 0), max(x1 - x0, 0)), np.uint8)
    if mask.size:
        hull = cv2.convexHull(((whole - [x0, y0]) * 16).astype(np.int32))
        cv2.fillConvexPoly(mask, hull, 255, cv2.LINE_AA, 4)
        mask = cv2.GaussianBlur(mask, (0, 0), 0.8)
    return mask, (x0, y0, x1, y1)


def paste(
    rng: np.random.Generator, image: np.ndarray, marks: list[Mark], other: np.ndarray, die: Mark
) -> Mark | None:
    """Put a die cut out of another picture onto a free place of this one, in place.

    Returns the mark of the pasted die, or None where there was no room.
    """
    size = image.shape[0]
    edge = die.edge
    scale = float(np.exp(rng.uniform(np.log(26), np.log(90)))) / edge
    angle = rng.uniform(0, 2 * np.pi)
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    whole = np.concatenate([die.corners, die.corners + die.down])
    middle = whole.mean(axis=0)
    reach = float(np.linalg.norm(whole - middle, axis=1).max()) * scale
    for _ in range(4):
        target = rng.uniform(0.08, 0.92, 2) * size
        if all(
            np.linalg.norm((mark.corners + mark.down / 2).mean(axis=0) - target)
            > reach + 0.85 * np.linalg.norm(mark.corners[0] - mark.corners[2]) / 2
            for mark in marks
        ):
            break
    else:
        return None
    matrix = np.hstack([turn, (target - turn @ middle)[:, None]])
    moved = replace(die.moved(matrix), flat=-1.0, has_down=False)
    moved.visible = share_inside(moved.corners, size)
    mask, (x0, y0, x1, y1) = _silhouette(moved, size, rng.uniform(1.02, 1.14))
    if mask.size < 16:
        return None
    matrix[:, 2] -= [x0, y0]
    drawn = cv2.warpAffine(other, matrix, (x1 - x0, y1 - y0), borderMode=cv2.BORDER_REPLICATE)
    if rng.random() < 0.6:
        # A shadow beside it, or the die would float.
        cover: np.ndarray = np.zeros(image.shape[:2], np.uint8)
        cover[y0:y1, x0:x1] = mask
        by = rng.normal(0, 0.18 * reach, 2)
        cover = cv2.warpAffine(cover, np.array([[1, 0, by[0]], [0, 1, by[1]]]), (size, size))
        soft = cv2.GaussianBlur(cover, (0, 0), rng.uniform(0.8, 0.2 * reach + 1))
        shade = 1 - soft.astype(np.float32) * (rng.uniform(0.2, 0.75) / 255)
        image[:] = image * shade[..., None]
    over = mask[..., None].astype(np.float32) / 255
    image[y0:y1, x0:x1] = image[y0:y1, x0:x1] * (1 - over) + drawn * over
    return moved


def relight(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Another exposure, lens, sensor and compression; labels stay. One in five stays as it is."""
    if rng.random() < 0.2:
        return image
    if rng.random() < 0.3:
        image = recoloured(image, int(rng.integers(-90, 90)), rng.uniform(0.3, 1.5))
    elif rng.random() < 0.16:
        image = grey(image)
    for share, change in ((0.2, _shadow), (0.25, _glare), (0.45, _blur), (0.3, _vignette)):
        if rng.random() < share:
            image = change(rng, image)
    lift = rng.uniform(-12, 30) if rng.random() < 0.4 else 0.0
    contrast = rng.uniform(0.5, 1.35) if rng.random() < 0.5 else 1.0
    image = toned(rng, image, (0.25, 0.08), contrast, lift)
    if rng.random() < 0.6:
        image = grained(rng, image, abs(rng.normal(0, 7)))
    if rng.random() < 0.4:
        image = packed(rng, image, 22)
    if rng.random() < 0.1:
        soft = cv2.GaussianBlur(image, (0, 0), 1.5)
        image = cv2.addWeighted(image, 1.7, soft, -0.7, 0)
    return image


def recoloured(image: np.ndarray, hue: int, gain: float) -> np.ndarray:
    """With other hues, in half degrees, and so many times as saturated."""
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    hsv[..., 0] = (hsv[..., 0].astype(np.int16) + hue) % 180
    hsv[..., 1] = cv2.LUT(hsv[..., 1], np.clip(np.arange(256) * gain, 0, 255).astype(np.uint8))
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)


def grey(image: np.ndarray) -> np.ndarray:
    """Without colour."""
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)


def toned(
    rng: np.random.Generator, image: np.ndarray, spread: tuple[float, float],
    contrast: float = 1.0, lift: float = 0.0,
) -> np.ndarray:  # fmt: skip
    """Another exposure and white balance, with these deviations of their logarithms; gamma."""
    gains = np.exp(rng.normal(0, spread[0]) + rng.normal(0, spread[1], 3))
    levels = (np.arange(256) / 255)[:, None] ** np.exp(rng.normal(0, 0.23))
    table = ((levels * gains - 0.45) * contrast + 0.45) * 255 + lift
    return np.asarray(cv2.LUT(image, np.clip(table, 0, 255).astype(np.uint8)[None]))


def grained(rng: np.random.Generator, image: np.ndarray, strength: float) -> np.ndarray:
    """With a sensor's noise, sometimes coarse."""
    grain: np.ndarray = np.empty(image.shape, np.int16)
    cv2.setRNGSeed(int(rng.integers(2**31)))
    cv2.randn(grain, np.zeros(3), np.full(3, strength))
    if rng.random() < 0.3:
        grain = np.asarray(cv2.blur(grain, (2, 2))) * 2
    return cv2.add(image, grain, dtype=cv2.CV_8U)


def packed(rng: np.random.Generator, image: np.ndarray, least: int) -> np.ndarray:
    """As a JPEG of that quality or a better one."""
    quality = int(rng.integers(least, 96))
    _, file = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR))


def _blur(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    kind = rng.random()
    if kind < 0.55:
        return cv2.GaussianBlur(image, (0, 0), rng.uniform(0.4, 1.8))
    if kind < 0.75:
        length = int(rng.integers(3, 8))
        line: np.ndarray = np.zeros((length, length), np.float32)
        line[length // 2] = 1 / length
        turn = cv2.getRotationMatrix2D(((length - 1) / 2,) * 2, rng.uniform(0, 180), 1)
        line = np.asarray(cv2.warpAffine(line, turn, (length, length)), np.float32)
        return cv2.filter2D(image, -1, line / max(float(line.sum()), 1e-3))
    size = image.shape[0]
    less = int(size / rng.uniform(1.2, 2.2))
    small = cv2.resize(image, (less, less), interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (size, size), interpolation=cv2.INTER_LINEAR)


def _vignette(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    size = image.shape[0]
    axis = np.linspace(-1, 1, 24, dtype=np.float32)
    x, y = axis[None, :] - rng.uniform(-0.5, 0.5), axis[:, None] - rng.uniform(-0.5, 0.5)
    shade = 1 - rng.uniform(0.1, 0.5) * (x * x + y * y) if rng.random() < 0.6 else (
        1 + rng.uniform(-0.4, 0.4) * x + rng.uniform(-0.4, 0.4) * y
    )  # fmt: skip
    shade = cv2.resize(np.clip(shade, 0.15, 1.7).astype(np.float32), (size, size))
    return cv2.multiply(image, cv2.merge([shade] * 3), dtype=cv2.CV_8U)


def _shadow(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """The shadow of something beside the picture: hard or soft, across dice and floor alike."""
    size = image.shape[0]
    mask = np.zeros((size // 2, size // 2), np.uint8)
    for _ in range(rng.integers(1, 4)):
        at = rng.uniform(-0.3, 1.3, 2) * size / 2
        points = at + rng.normal(0, size * rng.uniform(0.05, 0.4), (int(rng.integers(3, 6)), 2))
        cv2.fillConvexPoly(mask, cv2.convexHull(points.astype(np.int32)), 255)
    soft = cv2.GaussianBlur(mask, (0, 0), float(np.exp(rng.uniform(np.log(0.4), np.log(9)))))
    shade = 1 - cv2.resize(soft, (size, size)).astype(np.float32) * (rng.uniform(0.2, 0.75) / 255)
    return cv2.multiply(image, cv2.merge([shade] * 3), dtype=cv2.CV_8U)


def _glare(rng: np.random.Generator, image: np.ndarray) -> np.ndarray:
    """Reflections and scratches of a dome between the camera and the dice."""
    size = image.shape[0]
    layer: np.ndarray = np.zeros((size, size, 3), np.uint8)
    tint = np.clip(rng.normal(215, 25, 3), 0, 255).tolist()
    for _ in range(rng.integers(1, 4)):
        at = tuple(rng.integers(0, size, 2).tolist())
        kind = rng.random()
        if kind < 0.45:
            axes = tuple(rng.integers(2, 26, 2).tolist())
            cv2.ellipse(layer, at, axes, rng.uniform(0, 180), 0, 360, tint, -1, cv2.LINE_AA)
        elif kind < 0.7:
            radius = int(rng.integers(size // 8, size))
            start = rng.uniform(0, 360)
            cv2.ellipse(
                layer, at, (radius, radius), 0, start, start + rng.uniform(15, 200), tint,
                int(rng.integers(1, 7)), cv2.LINE_AA,
            )  # fmt: skip
        else:
            end = tuple((np.array(at) + rng.normal(0, size / 5, 2)).astype(int).tolist())
            cv2.line(layer, at, end, [t * 0.4 for t in tint], 1, cv2.LINE_AA)
    if rng.random() < 0.6:
        layer = cv2.GaussianBlur(layer, (0, 0), rng.uniform(0.6, 9))
    return cv2.addWeighted(image, 1.0, layer, rng.uniform(0.15, 0.9), 0)
