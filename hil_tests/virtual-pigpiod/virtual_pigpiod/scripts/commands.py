"""The script slots: store, run, update, stop, delete; and when each script goes on.

The real daemon gives each script a thread. Here all share the daemon's one, in short slices, so
that a script spinning without a pause slows nobody for long. A slice is one moment to the world
outside: a real script writes two pins within microseconds, here this computer may go elsewhere
between the two writes, and what hangs on the pins must not see that. Owns: states, waking.
Must not know: what instructions do.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import IntEnum

from virtual_pigpiod.loop import Loop
from virtual_pigpiod.pins.board import now_us
from virtual_pigpiod.refusals import Reason, refuse_if
from virtual_pigpiod.results import Handlers, Later, Result
from virtual_pigpiod.scripts.machine import (
    Ended,
    ScriptMachine,
    WaitForEvents,
    WaitForPins,
    new_registers,
)
from virtual_pigpiod.scripts.text import PARAMETERS, Instruction, compile_script
from virtual_pigpiod.slots import Slots
from virtual_pigpiod.wire import Command, Request

SLOTS = 32

START_US = 500
"""A stored script needs this long before it may be run: its thread has to start."""

SLICE = 100
"""Instructions in one go; then others have their turn."""

REST_US = 200
"""Pause of a script that used its slice, so that a spinning one takes half a core at most."""


CATCH_UP_US = 50_000
"""Lateness that a script makes good; after a longer stop of the whole process it does not hurry."""


class ScriptState(IntEnum):
    """What PROCP answers."""

    INITIALISING = 0
    HALTED = 1
    RUNNING = 2
    WAITING = 3
    FAILED = 4


@dataclass(slots=True)
class Script:
    """One stored script."""

    instructions: list[Instruction]
    ready_us: int
    parameters: list[int] = field(default_factory=list)
    variables: list[int] = field(default_factory=list)
    state: ScriptState = ScriptState.INITIALISING
    is_stopping: bool = False
    wakes_us: int = 0
    waits_for: WaitForPins | WaitForEvents | None = None
    machine: ScriptMachine | None = None


class Scripts:
    """Handlers of the script commands, and the scheduler."""

    def __init__(
        self,
        loop: Loop,
        execute: Callable[[Request], Result],
        at_one_moment: Callable[[], AbstractContextManager[object]],
    ) -> None:
        """`at_one_moment`: while it is held, nobody outside looks at a pin."""
        self._loop = loop
        self._execute = execute
        self._at_one_moment = at_one_moment
        self._slots: Slots[Script] = Slots(SLOTS, Reason.BAD_SCRIPT_ID)
        self.on_masks: Callable[[], None] = lambda: None
        """Called when the pins that scripts wait for have changed."""
        self.handlers: Handlers = {
            Command.PROC: self._store,
            Command.PROCR: self._start,
            Command.PROCU: self._update,
            Command.PROCP: self._status,
            Command.PROCS: self._stop,
            Command.PROCD: self._delete,
        }

    @property
    def pin_mask(self) -> int:
        """Pins that scripts wait for."""
        mask = 0
        for script in self._slots.opened():
            if isinstance(script.waits_for, WaitForPins):
                mask |= script.waits_for.mask
        return mask

    def notice(self, changed: int, events: int) -> None:
        """Pins have changed, events have fired: wake the scripts that wait for them."""
        for script in self._slots.opened():
            if script.waits_for is None:
                continue
            happened = changed if isinstance(script.waits_for, WaitForPins) else events
            met = script.waits_for.mask & happened
            if met:
                self._end_wait(script, met)

    def _store(self, request: Request) -> int:
        refuse_if(self._slots.free is None, Reason.NO_SCRIPT_ROOM)
        text = request.extension.split(b"\0")[0].decode("latin-1")
        parameters, variables = new_registers()
        script = Script(compile_script(text), now_us() + START_US, parameters, variables)
        return self._slots.open(script)

    def _start(self, request: Request) -> None:
        script = self._with_parameters(request)
        refuse_if(self._state(script) == ScriptState.INITIALISING, Reason.SCRIPT_NOT_READY)
        _copy_parameters(script, request.extension)
        script.is_stopping = False
        if script.state in (ScriptState.HALTED, ScriptState.FAILED):
            script.state = ScriptState.RUNNING
            script.machine = ScriptMachine(
                script.instructions, script.parameters, script.variables, self._execute
            )
            self._loop.post(lambda: self._go_on(script))

    def _update(self, request: Request) -> None:
        _copy_parameters(self._with_parameters(request), request.extension)

    def _status(self, request: Request) -> bytes:
        script = self._slots.of(request)
        return struct.pack(f"<{PARAMETERS + 1}i", self._state(script), *script.parameters)

    def _stop(self, request: Request) -> None:
        self._halt(self._slots.of(request))

    def _delete(self, request: Request) -> int | Later:
        script = self._slots.of(request)
        self._halt(script)
        self._slots.close(request)
        # The real daemon waits for the script to reach its next instruction.
        return Later(script.wakes_us) if script.state == ScriptState.RUNNING else 0

    def _with_parameters(self, request: Request) -> Script:
        refuse_if(request.p1 >= SLOTS, Reason.BAD_SCRIPT_ID)
        refuse_if(len(request.extension) // 4 > PARAMETERS, Reason.TOO_MANY_PARAM)
        return self._slots.of(request)

    def _state(self, script: Script) -> ScriptState:
        if script.state == ScriptState.INITIALISING and now_us() >= script.ready_us:
            script.state = ScriptState.HALTED
        return script.state

    def _halt(self, script: Script) -> None:
        """A waiting script halts at once, a delayed one after its delay, as a thread would."""
        script.is_stopping = True
        if script.waits_for is not None:
            self._end_wait(script, 0)

    def _end_wait(self, script: Script, result: int) -> None:
        script.waits_for = None
        script.state = ScriptState.RUNNING
        self.on_masks()
        if script.machine is not None:
            script.machine.resume(result)
        self._go_on(script)

    def _end_delay(self, script: Script, result: int) -> None:
        if script.machine is not None:
            script.machine.resume(result)
        self._go_on(script, late_us=now_us() - script.wakes_us)

    def _go_on(self, script: Script, late_us: int = 0) -> None:
        """Run until the next pause. A late waking is not added to the delay that follows: the
        threads of a Pi wake on time, and a countdown must not take longer because Python was busy.
        """
        if script.machine is None:
            return
        if script.is_stopping:
            script.state, script.machine = ScriptState.HALTED, None
            return
        with self._at_one_moment():
            pause = script.machine.run(SLICE)
        match pause:
            case None:
                script.wakes_us = now_us() + REST_US
                self._loop.call_at(script.wakes_us, lambda: self._go_on(script))
            case Later(at_us=at_us, result=result):
                script.wakes_us = at_us - min(late_us, CATCH_UP_US)
                self._loop.call_at(script.wakes_us, lambda: self._end_delay(script, result))
            case Ended(has_failed=has_failed):
                script.state = ScriptState.FAILED if has_failed else ScriptState.HALTED
                script.machine = None
            case WaitForPins() | WaitForEvents() as wait:
                script.state, script.waits_for = ScriptState.WAITING, wait
                self.on_masks()


def _copy_parameters(script: Script, extension: bytes) -> None:
    count = len(extension) // 4
    script.parameters[:count] = struct.unpack(f"<{count}i", extension[: 4 * count])
