"""Every step of a reading as one picture: `shaker-ctl read --explain FOLDER PHOTO`.

Owns: the layout of that picture: what the model found, what the second reader saw, each rectified
face with both votes and its geometry, and the verdict.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import cv2
import numpy as np

from vision.findings import Findings
from vision.networks.classifier import FoundDie
from vision.overlay import colour_of, describe, draw_reading, enlarged, enlargement
from vision.quads import rectify
from vision.reading import DieEvidence

_PANEL = (640, 480)
_FACE_PX, _SHARP_PX = 132, 72
"""Edges of a face as it is drawn, and as a table's picture shows it, pixels."""
_CARD = (206, 390)
"""Width and height, pixels: a face, and a line for each of the 15 things that may be said of it."""
_DARK = (28, 26, 24)
_WHITE = (238, 238, 238)
_GREY = (160, 160, 160)
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_LEGEND = (
    "1: yellow top face, blue the way down to its foot, violet an upright die in this place.   "
    "2: green a face, or its places if they show the model's value, red if not; blue spots.   "
    "3: green both agree, red they do not, amber not flat.   Below: positive log-odds say flat."
)


def explain(image: np.ndarray, seen: Findings) -> np.ndarray:
    """One picture of all steps; `image` is what `seen` was made from."""
    observation = seen.observation
    times = enlargement(image)
    large = cv2.resize(image, None, fx=times, fy=times, interpolation=cv2.INTER_CUBIC)
    panels = [
        _panel("1  the model: top faces, values, flat?", _model_view(large, seen.model, times)),
        _panel("2  the second reader, from the picture alone", _second_view(large, seen, times)),
        _panel("3  both together", draw_reading(image, observation, observation.opinion)),
    ]
    rows = [np.concatenate(panels, axis=1)]
    width = rows[0].shape[1]
    cards = [_card(image, i, die) for i, die in enumerate(observation.dice)]
    per_row = width // _CARD[0]
    for start in range(0, len(cards), per_row):
        row = np.concatenate(cards[start : start + per_row], axis=1)
        free = np.full((_CARD[1], width - row.shape[1], 3), _DARK, np.uint8)
        rows.append(np.concatenate([row, free], axis=1))
    foot = np.full((94, width, 3), _DARK, np.uint8)
    cv2.rectangle(foot, (0, 0), (12, 94), colour_of(observation.opinion), -1)
    cv2.putText(foot, describe(observation.opinion), (28, 30), _FONT, 0.8, _WHITE, 1, cv2.LINE_AA)
    cv2.putText(foot, _small_print(seen), (28, 58), _FONT, 0.5, _GREY, 1, cv2.LINE_AA)
    cv2.putText(foot, _LEGEND, (28, 82), _FONT, 0.45, _GREY, 1, cv2.LINE_AA)
    return np.concatenate([*rows, foot])


def _small_print(seen: Findings) -> str:
    parts = [f"{name} {ms:.0f} ms" for name, ms in seen.observation.cost_ms]
    quality = seen.observation.quality
    if quality is not None:
        parts.append(f"grey {quality.median:.0f}, sharpness {quality.sharpness:.2f}")
        if quality.rim_px >= 0:
            parts.append(f"rim {quality.rim_px:.1f} px from its place")
    return "   ".join(parts)


def _panel(title: str, picture: np.ndarray) -> np.ndarray:
    width, height = _PANEL
    scale = min(width / picture.shape[1], height / picture.shape[0])
    size = tuple(max(1, round(side * scale)) for side in (picture.shape[1], picture.shape[0]))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    panel = np.full((height + 30, width, 3), _DARK, np.uint8)
    panel[30 : 30 + small.shape[0], : small.shape[1]] = small
    cv2.putText(panel, title, (8, 20), _FONT, 0.5, _WHITE, 1, cv2.LINE_AA)
    return panel


