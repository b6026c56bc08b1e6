"""The demonstration itself: start, show, count rounds, stop, report."""

from __future__ import annotations

import shlex
import shutil
import signal
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from hil_tests.demo import page
from hil_tests.processes import BenchError
from hil_tests.report.evidence import lines_of
from hil_tests.rig.plant.looks import STYLES
from hil_tests.table_under_test.people import People, watched
from hil_tests.table_under_test.rounds import RoundsTally, check, rounds_of, write
from hil_tests.table_under_test.session import EASY_WORD, Plan, Session
from shaker_ctl.commands.screen import draw

TRY_NEXT = (
    "try next: shaker-ctl demo --by-hand (you are the dealer),",
    "  shaker-ctl demo --compartment rough --report DIR (dice land on edges),",
    "  shaker-ctl read PHOTO (dice in a photograph of yours)",
)

LOOK_S = 0.15


def _pins(rig: dict[str, Any]) -> str:
    if "gpiochip" in rig:
        return f"pins {rig['gpiochip']['chip']}"
    return f"daemon {rig['pigpiod']['host']}:{rig['pigpiod']['port']}"


def play(plan: Plan, *, rounds: int | None, report: Path | None, plain: bool) -> int:
    """Play, report, and return the exit status: 0, or 1 where a lamp or a reading was wrong."""
    console = Console(markup=False, emoji=False)
    _require_possible(plan, rounds)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    with _Folder(report) as folder:
        is_whole = rounds is None
        with closing(_started(plan, folder.path, console)) as session:
            console.print(
                f"rig: {_pins(session.rig)}, "
                f"camera {session.rig['camera']['url']}, lamp box {session.rig['lamp']['device']}\n"
                f"service ready after {session.ready_after_s:.1f} s; log and settings in "
                f"{folder.path}",
                soft_wrap=True,
            )
            if (taught := session.teaching()) is not None:
                console.print(taught.words(), highlight=False, soft_wrap=True)
            if plan.page:
                console.print(f"page: {session.page_address}", soft_wrap=True)
            if plan.by_hand:
                for line in invitation(session):
                    console.print(line, highlight=False, soft_wrap=True)  # it is to be copied
            try:
                _watch(session, rounds, console, plain or not console.is_terminal)
                is_whole = True
            except (KeyboardInterrupt, SystemExit):
                # SystemExit is how Rich says that nobody reads any more (`| head`).
                console.print("stopping …")
            except BenchError as error:
                folder.is_evidence = True
                line = f"{error.code}: {error.line()}"
                console.print(line, style="bold red", soft_wrap=True)
            session.stop_service()
        tally = _finish(session, folder.path, console)
        folder.is_evidence = folder.is_evidence or bool(tally.differences)
        if not is_whole:
            console.print("not all rounds were played", style="bold red")
        if report is not None:
            console.print(f"see {folder.path / page.NAME}", soft_wrap=True)
        for line in TRY_NEXT:
            console.print(line)
        if folder.is_evidence:
            console.print(f"logs, journal and pictures stay in {folder.path}", soft_wrap=True)
        return 1 if tally.differences or not is_whole else 0


def _started(plan: Plan, folder: Path, console: Console) -> Session:
    """Rig and service, which run. Meanwhile the terminal shows what their people do."""
    with console.status("the rig starts") as shown:
        return Session(plan, folder, tell=shown.update).__enter__()


def _require_possible(plan: Plan, rounds: int | None) -> None:
    """Raise `BenchError` for what the rig would refuse, before anything is made or started."""
    if plan.dice not in STYLES:
        raise BenchError(
            f"--dice {plan.dice}: the rig has no such dice",
            remedy=f"There are: {', '.join(STYLES)}",
        )
    if plan.by_hand and rounds is not None:
        raise BenchError(
            "--by-hand plays as many rounds as you play",
            remedy="Leave --rounds out; Ctrl-C ends the demonstration",
        )


class _Folder:
    """The folder of one demonstration: the person's, who keeps it, or one that goes at the end.

    It stays where something went wrong: the message names a log in it. That a person has ended it,
    or reads no further, is nothing wrong.
    """

    def __init__(self, report: Path | None) -> None:
        """`report`: the person's folder; None for a passing one. Raises `BenchError`."""
        self._is_passing = report is None
        self.path = (
            Path(tempfile.mkdtemp(prefix="shaker-demo-")) if report is None else _made(report)
        )
        self.is_evidence = False
        """Whether a person has something to look for in it."""

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        has_failed = kind is not None and kind not in (KeyboardInterrupt, SystemExit)
        if self._is_passing and not (has_failed or self.is_evidence):
            shutil.rmtree(self.path, ignore_errors=True)


def _made(report: Path) -> Path:
    """Return the person's folder, made where it was not there, as an absolute path.

    Raises `BenchError` where it cannot be made or written, or holds an earlier report.
    """
    try:
        str(report).encode()  # the settings file names it, and a settings file is UTF-8
        report = report.resolve()
        report.mkdir(parents=True, exist_ok=True)
        has_report = (report / "journal.jsonl").exists()
        tempfile.TemporaryFile(dir=report).close()
    except (OSError, RuntimeError, UnicodeEncodeError) as error:  # RuntimeError: links in a circle
        raise BenchError(
            f"nothing can be written in the report folder {str(report)!a}: {error}",
            remedy="Give another folder with --report",
        ) from error
    if has_report:
        raise BenchError(
            f"{report} holds an earlier report", remedy="Give a new folder, or remove it"
        )
    return report


