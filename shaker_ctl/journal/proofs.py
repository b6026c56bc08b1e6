"""Which closed volumes were verified, when, and as which file.

Owns what makes a proof good: the file stands as it stood when it was verified, and that was not
longer ago than `GOOD_FOR_S`. A file that was written, exchanged or copied since has changed hands.
Must not know of files: it is told how one stands.
"""

from __future__ import annotations

from dataclasses import field, replace

from shaker_ctl.frozen import frozen
from shaker_ctl.plain_form import PlainForm

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

    of: dict[str, Proof] = field(default_factory=dict)
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


FORM = PlainForm({"Proof": Proof, "Break": Break, "Proofs": Proofs}.get)
"""As it is kept. What cannot be understood proves nothing."""
