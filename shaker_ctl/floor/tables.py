"""Every table as the broker shows it: what collector, figures and page know of the present.

Owns the meaning of what tables keep retained: each message has its form (`link.messages`), or is
refused. Must not know who listens. The past is the store's.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from shaker_ctl.link import topics
from shaker_ctl.link.messages import Alarm, Alive, Birth, Result, State
from shaker_ctl.link.packing import ProtocolError, read
from shaker_ctl.link.topics import Place

MAX_ALARMS = 200
"""Alarms of one table that are kept; a table has some sixty codes."""
MAX_CODE = 40
"""Characters of an alarm's code that are kept; a table's longest has some twenty."""
MAX_TABLES = 10_000
_FORMS = {topics.BIRTH: Birth, topics.STATE: State, topics.ALIVE: Alive, topics.RESULT: Result}


@dataclass(slots=True)
class ShownTable:
    """One table. What it has not said is None."""

    place: Place
    birth: Birth | None = None
    state: State = field(default_factory=lambda: State(service=False))
    alive: Alive | None = None
    result: Result | None = None
    alarms: dict[str, Alarm] = field(default_factory=dict)
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
    def is_online(self) -> bool:
        """Whether its link is connected. The will of an earlier connection says nothing."""
        if self.alive is None or self.alive["is"] == "online":
            return self.alive is not None
        session = "" if self.birth is None else self.birth["session"]
        return self.alive["is"] == "offline" and self.alive["session"] != session

    @property
    def life(self) -> str:
        """Where it stood when it last said so."""
        return self.state.get("life", "")

    @property
    def marks(self) -> list[str]:
        """`DEMONSTRATION`, ..."""
        return [] if self.birth is None else self.birth["marks"]

    @property
    def behind(self) -> int | None:
        """Records that the floor has not committed, as the table counts them."""
        return None if self.alive is None else self.alive.get("behind")


class Tables:
    """All tables of one house."""

    def __init__(self, site: str) -> None:
        self._site = site
        self.by_name: dict[str, ShownTable] = {}

    def forget(self) -> None:
        """The connection is a new one: the broker tells again what still holds, and what ended
        meanwhile it does not tell."""
        for table in self.by_name.values():
            table.alarms, table.alive = {}, None

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
        if kind in _FORMS:
            unsaid = getattr(ShownTable(table.place), kind)
            setattr(table, kind, read(_FORMS[kind], payload) if payload else unsaid)
        elif kind.startswith(f"{topics.ALARM}/"):
            code = kind.partition("/")[2][:MAX_CODE]
            if not payload:
                table.alarms.pop(code, None)
            elif len(table.alarms) < MAX_ALARMS or code in table.alarms:
                table.alarms[code] = read(Alarm, payload)
