"""Settings of the journal: where it lies, its second copy, and the pictures beside it."""

from __future__ import annotations

from datetime import time
from pathlib import Path

from pydantic import Field

from shaker_ctl.journal.volume import DayBegins
from shaker_ctl.parameters import Parameters, bounded


class JournalParameters(Parameters):
    """The table's memory."""

    path: Path = Path("/var/lib/shaker-ctl/journal.jsonl")
    """The journal's first volume; the later ones stand beside it as `journal-000002.jsonl` and so
    on. On a medium that survives power loss.
    """

    second: Path | None = None
    """The second copy, on another physical medium (O-6), such as a USB stick.

    Without it a journal whose end was cut off cannot be told from a shorter one, but by the lamp
    box's retained round number; `journal verify` says so.
    """

    @property
    def copies(self) -> tuple[Path, ...]:
        """The main copy, and the second one where there is one."""
        return tuple(path for path in (self.path, self.second) if path is not None)

    pictures: Path = Path("/var/lib/shaker-ctl/pictures")
    """Folder for the pictures on which values were decided (O-19)."""

    pictures_mb: float = bounded(2000.0, at_least=10.0, at_most=1_000_000.0)
    """Most space for pictures, in megabytes; the oldest go first.

    The last ten rounds and those with an open dispute always stay, even above this. One round is
    about 0.15 MB, so 2,000 MB hold about 13,000 rounds.
    """

    sync_deadline_s: float = bounded(2.5, at_least=0.5, at_most=30.0)
    """Longest append and sync, in seconds, before it counts as hung: journal fault, table stops.

    Lower: a worn SD card that pauses for a second stops the table; higher: people wait longer in
    front of a table that no longer acts. A motor never waits for it.
    """

    second_lag_s: float = bounded(10.0, at_least=1.0, at_most=600.0)
    """Longest time, in seconds, that one copy may lag behind the other before it is a named fault.
    """

    kept_by_either: bool = True
    """True: a record counts as kept once the first of two media has it, so that a card or stick
    that stalls for seconds delays no lamp. A start catches up the copy that is behind. False: only
    the main copy keeps, and one that ends before the second halts the start. Without a second copy
    it has no effect.
    """

    media_wait_s: float = bounded(90.0, at_least=0.0, at_most=600.0)
    """How long, in seconds, a start waits for the medium of a copy that is not there. Then it ends
    with status 1 and is tried again.

    A USB stick is mounted up to half a minute after the table's program runs. Five tries of 90 s
    outlast the unit's `StartLimitIntervalSec`, so that the service manager never gives up.
    """

    day_begins: DayBegins = time(6)
    """Local time at which a gaming day begins, as "06:00:00". The next volume of the journal begins
    between two rounds after it.

    Choose an hour at which the house's books turn; the table need not be closed at it.
    """

    volume_records: int = Field(default=20_000, ge=100, le=10_000_000)
    """Records at which a volume ends although its gaming day goes on. A round makes 13 to 16.

    A start walks the open volume before the table is ready: 20,000 records in two copies take
    0.3 s on a desktop computer. Lower: more files; higher: longer starts.
    """
