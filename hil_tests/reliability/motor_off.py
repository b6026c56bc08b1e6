"""How soon the motor is off when its controller is killed, stopped, hung or cut off.

    python -m hil_tests.reliability.motor_off --trials 50
    python -m hil_tests.reliability.motor_off --trials 50 --backend gpiod

Owns the experiment: a victim process drives the shaker through the real client and the shipped
motion thread; this process holds the machine, ends the victim's control at a random moment of a
toss, and measures at the pins when the motor was no longer driven: EN low, behind the hardware
monostable, or no duty. The monostable bridges the microseconds for which EN is pulsed low; a level
low for `SETTLED_S` is the end. With gpiod the victim runs on the real libgpiod behind the rig's
gpiochip, and its dead-man is a process that can be killed and stopped as well.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import track

from hil_tests.campaign import Campaign
from hil_tests.rig.gpio_sides import KernelGpio, VirtualGpio
from hil_tests.rig.rig import Rig, RigPlan
from hil_tests.rig.rigfile import Gpio, GpioTable, MachineTable, RigFile
from hil_tests.rig.wires.wiring import PinMap
from shaker_ctl.adapters.clock import SystemClock
from shaker_ctl.adapters.pins.gpio_backend import make_pins
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.motion.parameters import MotionParameters, ShakeParameters
from shaker_ctl.rules.events import Event
from shaker_ctl.rules.vocabulary import play
from shaker_ctl.service.heartbeat import Heartbeat
from shaker_ctl.service.motion_thread import MotionThread
from virtual_pigpiod.pins.board import Board

LIMIT_S = 0.150
"""Longest drive of a motor whose controller is gone."""

SETTLED_S = 0.03
"""Low for this long is low for good: three turns of the dead-man."""

HEARTBEAT_S = 0.05
"""Longest turn of the state thread, as in the service's settings."""

ATTEMPTS = 4
"""Tosses begun for one trial, before it counts as not measured."""

LONG_SHAKE = ShakeParameters(min_s=6.0, max_s=6.0)


# ── The victim ──────────────────────────────────────────────────────────────


