"""Labelled photographs: folders with a `labels.jsonl`, and the published corrections of the labels.

Owns: the format and the refusal of impossible rows. Each picture has one row (`{"image", "dice":
[...]}`, with `bbox`, `value` and `flat` of each die). Must not know what reads the pictures.

Every folder that has a `labels.jsonl`, searched recursively, is a set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, FiniteFloat, StrictBool, ValidationError

from vision.errors import VisionError
from vision.pictures import shown

Box = tuple[FiniteFloat, FiniteFloat, FiniteFloat, FiniteFloat]
"""x0, y0, x1, y1 in pixels."""


@dataclass(frozen=True, slots=True)
class Label:
    """One labelled die."""

    box: Box | None
    """None: no box."""
    value: int | None
    """1..6; None: the value is not visible."""
    is_flat: bool | None = None
    """False: it does not lie flat, so that no value counts; None: the label does not say."""

    @property
    def centre(self) -> tuple[float, float] | None:
        """Of its box, pixels; None: no box."""
        if self.box is None:
            return None
        x0, y0, x1, y1 = self.box
        return (x0 + x1) / 2, (y0 + y1) / 2

    @property
    def size(self) -> float:
        """Longer side of its box, pixels; 0: no box."""
        x0, y0, x1, y1 = self.box or (0.0, 0.0, 0.0, 0.0)
        return max(x1 - x0, y1 - y0)


def sets_under(folders: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """Name and folder of every set. Raises VisionError where there is none."""
    for folder in dict.fromkeys(map(Path.resolve, folders)):  # `.` has no name
        found = sorted(folder.rglob("labels.jsonl")) if folder.is_dir() else []
        if not found:
            raise VisionError(
                f"{folder} has no labels.jsonl in it or below: name a folder of labelled pictures"
            )
        for labels in found:
            yield labels.parent.name, labels.parent


Value = Annotated[int, Field(strict=True, ge=1, le=6)]


def _with_room(box: Box) -> Box:
    x0, y0, x1, y1 = box
    if x0 >= x1 or y0 >= y1:
        raise ValueError("not left, top, right, bottom")
    return box


class _Die(BaseModel):
    bbox: Annotated[Box, AfterValidator(_with_room)] | None = None
    value: Value | None
    flat: StrictBool | None = None


class _Row(BaseModel):
    image: str
    dice: list[_Die]


class Correction(BaseModel):
    """One label that is wrong, as somebody saw who looked at the picture."""

    set: str
    image: str
    """As its labels name it."""
    die: int
    """The die's index in its row; of a die that nobody had labelled, the next free number."""
    old: Value | None
    new: Value | Literal["no die"] | None
    """None: no value that anybody could tell. `no die`: nothing that could have one is there."""
    bbox: Box | None = None
    """Of a die that nobody had labelled."""


Corrections = Mapping[tuple[str, str], list[Correction]]
"""By set and picture."""


def read_corrections(path: Path) -> Corrections:
    """From rows `{set, image, die, old, new, why}`. Raises VisionError, naming file and line."""
    found: dict[tuple[str, str], list[Correction]] = {}
    for number, line in _lines(path):
        try:
            row = Correction.model_validate_json(line)
        except ValidationError as error:
            raise _no_row(path, number, error) from error
        found.setdefault((row.set, row.image), []).append(row)
    return found


def read_labels(
    folder: Path, corrections: Corrections | None = None
) -> Iterator[tuple[Path, list[Label]]]:
    """Picture and labels of each row. Raises VisionError, naming file and line."""
    path = folder / "labels.jsonl"
    pictures: set[Path] = set()
    ours = {image for name, image in corrections or {} if name == folder.name}
    for number, line in _lines(path):
        try:
            row = _Row.model_validate_json(line)
            labels = _corrected(row.dice, (corrections or {}).get((folder.name, row.image), ()))
            picture = (folder / row.image).resolve()
            if not picture.is_file():
                raise ValueError(f"there is no picture {shown(picture)}")
        except (ValueError, OSError, RuntimeError) as error:  # long names; links in a circle
            raise _no_row(path, number, error) from error
        if picture in pictures:
            raise _no_row(path, number, ValueError(f"an earlier row is of {shown(picture)}, too"))
        pictures.add(picture)
        ours.discard(row.image)
        yield picture, labels
    if not pictures:
        raise VisionError(f"{path} has no row: write one for each picture")
    if ours:
        raise VisionError(f"{path} has no row of {shown(min(ours))}, which the corrections name")


def _corrected(dice: Sequence[_Die], corrections: Sequence[Correction]) -> list[Label]:
    """Raises ValueError where the corrections are of other labels."""
    added = sorted((row for row in corrections if row.bbox is not None), key=lambda row: row.die)
    numbers = [row.die for row in added]
    free = list(range(len(dice), len(dice) + len(added)))
    if numbers != free:
        raise ValueError(f"corrections add dice {numbers}, the next free numbers are {free}")
    by_die = {row.die: row for row in corrections}
    if len(by_die) < len(corrections) or max(by_die, default=-1) >= len(dice) + len(added):
        raise ValueError("two corrections are of one die, or one is of a die that has no label")
    labels = []
    for index, die in enumerate([*dice, *(_Die(bbox=row.bbox, value=row.old) for row in added)]):
        value: int | str | None = die.value
        if (row := by_die.get(index)) is not None:
            if value != row.old:
                raise ValueError(
                    f"die {index} is labelled {value}, the correction expects {row.old}"
                )
            value = row.new
        if not isinstance(value, str):
            labels.append(Label(die.bbox, value, die.flat))
    return labels


def _no_row(path: Path, number: int, error: Exception) -> VisionError:
    why = str(error)
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        why = ": ".join([*map(str, first["loc"]), first["msg"]])
    return VisionError(f"{path}, line {number}: not a row of labels ({why})")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not empty, numbered from 1. Raises VisionError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise VisionError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise VisionError(f"{path} is no text: byte {error.start} is not UTF-8") from error
    # Not `splitlines`: JSON allows other ends of lines inside strings.
    yield from ((n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip())
