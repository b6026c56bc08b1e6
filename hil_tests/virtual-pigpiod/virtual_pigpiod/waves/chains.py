"""Chains: waves, delays and nested loops in one transmission, written as bytes.

Owns: the byte language and its limits. Must not know: playing.
"""

from __future__ import annotations

from collections.abc import Callable

from virtual_pigpiod.refusals import CommandRefusedError, Reason, refuse_if
from virtual_pigpiod.waves.patterns import Pattern, RepeatedPattern, Sequence

ESCAPE = 255

MAX_NESTING = 10
MAX_COUNTERS = 20
MAX_BLOCKS = 600


class _Builder:
    """Reads a chain from left to right; the open loops are a stack of unfinished bodies."""

    def __init__(self, chain: bytes, wave: Callable[[int], Pattern]) -> None:
        self._chain = chain
        self._wave = wave
        self._at = 0
        self._bodies: list[list[Pattern]] = [[]]
        self._starts: list[int] = []
        self._blocks = 1  # control blocks used: the initial delay
        self._counters = 0

    def build(self) -> Pattern:
        while self._at < len(self._chain):
            code = self._chain[self._at]
            if code != ESCAPE:
                # The block after a wave's own must exist too.
                self._use_block(spare=1)
                self._bodies[-1].append(self._wave(code))
                self._at += 1
                continue
            refuse_if(self._at + 2 > len(self._chain), Reason.BAD_CHAIN_CMD)
            match self._chain[self._at + 1]:
                case 0:
                    self._start_loop()
                case 1:
                    self._repeat_loop()
                case 2:
                    self._delay()
                case 3:
                    self._loop_forever()
                case _:
                    raise CommandRefusedError(Reason.BAD_CHAIN_CMD)
        self._use_block()
        while len(self._bodies) > 1:  # loops left open play once
            self._close_loop(1)
        return Sequence(self._bodies[0])

    def _start_loop(self) -> None:
        refuse_if(len(self._starts) >= MAX_NESTING, Reason.CHAIN_NESTING)
        self._starts.append(self._blocks)
        self._bodies.append([])
        self._at += 2

    def _repeat_loop(self) -> None:
        refuse_if(self._counters >= MAX_COUNTERS, Reason.CHAIN_COUNTER)
        count = self._number()
        self._check_body()
        if count > 1:
            self._use_block(spare=1)
            self._counters += 1
        self._close_loop(count)

    def _loop_forever(self) -> None:
        self._check_body()
        self._use_block()
        self._at += 2
        refuse_if(self._at < len(self._chain), Reason.BAD_FOREVER)
        self._starts.pop()
        self._bodies[-2].append(RepeatedPattern(Sequence(self._bodies.pop())))

    def _delay(self) -> None:
        delay_us = self._number()
        if delay_us:
            self._use_block()
            self._bodies[-1].append(Pattern(delay_us))

    def _number(self) -> int:
        refuse_if(self._at + 4 > len(self._chain), Reason.BAD_CHAIN_CMD)
        value = int.from_bytes(self._chain[self._at + 2 : self._at + 4], "little")
        self._at += 4
        return value

    def _check_body(self) -> None:
        refuse_if(not self._starts or self._starts[-1] == self._blocks, Reason.BAD_CHAIN_LOOP)

    def _close_loop(self, count: int) -> None:
        self._starts.pop()
        body = Sequence(self._bodies.pop())
        if count:
            self._bodies[-1].append(body if count == 1 else RepeatedPattern(body, count))

    def _use_block(self, spare: int = 0) -> None:
        refuse_if(self._blocks + spare >= MAX_BLOCKS, Reason.CHAIN_TOO_BIG)
        self._blocks += 1


def chain_pattern(chain: bytes, wave: Callable[[int], Pattern]) -> Pattern:
    """What `chain` plays; `wave(id)` gives a wave's pattern or raises. Raises RefusedError."""
    return _Builder(chain, wave).build()
