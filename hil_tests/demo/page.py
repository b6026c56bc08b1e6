"""What a demonstration leaves for people: one page that opens without a network.

Owns its order: the verdict, what was injected, then every round with its picture, its stages and
its lamps, the newest first. Must not know how the figures come about: `report` joins them.
"""

from __future__ import annotations

import base64
import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from hil_tests.demo.report import Round, Tally
from hil_tests.report.page import STYLE

NAME = "index.html"

_STAGES = (
    ("rest", "toss and settling", "t_toss", "t_rest"),
    ("read", "read and verified", "t_rest", "t_verified"),
    ("lit", "lamps read back lit", "t_verified", "t_lit"),
)
_MORE_STYLE = """
.round{display:grid;grid-template-columns:300px 1fr;gap:20px}
.dice{font-size:30px;letter-spacing:6px}
.bar{display:flex;height:16px;border-radius:4px;overflow:hidden;margin:6px 0 2px}
.bar .rest{background:#c6ccd2}.bar .read{background:#2457a6}.bar .lit{background:#f2b632}
.area{display:inline-block;border:2px solid #b27d00;background:#fff2cf;border-radius:4px;
padding:0 6px;margin:2px;font-weight:600}
@media (max-width:720px){.round{grid-template-columns:1fr}}
"""


def write(
    folder: Path, plan: str, rounds: Sequence[Round], tally: Tally, rig_log: Iterable[str]
) -> Path:
    """Write the page into `folder`, which has the rounds' pictures. `rig_log`: the rig's events."""
    body = [
        "<h1>A demonstration on the virtual rig</h1>",
        f'<div class="soft">{escape(plan)}</div>',
        _tiles(tally),
        *(f'<div class="why">{escape(each)}</div>' for each in tally.differences),
        _injected(rig_log),
        *(_round(each, folder) for each in reversed(rounds)),
    ]
    page = folder / NAME
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>Demonstration</title>'
        f"<style>{STYLE}{_MORE_STYLE}</style><main>{''.join(body)}</main></html>\n",
        "utf-8",
    )
    return page


def _tiles(tally: Tally) -> str:
    lit = tally.rest_to_lit_ms
    tiles = [
        (len(tally.differences), "lamps or values unlike the truth", bool(tally.differences)),
        (tally.rounds, "rounds", False),
        (f"{tally.read_without_help} of {tally.flat}", "flat tosses read without help", False),
        (f"{tally.not_flat_no_roll} of {tally.not_flat}", "other tosses ended as no roll", False),
        (f"{statistics.median(lit):.0f} ms" if lit else "–", "median from rest to lit", False),
    ]
    drawn = "".join(
        f'<div class="tile {"bad" if is_bad else ""}"><b>{number}</b>{words}</div>'
        for number, words, is_bad in tiles
    )
    return f'<div class="tiles">{drawn}</div>'


def _injected(rig_log: Iterable[str]) -> str:
    events = [json.loads(line) for line in rig_log if line.strip()]
    rows = [
        f'<tr><td class="n">{each["t"] - events[0]["t"]:.1f} s</td>'
        f"<td>{escape(each['what'])}</td><td>{escape(each['name'])}</td></tr>"
        for each in events
        if each["what"] in ("fault", "healed")
    ]
    if not rows:
        return '<p class="soft">Nothing was injected.</p>'
    return f'<h2>Injected</h2><div class="card"><table>{"".join(rows)}</table></div>'


def _round(each: Round, folder: Path) -> str:
    values = each.read or []
    dice = "".join("⚀⚁⚂⚃⚄⚅"[value - 1] for value in values) or "– – –"
    digits = " ".join(map(str, values))
    areas = "".join(f'<span class="area">{escape(area)}</span>' for area in each.lamps)
    reason = f": {escape(each.reason)}" if each.reason else ""
    return (
        f'<div class="card"><h3>Round {each.round}</h3><div class="round">'
        f"<figure>{_picture(folder / each.picture if each.picture else None)}</figure><div>"
        f'<div><span class="dice">{dice}</span> {digits}</div>'
        f"<div>{escape(each.verdict.replace('_', ' '))}{reason}; "
        f"the physics says {_truth(each.truth)}; wagers {escape(each.wagers)}</div>"
        f"<div>lit: {areas or 'nothing'}</div>{_stages(each)}</div></div></div>"
    )


def _truth(dice: Sequence[Mapping[str, Any]] | None) -> str:
    if dice is None:
        return "that nothing was tossed"
    return " ".join(f"{die['value']}{'' if die['flat'] else ' (not flat)'}" for die in dice)


def _stages(each: Round) -> str:
    """A bar of what a round's time went into, from EN on."""
    parts = []
    for kind, words, begun, ended in _STAGES:
        start, end = getattr(each, begun), getattr(each, ended)
        if start is not None and end is not None and end > start:
            parts.append((kind, words, end - start))
    whole = sum(seconds for _, _, seconds in parts)
    drawn = "".join(
        f'<div class="{kind}" style="width:{100 * seconds / whole:.1f}%"></div>'
        for kind, _, seconds in parts
    )
    words = " · ".join(f"{said} {1000 * seconds:.0f} ms" for _, said, seconds in parts)
    return f'<div class="bar">{drawn}</div><div class="soft">{words}</div>' if parts else ""


def _picture(path: Path | None) -> str:
    if path is None or not path.is_file():
        return '<div class="none">no picture</div>'
    coded = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="the decision\'s picture" src="data:image/jpeg;base64,{coded}">'
