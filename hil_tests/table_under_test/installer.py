"""The technician who installs the camera: lays the printed card, and has the table measure it.

Owns the card, what is said to `shaker-ctl calibrate`, and which cameras were measured before. Must
not know the camera: a ruler's reading and the drawing of the compartment are all that he brings.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2

from vision.calibrating.target import Target
from vision.calibrating.target_paper import png

MEASURE_S = 180.0
"""For the command, on a busy machine; it takes two seconds on a free one."""

_TABLES = ("calibration", "second")
_SHOWN_FRAMES = 20
"""After so many frames what hands have changed is in the picture."""

measured: dict[str, dict[str, Any]] = {}
"""What came out for each camera set-up of this run."""


class InstallationError(Exception):
    """The camera could not be measured; the text is what the command said."""


def known_before(rig: dict[str, Any]) -> dict[str, Any]:
    """The tables `calibration` and, of a stereo camera, `second` of `[camera]` before the camera is
    measured, or as it was measured before.

    A real camera brings its own calibration. `rig` is the content of `rig.json`.
    """
    camera = rig["camera"]
    if "calibration" in camera:
        return {"calibration": dict(camera["calibration"])}
    ruled = {"image_size": camera["image_size"], "height_mm": camera["ruler_mm"]}
    unknown = {"calibration": {**ruled, **rig["drawing"]}}
    if camera["lenses"] > 1:
        unknown["second"] = {"fitted": True, "height_mm": camera["ruler_mm"]}
    return measured.get(set_up(rig)) or unknown


def install(
    settings: Path, rig: dict[str, Any], program: Sequence[str], hands: Callable[[str], None]
) -> None:
    """Measure the camera as a technician does and leave the result in `settings`.

    Does nothing for a real camera, or for a set-up that this run has measured. `program` starts
    `shaker-ctl`; `hands` does what hands do at the machine. Raises `InstallationError`.
    """
    if "calibration" in rig["camera"] or set_up(rig) in measured:
        return
    card = settings.with_name("card.png")
    card.write_bytes(png(Target(rig["drawing"]["compartment_radius_mm"])))
    hands("force compartment")  # the service is not there to release the latch
    hands(f"lay card {card}")
    try:
        options = ["--yes"] if rig["camera"]["lenses"] == 1 else _two_pictures(settings, rig, hands)
        ran = subprocess.run(
            [*program, "calibrate", "camera", "--config", str(settings), *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=MEASURE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise InstallationError(f"shaker-ctl calibrate: no end after {MEASURE_S:g} s") from late
    finally:
        hands("take card")
        hands("close compartment")
    if ran.returncode:
        raise InstallationError((ran.stderr or ran.stdout).strip())
    written = tomllib.loads(settings.read_text("utf-8"))
    tables = written["camera"]
    measured[set_up(rig)] = {name: tables[name] for name in _TABLES if name in tables}


def _two_pictures(
    settings: Path, rig: dict[str, Any], hands: Callable[[str], None]
) -> Sequence[str]:
    """Take a picture of the card on the floor and one of it as high as a die; the options that have
    `calibrate camera` use them. Raises `InstallationError` where the camera gives none."""
    die_mm = rig["drawing"]["die_mm"]
    options = ["--yes", "--raised", f"{die_mm:g}"]
    for number, raised_mm in enumerate((0, die_mm)):
        hands(f"raise card {raised_mm:g}")
        capture = cv2.VideoCapture(rig["camera"]["url"])
        shots = [capture.read() for _ in range(_SHOWN_FRAMES)]
        capture.release()
        is_taken, image = shots[-1]
        if not is_taken:
            raise InstallationError(f"no picture from {rig['camera']['url']}")
        file = settings.with_name(f"card-{number}.png")
        cv2.imwrite(str(file), image)
        options += ["--photo", str(file)]
    return options


def set_up(rig: dict[str, Any]) -> str:
    """Two rigs that agree in this have one camera over one compartment."""
    return json.dumps([rig["camera"]["serial"], rig["drawing"]], sort_keys=True)
