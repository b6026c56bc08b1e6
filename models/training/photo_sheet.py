"""`python -m models.training.photo_sheet SETS...`: what the look at one thing is shown, and says.

Owns: the choice of windows for `models/figures/photo_look.jpg` and their layout. Must not know how
the network works. The first windows of rendered sets that show a die, that show none, and that are
answered wrong; none is picked for its looks. Give sets that training did not have.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

from models.training.photo_look import Windows
from models.training.samples import scene_source
from vision.networks.classifier import DieFinder
from vision.networks.photo_look import EDGE, SIDE, PhotoLook, PhotoLooker

_COLUMNS = 12
_ROWS = 2
_ENLARGED = 1.5
_WORDS_PX = 38
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_MOST = 4000
"""Windows that are looked at before a row stays short."""
_GROUPS = ("dice, read right", "no dice, or not of this size: seen as none", "wrong")


@dataclass(frozen=True, slots=True)
class _Answered:
    group: str
    tile: np.ndarray


def answered(folders: Sequence[Path], looker: PhotoLooker, seed: int) -> Iterator[_Answered]:
    """A tile for every window that is drawn from the sets."""
    data = Windows([scene_source(folder, 1.0) for folder in folders], seed, _MOST)
    middle = np.full(2, (SIDE - 1) / 2)
    for index in range(_MOST):
        planes, wanted = data[index]
        window = np.ascontiguousarray(planes.numpy().transpose(1, 2, 0))
        look = looker.look(window, [(middle, EDGE)])[0]
        value = int(wanted[1]) if wanted[0] else 0
        said = int(look.value_p.argmax()) + 1 if look.die_p >= 0.5 else 0
        group = _GROUPS[2] if said != value else _GROUPS[0] if value else _GROUPS[1]
        yield _Answered(group, _tile(window, look, value, middle))


def _tile(window: np.ndarray, look: PhotoLook, value: int, middle: np.ndarray) -> np.ndarray:
    """The window, a ring where the top face is said to be, truth and answer below."""
    size = round(_ENLARGED * SIDE)
    seen = cv2.resize(window, (size, size), interpolation=cv2.INTER_CUBIC)
    if look.die_p >= 0.5:
        at = np.round((middle + look.offset + 0.5) * _ENLARGED - 0.5).astype(int).tolist()
        cv2.circle(seen, at, 4, (0, 0, 0), 2, cv2.LINE_AA)
        cv2.circle(seen, at, 4, (0, 255, 255), 1, cv2.LINE_AA)
    tile = np.full((size + _WORDS_PX, size + 4, 3), 24, np.uint8)
    tile[:size, :size] = seen
    best = int(look.value_p.argmax())
    words = (
        f"truth: {value or 'none'}",
        f"die {look.die_p:.2f}, {best + 1} {look.value_p[best]:.2f}",
    )
    for number, line in enumerate(words):
        place = (3, size + 14 + 16 * number)
        cv2.putText(tile, line, place, _FONT, 0.38, (230, 230, 230), 1, cv2.LINE_AA)
    return tile


def sheet(tiles: Iterator[_Answered]) -> np.ndarray:
    """Rows of tiles, group by group; what the sets do not fill stays dark."""
    most = _ROWS * _COLUMNS
    chosen: dict[str, list[np.ndarray]] = {name: [] for name in _GROUPS}
    for each in islice(tiles, _MOST):
        if len(chosen[each.group]) < most:
            chosen[each.group].append(each.tile)
        if all(len(here) == most for here in chosen.values()):
            break
    side = round(_ENLARGED * SIDE)
    blank = np.full((side + _WORDS_PX, side + 4, 3), 24, np.uint8)
    lines = []
    for name, here in chosen.items():
        head = np.full((22, _COLUMNS * blank.shape[1], 3), 60, np.uint8)
        cv2.putText(head, name, (4, 16), _FONT, 0.5, (240, 240, 240), 1, cv2.LINE_AA)
        lines.append(head)
        filled = here + [blank] * (most - len(here))
        lines += [np.concatenate(filled[i : i + _COLUMNS], 1) for i in range(0, most, _COLUMNS)]
    return np.concatenate(lines)


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="+", type=Path, metavar="SETS")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("models/figures"))
    given = parser.parse_args()
    cv2.setNumThreads(1)
    looker = DieFinder().photo
    if looker is None:
        parser.error("the model has no network that looks at photographs")
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "photo_look.jpg"
    tiles = answered(given.scenes, looker, given.seed)
    cv2.imwrite(str(path), sheet(tiles), [cv2.IMWRITE_JPEG_QUALITY, 85])
    print(path)


if __name__ == "__main__":
    main()
