"""The state diagram, drawn from the table itself.

Owns places and strokes; what is connected with what is read from the rows, so that the picture
cannot differ from the machine. Every phase of the table must have a place here: a test sees to it.

Two panels: the life of a table with its inspection, and one round. Where a way leads from one into
the other it ends at a grey stand-in. Lines are the ordinary ways of a table. The ways out that
malfunctions and interlocks take are many and alike, so each is a coloured dot on the phase that has
it. Restarts, closing, other dice and the ways of a technician's trials are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from shaker_ctl.rules import events as ev
from shaker_ctl.rules import machine, malfunction
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.row import Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Ending

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
            *(P.OUT_OF_SERVICE, P.SHAKER_RETIRED),
        ),
    ),
    (
        "inspection, trials",
        INSPECT_COLOUR,
        (
            *(P.LAMP_ENTRY, P.LAMP_ENTRY_CLEARING, P.EACH_LAMP, P.LAMPS_TO_BE_SEEN, P.CYCLE_DONE),
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


@dataclass(frozen=True)
class Panel:
    """One part of the diagram: a place (column, row) for each of its nodes."""

    title: str
    places: dict[Node, tuple[float, float]]
    elsewhere: dict[Phase, str]
    """Phases that a stand-in stands for."""

    def node(self, phase: Phase) -> Node | None:
        if phase in self.places:
            return phase
        return self.elsewhere.get(phase)


_TOSS = (*ph.SHAKER_IN_USE, P.READ)
_LIFE = (P.CLOSED, P.INSPECTION_DUE, P.OUT_OF_SERVICE)

LIFE = Panel(
    "Life of a table, and its inspections",
    {
        P.CLOSED: (0, 0),
        P.INSPECTION_DUE: (1, 0),
        P.LAMP_ENTRY: (2, 0),
        P.LAMP_ENTRY_CLEARING: (3, 0),
        P.EACH_LAMP: (4, 0),
        P.LAMPS_TO_BE_SEEN: (4, 1),
        P.OUT_OF_SERVICE: (0, 1.6),
        P.SHAKER_RETIRED: (0, 3.2),
        P.JOGGING: (0, 4.2),
        P.LAMP_TRIAL: (1, 4.2),
        CYCLES: (4, 2.2),
        P.CYCLE_DONE: (3, 2.2),
        P.TO_BE_SIGNED: (2, 2.2),
        P.INSPECTED: (1, 3.2),
        P.OPENING: (2, 3.2),
        P.READY: (3, 3.2),
        P.ADMITTING: (4, 3.2),
        P.PACING: (3, 4.2),
        ROUND: (4, 4.2),
    },
    dict.fromkeys(_TOSS, CYCLES) | {P.BETTING: ROUND, P.ROUND_OVER: ROUND},
)
PLAY = Panel(
    "A round",
    {
        TABLE: (0, 0),
        P.BETTING: (1, 0),
        P.NO_MORE_BETS: (1, 1.5),
        P.DRAWING_MULTIPLIERS: (0, 1.5),
        P.SHOWING_MULTIPLIERS: (0, 2.5),
        P.COVERED: (2, 1.5),
        P.COVERING: (3, 0),
        P.PLANNING: (4, 0),
        P.PROVING_DARK: (4, 1),
        P.STARTING: (4, 2),
        P.TOSSING: (3, 2),
        P.REVEALING: (2, 3),
        P.COMING_TO_REST: (3, 3),
        P.READING: (4, 4),
        P.READ: (3, 4),
        P.INTERRUPTED: (1, 4),
        P.AWAITING_DEALER: (2, 4),
        P.DISPUTED: (2, 5),
        P.DECIDED: (3, 5),
        P.PUSHING: (3, 6),
        P.COLLECTING: (2, 6),
        P.PAYING: (2, 7),
        P.SETTLED_LIT: (1, 7),
        P.CLEARING: (0, 7),
        P.AWAITING_PRESENCE: (4, 6),
        P.SETTLING_BY_HAND: (1, 6),
        P.WITHOUT_RESULT: (1, 5),
        P.ROUND_OVER: (0, 6),
        ENDED: (0, 5),
    },
    {P.ADMITTING: TABLE, P.PACING: TABLE} | dict.fromkeys(_LIFE, ENDED),
)
PANELS = (LIFE, PLAY)

WIDTH, HEIGHT = 172, 46
STEP_X, STEP_Y = 290, 96
LEFT, TOP = 46, 64

TRIALS = (ev.LampTrialRequested, ev.JogRequested)
MANY = (
    *(ev.CloseRequested, ev.DiceChanged, ev.LidRequested, ev.OutOfServiceRequested),
    ev.InspectionAbandoned,
)


def lines(panel: Panel) -> dict[tuple[Node, Node], list[str]]:
    """Return a panel's ordinary ways: (from, to) to the words of the events that lead there."""
    found: dict[tuple[Node, Node], list[str]] = {}
    aside = set(malfunction.ROWS)
    for row in machine.ROWS:
        if row in aside or row.to is None or row.on is ev.Restarted or _spread(row):
            continue
        for phase in row.phases:
            a, b = panel.node(phase), panel.node(row.to)
            if a is None or b is None or a == b or not _belongs(panel, row, phase):
                continue
            words = found.setdefault((a, b), [])
            word = "" if row.on is None else machine.words(row.on.__name__)
            if word and word not in words:
                words.append(word)
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
    aside = set(malfunction.ROWS)
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


