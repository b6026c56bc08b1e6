"""When a volume of the journal ends: with the gaming day, or when it is full; never in a round.

Owns the moment. The state thread decides it between two records, so no record of a round can come
between decision and change. Must not know files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.volume import gaming_day
from shaker_ctl.rules import events
from shaker_ctl.rules.phases import SHUT, STOPPED, phases
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import TimeTrust
from shaker_ctl.service.wall_time import WallTime

BETWEEN_ROUNDS = SHUT | STOPPED | phases(Phase.INSPECTED, Phase.PACING, Phase.READY)
"""Phases without a round, inspection or trial, in which none is about to begin."""


class OpenVolume(Protocol):
    """What is asked of the main copy."""

    @property
    def volume(self) -> int: ...

    def in_open_volume(self) -> int: ...

    def day(self) -> str: ...


class VolumeTurns:
    """An observer of the state thread's steps; `look` also between them. One thread."""

    def __init__(
        self,
        journal: OpenVolume,
        parameters: JournalParameters,
        time: WallTime,
        turn: Callable[[str], None],
    ) -> None:
        """`turn` begins a volume of a gaming day, behind every record appended so far.

        Reads the day of the open volume, once: nobody reads the disk in the state thread. Raises
        JournalError.
        """
        self._journal = journal
        self._p = parameters
        self._time = time
        self._turn = turn
        self._day = journal.day()
        """Gaming day of the open volume; empty until the first record of a new journal is there."""
        self._asked = 0
        """Number of the volume that was asked to end last: once is enough."""

    def observe(self, step: Step, _event: events.Event) -> None:
        """Look after a step."""
        self.look(step.state.phase)

    def look(self, phase: Phase) -> None:
        """End the open volume where it is due and the table stands between two rounds."""
        if phase not in BETWEEN_ROUNDS or self._journal.volume == self._asked:
            return
        held = self._journal.in_open_volume()
        if held == 0:
            return
        today = self.today()
        self._day = self._day or today
        is_other_day = today != self._day and self._time.trust() is not TimeTrust.NONE
        if is_other_day or held >= self._p.volume_records:
            self._asked = self._journal.volume
            self._day = today
            self._turn(today)

    def today(self) -> str:
        """The gaming day now, in the machine's zone: the one that a record made now belongs to."""
        return gaming_day(self._time.now().astimezone(), self._p.day_begins)
