"""The whole reader on thousands of held-out pictures: what it read, refused, and got wrong.

    python -m hil_tests.reader.verification --rig 6000 --seed 31
    python -m hil_tests.reader.verification var/scenes/traced-shots-* --frames 3

Owns: the sets, the truth of every picture, the counts. A set is either tosses of the rig's dice in
front of the rig's camera (no picture of that renderer was ever trained on), at several heights and
sizes, or a folder of calibrated shots that `make scenes KIND=shots|traced-shots` drew. Every result
is a line in `var/verification`, so that a stopped run goes on where it was; a file belongs to one
model and one set of thresholds.

Truth: all dice at most 1.5° off level is flat, one at 6° or more or one carried by another is not
flat, between is only counted. With `--frames 1` (the default) a picture counts by what it alone
would say, with 3 by three frames that agree, each with grain of its own, out of at most six.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from hil_tests.reader.reading import RigCamera, Toss, tosses
from hil_tests.rig.geometry import GEOMETRIES
from hil_tests.rig.optics import Lens
from vision.calibration import Calibration
from vision.findings import Findings
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.parameters import ReadingThresholds
from vision.reading import NoRoll, Observation, Verdict, Verified
from vision.table import flatness
from vision.table.consensus import FRAMES, agree, refuse
from vision.table.reader import TableReader

_MOST_FRAMES = 6
_VISIBLE = 0.97
"""Share of a top face in sight from which a die is fully visible: masks have whole pixels."""
_PRINT_EVERY = 50

STYLES = ("white", "red", "asian", "ivory", "blue", "green")
COMPARTMENTS = ("standard", "rough", "narrow")
LENSES = (
    Lens(),
    Lens(width=480, height=480, centre_px=(240.5, 238.0), floor_px_per_mm=3.3),
    Lens(width=420, height=420, centre_px=(208.0, 211.5), floor_px_per_mm=2.9, k1=-0.03),
    Lens(height_mm=340.0, floor_px_per_mm=4.3, k1=-0.12),
)
"""The rig's own camera, two small ones (dice of 48 and 55 pixels), and one higher up."""


