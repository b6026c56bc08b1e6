"""Faces that are no die face: blank ones, digits, letters, emblems, painted over a die's pips.

Owns: what such a face looks like. Must not know: where training pictures come from. The first
models read the pictures on symbol dice (`n3v-round` is full of them) as ones and sixes; a die
without pips has no value, so it is not to be found.
"""

from __future__ import annotations

import cv2
import numpy as np

from models.training.targets import Mark

_SIDE = 72
"""A face is painted this large, in pixels, and then laid over the picture."""

_MIN_EDGE = 26.0
_MIN_VISIBLE = 0.9
_MIDDLE = (_SIDE // 2, _SIDE // 2)
_SQUARE = np.array([[0, 0], [_SIDE, 0], [_SIDE, _SIDE], [0, _SIDE]], np.float32)


def deface(rng: np.random.Generator, image: np.ndarray, marks: list[Mark]) -> None:
    """Paint over one or two of the marked dice, in place; their marks then ask for nothing."""
    fit = [
        mark
        for mark in marks
        if mark.exact and mark.visible > _MIN_VISIBLE and mark.edge > _MIN_EDGE
    ]
    for _ in range(min(len(fit), int(rng.integers(1, 3)))):
        mark = fit.pop(int(rng.integers(len(fit))))
        _paint(rng, image, mark.corners)
        mark.visible = 0.0


def _paint(rng: np.random.Generator, image: np.ndarray, corners: np.ndarray) -> None:
    there = cv2.getPerspectiveTransform(_SQUARE, corners.astype(np.float32))
    face = cv2.warpPerspective(image, np.linalg.inv(there), (_SIDE, _SIDE))
    body = np.median(face.reshape(-1, 3), axis=0)
    far = np.abs(face.astype(np.float32) - body).sum(axis=2)
    ink = face[far >= np.quantile(far, 0.93)].mean(axis=0)
    if np.abs(ink - body).sum() < 60 or rng.random() < 0.3:
        ink = rng.uniform(0, 255, 3)
    # What is left of the face is its shading: pips fall out of a wide median.
    plain = cv2.medianBlur(face, 31).astype(np.float32)
    cover = symbol(rng)[..., None].astype(np.float32) * (rng.uniform(0.35, 1.0) / 255)
    painted = np.clip(plain * (1 - cover) + ink * cover, 0, 255).astype(np.uint8)
    inset = int(rng.integers(1, 5))
    inner = np.zeros((_SIDE, _SIDE), np.uint8)
    inner[inset:-inset, inset:-inset] = 255
    height, width = image.shape[:2]
    mask = cv2.GaussianBlur(cv2.warpPerspective(inner, there, (width, height)), (0, 0), 0.7)
    drawn = cv2.warpPerspective(painted, there, (width, height), borderMode=cv2.BORDER_REPLICATE)
    over = mask[..., None].astype(np.float32) / 255
    image[:] = image * (1 - over) + drawn * over


def symbol(rng: np.random.Generator) -> np.ndarray:
    """(72, 72) uint8, 255 where there is ink."""
    ink = np.zeros((_SIDE, _SIDE), np.uint8)
    kind = str(rng.choice(("blank", "sign", "emblem", "cross", "polygon", "strokes"),
                          p=(0.2, 0.3, 0.2, 0.08, 0.1, 0.12)))  # fmt: skip
    thick = int(rng.integers(2, 9))
    if kind == "sign":
        text = chr(int(rng.choice(list(b"0123456789ABCDEFGHKLMNPRSTUVXYZ?!+&$#%"))))
        scale = rng.uniform(1.0, 2.1)
        font = int(rng.choice([0, 2, 3, 4, 6, 7]))
        (wide, high), _ = cv2.getTextSize(text, font, scale, thick)
        at = ((_SIDE - wide) // 2, (_SIDE + high) // 2)
        cv2.putText(ink, text, at, font, scale, 255, thick, cv2.LINE_AA)
    elif kind == "emblem":
        radius = int(rng.integers(24, 33))
        cv2.circle(ink, _MIDDLE, radius, 255, -1 if rng.random() < 0.6 else thick, cv2.LINE_AA)
        for _ in range(rng.integers(2, 8)):
            tone = 0 if rng.random() < 0.6 else 255
            _blot(rng, ink, radius * 0.7, tone)
    elif kind == "cross":
        reach = int(rng.integers(14, 28))
        for way in (1, -1):
            begin, end = (36 - reach, 36 - way * reach), (36 + reach, 36 + way * reach)
            cv2.line(ink, begin, end, 255, 2 * thick, cv2.LINE_AA)
    elif kind == "polygon":
        ways = np.sort(rng.uniform(0, 2 * np.pi, int(rng.integers(3, 12))))
        reaches = rng.uniform(8, 32, len(ways))
        points = 36 + np.stack([np.cos(ways), np.sin(ways)], axis=1) * reaches[:, None]
        cv2.fillPoly(ink, [points.astype(np.int32)], 255, cv2.LINE_AA)
    elif kind == "strokes":
        walk = 36 + np.cumsum(rng.normal(0, 10, (int(rng.integers(5, 16)), 2)), axis=0)
        line = np.clip(walk, 6, _SIDE - 6).astype(np.int32)
        cv2.polylines(ink, [line], rng.random() < 0.5, 255, thick, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((36.0, 36.0), rng.uniform(0, 360), rng.uniform(0.8, 1.1))
    return np.asarray(cv2.warpAffine(ink, turn, (_SIDE, _SIDE)), np.uint8)


def _blot(rng: np.random.Generator, ink: np.ndarray, reach: float, tone: int) -> None:
    at = (36 + rng.normal(0, reach / 2, 2)).astype(int).tolist()
    axes = rng.integers(2, 14, 2).tolist()
    cv2.ellipse(ink, at, axes, rng.uniform(0, 180), 0, rng.uniform(120, 360), tone, -1, cv2.LINE_AA)
