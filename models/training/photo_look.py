"""Train the small network that looks at one thing of a photograph: `vision/networks/photo_look.py`.

Owns: its layers, the windows it is taught with, what is asked of it, the export. A window is cut
around a die as the first network would find it, a little beside its top face or upon its front; or
around what is no die, or much smaller or larger than one. It stands upright as photographs do:
turned until the bottom faces of the picture's dice lie below their tops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from models.training import augment, impostors, small_net
from models.training.manifest import PHOTO
from models.training.near_look import NearNet
from models.training.optimiser import Drawn, Run, averaged, fit
from models.training.samples import SampleSource, read
from models.training.small_net import RANGES, SmallNet
from models.training.targets import SHOWN, Mark
from vision.networks.photo_look import CHANNELS, EDGE
from vision.networks.windows import SIDE, cut

_DICE_SHARE = 0.6
_ON_FRONT = 0.3
"""Share of dice that are shown from the middle of a side face, as the first network may."""
_NEGATIVES = (0.35, 0.25, 0.25, 0.15)
"""Shares of windows without a die that show any place, one right beside a die, a part of a die, and
a die much too small."""
_BODY = 1.08
"""A die, with its rounded edges and what its label is off, ends within so many outlines."""
_SLANTED = 0.12
"""Edges between the middles of top and bottom face from which a picture has an upright."""
_ROLL_DEG = 10.0
_IMPOSTORS = 0.35
"""Share of windows without a die that get something else of its size."""
_LITTERED, _DEFACED, _REPAINTED = 0.3, 0.15, 0.35
_PLACE_UNIT = 0.1
"""Edges; an error of the top face's place that counts as one."""
_PLACE_SHARE = 0.2


class PhotoNet(SmallNet):
    """Windows (n, 3, 96, 96) in 0..255 to (n, 9), as `vision.networks.photo_look` has it,
    but places in tenths of an edge."""

    channels, outputs, things, file = CHANNELS, 9, "things", PHOTO
    spared = ("/net/weigh/weigh.3/Gemm",)

    def shipped(self, told: Tensor) -> Tensor:
        """(n, 9)"""
        return torch.cat([told[:, :7], 0.1 * told[:, 7:]], dim=1)


@dataclass(slots=True)
class _View:
    """A window's place in a picture."""

    centre: np.ndarray
    edge: float
    die: Mark | None


class PhotoWindows(Drawn):
    """Windows drawn, turned and lit; of each (4,): 1 for a die; its value 1..6, 0 unknown; and
    where its top face is, in edges from the middle, 9 unknown."""

    def __init__(self, sources: Sequence[SampleSource], seed: int, start: int, end: int) -> None:
        super().__init__(seed, start, end)
        self._sources = sources
        shares = np.array([source.share for source in sources])
        self._shares = shares / shares.sum()

    def draw(self, rng: np.random.Generator) -> tuple[Tensor, ...]:
        while True:
            source = self._sources[rng.choice(len(self._sources), p=self._shares)]
            path, marks = source.rows[int(rng.integers(len(source.rows)))]
            image = read(path)
            wants_die = rng.random() < _DICE_SHARE
            view = _on_die(rng, marks) if wants_die else _elsewhere(rng, image, marks)
            if view is not None:
                break
        turn = _upright_deg(rng, marks, source.is_photo)
        window, back = cut(
            image, (float(view.centre[0]), float(view.centre[1])), EDGE / view.edge, turn, SIDE
        )
        window = np.ascontiguousarray(window)
        there = np.linalg.inv(np.vstack([back, [0, 0, 1]]))[:2]
        die = None if view.die is None else view.die.moved(there)
        window, die = _altered(rng, window, die)
        if rng.random() < 0.5:
            window = np.ascontiguousarray(window[:, ::-1])
            if die is not None:
                die = die.moved(np.array([[-1.0, 0.0, SIDE - 1.0], [0.0, 1.0, 0.0]]))
        window = augment.relight(rng, window)
        wanted = [0.0, 0.0, 9.0, 9.0]
        if die is not None:
            wanted[0], wanted[1] = 1.0, float(die.value)
            if die.exact:
                wanted[2:] = ((die.corners.mean(axis=0) - (SIDE - 1) / 2) / EDGE).tolist()
        return small_net.sample(window, wanted)


def _on_die(rng: np.random.Generator, marks: Sequence[Mark]) -> _View | None:
    """A view of a die, as a finder may find it; None where there is none."""
    shown = [mark for mark in marks if mark.visible >= SHOWN and mark.value]
    if not shown:
        return None
    mark = shown[int(rng.integers(len(shown)))]
    edge = mark.edge
    centre = mark.corners.mean(axis=0)
    if mark.exact and rng.random() < _ON_FRONT:
        centre = centre + rng.uniform(0.1, 0.9) * mark.down + rng.normal(0, 0.15 * edge, 2)
        under = [other for other in marks if _holds(other, centre, 1.0)]
        if not under:
            return None
        # Of dice that overlap in the picture, the one whose middle is nearest is meant.
        mark = min(under, key=lambda m: np.hypot(*(m.corners.mean(axis=0) + m.down / 2 - centre)))
        if mark.visible < SHOWN or not mark.value:
            return None
        edge = mark.edge
    else:
        centre = centre + rng.normal(0, 0.09 * edge, 2)
    return _View(centre, edge * float(np.exp(rng.normal(0, 0.17))), mark)


