"""What a table learns from confirmed tosses.

Owns: the order of learning. Must not know files, persons or the first reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.calibration import Calibration
from vision.pip_heights import measure_height
from vision.taught import faces, lattice
from vision.taught.faces import Alike
from vision.taught.floor import TaughtFloor, empty
from vision.taught.heights import UsualHeight
from vision.taught.poses import PIP_RINGS, TOP_RINGS, pip_odds, search
from vision.taught.reader import TaughtReader
from vision.taught.regression import Logistic
from vision.taught.teaching import Teaching, digest_of
from vision.taught.view import EDGE_PX, HALF, TopView, rings, sampled, sampled_all, turned

_SPACINGS = np.arange(0.17, 0.321, 0.01)
"""Distances of the outer places from the middle along one axis that are tried, edges."""
_TOP, _PIP = 0.48, 0.09
"""Reach of a top face, and of a pip, from the middle; nearer pixels are no sure plain ones."""
_SHAKEN_PX = 0.5
"""How far a place is moved at random, for the search does not meet it exactly."""
_FOUND = 0.2
"""Largest distance, edges, between a confirmed die and where the search finds it."""
Found = list[np.ndarray]
"""Poses of one toss that score as a die does."""
_WORST, _FAR = 0.02, 30.0
"""A die scores above halfway between this quantile of the confirmed dice and the best of what is
none, or of so much less if nothing else scores."""


@dataclass(frozen=True, slots=True, eq=False)
class Toss:
    """A confirmed toss of flat dice."""

    image: np.ndarray
    """(H, W, 3) uint8, BGR."""
    corners: np.ndarray
    """(N, 4, 2) frame pixels: the top faces, clockwise."""
    values: tuple[int, ...]
    """In the order of `corners`."""
    right: np.ndarray | None = None
    """What the right lens of a stereo camera shows, as large as `image`."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A confirmed toss in the view. Many lessons may learn from one."""

    toss: Toss
    lab: np.ndarray
    half: np.ndarray
    by_pip: np.ndarray
    by_top: np.ndarray
    """Means over rings around each pixel: of the view, and of the one of half the size."""
    poses: np.ndarray
    layouts: tuple[int, ...] = ()

    @classmethod
    def by(cls, view: TopView, toss: Toss) -> Seen:
        """A toss as this view shows it."""
        lab = view.colours(view.show(toss.image))
        half = view.halved(lab)
        poses = np.array([view.pose_of(corners) for corners in toss.corners])
        return cls(toss, lab, half, rings(lab, PIP_RINGS), rings(half, TOP_RINGS), poses)


def teach(calibration: Calibration, tosses: Sequence[Toss], seed: int = 0) -> Teaching:
    """Learn a table from confirmed tosses; the same tosses always teach the same."""
    view = TopView(calibration)
    return taught_by(view, [Seen.by(view, toss) for toss in tosses], seed)


def taught_by(view: TopView, seen: Sequence[Seen], seed: int = 0) -> Teaching:
    """As `teach`, from tosses that this view shows."""
    calibration, random = view.calibration, np.random.default_rng(seed)
    spacing, seen = _oriented(seen)
    pip, top = _colours(view, seen, spacing, random)
    read, least, seen, found = _faces(view, seen, spacing, pip, top)
    placed = [(each.half, each.poses) for each in seen]
    bare = empty(view, placed)
    floor = TaughtFloor.taught(view, bare, placed)
    rows, on = (np.concatenate(part) for part in zip(*read, strict=True))
    aces = [face for face in read if face[1].sum() == 1]
    others = [face for face in read if face[1].sum() > 1]
    taught = Teaching(
        digest_of(calibration), pip, top, Logistic.fit(rows, on), Alike.taught(read), floor,
        spacing, faces.pip_diameter(aces or read), faces.pip_diameter(others or read), least,
    )  # fmt: skip
    return replace(taught, height=_usual_height(calibration, taught, seen, found))


def _usual_height(
    calibration: Calibration, taught: Teaching, seen: Sequence[Seen], found: Sequence[Found]
) -> UsualHeight | None:
    """How high the pips of the confirmed dice lie; None without a second lens."""
    reader = TaughtReader(calibration, taught)
    heights = [
        measure_height(toss.image, toss.right, die.pips, calibration)
        for toss, poses in zip((each.toss for each in seen), found, strict=True)
        if toss.right is not None
        for die in reader.dice_at(toss.image, poses)
    ]
    return UsualHeight.taught(heights)


def _places(pose: np.ndarray, spacing: float) -> np.ndarray:
    """(1, 9, 2) pixels of the view."""
    return np.asarray(lattice.PLACES * spacing * EDGE_PX @ turned(pose) + pose[:2])[None]


