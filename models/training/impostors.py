"""What looks like a die and is none: faces without pips, keys, tiles with a sign, buttons, words.

Owns: what they look like. Must not know: where training pictures and windows come from. The first
networks took keys, emblems and the button of a tray for dice, and the windows around dice show few
of these; and they read the pictures on symbol dice (`n3v-round` is full of them) as ones and sixes.
A die without pips has no value, so it is not to be found.
"""

from __future__ import annotations

import cv2
import numpy as np

from models.training.targets import Mark

_FACE = 72
"""A face is painted this large, in pixels, and then laid over the picture."""

_MIN_EDGE = 26.0
_MIN_VISIBLE = 0.9
_FACE_MIDDLE = (_FACE // 2, _FACE // 2)
_SQUARE = np.array([[0, 0], [_FACE, 0], [_FACE, _FACE], [0, _FACE]], np.float32)

_SIDE = 192
"""An impostor is painted this large, in pixels, and then laid over a picture."""
_EDGE = 64.0
"""A face's edge in it."""
_WORDS = (
    "fn", "control", "shift", "esc", "tab", "ctrl", "alt", "A", "S", "D", "Q", "E", "K", "M", "7",
    "8", "0", "F5", "<", ">", "?", "!", "+", "-", "=", "/", ":", ";", "^", "*", "#", "OK", "ON",
)  # fmt: skip


def deface(rng: np.random.Generator, image: np.ndarray, marks: list[Mark]) -> None:
    """Paint over one or two of the marked dice, in place; their marks then ask for nothing."""
    fit = [
        mark
        for mark in marks
        if mark.exact and mark.visible > _MIN_VISIBLE and mark.edge > _MIN_EDGE
    ]
    for _ in range(min(len(fit), int(rng.integers(1, 3)))):
        mark = fit.pop(int(rng.integers(len(fit))))
        _paint_over(rng, image, mark.corners)
        mark.visible = 0.0


def _paint_over(rng: np.random.Generator, image: np.ndarray, corners: np.ndarray) -> None:
    there = cv2.getPerspectiveTransform(_SQUARE, corners.astype(np.float32))
    face = cv2.warpPerspective(image, np.linalg.inv(there), (_FACE, _FACE))
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
    inner = np.zeros((_FACE, _FACE), np.uint8)
    inner[inset:-inset, inset:-inset] = 255
    height, width = image.shape[:2]
    mask = cv2.GaussianBlur(cv2.warpPerspective(inner, there, (width, height)), (0, 0), 0.7)
    drawn = cv2.warpPerspective(painted, there, (width, height), borderMode=cv2.BORDER_REPLICATE)
    over = mask[..., None].astype(np.float32) / 255
    image[:] = image * (1 - over) + drawn * over


def symbol(rng: np.random.Generator) -> np.ndarray:
    """(72, 72) uint8, 255 where there is ink."""
    ink = np.zeros((_FACE, _FACE), np.uint8)
    kind = str(rng.choice(("blank", "sign", "emblem", "cross", "polygon", "strokes"),
                          p=(0.2, 0.3, 0.2, 0.08, 0.1, 0.12)))  # fmt: skip
    thick = int(rng.integers(2, 9))
    if kind == "sign":
        text = chr(int(rng.choice(list(b"0123456789ABCDEFGHKLMNPRSTUVXYZ?!+&$#%"))))
        scale = rng.uniform(1.0, 2.1)
        font = int(rng.choice([0, 2, 3, 4, 6, 7]))
        (wide, high), _ = cv2.getTextSize(text, font, scale, thick)
        at = ((_FACE - wide) // 2, (_FACE + high) // 2)
        cv2.putText(ink, text, at, font, scale, 255, thick, cv2.LINE_AA)
    elif kind == "emblem":
        radius = int(rng.integers(24, 33))
        cv2.circle(ink, _FACE_MIDDLE, radius, 255, -1 if rng.random() < 0.6 else thick, cv2.LINE_AA)
        for _ in range(rng.integers(2, 8)):
            tone = 0 if rng.random() < 0.6 else 255
            at = (36 + rng.normal(0, radius * 0.7 / 2, 2)).astype(int).tolist()
            axes, tilt = rng.integers(2, 14, 2).tolist(), rng.uniform(0, 180)
            cv2.ellipse(ink, at, axes, tilt, 0, rng.uniform(120, 360), tone, -1, cv2.LINE_AA)
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
        line = np.clip(walk, 6, _FACE - 6).astype(np.int32)
        cv2.polylines(ink, [line], rng.random() < 0.5, 255, thick, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((36.0, 36.0), rng.uniform(0, 360), rng.uniform(0.8, 1.1))
    return np.asarray(cv2.warpAffine(ink, turn, (_FACE, _FACE)), np.uint8)


def thing(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Something that is no die, (_SIDE, _SIDE, 3) uint8, `_EDGE` pixels large in the middle of the
    picture; and where there is something, (_SIDE, _SIDE) uint8."""
    kind = int(rng.choice(4, p=(0.4, 0.25, 0.2, 0.15)))
    return (_keys, _tile, _disc, _words)[kind](rng)


def lay(
    rng: np.random.Generator, canvas: np.ndarray, drawn: np.ndarray, cover: np.ndarray,
    middle: np.ndarray, edge: float,
) -> np.ndarray:  # fmt: skip
    """A picture with a `thing` of that edge laid over it: turned, often with a shadow, and
    sometimes shorter in one direction, as if seen from the side."""
    scale, turn, way = edge / _EDGE, rng.uniform(0, 2 * np.pi), rng.uniform(0, np.pi)
    c, s = np.cos(turn), np.sin(turn)
    squash = np.diag((1.0, float(rng.uniform(0.5, 1.0))))
    along = np.array([[np.cos(way), -np.sin(way)], [np.sin(way), np.cos(way)]])
    matrix = np.zeros((2, 3))
    matrix[:, :2] = scale * along @ squash @ along.T @ np.array([[c, -s], [s, c]])
    matrix[:, 2] = middle - matrix[:, :2] @ np.full(2, (_SIDE - 1) / 2)
    if scale < 0.7:  # a warp alone would skip pixels
        drawn, cover = (cv2.GaussianBlur(one, (0, 0), 0.4 / scale) for one in (drawn, cover))
    size = canvas.shape[1::-1]
    over = cv2.warpAffine(cover, matrix, size).astype(np.float32)[..., None] / 255
    moved = cv2.warpAffine(drawn, matrix, size, borderMode=cv2.BORDER_REPLICATE)
    if rng.random() < 0.5:
        shade = cv2.GaussianBlur(over, (0, 0), float(rng.uniform(1, 5)))
        by = np.array([[1, 0, rng.normal(0, 3)], [0, 1, rng.normal(0, 3)]])
        shade = cv2.warpAffine(shade, by, size)[..., None] * float(rng.uniform(0.2, 0.7))
        canvas = canvas * (1 - shade)
    return np.asarray(canvas * (1 - over) + moved * over, drawn.dtype)


def paint(rng: np.random.Generator, window: np.ndarray, edge: float) -> np.ndarray:
    """A (S, S, 3) uint8 window with something in its middle whose face has about that edge."""
    middle = np.full(2, (window.shape[0] - 1) / 2) + rng.normal(0, 0.08 * edge, 2)
    return lay(rng, window, *thing(rng), middle, edge * float(np.exp(rng.normal(0, 0.2))))


def litter(rng: np.random.Generator, image: np.ndarray, marks: list[Mark]) -> np.ndarray:
    """A picture with things that look like faces beside its dice: the first networks took the keys
    of a laptop and printed labels for dice."""
    size = image.shape[0]
    for _ in range(rng.integers(1, 4)):
        edge = float(np.exp(rng.uniform(np.log(9), np.log(0.2 * size))))
        middle, reach = rng.uniform(0.05, 0.95, 2) * size, 0.75 * _SIDE / _EDGE * edge
        if all(
            np.linalg.norm(mark.corners.mean(axis=0) - middle)
            > reach + 0.55 * np.linalg.norm(mark.corners[0] - mark.corners[2]) + 4
            for mark in marks
        ):
            image = lay(rng, image, *thing(rng), middle, edge)
    return image


def _colours(rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """Of body and sign: far enough from each other to be seen."""
    if rng.random() < 0.35:
        body, ink = np.full(3, rng.integers(8, 50)), np.full(3, rng.integers(150, 256))
    elif rng.random() < 0.3:
        body, ink = np.full(3, rng.integers(190, 256)), np.full(3, rng.integers(0, 90))
    else:
        body, ink = rng.integers(0, 256, (2, 3))
        if np.abs(body - ink).sum() < 120:
            ink = 255 - body
    return body.tolist(), ink.tolist()


def keyboard(
    rng: np.random.Generator, side: int, edge: float, first: tuple[int, int]
) -> np.ndarray:
    """A (side, side, 3) uint8 picture of keys about as large as `edge`, in pixels. One of them is
    in the middle; `first`: the row and the column, counted from there, that keys begin with."""
    body, ink = _colours(rng)
    ground = rng.integers(0, 256, 3) if rng.random() < 0.5 else np.clip(np.array(body) + 60, 0, 255)
    board: np.ndarray = np.full((side, side, 3), ground, np.uint8)
    wide, high = edge * rng.uniform(0.8, 1.7), edge * rng.uniform(0.75, 1.15)
    gap, middle = edge * rng.uniform(0.04, 0.3), side / 2
    for row in range(first[0], int((middle + high / 2) / (high + gap)) + 1):
        for column in range(first[1], int((middle + wide / 2) / (wide + gap)) + 1):
            x = middle + column * (wide + gap) - wide / 2
            y = middle + row * (high + gap) - high / 2
            _rounded(board, (x, y, wide, high), 0.12 * edge, body)
            for _ in range(int(rng.choice([0, 1, 2], p=[0.1, 0.65, 0.25]))):
                at = (x + wide * rng.uniform(0.08, 0.5), y + high * rng.uniform(0.4, 0.92))
                _write(rng, board, at, edge / _EDGE * float(rng.uniform(0.22, 0.8)), ink)
    return board


def _keys(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Some keys of a keyboard, one in the middle; sometimes at its end."""
    first = int(rng.integers(-2, 1)), int(rng.integers(-2, 1))
    return keyboard(rng, _SIDE, _EDGE, first), np.full((_SIDE, _SIDE), 255, np.uint8)


def _tile(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A face with a sign instead of pips, alone."""
    body, ink = _colours(rng)
    tile: np.ndarray = np.full((_SIDE, _SIDE, 3), body, np.uint8)
    cover = np.zeros((_SIDE, _SIDE), np.uint8)
    corner = (_SIDE - _EDGE) / 2
    _rounded(cover, (corner, corner, _EDGE, _EDGE), _EDGE * rng.uniform(0.02, 0.45), 255)
    sign = cv2.resize(symbol(rng), None, fx=_EDGE / 76, fy=_EDGE / 76, interpolation=cv2.INTER_AREA)
    begin = (_SIDE - sign.shape[0]) // 2
    there = tile[begin : begin + sign.shape[0], begin : begin + sign.shape[1]]
    share = sign[..., None].astype(np.float32) / 255
    there[:] = there * (1 - share) + np.array(ink) * share
    return tile, cover


def _disc(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A button, a lid, a coin: rings, and sometimes a sign."""
    body, ink = _colours(rng)
    disc: np.ndarray = np.full((_SIDE, _SIDE, 3), body, np.uint8)
    cover = np.zeros((_SIDE, _SIDE), np.uint8)
    middle, radius = (_SIDE // 2, _SIDE // 2), int(_EDGE * rng.uniform(0.4, 0.75))
    cv2.circle(cover, middle, radius, 255, -1, cv2.LINE_AA)
    for _ in range(int(rng.integers(0, 4))):
        ring = int(radius * rng.uniform(0.55, 0.98))
        cv2.circle(disc, middle, ring, ink, int(rng.integers(1, 6)), cv2.LINE_AA)
    if rng.random() < 0.4:
        at = (middle[0] - 0.5 * radius, middle[1] + 0.3 * radius)
        _write(rng, disc, at, radius / 30, ink)
    return disc, cover


def _words(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A line of print, on its paper or on whatever is there."""
    body, ink = _colours(rng)
    sheet: np.ndarray = np.full((_SIDE, _SIDE, 3), body, np.uint8)
    cover = np.full((_SIDE, _SIDE), 255, np.uint8)
    mask: np.ndarray = np.zeros((_SIDE, _SIDE, 3), np.uint8)
    for row in range(int(rng.integers(1, 5))):
        at = (rng.uniform(0, 40), _SIDE * rng.uniform(0.3, 0.7) + 40 * row)
        size = float(rng.uniform(0.6, 2.6))
        for _ in range(3):
            at = _write(rng, mask, at, size, (255, 255, 255))
    sheet[mask[..., 0] > 127] = ink
    return sheet, cover if rng.random() < 0.5 else mask[..., 0]


def _write(
    rng: np.random.Generator, image: np.ndarray, at: tuple[float, float], size: float,
    ink: list[int] | tuple[int, ...],
) -> tuple[float, float]:  # fmt: skip
    """A word, and where the next one begins."""
    word = str(rng.choice(_WORDS))
    font = int(rng.choice([0, 2, 3, 4, 6]))
    thick = max(1, round(size * rng.uniform(1, 3)))
    cv2.putText(image, word, (int(at[0]), int(at[1])), font, size, ink, thick, cv2.LINE_AA)
    (wide, _), _ = cv2.getTextSize(word, font, size, thick)
    return at[0] + wide + 10 * size, at[1]


def _rounded(
    image: np.ndarray, box: tuple[float, float, float, float], radius: float,
    colour: list[int] | int,
) -> None:  # fmt: skip
    """A rectangle (x, y, width, height) with round corners, in place."""
    x, y, wide, high = box
    radius = max(1.0, min(radius, wide / 2, high / 2))
    inner = ((x + radius, y + radius), (x + wide - radius, y + radius),
             (x + wide - radius, y + high - radius), (x + radius, y + high - radius))  # fmt: skip
    ways = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    arc = radius * np.stack([np.cos(ways), np.sin(ways)], axis=1)
    outline = np.concatenate([arc + corner for corner in inner])
    hull = cv2.convexHull((outline * 16).astype(np.int32))
    cv2.fillConvexPoly(image, hull, colour, cv2.LINE_AA, 4)
