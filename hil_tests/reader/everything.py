"""`python -m hil_tests.reader everything`: every bench of the reader in turn, told on one page.

Owns: the list of the benches with their sizes, and the page. Each bench is a process of its own.
What it says is kept under a name that has all that decides it. So a stopped run goes on
where it was, and what was said of another reader does not pass for this one's.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import track

from hil_tests.campaign import Campaign
from hil_tests.reader.kept import digest_of
from hil_tests.reader.options import Model, Seed
from vision.networks.classifier import DieFinder
from vision.networks.model_card import ModelCard

BENCHES: dict[str, tuple[str, ...]] = {
    "verification": ("--rig", "800", "--frames", "3"),
    "leaning": ("--count", "225"),
    "specks": ("--count", "325"),
    "lost-pips": ("--count", "300"),
    "refusals": ("--count", "40"),
    "replay": ("--count", "40"),
    "confirming": (),
    "wrong-model": (),
    "robustness": (),
}
"""Each command of `hil_tests.reader` with the size of its run, beside the seed."""
_RESULTS = ("verification", "leaning", "specks", "confirming", "refusals")
"""Benches that keep the result of each case in a folder."""
_ENDED = (0, 1)
"""Statuses of a bench that reached its goal or missed it: another one, or no word, is of one that
was stopped, or went wrong."""


def _run(name: str, options: tuple[str, ...], out: Path) -> dict[str, Any] | None:
    """Run one bench; return its words, status and seconds, or None if it came to no end."""
    own = out / name
    arguments = [name, *options]
    if name in _RESULTS:
        arguments += ["--out", str(own)]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "hil_tests.reader", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode not in _ENDED or not done.stdout:
        return None
    return {
        "command": " ".join(["python -m hil_tests.reader", *arguments]),
        "status": done.returncode,
        "seconds": round(time.monotonic() - began),
        "words": done.stdout,
    }


def page(reader: str, card: ModelCard, told: Mapping[str, dict[str, Any] | None]) -> str:
    """What all benches said, as Markdown. `reader`: the digest of networks and sources."""
    near = "none" if card.near is None else card.near.sha256[:12]
    lines = [
        "# What the reader accepts, refuses and costs",
        "",
        f"Reader {reader}, with the networks {card.finder.sha256[:12]} and {near}. Status 1 says "
        "that the bench missed its goal.",
        "",
        "| bench | status | seconds |",
        "|---|--:|--:|",
    ]
    for name, said in told.items():
        row = said or {"status": "came to no end", "seconds": "–"}
        lines.append(f"| {name} | {row['status']} | {row['seconds']} |")
    for name, row in ((name, said) for name, said in told.items() if said):
        lines += ["", f"## {name}", "", f"`{row['command']}`", "", "```"]
        lines += [row["words"].rstrip(), "```"]
    return "\n".join(lines) + "\n"


def main(
    seed: Seed = 31,
    out: Annotated[Path, typer.Option(help="Folder of the page and of all results.")] = Path(
        "var/reader"
    ),
    only: Annotated[list[str] | None, typer.Option(help="Only these benches.")] = None,
    model: Model = None,
) -> None:
    """Run every bench of the reader, and write README.md; status 1 if one missed its goal, or came
    to no end. The next run goes on with what is missing."""
    for name in only or ():
        if name not in BENCHES:
            raise typer.BadParameter(f"no bench {name!r}; there are: {', '.join(BENCHES)}")
    out.mkdir(parents=True, exist_ok=True)
    finder, told = DieFinder(model), {}
    kept = Campaign(out / "benches.jsonl", dict[str, Any])
    for name in track(only or BENCHES, description="benches"):
        options = (*BENCHES[name], "--seed", str(seed))
        if model is not None:
            options += ("--model", str(model))
        case = f"{name}-{digest_of(finder, options)}"
        told[name] = kept.find(case)
        if told[name] is None and (ended := _run(name, options, out)) is not None:
            kept.keep(case, ended)
            told[name] = ended
    written = out / "README.md"
    written.write_text(page(digest_of(finder), finder.card, told), encoding="utf-8")
    sys.stdout.write(f"{written}\n")
    is_good = all(said is not None and said["status"] == 0 for said in told.values())
    raise typer.Exit(0 if is_good else 1)
