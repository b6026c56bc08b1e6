"""The page's web server: uvicorn, with a bound on connections and on how long each may wait.

Owns sockets, TLS, and the end. Must not know what is served.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from shaker_ctl.errors import SettingsError
from shaker_ctl.page.parameters import PageParameters

REQUEST_S = 10.0
"""Longest time from a connection, or from the first byte of a later request, to a whole request."""

HANDSHAKE_S = 5.0
"""Longest time from a connection to the end of its TLS handshake, and of its TLS farewell."""

STALLED_S = 30.0
"""Longest time in which a client reads nothing of what waits for it."""

OF_ONE_ADDRESS = 4
"""A client's address gets one connection of so many. A proxy on this computer may have all."""

OTHER_FILES = 100
"""Files that the page has open beside its connections, at most."""

BACKLOG = 64


class CountedConnection(socket.socket):
    """An accepted connection, which says when it is closed."""

    leave: Callable[[], None] = staticmethod(lambda: None)

    def close(self) -> None:
        leave, self.leave = self.leave, lambda: None
        super().close()
        leave()


class Listener(socket.socket):
    """Accepts connections, at most so many in all and so many of one address. One more is closed
    at once. They are counted from their first packet on, so also those that never begin with TLS.
    """

    max_open = 256

    def __init__(self, family: socket.AddressFamily) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self.open: Counter[str] = Counter()
        """Of each client's address."""

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection that may stay. Raises BlockingIOError where none waits, or
        where the first ones may not stay.
        """
        for _ in range(BACKLOG):
            plain, address = super().accept()
            client = client_of(address[0])
            max_of_one = (
                self.max_open if client == LOOPBACK else max(1, self.max_open // OF_ONE_ADDRESS)
            )
            if self.open.total() < self.max_open and self.open[client] < max_of_one:
                return self._counted(plain, client), address
            plain.close()
        raise BlockingIOError

    def _counted(self, plain: socket.socket, client: str) -> CountedConnection:
        self.open[client] += 1
        made = CountedConnection(fileno=plain.detach())
        made.leave = lambda: self._left(client)
        return made

    def _left(self, client: str) -> None:
        self.open[client] -= 1
        if not self.open[client]:
            del self.open[client]


LOOPBACK = "this computer"


def client_of(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or the /64 network of an IPv6 one.

    Another text, such as a test's name for a client, counts as it stands.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is None:
            of = str(IPv6Network((found, 64), strict=False))
            return LOOPBACK if found.is_loopback else of
        found = found.ipv4_mapped
    return LOOPBACK if found.is_loopback else str(found)


class PageLoop(asyncio.SelectorEventLoop):
    """asyncio's loop, whose servers do not wait a minute for a TLS handshake."""

    async def create_server(self, *told: Any, ssl: Any = None, **more: Any) -> asyncio.Server:
        if ssl is not None:
            more |= {"ssl_handshake_timeout": HANDSHAKE_S, "ssl_shutdown_timeout": HANDSHAKE_S}
        return await super().create_server(*told, ssl=ssl, **more)


class TimedConnection(H11Protocol):
    """A connection. One that takes too long to send a request, the first or a later one, or to
    read an answer, is closed."""

    _patience: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._patience = self.loop.call_later(REQUEST_S, transport.abort)

    def data_received(self, data: bytes) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(REQUEST_S, self.transport.abort)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE and self.conn.their_state is not h11.SEND_BODY:
            self._patience.cancel()
            self._patience = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._patience, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)


def listen(p: PageParameters) -> Listener:
    """Return the listening socket. Raises SettingsError where the address cannot be had, or where
    this process may not open so many files as `page.connections` needs.
    """
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed < p.connections + OTHER_FILES:
        raise SettingsError(
            f"page.connections is {p.connections}, and this process may open {allowed} files",
            remedy=f"Give LimitNOFILE={p.connections + OTHER_FILES} in shaker-page.service "
            "(ulimit -n in a shell), or fewer page.connections",
        )
    family = socket.AF_INET6 if ip_address(p.address).version == 6 else socket.AF_INET
    listener = Listener(family)
    listener.max_open = p.connections
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((p.address, p.port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"the page cannot listen at {p.address} port {p.port}: {error.strerror or error}",
            remedy="Give another page.address or page.port, or end what listens there",
        ) from error
    return listener


def address_of(p: PageParameters, listener: socket.socket) -> str:
    """Return the address that a person types."""
    host = p.address if ip_address(p.address).version == 4 else f"[{p.address}]"
    scheme = "http" if p.certificate is None else "https"
    return f"{scheme}://{p.name or f'{host}:{listener.getsockname()[1]}'}/"


def serve(
    app: ASGIApp,
    p: PageParameters,
    listener: socket.socket,
    ready: Callable[[], None],
    ending: Callable[[], None],
) -> None:
    """Serve until SIGTERM or Ctrl-C. `ready` is called when it serves, `ending` when it is told to
    end: streams must end by themselves then.

    Raises SettingsError where the certificate cannot be used.
    """
    require_certificate(p)
    config = uvicorn.Config(
        app,
        http=TimedConnection,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=1,
        ssl_certfile=p.certificate,
        ssl_keyfile=p.key,
    )
    # The server hands a signal on when it has ended: an ordered end is no death by that signal.
    signal.signal(signal.SIGTERM, lambda _signal, _frame: None)
    with contextlib.suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=PageLoop) as runner:
        runner.run(_served(uvicorn.Server(config), listener, ready, ending))


async def _served(
    server: uvicorn.Server,
    listener: socket.socket,
    ready: Callable[[], None],
    ending: Callable[[], None],
) -> None:
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if server.started:
        ready()
    while not server.should_exit and not serving.done():
        await asyncio.sleep(0.1)
    ending()
    await serving


def require_certificate(p: PageParameters) -> None:
    """Raise SettingsError where certificate and key cannot be used."""
    if p.certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(p.certificate, p.key)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"the page's certificate {p.certificate} with key {p.key} cannot be used: "
            f"{error.strerror or error}",
            remedy="shaker-ctl setup page makes a pair; the page's user must be able to read both",
        ) from error
