"""Tables beside the chain: what screens ask for again and again, kept up to date by one reader.

Owns `journal.tables.sqlite`: wear, ledger and test of the dice, meters, and the tally of all
outcomes. The records process writes them; console, page and link read them.

No log lies beside the file, so that a group which may only read can read it; a reader waits for the
short commits of the writer.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import astuple, fields
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote
from zlib import crc32

from shaker_ctl.adapters.disk.folded_tables import (
    CACHE_KB,
    DAMAGE,
    FoldedTables,
    Told,
    kept_in,
    rows_in,
)
from shaker_ctl.journal import dice_watch, history
from shaker_ctl.journal import tally as tallies
from shaker_ctl.journal.dice_ledger import Ledger, ledger
from shaker_ctl.journal.dice_watch import DiceSoFar, DiceWatch
from shaker_ctl.journal.history import mentions
from shaker_ctl.journal.meters import NAMES, WORDS, Meters, clears, moved
from shaker_ctl.journal.record import Record
from shaker_ctl.journal.tally import Tally
from shaker_ctl.journal.worn import PartUsage
from shaker_ctl.whole_file import opened

_KINDS_READ = (*WORDS, *tallies.WORDS, "TossSettled", "FaultCleared", *history.DICE_WORDS)
"""Words of records that change a table; all others are passed over undecoded."""


def place(journal: Path) -> Path:
    """Return where the tables of a journal are kept."""
    return journal.with_name(f"{journal.stem}.tables.sqlite")


_DICE = "dice"
"""Kind of the rows that are the ledger of dice."""


class RecordTables(FoldedTables):
    """The writer."""

    VERSION = (
        crc32(
            repr(
                (
                    *(7, NAMES, _KINDS_READ, dice_watch.WAYS),
                    [each.name for kept in (Tally, DiceWatch) for each in fields(kept)],
                )
            ).encode()
        )
        >> 1
    )
    """Tables of the same version would count a new meter or figure from the upgrade on."""
    WHO = "records"

    def __init__(self, journal: Path) -> None:
        super().__init__(place(journal), journal)

    def begin(self) -> None:
        self._worn = PartUsage()
        self._tally = Tally()
        self._watch = DiceWatch()
        self._meters: Counter[str] = Counter()
        self._cleared = ["", ""]

    def resume(self, told: Told) -> None:
        self._tally = tallies.from_plain(told["tally"])
        self._watch = dice_watch.from_plain(told["watch"])
        self._meters, self._cleared = Counter(told["meters"]), told["cleared"]
        self._worn = PartUsage(*told["worn"])

    def told(self) -> Told:
        return {
            "tally": self._tally.to_plain(),
            "watch": self._watch.to_plain(),
            "meters": self._meters,
            "cleared": self._cleared,
            "worn": astuple(self._worn),
        }

    def reads(self, body: bytes) -> bool:
        return mentions(body, *_KINDS_READ)

    def take(self, record: Record) -> None:
        plain = record.plain
        self._tally.take(record)
        self._watch.take(plain)
        if clears(plain):
            self._meters.clear()
            self._cleared = [plain["wall"], " and ".join(plain["by"])]
        self._meters.update(moved(plain))
        if (proof := history.proof_in(plain)) is not None:
            toss = PartUsage(1, float(proof["turns"]), float(proof["in_band_s"]))
            self._worn = self._worn.plus(toss)
        elif (entry := history.dice_entry(plain)) is not None:
            self.keep(_DICE, plain["sequence"], history.FORM.plain(entry))
        if history.other_dice(plain):
            self._worn = PartUsage()


def _reader(path: Path) -> sqlite3.Connection:
    """Open a file so that nothing of it can change. Raises what `DAMAGE` names."""
    with opened(path):  # SQLite would wait for a pipe, or read a device, without end
        where = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro"
    db = sqlite3.connect(where, uri=True, timeout=1.0)
    db.execute(f"PRAGMA cache_size=-{CACHE_KB}")
    return db


Answer = TypeVar("Answer")


class TablesReader:
    """Whoever looks the tables up. Every answer is None where they are not there, or damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _asked(self, ask: Callable[[sqlite3.Connection, Told], Answer | None]) -> Answer | None:
        """Ask the tables as they stand at one moment."""
        try:
            with closing(_reader(self._path)) as db:
                db.execute("BEGIN")
                kept = kept_in(db)
                return None if kept is None else ask(db, kept)
        except DAMAGE:
            return None

    def counted(self) -> tuple[Tally, int] | None:
        """The tally of all outcomes, and the record up to which it counts."""
        return self._asked(lambda _, kept: (tallies.from_plain(kept["tally"]), kept["sequence"]))

    def meters(self) -> Meters | None:
        """The counters since they were last cleared, and the record up to which they count."""

        def counters(_: sqlite3.Connection, kept: Told) -> Meters:
            counts = {name: int(kept["meters"].get(name, 0)) for name in NAMES}
            return Meters(counts, kept["sequence"], *kept["cleared"])

        return self._asked(counters)

    def dice(self) -> DiceSoFar | None:
        """What the records say of the dice in the compartment."""

        def so_far(_: sqlite3.Connection, kept: Told) -> DiceSoFar:
            watch = dice_watch.from_plain(kept["watch"])
            return DiceSoFar(kept["sequence"], PartUsage(*kept["worn"]), watch)

        return self._asked(so_far)

    def ledger(self, until: int) -> Ledger | None:
        """The ledger of dice up to the record `until`; None while the tables do not reach it."""

        def told(db: sqlite3.Connection, kept: Told) -> Ledger | None:
            if kept["sequence"] < until:
                return None
            rows = rows_in(db, _DICE, until)
            return ledger(history.FORM.made(row, "dice") for row in rows)

        return self._asked(told)
