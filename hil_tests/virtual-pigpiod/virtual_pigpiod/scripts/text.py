"""From a script's text to instructions.

Owns: words, what each takes, tags. Must not know: what an instruction does.

Words are separated by white space, upper or lower case. A parameter is a number (decimal, 0x hex,
0 octal), a variable v0..v149 or a parameter p0..p9 of the script.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from virtual_pigpiod.refusals import CommandRefusedError, Reason, refuse_if
from virtual_pigpiod.wire import Command

PARAMETERS = 10
VARIABLES = 150
MAX_TAGS = 50


class OperandKind(Enum):
    """What an operand is."""

    NUMBER = auto()
    VARIABLE = auto()
    PARAMETER = auto()


@dataclass(slots=True, frozen=True)
class Operand:
    """A number, or the number of a variable or parameter."""

    kind: OperandKind
    value: int


@dataclass(slots=True, frozen=True)
class Instruction:
    """A socket command, or (as a word) one of the script's own operations."""

    operation: int | str
    operands: tuple[Operand, ...] = ()
    text: str = ""


_SHAPES = {
    # Letters: n number that is not negative, or register; a any number or register; r register;
    # t tag; m mode letter; u pull letter; s a word.
    "": "br1 br2 cgi hwver no pigpv t tick wvbsy wvclr wvcre wvhlt wvnew wvtat "
    "dcra halt inra nop popa pusha ret",
    "a": "bc1 bc2 bs1 bs2 csi add and cmp div evtwt lda ldab mlt mod or rla rra stab sub wait xor",
    "n": "bi2cc bspic evt fc gdc gpw i2cc i2crs mg modeg mics mils nc np padg pfg prg prrg r read "
    "serc serda serrb slrc spic wvcap wvdel wvsc wvsm wvsp wvtx wvtxr",
    "r": "dcr inr pop push sta xa",
    "t": "call jm jmp jnz jp jz tag",
    "s": "sys",
    "nn": "fg hc i2crb i2crw i2cwq i2cws p pads pfs prs pwm s servo serwb slri w wdog write wvtxm",
    "na": "evm nb",
    "ra": "ld rl rr",
    "rr": "x",
    "nm": "m modes",
    "nu": "pud",
    "nnn": "bi2co fn hp i2co i2cpc i2cwb i2cww slro spio trig",
    "nan": "fs",
}

SHAPE = {word: shape for shape, words in _SHAPES.items() for word in words.split()}
"""Every word that a script may use, with what must follow it."""

_SHORT = {"m": "modes", "mg": "modeg", "p": "pwm", "r": "read", "s": "servo", "t": "tick"}
_SHORT["w"] = "write"

_MODE_LETTERS = "RW540123"
_PULL_LETTERS = "ODU"
_JUMPS = {"call", "jm", "jmp", "jnz", "jp", "jz"}


def compile_script(text: str) -> list[Instruction]:
    """Instructions with jumps resolved to positions.

    Raises RefusedError: unknown or misplaced word, wrong operand, double or missing tag.
    """
    words = text.split()
    instructions: list[Instruction] = []
    tags: dict[int, int] = {}
    position = 0
    while position < len(words):
        word = words[position].lower()
        word = _SHORT.get(word, word)
        shape = SHAPE.get(word)
        if shape is None:
            raise CommandRefusedError(Reason.BAD_SCRIPT_CMD)
        given = words[position + 1 : position + 1 + len(shape)]
        position += 1 + len(shape)
        instruction = _instruction(word, shape, given)
        if word == "tag":
            _add_tag(tags, instruction.operands[0].value, len(instructions))
        else:
            instructions.append(instruction)
    return [_resolved(instruction, tags) for instruction in instructions]


def _instruction(word: str, shape: str, given: list[str]) -> Instruction:
    refuse_if(len(given) < len(shape), Reason.BAD_SCRIPT_CMD)
    if shape == "s":
        return Instruction(word, text=given[0])
    operands = tuple(_operand(letter, word) for letter, word in zip(shape, given, strict=True))
    name = word.upper()
    operation = Command[name] if name in Command.__members__ else word
    return Instruction(operation, operands)


def _operand(letter: str, word: str) -> Operand:
    if letter in "mu":
        letters = _MODE_LETTERS if letter == "m" else _PULL_LETTERS
        code = letters.find(word[0].upper())
        return _checked(Operand(OperandKind.NUMBER, code), code >= 0)
    register = re.fullmatch(r"([vp])(\d+)", word)
    if register:
        kind = OperandKind.VARIABLE if register[1] == "v" else OperandKind.PARAMETER
        index = int(register[2])
        limit = VARIABLES if kind == OperandKind.VARIABLE else PARAMETERS
        return _checked(Operand(kind, index), index < limit and letter != "t")
    number = _number(word)
    return _checked(
        Operand(OperandKind.NUMBER, number), letter in "at" or (letter == "n" and number >= 0)
    )


def _checked(operand: Operand, is_right: bool) -> Operand:
    refuse_if(not is_right, Reason.BAD_SCRIPT_CMD)
    return operand


def _number(word: str) -> int:
    match = re.fullmatch(r"([+-]?)(0x[0-9a-f]+|0[0-7]*|[1-9]\d*)", word.lower())
    if match is None:
        raise CommandRefusedError(Reason.BAD_SCRIPT_CMD)
    digits = match[2]
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    value = int(digits, base) & 0xFFFFFFFF
    return -value if match[1] == "-" else value


def _add_tag(tags: dict[int, int], tag: int, position: int) -> None:
    refuse_if(tag in tags, Reason.DUP_TAG)
    refuse_if(len(tags) >= MAX_TAGS, Reason.TOO_MANY_TAGS)
    tags[tag] = position


def _resolved(instruction: Instruction, tags: dict[int, int]) -> Instruction:
    if instruction.operation not in _JUMPS:
        return instruction
    tag = instruction.operands[0].value
    refuse_if(tag not in tags, Reason.BAD_TAG)
    return Instruction(instruction.operation, (Operand(OperandKind.NUMBER, tags[tag]),))