@dataclass(frozen=True, slots=True)
class Case:
    """One picture with its truth. `shoot` gives frames of it, each with other grain."""

    number: int
    calibration: Calibration
    shoot: Callable[[], np.ndarray]
    values: tuple[int, ...]
    truth: str
    is_visible: bool
    tilt_deg: float
    look: str
    toss: Toss | None = None
    """Of the rig's pictures: the toss, and how the same camera shows another one."""
    show: Callable[[Toss], np.ndarray] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case."""

    number: int
    truth: str
    is_visible: bool
    tilt_deg: float
    look: str
    said: str
    """`right`, `WRONG`, `no roll` or the reason of a refusal. `right` for dice that do not lie
    flat is still a wrong acceptance: see `wrongly_accepted`."""
    model: str
    second: str
    """Each reader alone: `right`, `wrong` (three values, not the true ones) or `unsure`."""
    same_error: bool
    """Both wrong with the same values."""

    @property
    def wrongly_accepted(self) -> bool:
        return self.said == "WRONG" or (self.said == "right" and self.truth == "not flat")


def rig_cases(count: int, seed: int, skip: set[int]) -> Iterator[Case]:
    """Tosses of the rig, half of them in the rough compartment, two pictures of each."""
    views: dict[tuple[str, int], RigCamera] = {}
    streams = {name: tosses(GEOMETRIES[name], seed + i) for i, name in enumerate(COMPARTMENTS)}
    chance = np.random.default_rng(seed)
    for number in range(0, count, 2):
        name = COMPARTMENTS[(0, 1, 2, 1)[number // 2 % 4]]
        toss = next(streams[name])
        looks = [int(chance.integers(len(STYLES))) for _ in range(2)]
        lenses = [int(chance.integers(len(LENSES))) for _ in range(2)]
        lights = [1.0 if chance.random() < 0.6 else float(chance.uniform(0.55, 0.75)), 1.0]
        for k in range(2):
            if number + k in skip:
                continue
            key = (name, lenses[k])
            if key not in views:
                views[key] = RigCamera(GEOMETRIES[name], "white", seed, LENSES[lenses[k]])
            view, style = views[key], STYLES[looks[k]]

            def show(
                toss: Toss,
                view: RigCamera = view,
                style: str = style,
                light: float = lights[k],
            ) -> np.ndarray:
                return view.picture(toss, light, style=style)

            yield Case(
                number=number + k,
                calibration=view.calibration,
                shoot=partial(show, toss),
                values=toss.values,
                truth=toss.truth,
                # From straight above, a flat die can only be hidden by one that is not.
                is_visible=toss.truth == "flat",
                tilt_deg=max(die.tilt_deg for die in toss.dice),
                look=f"{name} {style}",
                toss=toss,
                show=show,
            )


def scene_cases(folder: Path, skip: set[int]) -> Iterator[Case]:
    """The pictures of a set of shots; grain is added here, anew for each frame."""
    lines = (line for part in sorted(folder.glob("*.jsonl")) for line in part.open())
    for number, line in enumerate(lines):
        if number in skip:
            continue
        row = json.loads(line)
        image = cv2.imread(str(folder / row["image"]), cv2.IMREAD_COLOR)
        if image is None or "calibration" not in row:
            continue
        grain = float(row["notes"]["grain"])
        random = np.random.default_rng(number)

        def shoot(
            image: np.ndarray = image, grain: float = grain, random: np.random.Generator = random
        ) -> np.ndarray:
            noisy = image + random.normal(0, grain, image.shape).astype(np.float32)
            return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)

        dice = row["dice"]
        yield Case(
            number=number,
            calibration=Calibration.from_table(row["calibration"]),
            shoot=shoot,
            values=tuple(sorted(die["value"] for die in dice)),
            truth=row["notes"]["truth"],
            is_visible=all(die["visible"] >= _VISIBLE for die in dice),
            tilt_deg=max(die["tilt_deg"] for die in dice),
            look=f"{row['notes']['floor']} {row['notes']['style']}",
        )


def examine(reader: TableReader, case: Case, frames: int) -> Outcome:
    """Read one case."""
    first: Findings | None = None
    seen: list[Observation] = []
    verdict: Verdict | None = None
    for number in range(1 if frames == 1 else _MOST_FRAMES):
        looked = reader.look(Frame(case.shoot(), number / 30, number))
        first = first or looked
        seen.append(looked.observation)
        if frames == 1:
            verdict = looked.observation.opinion
        else:
            consensus = agree(seen, frames)
            verdict = consensus.verdict if consensus is not None else None
        if verdict is not None:
            break
    verdict = verdict or refuse(seen)
    assert first is not None
    model = tuple(sorted(die.value for die in first.model))
    votes = [die.face.value for die in first.second.dice] if first.second is not None else []
    second = tuple(sorted(value for value in votes if value is not None))
    is_second_whole = len(second) == len(votes)
    return Outcome(
        number=case.number,
        truth=case.truth,
        is_visible=case.is_visible,
        tilt_deg=case.tilt_deg,
        look=case.look,
        said=_said(verdict, case.values),
        model=_alone(model, case.values, True),
        second=_alone(second, case.values, is_second_whole),
        same_error=is_second_whole and len(model) == 3 and model == second != case.values,
    )


def _said(verdict: Verdict, values: tuple[int, ...]) -> str:
    if isinstance(verdict, Verified):
        return "right" if tuple(sorted(verdict.values)) == values else "WRONG"
    return "no roll" if isinstance(verdict, NoRoll) else verdict.reason.value


def _alone(read: tuple[int, ...], values: tuple[int, ...], is_whole: bool) -> str:
    if read == values and is_whole:
        return "right"
    return "wrong" if len(read) == 3 and is_whole else "unsure"


def bounds(part: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson; at the ends the rule of three), 0..1."""
    if of == 0:
        return 0.0, 1.0
    z, p = 1.96, part / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    reach = z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    low, high = middle - reach, middle + reach
    if part == 0:
        low, high = 0.0, min(1.0, 3 / of)
    if part == of:
        low, high = max(0.0, 1 - 3 / of), 1.0
    return max(0.0, low), min(1.0, high)


