"""A lamp controller as somebody else would build it: one program, one serial device, one document.

    python -m hil_tests.rig.lamp_controller DEVICE [--log FILE] [--memory FILE]

Written against `shaker_ctl/lamp/REGISTERS.md` alone, with nothing but the standard library and
nothing of this project, so that the document is proved to be enough. DEVICE is made as a symbolic
link to a pseudo-terminal; whoever opens it finds a box at the other end of the line, and nothing
else of this program can be reached. Section numbers in comments are the document's.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import struct
import sys
import time
import tty
from collections.abc import Callable
from pathlib import Path

UNIT = 1
BYTE_S = 10 / 115200
SILENCE_S = 0.004
"""End of a request: more than 1.75 ms and less than 20 ms of silence (1)."""

WARM_UP_S = 0.02
STAGE_LIFE_S = 1.0
TEST_LIFE_S = 10.0
RATED_MA = 1000

Registers = list[int]


# ── Lamps (2, "Lamps"; 3, "Which lamps win") ────────────────────────────────


def _bits() -> dict[str, int]:
    names = ["small", "big", "even", "odd", "any-triple"]
    names += [f"triple-{n}" for n in range(1, 7)]
    names += [f"double-{n}" for n in range(1, 7)]
    names += [f"pair-{m}-{n}" for m in range(1, 7) for n in range(m + 1, 7)]
    names += [f"total-{s}" for s in range(4, 18)]
    names += [f"one-{n}" for n in range(1, 7)]
    return {name: bit for bit, name in enumerate(names)}


BIT = _bits()
ALL = (1 << len(BIT)) - 1


def winners(values: tuple[int, int, int], layout: int, options: int) -> int:
    """Mask of the lamps that three values light."""
    s = sum(values)
    lit = set()
    for n in range(1, 7):
        shown = values.count(n)
        if shown:
            lit.add(f"one-{n}")
        if shown == 2 or (shown == 3 and options & 1):
            lit.add(f"double-{n}")
        if shown == 3:
            lit |= {"any-triple", f"triple-{n}"}
        for m in range(1, n):
            if shown and m in values:
                lit.add(f"pair-{m}-{n}")
    is_triple = "any-triple" in lit
    if f"total-{s}" in BIT:
        lit.add(f"total-{s}")
    if not is_triple:
        lit.add("small" if s <= 10 else "big")
    if layout == 52 and (not is_triple or options & 2):
        lit.add("odd" if s % 2 else "even")
    return sum(1 << BIT[name] for name in lit)


# ── Words ───────────────────────────────────────────────────────────────────


def words32(number: int) -> Registers:
    return [number >> 16 & 0xFFFF, number & 0xFFFF]


def words64(mask: int) -> Registers:
    return [mask >> shift & 0xFFFF for shift in (48, 32, 16, 0)]


def number_of(words: Registers) -> int:
    number = 0
    for word in words:
        number = number << 16 | word
    return number


class ExceptionReply(Exception):  # noqa: N818 - Modbus calls it an exception
    """Answer with this exception code (2)."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Controller:
    """Stage, commit, hold, refuse; measured lamps; what survives a power cut."""

    def __init__(self, memory: Path, log: Path | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._memory = memory
        self._log = log
        kept = json.loads(memory.read_text()) if memory.exists() else {}
        self._last_committed: int = kept.get("last", 0)
        self._restarts: int = (kept.get("restarts", 0) + 1) & 0xFFFF
        self._keep()
        self._started_s = clock()
        self._stage: Registers = []
        self._staged_s = 0.0
        self._command = [0] * 5
        self._refusal = 0
        self._phase = [0, 0, 0]
        self._result_round = 0
        self._is_result = False
        self._tested_s: float | None = None
        self._odds = [0] * 66
        self._driven = 0
        self._switched_s = dict.fromkeys(range(64), -1.0)

    def _keep(self) -> None:
        fresh = self._memory.with_suffix(".new")
        fresh.write_text(json.dumps({"last": self._last_committed, "restarts": self._restarts}))
        fresh.replace(self._memory)

    # Reading

    def read(self, first: int, count: int) -> Registers:
        """Registers inside one block, or exception 2 (2)."""
        self._expire()
        for start, block in (
            (0x0000, self._identity),
            (0x0010, self._status),
            (0x0040, self._stage_block),
            (0x0060, lambda: self._command),
            (0x0080, lambda: self._odds),
            (0x00D0, lambda: self._odds),
            (0x0120, self._currents),
        ):
            words = block()
            if start <= first and first + count <= start + len(words):
                return words[first - start : first - start + count]
        raise ExceptionReply(2)

    def _identity(self) -> Registers:
        capabilities = 0b1111
        return [
            *(0x51B0, 0x0100, 0x0301, *words32(0x00C0FFEE), 52, capabilities),
            *(int(WARM_UP_S * 1000), 1000, 10000, RATED_MA, 10, 0, 0, 0, 0),
        ]

    def _status(self) -> Registers:
        state = 2 if self._tested_s is not None else int(self._is_result)
        now = self._clock()
        is_measured = now - max(self._switched_s.values()) >= WARM_UP_S
        flags = 1 | is_measured << 1 | bool(self._stage) << 2 | any(self._odds[2:]) << 3
        return [
            *(state, flags, self._refusal, self._restarts),
            *words32(int((now - self._started_s) * 1000) & 0xFFFFFFFF),
            *(self._command[0], *self._phase),
            *words32(self._result_round),
            *words32(self._last_committed),
            *words64(self._driven),
            *words64(self._glowing()),
            *words64(0),
            *words64(0),
            *(2400, 310),
        ]

    def _glowing(self) -> int:
        """Half the rated current and more: a lamp warms up, and cools down, in its warm-up time."""
        now = self._clock()
        return sum(
            1 << lamp
            for lamp in range(len(BIT))
            if bool(self._driven >> lamp & 1) == (now - self._switched_s[lamp] >= WARM_UP_S / 2)
        )

    def _currents(self) -> Registers:
        glowing = self._glowing()
        percent = [100 if glowing >> lamp & 1 else 0 for lamp in range(52)]
        return [high << 8 | low for high, low in zip(percent[::2], percent[1::2], strict=True)]

    # Writing

    def write(self, first: int, words: Registers) -> None:
        """Exactly one whole block (2); a refusal changes nothing but the last refusal."""
        self._expire()
        written = {0x0040: 12, 0x0060: 5, 0x0080: 66}
        reach = {0x0040: 17, 0x0060: 5, 0x0080: 66}
        inside = [start for start in written if start <= first < start + reach[start]]
        if not inside:
            raise ExceptionReply(2)
        if first not in written or len(words) != written[first]:
            self._refuse(10)
        act = {0x0040: self._take_stage, 0x0060: self._obey, 0x0080: self._show_odds}
        act[first](words)
        self._refusal = 0

    def _refuse(self, code: int) -> None:
        self._refusal = code
        raise ExceptionReply(3)

    def _take_stage(self, words: Registers) -> None:
        self._stage, self._staged_s = words, self._clock()

    def _stage_block(self) -> Registers:
        if not self._stage:
            return [0] * 12 + [2, 0, 0, 0, 0]
        verdict, own = self._judge()
        return [*self._stage, verdict, *words64(own)]

    def _judge(self) -> tuple[int, int]:
        """Verdict and own mask of what is staged (3, step 1)."""
        a, b, c, layout, options = self._stage[3:8]
        if not all(1 <= value <= 6 for value in (a, b, c)):
            return 4, 0
        if layout not in (50, 52) or options > 3:
            return 5, 0
        own = winners((a, b, c), layout, options)
        if own != number_of(self._stage[8:12]):
            return 6, own
        if self._tested_s is not None:
            return 8, own
        is_same = (number_of(self._stage[1:3]), own) == (self._result_round, self._driven)
        return (7 if self._is_result and not is_same else 0), own

    def _obey(self, words: Registers) -> None:
        _, command, high, low, argument = words
        round_id = high << 16 | low
        if command == 1:
            self._commit(round_id)
        elif command == 2:
            if self._is_result and round_id != self._result_round:
                self._refuse(3)
            self._darken()
        elif command == 3:
            self._darken()
        elif command == 4:
            if argument & ~0x0100 > 13:
                self._refuse(9)
            self._phase = [argument, high, low]
        elif command == 5:
            self._test(argument)
        else:
            self._refuse(1)
        self._command = words

    def _commit(self, round_id: int) -> None:
        if not self._stage:
            self._refuse(2)
        if round_id != number_of(self._stage[1:3]):
            self._refuse(3)
        verdict, own = self._judge()
        if verdict:
            self._refuse(verdict)
        if round_id:  # stored before a lamp is switched (3, step 3); round 0 is not retained
            self._last_committed = round_id
            self._keep()
        if number_of(self._odds[:2]) != round_id:
            self._odds = [0] * 66
        self._stage, self._is_result, self._result_round = [], True, round_id
        self._drive(own)

    def _darken(self) -> None:
        self._stage, self._tested_s = [], None
        self._is_result, self._result_round = False, 0
        self._odds = [0] * 66
        self._drive(0)

    def _test(self, argument: int) -> None:
        if self._is_result:
            self._refuse(7)
        if argument > len(BIT):
            self._refuse(9)
        self._stage = []
        self._tested_s = self._clock() if argument else None
        self._drive(1 << argument - 1 if argument else 0)

    def _show_odds(self, words: Registers) -> None:
        if self._is_result:
            self._refuse(7)
        if any(odds > 9999 for odds in words[2:]):
            self._refuse(9)
        self._odds = words if any(words[2:]) else [0] * 66

    # Lamps and time

    def _drive(self, mask: int) -> None:
        now = self._clock()
        for lamp in range(len(BIT)):
            if (mask ^ self._driven) >> lamp & 1:
                self._switched_s[lamp] = now
        if mask != self._driven:
            self._driven = mask
            self._tell(now)

    def _tell(self, now: float) -> None:
        """What somebody who looks at the lamps would note down."""
        if self._log is None:
            return
        areas = [name for name, bit in BIT.items() if self._driven >> bit & 1]
        line = json.dumps({"t": round(now, 6), "round": self._result_round, "areas": areas})
        with self._log.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def _expire(self) -> None:
        now = self._clock()
        if self._stage and now - self._staged_s > STAGE_LIFE_S:
            self._stage = []
        if self._tested_s is not None and now - self._tested_s > TEST_LIFE_S:
            self._tested_s = None
            self._drive(0)


# ── The line (1) ────────────────────────────────────────────────────────────


def checksum(frame: bytes) -> bytes:
    """Modbus CRC-16, low byte first."""
    crc = 0xFFFF
    for byte in frame:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return struct.pack("<H", crc)


def answer(controller: Controller, frame: bytes) -> bytes | None:
    """The reply to one frame; None where the box must be silent."""
    if len(frame) < 4 or checksum(frame[:-2]) != frame[-2:] or frame[0] != UNIT:
        return None
    function, body = frame[1], frame[2:-2]
    try:
        reply = bytes((UNIT, function)) + _serve(controller, function, body)
    except ExceptionReply as refused:
        reply = bytes((UNIT, function | 0x80, refused.code))
    return reply + checksum(reply)


def _serve(controller: Controller, function: int, body: bytes) -> bytes:
    if function == 3 and len(body) == 4:
        return _words_out(controller.read(*struct.unpack(">HH", body)))
    if function == 6 and len(body) == 4:  # no block is one register long (1)
        controller.write(struct.unpack(">H", body[:2])[0], [struct.unpack(">H", body[2:])[0]])
    elif function == 16 and len(body) >= 5:
        first, count, size = struct.unpack(">HHB", body[:5])
        if size == 2 * count == len(body) - 5:
            controller.write(first, _words_in(body[5:]))
            return body[:4]
    elif function == 23 and len(body) >= 9:
        first, count, to, length, size = struct.unpack(">HHHHB", body[:9])
        if size == 2 * length == len(body) - 9:
            controller.write(to, _words_in(body[9:]))
            return _words_out(controller.read(first, count))
    else:
        raise ExceptionReply(1)
    raise ExceptionReply(3)


def _words_in(data: bytes) -> Registers:
    return list(struct.unpack(f">{len(data) // 2}H", data))


def _words_out(words: Registers) -> bytes:
    return bytes((2 * len(words),)) + struct.pack(f">{len(words)}H", *words)


def serve(controller: Controller, line: int) -> None:
    """Answer requests on an open line until the process is told to end."""
    waiting = b""
    while True:
        ready, _, _ = select.select([line], [], [], SILENCE_S if waiting else None)
        if ready:
            try:
                waiting += os.read(line, 4096)
            except OSError:  # nobody has the device open
                time.sleep(0.02)
                waiting = b""
            continue
        frame, waiting = waiting, b""
        time.sleep(BYTE_S * len(frame))  # a pseudo-terminal carries them in no time
        reply = answer(controller, frame)
        if reply is not None:
            time.sleep(BYTE_S * len(reply))
            os.write(line, reply)


def main() -> None:
    """Be a lamp box on DEVICE until SIGTERM."""
    parser = argparse.ArgumentParser(description="A lamp controller on a serial device.")
    parser.add_argument("device", type=Path, help="where its line appears")
    parser.add_argument("--log", type=Path, help="note down here which lamps burn")
    parser.add_argument("--memory", type=Path, help="what it retains without power")
    given = parser.parse_args()
    device: Path = given.device
    if given.log is not None:
        given.log.write_text("")
    line, far_end = os.openpty()
    tty.setraw(far_end)
    controller = Controller(
        given.memory or device.with_suffix(".memory"), given.log, time.monotonic
    )
    fresh = device.with_name(device.name + ".new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(os.ttyname(far_end))
    fresh.replace(device)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        serve(controller, line)
    finally:
        device.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
