"""Which pictures are evidence, and which may go when their quota is full. Pure; knows no files.

The last ten rounds (O-7) and the rounds with an open dispute always stay, even above the quota.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from shaker_ctl.frozen import frozen

LAST_ROUNDS = 10


@frozen
class PictureFile:
    """One picture file: its name, its round, its size."""

    name: str
    round: int
    size_bytes: int


def is_recorded(content: bytes, sha256: str) -> bool:
    """Whether this is the picture that a record names by its digest. Else it is no evidence."""
    return hashlib.sha256(content).hexdigest() == sha256


def to_drop(
    kept: Sequence[PictureFile], *, quota_bytes: int, disputed: Collection[int] = ()
) -> list[PictureFile]:
    """Return the files to delete, oldest round first, until the rest fits the quota."""
    over = sum(picture.size_bytes for picture in kept) - quota_bytes
    if over <= 0:
        return []
    newest = sorted({picture.round for picture in kept})[-LAST_ROUNDS:]
    drop: list[PictureFile] = []
    for picture in sorted(kept, key=lambda p: (p.round, p.name)):
        if over <= 0:
            break
        if picture.round in newest or picture.round in disputed:
            continue
        drop.append(picture)
        over -= picture.size_bytes
    return drop
