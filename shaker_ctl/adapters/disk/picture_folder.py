"""The pictures of decisions as files beside the journal, under a quota.

Owns names and files. Which may go is `journal.pictures`'s. A picture is written before its record,
unless the medium stalls, and synced right after its release: a killed service loses none, a power
cut at most the last one, whose digest then stands in the record alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.dispute_list import DisputeList
from shaker_ctl.errors import JournalWriteError, RefusedError, reraise_as
from shaker_ctl.journal.pictures import PictureFile, is_recorded, to_drop
from shaker_ctl.ports import Pictures

_NAME = re.compile(r"^(\d{8})-(\d{10})-(frame|overlay)\.jpg$")


def recorded_picture(folder: Path, name: str, sha256: str) -> bytes:
    """Return the picture that a record names by its file and its digest.

    Raises OSError where it is not kept any more, and RefusedError where the file is another one: a
    picture is evidence only as long as it is the recorded one.
    """
    data = (folder / Path(name).name).read_bytes()
    if not is_recorded(data, sha256):
        raise RefusedError(
            f"the picture {Path(name).name} is not as its record has it",
            remedy="A power cut can leave half of the newest one; else find out who changed it",
        )
    return data


def newest_pictures(folder: Path, decisions: int) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the pictures of the newest so many decisions, oldest first.

    One that makes room for others meanwhile is left out; no folder yields nothing.
    """
    names = sorted(path.name for path in folder.glob("*.jpg") if _NAME.match(path.name))
    stems = sorted({name.rsplit("-", 1)[0] for name in names})[-decisions:]
    for name in names:
        if name.rsplit("-", 1)[0] in stems:
            with contextlib.suppress(OSError):
                yield f"pictures/{name}", (folder / name).read_bytes()


class PictureFolder:
    """`ports.PictureStore` on one folder. For the journal's threads alone."""

    def __init__(
        self,
        folder: Path,
        quota_mb: float,
        disputed: Callable[[], Collection[int]] = lambda: (),
        disputes: DisputeList | None = None,
    ) -> None:
        """`disputed` returns rounds that dealer and reader disagree on now; those that a person
        has opened a dispute on stand in `disputes`, the folder's own list. Raises
        JournalWriteError.
        """
        self._folder = folder
        self._quota_bytes = int(quota_mb * 1e6)
        self._disputed = disputed
        self._disputes = disputes or DisputeList(folder)
        with self._keeping():
            folder.mkdir(parents=True, exist_ok=True)
            self._kept = {kept.name: kept for kept in self._found()}
        self._unsynced: list[Path] = []

    def _found(self) -> list[PictureFile]:
        found = []
        for entry in os.scandir(self._folder):
            if match := _NAME.match(entry.name):
                found.append(PictureFile(entry.name, int(match[1]), entry.stat().st_size))
        return found

    def named(self, round_number: int, sequence: int, pictures: Pictures) -> dict[str, Any]:
        """Return file name and SHA-256 of each."""
        return {
            role: {
                "file": f"{round_number:08d}-{sequence:010d}-{role}.jpg",
                "sha256": hashlib.sha256(data).hexdigest(),
            }
            for role, data in asdict(pictures).items()
        }

    def save(self, round_number: int, sequence: int, pictures: Pictures) -> None:
        """Write both pictures. Raises JournalWriteError."""
        names = self.named(round_number, sequence, pictures)
        for role, data in asdict(pictures).items():
            path = self._folder / names[role]["file"]
            with self._keeping():
                path.write_bytes(data)
            self._kept[path.name] = PictureFile(path.name, round_number, len(data))
            self._unsynced.append(path)

    def settle(self) -> None:
        """Sync what was saved, then make room. Raises JournalWriteError, DisputesError."""
        with self._keeping():
            while self._unsynced:
                with self._unsynced[0].open("rb") as file:
                    os.fsync(file.fileno())
                self._unsynced.pop(0)
            for picture in to_drop(
                list(self._kept.values()),
                quota_bytes=self._quota_bytes,
                disputed={*self._disputed(), *self._disputes.open_rounds()},
            ):
                (self._folder / picture.name).unlink(missing_ok=True)
                del self._kept[picture.name]

    def _keeping(self) -> AbstractContextManager[None]:
        """Say what the system refuses as `JournalWriteError`."""
        remedy = "Free space there, or lower journal.pictures_mb"
        return reraise_as(
            JournalWriteError, f"a picture cannot be kept in {self._folder}", remedy=remedy
        )
