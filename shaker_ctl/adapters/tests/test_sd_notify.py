"""What systemd is told, and that nobody minds when it does not listen."""

from __future__ import annotations

import socket
from pathlib import Path

from shaker_ctl.adapters.sd_notify import SdNotifier


def listener(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sock.bind(str(path))
    sock.settimeout(1.0)
    return sock


def test_readiness_and_end_are_told(tmp_path: Path) -> None:
    with listener(tmp_path / "notify") as sock:
        notifier = SdNotifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
        notifier.ready()
        notifier.stopping()
        said = [sock.recv(100) for _ in range(2)]
        notifier.close()
    assert said == [b"READY=1\nSTATUS=", b"STOPPING=1"]


def test_pings_are_thinned_to_a_quarter_of_the_interval(tmp_path: Path) -> None:
    now = [0.0]
    environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "2000000"}
    with listener(tmp_path / "notify") as sock:
        notifier = SdNotifier(environment, now=lambda: now[0])
        for n in range(200):
            now[0] = n * 0.01
            notifier.alive()
        sock.setblocking(False)
        pings = 0
        while True:
            try:
                pings += sock.recv(100) == b"WATCHDOG=1"
            except BlockingIOError:
                break
        notifier.close()
    assert pings == 4


def test_without_a_watchdog_no_ping_is_sent(tmp_path: Path) -> None:
    with listener(tmp_path / "notify") as sock:
        notifier = SdNotifier({"NOTIFY_SOCKET": str(tmp_path / "notify")})
        notifier.alive()
        notifier.ready()
        assert sock.recv(100).startswith(b"READY=1")
        notifier.close()


def test_a_long_start_asks_for_time_once_a_second_and_says_what_it_does(tmp_path: Path) -> None:
    now = [0.0]
    with listener(tmp_path / "notify") as sock:
        notifier = SdNotifier({"NOTIFY_SOCKET": str(tmp_path / "notify")}, now=lambda: now[0])
        for n in range(250):
            now[0] = n * 0.01
            notifier.starting("verifying the journal")
        said = [sock.recv(100) for _ in range(3)]
        notifier.close()
    assert said == [b"STATUS=verifying the journal\nEXTEND_TIMEOUT_USEC=30000000"] * 3


def test_a_manager_that_is_not_there_or_does_not_listen_is_no_trouble(tmp_path: Path) -> None:
    for environment in ({}, {"NOTIFY_SOCKET": str(tmp_path / "nobody")}):
        notifier = SdNotifier(environment)
        notifier.ready()
        notifier.alive()
        notifier.close()
