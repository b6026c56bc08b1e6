"""From a released command to the device that performs it.

Owns only the addresses: which thread, port or queue a command goes to. Must not decide, wait or
raise, because it runs in the journal's thread. Commands that never wait run in the state thread.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from datetime import datetime

from shaker_ctl.errors import RefusedError, ShakerError
from shaker_ctl.ports import DiceReader, ReaderCommand, ShakerOutputs
from shaker_ctl.rules import commands, events, multipliers
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.vocabulary import FaultKind, Notice, Timer, TimeTrust
from shaker_ctl.service.fault_queue import FaultQueue
from shaker_ctl.service.lamp_thread import LampCommand, LampThread
from shaker_ctl.service.motion_thread import MotionThread
from shaker_ctl.service.wall_time import WallTime

log = logging.getLogger(__name__)


class Dispatch:
    """Performs commands by handing each to its owner."""

    def __init__(
        self,
        *,
        table: TableParameters,
        rulebook: Rulebook,
        motion: MotionThread,
        lamps: LampThread,
        reader: DiceReader,
        outputs: ShakerOutputs,
        wall: WallTime,
        faults: FaultQueue,
        post: Callable[[events.Event], None],
        announce: Callable[[commands.Announce], None],
        record_round: Callable[[commands.RecordRound], None],
        release_lid: Callable[[], None] = lambda: None,
        mended: Callable[[FaultKind], None] = lambda kind: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`release_lid` raises `ShakerError` where it may not. `mended` is told of each kind of
        fault that a technician has cleared.
        """
        self._table = table
        self._rulebook = rulebook
        self._motion = motion
        self._lamps = lamps
        self._reader = reader
        self._outputs = outputs
        self._wall = wall
        self._faults = faults
        self._post = post
        self._announce = announce
        self._record_round = record_round
        self._release_lid = release_lid
        self._mended = mended
        self._now = now
        self._bets_opened_s: float | None = None

    def timer_length_s(self, timer: Timer) -> float:
        """Length by the settings; the least round runs from the opening of its bets."""
        if timer is not Timer.MIN_ROUND:
            return self._table.seconds(timer)
        opened_s = self._now() if self._bets_opened_s is None else self._bets_opened_s
        return max(0.0, opened_s + self._rulebook.min_round_s - self._now())

    def perform(self, command: commands.Command) -> None:
        """Hand `command` to its owner. A defect there is logged and never reaches the caller."""
        try:
            self._perform(command)
        except Exception:
            log.exception("%s could not be handed over", command)

    def _wall_time(self) -> tuple[datetime, TimeTrust, bool]:
        """Return the wall time, how far it is trusted, and whether it is behind the last record."""
        wall = self._wall
        return wall.now(), wall.trust(), wall.is_behind_last_record()

    def _perform(self, command: commands.Command) -> None:
        match command:
            case commands.StopMotor(cause):
                self._motion.stop(cause.value)
            case commands.StartToss(occasion, plan, answered_at_s):
                self._motion.start_toss(occasion, plan, answered_at_s)
            case commands.Jog(occasion, rpm, seconds):
                try:
                    self._motion.jog(occasion, rpm, seconds)
                except RefusedError as error:
                    log.warning("%s", error.line())
                    self._post(events.JogFinished(occasion))
            case commands.DrawTossPlan(occasion):
                plan = self._motion.draw_plan()
                now, trust, behind = self._wall_time()
                self._post(events.TossPlanDrawn(occasion, plan, now, trust, behind))
            case commands.DrawMultipliers(occasion):
                drawn = multipliers.draw(
                    self._rulebook.profile.multipliers.ranges,
                    self._rulebook.areas,
                    secrets.randbelow,
                )
                self._post(events.MultipliersDrawn(occasion, drawn))
            case commands.ReleaseLatch():
                try:
                    self._release_lid()
                except ShakerError as error:
                    log.warning("the lid is not released: %s", error.line())
            case commands.DriveCover(_, opened):
                self._outputs.drive_cover(opened)
            case _ if isinstance(command, ReaderCommand):
                self._reader.perform(command)
            case _ if isinstance(command, LampCommand):
                self._lamps.perform(command)
            case commands.CheckTime(occasion):
                now, trust, behind = self._wall_time()
                self._post(events.TimeChecked(occasion, now, trust, behind))
            case commands.TrustTime():
                self._wall.confirm()
            case commands.Announce(notice=notice):
                if notice is Notice.BETS_OPEN:
                    self._bets_opened_s = self._now()
                self._announce(command)
            case commands.RaiseFault(kind, code):
                self._faults.raise_(kind, code, self._wall.now().timestamp())
            case commands.ClearFaults(kind):
                self._faults.clear(kind)
                self._motion.release()
                self._mended(kind)
            case commands.RecordRound():
                self._record_round(command)
            case _:
                log.error("no device performs %s", type(command).__name__)
