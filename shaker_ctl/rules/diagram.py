"""The state diagram, drawn by Graphviz from the table itself.

Owns what is shown and in which colour; what is connected with what is read from the rows, so that
the picture cannot differ from the machine. Must not know where anything stands: Graphviz does.

Two panels: the life of a table with its inspections, and one round. A grey box stands for a phase
of the other panel. Lines are the ordinary ways. The ways out that malfunctions and interlocks take
are many and alike: each is a coloured dot on the phase that has it. Restarts, closing, a change of
dice, and the ways of a technician's trials are left out.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from html import escape

from shaker_ctl.errors import RefusedError
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import machine
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.row import Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.table_text import entries
from shaker_ctl.rules.vocabulary import Ending, words

P = Phase
Node = Phase | str
"""A phase, or the words of a stand-in."""

PASSING = frozenset({P.CYCLE_DONE, P.READ, P.DECIDED, P.ROUND_OVER})
CYCLES = "cycle: toss and reading"
ROUND = "a round of play"
TABLE = "the table, between rounds"
ENDED = "closed · inspection due · out of service"

LIFE_COLOUR, INSPECT_COLOUR, BETS_COLOUR = "#3f4a5a", "#2f6690", "#2e7d4f"
TOSS_COLOUR, RESULT_COLOUR, GREY = "#8a5a00", "#7a3b69", "#9aa1ab"

GROUPS: tuple[tuple[str, str, tuple[Phase, ...]], ...] = (
    (
        "life of the table",
        LIFE_COLOUR,
        (
            *(P.CLOSED, P.INSPECTION_DUE, P.INSPECTED, P.OPENING, P.READY, P.ADMITTING, P.PACING),
            P.OUT_OF_SERVICE,
        ),
    ),
    (
        "inspection, trials",
        INSPECT_COLOUR,
        (
            *(P.LAMP_VALUES_AWAITED, P.LAMP_ENTRY, P.LAMP_ENTRY_LIT, P.LAMP_ENTRY_TO_BE_SEEN),
            *(P.LAMP_ENTRY_CLEARING, P.EACH_LAMP, P.WALK_PAUSED, P.LAMPS_TO_BE_SEEN),
            *(P.ODDS_TRIED, P.ODDS_TO_BE_SEEN),
            *(P.CYCLE_AWAITED, P.CYCLE_TO_BE_JUDGED, P.CYCLE_DONE),
            *(P.TO_BE_SIGNED, P.JOGGING, P.LAMP_TRIAL),
        ),
    ),
    (
        "bets",
        BETS_COLOUR,
        (P.BETTING, P.COVERED, P.DRAWING_MULTIPLIERS, P.SHOWING_MULTIPLIERS, P.NO_MORE_BETS),
    ),
    (
        "toss and reading",
        TOSS_COLOUR,
        (
            *(P.COVERING, P.PLANNING, P.PROVING_DARK, P.STARTING, P.TOSSING, P.REVEALING),
            *(P.COMING_TO_REST, P.READING, P.READ),
        ),
    ),
    (
        "result and settling",
        RESULT_COLOUR,
        (
            P.INTERRUPTED,
            *(P.AWAITING_DEALER, P.DISPUTED, P.DECIDED, P.PUSHING, P.COLLECTING, P.PAYING),
            *(P.SETTLED_LIT, P.CLEARING, P.AWAITING_PRESENCE, P.SETTLING_BY_HAND),
            *(P.WITHOUT_RESULT, P.ROUND_OVER),
        ),
    ),
)

DOTS: tuple[tuple[str, str, str], ...] = (
    ("not_started", "#8d99ae", "may end here: the round does not start"),
    ("void", "#c1121f", "may end here: void"),
    ("by_hand", "#7a3b69", "may have to be settled by hand"),
    ("inspection", "#2f6690", "may fall back to: inspection due"),
    ("out_of_service", "#1b1b1e", "may fall out of service at once"),
)


_LIFE_AND_INSPECTION = frozenset(phase for _, _, members in GROUPS[:2] for phase in members)
_TOSS = (*ph.SHAKER_IN_USE, P.READ)
_LIFE = (P.CLOSED, P.INSPECTION_DUE, P.OUT_OF_SERVICE)


@dataclass(frozen=True)
class Panel:
    """One part of the diagram."""

    name: str
    title: str
    phases: frozenset[Phase]
    elsewhere: dict[Phase, str]
    """Phases of the other panel, and the stand-ins for them."""

    def node(self, phase: Phase) -> Node | None:
        return phase if phase in self.phases else self.elsewhere.get(phase)


LIFE = Panel(
    "life",
    "Life of a table, and its inspections",
    _LIFE_AND_INSPECTION,
    dict.fromkeys(_TOSS, CYCLES) | {P.BETTING: ROUND, P.ROUND_OVER: ROUND},
)
PLAY = Panel(
    "round",
    "A round",
    frozenset(Phase) - _LIFE_AND_INSPECTION,
    {P.ADMITTING: TABLE, P.PACING: TABLE} | dict.fromkeys(_LIFE, ENDED),
)
PANELS = (LIFE, PLAY)

_IN_ORDER: tuple[Node, ...] = (
    TABLE,
    *(phase for _, _, members in GROUPS for phase in members),
    *(CYCLES, ROUND, ENDED),
)

TRIALS = (ev.LampTrialRequested, ev.JogRequested)
MANY = (
    *(ev.CloseRequested, ev.DiceChanged, ev.LidRequested, ev.OutOfServiceRequested),
    ev.InspectionAbandoned,
)


def irregular() -> set[Row]:
    """Return the rows of what fails, opens or is pressed: dots, and no ways."""
    return {each.row for each in entries() if each.file == "malfunction"}


def lines(panel: Panel) -> dict[tuple[Node, Node], list[str]]:
    """Return a panel's ordinary ways: (from, to) to the words of the events that lead there."""
    found: dict[tuple[Node, Node], list[str]] = {}
    aside = irregular()
    for row in machine.ROWS:
        if row in aside or row.to is None or row.on is ev.Restarted or _spread(row):
            continue
        for phase in row.phases:
            a, b = panel.node(phase), panel.node(row.to)
            if a is None or b is None or a == b or not _belongs(panel, row, phase):
                continue
            told = found.setdefault((a, b), [])
            word = "" if row.on is None else words(row.on.__name__)
            if word and word not in told:
                told.append(word)
    return found


