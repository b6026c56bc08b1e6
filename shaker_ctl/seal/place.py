"""Where the seal of a table lies.

Owns names of files. The seal lies beside the settings file, so that a settings file that can no
longer be read is still known to be the wrong one. Must not know what is inside.
"""

from __future__ import annotations

from pathlib import Path

from shaker_ctl.frozen import frozen

INSTALLED = Path("/etc/shaker-ctl")
"""Where an installation puts settings and seal; belongs to root."""

PUBLIC_KEY = "seal.pub"
MANIFEST = "seal.json"


@frozen
class SealFiles:
    """The files of one seal."""

    settings: Path
    public_key: Path
    manifest: Path

    @property
    def is_used(self) -> bool:
        """True where a seal, or a part of one, lies here."""
        return self.public_key.exists() or self.manifest.exists()

    def awaits_its_first_seal(self, *, has_journal: bool) -> bool:
        """True where the key is installed and nothing is sealed at a table without a journal.

        With a journal, a seal that is not there counts as taken away.
        """
        return self.public_key.exists() and not self.manifest.exists() and not has_journal


def beside(settings: Path) -> SealFiles:
    """Return where the seal of this settings file lies.

    On a real table the installed public key counts, wherever the settings file lies: nobody gets
    round it by starting the service on a copy.
    """
    folder = settings.absolute().parent
    installed = INSTALLED / PUBLIC_KEY
    key = installed if installed.exists() else folder / PUBLIC_KEY
    return SealFiles(settings.absolute(), key, folder / MANIFEST)
