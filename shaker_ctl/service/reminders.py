"""What the wall clock brings to a table by itself: a shift begins, dice grow too old.

Owns the times of day of shifts, and the two notices about the age of dice, each given once for each
set. Must not decide what follows: a shift that begins is posted to the rules, a notice is told.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta

from shaker_ctl.rules import events
from shaker_ctl.rules.rulebook import Rulebook, dice_end
from shaker_ctl.rules.vocabulary import DiceSet, TimeTrust


class Reminders:
    """Looked at every second or so, from one thread."""

    def __init__(
        self, rulebook: Rulebook, post: Callable[[events.Event], None], tell: Callable[[str], None]
    ) -> None:
        """`tell` is given a sentence for everybody at the table."""
        self._rulebook = rulebook
        self._post = post
        self._tell = tell
        self._shifts = [time.fromisoformat(each) for each in rulebook.parameters.shifts]
        self._before = timedelta(hours=rulebook.parameters.dice_notice_h)
        self._looked_at: datetime | None = None
        self._told: set[tuple[DiceSet, bool]] = set()

    def look(
        self, now: datetime, trust: TimeTrust, dice: DiceSet | None, *, manual: bool = False
    ) -> None:
        """Post a shift whose time has come since the last look, and tell about old dice.

        `now` is aware; `manual`: these are the dice of a manual shaker, and no shift inspects.
        Does nothing while the clock is not trusted.
        """
        if trust is TimeTrust.NONE:
            return
        before, self._looked_at = self._looked_at, now
        rules = self._rulebook.in_use(manual=manual)
        if rules.shift_inspection and before is not None and self._began(before, now):
            self._post(events.ShiftBegan(None))
        if dice is None:
            return
        end = dice_end(dice.installed_at, rules.dice_age)
        if end is None or now < end - self._before:
            return
        is_over = now >= end
        if (dice, is_over) not in self._told:
            self._told = {(dice, is_over)}
            self._tell(_words(dice, end, is_over=is_over))

    def _began(self, before: datetime, now: datetime) -> bool:
        """True where the time of day of a shift lies after `before` and not after `now`."""
        local = now.astimezone()
        days = (local.date(), local.date() - timedelta(days=1))
        starts = (datetime.combine(day, at).astimezone() for day in days for at in self._shifts)
        return any(before < start <= now for start in starts)


def _words(dice: DiceSet, end: datetime, *, is_over: bool) -> str:
    serials, at = ", ".join(dice.serials), end.astimezone().strftime("%Y-%m-%d %H:%M")
    if is_over:
        return f"The dice {serials} are over age since {at}: take them out, and lock in others."
    return f"The dice {serials} may be used until {at}: have others at hand."
