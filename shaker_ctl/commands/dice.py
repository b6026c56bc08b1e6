"""`shaker-ctl dice`: the ledger of the table's dice, and tosses on a bench for their test.

Owns how results look. What is tested is `journal.dice_watch`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from shaker_ctl import settings as settings_file
from shaker_ctl.adapters.pins import daemon_network
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import Config, opened
from shaker_ctl.commands.journal.day_sheet import NOT_COUNTED, ledger_until
from shaker_ctl.commands.service_user import become_the_service
from shaker_ctl.errors import RefusedError, reraise_as
from shaker_ctl.journal.dice_watch import FACES, DiceWatch
from shaker_ctl.journal.distributions import share_interval
from shaker_ctl.quoting import visible
from vision.reading import NoRoll, Verified

if TYPE_CHECKING:  # with these comes all that reads pictures
    from vision.findings import Findings
    from vision.frame import Frame

app = typer.Typer(
    no_args_is_help=True, help="The ledger of the table's dice, and the test that watches them."
)

screen = Console(highlight=False)


@app.command("test")
def bench(
    config: Config = DEFAULT_CONFIG,
    tosses: Annotated[int, typer.Option(min=1, help="How many.")] = 300,
    out: Annotated[
        Path | None, typer.Option(help="Folder for a page with the picture of each toss.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before it turns.")] = False,
) -> None:
    """Toss the dice in the shaker many times; print shares with intervals and what is outside.

    For makers and laboratories, on a table whose service is stopped. Nothing is recorded and no
    lamp is lit. Ctrl-C stops the shaker and prints what was counted. Status 1: outside.
    """
    from shaker_ctl.commands.bench import opened as bench_opened  # and every device's library

    daemon_network.enter()
    become_the_service()
    settings = settings_file.load(config)
    if not yes and not typer.confirm(f"The shaker tosses {tosses} times. Is it closed?"):
        raise RefusedError("nothing was tossed", remedy="Close it, and give --yes")
    counted = Counted(out)
    try:
        with bench_opened(settings) as opened_bench:
            for number in range(1, tosses + 1):
                screen.print(counted.line(number, *opened_bench.toss()))
    except KeyboardInterrupt:
        screen.print("stopped")
    finally:
        for line in counted.summary():
            screen.print(line)
    if counted.watch.found:
        raise typer.Exit(1)


class Counted:
    """The tosses of one bench so far, and their page of pictures."""

    def __init__(self, out: Path | None) -> None:
        self.watch = DiceWatch()
        self._faces: Counter[int] = Counter()
        self._unread = 0
        self._out = out
        self._rows: list[str] = []
        if out is not None:
            with reraise_as(RefusedError, f"cannot write in {out}", remedy="Give another --out"):
                out.mkdir(parents=True, exist_ok=True)

    def line(self, number: int, frame: Frame, found: Findings) -> str:
        """Count a toss; return it in words."""
        verdict = found.observation.opinion
        if isinstance(verdict, Verified):
            self.watch.add(verdict.three, is_placed=True)
            self._faces.update(verdict.three)
            words = " ".join(map(str, verdict.three))
        else:
            self._unread += 1
            words = "no roll" if isinstance(verdict, NoRoll) else f"not read: {verdict.text}"
        if self._out is not None:
            self._keep(self._out / f"{number:05}.jpg", f"{number}: {words}", frame, found)
        return f"{number:5}  {words}"

    def _keep(self, file: Path, words: str, frame: Frame, found: Findings) -> None:
        from vision.overlay import draw_reading
        from vision.pictures import save

        seen = found.observation
        save(file, draw_reading(frame.image, seen, seen.opinion))
        shown = f'<img loading="lazy" width="320" src="{file.name}">'
        self._rows.append(f"<figure>{shown}<figcaption>{escape(words)}</figcaption>")

    def summary(self) -> Iterator[str | Table]:
        """Yield what was counted, and write the page."""
        if dice := self._faces.total():
            table = Table("face", "dice", "share", "95 % interval", "1/6 inside")
            for face in FACES:
                count = self._faces[face]
                low, high = share_interval(count, dice)
                inside = "yes" if low <= 1 / 6 <= high else "no"
                shares = (f"{count / dice:.2%}", f"{low:.2%} to {high:.2%}")
                table.add_row(str(face), str(count), *shares, inside)
            yield table
            yield "of six intervals one leaves 1/6 out in a quarter of all sets that behave"
        yield f"{dice // 3} tosses read, {self._unread} not"
        yield self.watch.line()
        if self._out is not None:
            page = f"<!doctype html><title>Dice</title><p>{escape(self.watch.line())}</p>"
            (self._out / "index.html").write_text(page + "\n".join(self._rows), "utf-8")
            yield f"pictures: {self._out / 'index.html'}"


@app.command("ledger")
def the_ledger(config: Config = DEFAULT_CONFIG) -> None:
    """Print the ledger of the table's dice, from box to destroyed, and what does not add up.

    It follows from the journal: `dice log` and `dice changed` at a console write it.
    """
    with opened(config, None) as book:
        told = ledger_until(book, book.store.head().sequence)
    if told is None:
        raise RefusedError(NOT_COUNTED, remedy="Start the service, and ask again")
    for line in told.reconciled(1, datetime.now().astimezone().isoformat()):
        screen.print(visible(line), soft_wrap=True, markup=False)
    if not told.lines:
        screen.print("no dice are on record")
