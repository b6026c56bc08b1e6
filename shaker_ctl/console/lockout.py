"""How long a console refuses logins after wrong passphrases. Pure; time is handed in.

Owns the delays. A name is locked out by wrong passphrases for that name alone: a stranger at a
terminal cannot lock everybody out by inventing names. Wrong passphrases in a row, of whatever name,
delay the whole console, but briefly: trying many names is slowed, and people can still work. Counts
are per console, so that someone at the dealer's terminal cannot lock the technician out of theirs.
Nor can a stranger keep a name that they know away from its own terminal for long.
"""

from __future__ import annotations

FREE = 2
"""Wrong passphrases that cost nothing: a slip, and Caps Lock."""
FIRST_DELAY_S = 2.0
MAX_DELAY_S = 900.0
"""For one name at one computer of the page."""
AT_A_TERMINAL_S = 30.0
"""For one name at a terminal of the table. Whoever guesses sits there, a few thousand guesses a day
long, and each is on record."""
LOCKED_AFTER = 5
"""From here on it is called locked, and said so in the record."""
MAX_NAMES = 64


MAX_FOR_ALL_S = 8.0
"""Longest delay, in seconds, for names that nobody got wrong. A guess costs an attacker this long;
a dealer who has to log in now waits no longer."""


class Lockout:
    """The memory of one console, or of one computer of the page."""

    def __init__(self, longest_s: float = AT_A_TERMINAL_S) -> None:
        """`longest_s`: the longest delay for one name."""
        self._longest_s = longest_s
        self._in_a_row = 0
        self._by_name: dict[str, int] = {}
        self._until: dict[str, float] = {}
        self._until_for_all = float("-inf")

    def remaining_s(self, name: str, now: float) -> float:
        """Seconds until the next attempt for this name is looked at; 0 when it is now."""
        return max(0.0, max(self._until_for_all, self._until.get(name, 0.0)) - now)

    def wrong(self, name: str, now: float) -> float:
        """Count a wrong passphrase; return the delay that follows for this name."""
        if name not in self._by_name and len(self._by_name) >= MAX_NAMES:
            # Names are only as many as a patient attacker types; the oldest makes room.
            oldest = next(iter(self._by_name))
            del self._by_name[oldest]
            self._until.pop(oldest, None)
        self._by_name[name] = self._by_name.get(name, 0) + 1
        self._in_a_row += 1
        self._until[name] = now + min(self._longest_s, delay_s(self._by_name[name]))
        self._until_for_all = now + min(MAX_FOR_ALL_S, delay_s(self._in_a_row))
        return self.remaining_s(name, now)

    def right(self, name: str) -> None:
        """A person logged in."""
        self._by_name.pop(name, None)
        self._until.pop(name, None)
        self._in_a_row = 0
        self._until_for_all = float("-inf")

    def failures(self, name: str) -> int:
        """How often in a row the passphrase of this name was wrong."""
        return self._by_name.get(name, 0)


def delay_s(failures: int) -> float:
    """Return the seconds to wait after so many wrong passphrases: 0, 0, 2, 4, 8, ... 900."""
    if failures <= FREE:
        return 0.0
    return min(MAX_DELAY_S, FIRST_DELAY_S * 2.0 ** min(failures - FREE - 1, 20))
