"""How long a console refuses logins after wrong passphrases. Pure; time is handed in.

Owns the delays. Two counts per console: of wrong passphrases for one name, which only that name's
own success ends, and of all in a row, so that trying many names is slowed as well. Counts are per
console, so that someone at the dealer's terminal cannot lock the technician out of theirs.
"""

from __future__ import annotations

FREE = 2
"""Wrong passphrases that cost nothing: a slip, and Caps Lock."""
FIRST_DELAY_S = 2.0
LONGEST_DELAY_S = 900.0
LOCKED_AFTER = 5
"""From here on it is called locked, and said so in the record."""
MOST_NAMES = 64


class Lockout:
    """The memory of one console."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._by_name: dict[str, int] = {}
        self._until = float("-inf")

    def remaining_s(self, now: float) -> float:
        """Seconds until the next attempt is looked at; 0 when it is now."""
        return max(0.0, self._until - now)

    def wrong(self, name: str, now: float) -> float:
        """Count a wrong passphrase; return the delay that follows."""
        if name not in self._by_name and len(self._by_name) >= MOST_NAMES:
            # Names are only as many as a patient attacker types; the oldest makes room.
            del self._by_name[next(iter(self._by_name))]
        self._by_name[name] = self._by_name.get(name, 0) + 1
        self._in_a_row += 1
        delay = delay_s(self.failures(name))
        self._until = now + delay
        return delay

    def right(self, name: str) -> None:
        """A person logged in."""
        self._by_name.pop(name, None)
        self._in_a_row = 0
        self._until = float("-inf")

    def failures(self, name: str) -> int:
        return max(self._in_a_row, self._by_name.get(name, 0))


def delay_s(failures: int) -> float:
    """Return the seconds to wait after so many wrong passphrases: 0, 0, 2, 4, 8, ... 900."""
    if failures <= FREE:
        return 0.0
    return min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0 ** min(failures - FREE - 1, 20))
