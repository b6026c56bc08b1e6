"""The figures of `shaker-ctl journal statistics` as tables and bars on a screen.

Owns how they look. What is counted and tested, and how, is `journal.statistics`'s.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import AsJson, Config, Journal, opened, screen
from shaker_ctl.quoting import visible

BAR = 40
"""Width of the longest bar, in characters."""


def statistics(
    config: Config = DEFAULT_CONFIG, journal: Journal = None, as_json: AsJson = False
) -> None:
    """Count faces and pairs, and test them at 99 %, with the power that the sample reaches."""
    from shaker_ctl.journal.statistics import figures

    with opened(config, journal) as book:
        shown = figures(book.kept())
        if as_json:
            typer.echo(json.dumps(shown, indent=2))
        else:
            _draw(shown)


def _draw(shown: dict[str, Any]) -> None:
    for mark in shown["marks"]:
        screen.print(visible(f"** {mark} **"), soft_wrap=True)
    screen.print(
        f"{shown['rounds']} rounds, {shown['tosses']} with values ({shown['dice']} dice); "
        + ", ".join(f"{visible(name)} {count}" for name, count in shown["endings"].items())
    )
    if shown["tosses"]:
        for bar in _bars("face", shown["faces"], shown["dice"] / 6):
            screen.print(bar, highlight=False)
        screen.print(_rate_table(shown))
        screen.print(_pair_table(shown["pairs"]))
    if shown["tests"]:
        screen.print(_test_table(shown["tests"]))
    screen.print(shown["note"])
    for sequence in shown["left_out"]:
        screen.print(f"record {sequence} is left out: it says what this version does not know")


def _rate_table(shown: dict[str, Any]) -> Table:
    """How often rounds with each face were unreadable, settled by hand's word, or void."""
    table = Table(title="rounds in which a die showed the face")
    for name in ("face", "N", "unreadable", "entered by a person", "void"):
        table.add_column(name, justify="right")
    for face, of in shown["by_face"].items():
        rates = (of["unreadable_rate"], of["by_hand_rate"], of["void_rate"])
        table.add_row(str(face), str(of["n"]), *map(_percent, rates))
    rates = (shown["unreadable_rate"], None, shown["void_rate"])
    table.add_row("all", str(shown["rounds"]), *map(_percent, rates))
    return table


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1%}"


def _pair_table(pairs: dict[str, int]) -> Table:
    """How often two dice of one toss showed each pair of faces."""
    table = Table(title="pairs of faces in one toss")
    for name in ("", *"123456"):
        table.add_column(name, justify="right")
    for low in range(1, 7):
        table.add_row(str(low), *(str(pairs.get(f"{low}-{high}", "")) for high in range(1, 7)))
    return table


def _test_table(tests: list[dict[str, Any]]) -> Table:
    names = ("test", "N", "statistic", "p", "", "power", "to see")
    table = Table(*names, title="tests at 99 %")
    for test in tests:
        table.add_row(
            test["name"],
            str(test["n"]),
            f"{test['statistic']:.3f}" + ("" if test["df"] is None else f" (df {test['df']})"),
            f"{test['p']:.4f}",
            Text("outside", "red") if test["outside"] else "inside",
            "-" if test["power"] is None else f"{test['power']:.0%}",
            test["against"] or "-",
        )
    return table


def _bars(name: str, counts: dict[Any, int], expected: float) -> Iterator[str]:
    """Yield one bar a face; the mark stands where each would stand in the long run."""
    longest = max([*counts.values(), expected, 1.0])
    mark = round(expected / longest * BAR)
    for key, count in counts.items():
        filled = round(count / longest * BAR)
        bar = "".join("|" if i == mark else "#" if i < filled else " " for i in range(BAR + 1))
        yield f"{name} {key} {bar} {count}"
