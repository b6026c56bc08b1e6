"""Requests for lines of the chip, as the kernel keeps them: who holds a line, what it reports.

Owns exclusive use, direction, bias, values, edges with debounce, and what a closed request leaves.
Must not know system calls: descriptors are ends of sockets, which close with their last holder.
"""

from __future__ import annotations

import errno
import math
import os
import select
import socket
import threading
from dataclasses import dataclass, field

from hil_tests.rig.gpiochip.uapi import LINES_MAX, Edge, LineEvent, LineFlag, LineInfo, LineRequest
from virtual_pigpiod.pins.board import Board, now_us
from virtual_pigpiod.pins.pin import Mode, Pull
from virtual_pigpiod.pins.timeline import Tap
from virtual_pigpiod.reports.filters import GlitchFilter

LINES = 54
"""As the RP1 of a Raspberry Pi 5 has them."""

EVENT_BUFFER = 16
"""Events that the kernel keeps for each line of a request before it drops the oldest."""

LATENCY_US = 100
"""From an edge to its event."""

_TURN_S = 1.0


@dataclass(slots=True, eq=False)
class WatchedLine:
    """Edges of one line on their way to its holder."""

    gpio: int
    flags: LineFlag
    tap: Tap
    filter: GlitchFilter | None
    count: int = 0


@dataclass(slots=True, eq=False)
class HeldLines:
    """Lines that one open descriptor holds."""

    offsets: tuple[int, ...]
    flags: tuple[LineFlag, ...]
    consumer: bytes
    ours: socket.socket
    theirs: str
    """What the holder's descriptor is called under /proc: it names the request in later calls."""
    watches: list[WatchedLine] = field(default_factory=list)
    count: int = 0


