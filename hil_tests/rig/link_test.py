"""Is the link to a GPIO daemon quick enough? `python -m hil_tests.rig.link_test HOST:PORT`.

Owns the figures and their limits. The control loop says up to ten things in a turn of 8 ms, one
after the other, so that one round trip may take 0.8 ms in the median. Exit status 1 where it takes
longer, with a line that says so.
"""

from __future__ import annotations

import socket
import statistics
import struct
import time
from typing import Annotated

import typer

from hil_tests.rig.rigfile import host_and_port

MEDIAN_S = 0.0008
WORST_S = 0.02
"""Of one in a hundred: as long as the daemon's dead-man grants twice."""
TIMES = 300
VERSION = 26
"""The daemon's PIGPV, which looks at no pin."""


def round_trips(host: str, port: int) -> list[float]:
    """Times from a request to its whole reply, seconds. Raises OSError."""
    took = []
    with socket.create_connection((host, port), timeout=5.0) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(TIMES):
            began = time.perf_counter()
            line.sendall(struct.pack("<4I", VERSION, 0, 0, 0))
            if len(line.recv(16, socket.MSG_WAITALL)) < 16:
                raise ConnectionError("the daemon closed the connection")
            took.append(time.perf_counter() - began)
    return took


def judged(address: str, took_s: list[float]) -> str:
    """What is wrong with a link of such round trips, in a line; empty where it serves."""
    median_s, worst_s = statistics.median(took_s), sorted(took_s)[int(0.99 * len(took_s))]
    if median_s <= MEDIAN_S and worst_s <= WORST_S:
        return ""
    return (
        f"the link to the GPIO daemon at {address} is too slow: a round trip takes "
        f"{1000 * median_s:.2f} ms in the median ({1000 * MEDIAN_S:g} at most) and "
        f"{1000 * worst_s:.1f} ms for one in a hundred ({1000 * WORST_S:g} at most)"
    )


def main(
    address: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Of the GPIO daemon.")],
) -> None:
    """Time the link to a GPIO daemon; status 1, and a line, where it is too slow."""
    try:
        wrong = judged(address, round_trips(*host_and_port(address)))
    except (OSError, ValueError) as error:
        wrong = f"the GPIO daemon at {address} does not answer: {error}"
    if wrong:
        typer.echo(wrong, err=True)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
