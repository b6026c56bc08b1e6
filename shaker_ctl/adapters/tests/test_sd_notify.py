"""What systemd is told, and that nobody minds when it does not listen."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from shaker_ctl.adapters.sd_notify import SdNotifier


def told(
    folder: Path, *acts: Callable[[SdNotifier], None], times: int = 1, **environment: str
) -> list[bytes]:
    """What a manager hears of acts that are done so many times, every 10 ms."""
    now_s, said, path = 0.0, list[bytes](), str(folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.setblocking(False)
        notifier = SdNotifier({"NOTIFY_SOCKET": path, **environment}, now=lambda: now_s)
        for number in range(times):
            now_s = number * 0.01
            for act in acts:
                act(notifier)
                with suppress(BlockingIOError):
                    said.append(manager.recv(100))
        notifier.close()
    return said


def test_readiness_and_end_are_told(tmp_path: Path) -> None:
    said = told(tmp_path, SdNotifier.ready, SdNotifier.stopping)
    assert said == [b"READY=1\nSTATUS=", b"STOPPING=1"]


def test_pings_are_thinned_to_a_quarter_of_the_interval(tmp_path: Path) -> None:
    said = told(tmp_path, SdNotifier.alive, times=200, WATCHDOG_USEC="2000000")
    assert said == [b"WATCHDOG=1"] * 4


def test_without_a_watchdog_no_ping_is_sent(tmp_path: Path) -> None:
    (said,) = told(tmp_path, SdNotifier.alive, SdNotifier.ready)
    assert said.startswith(b"READY=1")


def test_a_long_start_asks_for_time_once_a_second_and_says_what_it_does(tmp_path: Path) -> None:
    said = told(tmp_path, lambda one: one.starting("verifying the journal"), times=250)
    assert said == [b"STATUS=verifying the journal\nEXTEND_TIMEOUT_USEC=30000000"] * 3


def test_a_manager_that_is_not_there_or_does_not_listen_is_no_trouble(tmp_path: Path) -> None:
    for environment in ({}, {"NOTIFY_SOCKET": str(tmp_path / "nobody")}):
        notifier = SdNotifier(environment)
        notifier.ready()
        notifier.alive()
        notifier.close()
