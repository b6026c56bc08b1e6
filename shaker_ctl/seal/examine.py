"""Reads a seal and says what, of all that it covers, is not as it was sealed.

Owns the order: the key, the signature, then each file. Changes nothing, opens nothing else. Must
not know what a finding leads to.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from shaker_ctl.errors import RefusedError
from shaker_ctl.frozen import frozen
from shaker_ctl.seal import manifest as listed
from shaker_ctl.seal.fault import UNSEALED
from shaker_ctl.seal.manifest import Manifest, SealFinding
from shaker_ctl.seal.place import SealFiles
from shaker_ctl.whole_file import read_bounded

MAX_MANIFEST = 16_000_000
"""Bytes; a seal over the program and its libraries has some hundred thousand."""


@frozen
class Examined:
    """What an examination of one seal gave."""

    seal: str
    """Fingerprint of the key that the table trusts, or `unsealed`."""
    manifest: Manifest | None = None
    """What was sealed; None where nothing is, or where nobody trustworthy says so."""
    findings: tuple[SealFinding, ...] = ()
    """Files that are not as they were sealed; empty where all are, or where nothing is sealed."""

    @property
    def is_sealed(self) -> bool:
        return self.seal != UNSEALED

    @property
    def is_verified(self) -> bool:
        """Sealed, and every file as it was sealed."""
        return self.is_sealed and not self.findings


NOTHING = Examined(UNSEALED)


Differences = Callable[[Manifest, Path, Path], list[SealFinding]]
"""Which files are compared with the manifest; settings file and root of the packages are given."""


def examine(
    place: SealFiles, root: Path = listed.ROOT, differences: Differences = listed.differences
) -> Examined:
    """Check the seal at `place` over the packages below `root`. Never raises for a broken seal."""
    if not place.is_used:
        return NOTHING
    from shaker_ctl.seal import signature  # 7 MB, which no other table needs

    try:
        key = signature.load_public(place.public_key)
    except RefusedError as refusal:
        return Examined(
            "no key", None, (SealFinding(str(place.public_key), f"is no key: {refusal}"),)
        )
    seal = signature.fingerprint(key)
    try:
        plain = json.loads(read_bounded(place.manifest, MAX_MANIFEST))
        manifest = listed.understood(plain["manifest"])
        is_signed = signature.is_signed(key, manifest.signed_part(), str(plain["signature"]))
    except FileNotFoundError:
        what = "is not there: nothing was sealed yet, or the seal was taken away"
        return Examined(seal, None, (SealFinding(str(place.manifest), what),))
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        return Examined(seal, None, (SealFinding(str(place.manifest), what),))
    except listed.OtherFormatError as error:
        return Examined(seal, None, (SealFinding(str(place.manifest), str(error)),))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"is not a seal: {type(error).__name__} {error}"
        return Examined(seal, None, (SealFinding(str(place.manifest), what),))
    if not is_signed:
        what = f"is not signed with the key {place.public_key}"
        return Examined(seal, None, (SealFinding(str(place.manifest), what),))
    found = differences(manifest, place.settings, root)
    return Examined(seal, manifest, tuple(found))


def spelled(manifest: Manifest, signed: str) -> str:
    """Return the text of a seal file."""
    plain = json.loads(manifest.signed_part())
    return json.dumps({"manifest": plain, "signature": signed}, indent=1, sort_keys=True) + "\n"
