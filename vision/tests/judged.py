"""Recorded evidence with its verdict: `judged.json`, and the way in and out of it.

A case is what both readers measured of every die of one frame of the rig, and what is stated of it.
Some were recorded near a limit and moved onto it, so that each limit decides at least one.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from pathlib import Path

from vision.parameters import LIMITS, Limits
from vision.reading import (
    DieEvidence,
    GeometryReading,
    Height,
    Measured,
    NetworkReading,
    NoRoll,
    Scene,
    Verdict,
    Verified,
)
from vision.table.judgement import judge
from vision.table.witnesses import combine

FILE = Path(__file__).with_name("judged.json")


@dataclass(frozen=True, slots=True)
class Judged:
    """One frame, and what is stated of it."""

    scene: Scene
    dice: tuple[DieEvidence, ...]
    verdict: str

    def stated(self, limits: Limits = LIMITS) -> str:
        """What these limits state."""
        return named(judge(combine(self.dice, self.scene, limits), self.scene, limits))


def named(verdict: Verdict) -> str:
    """A verdict without the numbers in its words."""
    if isinstance(verdict, Verified):
        return "verified " + " ".join(map(str, verdict.values))
    if isinstance(verdict, NoRoll):
        return f"no roll: die {verdict.die} {verdict.kind.value} {verdict.angle_deg:.0f}"
    witness = verdict.detail.partition("not certain, by ")[2].partition(";")[0]
    return f"{verdict.reason.value} {witness}".strip()


def load() -> list[Judged]:
    """All cases of the file."""
    return [
        Judged(Scene(*row["scene"]), tuple(map(_die, row["dice"])), row["verdict"])
        for row in json.loads(FILE.read_text(encoding="utf-8"))
    ]


def _die(row: dict) -> DieEvidence:
    corners = tuple((float(x), float(y)) for x, y in row["corners"])
    return DieEvidence(
        corners=corners,
        x_mm=row["at"][0],
        y_mm=row["at"][1],
        turn_deg=row["at"][2],
        model=None if row["model"] is None else NetworkReading(*row["model"]),
        second=None if row["second"] is None else GeometryReading(*row["second"]),
        measured=None if row["measured"] is None else Measured(*row["measured"]),
        height=Height(*row["height"]) if "height" in row else None,
    )


def save(cases: list[Judged]) -> None:
    """Write all cases."""
    rows = [
        {
            "scene": astuple(case.scene),
            "dice": [_row(d) for d in case.dice],
            "verdict": case.verdict,
        }
        for case in cases
    ]
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _row(die: DieEvidence) -> dict:
    def rounded(record: object) -> list | None:
        if record is None:
            return None
        return [round(v, 4) if isinstance(v, float) else v for v in astuple(record)]  # type: ignore[call-overload]

    row = {
        "corners": [[round(x, 2), round(y, 2)] for x, y in die.corners],
        "at": [round(v, 3) for v in (die.x_mm, die.y_mm, die.turn_deg)],
        "model": rounded(die.model),
        "second": rounded(die.second),
        "measured": rounded(die.measured),
    }
    return row if die.height is None else row | {"height": rounded(die.height)}
