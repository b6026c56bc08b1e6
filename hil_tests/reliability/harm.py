"""Carrying out an act at its moment, and undoing it.

Owns how each act of `acts` is carried out, and the moment at which it was (`struck_s`, monotonic).
The rig itself times its faults by the events on its wires. For every other act a thread waits for
the same event in the rig's logbook.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pigpio

from hil_tests.processes import TrialError
from hil_tests.reliability import acts, tracer
from hil_tests.reliability.bench import Bench
from hil_tests.reliability.moments import TRIGGERS, Moment
from hil_tests.rig.wires.wiring import PinMap
from shaker_ctl.errors import ShakerError
from shaker_ctl.service.status_socket import read_status

LOOK_S = 0.002
MOTOR_HZ = 20_000
FIVE_TURNS_S = 0.55
"""From EN to the same five turns that `moments.EDGES` counts: run-up of 0.3 s to some 800 rpm."""


class Tail:
    """The lines that a growing file gets from now on."""

    def __init__(self, path: Path) -> None:
        self._file = path.open(encoding="utf-8")
        self._file.seek(0, os.SEEK_END)
        self._begun = ""

    def take(self) -> Iterator[dict[str, Any]]:
        """Yield what has come since, whole lines only."""
        while line := self._file.readline():
            self._begun += line
            if self._begun.endswith("\n"):
                whole, self._begun = self._begun, ""
                yield json.loads(whole)

    def close(self) -> None:
        self._file.close()


class Harm:
    """One act, at one moment of one round."""

    def __init__(self, bench: Bench, act: acts.Act, moment: Moment) -> None:
        self._bench = bench
        self._act = act
        self._moment = moment
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._tracings: list[tracer.Held | tracer.Answered] = []
        self._struck_s: float | None = None
        self.failure = ""

    @property
    def waits_for_hand(self) -> bool:
        """True where the caller says when: `strike`."""
        return self._moment in (Moment.BETS, Moment.LIT)

    def arm(self) -> None:
        """Have it happen at its moment. Call before the shaker is activated."""
        if isinstance(self._act, acts.InjectFault) and self._act.for_s is None:
            self._bench.ask_rig(f"inject {self._act.sentence} {TRIGGERS[self._moment]}")
            return
        watched = "truth" if self._moment is Moment.REST else "events"
        tail = Tail(Path(self._bench.session.rig[watched]))
        self._thread = threading.Thread(target=self._wait_and_strike, args=(tail,), daemon=True)
        self._thread.start()

    def strike(self) -> None:
        """Do it now."""
        self._do(self._act)

    def struck_s(self, notes: list[dict[str, Any]]) -> float | None:
        """When it came into force; `notes` is the rig's logbook of this round. None: not yet."""
        if self._struck_s is None and isinstance(self._act, acts.InjectFault):
            of_it = [n for n in notes if n["what"] == "fault" and n["name"] == self._act.name]
            return of_it[0]["t"] if of_it else None
        return self._struck_s

    def undo(self) -> None:
        """End what still goes on. Idempotent; the rig's own faults are healed by `make_ready`."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(5.0)
        for tracing in self._tracings:
            tracing.release()
            if isinstance(tracing, tracer.Answered) and not tracing.met:
                self.failure = self.failure or "the thread made no such call"
            self.failure = self.failure or tracing.failure
        self._tracings.clear()
        self._put_right(self._act)

    def _put_right(self, act: acts.Act) -> None:
        match act:
            case acts.Then(first, second, _):
                self._put_right(first)
                self._put_right(second)
            case acts.UseHands(_, undo):
                self._bench.ask_rig(f"hands {undo}")
            case acts.StepClock():
                self._bench.world.step_clock(0.0)
            case acts.LowerMemory():
                self._bench.world.show_memory(None)
            case _:
                pass

    # ── Waiting ─────────────────────────────────────────────────────────────

    def _wait_and_strike(self, tail: Tail) -> None:
        try:
            while not self._ended.wait(LOOK_S):
                if any(map(self._is_it, tail.take())):
                    if self._moment is Moment.TOSS:
                        self._ended.wait(FIVE_TURNS_S)
                    self._do(self._act)
                    return
        except (OSError, TrialError, ShakerError, tracer.TraceError) as error:
            self.failure = str(error)
        finally:
            tail.close()

    def _is_it(self, note: dict[str, Any]) -> bool:
        if self._moment is Moment.REST:
            return True  # the truth has one line for each true rest
        if self._moment is Moment.TOSS:
            return note["what"] == "enable" and bool(note["level"])
        return bool(note["what"] == "stage")

    # ── Doing ───────────────────────────────────────────────────────────────

    def _do(self, act: acts.Act) -> None:
        self._struck_s = time.monotonic()
        match act:
            case acts.InjectFault(sentence, for_s):
                self._bench.ask_rig(f"inject {sentence}")
                if for_s is not None:
                    self._later(partial(self._heal, sentence.split()[0], for_s))
            case acts.UseHands(do, _):
                self._bench.ask_rig(f"hands {do}")
            case acts.SignalProcess(who, how, for_s):
                self._signal(self._pid(who), how, for_s)
            case acts.HangThread(thread, for_s):
                self._trace(tracer.Held(self._service(), thread, for_s))
            case acts.BreakMedium(thread, calls, error, late_s):
                answered = tracer.Answered(
                    self._service(), thread, calls, error=error, late_s=late_s
                )
                self._trace(answered)
            case acts.StepClock(step_s):
                self._bench.world.step_clock(step_s)
            case acts.LowerMemory(available_kb):
                self._bench.world.show_memory(available_kb)
            case acts.TypeText(port, text, times, for_s):
                self._later(partial(self._type, port, text.encode("latin-1") * times, for_s))
            case acts.DriveMotor(for_s):
                self._later(partial(self._drive_motor, for_s))
            case acts.BreakStart():
                self._signal(self._service(), "killed", 0.0)
            case acts.Then(first, second, after_s):
                self._do(first)
                begun_s = self._struck_s
                self._ended.wait(after_s)
                self._do(second)
                self._struck_s = begun_s

    def _trace(self, tracing: tracer.Held | tracer.Answered) -> None:
        self._tracings.append(tracing)
        tracing.start()

    def _service(self) -> int:
        pid = self._bench.session.service_pid
        if pid is None:
            raise tracer.TraceError("the service does not run")
        return pid

    def _pid(self, who: str) -> int:
        if who == "service":
            return self._service()
        return int(read_status(self._bench.session.runtime_dir)["camera_pid"])

    def _signal(self, pid: int, how: str, for_s: float) -> None:
        self._struck_s = time.monotonic()
        if how == "killed":
            os.kill(pid, signal.SIGKILL)
            return
        os.kill(pid, signal.SIGSTOP)
        self._later(partial(self._go_on, pid, for_s))

    def _go_on(self, pid: int, for_s: float) -> None:
        self._ended.wait(for_s)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    def _heal(self, name: str, after_s: float) -> None:
        self._ended.wait(after_s)
        with suppress(TrialError):
            self._bench.ask_rig(f"heal {name}")

    def _type(self, port: str, text: bytes, for_s: float) -> None:
        device = self._bench.session.rig["console"][port]["person"]
        until_s = time.monotonic() + for_s
        handle = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            while time.monotonic() < until_s and not self._ended.is_set():
                with suppress(BlockingIOError):
                    os.write(handle, text)
                time.sleep(0.01)
        finally:
            os.close(handle)

    def _drive_motor(self, for_s: float) -> None:
        """Full duty and EN, again and again: the dead-man takes both back at each of its turns."""
        take_the_services_priority()
        where, pins = self._bench.session.rig["pigpiod"], PinMap()
        until_s = time.monotonic() + for_s
        pi = pigpio.pi(where["host"], where["port"], show_errors=False)
        try:
            while time.monotonic() < until_s and not self._ended.is_set():
                pi.hardware_PWM(pins.motor_pwm, MOTOR_HZ, 1_000_000)
                pi.write(pins.motor_enable, 0)
                pi.write(pins.motor_enable, 1)
                time.sleep(0.002)
            pi.write(pins.motor_enable, 0)
            pi.hardware_PWM(pins.motor_pwm, MOTOR_HZ, 0)
        finally:
            pi.stop()

    def _later(self, act: Callable[[], None]) -> None:
        threading.Thread(target=act, daemon=True).start()


def take_the_services_priority() -> None:
    """For this thread; where that is not permitted, it stays."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -10)