def svg() -> str:
    """Return the whole diagram as one SVG document."""
    columns = max(x for panel in PANELS for x, _ in panel.places.values())
    width = int(LEFT * 2 + columns * STEP_X + WIDTH)
    body: list[str] = []
    y = 92.0
    for panel in PANELS:
        body.append(
            f'<text x="{LEFT}" y="{y + 24}" font-size="17" font-weight="bold" '
            f'fill="{GREY}">{escape(panel.title)}</text>'
        )
        drawn = _panel(panel)
        body.append(f'<g transform="translate(0 {y})">{drawn}</g>')
        y += TOP + max(row for _, row in panel.places.values()) * STEP_Y + HEIGHT + 44
    body += _legend(y)
    height = int(y + 62)
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#5c6672"/>'
        "</marker></defs>",
        f'<rect width="{width}" height="{height}" fill="#fbfaf7"/>',
        f'<text x="{LEFT}" y="44" font-size="23" font-weight="bold" fill="#1b1b1e">'
        "The table, as its rows have it</text>",
        f'<text x="{LEFT}" y="68" font-size="13" fill="#5c6672">{summary()}. Lines: the ordinary '
        "ways, by event; without words: at once. Dots: what malfunctions and interlocks do there. "
        "Dashed: left again within the same step.</text>",
    ]
    return "\n".join([*head, *body, "</svg>"])


def _panel(panel: Panel) -> str:
    every = lines(panel)
    outs = dots()
    strokes, words = [], []
    for (a, b), said in every.items():
        stroke, label = _line(panel, a, b, said, (b, a) in every)
        strokes.append(stroke)
        words.append(label)
    boxes = [_box(panel, node, outs) for node in panel.places]
    return "".join([*strokes, *boxes, *words])


def _corner(panel: Panel, node: Node) -> tuple[float, float]:
    x, y = panel.places[node]
    return LEFT + x * STEP_X, TOP + y * STEP_Y


def _colour(node: Node) -> str:
    return next((colour for _, colour, members in GROUPS if node in members), GREY)


def _box(panel: Panel, node: Node, outs: dict[Phase, set[str]]) -> str:
    x, y = _corner(panel, node)
    colour = _colour(node)
    stand_in = isinstance(node, str)
    passing = node in PASSING
    dash = ' stroke-dasharray="5 4"' if passing else ""
    fill = "#eeece6" if stand_in else "#fbfaf7" if passing else "#ffffff"
    name = node if isinstance(node, str) else node.value.replace("_", " ")
    size = 14 if len(name) < 22 else 11.5 if len(name) < 30 else 8
    shown = [] if isinstance(node, str) else [c for key, c, _ in DOTS if key in outs[node]]
    middle = y + (21 if shown else 28)
    parts = [
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="9" fill="{fill}" '
        f'stroke="{colour}" stroke-width="2"{dash}/>',
        f'<text x="{x + WIDTH / 2}" y="{middle}" text-anchor="middle" font-size="{size}" '
        f'font-weight="bold" fill="{"#5c6672" if stand_in else colour}">{escape(name)}</text>',
    ]
    start = x + WIDTH / 2 - (len(shown) - 1) * 7.5
    parts += [
        f'<circle cx="{start + 15 * n}" cy="{y + 34}" r="4.6" fill="{dot}"/>'
        for n, dot in enumerate(shown)
    ]
    return "".join(parts)


