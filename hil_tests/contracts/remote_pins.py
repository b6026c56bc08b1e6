"""The controller's side of the pins in a process of its own, behind a virtual gpiochip.

    python -m hil_tests.contracts.remote_pins ADDRESS PARAMETERS

Owns the protocol: calls go to this process; results, errors and changes of contacts come back. The
process holds the shipped adapters on the real libgpiod; the substitute for the kernel is outside.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.pins.gpio_backend import GpioPins, make_pins
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.ports import Interlocks, Motor

START_S = 20.0
NEWS = "news of contacts"


class RemotePins:
    """The proxy. Usable from any thread; each has a connection of its own."""

    def __init__(self, door: Path, parameters: GpioParameters) -> None:
        """Start the process; nothing is open yet."""
        self._folder = tempfile.TemporaryDirectory(prefix="pins-")
        self._address = str(Path(self._folder.name) / "calls")
        self._local = threading.local()
        self.link: Any = _Part(self, "link")
        self.motor: Any = _Part(self, "motor")
        self.tach: Any = _Part(self, "tach")
        self.lines: Any = _Lines(self, "lines")
        self.outputs: Any = _Part(self, "outputs")
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "hil_tests.rig.gpiochip.enter", str(door)),
                *(sys.executable, "-m", "hil_tests.contracts.remote_pins"),
                *(self._address, parameters.model_dump_json()),
            ]
        )
        until_s = time.monotonic() + START_S
        while not Path(self._address).exists():
            assert self.process.poll() is None, "the controller's process ended at its start"
            assert time.monotonic() < until_s, "the controller's process did not start"
            time.sleep(0.005)

    def __enter__(self) -> RemotePins:
        try:
            self.link.open()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(EOFError, OSError):  # A test may have killed it.
            self.motor.stop()
            self.link.close()
        self.end()

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        self._folder.cleanup()

    def keep_driving(self, seconds: float, duty: float = 0.5) -> None:
        """Do there what the control loop does: refresh and drive every 8 ms."""
        self.call("keep_driving", "", (seconds, duty))

    def dead_man(self) -> int:
        """Process number of the dead-man."""
        return int(self.call("dead_man", "", ()))

    def call(self, part: str, method: str, arguments: tuple[Any, ...]) -> Any:
        """Call there. Raises what the call raised."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        connection.send((part, method, arguments))
        is_error, value = connection.recv()
        if is_error:
            raise value
        return value

    def _connect(self) -> Connection[Any, Any]:
        until_s = time.monotonic() + START_S
        while True:
            try:
                return Client(self._address)
            except ConnectionRefusedError:  # Bound, and not listening yet.
                if self.process.poll() is not None or time.monotonic() > until_s:
                    raise
                time.sleep(0.005)

    def news(self, callback: Callable[[Interlocks], None]) -> None:
        """Have `callback` called with every change of a contact, from a thread of its own."""
        connection = self._connect()
        connection.send((NEWS, "", ()))
        connection.recv()

        def listen() -> None:
            with contextlib.suppress(EOFError, OSError), connection:
                while True:
                    callback(connection.recv())

        threading.Thread(target=listen, daemon=True).start()


class _Part:
    def __init__(self, pins: RemotePins, name: str) -> None:
        self._pins = pins
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return lambda *arguments: self._pins.call(self._name, method, arguments)


class _Lines(_Part):
    def on_change(self, callback: Callable[[Interlocks], None]) -> None:
        self._pins.news(callback)


# ── The process ─────────────────────────────────────────────────────────────


def _serve(pins: GpioPins, connection: Connection[Any, Any]) -> None:
    with contextlib.suppress(EOFError, OSError), connection:
        while True:
            part, method, arguments = connection.recv()
            if part == NEWS:
                _tell_news(pins, connection)
                continue
            try:
                answer = (False, _do(pins, part, method, arguments))
            except Exception as error:  # noqa: BLE001 - it is raised again at the other end
                answer = (True, error)
            connection.send(answer)


def _tell_news(pins: GpioPins, connection: Connection[Any, Any]) -> None:
    sending = threading.Lock()

    def tell(contacts: Interlocks) -> None:
        with sending, contextlib.suppress(OSError):
            connection.send(contacts)

    with sending:
        pins.lines.on_change(tell)
        connection.send(None)


def keep_driving(motor: Motor, seconds: float, duty: float) -> None:
    """Do what the control loop does: refresh and drive every 8 ms."""
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        motor.refresh()
        motor.drive(duty)
        time.sleep(0.008)


def _do(pins: GpioPins, part: str, method: str, arguments: tuple[Any, ...]) -> Any:
    if part == "dead_man":
        return pins.link._dead_man.process.pid  # type: ignore[attr-defined]
    if part == "keep_driving":
        return keep_driving(pins.motor, *arguments)
    return getattr(getattr(pins, part), method)(*arguments)


def _end_with_parent(parent: int) -> None:
    """A test run that was killed must leave no controller behind."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def main(address: str, parameters: str) -> None:
    """Serve calls until killed, or until the parent is gone."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    pins = make_pins(GpioParameters.model_validate_json(parameters))
    with Listener(address, backlog=16) as listener:
        while True:
            connection = listener.accept()
            threading.Thread(target=_serve, args=(pins, connection), daemon=True).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