def _watch(session: Session, rounds: int | None, console: Console, plain: bool) -> None:
    """Show the table until enough rounds are recorded. Raises BenchError where it cannot go on."""
    said: list[str] = []  # by the people's threads; only this one prints
    people = None if session.plan.by_hand else People(session, said.append)
    if people is not None:
        people.start()
    news = _News(console, said) if plain else None
    live = None if plain else Live(console=console, refresh_per_second=8, transient=False)
    if live is not None:
        live.start()
    try:
        for view in watched(session, people, rounds, every_s=LOOK_S):
            if live is not None:
                below = [_below(session, said, is_long=is_long) for is_long in (True, False)]
                live.update(draw(view, view["rounds"], below))
            if news is not None:
                news.tell(view)
    finally:
        if live is not None:
            live.stop()
        if people is not None:
            people.stop()
        if news is not None:
            news.pass_on()


def _below(session: Session, said: Sequence[str], *, is_long: bool) -> Text:
    """What stands under the screen: what people said last, or how to be one of them."""
    if session.plan.by_hand:
        lines = invitation(session) if is_long else [f"{LINES_ABOVE}; passphrase: {EASY_WORD}"]
    else:
        lines = list(said[-3:] if is_long else said[-1:])
    if session.plan.page:
        lines.insert(0, f"page: {session.page_address}")
    return Text("\n".join(lines), style="grey58", overflow="fold" if is_long else "ellipsis")


LINES_ABOVE = "scroll up for the lines to paste"


def invitation(session: Session) -> list[str]:
    """What somebody who plays the table by hand pastes into other terminals, and may say there."""
    program = f"{shlex.quote(sys.argv[0])} console --port"
    ports = session.rig["console"]
    inject = f"{Path(sys.argv[0]).with_name('shaker-rig')} inject --dir {session.folder / 'rig'}"
    return [
        f"dealer's console:       {program} {ports['dealer']['person']}",
        f"technician's console:   {program} {ports['technician']['person']}",
        "log in there:           login floorperson fay · login dealer dan · login technician tom",
        f"passphrase of each:     {EASY_WORD}",
        "what to do next:        type `next`; `help` lists what you may do now",
        f"break something:        {inject} bulb_burnt area=small",
    ]


class _News:
    """Lines for a screen that is no terminal: what people said, and what changed, once."""

    def __init__(self, console: Console, said: Sequence[str]) -> None:
        """`said`: what people say, which grows as they do."""
        self._console = console
        self._said = said
        self._passed_on = 0
        self._life = ""
        self._inspection: tuple[Any, ...] = ()
        self._round = 0
        self._lit = ""

    def pass_on(self) -> None:
        """Print what people have said since."""
        while self._passed_on < len(self._said):
            self._print(self._said[self._passed_on])
            self._passed_on += 1

    def tell(self, view: dict[str, Any]) -> None:
        """Print what people have said, and what has changed at the table."""
        self.pass_on()
        if view["life"] != self._life:
            self._life = view["life"]
            marks = " · ".join(view["marks"])
            self._print(f"table {self._life}  [{marks}]")
        seen = view["inspection"]
        now = (seen["stage"], seen["cycles_good"])
        if self._life == "opening inspection" and now != self._inspection:
            self._inspection = now
            self._print(
                f"  inspection: {seen['stage']}, good cycles {seen['cycles_good']}"
                f" of {seen['cycles_of']}"
            )
        if view["phase"] in ("collecting", "paying"):
            self._lit = ", ".join(view["lamps"]["measured"] or ()) or self._lit
        for ended in view["rounds"]:
            if ended["round"] > self._round:
                self._round = ended["round"]
                values = " ".join(map(str, ended["values"])) if ended["values"] else "–"
                lit, self._lit = self._lit or "none", ""
                ending = ended["ending"].replace("_", " ")
                self._print(
                    f"  round {ended['round']:4d}  {values:7s} {ending:16s}"
                    f" {ended['cause'] or '':10s} lit: {lit}"
                )

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, soft_wrap=True)


def _finish(session: Session, folder: Path, console: Console) -> RoundsTally:
    """Write the report, show its sum, and return it."""
    found = rounds_of(folder / "journal.jsonl", session.rig, folder, session.plan.profile)
    write(found, folder / "rounds.jsonl")
    plan = session.plan
    tally = check(found)
    events = lines_of(session.rig["events"])
    words = f"{plan.profile} · {plan.compartment} compartment · {plan.dice} dice · seed {plan.seed}"
    page.write(folder, words, found, tally, events)
    console.print(_summary(tally))
    for difference in tally.differences:
        console.print(f"DIFFERENCE {difference}", style="bold red", soft_wrap=True)
    return tally


def _summary(tally: RoundsTally) -> Table:
    table = Table(title="Report", show_header=False)
    table.add_row("rounds", str(tally.rounds))
    table.add_row("flat tosses read without help", f"{tally.read_without_help} of {tally.flat}")
    table.add_row(
        "not-flat tosses ended as no roll", f"{tally.not_flat_no_roll} of {tally.not_flat}"
    )
    table.add_row("entered by the dealer, void", f"{tally.entered}, {tally.void}")
    table.add_row("lamps or values that differ from the truth", str(len(tally.differences)))
    if tally.rest_to_lit_ms:
        ordered = sorted(tally.rest_to_lit_ms)
        p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
        table.add_row(
            "true rest to lamps read back lit",
            f"median {statistics.median(ordered):.0f} ms, p99 {p99:.0f} ms",
        )
    return table
