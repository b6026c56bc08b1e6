"""What every motor behind its dead-man must keep, seen from the pins."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import pytest

from hil_tests.contracts.gpio_bench import GpioBench, Pins, client_threads, until
from shaker_ctl.errors import GpioLinkError


def test_opening_leaves_the_motor_off(bench: GpioBench, pins: Pins) -> None:
    assert not bench.is_enabled()
    assert bench.duty() == 0.0
    assert not pins.motor.is_enabled()


def test_refreshed_it_is_enabled_with_the_duty_asked_for(bench: GpioBench, pins: Pins) -> None:
    pins.motor.arm()
    pins.keep_driving(0.3, duty=0.42)
    assert bench.is_enabled()
    assert bench.duty() == pytest.approx(0.42, abs=0.001)


def test_without_refreshes_enable_falls_within_the_dead_mans_time(
    bench: GpioBench, pins: Pins
) -> None:
    pins.motor.arm()
    pins.keep_driving(0.2)
    assert bench.seconds_until_off() <= 0.12
    time.sleep(0.03)
    assert bench.duty() == 0.0


def test_driving_alone_does_not_enable(bench: GpioBench, pins: Pins) -> None:
    pins.motor.arm()
    pins.motor.drive(0.5)
    time.sleep(0.05)
    assert not bench.is_enabled()


def test_stop_takes_effect_at_once_and_holds_until_armed(bench: GpioBench, pins: Pins) -> None:
    pins.motor.arm()
    pins.keep_driving(0.2)
    pins.motor.stop()
    assert bench.seconds_until_off() <= 0.03
    pins.keep_driving(0.1)
    assert not bench.is_enabled()
    assert bench.duty() == 0.0
    pins.motor.arm()
    pins.keep_driving(0.1)
    assert bench.is_enabled()


def test_stop_from_another_thread_wins_over_a_driving_loop(bench: GpioBench, pins: Pins) -> None:
    pins.motor.arm()
    loop = threading.Thread(target=pins.keep_driving, args=(0.5,))
    loop.start()
    time.sleep(0.2)
    pins.motor.stop()
    assert bench.seconds_until_off() <= 0.03
    loop.join()
    assert not bench.is_enabled()


def test_stop_does_not_wait_for_a_command_that_is_not_answered(
    bench: GpioBench, pins: Pins
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


def test_stop_never_raises_even_before_opening_and_after_closing(bench: GpioBench) -> None:
    pins = bench.controller()
    pins.motor.stop()
    pins.link.open()
    pins.link.close()
    pins.motor.stop()


def test_restarts_use_the_same_slot_and_no_thread_stays_behind(bench: GpioBench) -> None:
    threads = client_threads()
    slots = set()
    for _ in range(6):
        with bench.controller() as pins:
            slots.add(pins.motor._dead_man.slot)
            pins.motor.arm()
            pins.keep_driving(0.05)
    assert slots == {0}
    until(lambda: client_threads() == threads)
    until(lambda: bench.daemon.connections == 0)


def test_a_crashed_controllers_dead_man_is_taken_over(bench: GpioBench) -> None:
    crashed = bench.controller()
    crashed.link.open()
    crashed.motor.arm()
    crashed.keep_driving(0.05)
    crashed.link.close()  # Without a stop: EN is still granted for a moment.
    with bench.controller() as pins:
        assert not bench.is_enabled()
        assert pins.motor._dead_man.slot == 0


@pytest.mark.parametrize("trouble", ["hang", "freeze", "vanish", "kill"])
def test_a_daemon_in_trouble_is_noticed_within_a_second_and_used_again(
    bench: GpioBench, pins: Pins, trouble: str
) -> None:
    time.sleep(0.3)
    getattr(bench.daemon, trouble)()
    assert until(lambda: pins.link.trouble() is not None or pins.link.generation() > 1) <= 1.0
    if trouble == "kill":
        bench.daemon.start()
    else:
        bench.daemon.resume()
    until(lambda: pins.link.trouble() is None and pins.link.generation() > 1, limit_s=4.0)
    pins.motor.arm()
    pins.keep_driving(0.1)
    assert bench.is_enabled()


def test_a_command_to_a_hung_daemon_ends_within_its_deadline(bench: GpioBench, pins: Pins) -> None:
    bench.daemon.hang()
    began_s = time.monotonic()
    with pytest.raises(GpioLinkError, match="lost"):
        pins.lines.read()
    assert time.monotonic() - began_s <= 0.6
    with pytest.raises(GpioLinkError):
        pins.lines.read()


def test_no_daemon_is_said_with_its_remedy(bench: GpioBench) -> None:
    bench.daemon.terminate()
    with pytest.raises(GpioLinkError, match="no GPIO daemon listens") as caught:
        bench.controller().link.open()
    assert "systemctl start pigpiod" in caught.value.line()


def test_a_daemon_that_accepts_and_does_not_answer_is_said(bench: GpioBench) -> None:
    bench.daemon.hang()
    with pytest.raises(GpioLinkError, match="does not answer"):
        bench.controller().link.open()


def test_a_daemon_that_does_not_admit_us_is_said(bench: GpioBench) -> None:
    bench.daemon.reject()
    with pytest.raises(GpioLinkError, match="closes the connection") as caught:
        bench.controller().link.open()
    assert "allow-list" in caught.value.line()


def test_nothing_is_printed_by_the_client(
    bench: GpioBench, capfd: pytest.CaptureFixture[str]
) -> None:
    bench.daemon.terminate()
    with pytest.raises(GpioLinkError):
        bench.controller().link.open()
    assert capfd.readouterr().out == ""


def test_enable_that_something_else_holds_high_denies_arming(bench: GpioBench, pins: Pins) -> None:
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


def test_the_enable_line_gets_a_fresh_edge_every_turn_for_the_monostable(
    bench: GpioBench, pins: Pins
) -> None:
    edges: list[float] = []
    was = [0]

    def count(gpio: int) -> None:
        if gpio == bench.pins.motor_enable:
            level = bench.board.level(gpio)
            if level and not was[0]:
                edges.append(time.monotonic())
            was[0] = level

    bench.board.on_output(count)
    pins.motor.arm()
    pins.keep_driving(0.5)
    gaps = [b - a for a, b in pairwise(edges)]
    assert len(edges) > 30
    assert max(gaps) < 0.04
