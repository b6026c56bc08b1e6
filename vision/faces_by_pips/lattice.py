"""Reads a rectified face whose pips fade, by the contrast at the places of a die's lattice.

Owns: the comparison of every legal layout with the face, place by place. Must not know where the
face came from, nor how one threshold finds pips (`pips`).

Theory of operation: side light, a soft lens or a glint can make one pip of a face half as dark as
another. Then no single threshold separates all pips from the face. But each pip is darker than the
ring around it. So each place is measured against its own surroundings, at four sizes of pip. A
layout, with its spacing and its middle, fits if all of its places stand out alike, in one direction
of colour. No other place of the lattice and nothing else on the face may stand out in this
direction. A glint stands out in the opposite direction. On a place of the lattice a glint may hide
a pip; on other places it means nothing.

An ace is not read in this way, because a letter stands out from its surroundings, too.

Positions are shares of the face's edge, origin in its middle, x right and y down.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import cv2
import numpy as np

from shaker_ctl.frozen import frozen
from vision.faces_by_pips.spots import length

_RADII = (0.046, 0.062, 0.084, 0.112)
"""Radii of pips, in edges."""
_RING = (1.35, 2.0)
"""Inner and outer radius of the ring that a pip is compared with, in radii of the pip."""
_SPACINGS = np.linspace(0.17, 0.34, 18)
_MAX_OFF = 0.08
_OFFSETS = np.stack(
    np.meshgrid(*2 * (np.linspace(-_MAX_OFF, _MAX_OFF, 7),)), axis=-1
).reshape(-1, 2)  # fmt: skip
"""(49, 2): middles of the pattern that are tried."""
PLACES = np.array([(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)])
"""(9, 2): the lattice."""
_MIN_STEP = 6.0
"""Lab distance (8 bits) that the usual pip of a face must stand out by; grain of 12 grey levels
with JPEG makes 1.4."""
_MIN_FULL = 0.40
"""Weakest pip beside the usual one of its face."""
_MAX_FULL = 1.7
"""Strongest pip beside the usual one: a glint between the white pips of a two was taken for one."""
MIDDLE_OFF = 0.14
"""Most that the middle pip of a three or five is off the middle of the others, in spacings. Of 379
on the rig and path-traced none was beyond 0.09; an emblem that was taken for a pip had 0.20."""
_MAX_EMPTY = 0.30
"""Strongest other place of the lattice, the same way or the other."""
_MAX_ELSE = 0.60
"""Strongest other thing on the face, the same way."""
_APART = 2.2
"""Radii from the middle of a pip from which on something is another thing."""
_MIN_ROUND = 0.45
"""Shorter over longer axis of the least round pip."""
_MIN_GAP = 2.05
"""Least distance of two pips, in radii: they do not lie on each other."""
_OFF_LATTICE = 0.22
"""Farthest that a pip may be from its place, in spacings."""
_INSIDE = 0.43
"""How far from the middle anything is looked at: bevels and seams are farther out."""


@frozen
class Pattern:
    """A legal layout that fits a face."""

    value: int
    layout: tuple[tuple[int, int], ...]
    middle: tuple[float, float]
    spacing: float
    pip_diameter: float
    margin: float
    """0..1: weakest pip less the strongest other place, both beside the usual pip."""


def fit_layout(
    lab: np.ndarray, layouts: dict[int, tuple[tuple[tuple[int, int], ...], ...]]
) -> Pattern | None:
    """The one legal layout of two pips and more that a (S, S, 3) float32 Lab patch of one top face
    shows; None where none does."""
    steps = [_steps(lab, radius) for radius in _RADII]
    fits = [fit for one, r in zip(steps, _RADII, strict=True) if (fit := _best(one, r, layouts))]
    if not fits:
        return None
    # What is no pip may be hidden from a size that is not that of the pips: only the best counts.
    best = max(fits, key=lambda fit: fit.worth)
    return _proved(lab, best, steps[_RADII.index(best.radius) :])


def _steps(lab: np.ndarray, radius: float) -> np.ndarray:
    """(S, S, 3) by how much a disc around each pixel differs from the ring around that."""
    size = lab.shape[0]
    r = radius * size
    reach = int(np.ceil(_RING[1] * r))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    away = np.hypot(x, y)
    disc = np.clip(r + 0.5 - away, 0, 1)
    ring = np.clip(_RING[1] * r + 0.5 - away, 0, 1) * np.clip(away - _RING[0] * r + 0.5, 0, 1)
    kernel = (disc / disc.sum() - ring / ring.sum()).astype(np.float32)
    return np.asarray(cv2.filter2D(lab, -1, kernel, borderType=cv2.BORDER_REPLICATE))


@frozen(eq=False)
class _Fit:
    """A layout at one size of pip."""

    worth: float
    radius: float
    value: int
    layout: tuple[tuple[int, int], ...]
    offset: np.ndarray
    spacing: float
    usual: np.ndarray
    """(3,) Lab: what the usual pip stands out by."""
    margin: float


@functools.cache
def _tried(size: int) -> np.ndarray:
    """(places, spacings · offsets): which pixel of a face each place of each pattern is, row by
    row."""
    at = (_OFFSETS[None, :, None] + _SPACINGS[:, None, None, None] * PLACES + 0.5) * size - 0.5
    x, y = np.clip(np.rint(at), 0, size - 1).astype(np.intp).reshape(-1, len(PLACES), 2).T
    return np.asarray(y * size + x)


def _best(
    steps: np.ndarray,
    radius: float,
    layouts: dict[int, tuple[tuple[tuple[int, int], ...], ...]],
) -> _Fit | None:
    """The layout all of whose places, and no others, stand out most."""
    tried = _tried(steps.shape[0])
    colours = steps.reshape(-1, 3)
    strength = length(colours.T.copy())[tried]
    best: _Fit | None = None
    for value, ways in layouts.items():
        for layout in ways if value > 1 else ():
            is_pip = np.array([tuple(place) in layout for place in PLACES.tolist()])
            # What fits below stands out so, too; of few others so much is true.
            weakest, other = strength[is_pip].min(axis=0), strength[~is_pip].max(axis=0)
            likely = np.flatnonzero(
                (weakest > _MIN_FULL * _MIN_STEP) & (weakest * _MAX_EMPTY > other * _MIN_FULL)
            )
            if not len(likely):
                continue
            pips = colours[tried[is_pip][:, likely].T]
            usual = np.median(pips, axis=1)
            step = np.maximum(np.linalg.norm(usual, axis=1), 1e-6)
            along = (pips @ (usual / step[:, None])[..., None])[..., 0]
            full = along.min(axis=1) / step
            empty = other[likely] / step
            fits = (step > _MIN_STEP) & (full > _MIN_FULL) & (empty < _MAX_EMPTY)
            fits &= along.max(axis=1) < _MAX_FULL * step
            worth = np.where(fits, along.mean(axis=1) * (full - empty), 0.0)
            i = int(worth.argmax())
            if fits[i] and (best is None or worth[i] > best.worth):
                spacing, offset = divmod(int(likely[i]), len(_OFFSETS))
                best = _Fit(
                    float(worth[i]), radius, value, layout, _OFFSETS[offset],
                    float(_SPACINGS[spacing]), usual[i], float(full[i] - empty[i]),
                )  # fmt: skip
    return best


def _proved(lab: np.ndarray, fit: _Fit, steps: Sequence[np.ndarray]) -> Pattern | None:
    """The pattern, if its pips are round and in their places and nothing else is on the face, of
    their size or larger: `steps` of these sizes."""
    step = float(np.linalg.norm(fit.usual))
    lattice = np.array(fit.layout, float)
    places = fit.offset + fit.spacing * lattice
    pips = _pips(lab, places, fit.radius, fit.usual / step)
    if pips is None or _has_more(steps, places, fit):
        return None
    middle = pips.mean(axis=0)
    spacing = spacing_of(pips, lattice)
    off = np.linalg.norm(pips - middle - spacing * lattice, axis=1).max()
    if spacing < _MIN_GAP * fit.radius:
        return None
    if off > _OFF_LATTICE * spacing:
        return None
    if fit.value in (3, 5) and middle_off(pips) > MIDDLE_OFF * spacing:
        return None
    return Pattern(
        fit.value, fit.layout, (float(middle[0]), float(middle[1])), spacing, 2 * fit.radius,
        float(np.clip(fit.margin, 0.0, 1.0)),
    )  # fmt: skip


def _pips(
    lab: np.ndarray, places: np.ndarray, radius: float, colour: np.ndarray
) -> np.ndarray | None:
    """(N, 2) where the pips near these places have their middles; None where one is not round.
    `colour`: unit vector from the face to a pip."""
    size = lab.shape[0]
    reach = int(np.ceil(1.5 * radius * size))
    ink = lab @ colour.astype(np.float32)
    middles = []
    for place in (places + 0.5) * size - 0.5:
        x, y = (round(float(v)) for v in place)
        if not (reach <= x < size - reach and reach <= y < size - reach):
            return None
        window = ink[y - reach : y + reach + 1, x - reach : x + reach + 1]
        dy, dx = np.mgrid[-reach : reach + 1, -reach : reach + 1]
        low = float(np.quantile(window, 0.3))
        most = float(np.quantile(window, 0.97))
        # Of what is more than a third pip: the soft foot of one runs into its neighbour's.
        weight = np.clip(window - low - (most - low) / 3, 0, None)
        weight[np.hypot(dx, dy) > reach + 0.5] = 0
        m = cv2.moments(weight)
        if m["m00"] <= 0:
            return None
        half = (m["mu20"] + m["mu02"]) / 2
        turn = float(np.hypot((m["mu20"] - m["mu02"]) / 2, m["mu11"]))
        if half - turn < _MIN_ROUND**2 * (half + turn):
            return None
        at = np.array((x + m["m10"] / m["m00"], y + m["m01"] / m["m00"])) - reach
        middles.append((at + 0.5) / size - 0.5)
    return np.array(middles)


def spacing_of(points: np.ndarray, lattice: np.ndarray) -> float:
    """Distance from one place of the lattice to the next that fits (N, 2) pips best, N > 1, whose
    places are the rows of `lattice`."""
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum() / (lattice**2).sum()))


def middle_off(points: np.ndarray) -> float:
    """Distance of the innermost of (N, 2) pips from the middle of the others."""
    inner = int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmin())
    others = np.delete(points, inner, axis=0)
    return float(np.linalg.norm(points[inner] - others.mean(axis=0)))


def _has_more(steps: Sequence[np.ndarray], places: np.ndarray, fit: _Fit) -> bool:
    """True if something else on the face stands out the way its pips do, by any of `steps`."""
    size = steps[0].shape[0]
    step = float(np.linalg.norm(fit.usual))
    axis = (np.arange(size) + 0.5) / size - 0.5
    inside = np.flatnonzero(np.abs(axis) < _INSIDE - fit.radius)
    x, y = ((axis[inside] - places[:, k, None]) ** 2 for k in (0, 1))
    is_else = (y[:, :, None] + x[:, None]).min(axis=0) > (_APART * fit.radius) ** 2
    rows, columns = (inside[at] for at in np.nonzero(is_else))
    seen = np.concatenate([one[rows, columns] for one in steps])
    along = seen @ (fit.usual / step).astype(np.float32)
    return float(along.max(initial=0.0)) > _MAX_ELSE * step