def _line(panel: Panel, a: Node, b: Node, words: list[str], both_ways: bool) -> tuple[str, str]:
    (ax, ay), (bx, by) = _corner(panel, a), _corner(panel, b)
    acx, acy, bcx, bcy = ax + WIDTH / 2, ay + HEIGHT / 2, bx + WIDTH / 2, by + HEIGHT / 2
    dx, dy = bcx - acx, bcy - acy
    across, down = (1 if dx > 0 else -1), (1 if dy > 0 else -1)
    shift = 12.0 if both_ways else 0.0
    anchor = "middle"
    if abs(dx) < 1 and not _between(panel, a, b):
        x = acx + shift * down
        path = f"M{x} {acy + down * HEIGHT / 2} L{x} {bcy - down * HEIGHT / 2}"
        lx, ly = x + 6 * down, (acy + bcy) / 2
        anchor = "start" if down > 0 else "end"
    elif abs(dx) < 1:
        side = ax if down > 0 else ax + WIDTH
        bow = side - down * 62
        path = f"M{side} {acy} C{bow} {acy} {bow} {bcy} {side} {bcy}"
        lx, ly = side - down * 50, (acy + bcy) / 2
    elif abs(dy) < 1 and not _between(panel, a, b):
        y = acy - shift * across
        path = f"M{acx + across * WIDTH / 2} {y} L{bcx - across * WIDTH / 2} {y}"
        lx, ly = (acx + bcx) / 2, y - 9 if across > 0 else y + 9
    elif abs(dy) < 1:
        top = ay - 34
        path = f"M{acx} {ay} C{acx} {top} {bcx} {top} {bcx} {by}"
        lx, ly = (acx + bcx) / 2, top + 9
    elif abs(dx) <= STEP_X + 1 and abs(dy) > STEP_Y * 1.2:
        sx, tx = acx + across * WIDTH / 2, bcx - across * 40
        ty = bcy - down * HEIGHT / 2
        path = f"M{sx} {acy} C{sx + across * 50} {acy} {tx} {ty - down * 60} {tx} {ty}"
        lx, ly = (sx + tx) / 2 + across * 14, (acy + ty) / 2 - down * 8
    else:
        sx, sy = acx + across * WIDTH / 2, acy + down * 10
        tx, ty = bcx - across * WIDTH / 2, bcy - down * 10
        path = f"M{sx} {sy} C{sx + across * 46} {sy} {tx - across * 46} {ty} {tx} {ty}"
        lx, ly = (sx + tx) / 2, (sy + ty) / 2
    stroke = (
        f'<path d="{path}" fill="none" stroke="#5c6672" stroke-width="1.4" marker-end="url(#tip)"/>'
    )
    return stroke, _words(words, lx, ly, anchor)


def _between(panel: Panel, a: Node, b: Node) -> bool:
    """True when another node stands on the straight way between two of a row or column."""
    (ax, ay), (bx, by) = panel.places[a], panel.places[b]
    for node, (x, y) in panel.places.items():
        if node in (a, b):
            continue
        if ax == bx == x and min(ay, by) < y < max(ay, by):
            return True
        if ay == by == y and min(ax, bx) < x < max(ax, bx):
            return True
    return False


def _words(words: list[str], x: float, y: float, anchor: str) -> str:
    top = y - 5.5 * (len(words) - 1)
    return "".join(
        f'<text x="{x}" y="{top + 11 * n + 3}" text-anchor="{anchor}" font-size="10" '
        f'fill="#333a44" stroke="#fbfaf7" stroke-width="3" paint-order="stroke">'
        f"{escape(word)}</text>"
        for n, word in enumerate(words)
    )


def _legend(y: float) -> Iterable[str]:
    x = float(LEFT)
    for name, colour, _ in GROUPS:
        yield (
            f'<rect x="{x}" y="{y - 11}" width="22" height="14" rx="4" fill="#fff" '
            f'stroke="{colour}" stroke-width="2"/><text x="{x + 30}" y="{y}" font-size="13" '
            f'fill="#333a44">{escape(name)}</text>'
        )
        x += 62 + 7.2 * len(name)
    x, y = float(LEFT), y + 28
    for _, colour, words in DOTS:
        yield (
            f'<circle cx="{x + 6}" cy="{y - 4}" r="5" fill="{colour}"/>'
            f'<text x="{x + 18}" y="{y}" font-size="13" fill="#333a44">{escape(words)}</text>'
        )
        x += 40 + 6.6 * len(words)
