"""`shaker-rig crossed`: two virtual Raspberry Pis whose pins are wired to each other.

Owns the pair and its wires. One daemon serves a controller, and the other daemon serves a rig. This
process replaces the two computers of a bench; controller and rig are other processes. Must not know
what moves on the wires.

The controller's daemon can be broken through the printed socket (`hang`, `kill`, ...), as
`systemctl` breaks the daemon of a bench.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from hil_tests.rig import lifetime
from hil_tests.rig.control import Control, told
from hil_tests.rig.rigfile import GpioTable, RigFileError, load
from hil_tests.rig.wires.wiring import PinMap
from virtual_pigpiod.command import start_listening
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod
from virtual_pigpiod.scheduling import answer_in_time, go_first
from virtual_pigpiod.server import LAST_PORT

RIGS_SAMPLE_US = 1
"""How often the rig's daemon looks at its pins, as `pigpiod -s 1`: the controller pulses EN for
less than the usual 5."""

MANNERS = ("hang", "reject", "vanish", "freeze", "terminate", "kill", "resume", "start")


def cross(controller: Board, rig: Board, pins: PinMap, wiring: PinMap) -> None:
    """Wire each line from the pin that drives it to the pin that reads it."""
    for line in fields(PinMap):
        here, there = getattr(pins, line.name), getattr(wiring, line.name)
        if here in pins.outputs:
            rig.follow(there, controller, here)
        else:
            controller.follow(here, rig, there)


def crossed(
    rig: Annotated[
        Path | None, typer.Option(help="Rig file whose gpio.pins and gpio.wiring to wire.")
    ] = None,
    controller_port: Annotated[
        int, typer.Option(min=0, max=LAST_PORT, help="Port of the controller's; 0: any free.")
    ] = 0,
    rig_port: Annotated[
        int, typer.Option(min=0, max=LAST_PORT, help="Port of the rig's; 0: any free.")
    ] = 0,
) -> None:
    """Serve two virtual Pis, wired pin to pin, until Ctrl-C: one for a controller, one for a rig.

    Prints one line of JSON: both ports, and the socket that breaks the controller's daemon.
    """
    if controller_port == rig_port != 0:
        raise typer.BadParameter("--controller-port and --rig-port must be two ports")
    try:
        table = load(rig).gpio if rig is not None else GpioTable()
    except RigFileError as error:
        typer.echo(f"shaker-rig: {error}", err=True)
        raise typer.Exit(1) from error
    go_first()
    boards = Board(), Board()
    cross(*boards, table.pins, table.wiring)
    controllers = VirtualPigpiod(boards[0], port=controller_port)
    rigs = VirtualPigpiod(boards[1], port=rig_port, sample_us=RIGS_SAMPLE_US)
    with contextlib.ExitStack() as started:
        life = started.enter_context(lifetime.Lifetime())
        folder = started.enter_context(tempfile.TemporaryDirectory(prefix="shaker-rig-"))
        for daemon, option in ((controllers, "--controller-port"), (rigs, "--rig-port")):
            start_listening(daemon, option)
            started.callback(daemon.terminate)
        control = Control(Path(folder) / "control", _verbs(controllers))
        started.callback(control.close)
        where = {
            "controller": controllers.port,
            "rig": rigs.port,
            "control": control.address,
        }
        answer_in_time()
        typer.echo(json.dumps(where))
        sys.stdout.flush()
        life.ended.wait()


def _verbs(daemon: VirtualPigpiod) -> dict[str, Callable[[str], Any]]:
    def doing(manner: str) -> Callable[[str], Any]:
        def verb(_: str) -> dict[str, Any]:
            getattr(daemon, manner)()
            return {"connections": daemon.connections}

        return verb

    return {
        **{manner: doing(manner) for manner in MANNERS},
        "connections": lambda _: daemon.connections,
    }


class CrossedPair:
    """Such a pair in a process of its own, as its owner sees it; use as a context manager."""

    def __init__(self, rig_file: Path | None) -> None:
        self._options = [] if rig_file is None else ["--rig", str(rig_file)]
        self._process: subprocess.Popen[str] | None = None
        self.where: dict[str, Any] = {}

    def __enter__(self) -> CrossedPair:
        """Start both daemons. Raises OSError where they do not start."""
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", "from hil_tests.rig.main import app; app()"),
                *("crossed", *self._options),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise OSError("the pair of virtual daemons did not start; see its own message above")
        self.where = json.loads(line)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def connections(self) -> int:
        """Clients of the controller's daemon."""
        return int(self.act("connections"))

    def act(self, verb: str) -> Any:
        """Do one of `MANNERS` to the controller's daemon. Raises `RigRefusedError`, OSError."""
        return told(Path(self.where["control"]), verb)
