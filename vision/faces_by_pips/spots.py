"""Round spots of any size and colour in a photograph: what the second reader builds dice from.

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

from dataclasses import dataclass, fields

import cv2
import numpy as np

from vision.medians import known_medians

_HALF_OCTAVE = 2.0**0.5
_SIGMAS = (1.5, 2.7)
"""Of the two Gaussians, pixels of a level: their difference peaks on spots of six pixels."""
_MIN_RESPONSE = (1.6, 2.2, 2.2)
"""Smallest response of lightness, green-red and blue-yellow, Lab units."""
_MAX_PER_LEVEL, _MAX_SPOTS = 1600, 800
"""Most places that are measured on a level, and most spots that are kept: they bound the time."""
_PER_LEVEL = 120
"""Most places of one size that are measured where dice have a known size, the strongest first:
three dice have 63 pips in all, and the places of pips stand out most."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Spots:
    """N spots, best first."""

    xy: np.ndarray
    """(N, 2) float32, picture pixels."""
    diameter: np.ndarray
    """(N,) float32, pixels."""
    inner: np.ndarray
    """(N, 3) float32, CIE Lab: the spot's own colour."""
    outer: np.ndarray
    """(N, 3) float32, CIE Lab: the colour around it."""
    stretch: np.ndarray
    """(N, 2) float32: what turns a circle into the spot, as (s·cos 2φ, s·sin 2φ): longer by the
    share s along φ and shorter by it across, 0 for a round one."""
    unround: np.ndarray
    """(N,) float32: how far the outline is from an ellipse, as a share of the radius."""

    def __len__(self) -> int:
        return len(self.xy)

    @property
    def contrast(self) -> np.ndarray:
        """(N,) float32: distance between the two colours, Lab units."""
        return np.asarray(np.linalg.norm(self.inner - self.outer, axis=1), np.float32)

    def take(self, index: np.ndarray) -> Spots:
        """Some of them, in that order."""
        return Spots(*(getattr(self, each.name)[index] for each in fields(self)))


def to_lab(picture: np.ndarray) -> np.ndarray:
    """(H, W, 3) uint8 BGR as float32 CIE Lab, lightness 0..100."""
    return np.asarray(cv2.cvtColor(picture.astype(np.float32) / 255.0, cv2.COLOR_BGR2Lab))


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Where spots are looked for, in a picture whose dice have a known size."""

    smallest: float
    largest: float
    """Diameters, pixels: levels that measure only smaller or only larger spots are left out."""
    covered: np.ndarray
    """(H, W) bool: no spot that has its middle there is measured."""


def find_spots(lab: np.ndarray, bounds: Bounds | None = None) -> Spots:
    """Round spots in a (H, W, 3) float32 Lab picture, at most `_MAX_SPOTS`, best first; in a
    picture without room for one none."""
    parts = [_none()]
    scale = 1.0
    level = lab
    while min(level.shape[:2]) >= _MIN_SIDE:
        least = 2 * _RADII[0] * scale
        if bounds is not None and least >= bounds.largest:
            break
        # What the next level measures as well needs no level as large as this.
        if bounds is None or least * _HALF_OCTAVE > bounds.smallest:
            centres = _extremes(level)
            if bounds is not None:
                x, y = np.rint((centres + 0.5) * scale - 0.5).astype(int).T
                height, width = lab.shape[:2]
                is_covered = bounds.covered[np.minimum(y, height - 1), np.minimum(x, width - 1)]
                centres = centres[~is_covered][:_PER_LEVEL]
            parts.append(_measure(level, centres, scale))
        scale *= _HALF_OCTAVE
        size = (round(lab.shape[1] / scale), round(lab.shape[0] / scale))
        level = cv2.resize(level, size, interpolation=cv2.INTER_AREA)
    columns = ([getattr(part, each.name) for part in parts] for each in fields(Spots))
    return _distinct(Spots(*map(np.concatenate, columns)))


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


def sample(lab: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(3, N, K) float32: colours at places (N, K) of a (H, W, 3) float32 picture, in its pixels;
    the border repeats. N and K: 1 to 32767."""
    at = x.astype(np.float32), y.astype(np.float32)
    colours = cv2.remap(lab, *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    # A plane for each channel: numpy is slow with arrays whose last axis has three numbers.
    return np.stack(cv2.split(colours))


def length(planes: np.ndarray) -> np.ndarray:
    """Lengths (...) of vectors (3, ...)."""
    return np.asarray(np.sqrt((planes * planes).sum(axis=0)))


def _measure(level: np.ndarray, centres: np.ndarray, scale: float) -> Spots:
    """The places of one level that prove to be round spots, in pixels of the first level."""
    if not len(centres):
        return _none()
    colours = sample(level, centres[:, :1] + _RAYS_X, centres[:, 1:] + _RAYS_Y)
    inner = colours[..., : 3 * RAYS].mean(axis=2)
    away = length(colours - inner[..., None]).reshape(-1, len(_STEPS), RAYS)
    away.sort(axis=2)
    profile = away[..., _MIDDLE].mean(axis=2)
    most = profile[:, : 1 + int(6.0 / _STEP)].max(axis=1)
    first = (profile > 0.5 * most[:, None]).argmax(axis=1) * _STEP
    around = np.clip(np.round(first * 1.45 / _STEP).astype(int) + 1, 3, len(_STEPS) - 1)
    rings = colours.reshape(3, -1, len(_STEPS), RAYS)[:, np.arange(len(centres)), around]
    outer = np.sort(rings, axis=2)[..., _MIDDLE].mean(axis=2)
    axis = inner - outer
    contrast = length(axis)
    keep = (contrast > MIN_CONTRAST) & (first > 1.2)
    if not keep.any():
        return _none()
    centres, contrast = centres[keep], contrast[keep]
    inner, outer, axis, colours = (each[:, keep] for each in (inner, outer, axis, colours))
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
    return Spots(
        ((moved[keep] + 0.5) * scale - 0.5).astype(np.float32),
        (2 * mean[keep] * scale).astype(np.float32),
        inner.T[keep],
        outer.T[keep],
        (np.stack([second_x, second_y], axis=1) / mean[:, None])[keep].astype(np.float32),
        unround[keep].astype(np.float32),
    )


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


def _distinct(spots: Spots) -> Spots:
    """One spot of several at the same place and of about the same size, the clearest."""
    worth = np.minimum(spots.contrast, 30.0) * (1.0 - 3.0 * spots.unround)
    spots = spots.take(np.argsort(-worth, kind="stable"))
    kept: list[int] = []
    is_new = np.ones(len(spots), bool)
    for i, diameter in enumerate(spots.diameter):
        if not is_new[i]:
            continue
        kept.append(i)
        if len(kept) >= _MAX_SPOTS:
            break
        is_alike = (spots.diameter < 2 * diameter) & (spots.diameter > diameter / 2)
        gaps = np.hypot(*(spots.xy - spots.xy[i]).T)
        is_new &= ~(is_alike & (gaps < 0.4 * np.maximum(spots.diameter, diameter)))
    return spots.take(np.array(kept, int))


def _none() -> Spots:
    places, sizes, colours = (np.zeros(size, np.float32) for size in ((0, 2), 0, (0, 3)))
    return Spots(places, sizes, colours, colours, places, sizes)
