"""Sockets: connections, their order of commands, and the bad manners of a daemon in trouble.

Owns: bytes in and out of TCP. Must not know: what commands do.
"""

from __future__ import annotations

import contextlib
import socket
from enum import Enum, auto

from virtual_pigpiod.daemon import Daemon
from virtual_pigpiod.loop import Loop
from virtual_pigpiod.refusals import CommandRefusedError
from virtual_pigpiod.results import Later, Result
from virtual_pigpiod.wire import Command, Request, reply, take_request

LAST_PORT = 65535

MAX_CLIENTS = 500
"""Connections at once, and more are turned away: select() takes file numbers up to 1023, and the
rig has other files."""


class Manners(Enum):
    """How the daemon treats its clients."""

    NORMAL = auto()
    HANG = auto()
    """Connections are accepted, nothing is ever answered; scripts and outputs go on."""
    REJECT = auto()
    """New connections are closed at once, as for an address that is not on the list."""


class ClientConnection:
    """One client's socket. Its commands are carried out strictly one after the other."""

    def __init__(self, sock: socket.socket, server: Server) -> None:
        self._sock = sock
        self._server = server
        self._loop = server.loop
        self._received = bytearray()
        self._unsent = bytearray()
        self._is_waiting = False
        self._is_paused = False
        self._late: tuple[Request, int] | None = None  # a delayed reply that a pause holds back
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._loop.on_readable(sock, self._on_readable)

    def send(self, data: bytes) -> bool:
        """Send at once, in one piece if the socket takes it; keep the rest for later."""
        if not self._unsent:
            try:
                sent = self._sock.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                return True  # gone; noticed at the next read
            if sent == len(data):
                return True
            data = data[sent:]
            self._loop.on_writable(self._sock, self._on_writable)
        self._unsent += data
        return False

    def release(self) -> None:
        """Its notification handle was closed; the connection stays."""
        self._server.daemon.alerts.resume(self)

    def pause(self) -> None:
        """Read and answer nothing more."""
        self._is_paused = True
        self._loop.on_readable(self._sock, None)

    def resume(self) -> None:
        """Read and answer again, first what came before the pause."""
        if not self._is_paused:
            return
        self._is_paused = False
        self._loop.on_readable(self._sock, self._on_readable)
        if self._late is not None:
            request, result = self._late
            self._late = None
            self._answer_late(request, result)
        self._serve()

    def close(self) -> None:
        """Close the socket."""
        self._loop.on_readable(self._sock, None)
        self._loop.on_writable(self._sock, None)
        self._received.clear()
        self._sock.close()

    def _on_readable(self) -> None:
        try:
            data = self._sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._server.forget(self)
            return
        self._received += data
        self._serve()

    def _serve(self) -> None:
        while not (self._is_waiting or self._is_paused):
            try:
                request = take_request(self._received)
            except ValueError:  # too long: the daemon closes without a word
                self._server.forget(self)
                return
            if request is None:
                return
            self._answer(request, self._execute(request))

    def _execute(self, request: Request) -> Result:
        if request.command != Command.NOIB:
            return self._server.daemon.execute(request)
        try:
            number = self._server.daemon.handles.open(self)
        except CommandRefusedError as refusal:
            return refusal.reason
        # v79 switches Nagle's algorithm back on here, which delays the first report after a pause.
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        return number

    def _answer(self, request: Request, result: Result) -> None:
        if isinstance(result, Later):
            self._is_waiting = True
            self._loop.call_at(result.at_us, lambda: self._answer_late(request, result.result))
        elif isinstance(result, bytes):
            self.send(reply(request, len(result), result))
        else:
            self.send(reply(request, result))

    def _answer_late(self, request: Request, result: int) -> None:
        if self._is_paused:
            self._late = (request, result)
            return
        self._is_waiting = False
        self._answer(request, result)
        self._serve()

    def _on_writable(self) -> None:
        try:
            sent = self._sock.send(self._unsent)
        except BlockingIOError:
            return
        except OSError:
            sent = len(self._unsent)
        del self._unsent[:sent]
        if not self._unsent:
            self._loop.on_writable(self._sock, None)
            self._server.daemon.alerts.resume(self)


class Server:
    """The listening socket and its connections."""

    def __init__(self, loop: Loop, daemon: Daemon, listener: socket.socket) -> None:
        self.loop = loop
        self.daemon = daemon
        self._listener = listener
        self._connections: set[ClientConnection] = set()
        self._manners = Manners.NORMAL
        listener.setblocking(False)
        loop.on_readable(listener, self._accept)

    @property
    def connections(self) -> int:
        """Clients connected now; a `pigpio.pi()` counts twice."""
        return len(self._connections)

    def behave(self, manners: Manners) -> None:
        """Change manners; what clients sent during a hang is answered after it."""
        self._manners = manners
        for connection in self._connections:
            if manners == Manners.HANG:
                connection.pause()
            else:
                connection.resume()

    def drop(self) -> None:
        """Close every connection; outputs, scripts and waves go on."""
        for connection in list(self._connections):
            self.forget(connection)

    def forget(self, connection: ClientConnection) -> None:
        """Close a connection and free the handles that were bound to it."""
        connection.close()
        self._connections.discard(connection)
        self.daemon.handles.close_all_of(connection)
        self.daemon.alerts.resume(connection)

    def close(self) -> None:
        """Stop listening and close every connection."""
        self.loop.on_readable(self._listener, None)
        self._listener.close()
        self.drop()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # gone again, or no file number is left
            sock, _ = self._listener.accept()
            if self._manners == Manners.REJECT or len(self._connections) >= MAX_CLIENTS:
                sock.close()
                return
            connection = ClientConnection(sock, self)
            self._connections.add(connection)
            if self._manners == Manners.HANG:
                connection.pause()


def listen(host: str, port: int) -> socket.socket:
    """A listening TCP socket; port 0 takes a free one. Raises OSError."""
    listener = socket.create_server((host, port), backlog=100)
    listener.setblocking(False)
    return listener
