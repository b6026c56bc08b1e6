"""A console on its serial line: one thread that opens, serves, and reopens for ever.

Owns the thread and the line's coming and going. Must not know what is permitted or what the table
does. Nothing that happens here can stop another console or the table.
"""

from __future__ import annotations

import logging
import threading
import time

from shaker_ctl.adapters.lines.serial_port import LineStalledError, SerialPort
from shaker_ctl.console.accounts import Accounts
from shaker_ctl.console.desk import Desk
from shaker_ctl.console.lockout import Lockout
from shaker_ctl.console.parameters import ConsoleParameters, PortParameters
from shaker_ctl.console.session import Session
from shaker_ctl.console.stream import ByteStream
from shaker_ctl.errors import ConsoleLineError

log = logging.getLogger(__name__)

REOPEN_S = 1.0
"""Between attempts to open a line that is not there: an unplugged adapter comes back by itself."""


class SerialConsole:
    """One console. `start` returns at once; `stop` waits for the thread, at most two seconds."""

    def __init__(
        self, name: str, port: PortParameters, desk: Desk, parameters: ConsoleParameters
    ) -> None:
        self.name = name
        self._port = port
        self._desk = desk
        self._parameters = parameters
        # Both outlive the line: pulling the plug must not forgive wrong passphrases.
        self._lockout = Lockout()
        self._accounts = Accounts(parameters.users_file)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"console-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        complained = ""
        while not self._stopping.is_set():
            try:
                line = SerialPort(self._port.device, self._port.baud)
            except ConsoleLineError as error:
                if str(error) != complained:
                    complained = str(error)
                    log.warning("%s console: %s", self.name, error.line())
                self._stopping.wait(REOPEN_S)
                continue
            complained = ""
            log.info("%s console: open on %s", self.name, self._port.device)
            try:
                self._serve_until_gone(line)
            finally:
                line.close()

    def _serve_until_gone(self, line: ByteStream) -> None:
        while not self._stopping.is_set():
            session = self._session()
            try:
                serve(session, line, self._stopping)
            except ConsoleLineError as error:
                log.warning("%s console: %s", self.name, error.line())
                self._stopping.wait(REOPEN_S)
                return
            except Exception:
                # one command ends the login and starts afresh. The log gets no input, only code.
                log.exception("%s console: failed and starts again", self.name)
                self._stopping.wait(REOPEN_S)
            finally:
                session.close()

    def _session(self) -> Session:
        return Session(
            self._desk,
            self.name,
            self._port.roles,
            self._accounts,
            self._lockout,
            bytes_per_s=self._port.baud / 10,
            idle_s=self._parameters.idle_s,
            answer_s=self._parameters.answer_s,
        )


def serve(session: Session, line: ByteStream, stopping: threading.Event) -> None:
    """Carry bytes between `line` and `session` until `stopping`; raises `ConsoleLineError`."""
    session.open(time.monotonic())
    while not stopping.is_set():
        try:
            while not stopping.is_set() and (output := session.take_output()):
                line.write(output)
                _hear(session, line, 0.0)
        except LineStalledError:
            session.drop_output()
        _hear(session, line, session.wait_s())
        session.tick(time.monotonic())


def _hear(session: Session, line: ByteStream, timeout_s: float) -> None:
    if data := line.read(timeout_s):
        session.receive(data, time.monotonic())


def consoles(parameters: ConsoleParameters, desk: Desk) -> list[SerialConsole]:
    """Return the consoles that the settings switch on, not yet started."""
    return [
        SerialConsole(name, port, desk, parameters) for name, port in parameters.ports().items()
    ]
