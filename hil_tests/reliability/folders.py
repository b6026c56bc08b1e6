"""Where the tables of a run are made: a folder of ours is emptied, and nobody else's is touched."""

from __future__ import annotations

import shutil
from pathlib import Path

MARK = ".made-by-hil-tests-reliability"
"""Stands in each folder of a table that was made here. A later run empties such a folder, and no
other one: `--results` may name whatever a person has."""

MARKED = "A table of `python -m hil_tests.reliability`. The next run there empties this folder.\n"


class FolderError(Exception):
    """There is no place for a table's files. The text says where, and what to do instead."""


def may_be_emptied(folder: Path) -> None:
    """Raises FolderError where somebody else's files may lie there."""
    try:
        if (folder / MARK).is_file() or not folder.exists() or not any(folder.iterdir()):
            return
    except OSError as error:
        raise FolderError(f"{folder} cannot be used: {error}; name another --results") from error
    raise FolderError(
        f"{folder} is not empty and was not made here (it has no {MARK}), so it is left as it is; "
        "name another --results, or clear it yourself"
    )


def fresh(folder: Path) -> Path:
    """A folder with nothing in it but its mark, whatever an earlier run left there.

    Raises FolderError where it was not made here, or cannot be made.
    """
    may_be_emptied(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text(MARKED, "utf-8")  # before all else: it may be broken off
        for left in [path for path in folder.iterdir() if path.name != MARK]:
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)
            else:
                left.unlink()
    except OSError as error:
        raise FolderError(f"{folder} cannot be used: {error}; name another --results") from error
    return folder
