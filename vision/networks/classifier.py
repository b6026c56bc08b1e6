"""The first reader: one pass of our ONNX model finds every die and reads it.

Owns: what may be shown to the network, and the decoding of its two output maps. Must not know:
cameras, calibration, what a round is, or the second reader.

What the network says, per cell
-------------------------------
`peaks`, one cell per 4 pixels, 8 channels: the centre heat after a 3×3 maximum filter (zero
except at its local maxima); the offset of the centre within its cell (2, in cells); ln of the
face's radius in pixels; and the face's shape in a form that does not care by how many quarter
turns the die was rotated. With the half diagonals d1, d2 as complex numbers and radius
r = √(|d1|·|d2|), the network gives P = d1²·d2² / r⁴ (2) and S = (d1² + d2²) / r² (2): symmetric
in d1 ↔ d2 and in their signs, so neither jumps at any angle. The squares are the roots of
w² − S·w + P = 0.

`faces`, one cell per 8 pixels, 9 channels: logits of the six values, the logit of "lies flat",
and the vector from the centre of the top face to that of the bottom face in units of r (2).
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np

from vision.errors import VisionError
from vision.networks import probability
from vision.networks.model_card import MANIFEST, MULTIPLE, ModelCard, read_model_card
from vision.networks.near_look import NearLook, NearReader
from vision.networks.photo_look import PhotoLooker
from vision.networks.session import Network
from vision.networks.windows import PADDING
from vision.quads import edge_of

PEAK_STRIDE = 4
FACE_STRIDE = 2 * PEAK_STRIDE
"""Pixels of the picture for each cell of the network's two maps."""

_SAME_DIE = 0.9
"""Two peaks nearer than this many radii (half diagonals) are one die: the centres of two
touching faces are at least √2 radii apart."""

_MAX_DICE = 100
"""Most peaks of a picture that are looked at, the highest: they bound the time."""


@dataclass(frozen=True, slots=True)
class FoundDie:
    """One die as the network sees it in one picture, in that picture's pixels."""

    corners: np.ndarray
    """(4, 2) float32, pixels: the corners of the top face, clockwise in the image, any start."""

    value: int
    """1..6, the most probable value of the top face."""

    value_p: np.ndarray
    """(6,) float32, probabilities of the values 1..6."""

    flat_p: float
    """Probability, 0..1, that the die lies flat, from its looks and surroundings alone."""

    score: float
    """Confidence, 0..1, that a die is here at all."""

    down: np.ndarray
    """(2,) float32, pixels: from the centre of the top face to the centre of the bottom face.
    A local, calibration-free measure of how the die's axis leans against the line of sight;
    under a calibrated camera its expected value for a flat die is known at every place."""

    near: NearLook | None = None
    """What a closer look says of how it lies; only under a calibration, and with a model that has
    a network for it."""

    is_overruled: bool = False
    """The network was surer of another face of this die, which lies lower in the photograph, and
    was overruled, as photographs are taken upright (`vision.photo.finder`)."""

    @property
    def centre(self) -> np.ndarray:
        """(2,) float32, pixels: the centre of the top face."""
        return np.asarray(np.add.reduce(self.corners) / len(self.corners), np.float32)

    @property
    def edge_px(self) -> float:
        """Mean edge of the top face, pixels."""
        return edge_of(self.corners)


