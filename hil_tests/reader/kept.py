"""The results of cases, kept in a file: a bench that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import vision
from hil_tests import rig
from shaker_ctl import reading
from vision.errors import VisionError
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
    """What a file, or all files of a set of pictures, come to: two sets may have one name."""
    files = [path] if path.is_file() else [f for f in sorted(path.rglob("*")) if f.is_file()]
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(path)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:8]


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The results in a file, which it says; none where there is no file. A last line that a stopped
    bench wrote half is cut off, so that the next one begins a line of its own. Raises VisionError
    where another line is no JSON."""
    if not file.exists():
        return []
    whole = file.read_bytes()
    kept = whole[: whole.rfind(b"\n") + 1]
    if kept != whole:
        file.write_bytes(kept)
    try:
        rows = [json.loads(line) for line in kept.splitlines()]
    except ValueError as error:
        raise VisionError(f"{file} has a line that is no result: take the file away") from error
    if rows:
        sys.stderr.write(f"{len(rows)} results are kept in {file}; they are not measured again\n")
    return rows


def results(file: Path, count: int, case: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what `case` gives for 0 to `count`, taken from `file` as far as it goes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    found = rows_of(file)
    with file.open("a", encoding="utf-8") as kept:
        for number in range(len(found), count):
            found.append(case(number))
            kept.write(json.dumps(found[-1]) + "\n")
            kept.flush()
    return found[:count]