def summary(name: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The counts of a set, ready for JSON."""
    flat = [o for o in outcomes if o.truth == "flat"]
    visible = [o for o in flat if o.is_visible]
    other = [o for o in outcomes if o.truth == "not flat"]
    between = [o for o in outcomes if o.truth == "between"]
    return {
        "set": name,
        "pictures": len(outcomes),
        "flat_visible": len(visible),
        "covered": sum(o.said == "right" for o in visible),
        "flat": len(flat),
        "false_no_roll": sum(o.said == "no roll" for o in flat),
        "wrong_values": sum(o.said == "WRONG" for o in outcomes),
        "not_flat": len(other),
        "not_flat_accepted": sum(o.wrongly_accepted for o in other),
        "not_flat_no_roll": sum(o.said == "no roll" for o in other),
        "between": len(between),
        "between_accepted": sum(o.said in ("right", "WRONG") for o in between),
        "refused": dict(
            Counter(o.said for o in flat if o.said not in ("right", "WRONG", "no roll"))
        ),
        "model_wrong": sum(o.model == "wrong" for o in flat),
        "second_wrong": sum(o.second == "wrong" for o in flat),
        "same_error": sum(o.same_error for o in flat),
    }


def write(figures: dict[str, Any], outcomes: Sequence[Outcome]) -> None:
    """The same for people."""

    def share(what: str, part: int, of: int) -> None:
        low, high = bounds(part, of)
        rate = f"{part / of:8.2%}" if of else "       –"
        sys.stdout.write(f"  {what:<42} {part:>5} of {of:<5} {rate}   95 %: {low:.2%}-{high:.2%}\n")

    f = figures
    sys.stdout.write(f"{f['set']}: {f['pictures']} pictures\n")
    share("flat and fully visible, read", f["covered"], f["flat_visible"])
    share("values that are not the true ones", f["wrong_values"], f["pictures"])
    share("not flat, accepted as values", f["not_flat_accepted"], f["not_flat"])
    share("not flat, called no roll", f["not_flat_no_roll"], f["not_flat"])
    share("flat, called no roll", f["false_no_roll"], f["flat"])
    share("between 1.5° and 6°, accepted", f["between_accepted"], f["between"])
    share("flat: the model alone wrong", f["model_wrong"], f["flat"])
    share("flat: the second reader alone wrong", f["second_wrong"], f["flat"])
    share("flat: both, with the same values", f["same_error"], f["flat"])
    reasons = ", ".join(f"{n} {reason}" for reason, n in Counter(f["refused"]).most_common())
    sys.stdout.write(f"  flat, refused: {reasons or 'none'}\n")
    looks: dict[str, list[Outcome]] = {}
    for o in outcomes:
        if o.truth == "flat" and o.is_visible:
            looks.setdefault(o.look, []).append(o)
    rates = sorted((sum(o.said == "right" for o in of) / len(of), k, len(of))
                   for k, of in looks.items())  # fmt: skip
    worst = ", ".join(f"{k} {rate:.0%} of {n}" for rate, k, n in rates[:8])
    sys.stdout.write(f"  least read: {worst}\n")
    for o in outcomes:
        if o.wrongly_accepted:
            sys.stdout.write(f"  wrongly accepted: {asdict(o)}\n")
    sys.stdout.flush()


def run(
    name: str, cases: Callable[[set[int]], Iterator[Case]], finder: DieFinder, frames: int,
    out: Path, most: int,
) -> list[Outcome]:  # fmt: skip
    """Examine what is not examined yet; every outcome of the set so far."""
    limits = json.dumps(asdict(ReadingThresholds()), sort_keys=True)
    weighed = repr([getattr(flatness, name) for name in dir(flatness) if name.isupper()])
    near = finder.card.near.sha256 if finder.card.near is not None else ""
    decides = finder.card.sha256 + near + limits + weighed
    digest = hashlib.sha256(decides.encode()).hexdigest()[:8]
    path = out / f"{name}-{frames}-{digest}.jsonl"
    out.mkdir(parents=True, exist_ok=True)
    done = [Outcome(**json.loads(line)) for line in path.open()] if path.exists() else []
    readers: dict[Calibration, TableReader] = {}
    with path.open("a", encoding="utf-8") as file:
        for case in itertools.islice(cases({o.number for o in done}), max(0, most - len(done))):
            reader = readers.get(case.calibration)
            if reader is None:
                if len(readers) > 40:
                    readers.clear()
                reader = readers[case.calibration] = TableReader(finder, case.calibration)
            outcome = examine(reader, case, frames)
            done.append(outcome)
            file.write(json.dumps(asdict(outcome)) + "\n")
            if len(done) % _PRINT_EVERY == 0:
                file.flush()
                sys.stderr.write(f"\r{name}: {len(done)} pictures")
    sys.stderr.write("\n")
    return done


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; status 1 if anything was wrongly accepted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="*", help="sets of calibrated shots")
    parser.add_argument("--rig", type=int, default=0, help="pictures of the rig's tosses")
    parser.add_argument("--seed", type=int, default=31, help="of the rig's tosses")
    parser.add_argument("--frames", type=int, choices=(1, FRAMES), default=1)
    parser.add_argument("--most", type=int, default=1_000_000, help="pictures of each set")
    parser.add_argument("--model", type=Path, help="folder of another model's manifest")
    parser.add_argument("--out", type=Path, default=Path("var/verification"))
    options = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    finder = DieFinder(options.model)
    sets: list[tuple[str, Callable[[set[int]], Iterator[Case]]]] = [
        (folder.name, partial(scene_cases, folder)) for folder in options.folders
    ]
    if options.rig:
        sets.append((f"rig-{options.seed}", partial(rig_cases, options.rig, options.seed)))
    wrong = 0
    table = []
    for name, cases in sets:
        outcomes = run(name, cases, finder, options.frames, options.out, options.most)
        figures = summary(name, outcomes) | {"frames": options.frames}
        table.append(figures)
        write(figures, outcomes)
        wrong += sum(o.wrongly_accepted for o in outcomes)
    report = options.out / f"summary-{options.frames}.json"
    report.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