def victim(parameters: str) -> None:
    """Toss for ever; obey one word on standard input that breaks something."""
    pins = make_pins(GpioParameters.model_validate_json(parameters), model="")
    heartbeat = Heartbeat(time.monotonic, HEARTBEAT_S)
    hung = {"state": False, "motion": False}

    def alive() -> None:
        while hung["motion"]:
            time.sleep(1.0)

    def beat() -> None:
        """The state thread's turns."""
        while not hung["state"]:
            heartbeat.beat()
            time.sleep(0.02)

    def say(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def post(event: Event) -> None:
        said = getattr(event, "reason", "") or getattr(event, "code", "")
        say(f"{type(event).__name__} {said}")

    motion = MotionThread(
        motor=pins.motor,
        tach=pins.tach,
        lines=pins.lines,
        link=pins.link,
        clock=SystemClock(),
        parameters=MotionParameters(shake=LONG_SHAKE),
        state_is_alive=heartbeat.is_fresh,
        post=post,
        alive=alive,
    )
    pins.link.open()
    threading.Thread(target=beat, daemon=True).start()
    motion.start()
    motion.start_toss(play(1), motion.draw_plan(), time.monotonic())
    word = sys.stdin.readline().strip()
    if word == "stop":
        motion.stop("asked to")
    elif word == "hang-interpreter":
        ctypes.PyDLL(None).sleep(10)  # Holds the interpreter's lock: every thread stands still.
    elif word:
        hung[word.removeprefix("hang-")] = True
    time.sleep(10.0)


# ── The observer ────────────────────────────────────────────────────────────


class EnableWatch:
    """When the motor was driven and no longer driven, from the board itself."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._pins = PinMap()
        self._fell_s: float | None = None
        self._board.on_output(self._note)

    def _note(self, gpio: int) -> None:
        pins = self._pins
        if gpio in (pins.motor_enable, pins.motor_pwm):
            is_high = bool(self._board.level(pins.motor_enable))
            is_driven = is_high and self._board.duty(pins.motor_pwm) > 0.0
            self._fell_s = None if is_driven else self._fell_s or time.monotonic()

    @property
    def is_granted(self) -> bool:
        """Whether EN has been high within the last turns of the dead-man."""
        fell_s = self._fell_s
        return fell_s is None or time.monotonic() - fell_s < SETTLED_S

    def off_since(self, limit_s: float) -> float:
        """Wait until EN has been low for good; return when it fell. Raises TimeoutError."""
        until_s = time.monotonic() + limit_s
        while time.monotonic() < until_s:
            fell_s = self._fell_s
            if fell_s is not None and time.monotonic() - fell_s > SETTLED_S:
                return fell_s
            time.sleep(0.002)
        raise TimeoutError(f"EN was still high after {limit_s} s")


Act = Callable[[Rig, "subprocess.Popen[str]"], None]
"""Takes control away; the time until EN is low counts from its begin."""


def _tell(word: str) -> Act:
    def act(_: Rig, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        process.stdin.write(word + "\n")
        process.stdin.flush()

    return act


def _estop(rig: Rig, _: subprocess.Popen[str]) -> None:
    rig.plant.hands.estop_pressed = True
    rig.machine.wake()


_STOPPED: list[int] = []
"""Dead-men that were stopped: one whose victim is killed before it was replaced stays so."""


def _dead_man(how: signal.Signals) -> Act:
    """The process that holds EN, a child of the victim."""

    def act(_: Rig, process: subprocess.Popen[str]) -> None:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for pid in children:
            if b"gpiod_dead_man" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(int(pid), how)
                _STOPPED.append(int(pid))
                return
        raise RuntimeError("the victim has no dead-man process")

    return act


COMMON: dict[str, Act] = {
    "killed (SIGKILL)": lambda _, p: os.kill(p.pid, signal.SIGKILL),
    "stopped (SIGSTOP)": lambda _, p: os.kill(p.pid, signal.SIGSTOP),
    "state thread hung": _tell("hang-state"),
    "motion thread hung": _tell("hang-motion"),
    "interpreter hung": _tell("hang-interpreter"),
    "e-stop pressed": _estop,
    "stop commanded": _tell("stop"),
}
WAYS: dict[str, dict[str, Act]] = {
    "pigpio": {
        **COMMON,
        "link cut": lambda rig, _: rig.pigpiod.vanish(),
        "daemon hung": lambda rig, _: rig.pigpiod.hang(),
    },
    "gpiod": {
        **COMMON,
        "dead-man killed": _dead_man(signal.SIGKILL),
        "dead-man stopped": _dead_man(signal.SIGSTOP),
    },
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One case of the campaign."""

    took_s: float | None
    """From the act to EN low; None where nothing could be measured."""
    ended_before: int
    """Tosses that ended before the act: the machine was too busy."""


@dataclass
class Distribution:
    """Times from the act to EN low, in seconds."""

    way: str
    times_s: list[float] = field(default_factory=list)
    ended_before: int = 0

    def line(self) -> str:
        ms = sorted(1000 * t for t in self.times_s)
        if not ms:
            return f"{self.way:20} nothing measured: the machine is too busy"
        p95 = ms[round(0.95 * (len(ms) - 1))]
        before = f"   ({self.ended_before} ended before)" if self.ended_before else ""
        return (
            f"{self.way:20} n {len(ms):3}   min {ms[0]:6.1f}   median "
            f"{statistics.median(ms):6.1f}   p95 {p95:6.1f}   worst {ms[-1]:6.1f} ms{before}"
        )

    @property
    def worst_s(self) -> float | None:
        """None where nothing was measured: that is no good time."""
        return max(self.times_s, default=None)


def judged(found: Sequence[Distribution]) -> tuple[list[str], bool]:
    """The verdict over all ways in words, and whether each was measured and within the limit."""
    worst = [one.worst_s for one in found if one.worst_s is not None]
    unknown = [one.way for one in found if one.worst_s is None]
    said = []
    if worst:
        said.append(f"worst {1000 * max(worst):.1f} ms, limit {1000 * LIMIT_S:.0f} ms")
    if unknown:
        said.append(f"never measured: {', '.join(unknown)}; repeat it on a quieter machine")
    return said, not unknown and max(worst) <= LIMIT_S


def trial(rig: Rig, line: EnableWatch, act: Act, chance: random.Random) -> float | None:
    """Start a victim, let it shake, act, and return the seconds until EN was low.

    None where the toss had ended by itself before the act: a machine so busy that a thread of the
    victim was late stops rightly, and measures nothing.
    """
    command = [sys.executable, "-m", __spec__.name, "--victim", _pins_of(rig).model_dump_json()]
    if isinstance(rig.gpio, KernelGpio):
        entry = [sys.executable, "-m", "hil_tests.rig.gpiochip.enter", rig.gpio.address["door"]]
        command = [*entry, *command]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        if said != "TossStarted":
            raise RuntimeError(f"the victim did not start its toss: {said}")
        time.sleep(chance.uniform(0.5, 1.0))
        if not line.is_granted:
            return None
        began_s = time.monotonic()
        act(rig, process)
        return line.off_since(2.0) - began_s
    finally:
        process.kill()
        process.communicate()
        while _STOPPED:
            with contextlib.suppress(ProcessLookupError):
                os.kill(_STOPPED.pop(), signal.SIGKILL)
        if isinstance(rig.gpio, VirtualGpio):
            rig.pigpiod.resume()
        rig.plant.hands.estop_pressed = False
        rig.machine.wake()
        until_s = time.monotonic() + 5.0
        while rig.machine.outputs.speed_rpm > 0.0 and time.monotonic() < until_s:
            time.sleep(0.1)  # The next victim would rightly not start a cam that still turns.


def _pins_of(rig: Rig) -> GpioParameters:
    if isinstance(rig.gpio, KernelGpio):
        where = rig.gpio.address
        return GpioParameters(backend="gpiod", chip=where["chip"], pwm_chip=where["pwm_chip"])
    return GpioParameters(backend="pigpio", port=rig.pigpiod.port)


def measure(
    trials: int,
    ways: list[str],
    seed: int = 0,
    backend: str = "pigpio",
    results: Path | None = None,
) -> list[Distribution]:
    """Run every way `trials` times, in turn, on one rig. What is kept in `results` is not run
    again."""
    kept = Campaign(results and results / f"{backend}.jsonl", Trial)
    cases = [f"{way}, {number}" for number in range(trials) for way in ways]
    wires = Gpio.GPIOCHIP if backend == "gpiod" else Gpio.VIRTUAL
    with tempfile.TemporaryDirectory() as folder:
        file = RigFile(machine=MachineTable(seed=seed), gpio=GpioTable(wires=wires))
        plan = RigPlan(Path(folder), file=file)
        with Rig(plan) as rig:
            assert isinstance(rig.gpio, VirtualGpio | KernelGpio)
            line = EnableWatch(rig.gpio.board)

            def one(case: str) -> Trial:
                act, chance = WAYS[backend][_way(case)], random.Random(f"{seed} {case}")
                for ended_before in range(ATTEMPTS):
                    took_s = trial(rig, line, act, chance)
                    if took_s is not None:
                        return Trial(took_s, ended_before)
                return Trial(None, ATTEMPTS)

            shown = track(cases, "trials", console=Console(stderr=True))
            found = list(zip(cases, kept.run(shown, one), strict=True))
    return [_together(way, [done for case, done in found if _way(case) == way]) for way in ways]


def _way(case: str) -> str:
    return case.rpartition(", ")[0]


def _together(way: str, done: list[Trial]) -> Distribution:
    times_s = [one.took_s for one in done if one.took_s is not None]
    return Distribution(way, times_s, sum(one.ended_before for one in done))


def main(
    trials: Annotated[int, typer.Option(min=1, help="Of each way.")] = 50,
    backend: Annotated[
        Literal["pigpio", "gpiod"], typer.Option(help="How the pins are reached.")
    ] = "pigpio",
    way: Annotated[
        list[str] | None, typer.Option(help="One of: " + ", ".join(sorted(COMMON)) + ".")
    ] = None,
    results: Annotated[
        Path | None, typer.Option(help="Folder of the trials: the next run goes on there.")
    ] = None,
    parameters: Annotated[str, typer.Option("--victim", hidden=True)] = "",
) -> None:
    """Measure; status 1 where a way was too slow, or was never measured."""
    if parameters:
        victim(parameters)
        return
    ways = way or list(WAYS[backend])
    if unknown := set(ways) - set(WAYS[backend]):
        raise typer.BadParameter(f"{backend} knows no way {sorted(unknown)[0]!r}")
    found = measure(trials, ways, backend=backend, results=results)
    said, is_good = judged(found)
    for line in [*(distribution.line() for distribution in found), *said]:
        typer.echo(line)
    if not is_good:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
