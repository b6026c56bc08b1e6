"""The schema's versions, by Alembic: where a database stands, and the way to another version.

Owns the order of the versions. Each is a file of `migrations/versions`, with its way back.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection

VERSIONS = ("records", "batches")
"""Oldest first."""
NEWEST = VERSIONS[-1]


def version(db: Connection) -> str:
    """Return which schema a database has. The first one did not say so."""
    return MigrationContext.configure(db).get_current_revision() or VERSIONS[0]


def stamp(db: Connection, is_version: str = NEWEST) -> None:
    """Write down which schema a database has."""
    command.stamp(_config(db), is_version)


def go(db: Connection, to: str) -> None:
    """Bring a database to a version, up or down, in the transaction of `db`: all of it or none."""
    if db.dialect.name == "sqlite":  # its driver begins a transaction for rows alone
        db.exec_driver_sql("BEGIN IMMEDIATE")
    found = version(db)
    stamp(db, found)
    is_up = VERSIONS.index(to) >= VERSIONS.index(found)
    (command.upgrade if is_up else command.downgrade)(_config(db), to)


def _config(db: Connection) -> Config:
    config = Config(attributes={"connection": db})
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
