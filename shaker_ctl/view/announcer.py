"""Announces at every console what happens at the table, and keeps the newest of it for screens.

Owns the sentence that people read, the last powered run, and the last rounds. Before the consoles'
desk exists, a fault is kept and not announced: nobody listens yet.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

from shaker_ctl.console.desk import Announcement
from shaker_ctl.motion import reports
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.vocabulary import Cause
from shaker_ctl.service.fault_queue import QueuedFault
from shaker_ctl.view import wording

log = logging.getLogger(__name__)

SHOWN_ROUNDS = 12
RUN_ENDS = (reports.TossJudged, reports.JogEnded, reports.MotionStopped, reports.MotionDenied)
"""Reports that say how a powered run ended, or why it did not begin."""


class Announcer:
    """Tells people. Each method is called from the thread in which the thing happens."""

    def __init__(self) -> None:
        self._tell: Callable[[Announcement], None] | None = None
        self.last_run: reports.MotionReport | None = None
        """How it ended, or why it did not begin; None before the first."""
        self.last_round: commands.RecordRound | None = None
        """That is over; None before the first of this run."""
        self.rounds: deque[dict[str, Any]] = deque(maxlen=SHOWN_ROUNDS)

    def speak_at(self, tell: Callable[[Announcement], None]) -> None:
        """From now on people hear."""
        self._tell = tell

    def notice(self, said: commands.Announce) -> None:
        """A step of a round or of an inspection."""
        failed = said.cause is not None and said.cause is not Cause.CLOSED
        is_alarm = failed or said.notice in wording.ALARMS
        fields = {"notice": said.notice.value, "round": said.occasion.number}
        self._say("round", wording.announce(said), is_alarm=is_alarm, fields=fields)

    def fault(self, fault: QueuedFault) -> None:
        self._say("fault", f"fault {fault.code}: {fault.cause}", fields={"code": fault.code})

    def dice(self, text: str) -> None:
        """A sentence about the age of the dice."""
        self._say("dice", text)

    def contact(self, _step: Step, event: events.Event) -> None:
        """A door, a button or a cover that moved."""
        if text := wording.contact(event):
            self._say("interlock", text)

    def motion(self, report: reports.MotionReport) -> None:
        """Log what the motor did, and keep how a powered run ended."""
        _log_motion(report)
        if isinstance(report, RUN_ENDS):
            self.last_run = report

    def round_ended(self, record: commands.RecordRound) -> None:
        self.last_round = record
        self.rounds.append(to_record(record))

    def _say(
        self, kind: str, text: str, *, is_alarm: bool = True, fields: dict[str, Any] | None = None
    ) -> None:
        if self._tell is not None:
            self._tell(Announcement(kind, text, is_alarm=is_alarm, fields=fields or {}))


def _log_motion(report: reports.MotionReport) -> None:
    """One line a report; a toss's whole speed trace is for screens, not for the log."""
    if isinstance(report, reports.TossJudged):
        proof = report.proof
        log.info(
            "%s %d: %.2f s in the band, %.0f to %.0f rpm, %s",
            report.occasion.purpose.value,
            report.occasion.number,
            proof.in_band_s,
            proof.slowest_rpm,
            proof.fastest_rpm,
            proof.why_not or "proved a toss",
        )
    else:
        log.info("%s", report)
