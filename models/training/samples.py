"""The stream of training batches, the same for the same seed.

Owns: what a labelled picture is worth, the corners of dice on photographs, which picture comes
next, and how pictures are combined. Must not know: the optimiser.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path

import cv2
import numpy as np
import torch
from rich.progress import track

from models.training import augment, impostors, scenes
from models.training.optimiser import Drawn
from models.training.targets import Mark, encode, flat_label
from vision.networks.classifier import DieFinder, FoundDie
from vision.photo.finder import PhotoFinder
from vision.photo.labels import Box, Label, read_labels
from vision.pictures import load

_MOSAIC = 0.2
"""Share of training pictures put together from four: many small dice of many looks."""

_LITTERED = 0.3
"""Share of training pictures with keys and labels pasted beside the dice."""

_PASTED = 0.3
"""Share of training pictures onto which dice cut out of photographs are pasted."""

_REPAINTED = 0.25
"""Share of training pictures in which some dice change colour."""

_DEFACED = 0.07
"""Share of training pictures in which a die or two shows something else than pips."""

_MAX_OBLIQUE_DEG = 15.0
"""Farther off the vertical, a crop cannot show whether a die or the camera leans: no label."""

_KEPT = 6000
"""Decoded pictures kept in memory, some 0.6 MB each: decoding takes a third of a sample's time."""


_MIN_WORTH = 0.15
"""Faint findings count too: the label says that a die is there, and which."""

_MAX_OFF = 0.3
"""Farthest that a guessed face's centre may lie from the box's, in box sides."""


@dataclass(slots=True)
class SampleSource:
    """Pictures of one origin and how often to draw from it."""

    name: str
    rows: list[tuple[Path, list[Mark]]]
    share: float
    is_photo: bool = False


def scene_source(folder: Path, share: float) -> SampleSource:
    """A rendered set."""
    rows = []
    for path, row in scenes.rows(folder):
        is_oblique = float(row["notes"].get("tilt_deg", 0.0)) > _MAX_OBLIQUE_DEG
        marks = [
            Mark(
                corners=np.array(die["corners"], np.float64),
                value=die["value"],
                flat=-1.0 if is_oblique else flat_label(die["tilt_deg"], die["stacked"]),
                down=np.array(die["down"], np.float64),
                visible=die["visible"],
            )
            for die in row["dice"]
        ]
        rows.append((path, marks))
    return SampleSource(folder.name, rows, share)


def photo_source(folder: Path, guesses: Path, share: float) -> SampleSource:
    """A set of real photographs. Boxes mean the whole die in one set and the top face in another,
    so a box alone teaches only "a die is about here, and it shows this value". Where an earlier
    model found the same die, its corners (the file `guesses`, of `guess_corners`) refine that."""
    guessed: dict[str, list] = json.loads(guesses.read_text())
    pictures = []
    for path, labels in read_labels(folder):
        known = guessed.get(f"{folder.name}/{path.relative_to(folder)}", [None] * len(labels))
        marks = [
            _photo_mark(label.box, label.value or 0, guess)
            for label, guess in zip(labels, known, strict=True)
            if label.box is not None
        ]
        if len(marks) == len(labels):
            pictures.append((path, marks))
    return SampleSource(folder.name, pictures, share, is_photo=True)


def _photo_mark(box: Box, value: int, guess: dict | None) -> Mark:
    x0, y0, x1, y1 = box
    if guess is not None:
        corners, down = np.array(guess["corners"], float), np.array(guess["down"], float)
        return Mark(corners, value, flat=1.0, down=down, visible=1.0, has_down=False)
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
    half = 0.36 * (x1 - x0 + y1 - y0) / 2
    square = middle + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    # A die without a legible value is often cut off or hidden: accept either answer.
    visible = 1.0 if value else 0.3
    return Mark(square, value, -1.0, np.zeros(2), visible, exact=False)


