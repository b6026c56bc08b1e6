"""A unix socket at which others come in, each attended by a thread of its own.

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


class Door:
    """Lets clients in until `close`; `attend` has each until it returns or the client leaves."""

    def __init__(self, path: Path, attend: Callable[[socket.socket], None], name: str) -> None:
        """Listen at `path`; the threads bear `name`. Raises OSError."""
        self.path = path
        self._attend = attend
        self._name = name
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        path.chmod(0o600)
        self._listener.listen(8)
        self._clients: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the door and every conversation. Idempotent."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.path.unlink(missing_ok=True)
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
