"""The thread that moves the shaker: one loop that drives, watches, stops and reports.

Owns the order of things around EN. Judgement is in `motion` (pure); pins are behind `ports`.

* Nothing moves unless this loop refreshes the dead-man. The loop refreshes it only if the state
  thread finished a turn within its own limit. A hang of one of the two threads takes EN low.
* After any fault, EN goes low first and the report follows. `stop` and a contact that denies motion
  take EN low from the thread that notices them.
* Motion is never repeated: a run that ended early stays ended.
* An unexpected error stops the motor and keeps it stopped until `release`.

Events go to `post` (the state thread's queue), reasons and figures to `report`. Both must return at
once.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable

from shaker_ctl.errors import GpioLinkError, HardwareError, RefusedError
from shaker_ctl.motion import controller, profile, reports
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.motion.speed import SpeedMeter
from shaker_ctl.motion.watch import (
    DriveVerdict,
    DriveWatch,
    MotorTrouble,
    RestWatch,
    Sample,
    SupplyWatch,
)
from shaker_ctl.ports import Clock, GpioLink, InterlockLines, Interlocks, Motor, Tach
from shaker_ctl.rules import events
from shaker_ctl.rules.guards import LAMPS_STALE
from shaker_ctl.rules.vocabulary import Occasion, TossPlan
from shaker_ctl.service.contacts import Contacts
from shaker_ctl.service.powered_run import PoweredRun, RunOrder

LAMPS_PROVED_S = 0.5
"""Oldest answer of the lamp link, in seconds, at EN-on: a table that cannot show does not toss."""

CONFIRM_S = 0.08
"""Time in which EN must follow the dead-man up or down: eight turns of its 10 ms loop."""

LATE_TICK_S = 0.03
"""A turn of the loop that comes later than this asks the pin whether EN has fallen meanwhile: the
shortest hold of the dead-man is 0.04 s, and the next refresh would raise EN again."""

IDLE_LOOP_S = 0.02
"""Period of the loop while the motor is off: contacts also report their changes by themselves."""

CONTACTS_EVERY = 5
"""Idle turns between two looks at the contacts, which also report their changes by themselves."""


class MotionThread:
    """Drives the shaker. `start`, then orders from the state thread; `stop` from any thread."""

    def __init__(
        self,
        *,
        motor: Motor,
        tach: Tach,
        lines: InterlockLines,
        link: GpioLink,
        clock: Clock,
        parameters: MotionParameters,
        state_is_alive: Callable[[], bool],
        post: Callable[[events.Event], None],
        report: Callable[[reports.MotionReport], None] = lambda _: None,
        alive: Callable[[], None] = lambda: None,
        button: Callable[[], None] = lambda: None,
        lid_is_released: Callable[[], bool] = lambda: False,
    ) -> None:
        """`state_is_alive`: the state thread's heartbeat (50 ms). `alive`: feed the service
        manager's watchdog, called every turn in which both threads live. `button`: the player's
        button was pressed afresh; the service knows for which round. `lid_is_released`: a hand can
        open the lid now.
        """
        self._wake = threading.Event()
        self._motor = motor
        self._tach = tach
        self._contacts = Contacts(lines, motor, post, button, self._wake.set)
        self._link = link
        self._clock = clock
        self._p = parameters
        self._state_is_alive = state_is_alive
        self._lid_is_released = lid_is_released
        self._post = post
        self._report = report
        self._alive = alive

        self._orders: deque[RunOrder] = deque()
        self._closing = False
        self._stops = 0
        """Counts calls of `stop`: what was ordered before the newest is not begun, nor goes on."""
        self._stop_cause = ""
        self._is_over = False

        self._meter = SpeedMeter(parameters.pulses_per_turn)
        self._run: PoweredRun | None = None
        self._rest = RestWatch(parameters.watch, enable_fell_s=clock.monotonic())
        self._supply = SupplyWatch()
        self._fault_at_rest = ""
        self._generation = link.generation()
        self._lost_link = False
        self._broken = ""
        self._ticks = 0
        self._moved_s = clock.monotonic()
        """Newest turn of the loop with a run in hand or a tach edge."""
        self._duty = 0.0
        self._last_trace: tuple[tuple[float, float], ...] = ()
        self._thread = threading.Thread(target=self._work, name="motion", daemon=True)

    # ── Called by others ────────────────────────────────────────────────────

    def start(self) -> None:
        """Read the contacts once and begin to turn. Raises `GpioLinkError`."""
        self._motor.stop()
        self._generation = self._link.generation()
        self._contacts.start()
        self._thread.start()

    def close(self) -> None:
        """Take EN low and end the thread."""
        self._motor.stop()
        self._closing = True
        self._wake.set()
        self._thread.join(timeout=2.0)
        self._motor.stop()

    def contacts(self) -> Interlocks:
        """Return the contacts as last seen. Raises RefusedError before `start`."""
        if self._contacts.now is None:
            raise RefusedError("the contacts have not been read yet")
        return self._contacts.now

    def still_for_s(self) -> float:
        """Return for how many seconds EN has been low and the tach silent. From any thread."""
        return self._clock.monotonic() - self._moved_s

    def require_cover(self, closed: bool | None) -> None:
        """Say where the cover must be while the motor is driven; None: it does not matter."""
        self._contacts.cover_needed = closed

    def draw_plan(self) -> TossPlan:
        """Draw a plan inside the approved shake, by the operating system's chance."""
        return profile.draw(self._p.shake)

    def start_toss(self, occasion: Occasion, plan: TossPlan, lamps_answered_at_s: float) -> None:
        """Run `plan` once. Answered by `TossStarted`, then `TossSettled` or `ShakerFault`, or by
        `TossNotStarted` where EN was never raised. Returns at once.
        """
        if not profile.is_approved(plan, self._p.shake):
            self._deny(occasion, f"the plan {plan.pattern!r} is not of the approved shake")
            return
        shake = profile.unfold(plan, self._p.shake)
        self._orders.append(RunOrder(occasion, shake, True, lamps_answered_at_s, self._stops))
        self._wake.set()

    def jog(self, occasion: Occasion, rpm: float, seconds: float) -> None:
        """Turn at one speed for a technician. Answered by `JogFinished` or `ShakerFault`; where
        a contact denies it, by `JogFinished` at once, with the reason as a report.

        Raises RefusedError outside 60 rpm to the band's top and `jog_limit_s`.
        """
        top = self._p.shake.band_high_rpm
        if not (60.0 <= rpm <= top and 0.0 < seconds <= self._p.jog_limit_s):
            raise RefusedError(
                f"a jog is 60 to {top:.0f} rpm for up to {self._p.jog_limit_s:g} s, "
                f"not {rpm:g} rpm for {seconds:g} s"
            )
        plan = profile.steady(rpm, seconds, self._p.shake.run_up_s)
        self._orders.append(RunOrder(occasion, plan, False, 0.0, self._stops))
        self._wake.set()

    def stop(self, cause: str, *, for_good: bool = False) -> None:
        """Take EN low now, from any thread, and begin nothing that was ordered before; then say
        why. Harmless when nothing moves. `for_good`: nothing that is ordered later, either.
        """
        self._stop_cause = cause
        self._is_over = self._is_over or for_good
        self._stops += 1
        self._motor.stop()
        self._wake.set()

    def release(self) -> None:
        """A technician has cleared the fault that kept the motor stopped."""
        self._broken = ""
        self._fault_at_rest = ""

    def figures(self) -> reports.MotionFigures:
        """Return what a screen shows. From any thread; may be one turn old."""
        run = self._run
        now_s = self._clock.monotonic()
        driving = run is not None and run.ended_s is None
        return reports.MotionFigures(
            activity="idle" if run is None else "driving" if driving else "braking",
            target_rpm=run.plan.speed_rpm(now_s - run.started_s) if run and driving else 0.0,
            speed_rpm=self._meter.speed_rpm(now_s),
            duty=self._duty,
            trace=self._last_trace if run is None else tuple(run.trace),
        )

    # ── The loop ────────────────────────────────────────────────────────────

    def _work(self) -> None:
        self._tach.edges()  # what came while nobody watched would seem to come now
        due_s = self._clock.monotonic()
        while not self._closing:
            self.tick()
            period_s = self._p.control.loop_s if self._run else IDLE_LOOP_S
            now_s = self._clock.monotonic()
            due_s = max(due_s + period_s, now_s)
            if self._wake.wait(due_s - now_s):
                self._wake.clear()

    def tick(self) -> None:
        """One tick of the loop. Whatever goes wrong in it, the motor is off first. Never raises."""
        try:
            self._look_and_act()
        except HardwareError as error:
            self._motor.stop()
            self._fail(error.code, str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the motor must stop for it
            self._motor.stop()
            self._broken = f"unforeseen in the motion thread: {error!r}"
            self._fail("motion-unforeseen", self._broken)

    def _look_and_act(self) -> None:
        now_s = self._clock.monotonic()
        alive = self._state_is_alive()
        if alive:
            self._alive()
        if not self._link_is_up(now_s):
            return
        arrived = self._tach.edges()
        self._meter.add(arrived, now_s)
        if arrived or self._run is not None or self._orders:
            self._moved_s = now_s
        self._look_at_contacts(now_s)
        if self._run is None:
            self._rest_tick(now_s)
            self._take_order(now_s, alive)
        elif self._run.ended_s is None:
            self._run.note_edges(arrived, now_s)
            self._drive_tick(self._run, now_s, alive)
        else:
            self._brake_tick(self._run, now_s)

    def _link_is_up(self, now_s: float) -> bool:
        trouble = self._link.trouble()
        if trouble is not None:
            if not self._lost_link:
                self._lost_link = True
                raise trouble
            return False
        if self._lost_link or self._link.generation() != self._generation:
            if not self._lost_link:
                self._motor.stop()
                self._fail(GpioLinkError.code, "the GPIO link was lost and came back in between")
            self._generation = self._link.generation()
            self._lost_link = False
            self._report(reports.LinkRestored(now_s))
        return True

    def _look_at_contacts(self, now_s: float) -> None:
        self._ticks += 1
        is_due = self._run is not None or self._ticks % CONTACTS_EVERY == 0
        is_driving = self._run is not None and self._run.ended_s is None
        if self._contacts.look(read=is_due) and not is_driving:  # while driving it ends the run
            self._trouble(
                MotorTrouble.DRIVER_FAULT.value, "the motor driver reports a fault", now_s
            )
        seen = self.contacts()
        if stuck := self._supply.judge(seen.coil_broken, seen.motor_supplied, now_s):
            self._fault_while_off(MotorTrouble.SUPPLY_STUCK, stuck, now_s)

    # ── At rest ─────────────────────────────────────────────────────────────

    def _rest_tick(self, now_s: float) -> None:
        verdict = self._rest.judge(self._sample(now_s, 0.0, now_s))
        if verdict is not None:
            self._fault_while_off(verdict.trouble, verdict.reason, now_s)

    def _fault_while_off(self, trouble: MotorTrouble, reason: str, now_s: float) -> None:
        """EN low and the fault told, once until a technician has released it."""
        if self._fault_at_rest:
            return
        self._fault_at_rest = reason
        self._motor.stop()
        self._trouble(trouble.value, reason, now_s)

    def _take_order(self, now_s: float, alive: bool) -> None:
        if not self._orders:
            return
        order = self._orders.popleft()
        reason = self._why_not(order, now_s, alive)
        if not reason:
            try:
                self._motor.arm()
                now_s = self._clock.monotonic()
                self._meter.add(self._tach.edges(), now_s)
                reason = self._why_not(order, now_s, self._state_is_alive())
            except HardwareError as error:
                reason = str(error)
        if reason:
            self._motor.stop()
            self._deny(order.occasion, reason, is_toss=order.is_toss)
            return
        self._begin(order)

    def _why_not(self, order: RunOrder, now_s: float, alive: bool) -> str:
        if self._is_over or order.stops != self._stops:
            return f"stopped before it began: {self._stop_cause}"
        if self._broken:
            return f"{self._broken}; a technician must release it"
        if self._fault_at_rest:
            return f"{self._fault_at_rest}; a technician must release it"
        if not alive:
            return "the controller's state thread is late"
        if self._lid_is_released():
            return "the latch of the lid is released"
        if not self._rest.is_quiet(self._sample(now_s, 0.0, -math.inf)):
            return "the shaker has not come to rest"
        if order.is_toss and now_s - order.lamps_answered_at_s > LAMPS_PROVED_S:
            age_s = now_s - order.lamps_answered_at_s
            return f"{LAMPS_STALE}: {age_s:.2f} s since their answer ({LAMPS_PROVED_S:g} s at most)"
        denied = self._contacts.denial()
        if not denied and self.contacts().motor_supplied is False:
            return "the motor has no supply: check its fuse, its contactor and that coil's wires"
        return denied

    def _begin(self, order: RunOrder) -> None:
        self._meter = SpeedMeter(self._p.pulses_per_turn)
        now_s = self._clock.monotonic()
        reach_rpm = self._p.shake.band_low_rpm
        if not order.is_toss:
            reach_rpm = 0.8 * order.plan.points[1][1]
        watch = DriveWatch(self._p.watch, reach_rpm=reach_rpm, started_s=now_s)
        self._run = PoweredRun(order, now_s, watch)
        if order.is_toss:
            self._post(events.TossStarted(order.occasion))
        self._motor.refresh()

    # ── Driving ─────────────────────────────────────────────────────────────

    def _drive_tick(self, run: PoweredRun, now_s: float, alive: bool) -> None:
        at_s = now_s - run.started_s
        if run.order.stops != self._stops:
            self._end_early(run, "stopped", self._stop_cause, now_s)
            return
        if not alive:
            self._fail("controller-late", "the controller's state thread is late")
            return
        if denied := self._contacts.denial():
            if self._contacts.is_driver_faulted:
                self._fail(MotorTrouble.DRIVER_FAULT.value, denied)
            else:
                self._end_early(run, "interlock", denied, now_s)
            return
        if at_s >= run.plan.duration_s:
            self._end_drive(run, now_s)
            if run.order.is_toss:
                self._report(reports.DriveEnded(now_s, run.occasion))
            return
        # Reading the contacts can take long, too: what counts is the time of the refresh.
        late_s = self._clock.monotonic() - run.ticked_s
        if run.is_confirmed and late_s > LATE_TICK_S and not self._motor.is_enabled():
            # Motion is never repeated, even if the controller was suspended in between.
            self._fail("controller-late", f"the control loop stood still for {late_s:.2f} s")
            return
        sample = self._sample(now_s, run.plan.speed_rpm(at_s), run.started_s)
        if verdict := run.watch.judge(sample):
            self._fail(verdict.trouble.value, verdict.reason, verdict)
            return
        self._motor.refresh()
        run.control, self._duty = controller.step(
            run.control,
            target_rpm=sample.target_rpm,
            acceleration_rpm_s=run.plan.acceleration_rpm_s(at_s),
            speed_rpm=self._meter.control_rpm(now_s),
            elapsed_s=now_s - run.ticked_s,
            parameters=self._p.control,
        )
        self._motor.drive(self._duty)
        run.ticked_s = now_s
        run.trace.append((at_s, sample.speed_rpm))
        self._confirm_enable(run, at_s)

    def _confirm_enable(self, run: PoweredRun, at_s: float) -> None:
        if run.is_confirmed:
            return
        if self._motor.is_enabled():
            run.is_confirmed = True
        elif at_s > CONFIRM_S:
            self._fail("motor-enable", "EN did not rise: the dead-man in the daemon does not act")

    def _end_drive(self, run: PoweredRun, now_s: float) -> None:
        """Take EN low: shorted by its driver, the motor brakes."""
        self._motor.stop()
        self._duty = 0.0
        run.ended_s = now_s
        run.driven_ticks = len(run.ticks)
        run.rest = RestWatch(self._p.watch, enable_fell_s=now_s)

    def _end_early(self, run: PoweredRun, code: str, reason: str, now_s: float) -> None:
        """End a run whose cause the state thread knows already, or learns by another event."""
        self._end_drive(run, now_s)
        run.failed = True
        self._report(
            reports.MotionStopped(now_s, run.occasion, code, reason, now_s - run.started_s)
        )

    def _fail(self, code: str, reason: str, verdict: DriveVerdict | None = None) -> None:
        """EN low, then report. Outside a run it is a trouble of the shaker."""
        now_s = self._clock.monotonic()
        run = self._run
        if run is None:
            self._motor.stop()
            self._trouble(code, reason, now_s)
            return
        if run.ended_s is None:
            self._end_drive(run, now_s)
        self._motor.stop()
        if run.failed:
            return
        run.failed = run.is_told = True
        after_s = verdict.after_s if verdict else now_s - run.started_s
        self._report(reports.MotionStopped(now_s, run.occasion, code, reason, after_s))
        self._post(events.ShakerFault(run.occasion, code))

    def _trouble(self, code: str, reason: str, now_s: float) -> None:
        self._report(reports.MotionTrouble(now_s, code, reason))
        self._post(events.ShakerFault(None, code))

    def _deny(self, occasion: Occasion, reason: str, *, is_toss: bool = True) -> None:
        self._report(reports.MotionDenied(self._clock.monotonic(), occasion, reason))
        # A jog that may not begin has ended: the motor stands still, and nothing is broken.
        denied = events.TossNotStarted(occasion, reason) if is_toss else None
        self._post(denied or events.JogFinished(occasion))

    # ── Braking ─────────────────────────────────────────────────────────────

    def _brake_tick(self, run: PoweredRun, now_s: float) -> None:
        assert run.ended_s is not None
        assert run.rest is not None
        run.trace.append((now_s - run.started_s, self._meter.speed_rpm(now_s)))
        braking_s = now_s - run.ended_s
        if self._motor.is_enabled():
            # A refresh that was on its way can outlive one stop by a turn of the dead-man.
            self._motor.stop()
            if braking_s > 2 * CONFIRM_S:
                self._close_run(run)
                self._fault_while_off(MotorTrouble.NO_STOP, "EN does not go low", now_s)
            return
        sample = self._sample(now_s, 0.0, run.ended_s)
        if verdict := run.rest.judge(sample):
            self._close_run(run)
            self._fault_while_off(verdict.trouble, verdict.reason, now_s)
        elif run.rest.is_quiet(sample):
            self._close_run(run)
            self._settle(run, now_s)

    def _close_run(self, run: PoweredRun) -> None:
        self._last_trace = tuple(run.trace)
        self._rest = RestWatch(self._p.watch, enable_fell_s=run.ended_s or run.started_s)
        self._run = None

    def _settle(self, run: PoweredRun, now_s: float) -> None:
        if not run.order.is_toss and not run.failed:
            self._report(reports.JogEnded(now_s, run.occasion))
        if not run.order.is_toss and not run.is_told:
            self._post(events.JogFinished(run.occasion))
        if run.failed or not run.order.is_toss:
            return
        proof = run.prove(self._p)
        self._report(reports.TossJudged(now_s, run.occasion, proof))
        if proof.is_proved:
            self._post(events.TossSettled(run.occasion, run.recorded(proof, self._p)))
        else:
            self._post(events.ShakerFault(run.occasion, "toss-not-proved"))

    def _sample(self, now_s: float, target_rpm: float, since_s: float) -> Sample:
        return Sample(
            now_s=now_s,
            target_rpm=target_rpm,
            speed_rpm=self._meter.speed_rpm(now_s),
            turn_rpm=self._meter.turn_rpm(),
            silence_s=self._meter.silence_s(now_s, since_s),
            edges=self._meter.edges,
            irregular_share=self._meter.irregular_share(),
            driver_fault=self._contacts.is_driver_faulted,
        )
