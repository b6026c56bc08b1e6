"""Bytes for a console: whole commands, mutated ones, modem chatter, escape sequences, noise."""

from __future__ import annotations

import random
from collections.abc import Iterator

from shaker_ctl.console.grammar import FORMS

TYPED = (
    "enter 1 3 4 5", "345", "+", "-", "000", "decide 1 no-roll", "inspect all", "jog 300 2",
    "nmb", "activate", "settled", "lamps-off", "fault clear motor-stall", "no-roll 1",
    "login dealer dan", "login technician tom", "light 50", "dice changed a b c", "log bundle",
    "mode machine", "mode people", "help all", "camera snap", "José ½ 骰", "x" * 300,
    "ATZ", "AT+CGMI", "+++", "ATDT5551234", "\x1b[A", "\x1b[B\x1b[C", "\x1bOP", "\x1b",
    "\x03", "\x04", "\t\t", "\x15", "\x7f\x7f\x7f", "\x00",
)  # fmt: skip
WORDS = [word.encode() for word in (*(form.line for form in FORMS), *TYPED)] + [b"\xff\xfe"]
ENDS = [b"\r", b"\n", b"\r\n", b"", b"\r\r", b"\x03", b" "]


def pieces(chance: random.Random) -> Iterator[bytes]:
    """Yield pieces for ever: whole lines, mutated lines, noise."""
    while True:
        kind = chance.random()
        if kind < 0.3:
            yield chance.randbytes(chance.randint(1, 60))
            continue
        text = bytearray(chance.choice(WORDS))
        if kind < 0.7:
            for _ in range(chance.randint(1, 4)):
                _mutate(text, chance)
        yield bytes(text) + chance.choice(ENDS)


def _mutate(text: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(text) + 1)
    kind = chance.randrange(4)
    if kind == 0:
        text.insert(at, chance.randrange(256))
    elif kind == 1 and at < len(text):
        del text[at]
    elif kind == 2 and at < len(text):
        text[at] ^= 1 << chance.randrange(8)
    else:
        text[at:at] = text[: chance.randint(0, 20)]
