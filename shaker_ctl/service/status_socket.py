"""The table's view, for screens: a local socket that sends one JSON line, or a stream of JSON
lines.

The socket is read-only by construction: a client sends only how often it wants a view (`once` or
`follow HZ`), or `picture` for one of the camera now, which the table refuses in play. Nothing in
the play path depends on the socket. If there are too many clients, a new client gets the line
`{"refused": WHY}` instead of a view.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import json
import math
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from typing_extensions import TypedDict

from shaker_ctl.errors import RefusedError, SettingsError, ShakerError, reraise_as

SOCKET_NAME = "status.sock"
MAX_ADDRESS = 107
"""Bytes that fit into a local socket's address (unix(7)), its closing zero not counted."""
MAX_CLIENTS = 8
MAX_HZ = 20.0

_NO_ROOM_S = 0.2
"""Until the next try to let a screen in, where the process has no descriptor left."""


class StatusExtras(TypedDict):
    """What a running table adds to its view for screens."""

    areas: list[str]
    """Areas of its layout."""
    odds: dict[str, str]
    """What each area pays: `8 to 1`."""
    rounds: list[dict[str, Any]]
    """The last rounds, as they are recorded."""
    marks: list[str]
    seal: str
    """Digest of the key that sealed it; empty: not sealed."""
    camera_pid: int | None
    reading: dict[str, Any] | None
    """The reader's newest verdict; None while nobody may know it, or there is none."""
    lamps_asked: list[Any] | None
    monotonic_s: float
    """When the view was composed, by the computer's monotonic clock."""


def _no_picture() -> bytes:
    raise RefusedError("this table gives no pictures")


class StatusSocket:
    """Serve `view()` on `folder/status.sock`; one thread for all clients, none while idle."""

    def __init__(
        self,
        folder: Path,
        view: Callable[[], dict[str, Any]],
        picture: Callable[[], bytes] = _no_picture,
    ) -> None:
        """`picture` returns a JPEG of now, or raises ShakerError; it may take a second."""
        self._path = folder / SOCKET_NAME
        self._view = view
        self._picture = picture
        self._takes_picture = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="status", daemon=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._due: dict[socket.socket, float] = {}
        """When each screen gets its next view (monotonic, s): never, until it has asked."""
        self._periods: dict[socket.socket, float] = {}
        """Seconds between two views, of screens that follow."""

    def start(self) -> None:
        """Bind and serve. A socket left by a killed service is replaced.

        Raises SettingsError where the folder cannot hold it.
        """
        with reraise_as(
            SettingsError,
            f"the status socket {self._path} cannot be made",
            remedy="Give service.runtime_dir a folder that the service may write",
        ):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                self._path.unlink()
            with _address(self._path) as address:
                self._listener.bind(address)
            os.chmod(self._path, 0o660)
            self._listener.listen(MAX_CLIENTS)
        self._listener.settimeout(0.2)
        self._thread.start()

    def stop(self) -> None:
        """Close the socket and every client's connection."""
        self._stopping.set()
        if self._thread.ident is not None:  # not where the start itself failed
            self._thread.join(timeout=2)
        self._listener.close()
        with contextlib.suppress(OSError):  # its folder may be gone, or have never been one
            self._path.unlink()

    def _serve(self) -> None:
        while not self._stopping.is_set():
            now = time.monotonic()
            wait_s = min([0.2, *(max(0.0, when - now) for when in self._due.values())])
            readable, _, _ = select.select([self._listener, *self._due], [], [], wait_s)
            for ready in readable:
                if ready is self._listener:
                    self._accept()
                else:
                    self._hear(ready)
            now = time.monotonic()
            for client in [c for c, when in self._due.items() if when <= now]:
                if not self._send(client) or client not in self._periods:
                    self._forget(client).close()
                else:
                    self._due[client] = now + self._periods[client]
        for client in self._due:
            client.close()

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:  # no descriptor is free, or the screen has gone: the others go on
            self._stopping.wait(_NO_ROOM_S)
            return
        client.setblocking(False)
        if len(self._due) >= MAX_CLIENTS:
            line = json.dumps({"refused": f"{MAX_CLIENTS} screens are open"})
            with contextlib.suppress(OSError):
                client.send(line.encode() + b"\n")
            client.close()
            return
        self._due[client] = math.inf

    def _hear(self, client: socket.socket) -> None:
        try:
            words = client.recv(256).decode("ascii", "replace").split()
        except OSError:
            words = []
        if not words:
            self._forget(client).close()
            return
        if words[0] == "picture":
            # In a thread of its own: other screens go on meanwhile.
            gone = (self._forget(client),)
            threading.Thread(
                target=self._send_picture, args=gone, name="picture", daemon=True
            ).start()
            return
        if words[0] == "follow":
            try:
                rate_hz = float(words[1]) if len(words) > 1 else 5.0
            except ValueError:
                rate_hz = 5.0
            # Of `nan` neither bound takes hold where it comes first: nothing would ever be due.
            self._periods[client] = 1.0 / min(max(0.1, rate_hz), MAX_HZ)
        self._due[client] = time.monotonic()

    def _send(self, client: socket.socket) -> bool:
        line = json.dumps(self._view(), separators=(",", ":")).encode() + b"\n"
        try:
            # A screen that does not read is dropped rather than waited for.
            return client.send(line) == len(line)
        except OSError:
            return False

    def _send_picture(self, client: socket.socket) -> None:
        with client:
            told: dict[str, str] = {"refused": "another picture is being taken"}
            if self._takes_picture.acquire(blocking=False):
                try:
                    told = {"picture": base64.b64encode(self._picture()).decode()}
                except ShakerError as error:
                    told = {"refused": str(error)}
                finally:
                    self._takes_picture.release()
            with contextlib.suppress(OSError):
                client.settimeout(1.0)
                client.sendall(json.dumps(told).encode() + b"\n")

    def _forget(self, client: socket.socket) -> socket.socket:
        self._due.pop(client, None)
        self._periods.pop(client, None)
        return client


