"""How a die lies, from a close look at it: the model's second, small network.

Owns: the window around one die, its network's session, and what an upright die at that place would
look like to it. Must not know what the answer is good for.

The first network sees all dice of a picture at once and has to find out for each where "straight
down" is. Here that is known: a window is cut out along the top face, turned and sized by it, and
with it go three numbers from the calibration: where the bottom face of an upright die would appear
beside the top one (2, in edges) and how large the top face is beside a flat die's. What is left to
see is whether the side faces are as wide as those of a die that lies flat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import onnxruntime as ort

from vision.calibration import Calibration
from vision.errors import ModelError
from vision.model_card import ModelFile

SIDE = 96
"""Side of the window, pixels."""
FACE = 46.0
"""Edge of the top face in it: what is left beside it is half an edge on each side."""


@dataclass(frozen=True, slots=True)
class Lie:
    """What a close look says of one die."""

    flat_p: float
    """Probability, 0..1, that it lies flat on the floor."""
    lean_deg: float
    """Its angle from upright, degrees, by where its bottom face seems to be."""


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A die as it is shown to the network."""

    matrix: np.ndarray
    """(2, 3) float64: from the frame's pixels to the window's."""
    place: np.ndarray
    """(3,) float32: see the module's docstring."""
    edge_px: float


def window(corners: np.ndarray, calibration: Calibration) -> Window:
    """The window for a top face with these corners (4, 2), clockwise, in frame pixels."""
    corners = np.asarray(corners, float)
    sides = np.roll(corners, -1, axis=0) - corners
    edge = float(np.linalg.norm(sides, axis=1).mean())
    # The mean of all four sides, each turned onto the first.
    ways = (sides[:, 0] + 1j * sides[:, 1]) * np.array([1, -1j, -1, 1j])
    turn = float(np.angle(ways.sum()))
    scale = FACE / max(edge, 1e-6)
    c, s = scale * np.cos(turn), scale * np.sin(turn)
    matrix = np.array([[c, s, 0.0], [-s, c, 0.0]])
    middle = corners.mean(axis=0)
    matrix[:, 2] = (SIDE - 1) / 2 - matrix[:, :2] @ middle
    die = calibration.die_mm
    x, y = calibration.to_mm(middle, die)[0]
    below = calibration.to_px(np.array([(x, y, 0.0)]))[0]
    down = matrix[:, :2] @ (below - middle) / FACE
    usual = die * calibration.px_per_mm(die)
    return Window(matrix, np.array([*down, edge / usual], np.float32), edge)


class LieReader:
    """The network, loaded and warm. One instance per thread."""

    def __init__(self, file: ModelFile, threads: int = 1) -> None:
        """Raises ModelError when the file does not load or run."""
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = ort.InferenceSession(
                str(file.path), options, providers=["CPUExecutionProvider"]
            )
            self._run(np.zeros((3, SIDE, SIDE, 3), np.uint8), np.zeros((3, 3), np.float32))
        except Exception as error:  # onnxruntime raises undocumented types of its own
            raise ModelError(f"{file.path} does not load or run: {error}") from error

    def look(
        self, image: np.ndarray, faces: Sequence[np.ndarray], calibration: Calibration
    ) -> list[Lie]:
        """One answer for each top face, (4, 2) corners clockwise, of a uint8 BGR frame."""
        if not faces:
            return []
        windows = [window(corners, calibration) for corners in faces]
        shown = np.stack([_cut(image, each) for each in windows])
        answers = self._run(shown, np.stack([each.place for each in windows]))
        die = calibration.die_mm
        reach = die * calibration.px_per_mm(die / 2)
        return [
            Lie(
                flat_p=float(1 / (1 + np.exp(-flat))),
                lean_deg=float(
                    np.degrees(np.arcsin(min(1.0, float(np.hypot(x, y)) * each.edge_px / reach)))
                ),
            )
            for each, (flat, x, y) in zip(windows, answers, strict=True)
        ]

    def _run(self, shown: np.ndarray, places: np.ndarray) -> np.ndarray:
        answers = self._session.run(["lies"], {"windows": shown, "places": places})[0]
        return np.asarray(answers, np.float64)


def _cut(image: np.ndarray, at: Window) -> np.ndarray:
    cut = cv2.warpAffine(
        image, at.matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(cut, np.uint8)
