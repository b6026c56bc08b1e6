"""Labelled photographs: folders with a `labels.jsonl`, and the published corrections of the labels.

Owns: the format and the refusal of impossible rows. Each picture has one row (`{"image", "width",
"height", "dice": [...]}`, with `bbox`, `value` and `flat` of each die). Must not know what reads
the pictures.

Every folder that has a `labels.jsonl`, searched recursively, is a set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from shaker_ctl.frozen import frozen
from vision.errors import VisionError
from vision.pictures import shown


@frozen
class Label:
    """One labelled die."""

    centre: tuple[float, float] | None
    """Of its box, pixels; None: no box."""
    size: float
    """Longer side of its box, pixels; 0: no box."""
    value: int | None
    """1..6; None: the value is not visible."""
    is_flat: bool | None = None
    """False: it does not lie flat, so that no value counts; None: the label does not say."""


def sets_under(folders: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Name and folder of every set. Raises VisionError where there is none."""
    for folder in folders:
        found = sorted(folder.rglob("labels.jsonl")) if folder.is_dir() else []
        if not found:
            raise VisionError(
                f"{folder} has no labels.jsonl in it or below: name a folder of labelled pictures"
            )
        for labels in found:
            yield labels.parent.name, labels.parent


NO_DIE = "no die"
"""What a correction says instead of a value where nothing lies that could have one."""


@frozen
class Correction:
    """One label that is wrong, as somebody saw who looked at the picture."""

    old: int | None
    new: int | str | None
    """None: no value that anybody could tell. `NO_DIE`: nothing that could have one is there."""
    bbox: tuple[float, float, float, float] | None = None
    """Of a die that nobody had labelled: x0, y0, x1, y1 in pixels."""


Corrections = dict[tuple[str, str], dict[int, Correction]]
"""By set and picture, as its labels name it: corrections by the die's index in its row."""


def read_corrections(path: Path) -> Corrections:
    """Rows `{set, image, die, old, new, why}`; `"new": "no die"` takes a label away, a row with a
    `bbox` and the next free number of `die` adds one. Raises VisionError, naming file and line."""
    found: Corrections = {}
    for number, line in _lines(path):
        try:
            row = json.loads(line)
            if row["new"] != NO_DIE:
                _check_value(row["new"])
            dice = found.setdefault((row["set"], row["image"]), {})
            dice[int(row["die"])] = Correction(
                row["old"], row["new"], tuple(row["bbox"]) if "bbox" in row else None
            )
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise VisionError(f"{path}, line {number}: not a correction ({error})") from error
    return found


def read_labels(
    folder: Path, corrections: Corrections | None = None
) -> Iterator[tuple[Path, list[Label]]]:
    """Picture and labels of each row. Raises VisionError, naming file and line."""
    path = folder / "labels.jsonl"
    for number, line in _lines(path):
        try:
            row = json.loads(line)
            corrected = (corrections or {}).get((folder.name, row["image"]), {})
            labels = []
            added = {i: one for i, one in sorted(corrected.items()) if one.bbox is not None}
            free = range(len(row["dice"]), len(row["dice"]) + len(added))
            if list(added) != list(free):
                raise ValueError(
                    f"corrections add dice {list(added)}, the next free numbers are {list(free)}"
                )
            more = [{"bbox": one.bbox, "value": one.old} for one in added.values()]
            for index, die in enumerate(row["dice"] + more):
                box, value = _box(die.get("bbox")), die.get("value")
                _check_value(value)
                is_flat = die.get("flat")
                if is_flat not in (True, False, None):
                    raise ValueError(f"flat {is_flat!r} is neither true, false nor null")
                centre = None if box is None else ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
                size = 0.0 if box is None else max(box[2] - box[0], box[3] - box[1])
                if index in corrected:
                    if value != corrected[index].old:
                        raise ValueError(
                            f"die {index} is labelled {value}, the correction expects "
                            f"{corrected[index].old}"
                        )
                    if corrected[index].new == NO_DIE:
                        continue
                    value = corrected[index].new
                labels.append(Label(centre, size, value, is_flat))
            picture = folder / row["image"]
            if not picture.is_file():
                raise ValueError(f"there is no picture {shown(picture)}")
            yield picture, labels
        except (
            ValueError,
            KeyError,
            TypeError,
            IndexError,
            AttributeError,
            OverflowError,
        ) as error:
            raise VisionError(f"{path}, line {number}: not a row of labels ({error})") from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not empty, numbered from 1. Raises VisionError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise VisionError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise VisionError(f"{path} is no text: byte {error.start} is not UTF-8") from error
    yield from ((n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip())


def _box(box: object) -> tuple[float, ...] | None:
    """Two corners in pixels, or none. Raises ValueError where they cannot be."""
    if box is None:
        return None
    sides = tuple(float(side) for side in box) if isinstance(box, list | tuple) else ()
    if len(sides) != 4 or not np.isfinite(sides).all():
        raise ValueError(f"bbox {box} is not x0, y0, x1, y1 in pixels")
    return sides


def _check_value(value: object) -> None:
    """Raise ValueError for what no face shows and nobody may have meant by `null`."""
    if value is not None and (type(value) is not int or not 1 <= value <= 6):
        raise ValueError(f"value {value!r} is neither 1 to 6 nor null")
