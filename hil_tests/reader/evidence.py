"""What flat and other dice measure: `python -m hil_tests.reader.evidence --out FOLDER`.

Owns: the evidence of every die in many tosses of the rig, beside the truth, and the picture that
the thresholds in `vision/parameters.py` were read from. Chance rarely leaves a die at 6° to 15°, so
in every second picture one is set up there. Tune on one seed, report on another.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from hil_tests.reader.reading import FLAT_DEG, NOT_FLAT_DEG, RigCamera, tosses
from hil_tests.reader.robustness import with_tilted_die
from hil_tests.rig.dice import Lie
from hil_tests.rig.geometry import GEOMETRIES
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.parameters import ReadingThresholds
from vision.reading import DieEvidence
from vision.table.reader import TableReader
from vision.table.tilt import LEAN_NOT_FLAT_DEG

STYLES = ("white", "red", "asian", "ivory", "blue")
_NEAR_MM = 5.0
_SET_UP_DEG = (6.0, 15.0)
_RANGES = {
    "flat_p": (0.0, 1.0),
    "lean, degrees": (0.0, 30.0),
    "outline and pips": (0.0, 12.0),
    "side faces": (-14.0, 8.0),
}


@dataclass(frozen=True, slots=True)
class Measurement:
    """One die in one picture, with the truth."""

    compartment: str
    style: str
    tilt_deg: float
    is_stacked: bool
    evidence: DieEvidence

    @property
    def is_flat(self) -> bool | None:
        if self.is_stacked or self.tilt_deg >= NOT_FLAT_DEG:
            return False
        return True if self.tilt_deg <= FLAT_DEG else None


def measurements(finder: DieFinder, count: int, seed: int) -> Iterator[Measurement]:
    """Every die that the model sees in `count` tosses of each compartment, two colours each."""
    random = np.random.default_rng(seed)
    for name in ("standard", "rough"):
        geometry = GEOMETRIES[name]
        first = RigCamera(geometry, STYLES[0], seed)
        cameras = [first.with_dice(style) for style in STYLES]
        reader = TableReader(finder, cameras[0].calibration)
        for number, toss in enumerate(itertools.islice(tosses(geometry, seed), count)):
            light = float(random.uniform(0.55, 0.75)) if number % 3 == 0 else 1.0
            for camera in (cameras[number % 5], cameras[(number + 2) % 5]):
                if camera is cameras[number % 5]:
                    shown = toss
                elif toss.truth == "flat":
                    tilt = float(random.uniform(*_SET_UP_DEG))
                    shown = with_tilted_die(toss, tilt, random, geometry.die_mm)
                seen = reader.read(Frame(camera.picture(shown, light), 0.0, number))
                for die in seen.dice:
                    # The rig's y points up, the picture's down.
                    gaps = np.hypot(
                        shown.position_mm[:, 0] - die.x_mm, shown.position_mm[:, 1] + die.y_mm
                    )
                    which = int(gaps.argmin())
                    if gaps.min() < _NEAR_MM and die.model is not None:
                        is_stacked = shown.dice[which].lie is Lie.STACKED
                        leans = tilt_deg(shown.rotation[which])
                        yield Measurement(name, camera.style, leans, is_stacked, die)


def tilt_deg(rotation: np.ndarray) -> float:
    """Of the face that is nearest to upwards."""
    return float(np.degrees(np.arccos(min(1.0, float(np.abs(rotation[2]).max())))))


def _columns(seen: Sequence[Measurement]) -> dict[str, np.ndarray]:
    rows = [
        (
            m.evidence.model.flat_p if m.evidence.model else np.nan,
            m.evidence.measured.lean_deg if m.evidence.measured else np.nan,
            m.evidence.second.strain if m.evidence.second else np.nan,
            m.evidence.second.sides
            if m.evidence.second and m.evidence.second.directions
            else np.nan,
        )
        for m in seen
    ]
    table = np.array(rows, float).reshape(-1, 4)
    return {
        "flat_p": table[:, 0],
        "lean, degrees": table[:, 1],
        "outline and pips": table[:, 2],
        "side faces": table[:, 3],
    }


def draw(seen: Sequence[Measurement], path: Path) -> None:
    """Shares of flat dice below, and of others above, each possible threshold."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    t = ReadingThresholds()
    flat = _columns([m for m in seen if m.is_flat is True])
    other = _columns([m for m in seen if m.is_flat is False])
    lines = {
        "flat_p": (None, t.not_flat_p),
        "lean, degrees": (None, LEAN_NOT_FLAT_DEG),
        "outline and pips": (None, t.strain_not_flat),
        "side faces": (t.sides_flat, t.sides_not_flat),
    }
    figure, axes = plt.subplots(1, 4, figsize=(17, 4), dpi=70)
    for axis, (name, limits) in zip(axes, lines.items(), strict=True):
        bottom, top = _RANGES[name]
        levels = np.linspace(bottom, top, 200)
        a, b = flat[name][~np.isnan(flat[name])], other[name][~np.isnan(other[name])]
        more_is_flat = name in ("flat_p", "side faces")
        lost = [(a < v).mean() if more_is_flat else (a > v).mean() for v in levels]
        passed = [(b >= v).mean() if more_is_flat else (b <= v).mean() for v in levels]
        axis.plot(levels, lost, label=f"flat dice beyond it ({len(a)})")
        axis.plot(levels, passed, label=f"others on the flat side ({len(b)})")
        for value, colour in zip(limits, ("green", "red"), strict=True):
            if value is not None:
                axis.axvline(value, color=colour, lw=0.9)
        axis.set_xlabel(name)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tosses", type=int, default=40)
    parser.add_argument("--seed", type=int, default=401)
    parser.add_argument("--model", type=Path, help="folder of another model's manifest")
    parser.add_argument("--out", type=Path, help="folder for evidence.png")
    options = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    seen = list(measurements(DieFinder(options.model), options.tosses, options.seed))
    for name, is_flat in (("flat", True), ("not flat", False)):
        rows = _columns([m for m in seen if m.is_flat is is_flat])
        sys.stdout.write(f"{name}: {len(rows['flat_p'])} dice\n")
        for key, values in rows.items():
            known = values[~np.isnan(values)]
            if len(known):
                marks = np.quantile(known, [0, 0.01, 0.5, 0.99, 1]).round(2)
                sys.stdout.write(f"  {key:<18} least, 1 %, half, 99 %, most: {marks}\n")
    if options.out:
        draw(seen, options.out / "evidence.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