def _model_view(image: np.ndarray, dice: Sequence[FoundDie], times: int) -> np.ndarray:
    picture = image.copy()
    thick = max(1, image.shape[1] // 500)
    for die in dice:
        corners = enlarged(die.corners, times)
        if die.near is not None:
            # What the near look compares with the picture: an upright die at this place.
            for face in (die.near.upright[:4], die.near.upright[4:]):
                ring = enlarged(face, times)
                cv2.polylines(picture, [ring], True, (200, 120, 220), thick, cv2.LINE_AA)
        cv2.polylines(picture, [corners], True, (60, 220, 250), thick, cv2.LINE_AA)
        middle, foot = enlarged(np.array([die.centre, die.centre + die.down]), times).tolist()
        cv2.arrowedLine(picture, middle, foot, (250, 120, 60), thick, cv2.LINE_AA)
        text = f"{die.value} {die.value_p.max():.2f} flat {die.flat_p:.2f}"
        at = (int(corners[:, 0].min()), max(12 * thick, int(corners[:, 1].min()) - 4))
        cv2.putText(picture, text, at, _FONT, 0.42 * thick, (60, 220, 250), thick, cv2.LINE_AA)
    return picture


def _second_view(image: np.ndarray, seen: Findings, times: int) -> np.ndarray:
    picture = (image * 0.45).astype(np.uint8)
    thick = max(1, image.shape[1] // 500)
    if seen.second is not None:
        for outline in seen.second.outlines:
            cv2.polylines(
                picture, [enlarged(outline, times)], True, (230, 200, 60), thick, cv2.LINE_AA
            )
        for die in seen.second.dice:
            corners = enlarged(die.corners, times)
            cv2.polylines(picture, [corners], True, (90, 230, 90), thick, cv2.LINE_AA)
        return picture
    for read, places in zip(seen.observation.dice, seen.places, strict=False):
        vote, model = read.second, read.model
        agrees = vote is not None and model is not None and vote.value == model.value
        colour = (90, 230, 90) if agrees else (80, 80, 230)
        for place in places:
            middle = enlarged(place, times).tolist()
            cv2.circle(picture, middle, 2 * thick, colour, thick, cv2.LINE_AA)
    for x, y, diameter, *_ in seen.spots if seen.spots is not None else ():
        radius = max(1, round(diameter / 2 * times))
        middle = enlarged(np.array((x, y)), times).tolist()
        cv2.circle(picture, middle, radius, (200, 160, 60), thick, cv2.LINE_AA)
    return picture


def _card(image: np.ndarray, index: int, die: DieEvidence) -> np.ndarray:
    card = np.full((_CARD[1], _CARD[0], 3), _DARK, np.uint8)
    patch = rectify(image, np.array(die.corners), _SHARP_PX)
    patch = cv2.resize(patch, (_FACE_PX, _FACE_PX), interpolation=cv2.INTER_CUBIC)
    card[8 : 8 + _FACE_PX, 8 : 8 + _FACE_PX] = patch
    lines = [f"die {index + 1}"]
    if (model := die.model) is not None:
        lines.append(f"model {model.value} ({model.value_p:.2f}) flat {model.flat_p:.2f}")
        if model.near_p is not None:
            near_deg = model.near_lean_deg or 0.0
            lines.append(f"near look: flat {model.near_p:.2f}, lean {near_deg:.0f} deg")
    if die.second is None:
        lines.append("pips: not seen")
    else:
        lines.append(f"pips {die.second.value} ({die.second.confidence:.2f})")
        lines += textwrap.wrap(die.second.oddity, 32)[:3]
    if (height := die.height) is not None:
        lines.append(f"pips {height.above:+.3f} of a die too high")
        lines.append(f"rise {height.slope:.3f}, lenses alike {height.least:.2f}")
    lines += [f"{each.name:<11}{each.odds:+6.1f}" for each in die.witnesses]
    if die.witnesses:
        lines.append(f"log-odds of flat {die.odds:+.1f}")
    for i, line in enumerate(lines):
        at = (8, _FACE_PX + 26 + 15 * i)
        cv2.putText(card, line[:34], at, _FONT, 0.37, _WHITE, 1, cv2.LINE_AA)
    return card
