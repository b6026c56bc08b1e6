"""`virtual-pigpiod`: the daemon as a program, for anyone's pigpio client.

Owns: options, what is printed.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from virtual_pigpiod.buses.attached import attach
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.chip import LAST_USER_GPIO
from virtual_pigpiod.process import VirtualPigpiod
from virtual_pigpiod.scheduling import answer_in_time
from virtual_pigpiod.server import LAST_PORT
from virtual_pigpiod.traces.recorder import Trace
from virtual_pigpiod.traces.vcd import write_vcd

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    port: Annotated[
        int, typer.Option(min=0, max=LAST_PORT, help="TCP port; 0 takes a free one.")
    ] = 8888,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    wire: Annotated[
        list[str] | None,
        typer.Option(help="Wire an output to an input, as OUT:IN, e.g. 18:24. Repeatable."),
    ] = None,
    attached: Annotated[
        list[str] | None,
        typer.Option(
            "--attach",
            help="Attach a device: i2c:1:0x53=adxl345, i2c:1:0x20=registers, spi:0=loop, "
            "serial:/dev/ttyAMA0=loop. Repeatable.",
        ),
    ] = None,
    pins: Annotated[str, typer.Option(help="Pins to record, e.g. 18,23,24.")] = "",
    vcd: Annotated[
        Path | None, typer.Option(help="Write the recorded pins here at the end (GTKWave).")
    ] = None,
    fifo_folder: Annotated[
        Path | None,
        typer.Option(
            help="Where notification pipes (pigs no) appear; the real one uses /dev.",
            exists=True,
            file_okay=False,
            writable=True,
        ),
    ] = None,
) -> None:
    """Serve a virtual Raspberry Pi's pins to pigpio clients until Ctrl-C.

    Then any pigpio program works against it:

    PIGPIO_PORT=8888 pigs r 4

    python -c "import pigpio; print(pigpio.pi('localhost', 8888).read(4))"
    """
    if pins and vcd is None:
        raise typer.BadParameter("say where to write the recorded pins: --vcd FILE")
    if vcd is not None:
        if not pins:
            raise typer.BadParameter("say which pins to record, e.g. --pins 18,23")
        _require_writable(vcd)
    recorded = [_gpio(text) for text in pins.split(",") if text]
    board = Board()
    for pair in wire or []:
        output, _, given = pair.partition(":")
        try:
            board.follow(_gpio(given), board, _gpio(output))
        except ValueError as error:
            raise typer.BadParameter(f"{pair}: {error}") from error
    try:
        devices = attach(attached or ())
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    daemon = VirtualPigpiod(board, host, port, fifo_folder, devices)
    ended = _end_by_signal()
    with Trace(board, recorded) as trace:
        start_listening(daemon)
        answer_in_time()
        typer.echo(
            f"pigpiod: {host} port {daemon.port}; pipes in {daemon.fifo_folder}; Ctrl-C ends it"
        )
        ended.wait()
    daemon.terminate()
    if vcd is not None and not _write(trace, vcd):
        raise typer.Exit(1)


def _require_writable(path: Path) -> None:
    """Refuse now what could not be written at the end: a recording is lost with it."""
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {path.parent}; make it, or name another file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise typer.BadParameter(f"{path} may not be written by you; name another file")


def _write(trace: Trace, path: Path) -> bool:
    """Whether it could be written: a disk may have filled up, or a folder gone, meanwhile."""
    try:
        write_vcd(trace, path)
    except OSError as error:
        typer.echo(f"Cannot write {path}: {error.strerror or error}.", err=True)
        return False
    typer.echo(f"wrote {path}")
    return True


def start_listening(daemon: VirtualPigpiod, option: str = "--port") -> None:
    """Start a daemon, or leave with a line that says what to do; `option` names its port."""
    try:
        daemon.start()
    except OSError as error:
        remedy = f"Is --host {daemon.host} an address of this computer?"
        if error.errno == errno.EADDRINUSE:
            remedy = f"Is a pigpiod running already? Stop it, or choose another {option}."
        elif error.errno == errno.EACCES:
            remedy = f"Choose another {option}, of 1024 or more."
        where = f"{daemon.host} port {daemon.port}"
        typer.echo(f"cannot listen at {where}: {error.strerror}. {remedy}", err=True)
        raise typer.Exit(1) from error


def _gpio(text: str) -> int:
    if not text.strip().isdecimal() or int(text) > LAST_USER_GPIO:
        raise typer.BadParameter(f"'{text}' is no GPIO; use numbers 0 to {LAST_USER_GPIO}")
    return int(text)


def _end_by_signal() -> threading.Event:
    """What Ctrl-C and SIGTERM set."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    return ended
