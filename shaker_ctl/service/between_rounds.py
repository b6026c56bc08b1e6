"""What is due before and after each round: the journal's copies are checked (O-5), and the lamp box
keeps the head of the journal.

Owns when. Must not know how a copy is checked or what the box does with a head.
"""

from __future__ import annotations

from shaker_ctl.journal.record import Anchor
from shaker_ctl.rules import commands
from shaker_ctl.rules.vocabulary import Notice
from shaker_ctl.service.journal_thread import JournalThread
from shaker_ctl.service.lamp_thread import LampThread


class BetweenRounds:
    """Called from the threads in which bets open and rounds are recorded."""

    def __init__(self, journal: JournalThread, lamps: LampThread, mark: bytes) -> None:
        """`mark` names this table's journal to the box (`journal.record.table_mark`)."""
        self._journal = journal
        self._lamps = lamps
        self._mark = mark

    def announced(self, said: commands.Announce) -> None:
        """Before each round: its bets open."""
        if said.notice is Notice.BETS_OPEN:
            self._journal.check_soon()

    def recorded(self, record: commands.RecordRound) -> None:
        """After each round: its record is synced. Called in the journal's thread."""
        self._lamps.anchor(Anchor(self._mark, record.round, self._journal.health().head))
        self._journal.check_soon()
