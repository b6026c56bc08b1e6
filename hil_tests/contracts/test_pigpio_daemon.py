"""What the daemon's way to the pins must keep beyond the common contract: a daemon that fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from hil_tests.contracts.gpio_bench import PigpioBench, client_threads
from hil_tests.contracts.pins import Pins
from hil_tests.waiting import seconds_until, until
from shaker_ctl.adapters.pins.pigpio_motor import PigpioMotor
from shaker_ctl.adapters.pins.pigpio_pins import TickUnwrapper
from shaker_ctl.errors import GpioLinkError
from shaker_ctl.ports import Interlocks


@pytest.fixture
def bench() -> Iterator[PigpioBench]:
    """A board with its daemon."""
    made = PigpioBench()
    yield made
    made.close()


@pytest.fixture
def pins(bench: PigpioBench) -> Iterator[Pins]:
    with bench.controller() as made:
        yield made


def slot_of(pins: Pins) -> int:
    """The daemon's slot in which this controller's dead-man runs."""
    assert isinstance(pins.motor, PigpioMotor)
    return pins.motor._dead_man.slot


def test_stop_does_not_wait_for_a_command_that_is_not_answered(
    bench: PigpioBench, pins: Pins
) -> None:
    pins.motor.arm()
    pins.keep_driving(0.1)
    bench.daemon.hang()
    blocked = threading.Thread(target=lambda: _ignoring_link(pins.motor.refresh))
    blocked.start()
    time.sleep(0.02)
    began_s = time.monotonic()
    pins.motor.stop()
    assert time.monotonic() - began_s < 0.01
    blocked.join()
    assert bench.seconds_until_off() <= 0.12  # The daemon's dead-man, since nobody reads commands.


def _ignoring_link(act: object) -> None:
    with pytest.raises(GpioLinkError):
        act()  # type: ignore[operator]


def test_restarts_use_the_same_slot_and_no_thread_stays_behind(bench: PigpioBench) -> None:
    threads = client_threads()
    slots = set()
    for _ in range(6):
        with bench.controller() as pins:
            slots.add(slot_of(pins))
            pins.motor.arm()
            pins.keep_driving(0.05)
    assert slots == {0}
    until(lambda: client_threads() == threads)
    until(lambda: bench.daemon.connections == 0)


def test_a_crashed_controllers_dead_man_is_taken_over(bench: PigpioBench) -> None:
    crashed = bench.controller()
    crashed.link.open()
    crashed.motor.arm()
    crashed.keep_driving(0.05)
    crashed.link.close()  # Without a stop: EN is still granted for a moment.
    with bench.controller() as pins:
        assert not bench.is_enabled()
        assert slot_of(pins) == 0


@pytest.mark.parametrize("trouble", ["hang", "freeze", "vanish", "kill"])
def test_a_daemon_in_trouble_is_noticed_within_a_second_and_used_again(
    bench: PigpioBench, pins: Pins, trouble: str
) -> None:
    time.sleep(0.3)
    getattr(bench.daemon, trouble)()
    assert (
        seconds_until(lambda: pins.link.trouble() is not None or pins.link.generation() > 1) <= 1.0
    )
    if trouble == "kill":
        bench.daemon.start()
    else:
        bench.daemon.resume()
    until(lambda: pins.link.trouble() is None and pins.link.generation() > 1, limit_s=4.0)
    pins.motor.arm()
    pins.keep_driving(0.1)
    assert bench.is_enabled()


def test_a_command_to_a_hung_daemon_ends_within_its_deadline(
    bench: PigpioBench, pins: Pins
) -> None:
    bench.daemon.hang()
    began_s = time.monotonic()
    with pytest.raises(GpioLinkError, match="lost"):
        pins.lines.read()
    assert time.monotonic() - began_s <= 0.6
    with pytest.raises(GpioLinkError):
        pins.lines.read()


@pytest.mark.parametrize(
    ("manner", "said", "remedy"),
    [
        ("terminate", "no GPIO daemon listens", "systemctl start shaker-pigpiod"),
        ("hang", "does not answer", "pigpiod"),
        ("reject", "closes the connection", "allow-list"),
    ],
)
def test_a_daemon_that_does_not_serve_is_said_with_its_remedy(
    bench: PigpioBench, capfd: pytest.CaptureFixture[str], manner: str, said: str, remedy: str
) -> None:
    getattr(bench.daemon, manner)()
    with pytest.raises(GpioLinkError, match=said) as caught:
        bench.controller().link.open()
    assert remedy in caught.value.line()
    assert capfd.readouterr().out == "", "the client prints nothing of its own"


def test_enable_that_something_else_holds_high_denies_arming(
    bench: PigpioBench, pins: Pins
) -> None:
    other = bench.controller()
    other.link.open()
    other.motor.arm()
    driving = threading.Thread(target=other.keep_driving, args=(0.4,))
    driving.start()
    time.sleep(0.1)
    with pytest.raises(GpioLinkError, match="high before a start"):
        pins.motor.arm()
    driving.join()
    other.link.close()


def test_contacts_are_watched_again_after_the_daemon_was_restarted(
    bench: PigpioBench, pins: Pins
) -> None:
    seen: list[Interlocks] = []
    pins.lines.on_change(seen.append)
    bench.daemon.kill()
    until(lambda: pins.link.trouble() is not None)
    bench.daemon.start()
    until(lambda: pins.link.trouble() is None, limit_s=4.0)
    bench.board.drive(bench.pins.estop, 1)
    until(lambda: any(said.estop_pressed for said in seen))
    assert pins.lines.read().estop_pressed


def test_edges_keep_increasing_over_a_daemon_that_was_restarted(
    bench: PigpioBench, pins: Pins
) -> None:
    bench.pulses(3, 0.006)
    time.sleep(0.08)
    before = list(pins.tach.edges())
    bench.daemon.kill()
    until(lambda: pins.link.trouble() is not None)
    bench.daemon.start()
    until(lambda: pins.link.trouble() is None, limit_s=4.0)
    bench.pulses(3, 0.006)
    time.sleep(0.1)
    after = list(pins.tach.edges())
    assert after
    assert before[-1] < after[0]
    assert after == sorted(after)


@pytest.mark.parametrize("start", [0, 5_000, 0xFFFF_FF00])
def test_ticks_wrap_without_a_jump(start: int) -> None:
    unwrapper = TickUnwrapper()
    ticks = [(start + n * 1_000) % (1 << 32) for n in range(10)]
    unwrapped = [unwrapper.unwrap(tick) for tick in ticks]
    assert [b - a for a, b in pairwise(unwrapped)] == [1_000] * 9
