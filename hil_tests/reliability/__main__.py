"""`python -m hil_tests.reliability`: faults, crashes, and a long run, on the virtual rig.

Owns the command line, progress, and the rule for replacing a session. Exit status 0: every result
is as required; 1: a difference, or not everything was run, or there is no place for the results.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from hil_tests.campaign import Campaign, chosen, shard
from hil_tests.processes import TrialError
from hil_tests.reliability import catalogue, mutations, results
from hil_tests.reliability.bench import Bench, trial_session
from hil_tests.reliability.crash import (
    APPENDS,
    CHANGE_RECORDS,
    Crash,
    Crashes,
    Point,
    appends,
    is_well,
    missed,
    random_points,
    randoms,
)
from hil_tests.reliability.crash import points as crash_points
from hil_tests.reliability.required import Observation
from hil_tests.reliability.results import Row
from hil_tests.reliability.soak import ALLOWED, SAMPLES, ResourceUse, Soak, growth
from hil_tests.reliability.trial import Result, Trials
from hil_tests.reliability.witness import Witness
from hil_tests.table_under_test.session import Plan
from shaker_ctl.errors import ShakerError

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)
DEFAULT = Path("var/reliability")
SEED = 3
MAX_FAILURES = 3
"""Tables that may break down before a run is given up."""

ResultsOption = Annotated[Path, typer.Option("--results", help="Folder of the results.")]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume/--anew", help="Leave out what has a result that is as required, or begin anew."
    ),
]
OnlyOption = Annotated[
    list[str] | None, typer.Option("--only", help="Names, or beginnings of names.")
]
MinutesOption = Annotated[
    float, typer.Option("--minutes", help="Begin no row after so long; what is left, is named.")
]


@app.command()
def faults(
    folder: ResultsOption = DEFAULT / "faults",
    part: Annotated[
        str, typer.Option("--shard", help="At every moment, or such a part of it: i/n.")
    ] = "",
    resume: ResumeOption = False,
    minutes: MinutesOption = 30.0,
    only: OnlyOption = None,
) -> None:
    """Every fault at its worst moment; or the matrix of faults and moments."""
    whole = catalogue.rows(every_moment=bool(part))
    with _typed():
        rows = chosen(shard(whole, part or "1/1"), only, lambda row: row[0].name)
    console = Console(soft_wrap=True, highlight=False)
    with _place_for(folder):
        kept = results.kept_in(folder)
        if not resume:
            kept.forget(map(results.case, rows))
    _say(kept, console)
    wanted = results.open_rows(kept, rows)
    console.print(f"{len(wanted)} of {len(rows)} rows are to be played, of {len(whole)} in all")
    until_s = time.monotonic() + 60.0 * minutes
    for number, (row, result) in enumerate(_results(wanted, until_s, folder, console), 1):
        kept.keep(results.case(row), result)
        verdict = "[green]as required[/]"
        if not result.is_as_required:
            verdict = f"[red]DIFFERS[/]  {'; '.join(result.differences)}"
        what = f"{row[0].name:34} {row[1].value:18} {result.took_s:5.1f} s"
        console.print(f"{number:3} {what}  {verdict}")
    _report(rows, whole, kept, folder, console)


@app.command("mutations")
def play_mutations(
    folder: ResultsOption = DEFAULT / "mutations",
    resume: ResumeOption = True,
    minutes: MinutesOption = 90.0,
    only: OnlyOption = None,
) -> None:
    """Protections taken away one by one: does the row that is meant for each notice it?"""
    console = Console(soft_wrap=True, highlight=False)
    with _typed():
        wanted = chosen(mutations.MUTATIONS, only, lambda one: one.name)
    rows = list({one.told: one.row for one in wanted if not one.is_test}.values())
    with _place_for(folder):
        kept = Campaign(folder / "mutations.jsonl", Result)
        sound = results.kept_in(folder / "sound")
        if not resume:
            sound.forget(map(results.case, rows))
            kept.forget(one.case for one in wanted)
    until_s = time.monotonic() + 60.0 * minutes
    for one in wanted:
        if not mutations.has_caught(kept, one) and time.monotonic() < until_s:
            result = _with(one, folder)
            kept.keep(one.case, result)
            seen = mutations.judged(one, result.differences)
            console.print(f"{one.name:42} {seen:26} {'; '.join(result.differences)}", markup=False)
    open_ = results.open_rows(sound, rows)
    for row, result in _results(open_, until_s, folder / "sound", console):
        sound.keep(results.case(row), result)
        console.print(f"without any: {row[0].name:29} {result.verdict}", markup=False)
    played = sum(kept.find(one.case) is not None for one in wanted)
    caught = sum(mutations.has_caught(kept, one) for one in wanted)
    differ, missing = results.count(sound, rows)
    console.print(
        f"{caught} of {len(wanted)} mutations caught for the right reason, "
        f"{len(wanted) - played} not run; without any, {differ} of {len(rows)} rows differ, "
        f"{missing} not run"
    )
    if caught < len(wanted) or differ or missing:
        raise typer.Exit(1)


def _with(mutation: mutations.Mutation, folder: Path) -> Result:
    """Play the mutation's row at a table of its own whose service is the broken one, or run its
    test."""
    with tempfile.TemporaryDirectory() as name:
        tree = mutations.mutated_tree(mutation, Path(name))
        if mutation.is_test:
            found = mutations.noticed_by_test(mutation, tree)
            return Result(*mutation.told, Observation(), found)
        plan = Plan(profile=mutation.row[0].profile, seed=SEED)
        try:
            with Bench(trial_session(plan, _new_in(folder), tree=tree)) as bench:
                session = bench.session
                witness = Witness(session.rig, session.journal, session.second)
                with closing(Trials(bench, witness)) as trials:
                    return trials.play(*mutation.row)
        except (TrialError, ShakerError, OSError) as error:
            return _not_played(mutation.row, error)


@app.command()
def crash(
    folder: ResultsOption = DEFAULT / "crash",
    resume: ResumeOption = False,
    random_moments: Annotated[int, typer.Option("--random", help="Kills at random moments.")] = 40,
    both_sides: Annotated[
        bool, typer.Option("--both-sides", help="Also before each append is written.")
    ] = False,
    minutes: MinutesOption = 40.0,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Points, or beginnings of points, `random` among them."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Of the random moments: another one for each --results.")
    ] = SEED,
) -> None:
    """SIGKILL at every append and output of a round and of a change of volume, then at random."""
    with _place_for(folder):
        kept = Campaign(folder / "crashes.jsonl", Crash)
        if not resume:
            kept.forget([case for case, _ in kept.all])
    console = Console()
    _say(kept, console)
    until_s = time.monotonic() + 60.0 * minutes
    beyond: set[str] = set()
    never_came: list[Point] = []
    begins = tuple(only or ("",))
    every = [*crash_points(both_sides=both_sides), *random_points(random_moments, seed)]
    left = [p for p in every if p.name.startswith(begins) and not is_well(kept, p)]
    tried = [case for case, _ in kept.all]

    def more() -> bool:
        if not left and not only:
            left.extend(missed(appends(kept), tried))
        return bool(left)

    broken = 0
    are_small = {"journal": {"volume_records": CHANGE_RECORDS}}
    changes = are_small if any(p.kind == "volume" for p in left) else {}
    tables = _tables(folder, console, until_s, more, changes=changes)
    for bench, witness in tables:
        crashes = Crashes(bench, witness)
        while more() and time.monotonic() < until_s:
            point = left.pop(0)
            if point.kind in beyond and point.what.isdigit():
                continue
            tried.append(point.name)
            is_back = True
            try:
                done = crashes.at(point)
            except (TrialError, ShakerError, OSError) as error:
                done = Crash(point.name, wrong=[f"the table did not come back: {error}"])
                is_back = False
            if done.is_beyond and point.what[0].isdigit():
                beyond.add(point.kind)  # a round has no more of them
                continue
            if done.is_beyond:
                never_came.append(point)
                continue
            bench.is_evidence |= bool(done.wrong)
            kept.keep(done.point, done)
            console.print(_crash_line(done), highlight=False, soft_wrap=True)
            if not is_back:
                broken += 1
                break  # to the next table
        if broken >= MAX_FAILURES:
            break
    _report_crashes(kept, [*never_came, *left], console, is_whole=not only)


def _crash_line(done: Crash) -> str:
    off = "" if done.motor_off_s is None else f"  EN low after {1000 * done.motor_off_s:.0f} ms"
    what = f"round {done.round} {done.ending}" if done.round else "no round in hand"
    verdict = f"[red]{'; '.join(done.wrong)}[/]" if done.wrong else "[green]well[/]"
    return f"{done.point:30} after {done.after:34} {what:26} {verdict}{off}"


def _report_crashes(
    kept: Campaign[Crash], left: list[Point], console: Console, *, is_whole: bool
) -> None:
    hit = appends(kept)
    never = [event for event in APPENDS if is_whole and event not in hit]
    console.print(f"killed at the append of: {', '.join(hit)}")
    if never:
        console.print(f"never killed at the append of: {', '.join(never)}", style="bold red")
    for point in left:
        console.print(f"not run: {point.name}", highlight=False)
    off = sorted(one.motor_off_s for _, one in kept.all if one.motor_off_s is not None)
    wrong = sum(bool(one.wrong) for _, one in kept.all)
    console.print(
        f"{len(kept.all) - randoms(kept)} points of a round, {randoms(kept)} random moments; "
        f"{wrong} wrong; not run: {len(left)}"
    )
    if off:
        console.print(f"killed while EN was high: {len(off)}; EN low after at most {off[-1]:.3f} s")
    if wrong or left or never:
        raise typer.Exit(1)


@app.command()
def soak(
    folder: ResultsOption = DEFAULT / "soak",
    minutes: Annotated[float, typer.Option("--minutes", help="How long.")] = 30.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the faults that are thrown in.")] = SEED,
) -> None:
    """Continuous play with random faults: wrong lamps, lost rounds, and what grows."""
    console = Console()
    with _place_for(folder):
        here = _new_in(folder)
    session = trial_session(Plan(seed=seed), here)
    with Bench(session) as bench:
        witness = Witness(session.rig, session.journal, session.second)
        samples = Campaign(here / SAMPLES, ResourceUse)
        run = Soak(bench, witness, random.Random(seed), samples)
        bench.make_ready()
        run.run(60.0 * minutes)
        wrong = run.verdict()
        restarts = bench.restarts
    for line in _held(run):
        console.print(line, highlight=False)
    console.print(
        f"{run.rounds} rounds, {len(run.faults)} faults of {len(set(run.faults))} kinds in "
        f"{minutes:g} minutes; the service was started again {restarts} times; {len(wrong)} wrong"
    )
    for one in wrong:
        console.print(f"WRONG {one}", style="bold red", markup=False)
    if wrong or restarts:
        raise typer.Exit(1)


def _held(run: Soak) -> Iterator[str]:
    """What the processes held, a line a figure."""
    grown = growth(run.uses)
    for name, limit in ALLOWED.items():
        values = [getattr(use, name) for use in run.uses]
        if not values:
            continue
        told = f"{name}: {values[0]:.1f}, then {values[-1]:.1f}, at most {max(values):.1f}"
        if trend := grown.get(name):
            told += f"; grows by {trend.per_hour:+.2f} an hour, at most {trend.at_most:+.2f}"
        yield f"{told} (allowed {limit:g})"


@contextmanager
def _place_for(folder: Path) -> Iterator[None]:
    """Make the folder of the results, or leave with a line that says what to do instead."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        _fail(f"{folder} cannot be used: {error}; name another --results")


