"""The closed volumes of both copies: which are not verified yet, and how each is verified.

Owns the file of proofs beside the journal, `journal.proved.json`. It may be lost at any time: then
every volume is verified anew. One process verifies and writes the file; the service reads it.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_path
from shaker_ctl.adapters.disk.kept_aside import move_aside, preserve
from shaker_ctl.adapters.disk.volume_file import Alive
from shaker_ctl.errors import JournalError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.proofs import (
    FORM,
    GOOD_FOR_S,
    RENEWED_AFTER_S,
    Break,
    Mark,
    Proof,
    Proofs,
)
from shaker_ctl.journal.volume import Volume
from shaker_ctl.whole_file import mode, put, read_bounded

_MAX_B = 16 << 20
"""Max size, bytes, of a file of proofs. A larger file was not written by this program."""


def place(journal: Path) -> Path:
    """Return where the proofs of a journal are kept."""
    return journal.with_name(f"{journal.stem}.proved.json")


def load(path: Path) -> Proofs:
    """Return what was kept; nothing where it cannot be read."""
    try:
        found: Proofs = FORM.made(json.loads(read_bounded(path, _MAX_B)), path.name)
    except (OSError, ValueError, RecursionError):
        return Proofs()
    return found


def save(path: Path, proofs: Proofs) -> None:
    """Put the proofs into place whole; a folder there is moved aside.

    Raises OSError, JournalWriteError.
    """
    if path.is_dir() and not path.is_symlink():
        move_aside(path)
    put(path, json.dumps(FORM.plain(proofs)), mode(0o640))


def mark_of(path: Path) -> Mark:
    """Return how a file stands; empty where there is none."""
    try:
        stat = path.stat()
    except OSError:
        return ()
    return (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@frozen
class VolumeProofStatus:
    """One closed volume of one copy."""

    copy: DiskJournal
    volume: Volume

    @property
    def path(self) -> Path:
        return volume_path(self.copy.path, self.volume.number)

    def mark(self) -> Mark:
        """How its file stands."""
        return mark_of(self.path)


def volumes(copies: list[DiskJournal]) -> Iterator[VolumeProofStatus]:
    """Yield every closed volume of every copy that was not removed."""
    for copy in copies:
        for volume in copy.present:
            yield VolumeProofStatus(copy, volume)


def unproved(
    copies: list[DiskJournal], proofs: Proofs, now_s: float, for_s: float = GOOD_FOR_S
) -> list[VolumeProofStatus]:
    """Return the volumes whose verification is not good any more, or was never."""
    return [
        one
        for one in volumes(copies)
        if (proof := proofs.of.get(str(one.path))) is None
        or not proof.is_good(one.mark(), now_s, for_s)
    ]


def next_due(copies: list[DiskJournal], proofs: Proofs, now_s: float) -> VolumeProofStatus | None:
    """Return the volume to verify next: one that keeps the table closed, then the oldest proof."""

    def made_s(one: VolumeProofStatus) -> float:
        proof = proofs.of.get(str(one.path))
        if proof is None or not proof.is_good(one.mark(), now_s):
            return float("-inf")
        return proof.wall_s

    return min(unproved(copies, proofs, now_s, RENEWED_AFTER_S), key=made_s, default=None)


def prove(
    one: VolumeProofStatus, proofs: Proofs, now: Callable[[], float], alive: Alive | None = None
) -> Proofs:
    """Verify one volume; return the proofs with what came of it. A damaged one is kept as found."""
    mark = one.mark()
    _, damage = one.copy.verify_closed(one.volume, alive)
    if damage is None:
        return proofs.proved(str(one.path), Proof(mark, now()))
    kept = ""
    with contextlib.suppress(OSError, JournalError):
        if one.path.exists():
            kept = f" (as found: {preserve(one.path, damage.line())})"
    return proofs.broke(Break(str(one.path), damage.line() + kept, now()))
