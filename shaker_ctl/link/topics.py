"""Where on the broker everything stands.

Owns the names, `shaker/1/SITE/TABLE/...`. A table writes below its own name only, and not
what the floor publishes there. The broker enforces both by the certificates.
"""

from __future__ import annotations

import re

from shaker_ctl.errors import SettingsError
from shaker_ctl.frozen import frozen

ROOT = "shaker/1"
"""Name and version of the protocol."""

RESERVED = frozenset({"floor", "collector", "page", "display", "broker"})
"""Common names of certificates that are no table's: the broker would take it for the floor."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")

JOURNAL, ALIVE, BIRTH, STATE, RESULT, ALARM = (
    *("journal", "alive", "birth", "state", "result", "alarm"),
)
"""What a table publishes. Retained: alive, birth, state, result, alarm/CODE."""

ACK = "ack"
"""What the floor publishes to one table, and nothing else. Retained."""

SHOWN = (ALIVE, BIRTH, STATE, RESULT, f"{ALARM}/+")
"""What displays, pages and figures are made of: all of it retained."""


def require_name(name: str, what: str) -> str:
    """Return a site's or table's name. Raises SettingsError where it cannot stand in a topic."""
    if _NAME.fullmatch(name) is None or name in RESERVED:
        raise SettingsError(
            f"{what} = {name!r} cannot name a table or site on the broker",
            remedy=f"Use up to 40 of a-z, 0-9 and -; {', '.join(sorted(RESERVED))} are taken",
        )
    return name


@frozen
class Place:
    """One table of one house, as both ends call it."""

    site: str
    table: str

    def topic(self, kind: str) -> str:
        """Topic of one kind of message."""
        return f"{ROOT}/{self.site}/{self.table}/{kind}"


def parsed(topic: str) -> tuple[Place, str] | None:
    """Return whose topic it is and what kind; None where it is no table's."""
    parts = topic.split("/", 4)
    if len(parts) != 5 or "/".join(parts[:2]) != ROOT or not parts[4]:
        return None
    site, table = parts[2:4]
    if _NAME.fullmatch(site) is None or _NAME.fullmatch(table) is None or table in RESERVED:
        return None
    return Place(site, table), parts[4]
