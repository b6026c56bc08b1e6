"""Round spots of any size and colour in a photograph: pips of dice that the model missed, perhaps.

Owns: finding spots and measuring them. Must not know faces, dice or the model's findings.

Theory of operation: on each level of a pyramid in half octaves, extremes of a difference of
Gaussians (lightness and both colour axes) propose spots of about six pixels. Then each spot is
measured. Its inner colour and the colour around it span an axis. Sixteen rays are followed outward
to the place half way between the two colours. This half-height edge needs no threshold in grey
levels, so faint, blurred and coloured pips measure like black pips on white. The first harmonic of
the sixteen radii gives the centre, the second gives the ellipse, and the others show how
far the spot is from round.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision.medians import known_medians
from vision.parameters import FINE_SIDE, MAX_ENLARGED

_LONG_SIDE = 1024
"""Longer side, pixels, to which a picture is scaled."""
_SMALL_EDGE = 30.0
"""Edge of the dice, pixels, at `_LONG_SIDE`, below which a larger picture shows more."""

_HALF_OCTAVE = 2.0**0.5
_SIGMAS = (1.5, 2.7)
"""Of the two Gaussians, pixels of a level: their difference peaks on spots of six pixels."""
_MIN_RESPONSE = (1.6, 2.2, 2.2)
"""Smallest response of lightness, green-red and blue-yellow, Lab units."""
_MAX_PER_LEVEL, _MAX_SPOTS = 1600, 800
"""Most places that are measured on a level, and most spots that are kept: they bound the time."""
_MIN_SIDE = 20
"""Shorter side of the last level, pixels: two of its spots."""
RAYS = 16
"""Around a spot: enough for its ellipse when five run into a neighbour."""
_MIDDLE = slice(RAYS // 2 - 1, RAYS // 2 + 1)
_STEP = 0.5
"""From one sample along a ray to the next, pixels of a level."""
_STEPS = np.arange(0.0, 9.01, _STEP, dtype=np.float32)
_RADII = (1.75, 4.9)
"""Min and max radius that a level measures, in pixels of the level."""
MIN_CONTRAST = 6.0
"""Least difference, Lab units, between a spot and what surrounds it."""
_MAX_TOUCHED = 5
"""Most rays that may run into neighbours, if all other rays show a clear, round spot."""
_MAX_UNROUND, _MAX_ELLIPTIC = 0.20, 0.42
"""Largest deviation of the radii from an ellipse, and of the ellipse from a circle, as shares of
the radius. Seen 60° off the vertical a pip has 0.33."""

_ANGLES = np.arange(RAYS, dtype=np.float32) * (2 * np.pi / RAYS)
_WAVES = np.stack(
    [np.ones(RAYS), np.cos(_ANGLES), np.sin(_ANGLES), np.cos(2 * _ANGLES), np.sin(2 * _ANGLES)]
)
"""(5, rays): the mean and the first two harmonics of a spot's radii."""
_FOURIER = _WAVES * np.array((1, 2, 2, 2, 2))[:, None] / RAYS
"""What gives the share of each wave in (rays,) radii."""
_RAYS_X, _RAYS_Y = (np.outer(_STEPS, turn).ravel().astype(np.float32) for turn in _WAVES[1:3])
"""(steps · rays,): places of the samples around a spot, the innermost first."""
_NONE = np.zeros((0, 5))


def round_spots(image: np.ndarray, edge_px: float) -> np.ndarray:
    """(N, 4) float, picture pixels: x, y and diameter of the round spots in a (H, W, 3) uint8 BGR
    picture whose dice have that edge, and their contrast in CIE Lab units; at most `_MAX_SPOTS`,
    the clearest first."""
    longest = max(image.shape[:2])
    scale, fine = min(MAX_ENLARGED, _LONG_SIDE / longest), min(1.0, FINE_SIDE / longest)
    if fine > scale and edge_px * scale < _SMALL_EDGE:
        scale = fine
    how = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    sized = cv2.resize(image, None, fx=scale, fy=scale, interpolation=how)
    spots = _find(np.asarray(cv2.cvtColor(sized.astype(np.float32) / 255.0, cv2.COLOR_BGR2Lab)))
    return np.c_[(spots[:, :2] + 0.5) / scale - 0.5, spots[:, 2] / scale, spots[:, 3]]


def _find(lab: np.ndarray) -> np.ndarray:
    """(N, 4): the spots of a (H, W, 3) float32 Lab picture; in one without room for a spot none."""
    parts = [_NONE]
    scale = 1.0
    level = lab
    while min(level.shape[:2]) >= _MIN_SIDE:
        parts.append(_measure(level, _extremes(level), scale))
        scale *= _HALF_OCTAVE
        size = (round(lab.shape[1] / scale), round(lab.shape[0] / scale))
        level = cv2.resize(level, size, interpolation=cv2.INTER_AREA)
    return _distinct(np.concatenate(parts))[:, :4]


