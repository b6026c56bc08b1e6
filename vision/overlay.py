"""The picture of a reading: what was seen, by whom, and what was concluded.

Owns: drawing. Must not know how any of it was found.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.reading import DieEvidence, NoRoll, Observation, Unreadable, Verdict, Verified

_GREEN = (80, 200, 60)
_RED = (60, 60, 230)
_AMBER = (40, 180, 250)
_WHITE = (245, 245, 245)
_DARK = (24, 24, 24)
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_BAR_PX = 26
_MIN_WIDTH, _MAX_HEIGHT = 640, 4096


def draw_reading(image: np.ndarray, observation: Observation, verdict: Verdict) -> np.ndarray:
    """A copy of the picture with each die's top face, both readers' votes and the verdict."""
    times = enlargement(image)
    picture = cv2.resize(image, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
    scale = max(0.45, min(1.6, picture.shape[1] / 1280))
    for index, die in enumerate(observation.dice):
        is_culprit = isinstance(verdict, NoRoll) and verdict.die == index
        _draw_die(picture, die, is_culprit, scale, times)
    return _with_bar(picture, describe(verdict), colour_of(verdict), scale)


def enlargement(image: np.ndarray) -> int:
    """How many times a picture is enlarged before words are written on it; a strip that is wide
    enough for words only where it is endlessly long stays narrow."""
    height, width = image.shape[:2]
    return max(1, min(-(-_MIN_WIDTH // width), _MAX_HEIGHT // height))


def enlarged(points: np.ndarray, times: int) -> np.ndarray:
    """Where (..., 2) points of a picture are in the enlarged one, in whole pixels."""
    # Pixels are counted from their middles, also by `cv2.resize`.
    return np.asarray(np.round((points + 0.5) * times - 0.5).astype(np.int32))


def describe(verdict: Verdict) -> str:
    """The verdict as one line."""
    if isinstance(verdict, Verified):
        values = " ".join(str(value) for value in verdict.values)
        return f"VERIFIED {values}  total {sum(verdict.values)}  ({verdict.confidence:.2f})"
    if isinstance(verdict, NoRoll):
        return f"NO ROLL: die {verdict.die + 1} {verdict.kind.value} {verdict.angle_deg:.0f} deg"
    detail = f" - {verdict.detail}" if verdict.detail else ""
    return f"UNREADABLE: {verdict.reason.value}{detail}"


def colour_of(verdict: Verdict) -> tuple[int, int, int]:
    if isinstance(verdict, Verified):
        return _GREEN
    return _RED if isinstance(verdict, Unreadable) else _AMBER


def _draw_die(
    picture: np.ndarray, die: DieEvidence, is_culprit: bool, scale: float, times: int
) -> None:
    corners = enlarged(np.array(die.corners), times)
    model = str(die.model.value) if die.model else "-"
    second = str(die.second.value) if die.second else "-"
    agrees = die.model is not None and die.second is not None and model == second
    colour = _AMBER if is_culprit or die.odds < 0 else _GREEN if agrees else _RED
    thick = 1 if scale < 0.7 else 2
    cv2.polylines(picture, [corners], True, colour, thick, cv2.LINE_AA)
    x = int(corners[:, 0].min())
    y = int(corners[:, 1].min()) - 5
    if y < 14:
        y = int(corners[:, 1].max()) + 14
    label = model if agrees else f"model {model}  pips {second}"
    if die.model is not None and die.model.near_lean_deg and (is_culprit or die.odds < 0):
        label += f"  lean {die.model.near_lean_deg:.0f}"
    height = scale * (1.25 if agrees else 0.85)
    size, _ = cv2.getTextSize(label, _FONT, height, thick)
    x = max(2, min(x, picture.shape[1] - size[0] - 2))
    cv2.putText(picture, label, (x, y), _FONT, height, _DARK, thick + 2, cv2.LINE_AA)
    cv2.putText(picture, label, (x, y), _FONT, height, colour, thick, cv2.LINE_AA)


def _with_bar(
    picture: np.ndarray, text: str, colour: tuple[int, int, int], scale: float
) -> np.ndarray:
    height = round(_BAR_PX * max(1.0, scale / 0.5))
    width, _ = cv2.getTextSize(text, _FONT, scale, 1)[0]
    scale *= min(1.0, (picture.shape[1] - 22) / width)
    bar = np.full((height, picture.shape[1], 3), _DARK, np.uint8)
    cv2.rectangle(bar, (0, 0), (6, height), colour, -1)
    cv2.putText(bar, text, (14, round(height * 0.68)), _FONT, scale, _WHITE, 1, cv2.LINE_AA)
    return np.concatenate([picture, bar])
