"""How well a model reads, in counts, on sets it was and was not trained on.

    python -m models.training.evaluate --scenes var/scenes/… --photos … --out models

Owns: matching, counting, the curves and the thresholds that follow from them. Must not know:
verification by the second reader; `vision.evaluate` measures the whole reading.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import cv2
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from models.training import scenes
from models.training.export import read_manifest, write_manifest
from models.training.layout import FLAT_DEG, NOT_FLAT_DEG
from models.training.libraries import libraries
from vision.networks.classifier import DieFinder, FoundDie

MIN_SCORE = 0.1
_CLEARLY_VISIBLE = 0.75


@dataclass(slots=True)
class Wanted:
    """One labelled die: enough to tell whether it was found and read."""

    centre: np.ndarray
    side: float
    value: int | None
    """None: whether it is found is counted, what is read is not."""

    is_required: bool
    corners: np.ndarray | None = None
    tilt_deg: float | None = None
    stacked: bool = False
    down: np.ndarray | None = None


@dataclass(slots=True)
class Tally:
    """Everything counted on one set."""

    images: int = 0
    is_overhead: bool = False
    """All pictures were taken from straight above."""
    exact: int = 0
    of_three: int = 0
    exact_of_three: int = 0
    dice: int = 0
    found: int = 0
    valued: int = 0
    right: int = 0
    spurious: int = 0
    corner_gaps: list[float] = field(default_factory=list)
    """Mean corner distance of each found die, in edges."""

    tilts: list[tuple[float, bool, float, float]] = field(default_factory=list)
    """Per found die: tilt, stacked, flat_p, error of `down` in edges."""

    confusion: np.ndarray = field(default_factory=lambda: np.zeros((6, 6), int))
    hits: list[tuple[float, bool]] = field(default_factory=list)
    """Per found thing: score, and whether it is a die."""

    value_ps: list[tuple[float, bool]] = field(default_factory=list)
    """Per found die with a known value: the probability given, and whether it was right."""

    def figures(self) -> dict[str, int | float]:
        """The counts and two rates, for the manifest."""
        counts: dict[str, int | float] = {
            key: getattr(self, key)
            for key in ("images", "exact", "dice", "found", "valued", "right", "spurious")
        }
        if self.of_three:
            counts |= {"of_three": self.of_three, "exact_of_three": self.exact_of_three}
        counts["recall"] = round(self.found / max(self.dice, 1), 4)
        counts["value_accuracy"] = round(self.right / max(self.valued, 1), 4)
        if self.corner_gaps:
            counts["corner_error_median_edges"] = round(float(np.median(self.corner_gaps)), 4)
        return counts


def scene_pictures(folder: Path, most: int) -> Iterator[tuple[np.ndarray, list[Wanted]]]:
    """Pictures of a rendered set with what is in them."""
    for count, (path, row) in enumerate(scenes.rows(folder)):
        if count == most:
            return
        wanted = []
        for die in row["dice"]:
            corners = np.array(die["corners"])
            side = float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).mean())
            wanted.append(
                Wanted(
                    centre=corners.mean(axis=0),
                    side=side,
                    value=die["value"],
                    is_required=die["visible"] > _CLEARLY_VISIBLE,
                    corners=corners,
                    tilt_deg=die["tilt_deg"],
                    stacked=die["stacked"],
                    down=np.array(die["down"]),
                )
            )
        yield _read(path), wanted


def photo_pictures(folder: Path) -> Iterator[tuple[np.ndarray, list[Wanted]]]:
    """Photographs with what is in them; boxes of pictures without boxes are left out."""
    for line in (folder / "labels.jsonl").read_text().splitlines():
        row = json.loads(line)
        if any(die["bbox"] is None for die in row["dice"]):
            continue
        wanted = []
        for die in row["dice"]:
            x0, y0, x1, y1 = die["bbox"]
            wanted.append(
                Wanted(
                    centre=np.array([(x0 + x1) / 2, (y0 + y1) / 2]),
                    side=max(x1 - x0, y1 - y0),
                    value=die["value"],
                    is_required=True,
                )
            )
        yield _read(folder / row["image"]), wanted


def _read(path: Path) -> np.ndarray:
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if image is None:
        raise FileNotFoundError(f"cannot read {path}")
    return image


def count(tally: Tally, found: list[FoundDie], wanted: list[Wanted], score: float) -> None:
    """Match by centre, nearest pairs first, and count; things under `score` only for curves."""
    pairs = sorted(
        (float(np.linalg.norm(one.centre - die.centre)) / die.side, i, j)
        for i, one in enumerate(found)
        for j, die in enumerate(wanted)
    )
    partner: dict[int, int] = {}
    taken: set[int] = set()
    for gap, i, j in pairs:
        if gap < 0.5 and i not in partner and j not in taken:
            partner[i] = j
            taken.add(j)
    tally.images += 1
    tally.hits += [
        (one.score, i in partner)
        for i, one in enumerate(found)
        if i not in partner or wanted[partner[i]].is_required
    ]
    kept = {i for i, one in enumerate(found) if one.score >= score}
    seen = {j: found[i] for i, j in partner.items() if i in kept}
    tally.spurious += len(kept - partner.keys())
    required = [j for j, die in enumerate(wanted) if die.is_required]
    tally.dice += len(required)
    is_exact = not (kept - partner.keys())
    for j in required:
        die, one = wanted[j], seen.get(j)
        if one is None:
            is_exact = False
            continue
        tally.found += 1
        if die.value is not None:
            tally.valued += 1
            is_right = one.value == die.value
            tally.right += is_right
            is_exact &= is_right
            tally.confusion[die.value - 1, one.value - 1] += 1
            tally.value_ps.append((float(one.value_p.max()), is_right))
        if die.corners is not None and die.tilt_deg is not None and die.down is not None:
            tally.corner_gaps.append(_corner_gap(one.corners, die.corners) / die.side)
            lean = float(np.linalg.norm(one.down - die.down)) / die.side
            tally.tilts.append((die.tilt_deg, die.stacked, one.flat_p, lean))
    tally.exact += is_exact
    if len(required) == 3 == len(wanted):
        tally.of_three += 1
        tally.exact_of_three += is_exact


def _corner_gap(found: np.ndarray, wanted: np.ndarray) -> float:
    return min(
        float(np.linalg.norm(np.roll(ring, k, axis=0) - found, axis=1).mean())
        for ring in (wanted, wanted[::-1])
        for k in range(4)
    )


def measure(
    finder: DieFinder, pictures: Iterator[tuple[np.ndarray, list[Wanted]]], score: float
) -> Tally:
    """Read every picture."""
    tally = Tally()
    for image, wanted in pictures:
        count(tally, finder.find(image, min_score=MIN_SCORE), wanted, score)
    return tally


def measure_scenes(
    finder: DieFinder, folders: list[Path], score: float, most: int = 10_000
) -> dict[str, Tally]:
    """Read the first `most` pictures of each rendered set."""
    tallies = {f.name: measure(finder, scene_pictures(f, most), score) for f in folders}
    for name, tally in tallies.items():
        tally.is_overhead = name.startswith("table")
    return tallies


def draw_curves(tallies: dict[str, Tally], chosen: float, out: Path) -> None:
    """Precision and recall over the score, value accuracy, flat_p over the tilt; `chosen`: the
    score from which something is a die."""
    is_flat_from = flat_level(tallies.values())
    out.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), dpi=80)
    for name, tally in tallies.items():
        scores = np.array([score for score, _ in tally.hits])
        is_die = np.array([hit for _, hit in tally.hits])
        levels = np.linspace(MIN_SCORE, 0.95, 40)
        recall = [is_die[scores >= level].sum() / max(tally.dice, 1) for level in levels]
        wrong = [1 - is_die[scores >= level].mean() if (scores >= level).any() else 0
                 for level in levels]  # fmt: skip
        axes[0].plot(levels, recall, label=f"{name}: recall")
        axes[0].plot(levels, 1 - np.array(wrong), "--", color=axes[0].lines[-1].get_color())
        p = np.array([p for p, _ in tally.value_ps])
        right = np.array([r for _, r in tally.value_ps])
        limits = np.linspace(0.3, 0.99, 40)
        axes[1].plot(
            limits,
            [1 - right[p >= limit].mean() if (p >= limit).any() else np.nan for limit in limits],
            label=name,
        )
        if tally.tilts:
            tilts = np.array([(t, f) for t, stacked, f, _ in tally.tilts if not stacked])
            steps = np.array([0, 1.5, 3, 6, 8, 10, 14, 20, 28, 36, 46])
            middle, share, half = [], [], []
            for low, high in pairwise(steps):
                here = tilts[(tilts[:, 0] >= low) & (tilts[:, 0] < high), 1]
                if len(here):
                    middle.append((low + high) / 2)
                    share.append((here >= is_flat_from).mean())
                    half.append(np.median(here))
            axes[2].plot(middle, share, "o-", label=f"{name}: called flat")
            axes[2].plot(middle, half, ":", color=axes[2].lines[-1].get_color())
    axes[0].axvline(chosen, color="grey", lw=0.8)
    for edge in (FLAT_DEG, NOT_FLAT_DEG):
        axes[2].axvline(edge, color="grey", lw=0.8)
    axes[0].set(xlabel="score threshold", title="recall (line), precision (dashed)", ylim=(0.8, 1))
    axes[1].set(xlabel="least value probability", title="values read wrong", yscale="symlog")
    axes[1].set_yscale("linear")
    axes[2].set(xlabel="tilt, degrees", title="called flat; dotted: median flat_p", ylim=(0, 1.02))
    for axis in axes:
        axis.grid(alpha=0.3)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(out / "curves.png")
    plt.close(figure)


def choose_thresholds(tallies: list[Tally]) -> dict[str, float]:
    """From the rendered held-out sets: where precision and recall meet."""
    hits = [hit for tally in tallies for hit in tally.hits]
    scores, is_die = np.array([s for s, _ in hits]), np.array([d for _, d in hits])
    total = sum(tally.dice for tally in tallies)
    best = max(
        np.linspace(0.15, 0.7, 56),
        key=lambda level: (
            2 * is_die[scores >= level].sum() / (total + (scores >= level).sum()),
            -level,
        ),
    )
    return {"score": round(float(best), 2)}


def flat_level(tallies: Iterable[Tally]) -> float:
    """The probability of flat above which 99 % of truly flat dice lie, of those seen from above
    (obliquely, flatness is not what the network was taught); for the figures alone. NaN: none."""
    flat = [
        flat_p
        for tally in tallies
        if tally.is_overhead
        for tilt, stacked, flat_p, _ in tally.tilts
        if tilt <= FLAT_DEG and not stacked
    ]
    return float(np.quantile(flat, 0.01)) if flat else math.nan


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description="Measure the model; write figures and manifest.")
    parser.add_argument("--scenes", type=Path, nargs="*", default=[])
    parser.add_argument("--photos", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=Path("models"))
    parser.add_argument("--most", type=int, default=10_000, help="pictures per rendered set")
    parser.add_argument("--choose", action="store_true", help="choose the thresholds anew")
    given = parser.parse_args()
    finder = DieFinder(given.out)
    manifest = read_manifest(given.out)
    score = float(manifest["thresholds"]["score"])
    tallies = measure_scenes(finder, given.scenes, score, given.most)
    if given.choose:
        manifest["thresholds"] = choose_thresholds(list(tallies.values()))
        score = float(manifest["thresholds"]["score"])
        tallies = measure_scenes(finder, given.scenes, score, given.most)
    tallies |= {f.name: measure(finder, photo_pictures(f), score) for f in given.photos}
    manifest["libraries"] = libraries()
    is_flat_from = flat_level(tallies.values())
    for name, tally in tallies.items():
        manifest.setdefault("figures", {})[name] = tally.figures()
        print(name, tally.figures())
        _print_tilts(tally, is_flat_from)
    draw_curves(tallies, score, given.out / "figures")
    write_manifest(given.out, manifest)


def _print_tilts(tally: Tally, is_flat_from: float) -> None:
    for low, high in ((0, FLAT_DEG), (FLAT_DEG, 6), (6, 10), (10, 20), (20, 55)):
        here = [
            (flat_p, lean)
            for tilt, stacked, flat_p, lean in tally.tilts
            if low <= tilt < high and not stacked
        ]
        if here:
            called = np.mean([p >= is_flat_from for p, _ in here])
            lean = np.median([gap for _, gap in here])
            print(f"  tilt {low}–{high}°: {len(here)} dice, flat {called:.3f}, down ±{lean:.3f}")
    on_top = [flat_p for _, stacked, flat_p, _ in tally.tilts if stacked]
    if on_top:
        called = np.mean([p >= is_flat_from for p in on_top])
        print(f"  stacked: {len(on_top)} dice, called flat {called:.3f}")


if __name__ == "__main__":
    main()
