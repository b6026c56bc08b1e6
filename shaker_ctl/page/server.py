"""The page's web server: uvicorn, with a bound on connections and on how long each may wait.

Owns sockets, TLS, and the end. Must not know what is served.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import ssl
from collections.abc import Callable
from ipaddress import ip_address

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from shaker_ctl.errors import SettingsError
from shaker_ctl.page.parameters import PageParameters

REQUEST_S = 10.0
"""Longest time from a connection, or from the first byte of a later request, to a whole request."""

STALLED_S = 30.0
"""Longest time in which a client reads nothing of what waits for it."""

BACKLOG = 64


class Door(H11Protocol):
    """A connection. One above the limit is closed at once. So is one that takes too long to send a
    request, the first or a later one, or to read an answer."""

    most = 256
    _patience: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        if len(self.connections) >= self.most:
            transport.close()
            return
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
        if self.flow is not None:  # None where it was one too many
            super().connection_lost(exc)


def listen(p: PageParameters) -> socket.socket:
    """Return the listening socket. Raises SettingsError where the address cannot be had."""
    family = socket.AF_INET6 if ip_address(p.address).version == 6 else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
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
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or Ctrl-C. `ready` is called when it serves, `ending` when it is told to
    end: streams must end by themselves then.

    Raises SettingsError where the certificate cannot be used.
    """
    require_certificate(p)
    door = type("Door", (Door,), {"most": p.connections})
    config = uvicorn.Config(
        app,
        http=door,
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
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_served(uvicorn.Server(config), listener, ready, ending))


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
            remedy="shaker-ctl install --page makes a pair; the page's user must be able to read "
            "both",
        ) from error
