"""Around EN: off first, reported after; moved once or not at all; and every fault its own name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shaker_ctl.errors import GpioLinkError, RefusedError
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.motion.reports import MotionReport, MotionStopped, TossJudged
from shaker_ctl.rules import events
from shaker_ctl.rules.vocabulary import Occasion, TossPlan, play
from shaker_ctl.service.motion_thread import MotionThread
from shaker_ctl.service.tests.fake_shaker import FakeShaker

ROUND = play(7)
P = MotionParameters()


class Table:
    """A motion thread whose turns the test takes itself."""

    def __init__(self, parameters: MotionParameters = P) -> None:
        self.shaker = FakeShaker()
        self.said: list[events.Event] = []
        self.reports: list[MotionReport] = []
        self.alive = True
        self.pings = 0
        self.pressed = 0
        self.lid_is_released = False
        self.motion = MotionThread(
            motor=self.shaker,
            tach=self.shaker,
            lines=self.shaker,
            link=self.shaker,
            clock=self.shaker,
            parameters=parameters,
            state_is_alive=lambda: self.alive,
            post=self._post,
            report=self.reports.append,
            alive=self._ping,
            button=self._press,
            lid_is_released=lambda: self.lid_is_released,
        )
        # What `start` does, without the thread.
        self.motion._contacts.start()

    def _post(self, event: events.Event) -> None:
        bad = (events.ShakerFault, events.EstopPressed, events.CompartmentOpened)
        if isinstance(event, bad):
            assert not self.shaker.is_high, "the motor was still enabled when the fault was told"
        self.said.append(event)

    def _ping(self) -> None:
        self.pings += 1

    def _press(self) -> None:
        self.pressed += 1

    def run(self, seconds: float, until: Callable[[], object] = lambda: False) -> None:
        end_s = self.shaker.now_s + seconds
        while self.shaker.now_s < end_s and not until():
            self.motion.tick()
            self.shaker.pass_time(0.008)

    def toss(self, *, lamps_age_s: float = 0.0) -> TossPlan:
        plan = self.motion.draw_plan()
        self.motion.start_toss(ROUND, plan, self.shaker.now_s - lamps_age_s)
        return plan

    def toss_in_flight(self) -> None:
        """Start a toss and let it reach its speed."""
        self.toss()
        self.run(0.8)
        assert self.said == [events.TossStarted(ROUND)]
        assert self.shaker.is_high
        self.said.clear()

    def faults(self) -> list[tuple[Occasion | None, str]]:
        return [(e.occasion, e.code) for e in self.said if isinstance(e, events.ShakerFault)]


@pytest.fixture
def table() -> Table:
    made = Table()
    made.run(0.3)
    return made


def test_a_toss_starts_settles_and_is_proved(table: Table) -> None:
    plan = table.toss()
    table.run(5.0)
    started, settled = table.said
    assert started == events.TossStarted(ROUND)
    assert isinstance(settled, events.TossSettled)
    assert settled.occasion == ROUND
    assert P.shake.band_low_rpm <= settled.proof.lowest_rpm
    assert settled.proof.highest_rpm <= P.shake.band_high_rpm
    assert settled.proof.in_band_s >= plan.duration_s - 0.7
    assert not table.shaker.is_high
    assert table.motion.figures().activity == "idle"
    assert len(table.motion.figures().trace) > 100


# ── Denied ──────────────────────────────────────────────────────────────────


def _cover_must_be_open(table: Table) -> None:
    table.motion.require_cover(False)
    table.shaker.touch(cover_open=False)


def _cam_turns(table: Table) -> None:
    table.shaker.brakes = False
    table.shaker.speed_rpm = 200.0
    table.run(0.1)


def _unapproved(table: Table) -> None:
    table.motion.start_toss(ROUND, TossPlan(899.0, 30.0, "mine"), table.shaker.now_s)


@pytest.mark.parametrize(
    ("prepare", "order", "said"),
    [
        (lambda t: t.shaker.touch(estop_pressed=True), Table.toss, "e-stop"),
        (lambda t: t.shaker.touch(compartment_open=True), Table.toss, "compartment"),
        (lambda t: t.shaker.touch(driver_fault=True), Table.toss, "driver"),
        (lambda t: t.motion.require_cover(True), Table.toss, "cover is not closed"),
        (_cover_must_be_open, Table.toss, "cover is not open"),
        (lambda t: setattr(t, "alive", False), Table.toss, "late"),
        (_cam_turns, Table.toss, "come to rest"),
        (lambda _: None, lambda t: t.toss(lamps_age_s=0.6), "lamps-stale"),
        (lambda _: None, _unapproved, "approved"),
    ],
)
def test_what_denies_motion_leaves_enable_low(
    table: Table, prepare: Callable[[Table], None], order: Callable[[Table], object], said: str
) -> None:
    prepare(table)
    order(table)
    table.run(3.0)
    (denied,) = [e for e in table.said if isinstance(e, events.TossNotStarted)]
    assert said in denied.reason
    assert table.shaker.arms == 0
    assert not any(isinstance(e, events.TossStarted) for e in table.said)


# ── Stopped ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("change", "event"),
    [
        ({"estop_pressed": True}, events.EstopPressed()),
        ({"compartment_open": True}, events.CompartmentOpened()),
    ],
)
def test_a_contact_stops_a_toss_at_once_and_is_told_after(
    table: Table, change: dict[str, bool], event: events.Event
) -> None:
    table.toss_in_flight()
    table.shaker.touch(**change)
    assert not table.shaker.is_high  # Before any turn of the loop.
    table.run(2.0)
    assert table.said == [event]
    (stopped,) = [r for r in table.reports if isinstance(r, MotionStopped)]
    assert stopped.code == "interlock"


def test_a_cover_closed_in_mid_toss_stops_where_it_must_be_open(table: Table) -> None:
    table.motion.require_cover(False)
    table.toss_in_flight()
    table.shaker.touch(cover_open=False)
    assert not table.shaker.is_high
    table.run(1.0)
    assert table.said == [events.CoverClosed()]


def test_a_contact_whose_report_was_lost_is_seen_by_the_loop(table: Table) -> None:
    table.toss_in_flight()
    table.shaker.on_change(lambda _: None)
    table.shaker.touch(estop_pressed=True)
    table.run(0.02)
    assert not table.shaker.is_high
    assert table.said == [events.EstopPressed()]


def test_a_contact_that_opens_and_closes_between_two_turns_is_told_both_ways(table: Table) -> None:
    table.toss_in_flight()
    table.shaker.touch(compartment_open=True)
    table.shaker.touch(compartment_open=False)
    table.run(1.0)
    assert table.said[:2] == [events.CompartmentOpened(), events.CompartmentClosed()]
    assert not table.shaker.is_high


def test_a_commanded_stop_is_immediate_and_is_no_fault(table: Table) -> None:
    table.toss_in_flight()
    table.motion.stop("the table was closed")
    assert not table.shaker.is_high
    table.run(2.0)
    assert table.said == []
    assert not table.shaker.is_high


def test_what_was_ordered_before_a_stop_is_not_begun_after_it(table: Table) -> None:
    table.toss()
    table.motion.stop("the table was closed")
    table.run(1.0)
    assert [type(event) for event in table.said] == [events.TossNotStarted]
    table.said.clear()
    table.motion.jog(ROUND, 300.0, 1.0)
    table.motion.stop("given up")
    table.run(1.0)
    assert table.said == [events.JogFinished(ROUND)]
    assert table.shaker.arms == 0
    table.said.clear()
    table.motion.jog(ROUND, 300.0, 1.0)
    table.run(3.0)
    assert table.said == [events.JogFinished(ROUND)]
    assert table.shaker.arms == 1


def test_nothing_that_is_ordered_after_the_last_stop_begins(table: Table) -> None:
    """The service ends, and the state thread is still at work."""
    table.motion.stop("service stopped", for_good=True)
    table.motion.release()
    table.toss()
    table.run(1.0)
    table.motion.jog(ROUND, 300.0, 1.0)
    table.run(1.0)
    assert [type(event) for event in table.said] == [events.TossNotStarted, events.JogFinished]
    assert table.shaker.arms == 0


def test_nothing_begins_to_move_while_a_hand_can_open_the_lid(table: Table) -> None:
    table.lid_is_released = True
    table.toss()
    table.run(1.0)
    (denied,) = table.said
    assert isinstance(denied, events.TossNotStarted)
    assert "latch of the lid" in denied.reason
    assert table.shaker.arms == 0
    table.lid_is_released = False
    table.toss()
    table.run(0.5)
    assert table.shaker.is_high


def test_a_stop_between_arming_and_refreshing_leaves_enable_low(table: Table) -> None:
    table.toss()
    table.shaker.before_refresh = lambda: table.motion.stop("the table was closed")
    table.run(1.0)
    assert not table.shaker.is_high
    assert table.faults() == []


def test_a_late_state_thread_stops_the_motor(table: Table) -> None:
    table.toss_in_flight()
    table.alive = False
    table.run(0.02)
    assert not table.shaker.is_high
    assert table.faults() == [(ROUND, "controller-late")]


def test_what_fell_while_the_loop_was_away_is_not_raised_again(table: Table) -> None:
    table.toss_in_flight()
    table.shaker.pass_time(0.15)
    assert not table.shaker.is_high
    table.run(0.5)
    assert not table.shaker.is_high
    assert table.faults() == [(ROUND, "controller-late")]


def test_what_fell_while_the_contacts_were_read_is_not_raised_again(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.toss_in_flight()
    look = table.motion._contacts.look

    def slow_look(*, read: bool) -> bool:
        table.shaker.pass_time(0.15)
        return look(read=read)

    with monkeypatch.context() as patched:
        patched.setattr(table.motion._contacts, "look", slow_look)
        table.motion.tick()
    assert not table.shaker.is_high
    table.run(0.5)
    assert not table.shaker.is_high
    assert table.faults() == [(ROUND, "controller-late")]


def test_a_loop_that_was_late_while_the_dead_man_held_goes_on(table: Table) -> None:
    table.toss_in_flight()
    table.shaker.pass_time(0.04)
    assert table.shaker.is_high
    table.run(0.1)
    assert table.shaker.is_high
    assert table.faults() == []


def test_the_watchdog_is_fed_only_while_both_threads_live(table: Table) -> None:
    table.run(0.1)
    fed = table.pings
    assert fed > 5
    table.alive = False
    table.run(0.1)
    assert table.pings == fed


# ── Faults ──────────────────────────────────────────────────────────────────


def _break(**changes: Any) -> Callable[[Table], None]:
    def act(table: Table) -> None:
        for name, value in changes.items():
            setattr(table.shaker, name, value)

    return act


@pytest.mark.parametrize(
    ("breaks", "code", "within_s"),
    [
        (_break(tach_works=False), "tach-silent", 0.20),
        (_break(driver_works=False), "motor-stall", 0.30),
        (_break(top_rpm=3000.0), "motor-overspeed", 0.25),
        (lambda t: t.shaker.touch(driver_fault=True), "motor-driver", 0.02),
    ],
)
def test_a_fault_in_a_toss_is_named_within_its_time(
    table: Table, breaks: Callable[[Table], None], code: str, within_s: float
) -> None:
    table.toss_in_flight()
    began_s = table.shaker.now_s
    breaks(table)
    table.run(2.0, until=table.faults)
    assert table.faults() == [(ROUND, code)]
    assert table.shaker.now_s - began_s <= within_s
    table.run(3.0)
    assert [f for f in table.faults() if f[0] == ROUND] == [(ROUND, code)]
    assert not any(isinstance(e, events.TossSettled) for e in table.said)


def test_enable_that_does_not_rise_is_a_fault(table: Table) -> None:
    table.shaker.follows_dead_man = False
    table.toss()
    table.run(0.5, until=table.faults)
    assert table.faults() == [(ROUND, "motor-enable")]


def test_a_motor_that_does_not_stop_is_told_and_denies_every_start_until_released(
    table: Table,
) -> None:
    table.toss_in_flight()
    table.shaker.brakes = False
    table.motion.stop("the table was closed")
    table.run(2.0)
    assert table.faults() == [(None, "motor-no-stop")]
    table.shaker.brakes = True
    table.run(2.0)
    table.said.clear()
    table.toss()
    table.run(0.2)
    assert any("technician" in getattr(e, "reason", "") for e in table.said)
    table.motion.release()
    table.said.clear()
    table.toss()
    table.run(5.0)
    assert isinstance(table.said[-1], events.TossSettled)


@pytest.mark.parametrize("opened", ["estop_pressed", "compartment_open"])
def test_a_welded_contactor_is_told_and_denies_every_start_until_released(
    table: Table, opened: str
) -> None:
    table.shaker.touch(motor_supplied=True)
    table.toss_in_flight()
    table.shaker.touch(**{opened: True}, coil_broken=True)
    table.run(2.0)
    table.shaker.touch(**{opened: False}, coil_broken=False)
    assert (None, "motor-supply") in table.faults()
    table.said.clear()
    table.toss()
    table.run(0.2)
    assert any("contactor's coil" in getattr(e, "reason", "") for e in table.said)
    table.motion.release()
    table.said.clear()
    table.toss()
    table.run(5.0)
    assert isinstance(table.said[-1], events.TossSettled)


def test_a_contactor_that_drops_in_time_is_no_fault_and_without_supply_nothing_starts(
    table: Table,
) -> None:
    table.shaker.touch(motor_supplied=True)
    table.shaker.touch(estop_pressed=True, coil_broken=True)
    table.run(0.4)
    table.shaker.touch(motor_supplied=False)
    table.run(1.0)
    table.shaker.touch(estop_pressed=False, coil_broken=False)
    table.toss()
    table.run(0.2)
    assert table.faults() == []
    assert any("no supply" in getattr(e, "reason", "") for e in table.said)


def test_a_driver_that_fails_while_the_shaker_brakes_is_told(table: Table) -> None:
    table.toss_in_flight()
    run = table.motion._run
    assert run is not None
    table.motion._end_drive(run, table.shaker.now_s)
    table.run(0.05)
    table.shaker.touch(driver_fault=True)
    table.run(1.0)
    assert (None, "motor-driver") in table.faults()


def test_a_run_that_was_not_a_proper_toss_is_not_called_one() -> None:
    """The motor does as told, but the tach loses the band: the settled run is a fault."""
    table = Table()
    table.run(0.3)
    table.toss()
    table.run(0.6)
    run = table.motion._run
    assert run is not None
    longer = replace(run.plan, points=(*run.plan.points[:-1], (9.0, 760.0)))
    run.order = replace(run.order, plan=longer)
    table.run(0.5)
    table.motion._end_drive(run, table.shaker.now_s)
    table.run(3.0)
    assert table.faults() == [(ROUND, "toss-not-proved")]
    (judged,) = [r for r in table.reports if isinstance(r, TossJudged)]
    assert "driven for" in judged.proof.why_not


# ── The link ────────────────────────────────────────────────────────────────

LOST = GpioLinkError("the GPIO link was lost: the daemon is gone", remedy="Restart it")


def test_a_lost_link_stops_the_toss_and_is_told_once(table: Table) -> None:
    table.toss_in_flight()
    table.shaker.down = LOST
    table.run(1.0)
    assert table.faults() == [(ROUND, "gpio-link")]
    assert table.shaker.stops
    table.shaker.down = None
    table.shaker.opened += 1
    table.run(2.0)
    assert table.faults() == [(ROUND, "gpio-link")]
    table.said.clear()
    table.toss()
    table.run(5.0)
    assert isinstance(table.said[-1], events.TossSettled)


def test_a_link_lost_and_reopened_between_two_turns_is_a_fault_of_the_toss(table: Table) -> None:
    table.toss_in_flight()
    table.shaker.opened += 1
    table.run(0.02)
    assert table.faults() == [(ROUND, "gpio-link")]


def test_a_link_lost_at_rest_is_told_without_an_occasion(table: Table) -> None:
    table.shaker.down = LOST
    table.run(1.0)
    assert table.faults() == [(None, "gpio-link")]


def test_contacts_that_changed_while_the_link_was_away_are_told_when_it_is_back(
    table: Table,
) -> None:
    table.shaker.down = LOST
    table.run(0.5)
    table.shaker.on_change(lambda _: None)
    table.shaker.touch(compartment_open=True)
    table.shaker.down = None
    table.said.clear()
    table.run(0.5)
    assert table.said == [events.CompartmentOpened()]


# ── Others ──────────────────────────────────────────────────────────────────


def test_an_unforeseen_error_stops_the_motor_and_keeps_it_stopped(table: Table) -> None:
    table.toss_in_flight()

    def break_down() -> None:
        raise ZeroDivisionError("a defect")

    table.shaker.before_refresh = break_down
    table.run(0.1)
    assert not table.shaker.is_high
    assert table.faults() == [(ROUND, "motion-unforeseen")]
    table.shaker.before_refresh = lambda: None
    table.run(2.0)
    table.said.clear()
    table.toss()
    table.run(0.2)
    assert "a defect" in str(table.said)
    assert not any(isinstance(e, events.TossStarted) for e in table.said)


def test_a_jog_turns_at_its_speed_and_ends(table: Table) -> None:
    table.motion.jog(ROUND, 300.0, 1.0)
    table.run(0.8)
    assert table.motion.figures().speed_rpm == pytest.approx(300.0, rel=0.1)
    table.run(3.0)
    assert table.said == [events.JogFinished(ROUND)]


def test_a_jog_that_a_contact_denies_or_ends_is_finished_and_nothing_is_broken(
    table: Table,
) -> None:
    table.shaker.touch(compartment_open=True)
    table.run(0.1)
    table.said.clear()
    table.motion.jog(ROUND, 300.0, 1.0)
    table.run(0.1)
    assert table.said == [events.JogFinished(ROUND)]
    table.shaker.touch(compartment_open=False)
    table.run(0.1)
    table.said.clear()
    table.motion.jog(ROUND, 300.0, 2.0)
    table.run(0.8)
    table.shaker.touch(compartment_open=True)
    table.run(2.0)
    assert table.said == [events.CompartmentOpened(), events.JogFinished(ROUND)]


@pytest.mark.parametrize(("rpm", "seconds"), [(10.0, 1.0), (2000.0, 1.0), (300.0, 60.0)])
def test_a_jog_out_of_bounds_is_refused(table: Table, rpm: float, seconds: float) -> None:
    with pytest.raises(RefusedError, match="a jog is"):
        table.motion.jog(ROUND, rpm, seconds)


def test_the_button_is_told_once_for_each_press(table: Table) -> None:
    table.shaker.touch(button_pressed=True)
    table.run(0.5)
    table.shaker.touch(button_pressed=False)
    table.shaker.touch(button_pressed=True)
    table.run(0.5)
    assert table.pressed == 2


def test_the_thread_starts_and_closes_with_the_motor_off() -> None:
    table = Table()
    table.motion.start()
    table.motion.close()
    assert not table.shaker.is_high
