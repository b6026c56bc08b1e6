"""The web server over a real socket: streams, too many connections, ones that dawdle, the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.server import ServerState

from hil_tests.waiting import until
from shaker_ctl.errors import SettingsError
from shaker_ctl.installation.certificate import CERTIFICATE, KEY, make_pair
from shaker_ctl.page import server
from shaker_ctl.page.parameters import PageParameters
from shaker_ctl.page.tests.a_journal import Scribe

CONNECTIONS = 8


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    scribe = Scribe(tmp_path / "journal.jsonl")
    scribe.round(1, (1, 6, 6))
    scribe.close()
    settings = tmp_path / "settings.toml"
    settings.write_text(
        f'[page]\nport = 0\nlogin = false\nstate_dir = "{tmp_path}/page"\n'
        f"connections = {CONNECTIONS}\n"
        f'[service]\nruntime_dir = "{tmp_path}/run"\n'
        f'[journal]\npath = "{tmp_path}/journal.jsonl"\npictures = "{tmp_path}/pictures"\n'
    )
    program = [sys.executable, "-c", "from shaker_ctl.main import app; app()"]
    process = subprocess.Popen(
        [*program, "page", "--config", str(settings)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("page: http://127.0.0.1:"), line
    yield process, int(line.rstrip().rstrip("/").rpartition(":")[2])
    if process.poll() is None:
        process.terminate()
    process.wait()
    process.stdout.close()


def ask(port: int, path: str = "/") -> socket.socket:
    line = socket.create_connection(("127.0.0.1", port), 30)
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    return line


def _answer(port: int) -> bytes:
    """The beginning of an answer; nothing where the connection is closed instead."""
    with contextlib.suppress(ConnectionError), ask(port, "/sign") as line:
        return line.recv(100)
    return b""


def test_a_stream_begins_with_all_parts_and_ends_with_the_server(served) -> None:
    process, port = served
    with ask(port, "/stream/sign") as line:
        told = b""
        while b'"road"' not in told:
            piece = line.recv(65536)
            assert piece
            told += piece
        assert b"text/event-stream" in told
        process.send_signal(signal.SIGTERM)
        while line.recv(65536):
            pass
    assert process.wait(30) == 0


def test_one_connection_too_many_is_closed_and_the_others_stay(served) -> None:
    _, port = served
    with contextlib.ExitStack() as others:
        for _ in range(CONNECTIONS):
            others.enter_context(socket.create_connection(("127.0.0.1", port), 30))
        assert _answer(port) == b""

    until(lambda: _answer(port).startswith(b"HTTP/1.1 200"), every_s=0.1)


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("127.0.0.9", server.LOOPBACK),
        ("::1", server.LOOPBACK),
        ("::ffff:127.0.0.1", server.LOOPBACK),
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::1:2:3:4", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_a_client_is_an_address_or_a_network(address: str, client: str) -> None:
    assert server.client_of(address) == client


def test_one_address_has_a_quarter_of_all_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(server.listen(PageParameters(port=0, connections=CONNECTIONS))) as door:
        door.setblocking(False)
        with contextlib.ExitStack() as lines:

            def come() -> socket.socket:
                lines.enter_context(socket.create_connection(door.getsockname(), 30))
                return lines.enter_context(door.accept()[0])

            monkeypatch.setattr(server, "client_of", lambda address: "192.0.2.7")
            first, _ = come(), come()
            with pytest.raises(BlockingIOError):
                come()
            monkeypatch.setattr(server, "client_of", lambda address: "192.0.2.8")
            come()
            monkeypatch.setattr(server, "client_of", lambda address: "192.0.2.7")
            first.close()
            first.close()
            come()
        assert not door.open


def test_more_connections_than_files_are_refused_before_anything_listens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _of: (256, 256))
    with pytest.raises(SettingsError, match="may open 256 files"):
        server.listen(PageParameters(port=0, connections=200))


def test_a_client_that_never_begins_with_tls_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HANDSHAKE_S", 0.3)
    make_pair(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / CERTIFICATE, tmp_path / KEY)

    async def silent() -> bytes:
        listener = server.listen(PageParameters(port=0))
        loop = asyncio.get_running_loop()
        serving = await loop.create_server(asyncio.Protocol, sock=listener, ssl=context)
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        async with asyncio.timeout(30):
            told = await reader.read()
            while listener.open:
                await asyncio.sleep(0.01)
        writer.close()
        serving.close()
        return told

    with asyncio.Runner(loop_factory=server.PageLoop) as runner:
        assert runner.run(silent()) == b""


def test_bytes_that_are_no_request_are_refused(served) -> None:
    _, port = served
    with socket.create_connection(("127.0.0.1", port), 30) as line:
        line.sendall(b"\x16\x03\x01\x00\xff" * 50 + b"\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 400")


async def _body(request: Request) -> Response:
    return Response(await request.body())


async def _much(_request: Request) -> Response:
    return Response(bytes(1 << 26))


REQUEST = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "dawdles_with"),
    [
        (b"", b"GET / HTTP/1.1\r\nHost: here\r\nX: "),
        (REQUEST + b"ok", b"GET / HTTP/1.1\r\nHost: here\r\nX: "),
        (b"", REQUEST),
        (REQUEST + b"ok", REQUEST),
        (b"GET /much HTTP/1.1\r\nHost: here\r\n\r\n", b""),
    ],
    ids=["head", "later head", "body", "later body", "answer unread"],
)
def test_a_connection_that_dawdles_is_closed(
    sent: bytes, dawdles_with: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "REQUEST_S", 0.3)
    monkeypatch.setattr(server, "STALLED_S", 0.3)
    app = Starlette(routes=[Route("/", _body, methods=["GET", "POST"]), Route("/much", _much)])
    config, state = uvicorn.Config(app, http=server.TimedConnection, lifespan="off"), ServerState()

    async def dawdle() -> None:
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(
            lambda: server.TimedConnection(config, state, {}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        writer.write(sent)
        if sent.endswith(b"ok"):
            while b"ok" not in await reader.read(1000):
                pass
        writer.write(dawdles_with)
        async with asyncio.timeout(30):
            while not state.connections:
                await asyncio.sleep(0.01)
            while state.connections:
                with contextlib.suppress(ConnectionError):
                    writer.write(b"x" * bool(dawdles_with and not dawdles_with.startswith(b"P")))
                await asyncio.sleep(0.05)
        writer.close()
        listening.close()

    asyncio.run(dawdle())


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (b"Content-Length: 10\r\nTransfer-Encoding: chunked", b"411"),
        (b"Transfer-Encoding: chunked", b"411"),
        (b"Content-Length: 400000000", b"413"),
    ],
)
def test_a_body_beyond_its_bound_is_refused_before_it_is_kept(served, told, status) -> None:
    process, port = served
    resident = Path(f"/proc/{process.pid}/statm")
    before = int(resident.read_text().split()[1])
    with socket.create_connection(("127.0.0.1", port), 30) as line:
        head = (
            f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
        )
        line.sendall(head.encode() + told + b"\r\n\r\n")
        piece = b"10000\r\n" + b"a" * 65536 + b"\r\n"
        with contextlib.suppress(ConnectionError):
            for _ in range(6400):
                line.sendall(piece)
        with contextlib.suppress(ConnectionError):
            assert line.recv(100).startswith(b"HTTP/1.1 " + status)
    pages = int(resident.read_text().split()[1]) - before
    assert pages * resource.getpagesize() < 5_000_000
