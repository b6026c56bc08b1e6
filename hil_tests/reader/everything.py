"""`python -m hil_tests.reader everything`: the model card's figures, told on one page.

Owns: the size of the run, and the page. A stopped run goes on where it was, and what was said of
another reader does not pass for this one's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from hil_tests.reader.count import KINDS, Wanted, every_row, report
from hil_tests.reader.kept import digest_of
from hil_tests.reader.options import Model, Seed, Shots
from vision.networks.classifier import DieFinder
from vision.networks.model_card import ModelCard

TABLES, COUNT = 24, 125


def page(reader: str, card: ModelCard, command: str, told: Sequence[str]) -> str:
    """What was counted, as Markdown. `reader`: the digest of networks and sources."""
    near = "none" if card.near is None else card.near.sha256[:12]
    lines = [
        "# What the reader accepts and refuses",
        "",
        f"Reader {reader}, with the networks {card.finder.sha256[:12]} and {near}: `{command}`.",
        "",
        "```",
        *told,
        "```",
    ]
    return "\n".join(lines) + "\n"


def main(
    seed: Seed = 31,
    tables: Annotated[int, typer.Option(min=1, help="Tables of the rig.")] = TABLES,
    count: Annotated[int, typer.Option(min=1, help="Flat tosses of a table.")] = COUNT,
    shots: Shots = None,
    out: Annotated[Path, typer.Option(help="Folder of the page and of all results.")] = Path(
        "var/reader"
    ),
    model: Model = None,
) -> None:
    """Count every kind at tables of the rig, and at those of sets of shots; write README.md. Status
    1 if more is false than the goals allow."""
    finder, told, is_missed = DieFinder(model), list[str](), False
    for folder in (None, *(shots or ())):
        wanted = Wanted(list(KINDS), tables, count, seed, folder)
        missed, lines = report(every_row(finder, wanted, out))
        told += ["", str(folder or "rig"), "", *lines]
        is_missed |= missed
    command = f"python -m hil_tests.reader everything --seed {seed}"
    out.mkdir(parents=True, exist_ok=True)
    written = out / "README.md"
    written.write_text(page(digest_of(finder), finder.card, command, told), encoding="utf-8")
    sys.stdout.write(f"{written}\n")
    raise typer.Exit(1 if is_missed else 0)
