"""Whether the middle of a face looks as the rest of the face predicts.

Owns: the comparison of the middle pip of a three or five with its outer pips, and of the empty
middle of a two or four with the plain face. Must not know how the pips were found.

A speck or a highlight can change a legal face into another legal face at one place only, the
middle: 2 becomes 3 and 4 becomes 5, or the reverse. So the middle must look as the face says. The
colour is read along rays from the middle and from each outer pip, as a mean for each distance. One
such profile shows colour, size and softness. The die's material also changes the face; above all,
far pips shine through a clear die. This effect is in the face's `grain`, and `grain` widens both
limits. Nothing shines through the paint of a pip, so its own colour has a limit of its own.
"""

from __future__ import annotations

import cv2
import numpy as np

_TURNS = np.linspace(0, 2 * np.pi, 16, endpoint=False)
_RAYS = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1)
_DISTANCES = np.linspace(0.0, 1.0, 14)
"""Distances of the samples along a ray, in diameters of a pip. Half of them lie on the pip."""
_PAIRS = (((-1, -1), (1, 1)), ((1, -1), (-1, 1)))
_CORNERS = (((-1, -1), (1, -1), (-1, 1), (1, 1)),)
_OUTER = {2: _PAIRS, 3: _PAIRS, 4: _CORNERS, 5: _CORNERS}
"""Where the outer pips of a face can be, on its lattice."""

_PIP_DIFFERS, _PIP_GRAIN = 0.04, 1.95
_PLAIN_STEP, _STEP_GRAIN = 0.002, 1.2
"""Limits, in contrasts of the face's own pips. First pair: the largest difference between the
middle pip's profile and the outer pips' profile. Second pair: the steepest step in an empty
middle's profile. The second number of each pair is the growth of the limit with the grain."""
_INSIDE, _PAINT = 5, 0.06
"""So many samples of a ray are well inside a pip; and the largest difference between the mean
colours of the middle pip and the outer ones there, in contrasts of the pips. Source: of 64 clean
threes and fives of the rig (seed 17002) none has more than 0.05. Of 76 twos and fours that a disc
made a three or five, 16 pass the first limit alone, 14 of them on clear dice; with this 3 do."""


def oddity(
    lab: np.ndarray, value: int, middle: np.ndarray, spacing: float, diameter: float, grain: float
) -> str:
    """What is odd about the middle of a face, in words; empty: nothing.

    `lab` is the face, (size, size, 3) float32 in Lab colours; `middle`, `spacing` and `diameter`
    say where its pips are, in shares of its edge; `grain` is the unevenness of the face itself, as
    a share of the contrast of its pips.
    """
    if value not in _OUTER:
        return ""
    own, pips = max(
        (_profiles(lab, middle, spacing, diameter, outer) for outer in _OUTER[value]),
        key=lambda found: float(np.linalg.norm(found[1][0] - found[1][-1])),
    )
    contrast = max(float(np.linalg.norm(pips[0] - pips[-1])), 1.0)
    if value in (3, 5):
        differs = float(np.linalg.norm(own - pips, axis=1).max()) / contrast
        paint = float(np.linalg.norm((own - pips)[:_INSIDE].mean(axis=0))) / contrast
        if differs > _PIP_DIFFERS + _PIP_GRAIN * grain or paint > _PAINT:
            return (
                f"the spot in the middle differs from the other pips by {max(differs, paint):.2f}"
            )
        return ""
    step = float(np.linalg.norm(np.diff(own, axis=0), axis=1).max()) / contrast
    if step > _PLAIN_STEP + _STEP_GRAIN * grain:
        return f"the middle is not as plain as the rest of the face, by {step:.2f}"
    return ""


def _profiles(
    lab: np.ndarray,
    middle: np.ndarray,
    spacing: float,
    diameter: float,
    outer: tuple[tuple[int, int], ...],
) -> tuple[np.ndarray, np.ndarray]:
    """Colour by distance, each (14, 3): from the middle, and from the usual outer pip."""
    size = len(lab)
    places = (middle + 0.5 + np.array([(0, 0), *outer], float) * spacing) * size - 0.5
    reach = (_DISTANCES * diameter * size)[:, None]
    at = places[:, None, None] + _RAYS[:, None] * reach
    rays = cv2.remap(
        lab,
        at[..., 0].reshape(-1, len(_DISTANCES)).astype(np.float32),
        at[..., 1].reshape(-1, len(_DISTANCES)).astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    means = rays.reshape(len(places), len(_RAYS), len(_DISTANCES), 3).mean(axis=1)
    return means[0], np.median(means[1:], axis=0)
