"""`python -m hil_tests.floor`: load, chaos, and a floor to look at."""

from __future__ import annotations

import argparse
import logging
import signal
import sys

from hil_tests.bounded import at_least


def main(arguments: list[str] | None = None) -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(prog="python -m hil_tests.floor", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    load = commands.add_parser("load", help="what a thousand tables cost a floor")
    load.add_argument("--tables", type=at_least(1), default=1000)
    load.add_argument("--paces", type=float, nargs="+", default=[1, 6, 20], help="rounds a minute")
    load.add_argument("--seconds", type=float, default=600.0, help="for each pace")
    load.add_argument("--postgres", action="store_true")
    load.add_argument("--commit-s", type=float, default=0.2)
    chaos = commands.add_parser("chaos", help="kill parts at random; every record exactly once")
    chaos.add_argument("--tables", type=at_least(1), default=100)
    chaos.add_argument("--kills", type=at_least(1), default=50)
    chaos.add_argument("--pace", type=float, default=6.0, help="rounds a minute")
    chaos.add_argument("--every", type=float, default=3.0, help="seconds between two kills")
    chaos.add_argument("--sqlite", action="store_true", help="SQLite instead of PostgreSQL")
    chaos.add_argument("--seed", type=int, default=1)
    chaos.add_argument("--hour", type=float, default=60.0, help="minutes of the network's cut")
    fuzz = commands.add_parser("fuzz", help="a million messages that no table sends")
    fuzz.add_argument("--messages", type=at_least(1), default=1_000_000)
    fuzz.add_argument("--seed", type=int, default=1)
    near = commands.add_parser("beside", help="what a link costs the table beside it")
    near.add_argument("--rounds", type=at_least(1), default=12, help="of each condition")
    look = commands.add_parser("show", help="a floor to look at, until Ctrl-C")
    look.add_argument("--rigs", type=int, default=2, help="tables that play on the virtual rig")
    look.add_argument("--recorded", type=int, default=50, help="tables that only remember")
    look.add_argument("--pace", type=float, default=2.0, help="their rounds a minute")
    look.add_argument("--seconds", type=float, default=0.0, help="0: until Ctrl-C")
    options = parser.parse_args(arguments)
    # Whoever ends it, its processes end and its disk is unmounted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    logging.getLogger("shaker_ctl.link").setLevel(logging.ERROR)  # links that come and go are meant
    if options.command == "show":
        from hil_tests.floor.show import show

        return (
            0
            if show(
                rigs=options.rigs,
                recorded=options.recorded,
                pace=options.pace,
                seconds=options.seconds,
                tell=lambda line: print(line, flush=True),  # noqa: T201 - a program for a terminal
            )
            else 1
        )
    if options.command == "fuzz":
        from hil_tests.floor.fuzz import fuzzed

        lines = fuzzed(options.messages, options.seed)
    elif options.command == "beside":
        from hil_tests.floor.beside import beside

        lines = beside(rounds=options.rounds)
    elif options.command == "load":
        from hil_tests.floor.load import measured

        lines = measured(
            tables=options.tables,
            paces=options.paces,
            seconds=options.seconds,
            postgres=options.postgres,
            commit_s=options.commit_s,
        )
    else:
        from hil_tests.floor.chaos import broken_at_random

        lines = broken_at_random(
            tables=options.tables,
            kills=options.kills,
            pace=options.pace,
            every_s=options.every,
            cut_s=60.0 * options.hour,
            postgres=not options.sqlite,
            seed=options.seed,
        )
    wrong = False
    for line in lines:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        wrong = wrong or "NOT" in line
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
