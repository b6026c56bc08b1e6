"""The second reader without a calibration: dice of unknown size in any photograph.

Owns: the examination of proposed faces, how sure each is, and which of them are dice. Must not know
the model's findings.

Theory of operation: all dice have pips. Two, three or four spots that look alike (size, colour,
colour around them) span a lattice and so propose a face. A single spot in an even square or disc
proposes an ace, with or without letters around it. Each proposal is sampled on a grid and must look
like its own pattern: pips full, all other places of the lattice and the ground between them empty.
The proposal itself gives the colours. If proposals overlap, the proposal that explains most spots
remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.faces_by_pips.aces import propose_aces
from vision.faces_by_pips.pieces import FACE_PX, PIP_DIAMETERS
from vision.faces_by_pips.pips import LATTICE, Face, oddity_of
from vision.faces_by_pips.proposals import SPACING, Proposal, propose
from vision.faces_by_pips.spots import (
    MIN_CONTRAST,
    Bounds,
    Spots,
    find_spots,
    length,
    sample,
    to_lab,
)
from vision.parameters import ALIKE, FINE_SIDE, MAX_ENLARGED
from vision.quads import edge_of

_LONG_SIDE = 1024
"""Longer side, pixels, to which a picture is scaled."""
SMALL_EDGE = 30.0
"""Edge of a die, pixels, at `_LONG_SIDE`, below which the picture is also tried at `FINE_SIDE`, if
it has more detail there."""
_SIZED_EDGE = 60.0
"""Edge, pixels, to which dice of known size are scaled. The smallest pips then have five pixels."""
_MIN_LINEAR = 0.6
"""Scale from which on no pixel of dice of known size is lost without a mean over areas, which takes
eight times as long."""
_MAX_OFF_SIZE = 1.3
"""Pips say an edge to a fifth: their spacing is 0.18-0.30 of it, and 0.255 is assumed."""
_PRINT_REACH = 1.3
"""Spacings of the lattice from the middle beyond which there are no letters."""
_REACH = 1.62
"""How far the grid reaches, in lattice spacings; the edge of the face is at about 1.96."""
_CELLS = 27
"""Of the grid along a side: eight from one place of the lattice to the next."""
_FLAT = np.linspace(-_REACH, _REACH, _CELLS, dtype=np.float32)
_GRID = np.stack(np.meshgrid(_FLAT, _FLAT), axis=-1)
"""(27, 27, 2): lattice coordinates x, y; pips lie at -1, 0 and 1."""
_ON_FACE = _CELLS * _CELLS
_BATCH = 512
"""Proposals that are sampled together: more need more memory, fewer more time."""
_FROM_MIDDLE = np.hypot(_GRID[..., 0], _GRID[..., 1])
_DISC_REACH, _LESS_SURE = 1.6, 0.8
"""What of a face is looked at where it may be a disc let into a die of another colour, and what
that counts."""
_BEYOND = np.array(
    [[(sign * x, y) for y in np.linspace(-1.5, 1.5, 7)] for sign in (1, -1) for x in (2.5, 3.0)],
    np.float32,
)
_AROUND = np.concatenate([_BEYOND, _BEYOND[..., ::-1]], axis=1).reshape(-1, 2)
"""(56, 2): places beyond the edges of the face."""
_PLACES = np.concatenate([_GRID.reshape(-1, 2), _AROUND])
"""All of them, those on the face first."""
_AWAY = np.array([np.hypot(_GRID[..., 0] - x, _GRID[..., 1] - y) for x, y in LATTICE])
"""(9, 27, 27): distance of each cell from each place of the lattice."""
_FAR = np.hypot(*np.array(LATTICE, float).T)

_RADII = (0.27, 0.68)
_ACE_RADII = tuple(diameter / 2 / SPACING for diameter in PIP_DIAMETERS)
"""Min and max radius of pips, in spacings of the lattice: of several pips, and of an ace's."""
_MAX_EMPTY = 0.6
"""Of any place of the lattice without a pip, beside the pips."""
_MAX_ODD = (0.11, 0.23)
"""Share of the ground that may look more like pips than like the face: of faces of up to three
pips, and of others. Four pips in their places prove a die by themselves, and an ace has letters
around its pip."""
_LETTERS = 0.35
"""Edges of an ace; faces that letters make on it are smaller."""
_FEW = 3
"""So many pips, or fewer, also lie in their places by chance."""
_UNPROVED = 0.6
"""What a face of so few pips counts if nothing shows that it ends where a die does."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoDie:
    """A face that passed."""

    corners: np.ndarray
    """(4, 2) float, picture pixels, clockwise: estimated from the pips."""
    face: Face
    aspect: float
    """Shorter over longer side of the pips' lattice; 1 seen from straight above."""
    members: frozenset[int]
    """Which of the picture's spots are its pips: no two faces share one."""

    @property
    def centre(self) -> np.ndarray:
        return np.asarray(self.corners.mean(axis=0))

    @property
    def edge_px(self) -> float:
        return edge_of(self.corners)


