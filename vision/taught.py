"""A second reader that is taught by the table's own confirmed tosses: no network, no die but these.

Owns: what is learnt from pictures whose values people confirmed, and where and what the dice of a
later picture are by it. Must not know the first reader, judgement or consensus.

Theory of operation. The picture is rectified to the plane in which the tops of flat dice lie. There
every top face is a square of one size, turned and moved, and its pips lie on one lattice of nine
places. A logistic regression on the colour in rings around a place says whether a pip is there, and
one on the colour around a pixel whether it belongs to a top face. Both know one floor, one light
and one set of dice. A die is the pose whose nine places and square they find likeliest. Its face is
then read once more from the picture itself, against the face's own colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.calibration import Calibration
from vision.quads import SQUARE, turn_matrices

EDGE_PX = 32
"""Edge of a flat die's top face in the rectified view, pixels."""
_RINGS = (0.0, 0.035, 0.065, 0.095, 0.13)
"""Borders of the rings around a place, edges. Pips have radii of 0.05 to 0.12."""
_SPACINGS = np.arange(0.17, 0.321, 0.01)
"""Distances of the outer places from the middle along one axis that are tried, edges."""
_RIDGE, _STEPS = 0.02, 30
"""Of the logistic regressions: penalty on a standardised weight, and Newton's steps."""
_MOST = 6.0
"""Log-odds; one place, whatever it looks like, says no more."""
_TURNS = np.radians(np.arange(0, 90, 6))
"""Turns at which the whole view is searched."""
_COARSE = 2
"""Pixels of the view to one of the search over the whole view."""
_APART = 0.8
"""Least distance of two dice, edges."""
_FACE_PX = 64
"""Edge of a face that is read, pixels."""
_BODY = 9.0
"""How much the square counts beside its places: as so many of them."""
_CANDIDATES = 8

_PLACES = np.array([(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)], float)
_LAYOUTS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (1, (4,)), (2, (0, 8)), (2, (2, 6)), (3, (0, 4, 8)), (3, (2, 4, 6)), (4, (0, 2, 6, 8)),
    (5, (0, 2, 4, 6, 8)), (6, (0, 2, 3, 5, 6, 8)), (6, (0, 1, 2, 6, 7, 8)),
)  # fmt: skip
"""Values, and which of the nine places have pips."""
_VALUES = np.array([value for value, _ in _LAYOUTS])
_SIGNS = np.array([[1.0 if k in on else -1.0 for k in range(9)] for _, on in _LAYOUTS])

_ON = (_SIGNS + 1) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """A logistic regression on standardised features and their squares."""

    mean: np.ndarray
    spread: np.ndarray
    weights: np.ndarray

    @classmethod
    def fit(cls, features: np.ndarray, truth: np.ndarray) -> Logistic:
        mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-3
        rows = _rows((features - mean) / spread)
        # Both classes count alike, however many places have none.
        share = np.where(truth > 0.5, 0.5 / max(truth.sum(), 1), 0.5 / max((1 - truth).sum(), 1))
        penalty = np.full(rows.shape[1], _RIDGE)
        penalty[0] = 0.0
        weights = np.zeros(rows.shape[1])
        for _ in range(_STEPS):
            p = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
            slope = rows.T @ ((p - truth) * share) + penalty * weights
            bend = (rows * (p * (1 - p) * share)[:, None]).T @ rows + np.diag(penalty + 1e-6)
            step = np.linalg.solve(bend, slope)
            weights -= step
            if np.abs(step).max() < 1e-4:
                break
        return cls(mean, spread, weights)

    def odds(self, features: np.ndarray) -> np.ndarray:
        """(N,) log-odds of (N, K) features."""
        return np.asarray(_rows((features - self.mean) / self.spread) @ self.weights)