class Lines:
    """The chip's lines. Callers take, read and write; events go out by a thread."""

    def __init__(self, board: Board, *, strict: bool) -> None:
        """`strict`: as with `dtparam=strict_gpiod`, a released output becomes an input again."""
        self._board = board
        self._strict = strict
        self._lock = threading.RLock()
        self._requests: dict[str, HeldLines] = {}
        self._holder: dict[int, HeldLines] = {}
        self._poll = select.epoll()
        self._wake, self._woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._poll.register(self._wake, select.EPOLLIN)
        self._due_us = math.inf
        self._ends = False
        self._thread = threading.Thread(target=self._run, name="gpiochip-lines", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread and let go of every line, as a reboot would not: levels stay."""
        self._ends = True
        os.write(self._woken, b"x")
        self._thread.join()
        for request in list(self._requests.values()):
            self._poll.unregister(request.ours)
            request.ours.close()
        self._poll.close()
        os.close(self._wake)
        os.close(self._woken)

    # ── What callers ask ────────────────────────────────────────────────────

    def take(self, asked: LineRequest) -> socket.socket:
        """Give lines to a new holder; return its end. Raises OSError as the kernel would."""
        count = asked.num_lines
        if not 0 < count <= LINES_MAX:
            raise OSError(errno.EINVAL, "number of lines")
        offsets = tuple(asked.offsets[:count])
        if any(offset >= LINES for offset in offsets) or len(set(offsets)) != count:
            raise OSError(errno.EINVAL, "offsets")
        flags = tuple(asked.config.flags_of(index) for index in range(count))
        with self._lock:
            if any(offset in self._holder for offset in offsets):
                raise OSError(errno.EBUSY, "a line is in use")
            ours, theirs = socket.socketpair()
            size = (asked.event_buffer_size or EVENT_BUFFER * count) * _EVENT_BYTES
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
            name = os.readlink(f"/proc/self/fd/{theirs.fileno()}")
            request = HeldLines(offsets, flags, asked.consumer, ours, name)
            for index, (gpio, flag) in enumerate(zip(offsets, flags, strict=True)):
                self._set_up(request, gpio, flag, asked, index)
            self._requests[name] = request
            self._holder.update(dict.fromkeys(offsets, request))
            self._poll.register(ours, select.EPOLLIN | select.EPOLLRDHUP)
            self._watch()
        return theirs

    def _set_up(
        self, request: HeldLines, gpio: int, flag: LineFlag, asked: LineRequest, index: int
    ) -> None:
        if flag & LineFlag.OUTPUT:
            self._board.output(gpio, asked.config.level_of(index))
            return
        if flag & (LineFlag.PULL_UP | LineFlag.PULL_DOWN | LineFlag.BIAS_DISABLED):
            pull = Pull.UP if flag & LineFlag.PULL_UP else Pull.DOWN
            self._board.set_pull(gpio, Pull.OFF if flag & LineFlag.BIAS_DISABLED else pull)
        if flag & LineFlag.INPUT:
            self._board.set_mode(gpio, Mode.INPUT)
        if flag & (LineFlag.EDGE_RISING | LineFlag.EDGE_FALLING):
            tap = self._board.tap(gpio)
            debounce_us = asked.config.debounce_us_of(index)
            steady = GlitchFilter(debounce_us, tap.level, tap.level, now_us())
            request.watches.append(WatchedLine(gpio, flag, tap, steady if debounce_us else None))

    def request(self, name: str) -> HeldLines | None:
        """The request behind a holder's descriptor."""
        return self._requests.get(name)

    def values(self, request: HeldLines, mask: int) -> int:
        """Levels of the request's lines in `mask`, bit n for its n-th line."""
        with self._board.locked():
            return sum(
                self._board.level(gpio) << index
                for index, gpio in enumerate(request.offsets)
                if mask >> index & 1
            )

    def write(self, request: HeldLines, mask: int, levels: int) -> None:
        """Set outputs. Raises OSError (EPERM) where one of them is an input."""
        chosen = [index for index in range(len(request.offsets)) if mask >> index & 1]
        if any(not request.flags[index] & LineFlag.OUTPUT for index in chosen):
            raise OSError(errno.EPERM, "not an output")
        rising = sum(1 << request.offsets[i] for i in chosen if levels >> i & 1)
        falling = sum(1 << request.offsets[i] for i in chosen if not levels >> i & 1)
        self._board.write(rising, falling)

    def describe(self, offset: int) -> LineInfo:
        """Who holds a line and how. Raises OSError (EINVAL)."""
        if offset >= LINES:
            raise OSError(errno.EINVAL, "offset")
        info = LineInfo(name=f"GPIO{offset}".encode(), offset=offset, flags=LineFlag.INPUT)
        holder = self._holder.get(offset)
        if holder is not None:
            info.consumer = holder.consumer
            info.flags = holder.flags[holder.offsets.index(offset)] | LineFlag.USED
        elif self._board.mode(offset) is Mode.OUTPUT:
            info.flags = LineFlag.OUTPUT
        return info

    # ── Events, and the end of a request ────────────────────────────────────

    def _watch(self) -> None:
        mask = sum(1 << watch.gpio for r in self._requests.values() for watch in r.watches)
        self._board.watch(mask, self._notice)

    def _notice(self, at_us: int) -> None:
        """Called by whoever moves a pin."""
        due_us = max(at_us, now_us()) + LATENCY_US
        if due_us < self._due_us:
            self._due_us = due_us
            os.write(self._woken, b"x")

    def _run(self) -> None:
        while not self._ends:
            wait_s = min(_TURN_S, max(0.0, (self._due_us - now_us()) / 1e6))
            for descriptor, what in self._poll.poll(wait_s):
                if descriptor == self._wake:
                    os.read(self._wake, 4096)
                elif what & (select.EPOLLRDHUP | select.EPOLLHUP):
                    self._release(descriptor)
            if now_us() >= self._due_us:
                self._due_us = math.inf
                self._report()

    def _release(self, descriptor: int) -> None:
        """The last holder has closed its descriptor, or has ended."""
        with self._lock:
            gone = [r for r in self._requests.values() if r.ours.fileno() == descriptor]
            for request in gone:
                self._poll.unregister(descriptor)
                request.ours.close()
                del self._requests[request.theirs]
                for gpio in request.offsets:
                    del self._holder[gpio]
                    if self._strict:
                        self._board.set_mode(gpio, Mode.INPUT)
            self._watch()

    def _report(self) -> None:
        with self._lock, self._board.locked():
            at_us = now_us() - 1
            next_us = math.inf
            for request in self._requests.values():
                found = []
                for watch in request.watches:
                    self._board.pins[watch.gpio].settle(at_us)
                    edges = watch.tap.take(at_us)
                    if watch.filter is not None:
                        edges = watch.filter.apply(edges, at_us)
                        next_us = min(next_us, watch.filter.due_us)
                    found += [(at, watch, level) for at, level in edges]
                    coming_us = self._board.pins[watch.gpio].next_external_us
                    next_us = min(next_us, math.inf if coming_us is None else coming_us)
                found.sort(key=lambda edge: edge[0])
                for at, watch, level in found:
                    self._send(request, watch, at, level)
        if next_us < math.inf:
            self._due_us = min(self._due_us, max(next_us, now_us()) + LATENCY_US)

    def _send(self, request: HeldLines, watch: WatchedLine, at_us: int, level: int) -> None:
        if not watch.flags & (LineFlag.EDGE_RISING if level else LineFlag.EDGE_FALLING):
            return
        request.count += 1
        watch.count += 1
        event = LineEvent(
            timestamp_ns=at_us * 1000,
            id=Edge.RISING if level else Edge.FALLING,
            offset=watch.gpio,
            seqno=request.count,
            line_seqno=watch.count,
        )
        try:
            request.ours.send(bytes(event), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except OSError:
            return  # Full, and the holder finds a gap in the sequence; or gone, which `_run` hears.


_EVENT_BYTES = 1024
"""What an event of 48 bytes costs in a socket's buffer."""
