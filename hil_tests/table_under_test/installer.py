"""The technician who installs the camera, and the people who teach the table its dice.

Owns the printed card, what is said to `shaker-ctl calibrate`, and that a kind of table is prepared
once. Must not know the camera: a ruler's reading and the drawing of the compartment are all that a
technician brings.
"""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

import cv2

from hil_tests.processes import ENVIRONMENT, BenchError, program
from hil_tests.table_under_test import prepared
from hil_tests.table_under_test.prepared import Prepared
from vision.calibrating.target import Target
from vision.calibrating.target_paper import png

LESSON = "hil_tests.table_under_test.lesson"
LONGEST_S = 300.0
"""Of either program, on a busy machine; on a free one they take two seconds, and some ten."""

_TABLES = ("calibration", "second")
_SHOWN_FRAMES = 20
"""After so many frames what hands have changed is in the picture."""


def known_before(rig: Mapping[str, Any], known: Prepared | None) -> dict[str, Any]:
    """The tables `calibration` and, of a stereo camera, `second` of `[camera]` before the camera is
    measured, or as it was measured before.

    A real camera brings its own calibration. `rig` is the content of `rig.json`.
    """
    camera = rig["camera"]
    if "calibration" in camera:
        return {"calibration": dict(camera["calibration"])}
    if known is not None:
        return dict(known.camera)
    ruled = {"image_size": camera["image_size"], "height_mm": camera["ruler_mm"]}
    unknown = {"calibration": {**ruled, **rig["drawing"]}}
    if camera["lenses"] > 1:
        unknown["second"] = {"fitted": True, "height_mm": camera["ruler_mm"]}
    return unknown


@dataclass(frozen=True, slots=True)
class Installer:
    """Prepares one table whose service does not run yet."""

    settings: Path
    rig: Mapping[str, Any]
    inside: Callable[..., list[str]]
    """The command of a program, where the table's pins are."""
    hands: Callable[[str], None]
    """Does what hands do at the machine."""
    tell: Callable[[str], None]
    """Is told what is done."""

    def prepare(self, kind: str, *, is_taught: bool) -> None:
        """Measure the camera and have the table taught, both once for this `kind` of table. One
        that is not to be taught is measured alone, and nothing is kept of it.

        Does nothing for a real camera. Raises `BenchError`.
        """
        if "calibration" in self.rig["camera"]:
            return
        known = prepared.found(kind)
        if known is None:
            self.tell("the camera is measured by a printed card")
            self._measure()
        camera = tomllib.loads(self.settings.read_text("utf-8"))["camera"]
        teaching = Path(camera["teaching"])
        if known is not None and is_taught:
            teaching.write_text(known.teaching, "ascii")
        elif is_taught:
            self._run(program(LESSON, str(self.settings), str(self.rig["control"])))
            measured = {name: camera[name] for name in _TABLES if name in camera}
            prepared.keep(kind, Prepared(measured, teaching.read_text("ascii")))

    def _measure(self) -> None:
        """Measure the camera as a technician does, and leave the result in the settings."""
        card = self.settings.with_name("card.png")
        card.write_bytes(png(Target(self.rig["drawing"]["compartment_radius_mm"])))
        self.hands("force compartment")  # the service is not there to release the latch
        self.hands(f"lay card {card}")
        try:
            options = ["--yes"] if self.rig["camera"]["lenses"] == 1 else self._two_pictures()
            config = ("--config", str(self.settings))
            self._run(program("shaker_ctl.main", "calibrate", "camera", *config, *options))
        finally:
            self.hands("take card")
            self.hands("close compartment")

    def _two_pictures(self) -> list[str]:
        """Take a picture of the card on the floor and one of it as high as a die; the options that
        have `calibrate camera` use them."""
        die_mm = self.rig["drawing"]["die_mm"]
        options = ["--yes", "--raised", f"{die_mm:g}"]
        for number, raised_mm in enumerate((0, die_mm)):
            self.hands(f"raise card {raised_mm:g}")
            capture = cv2.VideoCapture(self.rig["camera"]["url"])
            shots = [capture.read() for _ in range(_SHOWN_FRAMES)]
            capture.release()
            is_taken, image = shots[-1]
            if not is_taken:
                raise BenchError(f"no picture from {self.rig['camera']['url']}")
            file = self.settings.with_name(f"card-{number}.png")
            cv2.imwrite(str(file), image)
            options += ["--photo", str(file)]
        return options

    def _run(self, command: Sequence[str]) -> None:
        """Run a program where the pins are, and tell its lines as they come. Raises `BenchError`
        where it fails or does not end."""
        lines = [f"no end after {LONGEST_S:g} s"]
        with subprocess.Popen(
            self.inside(*command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=ENVIRONMENT | {"OPENBLAS_NUM_THREADS": "1"},  # for numbers this few
        ) as ran:
            late = Timer(LONGEST_S, ran.kill)
            late.start()
            for line in filter(None, map(str.strip, ran.stdout or ())):
                lines.append(line)
                self.tell(line)
            late.cancel()
        if ran.returncode:
            raise BenchError(f"the table is not prepared: {lines[-1]}")
