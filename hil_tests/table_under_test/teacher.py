"""Somebody of the rig who teaches a table its dice, as `shaker-ctl teach` has persons do it.

Owns what they say, which is what truly lies there, and the tables that were taught before. The
reader is told nothing but by the tosses that it is taught by.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from hil_tests.report.evidence import lines_of
from hil_tests.table_under_test import installer
from hil_tests.table_under_test.lamps import values_of
from shaker_ctl import settings
from shaker_ctl.adapters.camera.confirmed_tosses import ConfirmedTosses
from shaker_ctl.commands import bench, teach
from shaker_ctl.errors import HardwareError
from shaker_ctl.reading.taught_table import Bound
from shaker_ctl.rules.vocabulary import Person, Role
from shaker_ctl.service import digests
from shaker_ctl.whole_file import put

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "taught-tables"
"""A folder for each table that was taught before, which takes minutes."""
FAY = Person("fay", Role.FLOORPERSON, "fay-1")
SERIALS = ("RIG-A", "RIG-B", "RIG-C")
FILE, CAMERA = "teaching", "camera.json"


class Looking(teach.Lesson):
    """Somebody who looks at the dice."""

    truth: Path
    tries = 10
    """For a computer that was late now and then."""

    def ask(self, person: Person) -> tuple[int, ...] | None:
        """The values; None where the dice do not lie flat."""
        values = values_of(lines_of(self.truth)[-1]["dice"])
        return None if values is None else tuple(values)

    def mend(self, error: HardwareError) -> None:
        self.tries -= 1
        if self.tries < 0:
            raise error
        time.sleep(1.0)


def recall(rig: dict[str, Any], folder: Path) -> bool:
    """Have camera and teaching as they were, if a table like this was taught; False if none was."""
    kept = _kept(rig)
    if not (kept / CAMERA).exists():
        return False
    installer.measured[installer.set_up(rig)] = json.loads((kept / CAMERA).read_text("utf-8"))
    put(folder / FILE, (kept / FILE).read_bytes())
    return True


def have_taught(rig: dict[str, Any], config: Path) -> None:
    """Toss, say what lies there, and leave the teaching beside the settings, and for others."""
    found = settings.load(config)
    bound = Bound.now(found.camera, SERIALS)
    width = found.camera.calibration.image_size[0]
    tosses = ConfirmedTosses(config.with_name(f"{FILE}.tosses"), bound, width)
    with bench.opened(found) as table:
        lesson = Looking(tosses, [FAY], table)
        lesson.truth = Path(rig["truth"])
        lesson.give(teach.USUAL)
    learnt = teach.learnt(tosses, table.calibration, bound, [FAY]).to_bytes()
    put(config.with_name(FILE), learnt)
    kept = _kept(rig)
    kept.mkdir(parents=True, exist_ok=True)
    put(kept / FILE, learnt)
    put(kept / CAMERA, json.dumps(installer.measured[installer.set_up(rig)]))


def _kept(rig: dict[str, Any]) -> Path:
    """The folder of this camera over these dice on this floor, for this program."""
    table = [rig["seed"], rig["dice"], installer.set_up(rig), digests.of_program(ROOT)]
    return KEPT / hashlib.sha256(json.dumps(table).encode()).hexdigest()[:16]