def read_status(folder: Path, timeout_s: float = 2.0) -> dict[str, Any]:
    """Ask a running service once.

    Raises `OSError` where none answers, `RefusedError` where it has too many clients.
    """
    for view in follow_status(folder, rate_hz=None, timeout_s=timeout_s):
        return view
    raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))


def follow_status(
    folder: Path, rate_hz: float | None, timeout_s: float = 2.0
) -> Iterator[dict[str, Any]]:
    """Yield views as they come, until the service goes.

    Raises `OSError` where none answers, `RefusedError` where it has too many clients.
    """
    asked = "once" if rate_hz is None else f"follow {rate_hz:g}"
    with _asked(folder, asked, timeout_s) as lines, contextlib.suppress(ConnectionResetError):
        for line in lines:
            if not line.endswith(b"\n"):
                return  # it went in the middle of a view
            view = json.loads(line)
            if "refused" in view:
                raise RefusedError(
                    f"the table at {folder} shows itself to no further screen: {view['refused']}",
                    remedy="Close one (shaker-ctl status --follow) and ask again",
                )
            yield view


def read_picture(folder: Path, timeout_s: float = 4.0) -> bytes:
    """Ask a running service for a JPEG of now.

    Raises `OSError` where none answers, `RefusedError` where it gives none now.
    """
    with _asked(folder, "picture", timeout_s) as lines:
        line = lines.readline()
    if not line.endswith(b"\n"):
        raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
    told = json.loads(line)
    if "picture" not in told:
        raise RefusedError(told.get("refused", "the table gives no picture"))
    return base64.b64decode(told["picture"])


@contextlib.contextmanager
def _asked(folder: Path, words: str, timeout_s: float) -> Iterator[BinaryIO]:
    """Say `words` to a running service; its answer comes line by line. Raises `OSError`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        with _address(folder / SOCKET_NAME) as address:
            connection.connect(address)
        with contextlib.suppress(BrokenPipeError):  # refused already: what it said can be read
            connection.sendall(words.encode() + b"\n")
        with connection.makefile("rb") as lines:
            yield lines


@contextlib.contextmanager
def _address(path: Path) -> Iterator[str]:
    """Spell `path` so that a local socket's address holds it, however deep its folder lies.

    Raises OSError where the folder is not there.
    """
    if len(os.fsencode(path)) <= MAX_ADDRESS:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
