"""What the kernel's way to the pins must keep beyond the common contract: the dead-man's process.

The client is the real libgpiod; the kernel behind it is the rig's (`hil_tests.rig.gpiochip`).
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import pytest

from hil_tests.contracts.gpio_bench import GpiodBench
from hil_tests.contracts.pins import RemotePins
from hil_tests.rig.gpiochip import trap
from hil_tests.waiting import seconds_until, until
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.errors import GpioLinkError, SettingsError
from shaker_ctl.ports import Interlocks

GRANT_S = 0.12
"""Longest time for which the dead-man may hold EN without hearing from the controller."""

BUSY_S = 0.15
"""What a test machine with other work may add to a time that needs another process to run.
`motor_off --backend gpiod` measures without it."""


@pytest.fixture(autouse=True)
def _needs_a_gpiochip() -> None:
    if reason := trap.why_not():
        pytest.skip(f"no virtual gpiochip on this machine: {reason}")


@pytest.fixture
def bench() -> Iterator[GpiodBench]:
    """A board behind a kernel that leaves released outputs driven, as Raspberry Pi OS has it."""
    made = GpiodBench()
    yield made
    made.close()


@pytest.fixture
def pins(bench: GpiodBench) -> Iterator[RemotePins]:
    with bench.controller() as made:
        yield made


def drive_and(pins: RemotePins, act: Callable[[], None]) -> threading.Thread:
    """Have the loop drive, and `act` in the middle of it; return the loop, which may fail."""

    def loop() -> None:
        with suppress(GpioLinkError, EOFError, OSError):
            pins.keep_driving(1.5)

    pins.motor.arm()
    thread = threading.Thread(target=loop)
    thread.start()
    time.sleep(0.25)
    act()
    return thread


@pytest.mark.parametrize(("how", "limit_s"), [(signal.SIGKILL, 0.0), (signal.SIGSTOP, GRANT_S)])
def test_enable_falls_when_the_controller_is_killed_or_stopped(
    bench: GpiodBench, pins: RemotePins, how: signal.Signals, limit_s: float
) -> None:
    loop = drive_and(pins, lambda: os.kill(pins.process.pid, how))
    assert bench.seconds_until_off() <= limit_s + BUSY_S
    assert bench.duty() == 0.0
    pins.process.kill()
    loop.join()


def test_nobody_is_granted_more_than_the_longest_time(bench: GpiodBench, pins: RemotePins) -> None:
    pins.motor.arm()
    pins.grant(5.0)
    until(bench.is_enabled)
    assert bench.seconds_until_off() <= GRANT_S + BUSY_S


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
def test_the_motor_stops_when_the_dead_man_itself_dies_and_a_new_one_takes_over(
    bench: GpiodBench, pins: RemotePins, how: signal.Signals
) -> None:
    dead_man = pins.dead_man()
    loop = drive_and(pins, lambda: os.kill(dead_man, how))
    off_s = seconds_until(lambda: bench.duty() == 0.0 or not bench.is_enabled())
    assert off_s <= GRANT_S + BUSY_S
    bench.seconds_until_off()  # EN itself: the controller kills what is left, and holds it low.
    until(lambda: pins.link.trouble() is None and pins.link.generation() > 1, limit_s=4.0)
    assert not bench.is_enabled()
    loop.join()
    assert pins.dead_man() != dead_man
    drive_and(pins, lambda: None)
    until(bench.is_enabled)


def _kill_both(pins: RemotePins, dead_man: int) -> None:
    os.kill(pins.process.pid, signal.SIGSTOP)
    os.kill(dead_man, signal.SIGKILL)
    os.kill(pins.process.pid, signal.SIGKILL)


def test_with_strict_gpiod_the_kernel_lets_go_even_where_nobody_is_left() -> None:
    """Controller and dead-man killed in one moment: `dtparam=strict_gpiod` and the pull-down."""
    bench = GpiodBench(strict=True)
    with bench.controller() as pins:
        loop = drive_and(pins, partial(_kill_both, pins, pins.dead_man()))
        assert bench.seconds_until_off() <= BUSY_S
        loop.join()
    bench.close()


def test_without_strict_gpiod_only_the_monostable_is_left_then(
    bench: GpiodBench, pins: RemotePins
) -> None:
    """The gap that the wiring page closes: EN stays driven, and no more edges come."""
    drive_and(pins, partial(_kill_both, pins, pins.dead_man())).join()
    time.sleep(0.05)
    changes: list[int] = []
    bench.board.on_output(changes.append)
    time.sleep(0.2)
    assert changes == []  # The monostable of the wiring page falls after 50-100 ms of this.


def test_the_dead_man_leaves_with_its_controller(bench: GpiodBench, pins: RemotePins) -> None:
    dead_man = pins.dead_man()
    pins.process.kill()
    until(partial(_has_ended, dead_man))


def _has_ended(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().split()[2] == "Z"
    except OSError:
        return True


def test_contacts_are_watched_through_a_change_of_the_dead_man(
    bench: GpiodBench, pins: RemotePins
) -> None:
    seen: list[Interlocks] = []
    pins.lines.on_change(seen.append)
    os.kill(pins.dead_man(), signal.SIGKILL)
    until(lambda: pins.link.generation() > 1, limit_s=4.0)
    bench.board.drive(bench.pins.estop, 1)
    until(lambda: any(said.estop_pressed for said in seen))


def test_a_line_that_another_program_holds_is_said(bench: GpiodBench, pins: RemotePins) -> None:
    with pytest.raises(GpioLinkError, match="in use by another program") as caught:
        bench.controller().link.open()
    assert "gpioinfo" in caught.value.line()
    assert not bench.is_enabled()


@pytest.mark.parametrize(
    ("wrong", "said", "remedy"),
    [
        ({"chip": "/dev/null"}, "no GPIO chip", "gpio.chip"),
        ({"pwm_chip": "/nowhere"}, "no PWM chip", "dtoverlay=pwm-2chan"),
        ({"pins": PinParameters(ring_light=26)}, "GPIO 26 has no hardware PWM", "ring_light"),
    ],
)
def test_pins_that_are_not_there_are_said_with_what_to_look_for(
    bench: GpiodBench, wrong: dict[str, object], said: str, remedy: str
) -> None:
    bench.parameters = bench.parameters.model_copy(update=wrong)
    with pytest.raises(GpioLinkError, match=said) as caught:
        bench.controller().link.open()
    assert remedy in caught.value.line()


def test_auto_finds_the_header_by_its_label(bench: GpiodBench) -> None:
    bench.parameters = bench.parameters.model_copy(update={"chip": "auto"})
    with bench.controller() as pins:
        assert not pins.lines.read().compartment_open


def test_restarts_leave_no_process_and_no_line_behind(bench: GpiodBench) -> None:
    for _ in range(3):
        with bench.controller() as pins:
            dead_man = pins.dead_man()
            pins.motor.arm()
            pins.keep_driving(0.05)
        until(partial(_has_ended, dead_man))
        assert not bench.is_enabled()
        assert bench.duty() == 0.0


def test_a_missing_library_is_said_as_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from shaker_ctl.adapters.pins.gpio_backend import make_pins
    from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters

    for name in [name for name in sys.modules if "gpiod" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gpiod", None)
    with pytest.raises(SettingsError, match="not installed") as caught:
        make_pins(GpioParameters(), model="Raspberry Pi 5 Model B Rev 1.0")
    assert "shaker-ctl[pi]" in caught.value.line()
