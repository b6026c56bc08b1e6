"""Where the table that is looked at keeps what the page reads."""

from __future__ import annotations

from pathlib import Path

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.parameters import JournalParameters


@frozen
class TablePlaces:
    """One table's files and names."""

    name: str
    """Of the table, for when it does not answer."""
    profile: str
    runtime_dir: Path
    """Folder of the status socket."""
    journal: JournalParameters
    users_file: Path
    settings: Path
    """The settings file, for a bundle."""
    documents: Path
    """Folder of the wiring page and its drawing."""
