"""Readiness and watchdog pings to systemd, by its datagram socket.

Outside systemd (no NOTIFY_SOCKET) every call does nothing. Nothing here raises: a service manager
that does not listen is no reason to stop a table.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping

EXTEND_S = 30
"""Longest silence, in seconds, of a start that has said that it does something long."""


class SdNotifier:
    """The service manager. Calls may come at any rate: pings are thinned to what it asked for."""

    def __init__(
        self, environment: Mapping[str, str] = os.environ, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._now = now
        self._address = self._as_address(environment.get("NOTIFY_SOCKET", ""))
        interval_us = environment.get("WATCHDOG_USEC", "0")
        # A quarter, not half: one late ping must never cost a restart.
        self._every_s = int(interval_us) / 4e6 if interval_us.isdigit() else 0.0
        self._pinged_s = -1e9
        self._extended_s = -1e9
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if self._address else None
        if self._socket is not None:
            self._socket.setblocking(False)

    @staticmethod
    def _as_address(path: str) -> str:
        return "\0" + path[1:] if path.startswith("@") else path

    def _send(self, text: str) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.sendto(text.encode(), self._address)

    def starting(self, status: str) -> None:
        """The start goes on and does something long: it has `EXTEND_S` more from now.

        May be called at any rate; `status` is what `systemctl status` shows.
        """
        now_s = self._now()
        if now_s - self._extended_s >= 1.0:
            self._extended_s = now_s
            self._send(f"STATUS={status}\nEXTEND_TIMEOUT_USEC={EXTEND_S * 1_000_000}")

    def ready(self) -> None:
        """The table has started."""
        self._send("READY=1\nSTATUS=")

    def alive(self) -> None:
        """A turn of the motion loop ended with the state thread alive."""
        now_s = self._now()
        if self._every_s > 0.0 and now_s - self._pinged_s >= self._every_s:
            self._pinged_s = now_s
            self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """The service is going down on purpose."""
        self._send("STOPPING=1")

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()