@dataclass(frozen=True, slots=True, eq=False)
class PhotoReading:
    """All that the second reader sees in a photograph."""

    dice: tuple[PhotoDie, ...]
    """From left to right."""
    spots: np.ndarray
    """(N, 4) float, picture pixels: x, y and diameter of every round spot, pip or not, and its
    contrast in CIE Lab units."""


NOTHING_SEEN = PhotoReading((), np.zeros((0, 4)))


def read_photo(image: np.ndarray) -> PhotoReading:
    """Every die face in a (H, W, 3) uint8 BGR picture."""
    scale = min(MAX_ENLARGED, _LONG_SIDE / max(image.shape[:2]))
    seen = _read_at(image, scale)
    fine = min(1.0, FINE_SIDE / max(image.shape[:2]))
    usual = _usual_edge(seen.dice)
    if fine > 1.3 * scale and (usual is None or usual * scale < SMALL_EDGE):
        finer = _read_at(image, fine)  # a large photograph of small dice
        if _sureness(finer.dice) > _sureness(seen.dice):
            return finer
    return seen


def _sureness(dice: Sequence[PhotoDie]) -> float:
    return sum(die.face.confidence for die in dice)


def read_sized(image: np.ndarray, edge_px: float, known: Sequence[np.ndarray]) -> list[PhotoDie]:
    """Every face in a (H, W, 3) uint8 BGR picture whose dice are known to have about that edge,
    but for those that are `known` already, (4, 2) corners each."""
    scale = _SIZED_EDGE / edge_px
    faces = _read_at(image, scale, edge_px * scale, known)
    return [die for die in faces.dice if 1 / _MAX_OFF_SIZE < die.edge_px / edge_px < _MAX_OFF_SIZE]


def _read_at(
    image: np.ndarray,
    scale: float,
    edge: float | None = None,
    known: Sequence[np.ndarray] = (),
) -> PhotoReading:
    """What is read of a picture that is brought to this scale first; in the picture's pixels.

    `edge`: of its dice at that scale, if known; then only spots of a pip's size are looked for, and
    none on `known` faces.
    """
    interpolation = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
    if edge is not None and _MIN_LINEAR < scale < 1:
        interpolation = cv2.INTER_LINEAR
    image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=interpolation)
    lab = to_lab(image)
    bounds = None
    if edge is not None:
        covered = np.zeros(lab.shape[:2], np.uint8)
        for corners in known:
            cv2.fillConvexPoly(covered, np.rint((corners + 0.5) * scale - 0.5).astype(int), 1)
        bounds = Bounds(PIP_DIAMETERS[0] * edge, PIP_DIAMETERS[1] * edge, covered > 0)
    spots = find_spots(lab, bounds=bounds)
    if not len(spots):
        return NOTHING_SEEN
    passed = _examine(lab, spots, propose(spots))
    usual = edge or _usual_edge(_without_overlap(passed))
    if usual is not None:
        passed = [die for die in passed if 1 / ALIKE < die.edge_px / usual < ALIKE]
    kept = _without_overlap(passed)
    aces = _examine(lab, spots, propose_aces(lab, spots, [die.corners for die in kept], usual))
    faces = [die for die in kept + aces if not any(_is_print_on(die, ace) for ace in aces)]
    kept = _without_overlap(faces)
    if edge is None:  # a table reads its faces once more, through its calibration
        kept = [_asked_about_specks(image, spots, die) for die in kept]
    dice = sorted(
        (replace(die, corners=(die.corners + 0.5) / scale - 0.5) for die in kept),
        key=lambda die: float(die.centre[0]),
    )
    places = (spots.xy + 0.5) / scale - 0.5
    return PhotoReading(tuple(dice), np.c_[places, spots.diameter / scale, spots.contrast])


