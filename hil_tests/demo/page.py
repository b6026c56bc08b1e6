"""What a demonstration leaves for people: one page that opens without a network.

Owns its order: the verdict, what was injected, then every round with its picture, its stages and
its lamps, the newest first. Must not know how the figures come about.
"""

from __future__ import annotations

import base64
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hil_tests.report.html import filled
from hil_tests.table_under_test.rounds import PlayedRound, RoundsTally

NAME = "index.html"

_STAGES = (
    ("rest", "toss and settling", "t_toss", "t_rest"),
    ("read", "read and verified", "t_rest", "t_verified"),
    ("lit", "lamps read back lit", "t_verified", "t_lit"),
)


def write(
    folder: Path,
    plan: str,
    rounds: Sequence[PlayedRound],
    tally: RoundsTally,
    events: Sequence[Mapping[str, Any]],
) -> Path:
    """Write the page into `folder`, which has the rounds' pictures. `events`: the rig's logbook."""
    page = folder / NAME
    text = filled(
        "demo/page.html",
        below=plan,
        tiles=_tiles(tally),
        differences=tally.differences,
        injected=_injected(events),
        rounds=[_shown(each, folder) for each in reversed(rounds)],
    )
    page.write_text(text, "utf-8")
    return page


def _tiles(tally: RoundsTally) -> list[tuple[object, str, str]]:
    lit = tally.rest_to_lit_ms
    wrong = len(tally.differences)
    return [
        (wrong, "lamps or values unlike the truth", "bad" if wrong else ""),
        (tally.rounds, "rounds", ""),
        (f"{tally.read_without_help} of {tally.flat}", "flat tosses read without help", ""),
        (f"{tally.not_flat_no_roll} of {tally.not_flat}", "other tosses ended as no roll", ""),
        (f"{statistics.median(lit):.0f} ms" if lit else "–", "median from rest to lit", ""),
    ]


def _injected(events: Sequence[Mapping[str, Any]]) -> list[tuple[float, str, str]]:
    """Seconds since the rig's first event, and what was broken or healed then."""
    return [
        (each["t"] - events[0]["t"], each["what"], each["name"])
        for each in events
        if each["what"] in ("fault", "healed")
    ]


def _shown(each: PlayedRound, folder: Path) -> dict[str, Any]:
    """A round with what the page says of it."""
    return {
        **asdict(each),
        "dice": "".join("⚀⚁⚂⚃⚄⚅"[value - 1] for value in each.read or []),
        "picture": _picture(folder / each.picture if each.picture else None),
        "truly": _truth(each.truth),
        "stages": _stages(each),
    }


def _truth(dice: Sequence[Mapping[str, Any]] | None) -> str:
    if dice is None:
        return "that nothing was tossed"
    return " ".join(f"{die['value']}{'' if die['flat'] else ' (not flat)'}" for die in dice)


def _stages(each: PlayedRound) -> list[tuple[str, str, float, float]]:
    """What a round's time went into, from EN on: kind, words, seconds, percent."""
    parts = []
    for kind, words, begun, ended in _STAGES:
        start, end = getattr(each, begun), getattr(each, ended)
        if start is not None and end is not None and end > start:
            parts.append((kind, words, end - start))
    whole = sum(seconds for _, _, seconds in parts)
    return [(kind, words, seconds, 100 * seconds / whole) for kind, words, seconds in parts]


def _picture(path: Path | None) -> str:
    """The picture in base64; empty where there is none."""
    if path is None or not path.is_file():
        return ""
    return base64.b64encode(path.read_bytes()).decode()
