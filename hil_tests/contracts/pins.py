"""The controller's side of the pins: in this process, or in its own behind a virtual gpiochip.

    python -m hil_tests.contracts.pins ADDRESS PARAMETERS

Owns that process, too. It holds the shipped adapters on the real libgpiod; the substitute for the
kernel is outside. A manager of `multiprocessing` carries calls there; results and errors come back.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.managers import BaseManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

from hil_tests.waiting import until
from shaker_ctl.adapters.pins.gpio_backend import GpioPins, OpenableLink, make_pins
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.ports import InterlockLines, Interlocks, Motor, ShakerOutputs, Tach

START_S = 20.0
KEY = b"pins"
PARTS = ("link", "motor", "tach", "lines", "outputs", "bench")


class _Manager(BaseManager):
    """Hands out the parts of the process: adapters, and what only a bench asks (`_Bench`)."""


for _name in PARTS:
    _Manager.register(_name)


def keep_driving(motor: Motor, seconds: float, duty: float) -> None:
    """Do what the control loop does: refresh and drive every 8 ms."""
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        motor.refresh()
        motor.drive(duty)
        time.sleep(0.008)


class Pins:
    """The controller's side in this process: an open link with every adapter on it."""

    def __init__(self, pins: Any) -> None:
        """`pins` has them under these names: a `GpioPins`."""
        self.link: OpenableLink = pins.link
        self.motor: Motor = pins.motor
        self.tach: Tach = pins.tach
        self.lines: InterlockLines = pins.lines
        self.outputs: ShakerOutputs = pins.outputs

    def __enter__(self) -> Self:
        self.link.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.motor.stop()
        self.link.close()

    def keep_driving(self, seconds: float, duty: float = 0.5) -> None:
        """Do what the control loop does: refresh and drive every 8 ms."""
        keep_driving(self.motor, seconds, duty)


class RemotePins(Pins):
    """`Pins` in a process of its own. Usable from any thread."""

    def __init__(self, door: Path, parameters: GpioParameters) -> None:
        """Start the process; nothing is open yet."""
        self._folder = tempfile.TemporaryDirectory(prefix="pins-")
        address = str(Path(self._folder.name) / "calls")
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "hil_tests.rig.gpiochip.enter", str(door)),
                *(sys.executable, "-m", "hil_tests.contracts.pins"),
                *(address, parameters.model_dump_json()),
            ]
        )
        manager: Any = _Manager(address, KEY)

        def is_there() -> bool:
            assert self.process.poll() is None, "the controller's process ended at its start"
            with contextlib.suppress(OSError):  # not bound yet, or bound and not listening yet
                manager.connect()
                return True
            return False

        until(is_there, START_S)
        self._bench = manager.bench()
        parts = {name: getattr(manager, name)() for name in PARTS[:-1]}
        parts["lines"] = _Lines(parts["lines"], self._bench)
        super().__init__(SimpleNamespace(**parts))

    def __enter__(self) -> Self:
        try:
            return super().__enter__()
        except BaseException:
            self.end()
            raise

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(EOFError, OSError):  # A test may have killed it, or stopped it.
            os.kill(self.process.pid, signal.SIGCONT)
            super().__exit__()
        self.end()

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        self._folder.cleanup()

    def keep_driving(self, seconds: float, duty: float = 0.5) -> None:
        """Do there what the control loop does: refresh and drive every 8 ms."""
        self._bench.keep_driving(seconds, duty)

    def grant(self, seconds: float) -> None:
        """Grant EN for so long, as the motor does at each turn of the loop."""
        self._bench.grant(seconds)

    def dead_man(self) -> int:
        """Process number of the dead-man."""
        return int(self._bench.dead_man())


class _Lines:
    """`InterlockLines`, whose changes are fetched by a thread here."""

    def __init__(self, lines: Any, bench: Any) -> None:
        self.read = lines.read
        self._bench = bench

    def on_change(self, callback: Callable[[Interlocks], None]) -> None:
        """Have `callback` called with every change of a contact, from a thread of its own."""
        self._bench.listen()

        def pass_on() -> None:
            with contextlib.suppress(EOFError, OSError):
                while True:
                    callback(self._bench.next_change())

        threading.Thread(target=pass_on, daemon=True).start()


# ── The process ─────────────────────────────────────────────────────────────


class _Bench:
    """What a bench asks of the process beside the calls of its adapters."""

    def __init__(self, pins: GpioPins) -> None:
        self._pins = pins
        self._changes: queue.SimpleQueue[Interlocks] = queue.SimpleQueue()
        self.next_change = self._changes.get
        self.keep_driving = partial(keep_driving, pins.motor)

    def grant(self, seconds: float) -> None:
        self._pins.link.grant(seconds)  # type: ignore[attr-defined]

    def listen(self) -> None:
        self._pins.lines.on_change(self._changes.put)

    def dead_man(self) -> int:
        return int(self._pins.link._dead_man.process.pid)  # type: ignore[attr-defined]


def _end_with_parent(parent: int) -> None:
    """A test run that was killed must leave no controller behind."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main(address: str, parameters: str) -> None:
    """Serve calls until killed, or until the parent is gone."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    pins = make_pins(GpioParameters.model_validate_json(parameters))
    parts = {name: getattr(pins, name) for name in PARTS[:-1]} | {"bench": _Bench(pins)}
    for name in parts:
        _Manager.register(name, callable=partial(parts.get, name))
    _Manager(address, KEY).get_server().serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