def guess_corners(
    model: Path, folders: Sequence[Path], processes: int
) -> dict[str, list[dict | None]]:
    """Corners for photographs that come with boxes only: per picture, in the order of its labels,
    corners and down vector as a model sees them, or None. Prints how many dice have corners then.

    The model looks as it does at any photograph, in several sizes and again at each die: some sets'
    dice are too small for one look.
    """
    guesses: dict[str, list[dict | None]] = {}
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for folder in folders:
            told = list(read_labels(folder))
            made = track(pool.imap(partial(_guess_picture, model), told), folder.name, len(told))
            names = (f"{folder.name}/{path.relative_to(folder)}" for path, _ in told)
            here = dict(zip(names, made, strict=True))
            kept = sum(one is not None for row in here.values() for one in row)
            print(f"{folder.name}: corners for {kept} of {sum(map(len, here.values()))} dice")
            guesses |= here
    return guesses


@cache
def _finder(model: Path) -> PhotoFinder:
    cv2.setNumThreads(1)
    return PhotoFinder(DieFinder(model))


def _guess_picture(model: Path, told: tuple[Path, list[Label]]) -> list[dict | None]:
    path, labels = told
    found, _ = _finder(model).find(load(path), _MIN_WORTH)
    return [_guess(label, found) for label in labels]


def _guess(label: Label, found: list[FoundDie]) -> dict | None:
    """Kept only where the model's die lies in the middle of the box and shows the labelled value;
    the label decides, the model only refines."""
    if label.centre is None or label.value is None:
        return None
    middle, side = np.array(label.centre), label.size
    fitting = [
        one
        for one in found
        if np.abs(one.centre - middle).max() < _MAX_OFF * side
        and one.value == label.value
        and 0.4 * side < one.edge_px < 1.2 * side
    ]
    if not fitting:
        return None
    best = max(fitting, key=lambda one: one.score)
    return {"corners": np.round(best.corners, 2).tolist(), "down": np.round(best.down, 2).tolist()}


class Samples(Drawn):
    """Pictures drawn and augmented, with what is wanted of them as in `targets.Maps`."""

    def __init__(
        self, sources: list[SampleSource], size: int, seed: int, start: int, end: int
    ) -> None:
        super().__init__(seed, start, end)
        self.sources, self.size = sources, size
        shares = np.array([source.share for source in sources])
        self.shares = shares / shares.sum()
        self.cutouts = [
            (path, mark)
            for source in sources
            if source.is_photo
            for path, marks in source.rows
            for mark in marks
            if mark.exact and mark.value
        ]

    def draw(self, rng: np.random.Generator) -> tuple[torch.Tensor, ...]:
        image, marks = self._compose(rng)
        if rng.random() < _REPAINTED:
            augment.repaint(rng, image, marks)
        if self.cutouts and rng.random() < (_PASTED if marks else 0.75):
            for _ in range(rng.integers(1, 5)):
                path, die = self.cutouts[rng.integers(len(self.cutouts))]
                pasted = augment.paste(rng, image, marks, read(path), die)
                if pasted is not None:
                    marks.append(pasted)
        if rng.random() < _DEFACED:
            impostors.deface(rng, image, marks)
        if rng.random() < _LITTERED:
            image = impostors.litter(rng, image, marks)
        image = augment.relight(rng, image)
        maps = encode(marks, self.size, self.size)
        planes = np.ascontiguousarray(image.transpose(2, 0, 1))
        wanted = (maps.heat, maps.shape, maps.face, maps.down_weight, maps.parts)
        return tuple(torch.from_numpy(each) for each in (planes, *wanted))

    def _compose(self, rng: np.random.Generator) -> tuple[np.ndarray, list[Mark]]:
        if rng.random() >= _MOSAIC:
            return self._one(rng, self.size)
        half = self.size // 2
        image = np.empty((self.size, self.size, 3), np.uint8)
        marks: list[Mark] = []
        for x in (0, half):
            for y in (0, half):
                part, found = self._one(rng, half)
                image[y : y + half, x : x + half] = part
                for mark in found:
                    mark.corners = mark.corners + np.array([x, y])
                marks += found
        return image, marks

    def _one(self, rng: np.random.Generator, size: int) -> tuple[np.ndarray, list[Mark]]:
        source = self.sources[rng.choice(len(self.sources), p=self.shares)]
        path, marks = source.rows[rng.integers(len(source.rows))]
        return augment.warp(rng, read(path), marks, size, source.is_photo)


@lru_cache(maxsize=_KEPT)
def read(path: Path) -> np.ndarray:
    """A (H, W, 3) uint8 BGR picture; the last `_KEPT` stay in memory. Raises PictureError."""
    return load(path)
