"""Pictures of what is read, refused, and got wrong: `python -m hil_tests.reader sheets`.

Owns: the choice of rendered pictures for `models/figures/{reads,refuses,fails}.jpg` and their
layout. Must not know how the readers work. No photograph is shown: their licences stay with them.

Pictures are taken in the order of the set, so that none is picked for its looks; of each reason for
a refusal at most `_OF_EACH`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import typer
from rich.progress import track

from hil_tests.reader.cases import rows
from hil_tests.reader.photographs import Counts, compare, contact_sheet, tile
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.overlay import draw_reading
from vision.photo.labels import Label
from vision.photo.reader import PhotoReader
from vision.pictures import load
from vision.reading import Unreadable, Verified

_MAX_SHOWN = 18
_OF_EACH = 3
_MIN_VISIBLE = 0.3
"""Rendered dice of which less is seen are not counted as missed."""

Shown = tuple[str, np.ndarray]
"""What a picture shows, and the picture with its reading drawn in."""


def scene_labels(folder: Path) -> Iterator[tuple[Path, list[Label]]]:
    """A rendered set's pictures with labels as photographs have them."""
    for path, row in rows(folder):
        labels = []
        for die in row["dice"]:
            if die["visible"] < _MIN_VISIBLE:
                continue
            corners = np.array(die["corners"])
            is_plain = die["tilt_deg"] < 1.5 and die["visible"] > 0.7 and not die["stacked"]
            (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
            labels.append(Label((x0, y0, x1, y1), die["value"] if is_plain else None))
        yield path, labels


def choose(folders: Sequence[Path]) -> dict[str, list[Shown]]:
    """The pictures of each sheet."""
    reader = PhotoReader(DieFinder())
    sheets: dict[str, list[Shown]] = {"reads": [], "refuses": [], "fails": []}
    reasons: Counter[str] = Counter()
    pictures = [picture for folder in folders for picture in scene_labels(folder)]
    for path, labels in track(pictures, description="reading", transient=True):
        image = load(path)
        seen = reader.look(Frame(image))
        opinion = seen.observation.opinion
        picture = tile(draw_reading(image, seen.observation, opinion))
        truth = " ".join(str(label.value or "-") for label in labels)
        counts = Counts()
        is_wrong = compare(counts, labels, seen.model, opinion) > 0
        if isinstance(opinion, Verified) and counts.accepted_exact:
            sheets["reads"].append((f"shown: {truth}", picture))
        elif is_wrong:
            plain = " ".join(str(die.value) for die in seen.model)
            sheets["fails"].append((f"shown: {truth}   model alone: {plain}", picture))
        elif isinstance(opinion, Unreadable):
            reasons[opinion.reason.value] += 1
            if reasons[opinion.reason.value] <= _OF_EACH:
                sheets["refuses"].append((f"shown: {truth}", picture))
    return sheets


def main(
    sets: Annotated[list[Path] | None, typer.Argument(help="Rendered sets of pictures.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the pictures.")] = Path("models/figures"),
) -> None:
    """Write pictures of what is read, refused, and got wrong, in the order of the sets."""
    out.mkdir(parents=True, exist_ok=True)
    for name, shown in choose(sets or ()).items():
        sys.stdout.write(f"{name}: {len(shown)} pictures\n")
        if shown:
            quality = [cv2.IMWRITE_JPEG_QUALITY, 85]
            cv2.imwrite(str(out / f"{name}.jpg"), contact_sheet(shown[:_MAX_SHOWN]), quality)
