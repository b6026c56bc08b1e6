"""Copies of a journal, cut and flipped byte by byte: `python -m hil_tests.reliability.bytes_cut`.

Owns the forged records, the damage and the verdict on it. A damaged journal must open whole, or be
named as damaged; a shorter or other story without a word is `silent`, and silent is never right.
Works in memory where the machine has a disk there, without any table.

What is damaged is what a killed service leaves: the open volume and a closed one, beside a whole
second copy. Damage to the closed volume may be named by the start, or by the proving that comes
before play.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import typer

from hil_tests.campaign import Judged, Only, Results, judge_all
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers, volume_path
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.errors import JournalError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, Head, Record, link

PAGE = 4096

FILES = {"main": -1, "closed": 0}
"""Which volume of the main copy is damaged."""

DAMAGE = ("cut", "flipped")
FLIPS, SEED = 2000, 1
"""Bits that are flipped in each file, and the seed of their places."""

LAST_BYTES = 2 * PAGE
"""Where the newest records lie."""

CLOSED = 20
"""Records of the closed volume."""

PROVED_BROKEN = "broken-volume"
"""Verdict on a closed volume that the start lets pass and the proving before play does not."""


@dataclass(frozen=True)
class Crashed:
    """Both copies as a killed service leaves them, and every record that was synced."""

    parameters: JournalParameters
    records: list[Record]

    def file(self, which: str) -> Path:
        """The file to damage."""
        return file_of(self.parameters, which)


def file_of(parameters: JournalParameters, which: str) -> Path:
    """The open volume, or the first one, of the main copy."""
    return volume_path(parameters.path, volume_numbers(parameters.path)[FILES[which]])


def records_after(
    head: Head, count: int, *, round_of_first: int = 1, wall: str = "2026-11-21T00:00:00.000+00:00"
) -> list[Record]:
    """Forge so many records of different lengths, five a round."""
    bodies = [{"event": {"type": "Tick", "n": n, "text": "x" * (n % 97)}} for n in range(count)]
    entries = [Entry("step", body, round_of_first + n // 5) for n, body in enumerate(bodies)]
    return forged(head, entries, lambda _: wall, {"model": "ab" * 16})


def forged(
    head: Head,
    entries: Iterable[Entry],
    wall: Callable[[int], str],
    digests: Mapping[str, str] = MappingProxyType({}),
) -> list[Record]:
    """Chain facts behind `head`. `wall`: when one was recorded, by the number before its own."""
    records = []
    for entry in entries:
        n = head.sequence
        record = link(head, entry, monotonic_s=float(n), wall=wall(n), digests=digests)
        records.append(record)
        head = Head(record.sequence, record.hash)
    return records


def volume_after(store: DiskJournal, day: str = "2026-11-22") -> Record:
    """Forge the record with which the next volume of a journal begins."""
    entry = store.next_volume(day, {"seal": "unsealed", "boot": "a boot"})
    return forged(store.head(), [entry], lambda _: f"{day}T06:00:00.000+00:00")[0]


def as_a_crash_leaves_it(path: Path, folder: Path) -> Path:
    """Copy all volumes while they are open: what a killed process leaves behind."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in volume_numbers(path):
        file = volume_path(path, number)
        shutil.copy(file, folder / file.name)
    return folder / path.name


def made(folder: Path) -> Crashed:
    """A journal of 60 records in two volumes."""
    (folder / "open" / "second").mkdir(parents=True)
    opened = open_copies(
        JournalParameters(
            path=folder / "open" / "journal.jsonl",
            second=folder / "open" / "second" / "journal.jsonl",
        )
    )
    records = records_after(opened.main.head(), CLOSED)
    opened.main.write(records)
    records.append(volume_after(opened.main))
    records += records_after(Head(records[-1].sequence, records[-1].hash), 60 - CLOSED - 1)
    opened.main.write(records[CLOSED:])
    opened.copies[1].write(records)
    main = as_a_crash_leaves_it(opened.main.path, folder / "crashed")
    second = as_a_crash_leaves_it(opened.copies[1].path, folder / "crashed" / "second")
    opened.close()
    return Crashed(JournalParameters(path=main, second=second), records)


def trial(crashed: Crashed, folder: Path) -> JournalParameters:
    """A fresh copy of both, to be damaged."""
    shutil.rmtree(folder, ignore_errors=True)
    assert crashed.parameters.second is not None
    copies = {
        "path": as_a_crash_leaves_it(crashed.parameters.path, folder),
        "second": as_a_crash_leaves_it(crashed.parameters.second, folder / "second"),
    }
    return crashed.parameters.model_copy(update=copies)


def verdict(parameters: JournalParameters, records: list[Record]) -> str:
    """`sound` where every record is there unchanged, else the code of the fault that is named.

    Anything in between, a shorter or other story without a fault, is `silent`.
    """
    try:
        opened = open_copies(parameters)
    except JournalError as error:
        return error.code
    with closing(opened):
        for one in opened.main.closed:
            if opened.main.verify_closed(one)[1] is not None:
                return PROVED_BROKEN
        return "sound" if list(opened.main.read()) == records else "silent"


def cut(crashed: Crashed, which: str, at: int, folder: Path) -> str:
    """Cut a copy's file at this byte and open it."""
    damaged = trial(crashed, folder)
    with file_of(damaged, which).open("r+b") as file:
        file.truncate(at)
    return verdict(damaged, crashed.records)


def flip(crashed: Crashed, which: str, at: int, bit: int, folder: Path) -> str:
    """Flip one bit of a copy's file and open it."""
    damaged = trial(crashed, folder)
    target = file_of(damaged, which)
    content = bytearray(target.read_bytes())
    content[at] ^= 1 << bit
    target.write_bytes(content)
    return verdict(damaged, crashed.records)


def last_bytes(crashed: Crashed, which: str, *, every: int = 1) -> list[int]:
    """Where to cut: so many bytes apart over the newest records, and around each boundary."""
    size = crashed.file(which).stat().st_size
    first = max(0, size - LAST_BYTES)
    near = {n * PAGE + d for n in range(size // PAGE + 2) for d in (-1, 0, 1)}
    return sorted({*range(first, size, every), *(at for at in near if 0 <= at < size)})


def flips(crashed: Crashed, which: str, count: int, seed: int) -> Iterator[tuple[int, int]]:
    """So many random (byte, bit) of a file."""
    chance = random.Random(seed)
    size = crashed.file(which).stat().st_size
    for _ in range(count):
        yield chance.randrange(size), chance.randrange(8)


@contextmanager
def fast_folder() -> Iterator[Path]:
    """A folder in memory where the machine has one: thousands of copies need no disk."""
    memory = Path("/dev/shm")
    where = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        yield Path(folder)


def main(only: Only = None, results: Results = None) -> None:
    """Damage copies of a journal; status 1 where any damage passed in silence."""
    with fast_folder() as folder:
        crashed = made(folder)

        def one(case: str) -> Judged:
            which, what = case.split()
            if what == "cut":
                places = last_bytes(crashed, which)
                seen = Counter(cut(crashed, which, at, folder / "trial") for at in places)
            else:
                bits = flips(crashed, which, FLIPS, SEED)
                seen = Counter(flip(crashed, which, *bit, folder / "trial") for bit in bits)
            told = ", ".join(f"{name} {n}" for name, n in sorted(seen.items()))
            return Judged(not seen["silent"], f"{seen.total()}: {told}")

        judge_all([f"{which} {what}" for which in FILES for what in DAMAGE], one, only, results)


if __name__ == "__main__":
    typer.run(main)