def _extremes(level: np.ndarray) -> np.ndarray:
    """(N, 2) float32: where a level's difference of Gaussians peaks, strongest first."""
    small, large = (cv2.GaussianBlur(level, (0, 0), sigma) for sigma in _SIGMAS)
    response = cv2.absdiff(small, large)
    highest = cv2.dilate(response, np.ones((3, 3), np.uint8))
    places, strengths = [], []
    planes = zip(cv2.split(response), cv2.split(highest), _MIN_RESPONSE, strict=True)
    for plane, most, least in planes:
        at = np.flatnonzero((plane >= most) & (plane > least))
        places.append(np.stack([at % level.shape[1], at // level.shape[1]], axis=1))
        strengths.append(plane.ravel()[at] / least)
    order = np.argsort(-np.concatenate(strengths), kind="stable")[:_MAX_PER_LEVEL]
    return np.concatenate(places)[order].astype(np.float32)


def _sample(lab: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(3, N, K) float32: colours at places (N, K) of a (H, W, 3) float32 picture, in its pixels;
    the border repeats. N and K: 1 to 32767."""
    at = x.astype(np.float32), y.astype(np.float32)
    colours = cv2.remap(lab, *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    # A plane for each channel: numpy is slow with arrays whose last axis has three numbers.
    return np.stack(cv2.split(colours))


def _length(planes: np.ndarray) -> np.ndarray:
    """Lengths (...) of vectors (3, ...)."""
    return np.asarray(np.sqrt((planes * planes).sum(axis=0)))


def _measure(level: np.ndarray, centres: np.ndarray, scale: float) -> np.ndarray:
    """(N, 5) the places of one level that prove to be round spots: x, y and diameter in pixels of
    the first level, contrast, and how far the outline is from an ellipse, as a share of the
    radius."""
    if not len(centres):
        return _NONE
    colours = _sample(level, centres[:, :1] + _RAYS_X, centres[:, 1:] + _RAYS_Y)
    inner = colours[..., : 3 * RAYS].mean(axis=2)
    away = _length(colours - inner[..., None]).reshape(-1, len(_STEPS), RAYS)
    away.sort(axis=2)
    profile = away[..., _MIDDLE].mean(axis=2)
    most = profile[:, : 1 + int(6.0 / _STEP)].max(axis=1)
    first = (profile > 0.5 * most[:, None]).argmax(axis=1) * _STEP
    around = np.clip(np.round(first * 1.45 / _STEP).astype(int) + 1, 3, len(_STEPS) - 1)
    rings = colours.reshape(3, -1, len(_STEPS), RAYS)[:, np.arange(len(centres)), around]
    outer = np.sort(rings, axis=2)[..., _MIDDLE].mean(axis=2)
    axis = inner - outer
    contrast = _length(axis)
    keep = (contrast > MIN_CONTRAST) & (first > 1.2)
    if not keep.any():
        return _NONE
    centres, contrast = centres[keep], contrast[keep]
    outer, axis, colours = (each[:, keep] for each in (outer, axis, colours))
    along = axis / contrast**2
    share = ((colours - outer[..., None]) * along[..., None]).sum(axis=0)
    radii = _crossings(share.reshape(-1, len(_STEPS), RAYS))
    seen = np.isfinite(radii)
    middle = np.where(seen.any(axis=1), known_medians(radii, seen), 1.0)
    # Where a neighbour touches, a ray runs on into it.
    is_lost = ~seen | (np.abs(radii - middle[:, None]) > 0.6 * middle[:, None])
    filled = np.where(is_lost, middle[:, None], radii)
    lost = is_lost.sum(axis=1)
    waves = _FOURIER @ filled.T
    mean, first_x, first_y, second_x, second_y = waves
    unround = np.sqrt(((filled - waves.T @ _WAVES) ** 2).mean(axis=1)) / mean
    is_clear = (lost <= _MAX_TOUCHED) & (contrast > 25.0) & (unround < 0.07)
    keep = (
        (mean > _RADII[0])
        & (mean < _RADII[1])
        & ((lost <= 2) | is_clear)
        & (unround < _MAX_UNROUND)
        & (np.hypot(second_x, second_y) < _MAX_ELLIPTIC * mean)
    )
    moved = centres + np.stack([first_x, first_y], axis=1)
    xy = (moved + 0.5) * scale - 0.5
    return np.c_[xy, 2 * mean * scale, contrast, unround][keep]


def _crossings(share: np.ndarray) -> np.ndarray:
    """(N, rays): where each ray of (N, steps, rays) first falls below one half, level pixels; nan:
    nowhere."""
    below = share < 0.5
    index = below.argmax(axis=1)
    found = below.any(axis=1) & (index > 0)
    before = np.maximum(index - 1, 0)[:, None]
    high = np.take_along_axis(share, before, 1)[:, 0]
    low = np.take_along_axis(share, index[:, None], 1)[:, 0]
    part = (high - 0.5) / np.maximum(high - low, 1e-6)
    return np.where(found, (before[:, 0] + part) * _STEP, np.nan)


def _distinct(spots: np.ndarray) -> np.ndarray:
    """One spot of several at the same place and of about the same size, the clearest."""
    spots = spots[
        np.argsort(-np.minimum(spots[:, 3], 30.0) * (1.0 - 3.0 * spots[:, 4]), kind="stable")
    ]
    diameters = spots[:, 2]
    kept: list[int] = []
    is_new = np.ones(len(spots), bool)
    for i, diameter in enumerate(diameters):
        if not is_new[i]:
            continue
        kept.append(i)
        if len(kept) >= _MAX_SPOTS:
            break
        is_alike = (diameters < 2 * diameter) & (diameters > diameter / 2)
        gaps = np.hypot(*(spots[:, :2] - spots[i, :2]).T)
        is_new &= ~(is_alike & (gaps < 0.4 * np.maximum(diameters, diameter)))
    return spots[kept]
