"""Whether the middle of a face looks as the rest of the face predicts.

Owns: the comparison of the middle pip of a three or five with its outer pips, and of the empty
middle of a two or four with the plain face. Must not know how the pips were found.

A speck or a highlight can change a legal face into another legal face at one place only, the
middle: 2 becomes 3 and 4 becomes 5, or the reverse. So the middle must look as the face says. The
colour is read along rays from the middle and from other places of the face, as a mean for each
distance. One such profile shows colour, size and softness. What is usual is what this face itself
shows: how far its outer pips differ from one another, and how uneven it is halfway between them.
So paint that is worn, a light from one side and the blur of a camera make a die no stranger. The
die's material changes the face, too; above all, far pips shine through a clear die. This effect is
in the face's `grain`. Nothing shines through the paint of a pip, so its limits have no grain. Nor
does anything lighter than the face shine through a face whose pips are darker: there a middle of
another hue than what is around it counts as well, because a highlight or a sticker that covers a
pip with the face's own brightness seldom has its hue. Of 426 threes and fives of the rig's opaque
dice with a disc of 1.5 to 2.1 mm over the middle pip, 20 grey levels darker to 30 brighter than the
face, 2 are not odd, without the hue 70; of 808 clean twos and fours one is odd.
"""

from __future__ import annotations

import numpy as np

from vision.faces_by_pips.spots import RAYS, length, sample
from vision.medians import medians

_ANGLES = np.linspace(0, 2 * np.pi, RAYS, endpoint=False)
_TURNS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])
"""(2, rays): ways from the middle of a pip."""
_DISTANCES = np.linspace(0.0, 1.0, 14)
"""Distances of the samples along a ray, in diameters of a pip. Half of them lie on the pip."""

_PAINT_DIFFERS, _SHAPE_DIFFERS, _STEP_GRAIN = 0.04, 0.1, 1.2
"""What is never too much by itself: the difference between the paint of the middle pip and of the
outer pips, in contrasts of the face's own pips; that between their shapes, in shares of each one's
contrast; and the step of an empty middle's profile, in the grain. Source of the second: 1,040 clean
threes and fives of 351 and 653 flat tosses, on the rig and path-traced, two of which differ by
more, and 149 path-traced twos and fours with a disc in the middle, 131 of which do."""
_AMONG = 1.5
"""How far the middle may differ from what is usual, in the largest difference that the rest of the
face has. Source: of faces that are what they seem 1 of 421 on the rig are odd, 15 of 243
path-traced, 22 of 556 on photographs."""
_ON_FACE = 11
"""So many samples of a ray are on the face: beyond, rays from an outer pip meet the die's edge."""
_ON_PIP = len(_DISTANCES) // 2
"""So many samples of a ray are on the pip: the paint."""


def oddity(lab: np.ndarray, pips: np.ndarray, diameter: float, grain: float) -> str:
    """What is odd about the middle of a face, in words; empty: nothing.

    `lab` is the face, (size, size, 3) float32 in Lab colours; `pips`, (value, 2), and `diameter`
    say where its pips are, in shares of its edge from its middle; `grain` is the unevenness of the
    face itself, as a share of the contrast of its pips.
    """
    if len(pips) not in (2, 3, 4, 5):
        return ""
    middle = pips.mean(axis=0)
    inner, *outer = sorted(pips, key=lambda pip: float(np.linalg.norm(pip - middle)))
    if len(pips) in (3, 5):
        return _odd_pip(_profiles(lab, [inner, *outer], diameter))
    # Between the pips of a two, or of a four, are the middle and four other empty places.
    corner = inner - middle
    across = np.array([-corner[1], corner[0]])
    ways = np.array([corner + across, corner - across, across - corner, -corner - across]) / 2
    profiles = _profiles(lab, [*pips, middle, *(middle + ways)], diameter)
    return _odd_plain(profiles[:, len(pips) :], profiles[:, : len(pips)], grain)


