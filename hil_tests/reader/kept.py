"""The results of cases, kept in a file: a bench that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import vision
from hil_tests import rig
from hil_tests.campaign import Campaign, Kept
from shaker_ctl import reading
from vision.networks.classifier import DieFinder

_SOURCES = [Path(str(each.__file__)).parent for each in (vision, reading, rig)]
_SOURCES.append(Path(__file__).parent)


def digest_of(finder: DieFinder, *options: object) -> str:
    """What all that decides a result comes to: the networks, the sources of the reader, of the
    memory of tosses, of the rig and of the benches, and a bench's options. It is part of a file's
    name, so that no other reader's results pass for this one's."""
    card = finder.card
    near = card.near.sha256 if card.near is not None else ""
    decides = (card.finder.sha256, near, card.min_score, *options)
    digest = hashlib.sha256(repr(decides).encode())
    for sources in _SOURCES:
        for path in sorted(sources.rglob("*.py")):
            if "tests" not in path.relative_to(sources).parts:
                digest.update(f"{path.relative_to(sources)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:8]


def contents_of(path: Path) -> str:
    """What all files of a set of pictures come to: two sets may have one name."""
    digest = hashlib.sha256()
    for file in (each for each in sorted(path.rglob("*")) if each.is_file()):
        digest.update(f"{file.relative_to(path)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:8]


def opened(file: Path, kind: type[Kept]) -> Campaign[Kept]:
    """Return the campaign in a file, which it says."""
    kept = Campaign(file, kind)
    sys.stderr.writelines(f"{line}\n" for line in kept.said())
    return kept
