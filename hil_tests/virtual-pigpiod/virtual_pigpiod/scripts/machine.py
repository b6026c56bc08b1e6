"""The machine that a stored script runs on: accumulator, flags, registers, stack.

Owns: what each operation does to them. Must not know: clocks and threads. `run` carries out
instructions until the script must wait for something, and says for what.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from virtual_pigpiod.refusals import Reason
from virtual_pigpiod.results import Later, Result
from virtual_pigpiod.scripts.text import PARAMETERS, VARIABLES, Instruction, Operand, OperandKind
from virtual_pigpiod.wire import Request

STACK_SIZE = 256
BUFFER_SIZE = 65536


@dataclass(slots=True, frozen=True)
class WaitForPins:
    """WAIT: until one of the pins in `mask` changes."""

    mask: int


@dataclass(slots=True, frozen=True)
class WaitForEvents:
    """EVTWT: until one of the events in `mask` fires."""

    mask: int


@dataclass(slots=True, frozen=True)
class Ended:
    """HALT, or the end of the text; or a stack or division error (`has_failed`)."""

    has_failed: bool = False


Pause = Later | WaitForPins | WaitForEvents | Ended
"""Why a script does not go on at once."""


class FailureError(Exception):
    """The script did what no script may: popped an empty stack, divided by zero."""


class ScriptMachine:
    """One run of one script. Parameters and variables belong to the script and stay."""

    def __init__(
        self,
        instructions: list[Instruction],
        parameters: list[int],
        variables: list[int],
        execute: Callable[[Request], Result],
    ) -> None:
        self._instructions = instructions
        self._registers = {OperandKind.PARAMETER: parameters, OperandKind.VARIABLE: variables}
        self._execute = execute
        self._buffer = bytearray(BUFFER_SIZE)
        self._stack: list[int] = []
        self._position = 0
        self._a = 0
        self._f = 0

    def resume(self, result: int) -> None:
        """The wait is over: its result goes to accumulator and flags."""
        self._a = self._f = result

    def run(self, limit: int) -> Pause | None:
        """Carry out at most `limit` instructions; None when it could go on."""
        try:
            for _ in range(limit):
                if self._position >= len(self._instructions):
                    return Ended()
                pause = self._step(self._instructions[self._position])
                if pause is not None:
                    return pause
        except FailureError:
            return Ended(has_failed=True)
        return None

    def _step(self, instruction: Instruction) -> Pause | None:
        self._position += 1
        operation = instruction.operation
        if isinstance(operation, int):
            return self._command(operation, instruction.operands)
        if instruction.text:
            # SYS runs a program from /opt/pigpio/cgi on the daemon's host. There is none here.
            self._a = self._f = Reason.BAD_SCRIPT_NAME
            return None
        if operation == "halt":
            return Ended()
        if operation == "wait":
            return WaitForPins(self._value(instruction.operands[0]) & 0xFFFFFFFF)
        if operation == "evtwt":
            return WaitForEvents(self._value(instruction.operands[0]) & 0xFFFFFFFF)
        _OPERATIONS[operation](self, *instruction.operands)
        return None

    def _command(self, command: int, operands: tuple[Operand, ...]) -> Pause | None:
        values = [self._value(operand) & 0xFFFFFFFF for operand in operands]
        extension = struct.pack("<I", values[2]) if len(values) > 2 else b""
        p1, p2 = (*values[:2], 0, 0)[:2]
        result = self._execute(Request(command, p1, p2, extension))
        if isinstance(result, Later):
            return result
        self._a = self._f = _int32(len(result) if isinstance(result, bytes) else result)
        return None

    # ── Registers ───────────────────────────────────────────────────────────

    def _value(self, operand: Operand) -> int:
        if operand.kind == OperandKind.NUMBER:
            return operand.value
        return self._registers[operand.kind][operand.value]

    def _set(self, register: Operand, value: int) -> int:
        value = _int32(value)
        self._registers[register.kind][register.value] = value
        return value

    def _push(self, value: int) -> None:
        if len(self._stack) >= STACK_SIZE:
            raise FailureError
        self._stack.append(value)

    def _pop(self) -> int:
        if not self._stack:
            raise FailureError
        return self._stack.pop()

    def _jump(self, to: Operand) -> None:
        self._position = to.value

    # ── Operations ──────────────────────────────────────────────────────────

    def _calculate(self, calculation: Callable[[int, int], int], operand: Operand) -> None:
        self._a = self._f = _int32(calculation(self._a, self._value(operand)))

    def _call(self, to: Operand) -> None:
        self._push(self._position)
        self._jump(to)

    def _return(self) -> None:
        self._position = self._pop()
        if self._position < 0:
            raise FailureError

    def _add_to(self, register: Operand, step: int) -> None:
        self._f = self._set(register, self._value(register) + step)

    def _add_to_a(self, step: int) -> None:
        self._a = self._f = _int32(self._a + step)

    def _shift(self, register: Operand, by: Operand, direction: int) -> None:
        value = self._value(register)
        self._f = self._set(register, _shifted(value, direction * self._value(by)))

    def _load(self, register: Operand, value: Operand) -> None:
        self._set(register, self._value(value))

    def _load_a(self, value: Operand) -> None:
        self._a = _int32(self._value(value))

    def _store_a(self, register: Operand) -> None:
        self._set(register, self._a)

    def _load_byte(self, index: Operand) -> None:
        at = self._value(index)
        if 0 <= at < BUFFER_SIZE:
            self._a = self._buffer[at]

    def _store_byte(self, index: Operand) -> None:
        at = self._value(index)
        if 0 <= at < BUFFER_SIZE:
            self._buffer[at] = self._a & 0xFF

    def _compare(self, value: Operand) -> None:
        self._f = _int32(self._a - self._value(value))

    def _exchange(self, one: Operand, other: Operand) -> None:
        first, second = self._value(one), self._value(other)
        self._set(one, second)
        self._set(other, first)

    def _exchange_a(self, register: Operand) -> None:
        value = self._value(register)
        self._set(register, self._a)
        self._a = value

    def _pop_to(self, register: Operand) -> None:
        self._set(register, self._pop())

    def _pop_a(self) -> None:
        self._a = self._pop()

    def _jump_if(self, is_met: bool, to: Operand) -> None:
        if is_met:
            self._jump(to)


def _int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def _shifted(value: int, by: int) -> int:
    """Shift left (negative: right, keeping the sign); by 32 and more as an ARM does it."""
    return value << min(by, 32) if by >= 0 else value >> min(-by, 31)


def _divide(a: int, b: int) -> int:
    """Division as in C, towards zero."""
    if b == 0:
        raise FailureError
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _modulo(a: int, b: int) -> int:
    return a - b * _divide(a, b)


def _arithmetic(calculation: Callable[[int, int], int]) -> Callable[..., None]:
    return lambda machine, operand: machine._calculate(calculation, operand)


_OPERATIONS: dict[str, Callable[..., None]] = {
    "add": _arithmetic(lambda a, b: a + b),
    "sub": _arithmetic(lambda a, b: a - b),
    "mlt": _arithmetic(lambda a, b: a * b),
    "div": _arithmetic(_divide),
    "mod": _arithmetic(_modulo),
    "and": _arithmetic(lambda a, b: a & b),
    "or": _arithmetic(lambda a, b: a | b),
    "xor": _arithmetic(lambda a, b: a ^ b),
    "rla": _arithmetic(_shifted),
    "rra": _arithmetic(lambda a, b: _shifted(a, -b)),
    "rl": lambda machine, register, by: machine._shift(register, by, 1),
    "rr": lambda machine, register, by: machine._shift(register, by, -1),
    "inr": lambda machine, register: machine._add_to(register, 1),
    "dcr": lambda machine, register: machine._add_to(register, -1),
    "inra": lambda machine: machine._add_to_a(1),
    "dcra": lambda machine: machine._add_to_a(-1),
    "cmp": ScriptMachine._compare,
    "ld": ScriptMachine._load,
    "lda": ScriptMachine._load_a,
    "sta": ScriptMachine._store_a,
    "ldab": ScriptMachine._load_byte,
    "stab": ScriptMachine._store_byte,
    "x": ScriptMachine._exchange,
    "xa": ScriptMachine._exchange_a,
    "push": lambda machine, register: machine._push(machine._value(register)),
    "pusha": lambda machine: machine._push(machine._a),
    "pop": ScriptMachine._pop_to,
    "popa": ScriptMachine._pop_a,
    "call": ScriptMachine._call,
    "ret": ScriptMachine._return,
    "jmp": ScriptMachine._jump,
    "jz": lambda machine, to: machine._jump_if(machine._f == 0, to),
    "jnz": lambda machine, to: machine._jump_if(machine._f != 0, to),
    "jp": lambda machine, to: machine._jump_if(machine._f >= 0, to),
    "jm": lambda machine, to: machine._jump_if(machine._f < 0, to),
    "nop": lambda machine: None,
}


def new_registers() -> tuple[list[int], list[int]]:
    """Parameters and variables of a script just stored."""
    return [0] * PARAMETERS, [0] * VARIABLES
