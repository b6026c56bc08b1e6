"""The schema's versions, by Alembic: where a database stands, and the way to another version.

Owns the order of the versions. Each is a file of `migrations/versions`, with its way back.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, inspect

VERSIONS = ("records", "batches")
"""Oldest first."""
NEWEST = VERSIONS[-1]


def version(db: Connection) -> str | None:
    """Return which schema a database has; None: it is empty. The first one did not say so."""
    found = MigrationContext.configure(db).get_current_revision()
    return found or (VERSIONS[0] if inspect(db).has_table("line") else None)


def go(db: Connection, to: str) -> None:
    """Bring a database to a version, up or down, in the transaction of `db`: all of it or none."""
    config = Config(attributes={"connection": db})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    if (found := version(db)) is not None:
        command.stamp(config, found)
    is_down = found is not None and VERSIONS.index(to) < VERSIONS.index(found)
    (command.downgrade if is_down else command.upgrade)(config, to)
