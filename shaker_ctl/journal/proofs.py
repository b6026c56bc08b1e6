"""Which closed volumes were verified, when, and as which file.

Owns what makes a proof good: the file stands as it stood when it was verified, and that was not
longer ago than `GOOD_FOR_S`. A file that was written, exchanged or copied since has changed hands.
Must not know of files: it is told how one stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from shaker_ctl.frozen import frozen

GOOD_FOR_S = 7 * 86400.0
"""Age at which a proof is no longer good for opening the table."""
RENEWED_AFTER_S = 3 * 86400.0
"""Age at which a volume is verified again; the rest of `GOOD_FOR_S` is time to do it in."""

Mark = tuple[int, ...]
"""How a file stands: inode, size, times of its last change."""


@frozen
class Proof:
    """One verified volume."""

    mark: Mark
    wall_s: float

    def is_good(self, mark: Mark, now_s: float, for_s: float = GOOD_FOR_S) -> bool:
        """Whether it still holds. A clock that went back makes no proof younger than new."""
        return mark == self.mark and -60.0 <= now_s - self.wall_s <= for_s


@frozen
class Break:
    """A volume that does not verify."""

    file: str
    line: str
    wall_s: float


@frozen
class Proofs:
    """What is known of all closed volumes of both copies, by the path of their files."""

    of: Mapping[str, Proof] = field(default_factory=dict)
    broken: Break | None = None

    def proved(self, file: str, proof: Proof) -> Proofs:
        """With one more volume verified."""
        broken = self.broken
        if broken is not None and broken.file == file:
            broken = None
        return Proofs({**self.of, file: proof}, broken)

    def broke(self, found: Break) -> Proofs:
        """With a volume that does not verify; it has no proof any more."""
        return replace(
            self, of={file: p for file, p in self.of.items() if file != found.file}, broken=found
        )

    def to_plain(self) -> dict[str, Any]:
        """As it is kept."""
        plain: dict[str, Any] = {
            "volumes": {file: [*p.mark, p.wall_s] for file, p in self.of.items()}
        }
        if self.broken is not None:
            plain["broken"] = [self.broken.file, self.broken.line, self.broken.wall_s]
        return plain


def from_plain(plain: Any) -> Proofs:
    """Return what was kept. What cannot be understood proves nothing and is left out.

    Raises OverflowError for a time beyond every clock.
    """
    if not isinstance(plain, dict):
        return Proofs()
    kept = plain.get("volumes")
    of: dict[str, Proof] = {}
    for file, row in kept.items() if isinstance(kept, dict) else ():
        if (
            isinstance(row, list)
            and len(row) > 1
            and all(isinstance(one, int | float) and not isinstance(one, bool) for one in row)
        ):
            of[file] = Proof(tuple(row[:-1]), float(row[-1]))
    match plain.get("broken"):
        case [str(file), str(line), int() | float() as wall_s]:
            return Proofs(of, Break(file, line, float(wall_s)))
    return Proofs(of)
