"""What can be wrong when the service starts again, and how it is made right.

Owns each of those by name, as two acts on a table whose service does not run. Must not know what
the service says to it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hil_tests.processes import TrialError
from hil_tests.reliability.acts import BreakStart
from hil_tests.reliability.bench import Bench
from shaker_ctl.adapters.disk.disk_journal import volume_numbers, volume_path
from shaker_ctl.journal.record import STEP_MARK, canonical


@dataclass(frozen=True, slots=True)
class Broken:
    """Made wrong, and right again."""

    wrong: Callable[[Bench], object]
    right: Callable[[Bench], object]


def _copies(bench: Bench) -> tuple[Path, Path]:
    return bench.session.journal, bench.session.second


def _files(copy: Path) -> list[Path]:
    """All volumes of a copy: the table has more than one where its day ended behind it."""
    return [volume_path(copy, number) for number in volume_numbers(copy)]


def _kept(copy: Path) -> Path:
    """The folder that the files of a copy stand in while something else has their place."""
    return copy.with_name(copy.name + ".kept")


def _each(bench: Bench, act: Callable[[Path], None]) -> None:
    for copy in _copies(bench):
        act(copy)


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


def _edit(copy: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change lines of the open volume behind the service's back, as with an editor."""
    _keep(copy)
    file = _files(copy)[-1]
    file.write_bytes(b"".join(change(file.read_bytes().splitlines(keepends=True))))


def _flip(lines: list[bytes]) -> list[bytes]:
    """Change one letter of one record: the chain no longer fits."""
    at = max(n for n, line in enumerate(lines[:-4]) if STEP_MARK in line)
    return [*lines[:at], lines[at].replace(STEP_MARK, b'"kind":"stop"'), *lines[at + 1 :]]


def _cut(lines: list[bytes]) -> list[bytes]:
    return lines[:-5]


def _foreign(lines: list[bytes]) -> list[bytes]:
    header = json.loads(lines[0])
    return [canonical({**header, "journal": "another journal"}) + b"\n", *lines[1:]]


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


BROKEN: dict[str, Broken] = {
    "main missing": Broken(lambda b: _away(_copies(b)[0]), lambda b: _back(_copies(b)[0])),
    "main flipped": Broken(lambda b: _edit(_copies(b)[0], _flip), lambda b: _back(_copies(b)[0])),
    "both cut": Broken(lambda b: _each(b, partial(_edit, change=_cut)), lambda b: _each(b, _back)),
    "second missing": Broken(lambda b: _away(_copies(b)[1]), lambda b: _back(_copies(b)[1])),
    "second foreign": Broken(
        lambda b: _edit(_copies(b)[1], _foreign), lambda b: _back(_copies(b)[1])
    ),
    "lock planted": Broken(_plant_at_the_lock, _clear_the_lock),
    "second planted": Broken(_plant_at_the_second, lambda b: _back(_copies(b)[1])),
}


def broken(act: BreakStart) -> Broken:
    """What an act breaks; a fault of the rig is healed afterwards."""
    if not act.of_rig:
        return BROKEN[act.what]
    name = act.what.split()[0]
    return Broken(lambda b: b.ask_rig(f"inject {act.what}"), lambda b: b.ask_rig(f"heal {name}"))
