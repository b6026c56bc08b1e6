"""Which collector has which table: each takes its share, and nobody numbers them.

A table is an advisory lock of a session of PostgreSQL: who dies loses it, and the others take it.
Owns who has what. This only divides the work: what two collectors do to one table at once, the
store refuses (`Store.add`).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

_JOIN = text("SELECT pg_advisory_lock(:house, :own)")
_HOW_MANY = text(
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
    "WHERE datname = current_database() AND locktype = 'advisory' AND granted "
    "AND classid = :house AND objsubid = 2"
)
_TAKE = text(
    "SELECT name FROM unnest(CAST(:names AS text[]), CAST(:keys AS bigint[])) AS free(name, key) "
    "WHERE pg_try_advisory_lock(key) LIMIT :lack"
)
_LEAVE = text("SELECT pg_advisory_unlock(key) FROM unnest(CAST(:keys AS bigint[])) AS held(key)")
_SETTINGS = (
    "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 "
    "-c tcp_user_timeout=15000"
)
"""So long the server waits for a collector whose machine is gone."""


class Leases:
    """One collector's tables. For one thread."""

    def __init__(self, url: str, site: str) -> None:
        self.held: set[str] = set()
        self._site = site
        self._house = _number(site, 4) >> 1
        self._db: Any = None
        waits = {"connect_timeout": 5, "tcp_user_timeout": 10_000, "options": _SETTINGS}
        options: dict[str, Any] = {"poolclass": NullPool, "connect_args": waits}
        self._engine = create_engine(url, isolation_level="AUTOCOMMIT", **options)

    def divide(self, names: Collection[str]) -> None:
        """Take what is free up to our share of these tables, and leave what is beyond it.

        While the database is gone, we listen on; when it is back, to what nobody else took.
        """
        try:
            if self._db is None:
                self._join()
            share = -(-len(names) // max(1, self._db.execute(_HOW_MANY, self._own).scalar()))
            if len(self.held) > share:
                self._leave(random.sample(sorted(self.held), len(self.held) - share))
            elif len(self.held) < share and (free := sorted(set(names) - self.held)):
                random.shuffle(free)
                self.held |= self._taken(free, share - len(self.held))
        except SQLAlchemyError:
            self._end_session()

    def close(self) -> None:
        """Leave everything to the others."""
        self.held = set()
        self._end_session()

    def _join(self) -> None:
        self._db = self._engine.connect()
        self._own = {"house": self._house, "own": random.getrandbits(31)}
        self._db.execute(_JOIN, self._own)
        self.held = self._taken(sorted(self.held), len(self.held))

    def _taken(self, names: list[str], most: int) -> set[str]:
        asked = {"names": names, "keys": self._keys(names), "lack": most}
        return set(self._db.execute(_TAKE, asked).scalars())

    def _leave(self, names: Collection[str]) -> None:
        self._db.execute(_LEAVE, {"keys": self._keys(names)})
        self.held.difference_update(names)

    def _keys(self, names: Collection[str]) -> list[int]:
        return [_number(f"{self._site}/{name}", 8) - (1 << 63) for name in names]

    def _end_session(self) -> None:
        if self._db is not None:
            with suppress(SQLAlchemyError):  # it may be broken already
                self._db.close()  # the session's locks end with it
            self._db = None


def _number(name: str, size: int) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:size], "big")