def _elsewhere(rng: np.random.Generator, image: np.ndarray, marks: Sequence[Mark]) -> _View | None:
    """A view of what is no die, or not of its size; None where chance found none."""
    usual = float(np.median([mark.edge for mark in marks])) if marks else rng.uniform(30, 120)
    size = np.array(image.shape[1::-1], float)
    kind = int(rng.choice(len(_NEGATIVES), p=_NEGATIVES)) if marks else 0
    near = marks[int(rng.integers(len(marks)))] if marks else None
    edge = usual * float(np.exp(rng.normal(0, 0.35)))
    if kind == 0 or near is None:
        centre = rng.uniform(0.02, 0.98, 2) * size
    elif kind == 1:
        way, far = rng.uniform(0, 2 * np.pi), rng.uniform(0.7, 1.6) * near.edge
        centre = near.corners.mean(axis=0) + far * np.array([np.cos(way), np.sin(way)])
    else:
        centre = near.corners.mean(axis=0) + rng.normal(0, 0.3 * near.edge, 2)
        edge = near.edge * float(rng.uniform(0.18, 0.42) if kind == 2 else rng.uniform(2.3, 4))
        return _View(centre, edge, None)
    if ((centre < 0) | (centre >= size)).any() or any(_holds(m, centre, _BODY) for m in marks):
        return None
    return _View(centre, edge, None)


def _altered(
    rng: np.random.Generator, window: np.ndarray, die: Mark | None
) -> tuple[np.ndarray, Mark | None]:
    """The window with another colour of die, a symbol instead of pips, or litter in it."""
    marks = [] if die is None else [die]
    if die is None and rng.random() < _IMPOSTORS:
        return impostors.paint(rng, window, EDGE), None
    if die is not None and die.exact and rng.random() < _DEFACED:
        impostors.deface(rng, window, marks)
        if die.visible < SHOWN:
            die = None
    elif rng.random() < _REPAINTED:
        augment.repaint(rng, window, marks)
    if rng.random() < (_LITTERED if marks else 2 * _LITTERED):
        window = impostors.litter(rng, window, marks)
    return window, die


def _upright_deg(rng: np.random.Generator, marks: Sequence[Mark], is_photo: bool) -> float:
    """By how much to turn a picture, counter-clockwise, for it to stand about upright; anything
    where that cannot be told and does not matter."""
    exact = [mark for mark in marks if mark.exact and mark.flat != 0]
    down = np.mean([mark.down / mark.edge for mark in exact], axis=0) if exact else np.zeros(2)
    roll = float(rng.normal(0, _ROLL_DEG))
    if is_photo:  # it stands as it was taken; seen from straight above, any way is as good
        is_steep = bool(exact) and float(np.hypot(*down)) < _SLANTED
        return float(rng.uniform(0, 360)) if is_steep and rng.random() < 0.5 else roll
    if float(np.hypot(*down)) < _SLANTED:
        return float(rng.uniform(0, 360))
    # OpenCV turns counter-clockwise for positive angles, with y pointing down.
    return float(np.degrees(np.arctan2(down[1], down[0]))) - 90.0 + roll


def _holds(mark: Mark, point: np.ndarray, grown: float) -> bool:
    """True if a point lies in a die, top to bottom face, that is so many times as large."""
    if mark.exact:
        whole = np.concatenate([mark.corners, mark.corners + mark.down])
    else:
        grown *= 1.5  # its square is the middle of a box
        whole = mark.corners
    middle = whole.mean(axis=0)
    hull = cv2.convexHull((middle + grown * (whole - middle)).astype(np.float32))
    return cv2.pointPolygonTest(hull, (float(point[0]), float(point[1])), False) >= 0


def losses(said: Tensor, wanted: Tensor) -> dict[str, Tensor]:
    """Is it a die; which value; where is its top face. Each only where it is known."""
    told, is_die = said.float(), wanted[:, 0]
    has_value = wanted[:, 1] > 0
    has_place = wanted[:, 2] < 9
    return {
        "die": functional.binary_cross_entropy_with_logits(told[:, 0], is_die),
        "value": functional.cross_entropy(
            told[has_value, 1:7], wanted[has_value, 1].long() - 1, label_smoothing=0.02
        ),
        "place": _PLACE_SHARE
        * functional.smooth_l1_loss(
            0.1 * told[has_place, 7:] / _PLACE_UNIT, wanted[has_place, 2:] / _PLACE_UNIT
        ),
    }


def begin_from(near: Path) -> PhotoNet:
    """A network whose layers below the last two are those of the near look's checkpoint, without
    what these made of its drawings: edges, pips and sides are the same here."""
    taught = NearNet()
    taught.load_state_dict(averaged(near))
    first = taught.trunk[0][0]
    assert isinstance(first, nn.Conv2d)
    first.weight = nn.Parameter(first.weight[:, :CHANNELS].detach().clone())
    first.in_channels = CHANNELS
    net = PhotoNet()
    net.trunk = taught.trunk
    return net


def train(sources: Sequence[SampleSource], near: Path, seed: int, run: Run) -> PhotoNet:
    """The network after a run that begins with the near look's checkpoint."""
    torch.manual_seed(seed)
    return fit(begin_from(near), partial(PhotoWindows, sources, seed), losses, run)


def export(net: PhotoNet, sources: Sequence[SampleSource], work: Path, out: Path) -> Path:
    """See `small_net.ship`."""
    return small_net.ship(net, PhotoWindows(sources, 0, 0, RANGES), work, out)