class DieFinder:
    """The ONNX model, loaded, checked and warm. One instance per thread."""

    def __init__(self, model: Path | None = None) -> None:
        """Load the model that `manifest.toml` in the folder `model` (default: `models/`) names.

        `model` may also be the manifest itself. Raises ModelError when the model is missing,
        is not the one that its manifest describes, or does not load.
        """
        manifest = MANIFEST if model is None else model
        self.card: ModelCard = read_model_card(
            manifest / "manifest.toml" if manifest.is_dir() else manifest
        )
        self._network = Network(self.card.finder.path, (MULTIPLE, MULTIPLE, len(PADDING)))
        self.near = None if self.card.near is None else NearReader(self.card.near)

    @cached_property
    def photo(self) -> PhotoLooker | None:
        """The network that looks at each thing on a photograph, loaded when first asked for: a
        table never does. Raises ModelError when it does not load or run."""
        return None if self.card.photo is None else PhotoLooker(self.card.photo)

    def find(self, image: np.ndarray, min_score: float | None = None) -> list[FoundDie]:
        """Every die in a BGR uint8 (H, W, 3) picture of any size, best score first.

        `min_score` replaces the manifest's threshold. Raises VisionError when the picture is of
        another kind.
        """
        return decode(*self.maps(image), self.card.min_score if min_score is None else min_score)

    def maps(self, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The network's raw output: `peaks` (8, H/4, W/4) and `faces` (9, H/8, W/8), float32."""
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
            raise VisionError(
                f"expected a colour picture as uint8 (H, W, 3), got {image.dtype} {image.shape}"
            )
        bottom, right = -image.shape[0] % MULTIPLE, -image.shape[1] % MULTIPLE
        if bottom or right:
            image = cv2.copyMakeBorder(
                image, 0, bottom, 0, right, cv2.BORDER_CONSTANT, value=PADDING
            )
        peaks, faces = self._network(np.ascontiguousarray(image)[None])
        return peaks[0], faces[0]


def decode(peaks: np.ndarray, faces: np.ndarray, min_score: float) -> list[FoundDie]:
    """The two output maps of one picture as dice, best first; see the module's docstring."""
    rows, columns = np.nonzero(peaks[0] >= min_score)
    order = np.argsort(-peaks[0, rows, columns], kind="stable")[:_MAX_DICE]
    dice: list[FoundDie] = []
    taken: list[tuple[float, float, float]] = []
    for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        score, dx, dy, ln_r, p_re, p_im, s_re, s_im = peaks[:, row, column].tolist()
        x, y = (column + dx) * PEAK_STRIDE, (row + dy) * PEAK_STRIDE
        radius = math.exp(min(max(ln_r, 0.0), 8.0))
        # Only the smaller radius counts: a wild guess of a huge die must not hide its neighbours.
        if any(math.hypot(x - u, y - v) < _SAME_DIE * min(radius, q) for u, v, q in taken):
            continue
        taken.append((x, y, radius))
        *values, flat, right, down = _at(faces, x / FACE_STRIDE, y / FACE_STRIDE).tolist()
        value_p = probability.of_logits(np.array(values))
        dice.append(
            FoundDie(
                corners=_corners(x, y, radius, complex(p_re, p_im), complex(s_re, s_im)),
                value=int(value_p.argmax()) + 1,
                value_p=value_p,
                flat_p=probability.of_logit(flat),
                score=score,
                down=np.array((right * radius, down * radius), np.float32),
            )
        )
    return dice


def _corners(x: float, y: float, radius: float, p: complex, s: complex) -> np.ndarray:
    """Corners of the parallelogram with that centre, radius and symmetric shape numbers."""
    p /= max(abs(p), 1e-6)
    mean = s / 2
    root = cmath.sqrt(mean * mean - p)
    halves = [radius * cmath.sqrt(w) for w in (mean + root, mean - root)]
    turns = sorted((h for half in halves for h in (half, -half)), key=cmath.phase)
    # The image's y axis points down, so growing angles run clockwise.
    return np.array([(x + h.real, y + h.imag) for h in turns], np.float32)


def _at(maps: np.ndarray, x: float, y: float) -> np.ndarray:
    """All channels at a place between cell centres (cell i has its centre at i + ½)."""
    height, width = maps.shape[1:]
    x, y = min(max(x - 0.5, 0.0), width - 1.0), min(max(y - 0.5, 0.0), height - 1.0)
    x0, y0 = min(int(x), max(width - 2, 0)), min(int(y), max(height - 2, 0))
    x1, y1 = min(x0 + 1, width - 1), min(y0 + 1, height - 1)
    u, v = x - x0, y - y0
    top = maps[:, y0, x0] * (1 - u) + maps[:, y0, x1] * u
    bottom = maps[:, y1, x0] * (1 - u) + maps[:, y1, x1] * u
    return np.asarray(top * (1 - v) + bottom * v, np.float32)
