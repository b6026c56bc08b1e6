"""Rounds from the logs, and the verdict: the lamps that were lit, compared with the true dice.

Owns `rounds.jsonl` and the verdict over it. The dice's truth and the lamps that burnt come from the
rig's own logs, the record from the service's journal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hil_tests.report.evidence import lines_of
from hil_tests.table_under_test.lamps import against_truth, toss_at
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.journal.history import InHand, Round

Truth = dict[str, Any]

ENDINGS = {
    "settled": "verified",
    "settled_by_hand": "settled_by_hand",
    "no_roll": "no_roll",
    "void": "void",
    "not_started": "void",
}


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """One line of the report. Times in seconds on the monotonic clock that all processes share."""

    round: int
    profile: str
    truth: list[dict[str, Any]] | None
    read: list[int] | None
    verdict: str
    reason: str
    wagers: str
    lamps: list[str]
    t_toss: float | None
    t_rest: float | None
    t_verified: float | None
    t_lit: float | None
    """When the table had read the lamps back lit."""
    picture: str


def rounds_of(
    journal: Path, rig: Mapping[str, Any], folder: Path, profile: str
) -> list[PlayedRound]:
    """Join the journal and the rig's logs into one line a round of play."""
    tosses = lines_of(rig["truth"])
    burnt: dict[int, list[str]] = {}
    for change in lines_of(rig["lamps"]):
        if change["round"]:
            # Every area that burnt at any moment of the round's result counts as lit.
            burnt[change["round"]] = sorted({*burnt.get(change["round"], ()), *change["areas"]})
    in_hand = InHand()
    with closing(DiskJournal(journal)) as book:
        ended = [one for record in book.read() for one in in_hand.take(record.plain)]
    return [
        _round(told, tosses, burnt.get(told.number, []), folder, profile)
        for told in sorted(ended, key=lambda one: one.number)
    ]


def _round(
    told: Round,
    tosses: list[Truth],
    burnt: list[str],
    folder: Path,
    profile: str,
) -> PlayedRound:
    times = dict(told.moments)
    started_s = times.get("TossStarted")
    truth = toss_at(tosses, started_s)
    verdict = ENDINGS[told.ending or ""]
    if verdict == "verified" and told.source in ("entered", "decided"):
        verdict = "entered"
    reason = told.cause or ""
    if told.reading == "Unreadable":
        reason = told.verdicts[-1]["reason"]
    elif told.reading == "NoRoll":
        reason = f"{told.reason} {told.verdicts[-1]['angle_deg']:.0f}°"
    overlays = [file for role, file, _ in told.pictures if role == "overlay"]
    return PlayedRound(
        round=told.number,
        profile=profile,
        truth=[{key: d[key] for key in ("value", "flat")} for d in truth["dice"]]
        if truth
        else None,
        read=list(told.seen) if told.reading == "Verified" and told.seen else None,
        verdict=verdict,
        reason=reason,
        wagers=told.wagers or "",
        lamps=burnt,
        t_toss=started_s,
        t_rest=truth["t_rest"] if truth else None,
        t_verified=times.get("ReadingMade"),
        t_lit=times.get("LampsShown"),
        picture=_copy(overlays[-1] if overlays else "", told.number, folder),
    )


def _copy(picture: str, number: int, folder: Path) -> str:
    source = folder / "pictures" / picture
    if not picture or not source.exists():
        return ""
    name = f"round-{number:05d}.jpg"
    (folder / name).write_bytes(source.read_bytes())
    return name


# ── The verdict ─────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class RoundsTally:
    """What the report says at its end."""

    rounds: int
    flat: int
    read_without_help: int
    not_flat: int
    not_flat_no_roll: int
    entered: int
    void: int
    differences: tuple[str, ...]
    rest_to_lit_ms: tuple[float, ...]


def check(rounds: list[PlayedRound]) -> RoundsTally:
    """Hold every lit lamp, and every verdict, against the truth."""
    differences: list[str] = []
    for r in rounds:
        lamps = against_truth(r.lamps, r.truth, r.profile)
        if r.lamps and r.verdict in ("void", "no_roll"):
            differences.append(f"round {r.round}: {r.verdict}, and lamps lit for it: {r.lamps}")
        if r.lamps and lamps.values is None:
            differences.append(f"round {r.round}: lamps lit without three flat dice")
        elif r.lamps and lamps.differs:
            wrong = sorted(lamps.differs)
            differences.append(f"round {r.round}: truth {lamps.values}, wrong: {wrong}")
        if r.read is not None and lamps.values is None:
            differences.append(f"round {r.round}: values read from dice that do not lie flat")
        elif r.read is not None and sorted(r.read) != sorted(lamps.values or ()):
            differences.append(f"round {r.round}: read {r.read}, truth {lamps.values}")
    flat = [r for r in rounds if r.truth and all(d["flat"] for d in r.truth)]
    not_flat = [r for r in rounds if r.truth and not all(d["flat"] for d in r.truth)]
    return RoundsTally(
        rounds=len(rounds),
        flat=len(flat),
        read_without_help=sum(r.read is not None for r in flat),
        not_flat=len(not_flat),
        not_flat_no_roll=sum(r.verdict == "no_roll" for r in not_flat),
        entered=sum(r.verdict == "entered" for r in rounds),
        void=sum(r.verdict == "void" for r in rounds),
        differences=tuple(differences),
        rest_to_lit_ms=tuple(
            1000 * (r.t_lit - r.t_rest)
            for r in rounds
            if r.t_lit is not None and r.t_rest is not None and r.verdict == "verified"
        ),
    )


def write(rounds: list[PlayedRound], path: Path) -> None:
    """One JSON object a line."""
    path.write_text("".join(json.dumps(asdict(r)) + "\n" for r in rounds), "utf-8")