def _new_in(folder: Path) -> Path:
    """A new folder for a table's files. What lies there, of earlier runs or of others, stays."""
    return Path(tempfile.mkdtemp(prefix="table-", dir=folder.resolve()))


@contextmanager
def _typed() -> Iterator[None]:
    """What is wrong with what a person typed, said as such."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _say(kept: Campaign[Any], console: Console) -> None:
    for line in kept.said():
        console.print(line, highlight=False, soft_wrap=True)


def _fail(message: str) -> NoReturn:
    told = Console(stderr=True, markup=False, emoji=False)  # file names are printed as they stand
    told.print(f"reliability: {message}", highlight=False, soft_wrap=True)
    raise typer.Exit(1)


def _tables(
    folder: Path,
    console: Console,
    until_s: float,
    more: Callable[[], bool],
    profile: Callable[[], str] = lambda: catalogue.PROFILE,
    changes: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[tuple[Bench, Witness]]:
    """New tables, one after the other, for as long as there is something to be played."""
    tables = failures = 0
    while more() and time.monotonic() < until_s and failures < MAX_FAILURES:
        tables += 1
        try:
            plan = Plan(profile=profile(), seed=SEED + tables, changes=changes)
            session = trial_session(plan, _new_in(folder))
            with Bench(session) as bench:
                yield bench, Witness(session.rig, session.journal, session.second)
            if not bench.is_evidence:
                shutil.rmtree(session.folder)
        except (TrialError, ShakerError, OSError) as error:
            failures += 1
            console.print(f"a new table is needed: {error}", markup=False)


def _results(
    rows: list[Row], until_s: float, folder: Path, console: Console
) -> Iterator[tuple[Row, Result]]:
    """Play one row after the other, one kind of table after the other; a table that does not come
    back is left behind."""
    kinds = list(dict.fromkeys(row[0].profile for row in rows))
    waiting = sorted(rows, key=lambda row: kinds.index(row[0].profile))
    tables = _tables(folder, console, until_s, lambda: bool(waiting), lambda: waiting[0][0].profile)
    broken = 0
    for bench, witness in tables:
        here = bench.session.plan.profile
        with closing(Trials(bench, witness)) as trials:
            while waiting and waiting[0][0].profile == here and time.monotonic() < until_s:
                row = waiting.pop(0)
                try:
                    result = trials.play(*row)
                    bench.is_evidence |= not result.is_as_required
                except (TrialError, ShakerError, OSError) as error:
                    broken += 1
                    bench.is_evidence = True
                    yield row, _not_played(row, error)
                    break  # to the next table
                yield row, result
        if broken >= MAX_FAILURES:
            return


def _not_played(row: Row, error: Exception) -> Result:
    why = f"the table did not come back: {error}"
    return Result(row[0].name, row[1].value, Observation(), [why])


def _report(
    rows: list[Row], whole: list[Row], kept: Campaign[Result], folder: Path, console: Console
) -> None:
    """Judge the rows of this run; the report is over the whole catalogue."""
    results.write_report(kept, whole, folder)
    differ, missing = results.count(kept, rows)
    played = len(rows) - missing
    console.print(
        f"{played} of {len(rows)} rows played, {differ} differ; report: {folder / 'report.html'}"
    )
    for row in rows:
        if kept.find(results.case(row)) is None:
            console.print(f"not run: {row[0].name}, {row[1].value}")
    if differ or missing:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
