"""What the limits of a verified photograph buy and cost: `python -m hil_tests.reader photo-curve`.

Owns: reading labelled photographs and rendered scenes once with both readers, judging what they
said under many limits, and the picture of it, `models/figures/photo_curve.png`, that stands behind
`vision.parameters.PhotoThresholds`. Must not know how either reader works. Needs matplotlib.

Pictures are counted as `vision.evaluate` counts them. A rendered die that leans, is stacked or
mostly hidden has no value; photographs have neither, so their pictures show nothing about `flat_p`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.progress import track

from hil_tests.reader.cases import rows
from hil_tests.reader.options import Every, Sets
from vision.evaluate import Counts, compare
from vision.findings import Stopwatch
from vision.networks.classifier import DieFinder
from vision.parameters import PhotoThresholds
from vision.photo.labels import Label, read_corrections, read_labels
from vision.photo.reader import PhotoEvidence, PhotoReader, judge, settle
from vision.pictures import load

_PICTURE = Path("models/figures/photo_curve.png")
_SWEEPS = {
    "value_p": (0.0, 0.99),
    "pip_confidence": (0.0, 0.8),
    "score": (0.0, 0.9),
    "flat_p": (0.0, 0.9),
    "missed_confidence": (0.2, 1.0),
    "above_confidence": (0.2, 1.0),
    "alone": (0.2, 0.9),
    "faint": (0.02, 0.5),
    "faint_to_both": (0.02, 0.5),
    "faint_blank": (0.1, 0.9),
    "faint_size_ratio": (1.0, 4.0),
}
_STEPS = 25
_MIN_VISIBLE = 0.3
"""Rendered dice of which less is seen are not counted as missed."""

Read = tuple[list[Label], PhotoEvidence]


def scene_labels(folder: Path) -> Iterator[tuple[Path, list[Label]]]:
    """A rendered set's pictures with labels as photographs have them."""
    for path, row in rows(folder):
        labels = []
        for die in row["dice"]:
            if die["visible"] < _MIN_VISIBLE:
                continue
            corners = np.array(die["corners"])
            is_plain = die["tilt_deg"] < 1.5 and die["visible"] > 0.7 and not die["stacked"]
            x, y = corners.mean(axis=0)
            size = float(np.ptp(corners, axis=0).max())
            labels.append(Label((float(x), float(y)), size, die["value"] if is_plain else None))
        yield path, labels


def read_all(pictures: Sequence[tuple[Path, list[Label]]]) -> list[Read]:
    """Both readers' word on every picture."""
    reader = PhotoReader(DieFinder())
    found = []
    for path, labels in track(pictures, description="reading", transient=True):
        found.append((labels, reader.gather(load(path), Stopwatch())))
    return found


def count(read: Sequence[Read], thresholds: PhotoThresholds) -> Counts:
    """The counts of `vision.evaluate` under these limits."""
    counts = Counts()
    for labels, gathered in read:
        evidence = settle(gathered, thresholds)
        compare(counts, labels, evidence.found, judge(evidence, thresholds, None))
    return counts


def draw(sets: dict[str, list[Read]], out: Path) -> None:
    """One plot a limit: coverage of the exactly read pictures (lines) and wrong accepted (crosses,
    counts); the dashed line is where the limit stands."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 4, figsize=(17, 10), constrained_layout=True)
    chosen = PhotoThresholds()
    for axis, (name, (low, high)) in zip(axes.flat, _SWEEPS.items(), strict=False):
        values = np.linspace(low, high, _STEPS)
        counts_axis = axis.twinx()
        for colour, (label, read) in enumerate(sets.items()):
            counts = [count(read, replace(chosen, **{name: float(v)})) for v in values]
            share = [c.accepted_exact / max(c.exact, 1) for c in counts]
            axis.plot(values, share, color=f"C{colour}", label=label)
            wrong = [c.wrong_accepted for c in counts]
            counts_axis.plot(values, wrong, "x", color=f"C{colour}", markersize=4)
        axis.axvline(getattr(chosen, name), color="0.4", linestyle="--", linewidth=1)
        axis.set(xlabel=name, ylim=(0, 1.02))
        counts_axis.set_ylim(-0.2, max(10.0, counts_axis.get_ylim()[1]))
        axis.grid(alpha=0.3)
    for axis in axes[:, 0]:
        axis.set_ylabel("verified, of the exactly read (lines)")
    axes[2, 3].axis("off")
    axes[2, 3].legend(*axes[0, 0].get_legend_handles_labels(), loc="center")
    figure.suptitle("Crosses: pictures accepted with a value or count that is not the label's")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=110)
    plt.close(figure)


def main(
    sets: Sets = None,
    photos: Annotated[
        list[Path] | None, typer.Option(help="A folder of labelled photographs; repeatable.")
    ] = None,
    corrections: Annotated[Path | None, typer.Option(help="Of the photographs' labels.")] = None,
    every: Every = 1,
    out: Annotated[Path, typer.Option(help="The picture.")] = _PICTURE,
) -> None:
    """What each limit of a verified photograph buys and costs: counts, and a picture."""
    if not sets and not photos:
        raise typer.BadParameter("name sets, or photographs with --photos")
    known = read_corrections(corrections) if corrections else None
    labelled = {folder.name: read_labels(folder, known) for folder in photos or ()}
    labelled |= {folder.name.rsplit("-", 1)[0]: scene_labels(folder) for folder in sets or ()}
    read = {name: read_all(list(pictures)[::every]) for name, pictures in labelled.items()}
    for name, here in read.items():
        sys.stdout.write(f"{name} {json.dumps(count(here, PhotoThresholds()).to_json())}\n")
    draw(read, out)
