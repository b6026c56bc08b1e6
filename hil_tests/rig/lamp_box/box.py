"""A lamp box: the registers of REGISTERS.md in front of fifty-two lamps.

Owns stage, commit, hold, expiry, refusals, and what survives a power cut. Written against the
document alone and without the controller's code, as a box builder would. Must not know serial
lines: `modbus_unit.py` brings requests and takes replies.

Time passes in the box only at a request or an observation. An expired stage or test is noticed
then. An observer cannot see the difference.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hil_tests.rig.lamp_box.bulbs import RATED_MA, Bulbs
from hil_tests.rig.lamp_box.faults import LampFaults
from hil_tests.rig.lamp_box.layout import (
    EVEN_ODD_LAMPS,
    LAMP,
    OwnAreas,
    own_digest,
    own_lamps,
    winning_lamps,
)
from hil_tests.rig.lamp_box.memory import ANCHOR_WRITTEN, Retained

# Blocks: first register, length, registers that a write covers.
IDENTITY, IDENTITY_LENGTH = 0x0000, 16
STATUS, STATUS_LENGTH = 0x0010, 32
STAGE, STAGE_LENGTH, STAGE_WRITTEN = 0x0040, 17, 12
COMMAND, COMMAND_LENGTH = 0x0060, 5
ODDS, ODDS_SHOWN, ODDS_LENGTH = 0x0080, 0x00D0, 66
CURRENTS, CURRENTS_LENGTH = 0x0120, 26
COMMITTED, COMMITTED_LENGTH = 0x0140, 11
ANCHOR, ANCHOR_LENGTH = 0x0150, 25
TABLE_WORDS, ROUND_AT, RECORD_AT, HEAD_AT = 4, 4, 6, 8
"""Inside the anchor block: how long the table's mark is, and where the rest begins."""

WRITTEN = {STAGE: STAGE_WRITTEN, COMMAND: COMMAND_LENGTH, ODDS: ODDS_LENGTH, ANCHOR: ANCHOR_WRITTEN}
MAP_VERSION = 0x0102
SERIAL_NUMBER = 20260001

ILLEGAL_ADDRESS = 2
ILLEGAL_VALUE = 3

DARK, RESULT, TEST, FAULT = range(4)
COMMIT, CLEAR, GO_DARK, PHASE, TEST_LAMP, CORRECT = range(1, 7)
(
    READY,
    UNKNOWN_COMMAND,
    NOTHING_STAGED,
    OTHER_ROUND,
    VALUE_RANGE,
    LAYOUT,
    MASK_DIFFERS,
    RESULT_LIT,
    TEST_RUNNING,
    ARGUMENT,
    INCOMPLETE_WRITE,
    BOX_FAULT,
    COMMITTED_OTHERWISE,
    ANCHORED,
) = range(14)

WARM_UP_S = 0.020
STAGE_LIFE_S = 1.0
TEST_LIFE_S = 10.0
PHASES = range(14)
DEMONSTRATION = 0x0100


