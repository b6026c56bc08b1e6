"""The state diagram, drawn by Graphviz from the table itself.

Owns what is shown and in which colour; what is connected with what is read from the rows, so that
the picture cannot differ from the machine. Must not know where anything stands: Graphviz does.

Two panels: the life of a table with its inspections, and one round with its toss, each by its own
files of rows. A grey box is a phase of the other panel. Lines are the ordinary ways. Malfunctions
and interlocks, which README.md has as a matrix, are left out, and so are ways that many phases
have, restarts and manual shakers.
"""

from __future__ import annotations

import shutil
import subprocess
from html import escape
from typing import NamedTuple

from shaker_ctl.errors import RefusedError
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.table_text import entries
from shaker_ctl.rules.vocabulary import words

P = Phase
GREY = "#9aa1ab"
MANY = 4
"""Ways that more phases have than this are no lines."""


class Group(NamedTuple):
    """Phases of one colour."""

    name: str
    colour: str
    phases: ph.Phases


_BETS = ph.BETS_CLOSED | ph.phases(P.BETTING, P.COVERED)
_TOSS = ph.SHAKER_IN_USE - _BETS | ph.phases(P.READ)
LIFE = (
    Group("life of the table", "#3f4a5a", ph.SHUT | ph.STANDING | ph.STOPPED),
    Group("inspection, trials", "#2f6690", ph.INSPECTION | ph.TRIALS | ph.phases(P.CYCLE_DONE)),
)
ROUND = (
    Group("bets", "#2e7d4f", _BETS),
    Group("toss and reading", "#8a5a00", _TOSS),
    Group(
        "result and settling",
        "#7a3b69",
        frozenset(Phase) - _BETS - _TOSS - LIFE[0].phases - LIFE[1].phases,
    ),
)


class Panel(NamedTuple):
    """One part of the diagram."""

    name: str
    title: str
    groups: tuple[Group, ...]
    files: tuple[str, ...]
    """Whose rows it draws."""


PANELS = (
    Panel("life", "Life of a table, and its inspections", LIFE, ("life", "inspection")),
    Panel("round", "A round", ROUND, ("round", "toss")),
)

Ways = dict[tuple[Phase, Phase], list[str]]


def lines(panel: Panel) -> Ways:
    """Return a panel's ordinary ways: (from, to) to the words of the events that lead there."""
    found: Ways = {}
    for each in entries():
        row = each.row
        if each.file not in panel.files or row.to is None or len(row.phases) > MANY:
            continue
        for phase in sorted(row.phases - {row.to}, key=list(Phase).index):
            told = found.setdefault((phase, row.to), [])
            word = "" if row.on is None else words(row.on.__name__)
            if word and word not in told:
                told.append(word)
    return found


def summary() -> str:
    """Return how much the diagram shows."""
    ways = sum(len(lines(panel)) for panel in PANELS)
    return f"{len(entries())} rows, {len(Phase)} phases, {ways} ordinary ways"


# ── Drawing ─────────────────────────────────────────────────────────────────


def dot() -> str:
    """Return the whole diagram in Graphviz's language."""
    body = [
        'digraph table { rankdir=TB; fontname="Helvetica"; fontsize=18; labelloc=t; ranksep=0.45;',
        f'label="The table, as its rows have it: {summary()}";',
        'node [shape=box style="rounded,filled" fillcolor=white fontname="Helvetica" fontsize=13];',
        'edge [fontname="Helvetica" fontsize=9 color="#5c6672" fontcolor="#333a44" arrowsize=0.7];',
    ]
    for panel in PANELS:
        body.append(f'subgraph cluster_{panel.name} {{ label="{panel.title}"; color="{GREY}";')
        every = lines(panel)
        own = {phase: group for phase in Phase for group in panel.groups if phase in group.phases}
        others = {phase for way in every for phase in way} - own.keys()
        # Graphviz begins at the top with what it is told first.
        body += [_box(panel, phase, group.colour) for phase, group in own.items()]
        body += [_box(panel, phase, GREY) for phase in Phase if phase in others]
        body += [_line(panel, a, b, said) for (a, b), said in every.items()]
        body.append("}")
    return "\n".join([*body, _legend(), "}"]) + "\n"


def svg() -> str:
    """Return the diagram as SVG. Raises RefusedError where Graphviz's `dot` is not installed."""
    if shutil.which("dot") is None:
        raise RefusedError(
            "Graphviz, which draws the diagram, is not installed",
            remedy="apt install graphviz, or name an --out that ends in .dot",
        )
    drawn = subprocess.run(
        ["dot", "-Tsvg"], input=dot(), capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return drawn.stdout


def _id(panel: Panel, phase: Phase) -> str:
    return f'"{panel.name} {phase.value}"'


def _box(panel: Panel, phase: Phase, colour: str) -> str:
    name = f'<font color="{colour}"><b>{escape(phase.value.replace("_", " "))}</b></font>'
    style = 'style="rounded,dashed"' if phase in ph.PASSING else ""
    return f'{_id(panel, phase)} [label=<{name}> color="{colour}" {style}];'


def _line(panel: Panel, a: Phase, b: Phase, said: list[str]) -> str:
    label = "\\n".join(said)
    return f'{_id(panel, a)} -> {_id(panel, b)} [label="{label}"];'


def _legend() -> str:
    groups = "".join(
        f'<tr><td align="left"><font color="{group.colour}">■ {escape(group.name)}</font></td></tr>'
        for group in (*LIFE, *ROUND)
    )
    notes = "lines: ordinary ways, by event; without words: at once; dashed: left in the same step"
    table = f'<table border="0">{groups}<tr><td align="left">{notes}</td></tr></table>'
    return f"legend [shape=plain fillcolor=white label=<{table}>];"