def _usual_edge(dice: Sequence[PhotoDie]) -> float | None:
    """The edge of most dice in the picture, those counting most that are surest to be dice: two
    dice on an even table look like the pips of a giant two. None where no face has three pips and
    more: two spots of a side face or of a floor's grain look like a small two anywhere."""
    dice = [die for die in dice if (die.face.value or 0) >= _FEW]
    if not dice:
        return None
    edges = np.array([die.edge_px for die in dice])
    weights = np.array([(die.face.value or 0) ** 2 * die.face.confidence**2 for die in dice])
    order = np.argsort(edges)
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return float(edges[order][min(int(half), len(dice) - 1)])


def _is_print_on(die: PhotoDie, ace: PhotoDie) -> bool:
    """True if a face is so small and few in pips, and lies so beside the pip of an ace, that it is
    made of the letters around it."""
    gap = float(np.hypot(*(die.centre - ace.centre))) / ace.edge_px
    is_small = die.edge_px < _LETTERS * ace.edge_px and (die.face.value or 0) <= 2
    return is_small and ace.face.pip_diameter / 2 < gap < 0.5


# ── Examination ─────────────────────────────────────────────────────────────


def _examine(lab: np.ndarray, spots: Spots, proposals: Sequence[Proposal]) -> list[PhotoDie]:
    """The proposals whose ground shows what was proposed and nothing else."""
    dice: list[PhotoDie] = []
    for start in range(0, len(proposals), _BATCH):
        batch = proposals[start : start + _BATCH]
        frames = np.array([(p.u, p.v) for p in batch], np.float32)
        middles = np.array([p.middle for p in batch], np.float32)
        x, y = (middles[:, k, None] + frames[:, :, k] @ _PLACES.T for k in (0, 1))
        for proposal, colours in zip(batch, sample(lab, x, y).swapaxes(0, 1), strict=True):
            patch = colours[:, :_ON_FACE].reshape(3, _CELLS, _CELLS)
            die = _judge(lab, spots, proposal, patch, colours[:, _ON_FACE:])
            if die is not None:
                dice.append(die)
    return dice


def _judge(
    lab: np.ndarray, spots: Spots, proposal: Proposal, patch: np.ndarray, rim: np.ndarray
) -> PhotoDie | None:
    members = list(proposal.members)
    pip = np.median(spots.inner[members], axis=0)
    lu, lv = float(np.hypot(*proposal.u)), float(np.hypot(*proposal.v))
    radius = float(np.median(spots.diameter[members])) / 2 / np.sqrt(lu * lv)
    low, high = _ACE_RADII if proposal.value == 1 else _RADII
    if not low < radius < high:
        return None
    # Where the whole face does not pass, it may be a disc let into one, and that end within reach.
    face = _face(proposal, patch, rim, pip, radius) or _face(
        proposal, patch, rim, pip, radius, _DISC_REACH
    )
    if face is None:
        return None
    return PhotoDie(_corners(proposal), face, min(lu, lv) / max(lu, lv), frozenset(members))


