"""What a calibration leaves: keys of the settings, and a picture with the corners.

Owns these two. The measuring is vision's.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from shaker_ctl.frozen import frozen
from vision.calibrating.calibrate import Fit, View


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
