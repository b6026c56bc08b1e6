"""The watch on outcomes: does the shake still mix, do the faces still come as chance has them?

Owns the feeding of the continuous tests (O-18) and of the face-retention test with every verified
or entered toss, of play and of inspections. Must not know what a failure leads to: it posts a
shaker fault.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from shaker_ctl.motion.mixing import FaceRetentionTest, Retention
from shaker_ctl.motion.outcome_health import OutcomeHealth
from shaker_ctl.rules import events
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.vocabulary import Verified

log = logging.getLogger(__name__)


class OutcomeWatch:
    """An observer of the state thread's steps."""

    def __init__(self, post: Callable[[events.Event], None]) -> None:
        self._post = post
        self._health = OutcomeHealth()
        self._retention = FaceRetentionTest()
        self._is_failed = False
        self.retention: Retention | None = None

    def restore(self, tosses: Iterable[Values]) -> None:
        """Fill both tests from the journal, oldest first; nothing is posted."""
        for values in tosses:
            self._health.add(values)
            self.retention = self._retention.add(values)

    def observe(self, step: Step, event: events.Event) -> None:
        """Take the values of a reading or an entry; forget the last where dice were touched."""
        match event:
            case events.ReadingMade(verdict=Verified(values=values)):
                self._add(values)
            case events.ValuesEntered(values=values):
                self._add(values)
            case events.CompartmentOpened() | events.DiceChanged() | events.ReadingMade():
                self._retention.forget_last()
            case events.FaultCleared():
                self._is_failed = False
            case _:
                pass

    def _add(self, values: Values) -> None:
        failure = self._health.add(values)
        self.retention = self._retention.add(values)
        if failure is not None:
            self._fail("outcome-health", failure.line())
        elif not self.retention.mixes:
            self._fail(
                "face-retention",
                f"{self.retention.kept} faces kept in {self.retention.tosses} tosses, "
                f"{self.retention.expected:.1f} expected",
            )

    def _fail(self, code: str, text: str) -> None:
        log.error("%s: %s", code, text)
        if not self._is_failed:
            self._is_failed = True
            self._post(events.ShakerFault(None, code))
