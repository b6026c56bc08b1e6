"""How late the heartbeat is while both consoles ask for statistics, with years of journal.

`python -m hil_tests.reliability.heartbeat FOLDER` plays on the virtual rig with the journal that
`large_journal FOLDER` has made. For a while nobody asks, then both consoles ask for `statistics`
without a pause, and so on in turn. It prints how long the state thread took from beat to beat in
each: idle it waits for 20 ms, and from 50 ms on the motor's dead-man is not refreshed.
"""

from __future__ import annotations

import statistics
import struct
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from hil_tests.processes import Program, program
from hil_tests.reliability.large_start import journal_in, put_back
from hil_tests.table_under_test.people import entry, open_table
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.service.status_socket import read_status

BEATS = "beats"
PORTS = ("technician", "dealer")
MAX_BEATS = 4_000_000
LATE_S = 0.03
LOOK_S = 0.5


class WatchedSession(Session):
    """A session whose service notes its beats."""

    def _started(self, name: str, command: list[str], log: str, *, nice: int) -> Program:
        if log == "service.log":
            beats = self.folder / BEATS
            with beats.open("wb") as file:
                file.truncate(8 * MAX_BEATS)
            noted = program("hil_tests.reliability.noted_beats", *command[command.index("run") :])
            command = ["env", f"SHAKER_RIG_BEATS={beats}", *noted]
        return super()._started(name, command, log, nice=nice)

    def beats(self, after: int = 0) -> list[float]:
        """The seconds from beat to beat, without the first so many."""
        with (self.folder / BEATS).open("rb") as file:
            (count,) = struct.unpack("<d", file.read(8))
            file.seek(8 * (1 + after))
            return [one for (one,) in struct.iter_unpack("<d", file.read(8 * (int(count) - after)))]


def stand_at(session: Session, port: str, until_s: float, *, is_asking: bool) -> int:
    """Enter what the table waits for, ask for statistics meanwhile; return how often."""
    asked, look_s = 0, 0.0
    with closing(session.console(port)) as console:
        while (now_s := time.monotonic()) < until_s:
            if port == "dealer" and now_s > look_s:
                look_s = now_s + LOOK_S
                status = console.status()
                if (status["pending"] or {}).get("kind") == "enter":
                    console.login("dealer", "dan", session.passphrases["dan"])
                    console.ask(entry(session, status["round"]))
                    console.logout()
            if is_asking:
                console.ask("statistics")
                asked += 1
            else:
                time.sleep(LOOK_S / 5)
    return asked


def for_a_while(session: WatchedSession, seconds: float, *, is_asking: bool) -> list[float]:
    """Play so long at an open table; return the seconds from beat to beat, and say what was."""
    with closing(session.console("technician")) as console:
        open_table(session, console)
    before, began = len(session.beats()), newest_round(session)
    until_s = time.monotonic() + seconds
    with ThreadPoolExecutor() as people:
        asked = people.map(
            lambda port: stand_at(session, port, until_s, is_asking=is_asking), PORTS
        )
        count = sum(asked)
    beats = session.beats(before)
    typer.echo(
        f"{'asked ' + str(count) + ' times' if is_asking else 'nobody asks'}: {told(beats)}; "
        f"{newest_round(session) - began} rounds; "
        f"faults: {', '.join(one['code'] for one in read_status(session.runtime_dir)['faults'])}"
    )
    return beats


def told(beats: list[float]) -> str:
    """Median, 99.9th percentile and worst, in words."""
    beats = sorted(beats)
    late = sum(one > LATE_S for one in beats)
    ms = [1000 * one for one in (statistics.median(beats), beats[-len(beats) // 1000], beats[-1])]
    return (
        f"{len(beats)} beats, median {ms[0]:.1f}, p99.9 {ms[1]:.1f}, worst {ms[2]:.1f} ms, "
        f"{late} over {1000 * LATE_S:.0f} ms"
    )


def newest_round(session: Session) -> int:
    rounds = read_status(session.runtime_dir)["rounds"]
    return int(rounds[-1]["round"]) if rounds else 0


def main(
    folder: Annotated[Path, typer.Argument(help="Made by `large_journal`.")],
    turns: Annotated[int, typer.Option(min=1, help="How often each, in turn.")] = 4,
    seconds: Annotated[float, typer.Option(help="Of each.")] = 30.0,
) -> None:
    """Measure the heartbeat with and without people who ask for statistics."""
    parameters = journal_in(folder)
    places = {"path": str(parameters.path), "second": str(parameters.second)}
    plan = Plan(seed=5, pace="brisk", changes={"journal": places})
    beats: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="shaker-beats-") as name, put_back(parameters):
        session = WatchedSession(plan, Path(name))
        with session:
            for is_asking in [False, True] * turns:
                beats[is_asking] += for_a_while(session, seconds, is_asking=is_asking)
    typer.echo(f"nobody asks: {told(beats[False])}")
    typer.echo(f"both consoles ask: {told(beats[True])}")


if __name__ == "__main__":
    typer.run(main)
