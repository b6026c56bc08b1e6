"""SHA-256 of everything that decides: program, profile, settings, and what is shipped beside them.

Owns which files belong to a digest and in which order. Must not know what follows a mismatch.
O-2 asks for at least 128 bits; O-3 lets an inspector read them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from shaker_ctl.rules import profile_files
from shaker_ctl.rules.regulation import Profile
from shaker_ctl.seal.manifest import digest

PROGRAM = ("shaker_ctl", "vision")
"""Packages that run at a table. The rig and the training tools do not."""


def of_table(table: Mapping[str, object]) -> str:
    """Digest of plain values, in hex: of their JSON with sorted keys."""
    text = json.dumps(table, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def of_profile(named: str, profile: Profile) -> str:
    """Digest of the profile's file, or of all files of the house that the profile lies on.

    `named`: as the settings name it.
    """
    own = profile_files.own_files(named)
    if len(own) > 1:
        return of_table({str(path): digest(path) for path in own})
    return digest(own[0] if own else profile_files.source(profile))


def of_program(root: Path) -> str:
    """Digest over names and contents of every module that runs at a table; `root` is the folder of
    the packages."""
    whole = hashlib.sha256()
    for path in sorted(path for package in PROGRAM for path in (root / package).rglob("*")):
        if path.suffix in (".py", ".toml") and "tests" not in path.parts:
            whole.update(path.relative_to(root).as_posix().encode() + b"\0")
            whole.update(bytes.fromhex(digest(path)))
    return whole.hexdigest()