def _face(
    proposal: Proposal,
    patch: np.ndarray,
    rim: np.ndarray,
    pip: np.ndarray,
    radius: float,
    reach: float = np.inf,
) -> Face | None:
    """The face of a proposal, if its (3, 27, 27) patch shows its pips of that colour and
    radius, and nothing else within that reach of the middle; both in spacings of the lattice."""
    has_pip = np.array([place in proposal.layout for place in LATTICE])
    gaps = _AWAY[has_pip].min(axis=0)
    looked_at = reach > _FROM_MIDDLE
    ground = looked_at & (gaps > (_PRINT_REACH if proposal.is_printed else 1.3 * radius + 0.08))
    if not ground.any():
        return None
    body = np.median(patch[:, ground], axis=1)
    contrast = float(np.linalg.norm(pip - body))
    if contrast < MIN_CONTRAST:
        return None
    away = patch - body[:, None, None]
    off = length(away) / contrast
    share = np.tensordot((pip - body) / contrast**2, away, 1).astype(np.float32)
    disc = max(0.20, min(0.75 * radius, 0.4))
    near = (looked_at & (disc > _AWAY)).reshape(len(LATTICE), -1).astype(np.float32)
    cells = np.maximum(near.sum(axis=1), 1.0)
    full = min(1.0, float((near[has_pip] @ share.ravel() / cells[has_pip]).min()))
    is_bare = ~has_pip & (radius + disc < _FAR)
    bare = near[is_bare] @ off.ravel() / cells[is_bare]
    empty = float(bare.max(initial=0.0))
    is_uneven = proposal.value > _FEW or proposal.is_printed
    odd = float((off[ground] > 0.5).mean())
    if full < 0.5 or empty > _MAX_EMPTY or odd > _MAX_ODD[is_uneven]:
        return None
    wide = 1.15 * radius
    drawn = np.clip((wide - gaps) / (0.3 * radius) + 0.5, 0, 1)
    told = ground | (gaps < wide) if proposal.is_printed else looked_at
    likeness = float(np.corrcoef(drawn[told], np.clip(share[told], -0.5, 1.5))[0, 1])
    ends = float((length(rim - body[:, None]) > max(0.2 * contrast, 5.0)).mean())
    confidence = max(0.0, min(1.0, (full - empty) * likeness))
    if proposal.value <= _FEW:  # so few pips occur by chance: that the face ends counts as well
        confidence *= _UNPROVED + (1 - _UNPROVED) * min(1.0, 2 * ends)
    if proposal.value == 1:
        confidence *= _UNPROVED + (1 - _UNPROVED) * proposal.square
    if reach < np.inf:
        confidence *= _LESS_SURE
    return Face(
        value=proposal.value,
        confidence=confidence,
        contrast=contrast,
        spacing=SPACING,
        pip_diameter=2 * radius * SPACING,
    )


def _asked_about_specks(image: np.ndarray, spots: Spots, die: PhotoDie) -> PhotoDie:
    """The same, with what is odd about the middle of its face."""
    a, b, _, d = die.corners
    across, down = b - a, d - a
    along = (np.arange(FACE_PX) + 0.5) / FACE_PX
    x, y = (a[k] + along * across[k] + along[:, None] * down[k] for k in (0, 1))
    at = x.astype(np.float32), y.astype(np.float32)
    patch = cv2.remap(image, *at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    places = spots.xy[sorted(die.members)] - die.centre
    pips = np.linalg.solve(np.array([across, down]).T, places.T).T
    odd = oddity_of(patch, pips, die.face.pip_diameter)
    return replace(die, face=replace(die.face, oddity=odd))


def _corners(proposal: Proposal) -> np.ndarray:
    a, b = proposal.u / SPACING / 2, proposal.v / SPACING / 2
    m = proposal.middle
    return np.array([m - a - b, m + a - b, m + a + b, m - a + b])


def _without_overlap(dice: Sequence[PhotoDie]) -> list[PhotoDie]:
    """Of faces that share ground, the one with most pips, then the surest."""
    order = sorted(dice, key=lambda d: (-(d.face.value or 0), -d.face.confidence * d.aspect))
    centres = np.array([die.centre for die in order]).reshape(-1, 2)
    edges = np.array([die.edge_px for die in order])
    kept: list[int] = []
    taken: set[int] = set()
    for i in range(len(order)):
        if taken & order[i].members:
            continue
        gaps = np.hypot(*(centres[kept] - centres[i]).T)
        reach = np.maximum(
            0.62 * np.minimum(edges[kept], edges[i]), 0.45 * np.maximum(edges[kept], edges[i])
        )
        if (gaps > reach).all():
            kept.append(i)
            taken |= order[i].members
    return [order[i] for i in kept]