def _rows(z: np.ndarray) -> np.ndarray:
    z = np.clip(z, -5, 5)
    return np.concatenate([np.ones((len(z), 1)), z, z * z], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """A die of a confirmed toss: where its top face is, and what it shows."""

    corners: np.ndarray
    """(4, 2) frame pixels, clockwise."""
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class TaughtDie:
    """A die that the taught reader sees."""

    x_mm: float
    y_mm: float
    turn: float
    corners: np.ndarray
    value: int
    margin: float
    """Log-odds of this value against the next likely one."""
    score: float
    """How well a die explains what is there."""
    places: np.ndarray
    """(9,) log-odds of a pip at each place."""


class TopView:
    """A picture rectified to the plane of the tops of flat dice."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self.mm = calibration.die_mm / EDGE_PX
        reach = calibration.compartment_radius_mm
        side = int(2 * reach / self.mm) // 2 * 2 + 2
        self.middle = (side - 1) / 2
        grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1)
        at = (grid - self.middle) * self.mm
        self.inside = np.hypot(at[..., 0], at[..., 1]) < reach - 0.02 * calibration.die_mm
        self._map = calibration.level_px(at, calibration.die_mm).astype(np.float32)

    def show(self, image: np.ndarray) -> np.ndarray:
        """(side, side, 3) float32, Lab."""
        view = cv2.remap(image, self._map, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return cv2.cvtColor(view, cv2.COLOR_BGR2Lab).astype(np.float32)

    def pose_of(self, corners: np.ndarray) -> np.ndarray:
        """(3,): x and y in view pixels, turn, of (4, 2) frame pixels."""
        mm = self.calibration.to_mm(corners, self.calibration.die_mm)
        along = (mm[1] - mm[0]) + (mm[2] - mm[3])
        x, y = mm.mean(axis=0) / self.mm + self.middle
        return np.array((x, y, np.arctan2(along[1], along[0]) % (np.pi / 2)))

    def corners_of(self, pose: np.ndarray) -> np.ndarray:
        """(4, 2) frame pixels of a pose's top face."""
        square = SQUARE @ turn_matrices(pose[None, 2])[0] * self.calibration.die_mm / 2
        return self.calibration.level_px(square + self.to_mm(pose), self.calibration.die_mm)

    def to_mm(self, pose: np.ndarray) -> np.ndarray:
        return np.asarray((pose[:2] - self.middle) * self.mm)


def _ring_kernels(edge: float, rings: Sequence[float] = _RINGS) -> list[np.ndarray]:
    """Kernels that take the mean over each ring, their borders softened over a pixel."""
    reach = int(np.ceil(rings[-1] * edge)) + 1
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    distance = np.hypot(x, y)
    discs = [np.clip(ring * edge - distance + 0.5, 0, 1) if ring else 0 * distance for ring in rings]
    kernels = [outer - inner for inner, outer in zip(discs, discs[1:], strict=False)]
    return [(k / k.sum()).astype(np.float32) for k in kernels]


_PIP_KERNELS = _ring_kernels(EDGE_PX)
_BODY_KERNELS = _ring_kernels(EDGE_PX, (0.0, 0.06, 0.13, 0.22))


def _rings(lab: np.ndarray, kernels: Sequence[np.ndarray]) -> np.ndarray:
    """(H, W, 3 K) means over rings around each pixel; the outer ones as differences."""
    means = [cv2.filter2D(lab, -1, k, borderType=cv2.BORDER_REPLICATE) for k in kernels]
    return np.concatenate([means[0], *(m - means[0] for m in means[1:])], axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class Teaching:
    """What a table has learnt of its dice."""

    pip: Logistic
    body: Logistic
    face: Logistic
    spacing: float
    least: float
    """Score below which nothing is a die."""
    tosses: int


class TaughtReader:
    """Reads the frames of one table by its teaching."""

    def __init__(self, calibration: Calibration, teaching: Teaching) -> None:
        self.view, self.teaching = TopView(calibration), teaching

    def read(self, image: np.ndarray) -> list[TaughtDie]:
        """Every die in a (H, W, 3) uint8 BGR frame, from left to right."""
        return [d for d in self.candidates(image) if d.score > self.teaching.least]

    def candidates(self, image: np.ndarray) -> list[TaughtDie]:
        lab = self.view.show(image)
        taught = self.teaching
        maps = likely(self.view, lab, taught.pip, taught.body)
        dice = []
        for pose, score in search(self.view, *maps, taught.spacing):
            odds = np.clip(taught.face.odds(face_features(image, self.view, pose, taught.spacing)), -_MOST, _MOST)
            value, margin, total = best_value(odds)
            x, y = self.view.to_mm(pose)
            dice.append(TaughtDie(x, y, pose[2], self.view.corners_of(pose), value, margin, score + 0 * total, odds))
        return sorted(dice, key=lambda d: d.x_mm)


def best_value(odds: np.ndarray) -> tuple[int, float, float]:
    """The value that explains nine places best, its lead over the next one, and how well."""
    scores = _SIGNS @ odds
    at = int(scores.argmax())
    others = scores[_VALUES != _VALUES[at]]
    return int(_VALUES[at]), float(scores[at] - others.max()), float(scores[at])


def likely(
    view: TopView, lab: np.ndarray, pip: Logistic, body: Logistic
) -> tuple[np.ndarray, np.ndarray]:
    """(side, side) each: log-odds of a pip's middle, and of a top face."""
    both = []
    for model, kernels in ((pip, _PIP_KERNELS), (body, _BODY_KERNELS)):
        features = _rings(lab, kernels)
        odds = np.full(view.inside.shape, -_MOST, np.float32)
        odds[view.inside] = np.clip(model.odds(features[view.inside]), -_MOST, _MOST)
        both.append(odds)
    return both[0], both[1]


# ── The search for poses ────────────────────────────────────────────────────

_IN = np.stack(np.meshgrid(*2 * (np.linspace(-0.45, 0.45, 8),)), axis=-1).reshape(-1, 2)
_RIM = np.linspace(-0.5, 0.5, 9)
_OUT = np.concatenate([np.stack([_RIM, 0 * _RIM + s], axis=1)[:, ::o] for s in (-0.58, 0.58) for o in (1, -1)])


def search(
    view: TopView, pips: np.ndarray, body: np.ndarray, spacing: float
) -> list[tuple[np.ndarray, float]]:
    """The likeliest poses of dice, apart from each other, with their scores."""
    coarse = _coarse(pips, body, spacing)
    found: list[tuple[np.ndarray, float]] = []
    size = coarse.shape[1:]
    best = coarse.max(axis=0)
    y, x = np.mgrid[: size[0], : size[1]]
    for _ in range(_CANDIDATES):
        at = np.unravel_index(int(best.argmax()), size)
        if best[at] < 0:
            break
        turn = _TURNS[int(coarse[:, at[0], at[1]].argmax())]
        start = np.array((at[1] * _COARSE + (_COARSE - 1) / 2, at[0] * _COARSE + (_COARSE - 1) / 2, turn))
        pose, score = refine(pips, body, spacing, start)
        found.append((pose, score))
        best[np.hypot(x - at[1], y - at[0]) < 0.45 * EDGE_PX / _COARSE] = -np.inf
    kept: list[tuple[np.ndarray, float]] = []
    for pose, score in sorted(found, key=lambda each: -each[1]):
        if all(np.hypot(*(pose - other)[:2]) > _APART * EDGE_PX for other, _ in kept):
            kept.append((pose, score))
    return kept


def _coarse(pips: np.ndarray, body: np.ndarray, spacing: float) -> np.ndarray:
    """(turns, h, w) scores of poses over a smaller view."""
    side = len(pips) // _COARSE
    small = [cv2.resize(m, (side, side), interpolation=cv2.INTER_AREA) for m in (pips, body)]
    edge = EDGE_PX / _COARSE
    scores = []
    for turn in _TURNS:
        c, s = np.cos(turn), np.sin(turn)
        places = _PLACES @ np.array([(c, s), (-s, c)]) * spacing * edge
        odds = np.stack([_shifted(small[0], place) for place in places])
        by_value = (np.tensordot(_ON, odds, axes=1) - np.tensordot(1 - _ON, np.maximum(odds, 0), axes=1)).max(axis=0)
        square = sum(_shifted(small[1], p) for p in _IN[::3] @ np.array([(c, s), (-s, c)]) * edge) / len(_IN[::3])
        rim = sum(_shifted(small[1], p) for p in _OUT[::3] @ np.array([(c, s), (-s, c)]) * edge) / len(_OUT[::3])
        scores.append(by_value + _BODY * (square - rim) / 2)
    return np.stack(scores)


def _shifted(field: np.ndarray, by: np.ndarray) -> np.ndarray:
    """The field as seen from `by` (x, y) pixels beside each pixel, to whole pixels."""
    dx, dy = np.rint(by).astype(int)
    h, w = field.shape
    out = np.full_like(field, -_MOST)
    ys, xs = slice(max(0, -dy), min(h, h - dy)), slice(max(0, -dx), min(w, w - dx))
    out[ys, xs] = field[max(0, dy) : min(h, h + dy), max(0, dx) : min(w, w + dx)]
    return out


def refine(
    pips: np.ndarray, body: np.ndarray, spacing: float, start: np.ndarray
) -> tuple[np.ndarray, float]:
    """The best pose near a start, in three grids, each a third of the one before."""
    pose, best = start, -np.inf
    steps = np.stack(np.meshgrid(*3 * (np.arange(-2.0, 3.0),), indexing="ij"), axis=-1).reshape(-1, 3)
    for step in ((1.5, 1.5, np.radians(3)), (0.6, 0.6, np.radians(1.2)), (0.25, 0.25, np.radians(0.5))):
        poses = pose + steps * step
        scores = score_of(pips, body, spacing, poses)
        at = int(scores.argmax())
        pose, best = poses[at], float(scores[at])
    pose[2] %= np.pi / 2
    return pose, best


def score_of(pips: np.ndarray, body: np.ndarray, spacing: float, poses: np.ndarray) -> np.ndarray:
    """(P,) how well a die at each of (P, 3) poses explains both maps."""
    turned = turn_matrices(poses[:, 2])
    middle = poses[:, None, :2]
    odds = _at(pips, _PLACES * spacing * EDGE_PX @ turned + middle)
    square = _at(body, _IN * EDGE_PX @ turned + middle).mean(axis=1)
    rim = _at(body, _OUT * EDGE_PX @ turned + middle).mean(axis=1)
    return np.asarray((odds @ _ON.T - np.maximum(odds, 0) @ (1 - _ON).T).max(axis=1) + _BODY * (square - rim) / 2)


def _at(field: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(P, N) values of a field at (P, N, 2) points."""
    at = points.astype(np.float32)
    return cv2.remap(field, at, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=-_MOST)


# ── A face ──────────────────────────────────────────────────────────────────

_Y, _X = np.mgrid[0:_FACE_PX, 0:_FACE_PX]


def face_features(image: np.ndarray, view: TopView, pose: np.ndarray, spacing: float) -> np.ndarray:
    """(9, K) what each place of a face looks like against the face's own colour."""
    target = (SQUARE / 2 + 0.5).astype(np.float32) * _FACE_PX - 0.5
    matrix = cv2.getPerspectiveTransform(view.corners_of(pose).astype(np.float32), target)
    face = cv2.warpPerspective(image, matrix, (_FACE_PX, _FACE_PX), flags=cv2.INTER_LINEAR)
    lab = cv2.cvtColor(face, cv2.COLOR_BGR2Lab).astype(np.float32)
    inner = lab[6:-6, 6:-6].reshape(-1, 3)
    usual = np.median(inner, axis=0)
    spread = inner.std(axis=0).max() + 4
    rows = []
    for place in _PLACES:
        x, y = _FACE_PX / 2 - 0.5 + place * spacing * _FACE_PX
        distance = np.hypot(_X - x, _Y - y) / _FACE_PX
        row: list[float] = []
        for a, b in zip(_RINGS, _RINGS[1:], strict=False):
            row += list((lab[(distance >= a) & (distance < b)].mean(axis=0) - usual) / spread)
        row.append(lab[distance < 0.1][:, 0].std() / spread)
        rows.append(row)
    return np.array(rows)


# ── Teaching ────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False)
class Toss:
    """A confirmed toss, prepared for teaching."""

    image: np.ndarray
    lab: np.ndarray
    poses: np.ndarray
    values: tuple[int, ...]


def prepared(view: TopView, image: np.ndarray, dice: Sequence[Shown]) -> Toss:
    poses = np.array([view.pose_of(d.corners) for d in dice])
    return Toss(image, view.show(image), poses, tuple(d.value for d in dice))


def teach(view: TopView, tosses: Sequence[Toss], seed: int = 0) -> Teaching:
    """Learn a table's dice from confirmed tosses."""
    rng = np.random.default_rng(seed)
    rings = [_rings(t.lab, _PIP_KERNELS) for t in tosses]
    bodies = [_rings(t.lab, _BODY_KERNELS) for t in tosses]
    spacing, layouts = _spacing(tosses, rings)
    pip, body = _maps_taught(view, tosses, rings, bodies, spacing, layouts, rng)
    # What is read later is found by the search, not by whoever said where the dice are.
    features, truth, right, false = [], [], [], []
    for toss in tosses:
        maps = likely(view, toss.lab, pip, body)
        for pose, score in search(view, *maps, spacing):
            gaps = np.hypot(*(toss.poses[:, :2] - pose[:2]).T)
            j = int(gaps.argmin())
            if gaps[j] > 0.2 * EDGE_PX:
                false.append(score)
                continue
            right.append(score)
            rows = face_features(toss.image, view, pose, spacing)
            layout = _layout_of(toss.values[j], np.clip(_at(maps[0], (_PLACES * spacing * EDGE_PX @ turn_matrices(pose[None, 2])) + pose[:2])[0], -_MOST, _MOST))
            features.append(rows)
            truth.append((_SIGNS[layout] > 0).astype(float))
    face = Logistic.fit(np.concatenate(features), np.concatenate(truth))
    least = (np.quantile(right, 0.02) + max([*false, np.quantile(right, 0.02) - 30])) / 2 if right else 0.0
    return Teaching(pip, body, face, spacing, float(least), len(tosses))


def _layout_of(value: int, odds: np.ndarray) -> int:
    """Which orientation of a value nine places show."""
    scores = np.where(value == _VALUES, _SIGNS @ odds, -np.inf)
    return int(scores.argmax())


def _spacing(tosses: Sequence[Toss], rings: Sequence[np.ndarray]) -> tuple[float, list[int]]:
    """The spacing at which pips and plain places differ most, and how each die is turned."""
    best: tuple[float, float, list[int]] = (-np.inf, 0.25, [])
    for spacing in _SPACINGS:
        features, layouts = [], []
        for toss, field in zip(tosses, rings, strict=True):
            for pose, value in zip(toss.poses, toss.values, strict=True):
                rows = _sampled(field, pose, spacing)
                features.append(rows)
                away = np.abs(rows[:, :3] - np.median(rows[:, :3], axis=0)).sum(axis=1)
                layouts.append(_layout_of(value, away - away.mean()))
        truth = np.concatenate([_SIGNS[k] > 0 for k in layouts]).astype(float)
        rows = np.concatenate(features)
        model = Logistic.fit(rows, truth)
        # Once more with the orientations that the regression sees.
        layouts = [_layout_of(int(_VALUES[k]), model.odds(r)) for k, r in zip(layouts, features, strict=True)]
        truth = np.concatenate([_SIGNS[k] > 0 for k in layouts]).astype(float)
        model = Logistic.fit(rows, truth)
        odds = model.odds(rows) * (2 * truth - 1)
        worth = -float(np.mean(np.log1p(np.exp(-np.clip(odds, -30, 30)))))
        if worth > best[0]:
            best = worth, float(spacing), layouts
    return best[1], best[2]


def _sampled(field: np.ndarray, pose: np.ndarray, spacing: float) -> np.ndarray:
    """(9, K) of a field at the places of a pose."""
    at = (_PLACES * spacing * EDGE_PX @ turn_matrices(pose[None, 2])[0] + pose[:2]).astype(np.float32)
    parts = [cv2.remap(np.ascontiguousarray(field[..., k]), at[None], None, cv2.INTER_LINEAR)[0] for k in range(field.shape[-1])]
    return np.stack(parts, axis=1)


def _maps_taught(
    view: TopView, tosses: Sequence[Toss], rings: Sequence[np.ndarray],
    bodies: Sequence[np.ndarray], spacing: float, layouts: Sequence[int], rng: np.random.Generator,
) -> tuple[Logistic, Logistic]:
    """What a pip and what a top face look like, against all else that the tosses show."""
    pip_rows, pip_truth, body_rows, body_truth = [], [], [], []
    side = len(view.inside)
    y, x = np.mgrid[:side, :side]
    left = iter(layouts)
    for toss, field, colours in zip(tosses, rings, bodies, strict=True):
        is_face, is_pip = np.zeros((side, side), bool), np.zeros((side, side), bool)
        for pose, _ in zip(toss.poses, toss.values, strict=True):
            on = _SIGNS[next(left)] > 0
            turned = turn_matrices(pose[None, 2])[0]
            local = np.stack([x - pose[0], y - pose[1]], axis=-1) @ turned.T / EDGE_PX
            is_face |= np.abs(local).max(axis=-1) < 0.48
            at = _PLACES[on] * spacing
            is_pip |= (np.hypot(local[..., None, 0] - at[:, 0], local[..., None, 1] - at[:, 1]) < 0.09).any(axis=-1)
            rows = np.concatenate([_sampled(field, pose + np.array([*rng.normal(0, 0.5, 2), 0]), spacing) for _ in range(2)])
            pip_rows.append(rows)
            pip_truth.append(np.tile(on, 2))
        for mask, many in ((is_face & ~is_pip, 60), (~is_face & view.inside, 300)):
            chosen = rng.choice(np.flatnonzero(mask), many)
            pip_rows.append(field.reshape(-1, field.shape[-1])[chosen])
            pip_truth.append(np.zeros(many, bool))
        for mask, many, is_top in ((is_face, 250, True), (~is_face & view.inside, 350, False)):
            chosen = rng.choice(np.flatnonzero(mask), many)
            body_rows.append(colours.reshape(-1, colours.shape[-1])[chosen])
            body_truth.append(np.full(many, is_top))
    pip = Logistic.fit(np.concatenate(pip_rows), np.concatenate(pip_truth).astype(float))
    body = Logistic.fit(np.concatenate(body_rows), np.concatenate(body_truth).astype(float))
    return pip, body
