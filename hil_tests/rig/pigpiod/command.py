"""`shaker-rig pigpiod`: the virtual daemon on its own, for anyone's pigpio program.

Owns: options, what is printed. Must not know: the plant.
"""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Annotated

import typer

from ..timely import answer_in_time
from .board import Board
from .chip import LAST_USER_GPIO, PI_4B, Chip
from .process import VirtualPigpiod
from .trace import Trace
from .trace_vcd import write_vcd

MODELS = {"3b": Chip(), "4b": PI_4B}


def pigpiod(
    port: Annotated[int, typer.Option(help="TCP port; 0 takes a free one.")] = 8888,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    model: Annotated[str, typer.Option(help="Raspberry Pi to be: 3b or 4b.")] = "3b",
    wire: Annotated[
        list[str] | None,
        typer.Option(help="Wire an output to an input, as OUT:IN, e.g. 18:24. Repeatable."),
    ] = None,
    pins: Annotated[str, typer.Option(help="Pins to record, e.g. 18,23,24.")] = "",
    vcd: Annotated[
        Path | None, typer.Option(help="Write the recorded pins here at the end (GTKWave).")
    ] = None,
    png: Annotated[
        Path | None, typer.Option(help="Draw the recorded pins here at the end.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="End by itself after this time.", min=0.01)
    ] = None,
    fifo_folder: Annotated[
        Path | None,
        typer.Option(help="Where notification pipes (pigs no) appear; the real one uses /dev."),
    ] = None,
) -> None:
    """Serve a virtual Raspberry Pi's pins to pigpio clients until Ctrl-C.

    Then any pigpio program works against it:

    PIGPIO_PORT=8888 pigs r 4

    python -c "import pigpio; print(pigpio.pi('localhost', 8888).read(4))"
    """
    if model not in MODELS:
        raise typer.BadParameter(f"{model} is not known here; use one of {', '.join(MODELS)}")
    if pins and vcd is None and png is None:
        raise typer.BadParameter("say where to write the recorded pins: --vcd FILE or --png FILE")
    if (vcd or png) and not pins:
        raise typer.BadParameter("say which pins to record, e.g. --pins 18,23")
    recorded = [_gpio(text) for text in pins.split(",") if text]
    board = Board()
    for pair in wire or []:
        output, _, given = pair.partition(":")
        try:
            board.follow(_gpio(given), board, _gpio(output))
        except ValueError as error:
            raise typer.BadParameter(f"{pair}: {error}") from error
    daemon = VirtualPigpiod(board, host, port, MODELS[model], fifo_folder)
    ended = _end_by_signal()
    with Trace(board, recorded) as trace:
        _start(daemon)
        answer_in_time()
        typer.echo(
            f"pigpiod: {host} port {daemon.port}; pipes in {daemon.fifo_folder}; Ctrl-C ends it"
        )
        _wait(ended, seconds)
    daemon.terminate()
    if vcd:
        write_vcd(trace, vcd)
        typer.echo(f"wrote {vcd}")
    if png:
        from .trace_png import write_png  # OpenCV takes its time to load

        write_png(trace, png)
        typer.echo(f"wrote {png}")


def _start(daemon: VirtualPigpiod) -> None:
    try:
        daemon.start()
    except OSError as error:
        typer.echo(
            f"Cannot listen at {daemon.host} port {daemon.port}: {error.strerror}. "
            "Is a pigpiod running already? Stop it, or choose another --port.",
            err=True,
        )
        raise typer.Exit(1) from error


def _gpio(text: str) -> int:
    if not text.strip().isdigit() or int(text) > LAST_USER_GPIO:
        raise typer.BadParameter(f"'{text}' is no GPIO; use numbers 0 to {LAST_USER_GPIO}")
    return int(text)


def _end_by_signal() -> threading.Event:
    """What Ctrl-C and SIGTERM set."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    return ended


def _wait(ended: threading.Event, seconds: float | None) -> None:
    deadline = None if seconds is None else time.monotonic() + seconds
    # A wait without limit would not notice signals on every platform.
    while not ended.wait(0.2):
        if deadline is not None and time.monotonic() >= deadline:
            return
