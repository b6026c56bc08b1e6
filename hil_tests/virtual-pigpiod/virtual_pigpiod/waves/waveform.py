"""Building a wave: pulses merged from trains and serial data.

Owns: what the unfinished wave becomes when something is added. Must not know: ids, playing, pins'
permissions. A pulse sets and clears pins at once and then waits.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass

from virtual_pigpiod.refusals import Reason, refuse_if

MAX_PULSES = 12_000
MAX_CHARS = 1200
MAX_US = 1_800_000_000


@dataclass(slots=True, frozen=True)
class Pulse:
    """Bits of the pins to set, of those to clear, then a pause."""

    on: int
    off: int
    delay_us: int

    @property
    def control_blocks(self) -> int:
        """DMA control blocks it takes: one to write pins, one to wait."""
        return bool(self.on | self.off) + bool(self.delay_us)

    @property
    def words(self) -> int:
        """Words of DMA data it takes."""
        return bool(self.on) + bool(self.off)


def pulses_from(extension: bytes) -> list[Pulse]:
    """The pulses of a WVAG extension; an incomplete last one is dropped."""
    whole = len(extension) // 12 * 12
    return [Pulse(*words) for words in struct.iter_unpack("<3I", extension[:whole])]


def merged(added: list[Pulse], present: list[Pulse]) -> list[Pulse]:
    """Both trains at once, from a common start. Pulses due at the same time become one.

    Nothing added to nothing is nothing. Raises RefusedError when there are too many.
    """
    if not (added or present):
        return []
    starts_added, end_added = _starts(added)
    starts_present, end_present = _starts(present)
    found: list[tuple[int, int, int]] = []
    i = j = 0
    while i < len(added) or j < len(present):
        due_added = starts_added[i] if i < len(added) else None
        due_present = starts_present[j] if j < len(present) else None
        at_us = min(due for due in (due_added, due_present) if due is not None)
        on = off = 0
        if due_added == at_us:
            on, off = added[i].on, added[i].off
            i += 1
        if due_present == at_us:
            on, off = on | present[j].on, off | present[j].off
            j += 1
        found.append((at_us, on, off))
    refuse_if(len(found) >= MAX_PULSES, Reason.TOO_MANY_PULSES)
    ends = [*(at_us for at_us, _, _ in found[1:]), max(end_added, end_present)]
    return [Pulse(on, off, end - at) for (at, on, off), end in zip(found, ends, strict=True)]


def serial_pulses(
    gpio: int, baud: int, data_bits: int, half_stops: int, offset_us: int, data: bytes
) -> list[Pulse]:
    """Characters as a serial line sends them: idle high, start bit low, least bit first.

    Bit times are rounded to whole microseconds so that the error does not add up. Up to 8 data bits
    take a byte per character, up to 16 two, up to 32 four. Raises RefusedError.
    """
    refuse_if(not 50 <= baud <= 1_000_000, Reason.BAD_WAVE_BAUD)
    refuse_if(not 1 <= data_bits <= 32, Reason.BAD_DATABITS)
    refuse_if(not 2 <= half_stops <= 8, Reason.BAD_STOPBITS)
    refuse_if(len(data) > MAX_CHARS, Reason.TOO_MANY_CHARS)
    refuse_if(offset_us > MAX_US, Reason.BAD_SER_OFFSET)
    times_us = _bit_times(baud, data_bits, half_stops)
    high, low = (1 << gpio, 0), (0, 1 << gpio)
    pulses = [Pulse(*high, max(offset_us, times_us[0]))]
    characters = _characters(data, data_bits)
    for character in characters:
        levels = [0, *(character >> bit & 1 for bit in range(data_bits)), 1]
        for level, group_us in _runs(levels, times_us):
            pulses.append(Pulse(*(high if level else low), group_us))
    return pulses if characters else []


def _starts(pulses: list[Pulse]) -> tuple[list[int], int]:
    starts, at_us = [], 0
    for pulse in pulses:
        starts.append(at_us)
        at_us += pulse.delay_us
    return starts, at_us


def _bit_times(baud: int, data_bits: int, half_stops: int) -> list[int]:
    bit_ns = 1_000_000_000 // baud
    ends_ns = [(bit + 1) * bit_ns for bit in range(data_bits + 1)]
    ends_ns.append(ends_ns[-1] + half_stops * bit_ns // 2)
    ends_us = [0, *((end + 500) // 1000 for end in ends_ns)]
    return [end - begin for begin, end in itertools.pairwise(ends_us)]


def _characters(data: bytes, data_bits: int) -> list[int]:
    size = 1 if data_bits <= 8 else 2 if data_bits <= 16 else 4
    whole = len(data) // size * size
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, whole, size)]


def _runs(levels: list[int], times_us: list[int]) -> list[tuple[int, int]]:
    """Neighbours of equal level joined: (level, duration)."""
    runs: list[tuple[int, int]] = []
    for level, time_us in zip(levels, times_us, strict=True):
        if runs and runs[-1][0] == level:
            runs[-1] = (level, runs[-1][1] + time_us)
        else:
            runs.append((level, time_us))
    return runs