class Refused(Exception):  # noqa: N818
    """The answer is a Modbus exception of this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class LampChange:
    """Which lamps burn from `t` on (CLOCK_MONOTONIC), and for which committed round, if any."""

    t: float
    round: int
    areas: tuple[str, ...]
    t_staged: float = 0.0
    """When the stage of that round was written."""

    def as_dict(self) -> dict[str, Any]:
        times = {"t": round(self.t, 6), "t_staged": round(self.t_staged, 6)}
        return times | {"round": self.round, "areas": list(self.areas)}


@dataclass(slots=True)
class StagedResult:
    """What stands in the stage block."""

    words: list[int]
    round_id: int
    mask: int
    verdict: int
    at: float


class LampBox:
    """The box. Safe to call from any thread."""

    def __init__(
        self,
        areas: int = 52,
        *,
        memory: Path | None = None,
        serial_number: int = SERIAL_NUMBER,
        seed: int = 0,
        own: OwnAreas | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`own`: areas of a house that the box is made for, beside the 52."""
        self._own = own or {}
        self._lamp = LAMP | {name: area["lamp"] for name, area in self._own.items()}
        self.areas = 1 + max(self._lamp.values()) if own else areas
        self._serial_number = serial_number
        self.faults = LampFaults()
        self.on_change: Callable[[LampChange], None] = lambda _: None
        """Told whenever other lamps burn than before: the rig's own eye, not on the wire."""
        self.noted: Callable[[str, dict[str, Any]], None] = lambda what, facts: None
        """Told of each stage and command that was obeyed: the rig's own eye as well."""
        self.late_replies = 0
        """Replies that left too late since this computer was busy."""
        self._burnt_before: tuple[str, ...] = ()
        self._clock = clock
        self._lock = threading.RLock()
        self._bulbs = Bulbs(1 + max(self._lamp.values()), seed)
        self._retained = Retained(memory)
        self._retained.load()
        self._spare = Retained(None)
        """The memory of the other box: of the one that is not on the line."""
        self._is_spare = False
        self._power_up()

    # ── Power ───────────────────────────────────────────────────────────────

    def _power_up(self) -> None:
        """Start dark: a box cannot know whether the table has moved on meanwhile."""
        now = self._clock()
        self._retained.restarts = (self._retained.restarts + 1) % 0x10000
        self._retained.store()
        self._started_at = now
        self._staged: StagedResult | None = None
        self._staged_at = 0.0
        self._command = [0] * COMMAND_LENGTH
        self._sequence = 0
        self._refusal = 0
        self._phase = 0
        self._phase_round = 0
        self._state = DARK
        self._result_round = 0
        self._result_mask = 0
        self._test_until = 0.0
        self._open = 0
        self._odds = [0] * ODDS_LENGTH
        self._wanted = 0
        self._switched_at = now - 1.0
        self._drive()
        self._answers_from = now

    def restart(self, down_s: float = 0.0) -> None:
        """Cut the power and give it back; the box answers nothing until `down_s` later."""
        with self._lock:
            self._power_up()
            self._answers_from += down_s

    def erase_memory(self) -> None:
        """Press the button inside the housing, and start anew (6, "Memory")."""
        with self._lock:
            self._retained.erase()
            self._power_up()

    @property
    def is_up(self) -> bool:
        """False while the box is starting."""
        self._obey_hands()
        return self._clock() >= self._answers_from

    def _obey_hands(self) -> None:
        """What somebody does to the box: takes its power, presses its button, puts in another."""
        if self._is_spare is not ("lamp_other_box" in self.faults):
            with self._lock:
                self._is_spare = not self._is_spare
                self._retained, self._spare = self._spare, self._retained
                self._power_up()
        if "lamp_memory_erased" in self.faults:
            self.faults.heal("lamp_memory_erased")
            self.erase_memory()
        if "lamp_restart" in self.faults:
            down_s = self.faults.number("lamp_restart", "down_s")
            self.faults.heal("lamp_restart")
            self.restart(down_s)

    # ── Requests ────────────────────────────────────────────────────────────

    def read(self, address: int, count: int) -> list[int]:
        """Return registers; they must lie inside one block. Raises `Refused`."""
        with self._lock:
            self._settle()
            first, _, words = self._block(address, count)
            found = words()[address - first : address - first + count]
        if address == STATUS:
            self._tell("status")
        return list(found)

    def check_read(self, address: int, count: int) -> None:
        """Raise `Refused` where `read` would."""
        self._block(address, count)

    def _block(self, address: int, count: int) -> tuple[int, int, Callable[[], list[int]]]:
        """Return the block that registers lie in: its first, its length, what it reads as."""
        for block in self._blocks():
            first, length, _ = block
            if first <= address and address + count <= first + length:
                return block
        raise Refused(ILLEGAL_ADDRESS)

    def _blocks(self) -> tuple[tuple[int, int, Callable[[], list[int]]], ...]:
        return (
            (STATUS, STATUS_LENGTH, self._status_words),
            (STAGE, STAGE_LENGTH, self._stage_words),
            (IDENTITY, IDENTITY_LENGTH, self._identity_words),
            (COMMAND, COMMAND_LENGTH, lambda: self._command),
            (ODDS, ODDS_LENGTH, lambda: self._odds),
            (ODDS_SHOWN, ODDS_LENGTH, self._odds_shown),
            (CURRENTS, CURRENTS_LENGTH, self._current_words),
            (COMMITTED, COMMITTED_LENGTH, self._committed_words),
            (ANCHOR, ANCHOR_LENGTH, self._anchor_words),
        )

    def write(self, address: int, words: Sequence[int]) -> None:
        """Write one whole block. Raises `Refused`, and then nothing has changed."""
        with self._lock:
            self._settle()
            event = self._write(address, list(words))
            self._refusal = 0
        self._tell(event)

    def _write(self, address: int, words: list[int]) -> str:
        first, _, _ = self._block(address, 1)
        if first not in WRITTEN:
            raise Refused(ILLEGAL_ADDRESS)
        if address != first or WRITTEN[first] != len(words):
            raise self._refuse(INCOMPLETE_WRITE)
        if address == STAGE:
            return self._write_stage(words)
        if address == ODDS:
            return self._write_odds(words)
        if address == ANCHOR:
            return self._write_anchor(words)
        return self._obey(words)

    def _refuse(self, code: int) -> Refused:
        self._refusal = code
        return Refused(ILLEGAL_VALUE)

    def _tell(self, event: str) -> None:
        self.faults.count(event)

    # ── Stage ───────────────────────────────────────────────────────────────

    def _write_stage(self, words: list[int]) -> str:
        _, high, low, *values, layout, options = words[:8]
        expected = _join(words[8:12])
        round_id = high << 16 | low
        own, verdict = 0, READY
        if any(not 1 <= value <= 6 for value in values):
            verdict = VALUE_RANGE
        elif layout not in (50, 52) or layout > self.areas or options & ~0b11:
            verdict = LAYOUT
        else:
            own = self._compute(values, layout, options)
            verdict = self._judge(round_id, own, expected)
        self._staged = StagedResult(words, round_id, own, verdict, self._clock())
        self.noted("stage", {"round": round_id, "values": values})
        return "stage"

    def _compute(self, values: list[int], layout: int, options: int) -> int:
        first, second, third = values
        mask = winning_lamps(
            (first, second, third),
            areas=layout,
            double_on_triple=bool(options & 1),
            even_odd_on_triple=bool(options & 2),
        )
        mask |= own_lamps(self._own, (first, second, third))
        return mask ^ 1 << LAMP["total-11"] if "lamp_rule_wrong" in self.faults else mask

    def _judge(self, round_id: int, own: int, expected: int) -> int:
        if own != expected:
            return MASK_DIFFERS
        if self._state == FAULT:
            return BOX_FAULT
        if self._state == TEST:
            return TEST_RUNNING
        if self._state == RESULT and (round_id, own) != (self._result_round, self._result_mask):
            return RESULT_LIT
        return READY

    def _stage_words(self) -> list[int]:
        if self._staged is None:
            return [*[0] * STAGE_WRITTEN, NOTHING_STAGED, 0, 0, 0, 0]
        return [*self._staged.words, self._staged.verdict, *_words(self._staged.mask, 4)]

    # ── Commands ────────────────────────────────────────────────────────────

    def _obey(self, words: list[int]) -> str:
        sequence, command, high, low, argument = words
        round_id = high << 16 | low
        staged = self._staged
        if command == COMMIT:
            self._commit(round_id)
        elif command == CORRECT:
            self._correct(round_id)
        elif command == CLEAR:
            if self._state == RESULT and round_id != self._result_round:
                raise self._refuse(OTHER_ROUND)
            self._go_dark()
        elif command == GO_DARK:
            self._go_dark()
        elif command == PHASE:
            if argument & ~DEMONSTRATION not in PHASES:
                raise self._refuse(ARGUMENT)
            self._phase, self._phase_round = argument, round_id
        elif command == TEST_LAMP:
            self._test(argument)
        else:
            raise self._refuse(UNKNOWN_COMMAND)
        self._sequence, self._command = sequence, words
        name = ("", "commit", "clear", "dark", "phase", "test", "correct")[command]
        facts: dict[str, Any] = {"round": round_id, "argument": argument}
        if command in (COMMIT, CORRECT) and staged is not None:
            facts["values"] = staged.words[3:6]
        self.noted(name, facts)
        return name

    def _commit(self, round_id: int) -> None:
        staged = self._ready(round_id)
        kept = self._retained
        is_other = round_id == kept.last_committed != 0 and kept.mask not in (0, staged.mask)
        if not self._memory_is_bad and is_other:
            raise self._refuse(COMMITTED_OTHERWISE)
        self._show(staged)

    def _correct(self, round_id: int) -> None:
        staged = self._ready(round_id)
        if self._memory_is_bad:
            raise self._refuse(BOX_FAULT)
        kept = self._retained
        if round_id == 0 or round_id != kept.last_committed:
            raise self._refuse(OTHER_ROUND)
        if kept.corrections and staged.mask != kept.mask:
            raise self._refuse(COMMITTED_OTHERWISE)
        self._show(staged)

    def _ready(self, round_id: int) -> StagedResult:
        """Return what is staged, where it may be lit for this round. Raises `Refused`."""
        if self._staged is None:
            raise self._refuse(NOTHING_STAGED)
        if round_id != self._staged.round_id:
            raise self._refuse(OTHER_ROUND)
        verdict = self._staged.verdict or self._judge(
            round_id, self._staged.mask, self._staged.mask
        )
        if verdict:
            raise self._refuse(verdict)
        return self._staged

    def _show(self, staged: StagedResult) -> None:
        """Retain the round, then light it: in this order (3, step 3)."""
        if staged.round_id:
            self._retained.commit(staged.round_id, staged.mask)
        if _join(self._odds[:2]) != staged.round_id:
            self._odds = [0] * ODDS_LENGTH
        self._result_round, self._result_mask = staged.round_id, staged.mask
        self._staged_at = staged.at
        self._state, self._staged = RESULT, None
        self._light(self._result_mask)

    # ── Anchor ──────────────────────────────────────────────────────────────

    def _write_anchor(self, words: list[int]) -> str:
        kept = self._retained.anchor
        if self._memory_is_bad:
            raise self._refuse(BOX_FAULT)
        number, record = _anchored(words)
        if not number or not record:
            raise self._refuse(ARGUMENT)
        if any(kept) and words != kept:
            kept_number, kept_record = _anchored(kept)
            is_later = number > kept_number and record > kept_record
            if not is_later or words[:TABLE_WORDS] != kept[:TABLE_WORDS]:
                raise self._refuse(ANCHORED)
        if words != kept:
            self._retained.anchor = words
            self._retained.store()
        return "anchor"

    def _anchor_words(self) -> list[int]:
        anchor = [0] * ANCHOR_WRITTEN if self._memory_is_bad else self._retained.anchor
        return [*anchor, self._retained.erasures]

    def _committed_words(self) -> list[int]:
        kept = self._retained
        if self._memory_is_bad:
            return [0] * COMMITTED_LENGTH
        masks = (*_words(kept.first_mask, 4), *_words(kept.mask, 4))
        return [*_words(kept.last_committed, 2), *masks, kept.corrections]

    @property
    def _memory_is_bad(self) -> bool:
        return self._retained.is_bad or "lamp_memory_bad" in self.faults

    def _go_dark(self) -> None:
        self._staged = None
        self._odds = [0] * ODDS_LENGTH
        self._result_round = self._result_mask = 0
        if self._state != FAULT:
            self._state = DARK
        self._light(0)

    def _test(self, argument: int) -> None:
        if self._state == RESULT:
            raise self._refuse(RESULT_LIT)
        if self._state == FAULT:
            raise self._refuse(BOX_FAULT)
        if argument > 64 or (argument and not self._fitted() >> argument - 1 & 1):
            raise self._refuse(ARGUMENT)
        self._staged = None
        self._state = TEST if argument else DARK
        self._test_until = self._clock() + TEST_LIFE_S
        self._light(1 << argument - 1 if argument else 0)

    def _write_odds(self, words: list[int]) -> str:
        if self._state == RESULT:
            raise self._refuse(RESULT_LIT)
        if self._state == FAULT:
            raise self._refuse(BOX_FAULT)
        if any(odds > 9999 for odds in words[2:]):
            raise self._refuse(ARGUMENT)
        self._odds = words if any(words[2:]) else [0] * ODDS_LENGTH
        self.noted("odds", {"round": _join(words[:2]), "places": sum(map(bool, words[2:]))})
        return "odds"

    def _odds_shown(self) -> list[int]:
        if "odds_wrong" in self.faults and any(self._odds[2:]):
            place = next(place for place in range(2, ODDS_LENGTH) if self._odds[place])
            return [odds + 1 if index == place else odds for index, odds in enumerate(self._odds)]
        return self._odds

    # ── Lamps ───────────────────────────────────────────────────────────────

    def _fitted(self) -> int:
        everything = sum(1 << lamp for lamp in self._lamp.values())
        return everything & ~EVEN_ODD_LAMPS if self.areas < len(LAMP) else everything

    def _light(self, mask: int) -> None:
        if mask != self._wanted:
            self._switched_at = self._clock()
        self._wanted = mask
        self._drive()

    def _drive(self) -> None:
        """Put the wanted mask on the drivers, as far as their faults let it through."""
        mask = self._wanted
        if "lamps_shifted" in self.faults:
            mask = (mask << 1) % (1 << len(LAMP))
        if "lamp_extra" in self.faults and mask:
            mask |= 1 << LAMP[self.faults.text("lamp_extra", "area")]
        if "lamps_latched" in self.faults:
            mask |= self._bulbs.driven
        self._bulbs.burnt = self._lamps_with("bulb_burnt")
        self._bulbs.stuck = self._lamps_with("bulb_stuck")
        if mask != self._bulbs.driven:
            self._bulbs.drive(mask, self._clock())
        burning = self._burning()
        if burning != self._burnt_before:
            self._burnt_before = burning
            self.on_change(LampChange(self._clock(), self._result_round, burning, self._staged_at))

    def _burning(self) -> tuple[str, ...]:
        """Areas whose lamps really burn: driven or stuck on, and whole."""
        bulbs = self._bulbs
        return tuple(
            area
            for area, lamp in self._lamp.items()
            if lamp not in bulbs.burnt and (bulbs.driven >> lamp & 1 or lamp in bulbs.stuck)
        )

    def _lamps_with(self, fault: str) -> set[int]:
        if fault not in self.faults:
            return set()
        return {LAMP[area] for area in self.faults.text(fault, "area").split(",")}

    def _settle(self) -> None:
        """Catch up with time and with the faults."""
        now = self._clock()
        if self._staged is not None and now - self._staged.at > STAGE_LIFE_S:
            self._staged = None
        if self._state == TEST and now > self._test_until:
            self._state = DARK
            self._light(0)
        is_broken = "lamp_dead_drivers" in self.faults
        if is_broken and self._state != FAULT:
            self._go_dark()
            self._state = FAULT
        elif not is_broken and self._state == FAULT:
            self._state = DARK
        self._drive()

    # ── What can be read ────────────────────────────────────────────────────

    def _identity_words(self) -> list[int]:
        return [
            0x4D42 if "lamp_not_a_box" in self.faults else 0x51B0,
            0x0200 if "lamp_other_map" in self.faults else MAP_VERSION,
            0x0001,
            *_words(self._number(), 2),
            self.areas,
            0b1111,
            round(WARM_UP_S * 1000),
            round(STAGE_LIFE_S * 1000),
            round(TEST_LIFE_S * 1000),
            RATED_MA,
            2,
            *_words(int.from_bytes(own_digest(self._own), "big"), 4),
        ]

    def _number(self) -> int:
        if self._is_spare:
            return int(self.faults.number("lamp_other_box", "serial"))
        return self._serial_number

    def _status_words(self) -> list[int]:
        now = self._clock()
        currents = self._bulbs.currents(now)
        driven = self._bulbs.driven
        is_measured = now - self._switched_at >= WARM_UP_S
        glowing = sum(1 << lamp for lamp, percent in enumerate(currents) if percent >= 50)
        stuck = 0
        if is_measured:
            self._open = (self._open | driven) & ~glowing
            stuck = sum(
                1 << lamp
                for lamp, percent in enumerate(currents)
                if percent >= 10 and not driven >> lamp & 1
            )
        supply = 780 if "lamp_supply_low" in self.faults else 1200
        memory_bad = self._memory_is_bad
        unwell = supply < 1000 or memory_bad or stuck or self._open or self._state == FAULT
        flags = (
            (0 if unwell else 1)
            | is_measured << 1
            | (self._staged is not None) << 2
            | any(self._odds[2:]) << 3
            | (supply < 1000) << 4
            | memory_bad << 6
        )
        return [
            self._state,
            flags,
            self._refusal,
            self._retained.restarts,
            *_words(round((now - self._started_at) * 1000) % (1 << 32), 2),
            self._sequence,
            self._phase,
            *_words(self._phase_round, 2),
            *_words(self._result_round, 2),
            *_words(0 if memory_bad else self._retained.last_committed, 2),
            *_words(driven, 4),
            *_words(glowing, 4),
            *_words(self._open, 4),
            *_words(stuck, 4),
            supply,
            312,
        ]

    def _current_words(self) -> list[int]:
        currents = self._bulbs.currents(self._clock())[: len(LAMP)]
        return [high << 8 | low for high, low in zip(currents[::2], currents[1::2], strict=True)]

    # ── The rig's own glance, not on the wire ───────────────────────────────

    def glance(self) -> dict[str, object]:
        """What a person standing at the table sees; spoils nothing and asks nobody."""
        with self._lock:
            self._obey_hands()
            self._settle()
            currents = self._bulbs.currents(self._clock())
            return {
                "state": ("dark", "result", "test", "fault")[self._state],
                "round": self._result_round,
                "phase": self._phase,
                "glowing": [area for area, lamp in self._lamp.items() if currents[lamp] >= 50],
                "last_committed": self._retained.last_committed,
            }


def _words(number: int, count: int) -> list[int]:
    return [number >> 16 * place & 0xFFFF for place in range(count - 1, -1, -1)]


def _anchored(words: Sequence[int]) -> tuple[int, int]:
    """Return the round and the record of an anchor."""
    return _join(words[ROUND_AT:RECORD_AT]), _join(words[RECORD_AT:HEAD_AT])


def _join(words: Sequence[int]) -> int:
    return int.from_bytes(b"".join(word.to_bytes(2, "big") for word in words), "big")
