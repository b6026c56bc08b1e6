"""What a link costs the table beside it: `python -m hil_tests.floor beside`.

One table plays on the rig. It plays without a link, with one, and with one to which the worst is
done: its process stopped, killed, its broker gone. After each it
says how long dice at rest to lamps lit took, and whether the table was late (`controller-late`).
"""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from hil_tests.floor.house import House
from hil_tests.floor.show import PlayingTable
from hil_tests.page.bench import played

NAME = "rig-0"
LIMIT_S = 240.0


def beside(
    rounds: Annotated[int, typer.Option(min=1, help="Of each condition.")] = 12,
) -> Iterator[str]:
    """What a link costs the table beside it."""
    with tempfile.TemporaryDirectory(prefix="shaker-floor-") as name:
        folder = Path(name)
        with (
            House(folder) as house,
            PlayingTable(house, folder / "table", NAME, seed=3, pace="brisk") as table,
        ):

            def under(what: str) -> str:
                found = played(table.session, rounds, LIMIT_S)
                return (
                    f"{what}: {found['lit']} rounds lit, rest to lit median "
                    f"{found['rest_to_lit_ms']} ms, worst {found['worst_ms']} ms, "
                    f"late {found['late']} times"
                )

            table.link.stop()
            played(table.session, 2, LIMIT_S)  # it opens, and warms up
            yield under("without a link")
            table.link.start()
            before_s, began_s = table.link.cpu_s(), time.monotonic()
            yield under("with its link")
            share = 100 * (table.link.cpu_s() - before_s) / (time.monotonic() - began_s)
            yield f"the link: {share:.1f} % of a core, {table.link.memory_mb():.0f} MB"
            table.link.signal(signal.SIGSTOP)
            yield under("link stopped")
            table.link.kill()
            yield under("link killed")
            house.broker.kill()
            table.link.start()
            yield under("broker gone")
            house.broker.start()
            table.end_of_play()
            yield from house.compared({NAME: table.head()})
