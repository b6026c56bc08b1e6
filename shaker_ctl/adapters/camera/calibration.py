"""The technician's calibration of the camera: pictures taken, the camera measured, the result kept.

Owns taking a quiet picture from the camera of the settings, and which keys of a settings file a
calibration changes. The measuring is vision's. It must not know people: what to do between two
pictures is asked by its caller.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from shaker_ctl.adapters.camera.grabber import Grabber
from shaker_ctl.adapters.camera.source import make_opener
from shaker_ctl.errors import CameraError
from shaker_ctl.frozen import frozen
from shaker_ctl.reading.parameters import CameraParameters
from vision.calibrating.calibrate import Fit, View
from vision.calibration import Calibration

log = logging.getLogger(__name__)

FRAMES = 10
"""Averaged, which takes out the grain: a corner is then found to a twentieth of a pixel."""

SETTLE_FRAMES = 15
"""Left out first: a camera that has just been opened is still setting itself up."""


def take_picture(p: CameraParameters) -> np.ndarray:
    """Return one picture, (H, W, 3) uint8 BGR, averaged over `FRAMES`; of a stereo camera it shows
    both lenses' pictures side by side.

    Raises CameraError where the camera does not open or gives no frames: the service may hold it.
    """
    trouble: list[str] = []
    wrong: list[str] = []
    sent = Calibration.from_table(p.calibration_table()).frame_size
    grabber = Grabber(
        p.device,
        make_opener(p.setup(), sent, wrong.extend),
        frames_per_s=p.frames_per_s,
        on_trouble=lambda why: trouble.append(why) if why is not None else None,
    )
    grabber.start()
    try:
        sum_, taken, number = None, 0, 0
        while taken < SETTLE_FRAMES + FRAMES:
            shot = grabber.next(number, p.open_timeout_s + p.silent_after_s)
            frame = None if shot is None else shot.frame()
            if frame is None:
                why = trouble[-1] if trouble else f"the camera {p.device!r} gives no frames"
                raise CameraError(
                    why, remedy="Stop the service first: systemctl stop shaker-ctl; check the cable"
                )
            number = frame.sequence
            taken += 1
            if taken > SETTLE_FRAMES:
                image = frame.image.astype(np.float32)
                sum_ = image if sum_ is None else sum_ + image
        if wrong:
            log.warning("[camera.controls]: %s", "; ".join(wrong))
        assert sum_ is not None
        return np.asarray(np.clip(np.rint(sum_ / FRAMES), 0, 255), np.uint8)
    finally:
        grabber.stop()


def draw_fit(view: View, found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the picture with every corner as seen (green) and as expected (red, ten times off)."""
    image = view.image if view.image.ndim == 3 else cv2.cvtColor(view.image, cv2.COLOR_GRAY2BGR)
    large = cv2.resize(image, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
    for seen, expected in zip(*found, strict=True):
        at = tuple(int(v) for v in np.rint(seen * 2 + 0.5))
        off = tuple(int(v) for v in np.rint((seen + 10.0 * (expected - seen)) * 2 + 0.5))
        cv2.circle(large, at, 4, (60, 200, 60), 1, cv2.LINE_AA)
        cv2.line(large, at, off, (40, 40, 230), 1, cv2.LINE_AA)
    return np.asarray(large)


@frozen
class Measured:
    """What was measured of a camera, by the names of the settings' keys."""

    values: dict[str, Any]
    notes: dict[str, str]
    """Comments behind keys: how well a lens is known."""


def measured(fits: Sequence[Fit], today: date, picture: Path | None) -> Measured:
    """What was measured of the camera, and of its second lens if there are two fits; the first has
    both in its calibration."""
    calibration, right = fits[0].calibration, fits[0].calibration.right
    tables = {"camera.calibration": calibration.to_table()}
    if picture is not None:
        tables["camera.calibration"]["picture"] = str(picture)
    if right is not None:
        tables["camera.second"] = {"fitted": True, **right.to_right_table()}
    values: dict[str, Any] = {}
    notes: dict[str, str] = {}
    for (table, found), fit in zip(tables.items(), fits, strict=True):
        values |= {f"{table}.{key}": _rounded(value) for key, value in found.items()}
        values[f"{table}.measured"] = today.isoformat()
        notes[f"{table}.measured"] = fit.line
    return Measured(values, notes)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 5) if isinstance(value, float) else value
