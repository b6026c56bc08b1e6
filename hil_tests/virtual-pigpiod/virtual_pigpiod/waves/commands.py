"""Wave commands: build, create, delete, play.

Owns: the unfinished wave, wave ids and the room they take. Must not know: how waves are played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass

from virtual_pigpiod.pins.chip import PERMITTED
from virtual_pigpiod.pins.uses import Uses
from virtual_pigpiod.refusals import CommandRefusedError, Reason, refuse_if
from virtual_pigpiod.results import Handlers
from virtual_pigpiod.waves.chains import chain_pattern
from virtual_pigpiod.waves.patterns import Pattern, Wave
from virtual_pigpiod.waves.transmitter import Transmitter
from virtual_pigpiod.waves.waveform import (
    MAX_PULSES,
    MAX_US,
    Pulse,
    merged,
    pulses_from,
    serial_pulses,
)
from virtual_pigpiod.wire import Command, Request

MAX_BLOCKS = 25_016
CHAIN_BLOCKS = 1_180
ROOM_BLOCKS = MAX_BLOCKS - CHAIN_BLOCKS
ROOM_WORDS = 15_958
"""DMA control blocks and data words for all waves together."""

MAX_WAVES = 250
NOT_FOUND = 9998
NOT_TRANSMITTING = 9999


@dataclass(slots=True)
class Slot:
    """A wave id: the room it holds, also after its wave was deleted."""

    blocks: int
    words: int
    wave: Pattern | None = None


@dataclass(slots=True)
class Statistics:
    """Size of the unfinished wave, or the largest so far."""

    us: int = 0
    pulses: int = 0
    blocks: int = 0


class Waves:
    """Handlers of the wave commands."""

    def __init__(
        self, uses: Uses, transmitter: Transmitter, before_play: Callable[[], None]
    ) -> None:
        self._uses = uses
        self._transmitter = transmitter
        self._before_play = before_play
        self._unfinished: list[Pulse] = []
        self._size = Statistics()
        self._largest = Statistics()
        self._slots: list[Slot] = []
        most = Statistics(MAX_US, MAX_PULSES, MAX_BLOCKS)
        self.handlers: Handlers = {
            Command.WVCLR: self._clear,
            Command.WVNEW: self._new,
            Command.WVAG: self._add_pulses,
            Command.WVAS: self._add_serial,
            Command.WVSM: lambda r: _asked(
                r, (self._size.us, self._largest.us, most.us), Reason.BAD_WVSM_COMMND
            ),
            Command.WVSP: lambda r: _asked(
                r, (self._size.pulses, self._largest.pulses, most.pulses), Reason.BAD_WVSP_COMMND
            ),
            Command.WVSC: lambda r: _asked(
                r, (self._size.blocks, self._largest.blocks, most.blocks), Reason.BAD_WVSC_COMMND
            ),
            Command.WVCRE: lambda _: self._create(None, None),
            Command.WVCAP: self._create_padded,
            Command.WVDEL: self._delete,
            Command.WVTX: lambda r: self._play(r.p1, 0),
            Command.WVTXR: lambda r: self._play(r.p1, 1),
            Command.WVTXM: lambda r: self._play(r.p1, r.p2),
            Command.WVCHA: self._play_chain,
            Command.WVHLT: lambda _: self._transmitter.halt(),
            Command.WVBSY: lambda _: int(self._transmitter.is_busy),
            Command.WVTAT: self._playing,
        }

    # ── Building ────────────────────────────────────────────────────────────

    def _new(self, _: Request) -> None:
        self._unfinished = []
        self._size = Statistics()

    def _clear(self, request: Request) -> None:
        self._slots = []
        self._new(request)

    def _add_pulses(self, request: Request) -> int:
        asked = pulses_from(request.extension)
        pulses = [Pulse(p.on & PERMITTED, p.off & PERMITTED, p.delay_us) for p in asked]
        count = self._add(pulses)
        refuse_if(pulses != asked, Reason.SOME_PERMITTED)
        return count

    def _add_serial(self, request: Request) -> int:
        gpio, baud = request.p1, request.p2
        self._uses.permit(gpio)
        self._uses.check_user(gpio)
        data_bits, half_stops, offset_us = request.words(3)
        pulses = serial_pulses(gpio, baud, data_bits, half_stops, offset_us, request.extension[12:])
        return self._add(pulses) if pulses else 0

    def _add(self, pulses: list[Pulse]) -> int:
        self._unfinished = merged(pulses, self._unfinished)
        size = self._size = Statistics(
            sum(pulse.delay_us for pulse in self._unfinished),
            len(self._unfinished),
            sum(pulse.control_blocks for pulse in self._unfinished),
        )
        self._largest = Statistics(*map(max, astuple(size), astuple(self._largest)))
        return len(self._unfinished)

    # ── Ids ─────────────────────────────────────────────────────────────────

    def _create(self, padded_blocks: int | None, padded_words: int | None) -> int:
        refuse_if(not self._unfinished, Reason.EMPTY_WAVEFORM)
        blocks = 1 + sum(pulse.control_blocks for pulse in self._unfinished)
        words = sum(pulse.words for pulse in self._unfinished)
        if padded_blocks is not None and padded_words is not None:
            refuse_if(blocks > padded_blocks, Reason.TOO_MANY_CBS)
            refuse_if(words > padded_words, Reason.TOO_MANY_OOL)
            blocks, words = padded_blocks, padded_words
        number = self._free_slot(blocks, words)
        self._slots[number].wave = Wave(number, self._unfinished)
        self._unfinished = []
        return number

    def _free_slot(self, blocks: int, words: int) -> int:
        """An id whose deleted wave had exactly this size, else a new one."""
        for number, slot in enumerate(self._slots):
            if slot.wave is None and (slot.blocks, slot.words) == (blocks, words):
                return number
        if sum(slot.blocks for slot in self._slots) + blocks > ROOM_BLOCKS:
            raise CommandRefusedError(Reason.TOO_MANY_CBS)
        refuse_if(sum(slot.words for slot in self._slots) + words > ROOM_WORDS, Reason.TOO_MANY_OOL)
        refuse_if(len(self._slots) >= MAX_WAVES, Reason.NO_WAVEFORM_ID)
        self._slots.append(Slot(blocks, words))
        return len(self._slots) - 1

    def _create_padded(self, request: Request) -> int:
        """WVCAP, of which there are three forms: p%, (blocks %, words %), and with reads % too."""
        refuse_if(len(request.extension) not in (0, 4), Reason.BAD_WAVE_ID)
        blocks_percent, words_percent = request.p1, request.p2
        (reads_percent,) = request.words(1)
        if not request.extension and words_percent == 0:
            words_percent = blocks_percent
        refuse_if(max(blocks_percent, words_percent, reads_percent) > 100, Reason.BAD_PARAM)
        return self._create(ROOM_BLOCKS * blocks_percent // 100, ROOM_WORDS * words_percent // 100)

    def _delete(self, request: Request) -> None:
        self._wave(request.p1)
        self._slots[request.p1].wave = None
        if request.p1 == len(self._slots) - 1:
            while self._slots and self._slots[-1].wave is None:
                self._slots.pop()

    def _wave(self, number: int) -> Pattern:
        wave = self._slots[number].wave if number < len(self._slots) else None
        if wave is None:
            raise CommandRefusedError(Reason.BAD_WAVE_ID)
        return wave

    # ── Playing ─────────────────────────────────────────────────────────────

    def _play(self, number: int, mode: int) -> int:
        """Modes: 0 once, 1 repeat, 2 and 3 the same after the present cycle."""
        wave = self._wave(number)
        refuse_if(mode > 3, Reason.BAD_WAVE_MODE)
        self._before_play()
        if mode < 2:
            self._transmitter.play(wave, mode == 1)
        else:
            self._transmitter.queue(wave, mode == 3)
        return self._slots[number].blocks

    def _play_chain(self, request: Request) -> None:
        self._before_play()
        self._transmitter.halt()
        self._transmitter.play(chain_pattern(request.extension, self._wave))

    def _playing(self, _: Request) -> int:
        if not self._transmitter.is_busy:
            return NOT_TRANSMITTING
        number = self._transmitter.wave()
        is_known = number is not None and number < len(self._slots) and self._slots[number].wave
        return number if number is not None and is_known else NOT_FOUND


def _asked(request: Request, now_high_most: tuple[int, int, int], refusal: int) -> int:
    refuse_if(request.p1 > 2, refusal)
    return now_high_most[request.p1]
