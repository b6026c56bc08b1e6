"""Whole programs, counted: commands, the camera process, the service.

Owns what each is given to work on. Must not know how counts are judged.
"""

from __future__ import annotations

import json
import shlex
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import cv2

from hil_tests.arm64 import camera, reading, service, settling
from hil_tests.arm64.emulator import EmulationError, Emulator, marks_of
from hil_tests.arm64.processors import Core
from hil_tests.reliability.bytes_cut import forged
from hil_tests.rig.lamp_box.box import LampBox
from hil_tests.rig.lamp_box.modbus_unit import ModbusUnit
from hil_tests.rig.wires.line import BoxEnd, Line, Terminal
from hil_tests.rig.wires.uart import Framing
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.adapters.camera.dice_camera import DiceCamera
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.errors import CameraError
from shaker_ctl.journal.record import Entry
from shaker_ctl.reading.parameters import CameraParameters

ROUNDS = 10
START_S = 400.0
"""Of an emulated start on a busy machine."""


def command(emulator: Emulator, core: Core, folder: Path, *words: str) -> int:
    """Instructions of `shaker-ctl WORDS`, from its start to its end."""
    program = f"import sys; sys.argv = {['shaker-ctl', *words]!r}"
    program += "; from shaker_ctl.main import app; app()"
    return sum(mark.instructions for mark in emulator.run(core, folder, ["-c", program]))


def write_journal(path: Path) -> None:
    """A journal of `ROUNDS` settled rounds."""
    entries = []
    for number in range(1, ROUNDS + 1):
        closed = {
            "type": "RecordRound",
            "round": number,
            "ending": "settled",
            "wagers": "settled",
            "cause": None,
            "values": [1, 2, 3],
            "source": "verified",
        }
        body = {"event": {"type": "TimerExpired"}, "rows": ["a row"], "decision": [closed]}
        entries.append(Entry("step", body, round=number))
    with closing(DiskJournal(path)) as store:
        store.write(
            forged(store.head(), entries, lambda n: f"2026-11-20T12:{n + 1:02}:00.000+00:00")
        )


def camera_process(emulator: Emulator, core: Core, folder: Path) -> int:
    """Instructions of the camera process of the taught table in `folder`, which `frames` wrote,
    from its start to its first frame."""
    picture = cv2.imread(str(folder / "flat" / "0.png"))
    assert picture is not None
    film = folder / "film.avi"
    height, width = picture.shape[:2]
    writer = cv2.VideoWriter(str(film), cv2.VideoWriter.fourcc(*"MJPG"), 30, (width, height))
    for _ in range(900):
        writer.write(picture)
    writer.release()
    counts = folder / "counts"
    counts.unlink(missing_ok=True)
    seen = json.loads((folder / reading.CAMERA).read_text("utf-8"))
    parameters = CameraParameters.model_validate(
        {
            "device": f"file://{film}",
            "second": {"fitted": True, **seen.pop("second")},
            "calibration": seen,
            "start_timeout_s": 120.0,
            "answer_timeout_s": 10.0,
            "open_timeout_s": 10.0,
            "silent_after_s": 2.0,
        }
    )
    taught = (folder / reading.TEACHING).read_bytes()
    watched = DiceCamera(parameters, lambda _message: None, taught=taught)
    with _python(emulator, core, folder, counts):
        watched.start()
        try:
            watched.wait_ready()
            _wait_for_mark(counts, lambda: None)
        except CameraError as error:
            raise EmulationError(f"the emulated camera process: {error.line()}") from error
        finally:
            watched.stop()
    return marks_of(counts.read_text("ascii"))[0].instructions


def settling_of_a_round(emulator: Emulator, core: Core, folder: Path) -> int:
    """Instructions from a verdict to lit lamps, of a box that is not emulated."""
    device, end = folder / "lamp", BoxEnd()
    line = Line("lamp", Terminal(device), end, framing=Framing(115200))
    ModbusUnit(LampBox(memory=folder / "box.json"), end).thread.start()
    (folder / "settled.jsonl").unlink(missing_ok=True)
    with closing(line):
        marks = emulator.run(core, folder, ["-m", settling.__name__, str(device)])
    return [each.instructions for each in marks if each.number == settling.LIT][-1]


@contextmanager
def _python(emulator: Emulator, core: Core, folder: Path, counts: Path) -> Iterator[None]:
    """Have this process's `sys.executable` be the emulated Python, with the program that counts."""
    script = folder / "python"
    words = shlex.join(emulator.words(core, counts, folder))
    script.write_text(f'#!/bin/sh\nexec {words} -m {camera.__name__} "$@"\n', "utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    before, sys.executable = sys.executable, str(script)
    try:
        yield
    finally:
        sys.executable = before


def _wait_for_mark(counts: Path, check: Callable[[], None]) -> None:
    """Wait for the counter's first line; `check` raises where it can no longer come."""
    deadline = time.monotonic() + START_S
    while not (counts.exists() and counts.read_text("ascii")):
        check()
        if time.monotonic() > deadline:
            raise EmulationError(f"an emulated start took more than {START_S:g} s")
        time.sleep(0.1)


class _EmulatedSession(Session):
    """A table on the virtual rig whose service is emulated."""

    emulator: Emulator
    core: Core

    def start_service(self) -> None:
        counts = self.folder / "counts"
        counts.unlink(missing_ok=True)  # of a start before, which compiled
        words = self.emulator.words(self.core, counts, self.folder, first_thread=True)
        words.insert(words.index("env") + 2, f"SHAKER_CTL_OWN_PYTHON={sys.executable}")
        command = [*words, "-m", service.__name__, str(self.folder / "settings.toml")]
        self._service = self._started("the service", command, "service.log", nice=-10)
        _wait_for_mark(counts, self.check)

    def settings(self) -> dict[str, Any]:
        """With the patience that an emulated processor needs."""
        settings = super().settings()
        settings["camera"]["start_timeout_s"] = 120.0
        return settings


def service_to_ready(emulator: Emulator, core: Core, folder: Path) -> int:
    """Instructions of the service, from its start to READY, without its camera process.

    Of its first thread, which is the one that starts it: the others already watch the table while
    the first one waits for the camera, the longer the busier this machine is.
    """
    session = _EmulatedSession(Plan(pace="brisk"), folder)
    session.emulator, session.core = emulator, core
    with session:
        marks = marks_of((folder / "counts").read_text("ascii"))
    return marks[0].instructions
