"""The state diagram, drawn from the table itself.

Owns places and strokes; what is connected with what is read from the rows, so that the picture
cannot differ from the machine. Every phase of the table must have a place here: a test sees to it.

Lines are the ordinary ways of a table. The ways out that malfunctions and interlocks take are many
and alike, so each is a coloured dot on the phase that has it instead of a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from shaker_ctl.rules import events as ev
from shaker_ctl.rules import machine, malfunction
from shaker_ctl.rules.row import Row
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Ending

P = Phase

PLACES: dict[Phase, tuple[float, float]] = {
    # life of the table, top left to right
    P.CLOSED: (0, 0),
    P.INSPECTION_DUE: (1, 0),
    P.LAMP_ENTRY: (2, 0),
    P.LAMP_ENTRY_CLEARING: (3, 0),
    P.EACH_LAMP: (4, 0),
    P.LAMPS_TO_BE_SEEN: (5, 0),
    P.OUT_OF_SERVICE: (0, 1),
    P.JOGGING: (1, 1),
    P.LAMP_TRIAL: (2, 1),
    P.CYCLE_DONE: (4, 1),
    P.TO_BE_SIGNED: (3, 1),
    P.SHAKER_RETIRED: (0, 2),
    P.INSPECTED: (1, 2),
    P.OPENING: (2, 2),
    P.READY: (3, 2),
    P.ADMITTING: (2, 3),
    # bets
    P.BETTING: (2, 4),
    P.DRAWING_MULTIPLIERS: (1, 5),
    P.SHOWING_MULTIPLIERS: (1, 6),
    P.NO_MORE_BETS: (2, 6),
    P.COVERED: (1, 4),
    # the toss, right column downwards
    P.COVERING: (5, 2),
    P.PLANNING: (5, 3),
    P.PROVING_DARK: (5, 4),
    P.STARTING: (5, 5),
    P.TOSSING: (5, 6),
    P.REVEALING: (4, 7),
    P.COMING_TO_REST: (5, 8),
    P.READING: (5, 9),
    P.READ: (4, 9),
    # the result, bottom right to left
    P.AWAITING_DEALER: (3, 8),
    P.DISPUTED: (3, 9),
    P.DECIDED: (3, 10),
    P.PUSHING: (2, 10),
    P.COLLECTING: (1, 10),
    P.PAYING: (0, 10),
    P.SETTLED_LIT: (1, 9),
    P.CLEARING: (0, 9),
    P.AWAITING_PRESENCE: (2, 9),
    P.SETTLING_BY_HAND: (2, 8),
    P.WITHOUT_RESULT: (1, 8),
    P.ROUND_OVER: (0, 7),
    P.PACING: (0, 4),
}
"""Column and row of every phase."""

PASSING = frozenset({P.CYCLE_DONE, P.READ, P.DECIDED, P.ROUND_OVER})

GROUPS: tuple[tuple[str, str, frozenset[Phase]], ...] = (
    ("life of the table", "#3f4a5a", frozenset({P.CLOSED, P.INSPECTION_DUE, P.INSPECTED, P.OPENING,
                                              P.READY, P.ADMITTING, P.PACING, P.OUT_OF_SERVICE,
                                              P.SHAKER_RETIRED})),
    ("inspection and trials", "#2f6690", frozenset({P.LAMP_ENTRY, P.LAMP_ENTRY_CLEARING,
                                                    P.EACH_LAMP, P.LAMPS_TO_BE_SEEN, P.CYCLE_DONE,
                                                    P.TO_BE_SIGNED, P.JOGGING, P.LAMP_TRIAL})),
    ("bets", "#2e7d4f", frozenset({P.BETTING, P.COVERED, P.DRAWING_MULTIPLIERS,
                                   P.SHOWING_MULTIPLIERS, P.NO_MORE_BETS})),
    ("toss and reading", "#8a5a00", frozenset({P.COVERING, P.PLANNING, P.PROVING_DARK, P.STARTING,
                                               P.TOSSING, P.REVEALING, P.COMING_TO_REST, P.READING,
                                               P.READ})),
    ("result and settling", "#7a3b69", frozenset({P.AWAITING_DEALER, P.DISPUTED, P.DECIDED,
                                                  P.PUSHING, P.COLLECTING, P.PAYING, P.SETTLED_LIT,
                                                  P.CLEARING, P.AWAITING_PRESENCE,
                                                  P.SETTLING_BY_HAND, P.WITHOUT_RESULT,
                                                  P.ROUND_OVER})),
)  # fmt: skip

DOTS: tuple[tuple[str, str], ...] = (
    ("not_started", "#8d99ae"),
    ("void", "#c1121f"),
    ("by_hand", "#7a3b69"),
    ("inspection", "#2f6690"),
    ("out_of_service", "#1b1b1e"),
)
DOT_WORDS = {
    "not_started": "may end: the round does not start",
    "void": "may end: void",
    "by_hand": "may have to be settled by hand",
    "inspection": "may fall back to: inspection due",
    "out_of_service": "may fall out of service at once",
}

WIDTH, HEIGHT = 176, 46
STEP_X, STEP_Y = 268, 112
LEFT, TOP = 40, 96


def lines() -> dict[tuple[Phase, Phase], list[str]]:
    """Return the ordinary ways: (from, to) to the words of the events that lead there."""
    found: dict[tuple[Phase, Phase], list[str]] = {}
    aside = set(malfunction.ROWS)
    for row in machine.ROWS:
        if row in aside or row.to is None or row.on is ev.Restarted or _spread(row):
            continue
        for phase in row.phases:
            if phase is row.to:
                continue
            words = found.setdefault((phase, row.to), [])
            word = "" if row.on is None else machine.words(row.on.__name__)
            if word and word not in words:
                words.append(word)
    return found


def _spread(row: Row) -> bool:
    """Ways out that many phases share: closing, other dice, abandoning, no result, no start."""
    many = {ev.CloseRequested, ev.DiceChanged, ev.OutOfServiceRequested, ev.InspectionAbandoned}
    dotted = row.to is P.WITHOUT_RESULT and row.on in (ev.TossNotStarted, ev.TossDisproved)
    lost = row.to is P.INSPECTION_DUE and row.on is ev.TossNotStarted
    return row.on in many or dotted or lost


def dots() -> dict[Phase, set[str]]:
    """Return the irregular ways out of each phase, by the names in `DOTS`."""
    found: dict[Phase, set[str]] = {phase: set() for phase in Phase}
    aside = set(malfunction.ROWS)
    for row in machine.ROWS:
        if row not in aside and not _spread(row):
            continue
        kind = _kind(row)
        if kind:
            for phase in row.phases:
                found[phase].add(kind)
    return found


def _kind(row: Row) -> str:
    endings = {Ending.NOT_STARTED: "not_started", Ending.VOID: "void"}
    if row.to is P.WITHOUT_RESULT:
        names = " ".join(note.__name__ for note in row.notes)
        return next((kind for ending, kind in endings.items() if ending.value in names), "")
    return {
        P.AWAITING_PRESENCE: "by_hand",
        P.INSPECTION_DUE: "inspection",
        P.OUT_OF_SERVICE: "out_of_service",
    }.get(row.to, "") if row.to else ""  # fmt: skip


def svg() -> str:
    """Return the whole diagram as one SVG document."""
    columns = max(x for x, _ in PLACES.values())
    rows = max(y for _, y in PLACES.values())
    width = int(LEFT * 2 + columns * STEP_X + WIDTH)
    height = int(TOP + rows * STEP_Y + HEIGHT + 110)
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#5c6672"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#fbfaf7"/>',
        f'<text x="{LEFT}" y="42" font-size="22" font-weight="bold" fill="#1b1b1e">'
        "The table, as it is written in its rows</text>",
        f'<text x="{LEFT}" y="66" font-size="13" fill="#5c6672">{len(machine.ROWS)} rows, '
        f"{len(PLACES)} phases. Lines: the ordinary ways. Dots: what malfunctions do there. "
        "Dashed: left again at once.</text>",
    ]
    every = lines()
    body += [_line(a, b, words, (b, a) in every) for (a, b), words in every.items()]
    outs = dots()
    body += [_box(phase, outs[phase]) for phase in PLACES]
    body += _legend(height - 58)
    body.append("</svg>")
    return "\n".join(body)


def _corner(phase: Phase) -> tuple[float, float]:
    x, y = PLACES[phase]
    return LEFT + x * STEP_X, TOP + y * STEP_Y


def _colour(phase: Phase) -> str:
    return next(colour for _, colour, members in GROUPS if phase in members)


def _box(phase: Phase, outs: set[str]) -> str:
    x, y = _corner(phase)
    colour = _colour(phase)
    passing = phase in PASSING
    dash = ' stroke-dasharray="5 4"' if passing else ""
    fill = "#fbfaf7" if passing else "#ffffff"
    parts = [
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="9" fill="{fill}" '
        f'stroke="{colour}" stroke-width="2"{dash}/>',
        f'<text x="{x + WIDTH / 2}" y="{y + 20}" text-anchor="middle" font-size="14" '
        f'font-weight="bold" fill="{colour}">{escape(phase.value.replace("_", " "))}</text>',
    ]
    shown = [colour for name, colour in DOTS if name in outs]
    start = x + WIDTH / 2 - (len(shown) - 1) * 7.5
    parts += [
        f'<circle cx="{start + 15 * n}" cy="{y + 34}" r="4.6" fill="{dot}"/>'
        for n, dot in enumerate(shown)
    ]
    return "".join(parts)


def _line(a: Phase, b: Phase, words: list[str], both_ways: bool) -> str:
    (ax, ay), (bx, by) = _corner(a), _corner(b)
    acx, acy, bcx, bcy = ax + WIDTH / 2, ay + HEIGHT / 2, bx + WIDTH / 2, by + HEIGHT / 2
    dx, dy = bcx - acx, bcy - acy
    shift = 11.0 if both_ways else 0.0
    if abs(dx) < 1:  # same column
        side = 1 if dy > 0 else -1
        x = acx + shift * side
        if abs(dy) <= STEP_Y + 1:
            path = f"M{x} {acy + side * HEIGHT / 2} L{x} {bcy - side * HEIGHT / 2}"
            lx, ly = x + (7 if side > 0 else -7), (acy + bcy) / 2
            anchor = "start" if side > 0 else "end"
        else:
            out = ax + WIDTH if side > 0 else ax
            bow = out + side * 54
            path = f"M{out} {acy} C{bow} {acy} {bow} {bcy} {out} {bcy}"
            lx, ly, anchor = out + side * 46, (acy + bcy) / 2, "middle"
    elif abs(dy) < 1:  # same row
        side = 1 if dx > 0 else -1
        y = acy - shift * side
        if abs(dx) <= STEP_X + 1:
            path = f"M{acx + side * WIDTH / 2} {y} L{bcx - side * WIDTH / 2} {y}"
            lx, ly, anchor = (acx + bcx) / 2, y - 5 if side > 0 else y + 13, "middle"
        else:
            top = ay - 30
            path = f"M{acx} {ay} C{acx} {top} {bcx} {top} {bcx} {by}"
            lx, ly, anchor = (acx + bcx) / 2, top + 4, "middle"
    else:
        side = 1 if dx > 0 else -1
        down = 1 if dy > 0 else -1
        sx, sy = acx + side * WIDTH / 2, acy + down * 8
        if abs(dx) <= STEP_X + 1 and abs(dy) <= STEP_Y + 1:
            tx, ty = bcx - side * WIDTH / 2, bcy - down * 8
            path = f"M{sx} {sy} C{sx + side * 40} {sy} {tx - side * 40} {ty} {tx} {ty}"
        else:
            tx, ty = bcx - side * 40, bcy - down * HEIGHT / 2
            path = f"M{sx} {sy} C{sx + side * 60} {sy} {tx} {ty - down * 60} {tx} {ty}"
        lx, ly, anchor = (sx + tx) / 2, (sy + ty) / 2, "middle"
    return (
        f'<path d="{path}" fill="none" stroke="#5c6672" stroke-width="1.4" '
        f'marker-end="url(#tip)"/>' + _words(words, lx, ly, anchor)
    )


def _words(words: list[str], x: float, y: float, anchor: str) -> str:
    shown = words[:3] + (["…"] if len(words) > 3 else [])
    top = y - 5.5 * (len(shown) - 1)
    return "".join(
        f'<text x="{x}" y="{top + 11 * n + 3}" text-anchor="{anchor}" font-size="10" '
        f'fill="#333a44" stroke="#fbfaf7" stroke-width="3" paint-order="stroke">'
        f"{escape(word)}</text>"
        for n, word in enumerate(shown)
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
    for name, colour in DOTS:
        words = DOT_WORDS[name]
        yield (
            f'<circle cx="{x + 6}" cy="{y - 4}" r="5" fill="{colour}"/>'
            f'<text x="{x + 18}" y="{y}" font-size="13" fill="#333a44">{escape(words)}</text>'
        )
        x += 42 + 6.8 * len(words)
