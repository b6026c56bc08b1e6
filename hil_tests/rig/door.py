"""A socket at which others come in, each attended by a thread of its own.

Owns the socket and its clients. Must not know what is said.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)


Place = Path | tuple[str, int]
"""A unix socket's path, or host and port."""


class Door:
    """Lets clients in until `close`; `attend` has each until it returns or the client leaves."""

    def __init__(self, place: Place, attend: Callable[[socket.socket], None], name: str) -> None:
        """Listen at `place`; the threads bear `name`. Raises OSError."""
        self._place = place
        self._attend = attend
        self._name = name
        self._listener = _listening(place)
        self.address = str(place)
        """The path, or HOST:PORT with the port that was free."""
        if not isinstance(place, Path):
            self.address = "{}:{}".format(*self._listener.getsockname())
        self._clients: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the door and every conversation. Idempotent."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        if isinstance(self._place, Path):
            self._place.unlink(missing_ok=True)
        with self._lock:
            clients = list(self._clients)
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._clients.add(client)
            threading.Thread(
                target=self._converse, args=(client,), name=f"{self._name}-client", daemon=True
            ).start()

    def _converse(self, client: socket.socket) -> None:
        try:
            with client:
                self._attend(client)
        except OSError:
            log.debug("a client of %s left in mid-answer", self._name)
        finally:
            with self._lock:
                self._clients.discard(client)


def _listening(place: Place) -> socket.socket:
    if not isinstance(place, Path):
        return socket.create_server(place)
    place.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(place))
    place.chmod(0o600)
    listener.listen(8)
    return listener
