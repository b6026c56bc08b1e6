"""The stream of training batches, the same for the same seed.

Owns: which picture comes next and how pictures are combined. Must not know: the optimiser.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.utils.data import Dataset

from models.training import augment, scenes, symbols
from models.training.photos import photo_rows
from models.training.targets import Mark, encode, flat_label

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


def photo_source(folder: Path, guesses: Path | None, share: float) -> SampleSource:
    """A set of real photographs."""
    return SampleSource(folder.name, photo_rows(folder, guesses), share, is_photo=True)


class Samples(Dataset):
    """Sample `i` of a run: drawn and augmented by its own generator."""

    def __init__(
        self, sources: list[SampleSource], size: int, seed: int, start: int, end: int
    ) -> None:
        self.sources = sources
        self.size, self.seed, self.start, self.end = size, seed, start, end
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

    def __len__(self) -> int:
        return self.end - self.start

    def __getitem__(self, index: int) -> tuple[torch.Tensor, ...]:
        cv2.setNumThreads(1)
        rng = np.random.default_rng([self.seed, self.start + index])
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
            symbols.deface(rng, image, marks)
        if rng.random() < _LITTERED:
            image = augment.litter(rng, image, marks)
        image = augment.relight(rng, image)
        maps = encode(marks, self.size, self.size)
        return (
            torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1))),
            torch.from_numpy(maps.heat),
            torch.from_numpy(maps.shape),
            torch.from_numpy(maps.face),
            torch.from_numpy(maps.down_weight),
            torch.from_numpy(maps.parts),
        )

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
    """A (H, W, 3) uint8 BGR picture; the last `_KEPT` stay in memory. Raises FileNotFoundError."""
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if image is None:
        raise FileNotFoundError(f"cannot read {path}: render or fetch the set again")
    return image
