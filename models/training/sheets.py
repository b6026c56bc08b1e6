"""`python -m models.training.sheets SCENES...`: pictures of what is read, refused, and got wrong.

Owns: the choice of rendered pictures for `models/figures/{reads,refuses,fails}.jpg` and their
layout. Must not know how the readers work. No photograph is shown: their licences stay with them.

Pictures are taken in the order of the set, so that none is picked for its looks; of each reason for
a refusal at most `_OF_EACH`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from rich.progress import track

from models.training.photo_curve import scene_labels
from vision.evaluate import Counts, compare
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.overlay import draw_reading
from vision.photo.reader import PhotoReader
from vision.reading import Unreadable, Verified

_TILE = 256
_COLUMNS = 6
_MOST = 18
_OF_EACH = 3
_FONT = cv2.FONT_HERSHEY_SIMPLEX


@dataclass(frozen=True, slots=True)
class _Shown:
    picture: np.ndarray
    words: str


def choose(folders: list[Path], every: int) -> dict[str, list[_Shown]]:
    """The pictures of each sheet."""
    reader = PhotoReader(DieFinder())
    sheets: dict[str, list[_Shown]] = {"reads": [], "refuses": [], "fails": []}
    reasons: Counter[str] = Counter()
    pictures = [picture for folder in folders for picture in list(scene_labels(folder))[::every]]
    for path, labels in track(pictures, description="reading", transient=True):
        image = np.asarray(cv2.imread(str(path), cv2.IMREAD_COLOR), np.uint8)
        seen = reader.look(Frame(image))
        opinion = seen.observation.opinion
        picture = draw_reading(image, seen.observation, opinion)
        truth = " ".join(str(label.value or "-") for label in labels)
        counts = Counts()
        is_wrong = compare(counts, labels, seen.model, opinion) > 0
        if isinstance(opinion, Verified) and counts.accepted_exact:
            sheets["reads"].append(_Shown(picture, f"shown: {truth}"))
        elif is_wrong:
            plain = " ".join(str(die.value) for die in seen.model)
            sheets["fails"].append(_Shown(picture, f"shown: {truth}   model alone: {plain}"))
        elif isinstance(opinion, Unreadable):
            reasons[opinion.reason.value] += 1
            if reasons[opinion.reason.value] <= _OF_EACH:
                sheets["refuses"].append(_Shown(picture, f"shown: {truth}"))
    return sheets


def sheet(shown: list[_Shown]) -> np.ndarray:
    """Rows of tiles, each with its words below."""
    tiles = []
    for each in shown[:_MOST]:
        scale = _TILE / max(each.picture.shape[:2])
        small = cv2.resize(each.picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        tile = np.full((_TILE + 24, _TILE + 4, 3), 24, np.uint8)
        tile[: small.shape[0], : small.shape[1]] = small
        at = (3, _TILE + 16)
        cv2.putText(tile, each.words[:44], at, _FONT, 0.36, (230, 230, 230), 1, cv2.LINE_AA)
        tiles.append(tile)
    while len(tiles) % _COLUMNS:
        tiles.append(np.full_like(tiles[0], 24))
    rows = [np.concatenate(tiles[i : i + _COLUMNS], 1) for i in range(0, len(tiles), _COLUMNS)]
    return np.concatenate(rows)


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="+", type=Path, metavar="SCENES")
    parser.add_argument("--every", type=int, default=1, help="look at each so many-th only")
    parser.add_argument("--out", type=Path, default=Path("models/figures"))
    given = parser.parse_args()
    cv2.setNumThreads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    for name, shown in choose(given.scenes, given.every).items():
        print(f"{name}: {len(shown)} pictures")
        if shown:
            quality = [cv2.IMWRITE_JPEG_QUALITY, 85]
            cv2.imwrite(str(given.out / f"{name}.jpg"), sheet(shown), quality)


if __name__ == "__main__":
    main()
