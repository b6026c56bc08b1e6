"""What all tables show at the broker, for the floor's page.

Owns a thread with a connection of its own. Must not know pages.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from shaker_ctl.floor.tables import Tables
from shaker_ctl.link import topics
from shaker_ctl.link.connection import Connection
from shaker_ctl.link.parameters import BrokerParameters

CHANGED_S = 0.5
"""Shortest time between two messages that something has changed: a thousand tables change often."""


class FloorWatch:
    """All tables, live. `tables` may be read from any thread."""

    def __init__(self, parameters: BrokerParameters, changed: Callable[[], None]) -> None:
        """Raises SettingsError where the certificate cannot be used."""
        self.tables = Tables(parameters.site)
        self._changed = changed
        self._is_changed = False
        self._told_s = 0.0
        self._over = threading.Event()
        everything = f"{topics.ROOT}/{parameters.site}/+/"
        self._connection = Connection(
            parameters,
            f"page-{id(self):x}",
            connected=self._connected,
            received=self._received,
            subscriptions=[(everything + kind, 1) for kind in topics.SHOWN],
        )
        self._thread = threading.Thread(target=self._run, name="floor", daemon=True)

    @property
    def trouble(self) -> str:
        """Why the broker is not there; empty while it is."""
        if self._thread.ident is not None and not self._thread.is_alive():
            return "the page no longer listens: start it again"
        return self._connection.trouble

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join(5)

    def _run(self) -> None:
        while not self._over.is_set():
            self._connection.turn(0.1)
            now_s = time.monotonic()
            if self._is_changed and now_s - self._told_s >= CHANGED_S:
                self._is_changed, self._told_s = False, now_s
                self._changed()
        self._connection.close()

    def _connected(self) -> None:
        self.tables.forget()
        self._is_changed = True

    def _received(self, topic: str, payload: bytes) -> None:
        self.tables.take(topic, payload)
        self._is_changed = True
