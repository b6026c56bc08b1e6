"""The live screen: one table, drawn from its status socket. For `demo` and `status --follow`.

Owns how a view looks in a terminal of 80 columns or more. Must not know where a view comes from,
and never asks the table for anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.align import Align
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from shaker_ctl.rules.layout import AREAS
from shaker_ctl.seal.fault import UNSEALED

LIT = "bold black on bright_yellow"
DARK = "grey58 on grey15"
BLOCKS = " ▁▂▃▄▅▆▇█"
FULL_SCALE_RPM = 900.0
MAX_CURVE = 36
"""Columns, where the terminal has so many."""

PIPS = {
    1: ("     ", "  ●  ", "     "),
    2: ("●    ", "     ", "    ●"),
    3: ("●    ", "  ●  ", "    ●"),
    4: ("●   ●", "     ", "●   ●"),
    5: ("●   ●", "  ●  ", "●   ●"),
    6: ("●   ●", "●   ●", "●   ●"),
}

TONE_STYLE = {"circle": "bold green", "triangle": "bold yellow", "cross": "bold red"}
"""Of a phase, by the shape that the room sees; what is calm is cyan."""


def draw(
    view: Mapping[str, Any],
    results: Sequence[Mapping[str, Any]] = (),
    below: Sequence[RenderableType] = ("",),
) -> RenderableType:
    """Return the whole screen of one view.

    `results`: the last rounds, newest last. `below`: what stands under it, from long to short; a
    terminal gets the first one that it has room for.
    """
    faults = [_faults(view["faults"])] if view["faults"] else []
    needed = [_head(view), layout(view), *faults]
    whole = [needed[0], _middle(view, results), *needed[1:], below[0]]
    return _Fitting([whole, *([*needed, words] for words in below)])


class _Fitting:
    """The first of several screens that the terminal has room for; the last one, if none. So what
    a person has to do, lamps and faults are never cut off."""

    def __init__(self, screens: Sequence[Sequence[RenderableType]]) -> None:
        """`screens`: the fullest first."""
        self._screens = [Group(*(part for part in parts if part)) for parts in screens]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for screen in self._screens:
            if not console.is_terminal or (
                len(console.render_lines(screen, options, pad=False)) <= console.height
            ):
                break
        yield screen


def layout(view: Mapping[str, Any]) -> RenderableType:
    """The betting areas as on a Sic Bo table; lit ones shine, as measured at the bulbs."""
    measured = view["lamps"]["measured"]
    lit = frozenset(measured or ())
    even_odd = "even" in view["areas"]
    top = _row(
        lit,
        [("small", "SMALL\n4–10")]
        + [(f"double-{n}", f"{n} {n}\n") for n in range(1, 4)]
        + [(f"triple-{n}", f"{n}{n}{n}\n") for n in range(1, 7)]
        + [("any-triple", "ANY\ntriple")]
        + [(f"double-{n}", f"{n} {n}\n") for n in range(4, 7)]
        + [("big", "BIG\n11–17")],
    )
    totals = _row(lit, [(f"total-{n}", str(n)) for n in range(4, 18)])
    pairs = _row(lit, [(a, f"{a[5]}·{a[7]}") for a in AREAS if a.startswith("pair-")])
    ones = _row(
        lit,
        ([("even", "EVEN")] if even_odd else [])
        + [(f"one-{n}", f"{'⚀⚁⚂⚃⚄⚅'[n - 1]}  {n}") for n in range(1, 7)]
        + ([("odd", "ODD")] if even_odd else []),
    )
    own = _row(lit, [(a, f"{a}\n{view['odds'][a]}") for a in view["areas"] if a not in AREAS])
    title = "lamps" if measured is not None else "lamps: no answer"
    return Panel(Group(top, totals, pairs, ones, own), title=title, box=box.ROUNDED, padding=0)


def _row(lit: frozenset[str], cells: Iterable[tuple[str, str]]) -> Table:
    """Lit areas stand in brackets, so that a screen without colour tells them from dark ones."""
    row = Table.grid(expand=True)
    texts = []
    for area, label in cells:
        head, *below = label.split("\n")
        lines = [f"[{head}]" if area in lit else head, *below]
        widest = max(len(head) + 2, *map(len, lines))
        # Beside a ratio, Rich takes the width for the least: no label is cut in 80 columns.
        row.add_column(justify="center", ratio=widest, width=widest)
        texts.append(Text("\n".join(lines), style=LIT if area in lit else DARK, justify="center"))
    row.add_row(*[Align.center(text, style=text.style) for text in texts])
    return row


def _head(view: Mapping[str, Any]) -> RenderableType:
    line = Table.grid(expand=True)
    line.add_column()
    line.add_column(justify="right")
    state = Text(view["life"].upper(), style=TONE_STYLE.get(view["room"]["shape"], "bold cyan"))
    if view["phase"]:
        state.append(f"  {view['phase']}", style="white")
    if view["round_id"]:
        state.append(f"   round {view['round_id']}", style="grey70")
    rules = f"{view['profile']['key']}, paytable {view['profile'].get('paytable', '?')}"
    line.add_row(state, Text(f"{view['table']} · {rules}", style="grey70"))
    body: list[RenderableType] = [line, Text(view["says"], style="italic")]
    if waits := _waits_for(view):
        body.append(Text(waits, style="bold"))
    if view["marks"]:
        body.append(Text(" · ".join(view["marks"]), style="bold white on dark_red"))
    if view.get("seal") == UNSEALED:
        body.append(Text("unsealed: program and settings are not signed", style="dim"))
    return Panel(Group(*body), title="Sic Bo shaker", box=box.ROUNDED, padding=(0, 1))


def _waits_for(view: Mapping[str, Any]) -> str:
    """Whom the table waits for, and what they type; empty where nobody is to act."""
    if pending := view.get("pending"):
        roles = " or ".join(pending["roles"])
        return f"waits for {roles}: {pending['text']}" if roles else str(pending["text"])
    step = view.get("next_step")
    return f"next: {step}" if step else ""


def _middle(view: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> RenderableType:
    grid = Table.grid(expand=True)
    grid.add_column(ratio=4)
    grid.add_column(ratio=4)
    grid.add_column(ratio=5)  # "settled by hand" beside its round, in 80 columns
    grid.add_row(_motor(view["motor"]), _reading(view), _results(results))
    return grid


def _motor(motor: Mapping[str, Any]) -> RenderableType:
    rpm = motor["rpm"] or 0.0
    duty = motor["duty"] or 0.0
    body = Group(
        Text(f"{rpm:5.0f} rpm  duty {duty:4.0%}", style="bold green" if rpm > 30 else "white"),
        _Curve(motor["last_toss_rpm"]),
        Text(f"0 – {FULL_SCALE_RPM:.0f} rpm", style="grey50"),
    )
    return Panel(body, title="shaker", box=box.ROUNDED, height=8, padding=(0, 1))


class _Curve:
    """The last toss, as wide as the room that there is for it."""

    def __init__(self, speeds_rpm: Sequence[float]) -> None:
        self._speeds_rpm = speeds_rpm

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        rows = curve(self._speeds_rpm, min(options.max_width, MAX_CURVE), 4)
        yield Text("\n".join(rows), style="green")


def curve(values: Sequence[float], width: int, height: int) -> list[str]:
    """A curve of `values` in `height` rows of block characters, `width` columns."""
    if not values:
        return [" " * width] * height
    columns = [values[int(i * len(values) / width)] for i in range(width)]
    levels = [min(max(v / FULL_SCALE_RPM, 0.0), 1.0) * height * 8 for v in columns]
    rows = []
    for row in range(height - 1, -1, -1):
        rows.append("".join(BLOCKS[int(min(max(level - row * 8, 0), 8))] for level in levels))
    return rows


def _reading(view: Mapping[str, Any]) -> RenderableType:
    values = view["last_result"]
    body: list[RenderableType] = [_dice(values) if values else Text("\n\n\n")]
    body.append(Text(view["camera"]["last_reading"] or "no reading yet", style="grey70"))
    return Panel(Group(*body), title="last reading", box=box.ROUNDED, height=8, padding=(0, 1))


def _dice(values: Sequence[int]) -> Table:
    dice = Table.grid(padding=(0, 1, 0, 0))
    for _ in values:
        dice.add_column()
    dice.add_row(*[Text("\n".join(PIPS[v]), style="bold black on white") for v in values])
    dice.add_row(*[Text(str(v), justify="center") for v in values])
    return dice


def _results(results: Sequence[Mapping[str, Any]]) -> RenderableType:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", style="grey70")
    table.add_column()
    table.add_column()
    for result in results[-6:]:
        read = result.get("values")
        style = "green" if result["ending"] == "settled" else "yellow"
        words = " ".join(map(str, read)) if read else "– – –"
        table.add_row(
            str(result["round"]), words, Text(result["ending"].replace("_", " "), style=style)
        )
    return Panel(table, title="last rounds", box=box.ROUNDED, height=8, padding=(0, 1))


def _faults(faults: Sequence[Mapping[str, Any]]) -> RenderableType:
    lines = [
        Text.assemble((f["code"], "bold red"), "  ", f["cause"], " – ", (f["remedy"], "italic"))
        for f in faults
    ]
    return Panel(Group(*lines), title="faults", border_style="red", box=box.ROUNDED)
