"""What can be wrong when the service starts again, and how it is made right.

Owns each of those by name, as two acts on a table whose service does not run. Must not know what
the service says to it.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from hil_tests.reliability.bench import Bench
from hil_tests.reliability.tested_session import TrialError
from shaker_ctl.adapters.disk.sqlite_journal import volume_numbers, volume_path

SUFFIXES = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class Broken:
    """Made wrong, and right again."""

    wrong: Callable[[Bench], None]
    right: Callable[[Bench], None]


def _copies(bench: Bench) -> tuple[Path, Path]:
    return bench.session.journal, bench.session.second


def _files(copy: Path) -> list[Path]:
    """All volumes of a copy: the table has more than one where its day ended behind it."""
    volumes = [volume_path(copy, number) for number in volume_numbers(copy)]
    return [path.with_name(path.name + suffix) for path in volumes for suffix in SUFFIXES]


def _kept(copy: Path) -> Path:
    """The folder that the files of a copy stand in while something else has their place."""
    return copy.with_name(copy.name + ".kept")


def _away(copy: Path) -> None:
    _keep(copy)
    for file in _files(copy):
        file.unlink(missing_ok=True)


def _keep(copy: Path) -> None:
    _kept(copy).mkdir()
    for file in _files(copy):
        if file.exists():
            shutil.copy2(file, _kept(copy))


def _back(copy: Path) -> None:
    for file in _files(copy):
        file.unlink(missing_ok=True)
    for file in _kept(copy).iterdir():
        file.rename(copy.with_name(file.name))
    _kept(copy).rmdir()


def _edit(copy: Path, statement: str) -> None:
    """Change rows of the open volume behind the service's back, as with a database tool."""
    _keep(copy)
    with closing(sqlite3.connect(volume_path(copy, volume_numbers(copy)[-1]))) as db:
        db.execute("DROP TRIGGER IF EXISTS no_update")
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{name}"')
        db.execute(statement)
        db.commit()


def _link(at: Path, to: Path) -> None:
    """Put a link where a file of the table is, or would be."""
    at.unlink(missing_ok=True)
    at.symlink_to(to)


def _lock(bench: Bench) -> Path:
    return bench.session.journal.with_name(bench.session.journal.name + ".lock")


def _bystander(bench: Bench) -> Path:
    return bench.session.folder / "bystander"


def _plant_at_the_lock(bench: Bench) -> None:
    _bystander(bench).write_text(BYSTANDER)
    _link(_lock(bench), _bystander(bench))


def _clear_the_lock(bench: Bench) -> None:
    """Raises TrialError where a start wrote through the link."""
    _lock(bench).unlink()
    if _bystander(bench).read_text() != BYSTANDER:
        raise TrialError("a start wrote into a file that a planted link names")


def _plant_at_the_second(bench: Bench) -> None:
    """Both copies, on their own media to all appearance, end in one file of somebody's choice."""
    second = _copies(bench)[1]
    _away(second)
    _link(second, _kept(second) / second.name)


BYSTANDER = "not the table's\n"

LAST = "(SELECT max(sequence) FROM record)"
FLIP = (
    'UPDATE record SET body = CAST(replace(CAST(body AS TEXT), \'"kind":"step"\', '
    '\'"kind":"stop"\') AS BLOB) WHERE sequence = '
    f"(SELECT max(sequence) FROM record WHERE sequence < {LAST} - 3 "
    'AND instr(CAST(body AS TEXT), \'"kind":"step"\'))'
)
"""One letter of one record: the chain no longer fits."""
CUT = f"DELETE FROM record WHERE sequence > {LAST} - 5"
OTHER = "UPDATE identity SET name = 'another journal'"


def _rig(wrong: str, right: str) -> Broken:
    return Broken(_asking(f"inject {wrong}"), _asking(right))


def _asking(command: str) -> Callable[[Bench], None]:
    def ask(bench: Bench) -> None:
        bench.ask_rig(command)

    return ask


BROKEN: dict[str, Broken] = {
    "main missing": Broken(lambda b: _away(_copies(b)[0]), lambda b: _back(_copies(b)[0])),
    "main flipped": Broken(lambda b: _edit(_copies(b)[0], FLIP), lambda b: _back(_copies(b)[0])),
    "main cut": Broken(lambda b: _edit(_copies(b)[0], CUT), lambda b: _back(_copies(b)[0])),
    "second missing": Broken(lambda b: _away(_copies(b)[1]), lambda b: _back(_copies(b)[1])),
    "second foreign": Broken(lambda b: _edit(_copies(b)[1], OTHER), lambda b: _back(_copies(b)[1])),
    "lock planted": Broken(_plant_at_the_lock, _clear_the_lock),
    "second planted": Broken(_plant_at_the_second, lambda b: _back(_copies(b)[1])),
    "lamp silent": _rig("lamp_silent", "heal lamp_silent"),
    "lamp exchanged": _rig("lamp_other_box", "heal lamp_other_box"),
    "lamp not a box": _rig("lamp_not_a_box", "heal lamp_not_a_box"),
    "lamp other map": _rig("lamp_other_map", "heal lamp_other_map"),
    "gpio gone": _rig("pigpiod_terminate", "heal pigpiod_terminate"),
    "camera gone": _rig("camera_closed", "heal camera_closed"),
}
