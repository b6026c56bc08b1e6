"""The connection to the GPIO daemon: opened, watched, given up, opened again.

Owns what the client library lacks. Measured on pigpio 1.78: it has no deadline (a command that is
not answered blocks for ever, and every other thread behind its lock), it does not notice that the
daemon has gone, and its notification thread then spins at 100 %. So

* the command socket gets a timeout, and a connection that missed one is never used again, since
  its answers no longer belong to its questions;
* a bare connection beside it (`pigpio_wire`) asks every 0.2 s for the dead-man's counter and fires
  an event that must come back through the notification socket: dead, hung and deaf daemons and a
  dead-man that no longer counts are found within 1 s;
* a lost connection is dismantled by hand (`pi.stop()` would block or raise), and opened anew from
  the keeper's thread, with everything that was attached to it.

It must not know of duty, contacts or rounds.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import pigpio

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.pigpio_wire import EVT, PIGPV, Reply, Wire, request
from shaker_ctl.errors import GpioLinkError

log = logging.getLogger(__name__)

T = TypeVar("T")

BEAT_S = 0.2
"""Time between two looks at the daemon."""

DEAF_S = 0.6
"""Longest time without the event that each beat fires. The first report after a quiet time may be
40 ms late by itself."""

REOPEN_S = 0.5
"""Time between two attempts to open a lost link."""

OPEN_S = 2.0
"""Longest opening of the client, which itself would wait for ever."""

PULSE_EVENT = 14
"""The daemon's event (0-31) that travels the notification path; 31 is the daemon's own."""

REMEDY = "Restart the GPIO daemon: systemctl restart shaker-pigpiod"


class Probe(Protocol):
    """A question that the keeper asks at every beat, and its judgement."""

    def question(self) -> tuple[int, bytes]:
        """Return the command number and the bytes to send."""

    def trouble(self, reply: Reply) -> str:
        """Return what is wrong, or an empty text."""


class PigpioLink:
    """Shared by the adapters of all pins. `open` once; later losses are mended by its keeper."""

    def __init__(self, parameters: GpioParameters) -> None:
        self._p = parameters
        self._hooks: list[Callable[[Any], None]] = []
        self._probe: Probe | None = None
        self._pi: Any = None
        self._wire: Wire | None = None
        self._trouble: GpioLinkError | None = GpioLinkError(
            "the GPIO link has not been opened", remedy=REMEDY
        )
        self._generation = 0
        self._heard_s = 0.0
        self._heard = threading.Event()
        self._state = threading.Lock()
        self._woken = threading.Event()
        self._closing = False
        self._keeper = threading.Thread(target=self._keep, name="gpio-keeper", daemon=True)

    # ── For the adapters and the motion thread ──────────────────────────────

    def attach(self, hook: Callable[[Any], None]) -> None:
        """Have `hook(pi)` called at every opening, before the link counts as open."""
        self._hooks.append(hook)

    def watch(self, probe: Probe) -> None:
        """Have `probe` asked at every beat."""
        self._probe = probe

    def open(self) -> None:
        """Open, and begin to watch. Raises GpioLinkError with the remedy; nothing is left open."""
        self._open_once()
        self._keeper.start()

    def close(self) -> None:
        """End the watch and the connections. Pins stay as they are: stop the motor before."""
        self._closing = True
        self._woken.set()
        if self._keeper.is_alive():
            self._keeper.join(timeout=OPEN_S + 1.0)
        self._dismantle()

    def trouble(self) -> GpioLinkError | None:
        """Return why the pins cannot be trusted now, or None. Never blocks."""
        return self._trouble

    def generation(self) -> int:
        """Return how often the link has been opened."""
        return self._generation

    def call(self, use: Callable[[Any], T]) -> T:
        """Return `use(pi)`. Raises GpioLinkError: at once when lost, else within the deadline."""
        pi, generation, trouble = self._pi, self._generation, self._trouble
        if trouble is not None or pi is None:
            text = str(trouble or "the GPIO link is being opened again")
            raise GpioLinkError(text, remedy=REMEDY if trouble is None else trouble.remedy)
        try:
            return use(pi)
        except TimeoutError as error:
            raise self._lose(f"no answer within {self._p.answer_s:g} s", generation) from error
        except (OSError, struct.error) as error:
            raise self._lose(f"the connection broke ({error})", generation) from error
        except pigpio.error as error:
            raise GpioLinkError(
                f"the GPIO daemon refused: {error.value}",
                remedy="Check the pin numbers under [gpio.pins] and the daemon's -x mask",
            ) from error

    def send(self, data: bytes) -> None:
        """Send past everything that may block. Never raises; for stopping."""
        wire = self._wire
        if wire is not None:
            wire.send(data)

    # ── Opening ─────────────────────────────────────────────────────────────

    def _open_once(self) -> None:
        """Raises GpioLinkError, having dismantled whatever was open."""
        try:
            self._wire = Wire(self._p.host, self._p.port, timeout_s=1.0)
            version = self._wire.ask(request(PIGPV), PIGPV, timeout_s=0.5).result
            self._pi = self._new_client()
            self._pi.sl.s.settimeout(self._p.answer_s)
            self._prove_notifications()
            for hook in self._hooks:
                hook(self._pi)
        except (OSError, struct.error, pigpio.error, GpioLinkError) as error:
            self._dismantle()
            raise self._explained(error) from error
        with self._state:
            self._generation += 1
            self._trouble = None
        log.info("GPIO link open: pigpiod %s at %s:%s", version, self._p.host, self._p.port)

    def _new_client(self) -> Any:
        """Build the client in a thread that may be left behind: its constructor has no deadline."""
        done = threading.Event()
        given_up = threading.Event()
        made: list[Any] = []

        def build() -> None:
            client = pigpio.pi(self._p.host, self._p.port, show_errors=False)
            made.append(client)
            done.set()
            if given_up.is_set():
                _dismantle_client(client)

        threading.Thread(target=build, name="gpio-open", daemon=True).start()
        if not done.wait(OPEN_S):
            given_up.set()
            raise TimeoutError("the GPIO daemon accepts and does not answer")
        client = made[0]
        if not client.connected:
            raise ConnectionResetError("the GPIO daemon gave no notification handle")
        return client

    def _prove_notifications(self) -> None:
        """Have one event come back. It also moves the client's reader on to its quiet socket."""
        notify = self._pi._notify
        notify.sl.s = _QuietSocket(notify)
        self._heard.clear()
        self._pi.event_callback(PULSE_EVENT, self._on_pulse)
        self._pi.event_trigger(PULSE_EVENT)
        if not self._heard.wait(DEAF_S):
            raise TimeoutError("the GPIO daemon sends no notifications")

    def _explained(self, error: Exception) -> GpioLinkError:
        where = f"{self._p.host}:{self._p.port}"
        if isinstance(error, GpioLinkError):
            return error
        if isinstance(error, ConnectionRefusedError):
            return GpioLinkError(
                f"no GPIO daemon listens at {where}",
                remedy="Start it: systemctl start shaker-pigpiod",
            )
        if isinstance(error, TimeoutError):
            return GpioLinkError(f"the GPIO daemon at {where} does not answer", remedy=REMEDY)
        if isinstance(error, pigpio.error):
            return GpioLinkError(
                f"the GPIO daemon at {where} refused: {error.value}",
                remedy="Check the pin numbers under [gpio.pins] and the daemon's -x mask",
            )
        return GpioLinkError(
            f"the GPIO daemon at {where} closes the connection ({error})",
            remedy="Check its allow-list (-n) and that gpio.port is its port",
        )

    def _dismantle(self) -> None:
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.close()
        client, self._pi = self._pi, None
        if client is not None:
            _dismantle_client(client)

    # ── The keeper ──────────────────────────────────────────────────────────

    def _on_pulse(self, _event: int, _tick: int) -> None:
        self._heard_s = time.monotonic()
        self._heard.set()

    def _lose(self, what: str, generation: int) -> GpioLinkError:
        """Give the connection up; return the error that says why.

        A call that was caught in an earlier connection says nothing about this one.
        """
        with self._state:
            if generation != self._generation:
                return GpioLinkError(f"the GPIO link was lost: {what}", remedy=REMEDY)
            if self._trouble is None:
                self._trouble = GpioLinkError(f"the GPIO link was lost: {what}", remedy=REMEDY)
                log.error("%s", self._trouble.line())
            trouble = self._trouble
        self._woken.set()
        return trouble

    def _keep(self) -> None:
        while not self._closing:
            if self._trouble is None:
                self._beat()
            else:
                self._reopen()

    def _beat(self) -> None:
        """Look once at the daemon, then wait for the next beat or for the end of the connection."""
        assert self._wire is not None
        began_s = time.monotonic()
        try:
            self._wire.send(request(EVT, PULSE_EVENT))
            command, data = self._probe.question() if self._probe else (PIGPV, request(PIGPV))
            reply = self._wire.ask(data, command, self._p.answer_s)
            if self._probe and (trouble := self._probe.trouble(reply)):
                raise ConnectionError(trouble)
            deaf_s = time.monotonic() - self._heard_s
            if deaf_s > DEAF_S:
                raise TimeoutError(f"no notification for {deaf_s:.1f} s")
            while not self._closing and self._trouble is None:
                left_s = began_s + BEAT_S - time.monotonic()
                if left_s <= 0.0:
                    return
                self._wire.replies(left_s)
        except OSError as error:
            self._lose(str(error), self._generation)

    def _reopen(self) -> None:
        self._dismantle()
        self._woken.clear()
        try:
            self._open_once()
        except GpioLinkError as error:
            with self._state:
                self._trouble = error
            self._woken.wait(REOPEN_S)
            self._woken.clear()


