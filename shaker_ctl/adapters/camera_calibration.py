"""The technician's calibration of the camera: pictures taken, the camera measured, the result kept.

Owns taking a quiet picture from the camera of the settings, and writing the table
`[camera.calibration]` into a settings file without touching anything else in it. The measuring is
vision's. It must not know people: what to do between two pictures is asked by its caller.
"""

from __future__ import annotations

import logging
import os
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from shaker_ctl.adapters.camera_parameters import CameraParameters
from shaker_ctl.adapters.camera_source import make_opener
from shaker_ctl.errors import CameraError, SettingsError
from vision.calibrate import Fit, View
from vision.camera import CameraLostError, Grabber

log = logging.getLogger(__name__)

FRAMES = 10
"""Averaged, which takes out the grain: a corner is then found to a twentieth of a pixel."""

SETTLE_FRAMES = 15
"""Left out first: a camera that has just been opened is still setting itself up."""

HEADER = "[camera.calibration]"


def take_picture(p: CameraParameters) -> np.ndarray:
    """Return one picture, (H, W, 3) uint8 BGR, averaged over `FRAMES`.

    Raises CameraError where the camera does not open or gives no frames: the service may hold it.
    """
    trouble: list[CameraLostError] = []
    wrong: list[str] = []
    grabber = Grabber(
        p.device,
        image_size=p.calibration.image_size,
        frames_per_s=p.frames_per_s,
        open_timeout_s=p.open_timeout_s,
        silent_after_s=p.silent_after_s,
        on_trouble=lambda error: trouble.append(error) if error is not None else None,
        opener=make_opener(
            p.device,
            image_size=p.calibration.image_size,
            frames_per_s=p.frames_per_s,
            open_timeout_s=p.open_timeout_s,
            silent_after_s=p.silent_after_s,
            controls=p.controls.plain(),
            on_controls=wrong.extend,
        ),
    )
    grabber.start()
    try:
        sum_, taken, number = None, 0, 0
        while taken < SETTLE_FRAMES + FRAMES:
            frame = grabber.next(number, p.open_timeout_s + p.silent_after_s)
            if frame is None:
                why = str(trouble[-1]) if trouble else f"the camera {p.device!r} gives no frames"
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


def table_text(fit: Fit, today: date, picture: Path | None) -> str:
    """The table as it stands in a settings file."""
    lines = [HEADER, f"# Measured by `shaker-ctl calibrate`: {fit.line}"]
    table: dict[str, Any] = fit.calibration.to_table()
    for key, value in table.items():
        rounded = [_short(v) for v in value] if isinstance(value, list) else _short(value)
        lines.append(f"{key} = {rounded}")
    lines.append(f'measured = "{today.isoformat()}"')
    if picture is not None:
        lines.append(f"picture = '{picture}'")
    return "\n".join(lines) + "\n"


def _short(value: float) -> float | int:
    return value if isinstance(value, int) else round(value, 5)


def write_table(file: Path, table: str) -> None:
    """Put the table into the settings file, in place of the one there; whole or not at all.

    Raises SettingsError where the file cannot be read or written, or has its calibration in another
    form, with what to do.
    """
    try:
        before = file.read_text("utf-8")
        after = _replaced(before, table, file)
        tomllib.loads(after)
        fresh = file.with_name(f".{file.name}.new")
        fresh.write_text(after, "utf-8")
        fresh.chmod(file.stat().st_mode)
        if hasattr(os, "chown") and os.geteuid() == 0:
            os.chown(fresh, file.stat().st_uid, file.stat().st_gid)
        fresh.replace(file)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"the calibration cannot be written into {file}: {error}",
            remedy="Run it as the owner of the file (sudo), or paste the table above",
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"{file} would not be valid TOML with the new table: {error}",
            remedy="Paste the table above into it by hand",
        ) from error


def _replaced(text: str, table: str, file: Path) -> str:
    lines = text.splitlines(keepends=True)
    starts = [n for n, line in enumerate(lines) if line.split("#")[0].strip() == HEADER]
    if not starts:
        if "calibration" in tomllib.loads(text).get("camera", {}):
            raise SettingsError(
                f"{file} has its calibration not under {HEADER}",
                remedy=f"Take it out, write the header {HEADER} there, and try again",
            )
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return text + gap + table
    first = starts[0]
    after = next(
        (n for n in range(first + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines)
    )
    rest = "".join(lines[after:])
    return "".join(lines[:first]) + table + ("\n" + rest if rest else "")