def _odd_pip(profiles: np.ndarray) -> str:
    """What is odd about the first of (3, N, 14) profiles of pips."""
    faces = profiles[..., :_ON_FACE]
    contrast = _contrast(faces[:, 1:])
    # Light that falls off over a face changes the paint of its pips, but not how they end.
    shapes = length(faces - faces[..., -1:])
    shapes /= np.maximum(shapes.max(axis=1, keepdims=True), 1.0)
    share, how = 0.0, []
    for values, order, limit, what in (
        (faces[..., :_ON_PIP].mean(axis=2).T / contrast, 2, _PAINT_DIFFERS, "paint"),
        (shapes, np.inf, _SHAPE_DIFFERS, "shape"),
    ):
        differs = _apart(values[0], values[1:], order)
        rests = {i: np.delete(values, (0, i), axis=0) for i in range(1, len(values))}
        among = max(_apart(values[i], rest, order) for i, rest in rests.items())
        if differs > _AMONG * among:
            share += differs / limit
            how.append(f"in {what}, by {differs:.2f}")
    # A speck of nearly a pip's size and colour is beyond neither limit, but beyond what is usual.
    if share > 1:
        return f"the spot in the middle differs from the other pips {' and '.join(how)}"
    return ""


def _apart(own: np.ndarray, others: np.ndarray, order: float) -> float:
    """How far (K,) values are from the median of (N, K) others, in a norm."""
    return float(np.linalg.norm(own - medians(others.T), order))


def _odd_plain(empty: np.ndarray, pips: np.ndarray, grain: float) -> str:
    """What is odd about the first of (3, N, 14) profiles of a face's empty places, beside those of
    its pips."""
    contrast = _contrast(pips)
    steps = length(np.diff(empty)) / contrast
    step = steps[0].max()
    # The other rays begin halfway between two pips, and meet them in their second half.
    elsewhere = steps[1:, :_ON_PIP].max()
    odd = step / max(_STEP_GRAIN * grain, _AMONG * elsewhere, 1e-6)
    how = f"by {step:.2f}"
    if pips[0, :, :_ON_PIP].mean() < empty[0, :, :_ON_PIP].mean():
        hues, half = empty[1:] / contrast, _ON_PIP // 2
        tint = _apart_in_hue(hues[:, :1, :_ON_PIP], hues[:, :1, _ON_FACE:])
        usual = _apart_in_hue(hues[:, 1:, :half], hues[:, 1:, half:_ON_PIP])
        odd = np.hypot(odd, tint / max(grain, _AMONG * usual, 1e-6))
        how += f", in hue by {tint:.2f}"
    return f"the middle is not as plain as the rest of the face, {how}" if odd > 1 else ""


def _apart_in_hue(inner: np.ndarray, outer: np.ndarray) -> float:
    """The largest distance between the means of two parts, (2, N, K) each, of N profiles' hues."""
    return float(length(inner.mean(axis=2) - outer.mean(axis=2)).max())


def _contrast(pips: np.ndarray) -> float:
    """Lab distance between a usual pip and the face around it, by (3, N, K) profiles; at least 1.
    The middle of a pip that is a ring has the face's colour."""
    usual = medians(np.moveaxis(pips, 1, 2))
    return max(float(length(usual - usual[:, -1:]).max()), 1.0)


def _profiles(lab: np.ndarray, places: list[np.ndarray], diameter: float) -> np.ndarray:
    """(3, N, 14): the colour by distance from each of N places (2,)."""
    size = len(lab)
    middles = (np.array(places) + 0.5) * size - 0.5
    reach = _DISTANCES * diameter * size
    x, y = (middles[:, k, None] + np.outer(_TURNS[k], reach).ravel() for k in (0, 1))
    rays = sample(lab, x, y).reshape(3, len(places), RAYS, len(reach))
    return np.asarray(rays.mean(axis=2))
