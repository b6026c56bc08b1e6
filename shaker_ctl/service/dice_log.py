"""What the tables beside the journal know of the dice in the compartment: their wear, their test.

Owns when the tables are asked (after each step that bears on the dice), and that a finding of the
sequential test is told once. The tables follow the chain alone, so a restart changes nothing; play
never waits for them. Must not know limits, nor what follows a finding.
"""

from __future__ import annotations

from collections.abc import Callable

from shaker_ctl.journal.dice_watch import DiceSoFar
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.row import Step

_BEARING = (events.TossSettled, events.DiceChanged, events.FaultCleared)


class DiceLog:
    """An observer of the state thread's steps; `look`, from another thread, asks the tables."""

    def __init__(
        self,
        ask: Callable[[], DiceSoFar | None],
        head: Callable[[], int],
        tell: Callable[[str], None],
        odd: Callable[[int], str] = lambda _: "",
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`ask` reads the tables; `head`: number of the newest record; `tell` gets a finding, once
        for each record that shows it. `odd` says what the ledger finds odd about the dice that were
        locked in, as of a record; `warn` gets it."""
        self._ask, self._head, self._tell = ask, head, tell
        self._odd, self._warn = odd, warn
        self._is_other = False
        self._known: DiceSoFar | None = None
        self._told_of = 0
        self._is_wanted = True

    def figures(self) -> DiceSoFar | None:
        """The newest answer; None before the first, and until the tables know of other dice."""
        return self._known

    def observe(self, step: Step, event: events.Event) -> None:
        """Ask once more after a toss, a round, other dice or a cleared fault."""
        if isinstance(event, events.DiceChanged) and step.state.stated is None:
            self._known = None  # not where the first of two persons has named them
            self._is_other = True
        is_over = any(isinstance(each, commands.RecordRound) for each in step.commands)
        if is_over or isinstance(event, _BEARING):
            self._is_wanted = True

    def look(self) -> None:
        """Ask the tables where something is wanted of them; again, until they reach the newest
        record. Call regularly."""
        if not self._is_wanted:
            return
        self._is_wanted = False
        found = self._ask()
        if found is None or found.sequence < self._head():
            self._is_wanted = True
        if found is None or self._is_wanted:  # else they may have become figures of other dice
            return
        self._known = found
        if self._is_other:
            self._is_other = False
            if odd := self._odd(found.sequence):
                self._warn(odd)
        if found.watch.found and found.watch.found_in != self._told_of:
            self._told_of = found.watch.found_in
            self._tell(found.watch.found)
