"""What the reader made of a case, beside the truth."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from hil_tests.reader.cases import Case
from vision.calibration import Calibration
from vision.findings import Findings
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.reading import NoRoll, Verdict, Verified
from vision.shares import bounds
from vision.table.consensus import FRAMES, agree, refuse
from vision.table.reader import TableReader
from vision.table.still_scene import StillScene

MAX_FRAMES = 6


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
    first: str
    """What the first frame says alone, in the words of `said`."""

    @property
    def wrongly_accepted(self) -> bool:
        return self.said == "WRONG" or (self.said == "right" and self.truth == "not flat")


def readers(finder: DieFinder) -> Callable[[Calibration], TableReader]:
    """What gives the reader of a camera; those of the last forty cameras are kept."""
    return lru_cache(maxsize=40)(partial(TableReader, finder))


def examine(reader: TableReader, case: Case, frames: int = 1) -> Outcome:
    """Read one case.

    With `frames` = 1 the verdict is what one picture says alone. With more it is what so many
    frames in a row agree on, out of at most `MAX_FRAMES`, read as at a table.
    """
    shots = (case.shoot() for _ in range(1 if frames == 1 else MAX_FRAMES))
    first, verdict = read_still(reader, shots, frames)
    if frames == 1:
        verdict = first.observation.opinion
    model = tuple(sorted(die.value for die in first.model))
    votes = [die.value for die in first.second.dice] if first.second is not None else []
    second = tuple(sorted(value for value in votes if value is not None))
    is_second_whole = len(second) == len(votes)
    return Outcome(
        number=case.number,
        truth=case.truth,
        is_visible=case.is_visible,
        tilt_deg=case.tilt_deg,
        look=case.look,
        said=said(verdict, case.values),
        model=_alone(model, case.values, True),
        second=_alone(second, case.values, is_second_whole),
        same_error=is_second_whole and len(model) == 3 and model == second != case.values,
        first=said(first.observation.opinion, case.values),
    )


def read_still(
    reader: TableReader, pictures: Iterable[np.ndarray], frames: int = FRAMES
) -> tuple[Findings, Verdict]:
    """Read pictures of dice at rest, in order, until `frames` in a row agree.

    Returns what was found on the first, and the verdict: a refusal if no frames agree.
    """
    scene = StillScene(reader)
    found = []
    for number, picture in enumerate(pictures):
        found.append(scene.look(Frame(picture, number / 30, number)))
        consensus = agree(scene.observations, frames)
        if consensus is not None:
            return found[0], consensus.verdict
    return found[0], refuse(scene.observations)


def said(verdict: Verdict, values: tuple[int, ...]) -> str:
    """One word for a verdict; `values` are the true ones, in growing order."""
    if isinstance(verdict, Verified):
        return "right" if tuple(sorted(verdict.values)) == values else "WRONG"
    return "no roll" if isinstance(verdict, NoRoll) else verdict.reason.value


def told(rows: Iterable[Mapping[str, Any]], bad: str, key: str = "said") -> int:
    """Print which words stand at `key` for each `kind` of rows, and how many are `bad` in all, with
    the bounds of their share. Returns how many."""
    kinds: dict[str, Counter[str]] = {}
    for row in rows:
        kinds.setdefault(row["kind"], Counter())[row[key]] += 1
    width = max(map(len, kinds), default=0)
    for kind, counts in kinds.items():
        sys.stdout.write(f"  {kind:<{width}} {counts.total():>5}  {_counted(counts)}\n")
    found = sum(counts[bad] for counts in kinds.values())
    total = sum(counts.total() for counts in kinds.values())
    low, high = bounds(found, total)
    sys.stdout.write(f"{bad}: {found} of {total}, 95 %: {low:.2%}-{high:.2%}\n")
    return found


def has_wrong(rows: Sequence[Mapping[str, Any]], changed: str, without: str) -> bool:
    """Print what was said of the `changed` pictures, and beside it of the `clean` ones, which are
    those `without`, in words. Returns whether any was verified wrongly."""
    wrong = told(sorted(rows, key=lambda row: str(row["kind"])), "WRONG", changed)
    sys.stdout.write(f"with {without}: {_counted(Counter(row['clean'] for row in rows))}\n")
    return wrong > 0


def _counted(words: Counter[str]) -> str:
    return ", ".join(f"{n} {word}" for word, n in words.most_common())


def _alone(read: tuple[int, ...], values: tuple[int, ...], is_whole: bool) -> str:
    if read == values and is_whole:
        return "right"
    return "wrong" if len(read) == 3 and is_whole else "unsure"
