"""`python -m models.training.near_sheet SHOTS...`: what the near look is shown, and what it says.

Owns: the choice of dice for `models/figures/near_look.jpg` and their layout. Must not know how the
network works. The first dice of a set that lie flat, that lean by 6-9° and by more than 9°, each
found by the first network as at a table; none is picked for its looks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from models.training.layout import FLAT_DEG, NOT_FLAT_DEG
from models.training.scenes import rows
from vision.calibration import Calibration
from vision.frame import Frame
from vision.networks.classifier import DieFinder, FoundDie
from vision.networks.near_look import SIDE, Window, window
from vision.table.reader import TableReader

_COLUMNS = 8
_ENLARGED = 2
_WORDS_PX = 40
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_MUCH_DEG = 9.0
_VISIBLE = 0.97
_NEAR = 0.3
"""Of an edge; so far a finding may be from the die that it is of."""
_GROUPS = (
    ("flat", lambda tilt: tilt <= FLAT_DEG, 2),
    ("leans by 6-9 deg", lambda tilt: NOT_FLAT_DEG <= tilt < _MUCH_DEG, 2),
    ("leans by more", lambda tilt: tilt >= _MUCH_DEG, 1),
)
"""Name, which tilts belong to it, and how many rows it gets."""


@dataclass(frozen=True, slots=True)
class _Looked:
    tilt_deg: float
    tile: np.ndarray


def looked(folders: Sequence[Path], every: int) -> Iterator[_Looked]:
    """A tile for every visible die that is found and lies on no other, in the order of the sets."""
    finder = DieFinder()
    for path, row in [each for folder in folders for each in list(rows(folder))[::every]]:
        image = np.asarray(cv2.imread(str(path), cv2.IMREAD_COLOR), np.uint8)
        calibration = Calibration.from_table(row["calibration"])
        found = TableReader(finder, calibration).look(Frame(image)).model
        for die in row["dice"]:
            # A pixel of a label has its middle at halves, one of a frame at wholes.
            middle = np.array(die["corners"], float).mean(axis=0) - 0.5
            gaps = [float(np.hypot(*(each.centre - middle))) for each in found]
            if die["stacked"] or die["visible"] < _VISIBLE or not gaps:
                continue
            nearest = found[int(np.argmin(gaps))]
            if min(gaps) < _NEAR * calibration.die_px and nearest.near is not None:
                at = window(nearest.corners, calibration)
                yield _Looked(die["tilt_deg"], _tile(image, at, nearest, die["tilt_deg"]))


def _tile(image: np.ndarray, at: Window, found: FoundDie, tilt_deg: float) -> np.ndarray:
    """The window with the upright die drawn over it, and truth and answer below."""
    size = _ENLARGED * SIDE
    matrix = at.matrix * _ENLARGED
    seen = cv2.warpAffine(
        image, matrix, (size, size), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    for face, colour in ((at.bottom, (0, 170, 255)), (at.top, (0, 255, 255))):
        ring = np.round(face * _ENLARGED * 16).astype(np.int32)
        cv2.polylines(seen, [ring], True, colour, 1, cv2.LINE_AA, 4)
    tile = np.full((size + _WORDS_PX, size + 4, 3), 24, np.uint8)
    tile[:size, :size] = seen
    assert found.near is not None
    words = (
        f"truth {tilt_deg:.1f} deg",
        f"near look: flat {found.near.flat_p:.2f}, lean {found.near.lean_deg:.0f}",
    )
    for number, line in enumerate(words):
        place = (3, size + 15 + 16 * number)
        cv2.putText(tile, line, place, _FONT, 0.38, (230, 230, 230), 1, cv2.LINE_AA)
    return tile


def sheet(tiles: Iterator[_Looked]) -> np.ndarray:
    """Rows of tiles, group by group; what a set does not fill stays dark."""
    chosen: dict[str, list[np.ndarray]] = {name: [] for name, _, _ in _GROUPS}
    for each in tiles:
        for name, belongs, count in _GROUPS:
            if belongs(each.tilt_deg) and len(chosen[name]) < count * _COLUMNS:
                chosen[name].append(each.tile)
        if all(len(chosen[name]) == count * _COLUMNS for name, _, count in _GROUPS):
            break
    blank = np.full((_ENLARGED * SIDE + _WORDS_PX, _ENLARGED * SIDE + 4, 3), 24, np.uint8)
    lines = []
    for name, _, count in _GROUPS:
        head = np.full((22, _COLUMNS * blank.shape[1], 3), 60, np.uint8)
        cv2.putText(head, name, (4, 16), _FONT, 0.5, (240, 240, 240), 1, cv2.LINE_AA)
        lines.append(head)
        filled = chosen[name] + [blank] * (count * _COLUMNS - len(chosen[name]))
        lines += [
            np.concatenate(filled[i : i + _COLUMNS], 1) for i in range(0, len(filled), _COLUMNS)
        ]
    return np.concatenate(lines)


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="+", type=Path, metavar="SHOTS", help="calibrated sets")
    parser.add_argument("--every", type=int, default=1, help="look at each so many-th only")
    parser.add_argument("--out", type=Path, default=Path("models/figures"))
    given = parser.parse_args()
    cv2.setNumThreads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "near_look.jpg"
    cv2.imwrite(str(path), sheet(looked(given.scenes, given.every)), [cv2.IMWRITE_JPEG_QUALITY, 85])
    print(path)


if __name__ == "__main__":
    main()
