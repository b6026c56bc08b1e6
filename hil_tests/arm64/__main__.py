"""`make bench-arm64`: arm64 instructions of a reading, of the commands and of the start.

No Raspberry Pi is needed, and no busy machine disturbs it: qemu-user runs the project's own code
with arm64 libraries, and a plugin counts what is executed, on a Cortex-A72 (Raspberry Pi 4) and a
Cortex-A76 (Raspberry Pi 5). Status 1 where a figure is above its budget (`budgets.toml`).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from hil_tests.arm64 import budgets, estimates, programs, reading
from hil_tests.arm64.emulator import EmulationError, Emulator
from hil_tests.arm64.frames import write_frames
from hil_tests.arm64.processors import BOARDS, CORES, Core

Counts = dict[str, float]
"""Millions of instructions by what was counted; a step's name is case/step."""

READY = "service to READY"
FIRST_FRAME = "camera process to first frame"


START = "start, both processes"


def count_reading(emulator: Emulator, core: Core, folder: Path) -> Counts:
    """Every case of `reading`, with its steps. `folder` holds the frames."""
    marks = emulator.run(core, folder, ["-m", reading.__name__, str(folder)])
    names = json.loads((folder / "names.json").read_text("utf-8"))
    counts: Counts = defaultdict(float)
    for mark in marks:
        case, _, step = names[mark.number].partition("/") if mark.number >= 0 else ("", "", "")
        if case:
            counts[case] += mark.instructions / 1e6
            counts[f"{case}/{step or 'the rest'}"] += mark.instructions / 1e6
    return dict(counts)


def count_programs(
    emulator: Emulator, core: Core, folder: Path, *, is_first: bool = True
) -> Counts:
    """Commands and the start, each from the first instruction of its process. `is_first`: nothing
    was compiled to bytecode yet."""
    journal = folder / "journal.jsonl"
    if not journal.exists():
        programs.write_journal(journal)
    last = ("journal", "last", "--journal", str(journal))
    works: dict[str, Callable[[], int]] = {
        "--help": lambda: programs.command(emulator, core, folder, "--help"),
        "journal last": lambda: programs.command(emulator, core, folder, *last),
        FIRST_FRAME: lambda: programs.camera_process(emulator, core, folder),
        estimates.SETTLING: lambda: programs.settling_of_a_round(emulator, core, folder),
        READY: lambda: programs.service_to_ready(emulator, core, folder / core.qemu),
    }
    counts: Counts = {}
    for name, work in works.items():
        if is_first:
            work()  # compiles what it imports, as an installation does once
        counts[name] = work() / 1e6
    counts[START] = counts[FIRST_FRAME] + counts[READY]
    return counts


def table_of(
    measured: Mapping[tuple[str, str], float], limits: budgets.Budgets, cores: Sequence[str]
) -> tuple[Table, list[str]]:
    """Figures beside their budgets, and what is over."""
    table = Table(title="Millions of arm64 instructions")
    table.add_column("what")
    for core in cores:
        for name in (CORES[core].name, "most", "goal", ""):
            table.add_column(name, justify="right")
    over = []
    for what in dict.fromkeys(what for what, _ in measured):
        cells = []
        for core in cores:
            millions = measured[what, core]
            limit = limits.get((what, core))
            if limit is None:
                cells += [f"{millions:.1f}", "", "", ""]
                continue
            verdict = limit.verdict(millions)
            if verdict == "OVER":
                over.append(f"{what} on {CORES[core].name}: {millions:.1f} of {limit.most:.0f}")
            goal = "" if limit.goal is None else f"{limit.goal:.0f}"
            cells += [f"{millions:.0f}", f"{limit.most:.0f}", goal, verdict]
        table.add_row(what, *cells)
    return table, over


def main(
    only: Annotated[
        Literal["reading", "programs"] | None, typer.Option(help="Only one half.")
    ] = None,
) -> None:
    """Count arm64 instructions; status 1 where a figure is above its budget."""
    console = Console(width=None if sys.stdout.isatty() else 120)
    cores = list(CORES)
    measured: dict[tuple[str, str], float] = {}
    steps: dict[tuple[str, str], float] = {}
    try:
        emulator = Emulator()
        with tempfile.TemporaryDirectory(prefix="shaker-arm64-") as made:
            folder = Path(made)
            write_frames(folder)
            for name in cores:
                counts: Counts = {}
                if only != "programs":
                    counts |= count_reading(emulator, CORES[name], folder)
                if only != "reading":
                    counts |= count_programs(
                        emulator, CORES[name], folder, is_first=name == cores[0]
                    )
                for what, millions in counts.items():
                    (steps if "/" in what else measured)[what, name] = millions
    except EmulationError as error:
        console.print(f"bench-arm64: {error}", markup=False, style="red")
        raise typer.Exit(2) from None
    limits = budgets.read()
    if steps:
        console.print(table_of(steps, {}, cores)[0])
    table, over = table_of(measured, limits, cores)
    console.print(table)
    if only is None:
        console.print(estimates.table_of({**measured, **steps}, BOARDS))
    for line in over:
        console.print(f"over its budget: {line}", markup=False, style="red")
    if over:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
