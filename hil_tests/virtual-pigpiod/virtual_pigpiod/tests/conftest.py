"""A board, a daemon on it, and clients: the real pigpio module, or bare requests."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator

import pigpio
import pytest

from virtual_pigpiod.client import hang_up
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod


class RawClient:
    """Requests and replies as bytes on one connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, command: int, p1: int = 0, p2: int = 0, extension: bytes = b"") -> int:
        """Result of one command that has no payload."""
        self.send(command, p1, p2, extension)
        return self.reply()[3]

    def send(self, command: int, p1: int = 0, p2: int = 0, extension: bytes = b"") -> None:
        header = struct.pack("<4I", command, p1, p2, len(extension))
        self.socket.sendall(header + extension)

    def reply(self) -> tuple[int, int, int, int]:
        """One reply header, read as the Python client does: with a single recv."""
        return struct.unpack("<3Ii", self.socket.recv(16))

    def payload(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += self.socket.recv(size - len(data))
        return data


@pytest.fixture
def board(virtual_pigpiod: VirtualPigpiod) -> Board:
    return virtual_pigpiod.board


@pytest.fixture
def daemon(virtual_pigpiod: VirtualPigpiod) -> VirtualPigpiod:
    return virtual_pigpiod


@pytest.fixture
def connect(daemon: VirtualPigpiod) -> Iterator[Callable[[], RawClient]]:
    """More connections, all closed at the end."""
    clients: list[RawClient] = []

    def connect() -> RawClient:
        clients.append(RawClient(daemon.port))
        return clients[-1]

    yield connect
    for client in clients:
        client.socket.close()


@pytest.fixture
def raw(connect: Callable[[], RawClient]) -> RawClient:
    return connect()


@pytest.fixture
def pi(daemon: VirtualPigpiod) -> Iterator[pigpio.pi]:
    client = pigpio.pi("127.0.0.1", daemon.port)
    assert client.connected
    yield client
    hang_up(client)