class _QuietSocket:
    """The notification socket as the client's reader thread should have met it.

    Left alone that thread spins at 100 % once the daemon has closed, and dies with a traceback when
    the connection is reset. Here it just ends.
    """

    def __init__(self, notify: Any) -> None:
        self._notify = notify
        self._socket: socket.socket = notify.sl.s

    def recv(self, size: int) -> bytes:
        try:
            data = self._socket.recv(size)
        except OSError:
            data = b""
        if not data:
            self._notify.go = False
        return data

    def send(self, data: bytes) -> int:
        return self._socket.send(data)

    def shutdown(self, how: int) -> None:
        self._socket.shutdown(how)

    def close(self) -> None:
        self._socket.close()


def _dismantle_client(client: Any) -> None:
    """Take a client apart without a word to the daemon, which may no longer listen.

    `pi.stop()` would raise on a broken socket and leave the notification thread spinning. That
    thread ends when its flag is down and its socket, shut from here, wakes it.
    """
    atexit.unregister(client.stop)
    client.connected = False
    notify = client._notify
    if notify is not None:
        notify.go = False
        _shut(notify.sl.s)
        if notify is not threading.current_thread():
            notify.join(timeout=0.5)
        notify.sl.s.close()
    if client.sl.s is not None:
        _shut(client.sl.s)
        client.sl.s.close()


def _shut(sock: socket.socket | _QuietSocket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
