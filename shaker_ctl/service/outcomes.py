"""The watch on outcomes: does the shake still mix, and are all faces still equally frequent?

Owns the input of the continuous tests (O-18) and of the face-retention test: every verified or
entered toss of play and of inspections, each toss once. Both tests continue after a restart: they
get the tosses of the journal again. They start again if the dice are changed, and if a person
clears the shaker fault that they raised. Must not know what follows a failure: it posts a shaker
fault.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable

from shaker_ctl.journal.history import mentions, other_dice
from shaker_ctl.journal.record import Record, names_its_record
from shaker_ctl.motion.mixing import FaceRetentionTest, Retention
from shaker_ctl.motion.outcome_health import PROPORTION_WINDOW, OutcomeHealth
from shaker_ctl.plain_form import PlainFormError
from shaker_ctl.rules import events
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.record import from_record
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.vocabulary import FaultKind, Occasion, play
from vision.reading import Verified

log = logging.getLogger(__name__)

REMEMBERED = 2 * (PROPORTION_WINDOW // 3 + 1)
"""Tosses that the tests get again after a restart: two windows of the widest test."""

_KINDS = (
    events.ReadingMade,
    events.ValuesEntered,
    events.CompartmentOpened,
    events.DiceChanged,
    events.FaultCleared,
)


class OutcomeWatch:
    """An observer of the state thread's steps."""

    def __init__(self, post: Callable[[events.Event], None]) -> None:
        self._post = post
        self._failed: str | None = None
        self.retention: Retention | None = None
        self._begin()

    def _begin(self) -> None:
        self._health = OutcomeHealth()
        self._retention = FaceRetentionTest()
        self._counted: Occasion | None = None

    def restore(self, newest_first: Iterable[Record]) -> None:
        """Fill both tests from the journal; nothing is posted."""
        for event in reversed(_told(newest_first)):
            self._take(event)

    def resume(self, standing: Collection[FaultKind]) -> None:
        """Post a failure that a crash kept from the journal; for once, after a restart."""
        if self._failed is not None and FaultKind.SHAKER not in standing:
            self._post(events.ShakerFault(None, self._failed))

    def observe(self, step: Step, event: events.Event) -> None:
        """Take what an accepted event says of the outcomes; post a failure where it is news."""
        if isinstance(event, events.DiceChanged) and step.state.dice_named is not None:
            return  # the first of two persons: the former dice are still in
        before = self._failed
        self._take(event)
        if self._failed is not None and before is None:
            self._post(events.ShakerFault(None, self._failed))

    def _take(self, event: events.Event) -> None:
        match event:
            case events.ReadingMade(occasion) if occasion == self._counted:
                pass  # read after it was entered
            case events.ReadingMade(occasion, Verified(three=values)):
                self._counted = occasion
                self._add(values)
            case events.ValuesEntered(round=number, values=values):
                # Where the reader had read them too, this toss has been counted.
                if self._counted != play(number):
                    self._counted = play(number)
                    self._add(values)
            case events.CompartmentOpened() | events.ReadingMade():
                self._retention.forget_last()
            case events.DiceChanged():
                self._begin()
            case events.FaultCleared(kind=FaultKind.SHAKER) if self._failed is not None:
                self._failed = None
                self._begin()
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
        self._failed = self._failed or code


@names_its_record
def _told(newest_first: Iterable[Record]) -> list[events.Event]:
    """The events since the newest change of dice, or of the newest tosses; newest first."""
    told: list[events.Event] = []
    tosses = 0
    for record in newest_first:
        if (event := _event(record)) is None:
            continue
        told.append(event)
        tosses += isinstance(event, events.ReadingMade | events.ValuesEntered)
        if tosses >= REMEMBERED or isinstance(event, events.DiceChanged):
            break
    return told


def _event(record: Record) -> events.Event | None:
    """The accepted event of a record, where it is one that the tests look at."""
    if not mentions(record.body, *(kind.__name__ for kind in _KINDS)):
        return None
    plain = record.plain
    if plain["kind"] != "step":
        return None
    if plain["event"]["type"] == "DiceChanged" and not other_dice(plain):
        return None
    try:
        event = from_record(plain["event"], events.Event)
    except PlainFormError:
        return None  # of another version; the recovery of the state says so where it matters
    return event if isinstance(event, _KINDS) else None