def _oriented(seen: Sequence[Seen]) -> tuple[float, list[Seen]]:
    """The spacing at which pips and plain places differ most, and the layout of each die there."""
    values = [value for each in seen for value in each.toss.values]
    best: tuple[float, float, list[int]] = (-np.inf, 0.0, [])
    for spacing in _SPACINGS:
        rows = np.concatenate(
            [
                np.concatenate(
                    [sampled_all(each.by_pip, _places(pose, spacing)) for pose in each.poses]
                )
                for each in seen
            ]
        )
        # At first a pip is what differs from most of the face.
        odds = np.abs(rows[..., :3] - np.median(rows[..., :3], axis=1, keepdims=True)).sum(axis=2)
        odds -= odds.mean(axis=1, keepdims=True)
        for _ in range(2):
            layouts = [lattice.layout_of(v, o) for v, o in zip(values, odds, strict=True)]
            on = lattice.ON[layouts]
            model = Logistic.fit(rows.reshape(-1, rows.shape[-1]), on.ravel())
            odds = model.odds(rows)
        worth = -float(np.log1p(np.exp(np.where(on, -odds, odds))).mean())
        if worth > best[0]:
            best = worth, float(spacing), layouts
    left = iter(best[2])
    return best[1], [
        replace(each, layouts=tuple(next(left) for _ in each.toss.values)) for each in seen
    ]


def _colours(
    view: TopView, seen: Sequence[Seen], spacing: float, random: np.random.Generator
) -> tuple[Logistic, Logistic]:
    """What a pip and what a top face look like, against all else that the tosses show."""
    pips: list[tuple[np.ndarray, np.ndarray]] = []
    tops: list[tuple[np.ndarray, np.ndarray]] = []
    for each in seen:
        by_pip, by_top = each.by_pip, each.by_top
        is_top, is_pip = np.zeros_like(view.inside), np.zeros_like(view.inside)
        for pose, layout in zip(each.poses, each.layouts, strict=True):
            on = lattice.ON[layout]
            own = (view.pixels - pose[:2]) @ turned(pose).T / EDGE_PX
            is_top |= np.abs(own).max(axis=-1) < _TOP
            for x, y in lattice.PLACES[on] * spacing:
                is_pip |= np.hypot(own[..., 0] - x, own[..., 1] - y) < _PIP
            for _ in range(2):
                shaken = _places(pose, spacing) + random.normal(0, _SHAKEN_PX, 2)
                pips.append((sampled_all(by_pip, shaken)[0], on))
        rest = ~is_top & view.inside
        for area, many in ((is_top & ~is_pip, 60), (rest, 300)):
            chosen = random.choice(np.flatnonzero(area), many)
            pips.append((by_pip.reshape(-1, by_pip.shape[-1])[chosen], np.zeros(many, bool)))
        for area, many, is_die in ((is_top, 250, True), (rest, 350, False)):
            chosen = random.choice(np.flatnonzero(area[::HALF, ::HALF]), many)
            tops.append((by_top.reshape(-1, by_top.shape[-1])[chosen], np.full(many, is_die)))
    pip, top = (
        Logistic.fit(*(np.concatenate(part) for part in zip(*pairs, strict=True)))
        for pairs in (pips, tops)
    )
    return pip, top


def _faces(
    view: TopView, seen: Sequence[Seen], spacing: float, pip: Logistic, top: Logistic
) -> tuple[list[tuple[np.ndarray, np.ndarray]], float, list[Seen], list[Found]]:
    """What the places of each face look like where the search finds it, with where its pips are,
    and the score of a die. Beside it the tosses, their dice where the search finds them: later ones
    are measured from there; and all poses with such a score."""
    read, right, false, placed, searched = [], [], [], [], []
    for known in seen:
        poses = known.poses.copy()
        pips = pip_odds(view, known.by_pip, pip)
        searched.append(search(view, known.lab, known.half, pip, top, spacing))
        for pose, score in searched[-1]:
            gaps = np.hypot(*(known.poses[:, :2] - pose[:2]).T)
            at = int(gaps.argmin())
            if gaps[at] > _FOUND * EDGE_PX:
                false.append(score)
                continue
            right.append(score)
            poses[at] = pose
            # The square that is found may begin at another corner than the known one.
            odds = sampled(pips, _places(pose, spacing))[0]
            on = lattice.ON[lattice.layout_of(known.toss.values[at], odds)]
            read.append((faces.measured(known.toss.image, view.corners_of(pose), spacing), on))
        placed.append(replace(known, poses=poses))
    worst = float(np.quantile(right, _WORST))
    least = (worst + max([*false, worst - _FAR])) / 2
    found = [[pose for pose, score in each if score > least] for each in searched]
    return read, least, placed, found
