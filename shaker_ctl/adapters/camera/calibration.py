"""The technician's calibration of the camera: pictures taken, the camera measured, the result kept.

Owns taking a quiet picture from the camera of the settings, and writing the tables
`[camera.calibration]` and `[camera.second]` into a settings file, without touching anything else in
it. The measuring is
vision's. It must not know people: what to do between two pictures is asked by its caller; nor the
whole of the settings: whether a changed file can still be read is asked of its caller, too.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from tomlkit.exceptions import TOMLKitError

from shaker_ctl.adapters.camera.grabber import Grabber
from shaker_ctl.adapters.camera.source import make_opener
from shaker_ctl.errors import CameraError, SettingsError
from shaker_ctl.frozen import frozen
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.settings_text import with_table
from shaker_ctl.whole_file import put
from vision.calibrating.calibrate import Fit, View
from vision.calibration import Calibration

log = logging.getLogger(__name__)

FRAMES = 10
"""Averaged, which takes out the grain: a corner is then found to a twentieth of a pixel."""

SETTLE_FRAMES = 15
"""Left out first: a camera that has just been opened is still setting itself up."""

PATH, SECOND = ("camera", "calibration"), ("camera", "second")

MARKER = "# Measured by `shaker-ctl calibrate`"
"""Begins the comment that a calibration leaves, and the next one replaces."""

Check = Callable[[str], object]
"""Reads the text of a whole settings file, as every command does. Raises SettingsError."""


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
class MeasuredTable:
    """One table of a settings file, as it was measured."""

    path: tuple[str, ...]
    values: dict[str, Any]
    note: str
    """The comment over the keys: how well they are known."""

    @property
    def header(self) -> str:
        return f"[{'.'.join(self.path)}]"

    def put(self, text: str) -> str:
        """The text of a settings file with this table in it. Raises as `with_table`."""
        return with_table(text, self.path, self.values, self.note, MARKER)


def tables_of(fits: Sequence[Fit], today: date, picture: Path | None) -> list[MeasuredTable]:
    """What was measured of the camera, and of its second lens if there are two fits; the first has
    both in its calibration."""
    calibration = fits[0].calibration
    values = _rounded(calibration.to_table()) | {"measured": today.isoformat()}
    if picture is not None:
        values["picture"] = str(picture)
    tables = [MeasuredTable(PATH, values, f"{MARKER}: {fits[0].line}")]
    if calibration.right is not None:
        values = _rounded(calibration.right.to_right_table())
        values = {"fitted": True, **values, "measured": today.isoformat()}
        tables.append(MeasuredTable(SECOND, values, f"{MARKER}: {fits[1].line}"))
    return tables


def _rounded(table: dict[str, Any]) -> dict[str, Any]:
    return {
        key: [_short(v) for v in value] if isinstance(value, list) else _short(value)
        for key, value in table.items()
    }


def _short(value: float) -> float | int:
    return value if isinstance(value, int) else round(value, 5)


def with_calibration(file: Path, tables: Sequence[MeasuredTable], check: Check) -> str:
    """Return the text of the settings file with the tables in it, which `check` has read.

    Raises SettingsError, saying what to do, where the file cannot be read, has its calibration in
    another form, or would be refused by every later command.
    """
    try:
        with file.open(encoding="utf-8", newline="") as opened:  # line ends stay as they are
            after = opened.read()
        for table in tables:
            after = table.put(after)
    except (OSError, UnicodeError) as error:
        raise _not_written(file, error) from error
    except KeyError as error:
        raise SettingsError(
            f"{file} has its calibration not under {table.header}",
            remedy=f"Take it out, write the header {table.header} there, and try again",
        ) from error
    except TOMLKitError as error:
        raise SettingsError(
            f"{file} is not valid TOML: {error}", remedy="Mend that line and try again"
        ) from error
    try:
        check(after)
    except SettingsError as error:
        raise SettingsError(
            f"what was measured cannot be true, and {file} stays as it was: {error}",
            remedy="Check the options and the pictures, and measure again",
        ) from error
    return after


def write_tables(file: Path, tables: Sequence[MeasuredTable], check: Check) -> None:
    """Put the tables into the settings file, in place of those there; whole or not at all.

    Where `file` is a link, what it leads to is changed. Raises SettingsError as `with_calibration`
    does, and where the file cannot be written.
    """
    after = with_calibration(file, tables, check)
    try:
        real = file.resolve(strict=True)
        old = real.stat()

        def as_before(number: int) -> None:
            if os.geteuid() == 0:
                os.fchown(number, old.st_uid, old.st_gid)
            os.fchmod(number, old.st_mode & 0o7777)

        put(real, after, as_before)
    except OSError as error:
        raise _not_written(file, error) from error


def _not_written(file: Path, error: Exception) -> SettingsError:
    return SettingsError(
        f"the calibration cannot be written into {file}: {error}",
        remedy="Run it as the owner of the file (sudo), or paste the table above",
    )
