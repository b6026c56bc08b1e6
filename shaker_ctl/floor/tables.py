"""Every table as the broker shows it: what collector, figures and page know of the present.

Owns the meaning of what tables keep retained. Must not know who listens. The past is the store's.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from shaker_ctl.link import topics
from shaker_ctl.link.messages import Result
from shaker_ctl.link.packing import ProtocolError, from_json
from shaker_ctl.link.topics import Place

MAX_ALARMS = 200
"""VolumeProofStatus alarms of one table that are kept; a table has some sixty codes."""
MAX_CODE = 40
"""Characters of an alarm's code that are kept; a table's longest has some twenty."""
MAX_TABLES = 10_000


@dataclass(slots=True)
class ShownTable:
    """One table. What it has not said is empty."""

    place: Place
    birth: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    alive: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    alarms: dict[str, dict[str, Any]] = field(default_factory=dict)
    heard_s: float = 0.0
    """When it last said anything, by the monotonic clock."""
    refused: int = 0
    """Messages of it that were none of ours."""
    why_refused: str = ""
    """The last of them."""

    def refuse(self, error: ProtocolError) -> None:
        """Count a message that was none of ours."""
        self.refused += 1
        self.why_refused = str(error)

    @property
    def session(self) -> str:
        """Name of its link's present connection; empty before the link's first message."""
        session = self.birth.get("session", "")
        return session if isinstance(session, str) else ""

    @property
    def is_online(self) -> bool:
        """Whether its link is connected. The will of an earlier connection says nothing."""
        says = self.alive.get("is")
        return says == "online" or (says == "offline" and self.alive.get("session") != self.session)

    @property
    def is_open(self) -> bool:
        """Whether it was open for play when it last said so."""
        return self.state.get("life") == "open"

    def runs(self) -> dict[str, Any]:
        """What runs there: version, profile and digests, as words within bounds."""
        digests = self.birth.get("digests")
        known = digests if isinstance(digests, dict) else {}
        return {
            "title": _word(self.birth.get("table")),
            "version": _word(self.birth.get("version")),
            "profile": _word(self.birth.get("profile")),
            "marks": _marks(self.birth.get("marks")),
            "digests": {_word(key): _word(value) for key, value in list(known.items())[:20]},
        }

    def last_result(self) -> Result | None:
        """Its newest result; None where there is none, or it is none of three dice."""
        values = self.result.get("values")
        if not isinstance(values, list) or len(values) != 3:
            return None
        if any(type(value) is not int or not 1 <= value <= 6 for value in values):
            return None
        return {
            "values": values,
            "total": sum(values),
            "side": _word(self.result.get("side")),
            "round": _number(self.result.get("round")),
            "sequence": _number(self.result.get("sequence")),
            "wall": _word(self.result.get("wall")),
            "withdrawn": _word(self.result.get("withdrawn")),
            "marks": list(_marks(self.result.get("marks"))),
        }

    def faults(self) -> list[dict[str, str]]:
        """Its standing alarms, by code."""
        return [
            {"code": code, **{key: _word(alarm.get(key)) for key in ("cause", "remedy")}}
            for code, alarm in sorted(self.alarms.items())
        ]

    @property
    def behind(self) -> int | None:
        """Records that the floor has not committed, as the table counts them."""
        behind = self.alive.get("behind")
        return behind if isinstance(behind, int) else None


def _number(value: Any) -> int:
    return value if type(value) is int else 0


def _marks(value: Any) -> tuple[str, ...]:
    return tuple(filter(None, map(_word, value[:10]))) if isinstance(value, list) else ()


def _word(value: Any) -> str:
    return value[:200] if isinstance(value, str) else ""


class Tables:
    """All tables of one house."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.by_name: dict[str, ShownTable] = {}

    def forget(self) -> None:
        """The connection is a new one: the broker tells again what still holds, and what ended
        meanwhile it does not tell."""
        for table in self.by_name.values():
            table.alarms, table.alive = {}, {}

    def take(self, topic: str, payload: bytes) -> ShownTable | None:
        """Fold one message in; None where it is no table's of this house."""
        found = topics.parsed(topic)
        if found is None or found[0].site != self._site:
            return None
        place, kind = found
        table = self.by_name.get(place.table)
        if table is None:
            if len(self.by_name) >= MAX_TABLES:
                return None
            table = self.by_name[place.table] = ShownTable(place)
        table.heard_s = time.monotonic()
        try:
            self._fold(table, kind, payload)
        except ProtocolError as error:
            table.refuse(error)
        return table

    @staticmethod
    def _fold(table: ShownTable, kind: str, payload: bytes) -> None:
        if kind in (topics.BIRTH, topics.STATE, topics.ALIVE, topics.RESULT):
            setattr(table, kind, from_json(payload) if payload else {})
        elif kind.startswith(f"{topics.ALARM}/"):
            code = kind.partition("/")[2][:MAX_CODE]
            if not payload:
                table.alarms.pop(code, None)
            elif len(table.alarms) < MAX_ALARMS or code in table.alarms:
                table.alarms[code] = from_json(payload)
