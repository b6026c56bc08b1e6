"""Logging never waits for the stream, loses nothing in order, and says what it had to drop."""

from __future__ import annotations

import io
import logging
import re
import threading
import time
from collections.abc import Iterator

import pytest

from shaker_ctl.adapters import waitless_log

pytestmark = pytest.mark.timed

log = logging.getLogger("shaker_ctl.test")


class HungStream(io.StringIO):
    """Takes nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def write(self, text: str) -> int:
        self.go.wait(5.0)
        return super().write(text)


@pytest.fixture
def hung() -> Iterator[HungStream]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    stream = HungStream()
    listener = waitless_log.start(logging.INFO, stream)
    yield stream
    stream.go.set()
    waitless_log.end(listener)
    root.handlers[:] = handlers
    root.setLevel(level)


def written(stream: HungStream, lines: int) -> list[str]:
    deadline = time.monotonic() + 5.0
    while len(stream.getvalue().splitlines()) < lines and time.monotonic() < deadline:
        time.sleep(0.005)
    return stream.getvalue().splitlines()


def test_a_stream_that_hangs_holds_up_nobody_and_loses_nothing(hung: HungStream) -> None:
    began = time.monotonic()
    for number in range(500):
        log.info("line %d", number)
    assert time.monotonic() - began < 1.0
    hung.go.set()
    lines = written(hung, 500)
    assert [line.rpartition(" ")[2] for line in lines] == [str(n) for n in range(500)]


def test_what_had_to_be_dropped_is_counted(
    hung: HungStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waitless_log, "MAX_LINES", 10)
    for number in range(50):
        log.info("line %d", number)
    hung.go.set()
    written(hung, 10)
    log.info("the last")
    deadline = time.monotonic() + 10.0
    while "the last\n" not in hung.getvalue() and time.monotonic() < deadline:
        time.sleep(0.005)
    lines = hung.getvalue().splitlines()
    dropped = [int(n) for n in re.findall(r"(\d+) lines were dropped here", "\n".join(lines))]
    kept = [line for line in lines if " line " in line]
    assert dropped
    assert len(kept) + sum(dropped) == 50
    assert lines[-1].endswith("the last")


def test_a_traceback_goes_with_its_line(hung: HungStream) -> None:
    hung.go.set()
    try:
        raise ValueError("what happened")
    except ValueError:
        log.exception("it failed")
    assert any("ValueError: what happened" in line for line in written(hung, 4))