def _belongs(panel: Panel, row: Row, phase: Phase) -> bool:
    """Rows of inspections and trials stand in the first panel, those of a round in the second."""
    if panel is LIFE:
        if row.on in TRIALS or phase in (P.JOGGING, P.LAMP_TRIAL, P.BETTING):
            return False
        if phase is P.ROUND_OVER and row.to in _LIFE:
            return False
        inside = phase in _TOSS and row.to in _TOSS
        return not inside and not (phase in _TOSS and row.to is not P.CYCLE_DONE)
    if phase in _LIFE or phase is P.READY:
        return False
    return not (phase in (P.TOSSING, *_TOSS) and row.to in _LIFE)


def _spread(row: Row) -> bool:
    """Ways that very many phases have: as dots, or not at all."""
    dotted = row.to is P.WITHOUT_RESULT and row.on in (ev.TossNotStarted, ev.TossDisproved)
    lost = row.to is P.INSPECTION_DUE and row.on is ev.TossNotStarted
    shut = row.on is ev.TrialTossRequested
    return row.on in MANY or dotted or lost or shut


def dots() -> dict[Phase, set[str]]:
    """Return the irregular ways out of each phase, by the names in `DOTS`."""
    found: dict[Phase, set[str]] = {phase: set() for phase in Phase}
    aside = irregular()
    for row in machine.ROWS:
        if (row in aside or _spread(row)) and row.on not in MANY:
            for phase in row.phases:
                kind = _kind(row)
                if kind:
                    found[phase].add(kind)
    return found


def _kind(row: Row) -> str:
    if row.to is P.WITHOUT_RESULT:
        names = " ".join(note.__name__ for note in row.notes)
        if Ending.NOT_STARTED.value in names:
            return "not_started"
        return "void" if Ending.VOID.value in names else ""
    kinds = {
        P.AWAITING_PRESENCE: "by_hand",
        P.INSPECTION_DUE: "inspection",
        P.OUT_OF_SERVICE: "out_of_service",
    }
    return kinds.get(row.to, "") if row.to is not None else ""


def summary() -> str:
    """Return how much the diagram shows."""
    ways = sum(len(lines(panel)) for panel in PANELS)
    return f"{len(machine.ROWS)} rows, {len(Phase)} phases, {ways} ordinary ways"


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
        shown = {node for way in every for node in way} | panel.phases
        # Graphviz begins at the top with what it is told first.
        body += [_box(panel, node) for node in _IN_ORDER if node in shown]
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


def _id(panel: Panel, node: Node) -> str:
    return f'"{panel.name} {node if isinstance(node, str) else node.value}"'


def _box(panel: Panel, node: Node) -> str:
    if isinstance(node, Phase):
        colour = next((colour for _, colour, members in GROUPS if node in members), GREY)
        outs = dots()[node]
        marks = "".join(f'<font color="{c}">●</font>' for key, c, _ in DOTS if key in outs)
        name = f'<font color="{colour}"><b>{escape(node.value.replace("_", " "))}</b></font>'
        style = 'style="rounded,dashed"' if node in PASSING else ""
        return f'{_id(panel, node)} [label=<{name}<br/>{marks}> color="{colour}" {style}];'
    return f'{_id(panel, node)} [label="{node}" color="{GREY}" fillcolor="#eeece6"];'


def _line(panel: Panel, a: Node, b: Node, words: list[str]) -> str:
    label = "\\n".join(words)
    return f'{_id(panel, a)} -> {_id(panel, b)} [label="{label}"];'


def _legend() -> str:
    groups = "".join(
        f'<tr><td align="left"><font color="{colour}">■ {escape(name)}</font></td></tr>'
        for name, colour, _ in GROUPS
    )
    marks = "".join(
        f'<tr><td align="left"><font color="{colour}">●</font> {escape(words)}</td></tr>'
        for _, colour, words in DOTS
    )
    notes = "lines: ordinary ways, by event; without words: at once; dashed: left in the same step"
    table = f'<table border="0">{groups}{marks}<tr><td align="left">{notes}</td></tr></table>'
    return f"legend [shape=plain fillcolor=white label=<{table}>];"
