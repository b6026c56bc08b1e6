"""A CSI camera through `rpicam-vid`, in the shape of a `cv2.VideoCapture`.

Owns the program's arguments, cutting its pipe into JPEG files, and reading back from its metadata
whether the controls are held. Must not know dice. The program is Raspberry Pi OS's own
(`rpicam-apps`) and a process of its own: no library of the system's meets one of this program's,
and a driver that crashes takes nothing with it.

A frame that does not come within its time ends the stream, as a USB camera's would: the grabber
opens it again, which starts a new process.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable

import numpy as np

from shaker_ctl import child_process
from shaker_ctl.errors import CameraError
from shaker_ctl.reading.controls import AUTOMATIC, TINTED, Controls, compare
from shaker_ctl.reading.messages import CameraSetup

PROGRAMS = ("rpicam-vid", "libcamera-vid")
"""Its name, and the one that it had until the end of 2023."""

READ_BACK_FRAMES = 6
"""Frames until a control that was set shows in the metadata: the sensor is some frames ahead."""

QUALITY = 93
"""Of the JPEG files: what `rpicam-still` takes. `rpicam-vid` alone would take 50."""

LARGEST_B = 16_000_000
"""No file of a picture is longer; a pipe that holds more without an end brings no pictures."""

_END_S = 1.0
_CHUNK_B = 1 << 18
_START, _END = b"\xff\xd8\xff", b"\xff\xd9"
"""Marks the begin and the end of a JPEG file; inside, 0xff is always escaped (ITU-T T.81, B.1.1.5).
"""


def open_rpicam(
    index: int,
    setup: CameraSetup,
    image_size: tuple[int, int],
    on_controls: Callable[[list[str]], None],
) -> RpicamCapture:
    """Start the CSI camera of this number. Raises CameraError where the program is missing."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise CameraError("a CSI camera needs rpicam-vid (sudo apt install rpicam-apps-lite)")
    return RpicamCapture(program, index, setup, image_size, on_controls)


class RpicamCapture:
    """A running program. `grab` waits for the next picture, `retrieve` gives its file."""

    def __init__(
        self,
        program: str,
        index: int,
        setup: CameraSetup,
        image_size: tuple[int, int],
        on_controls: Callable[[list[str]], None],
    ) -> None:
        """Start it. Raises OSError where it cannot be started."""
        self._setup = setup
        self._on_controls = on_controls
        self._frames = 0
        self._said = 0
        """How many pictures' metadata came."""
        self._coming = b""
        self._metadata = b""
        self._picture: bytes | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in release
        self._told, theirs = os.pipe()
        try:
            self._process = subprocess.Popen(
                [program, *_arguments(index, setup, image_size), "--metadata", f"/dev/fd/{theirs}"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                pass_fds=(theirs,),
                bufsize=0,
            )
        finally:
            os.close(theirs)
        self._opened = True

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        """True until released."""
        return self._opened

    def grab(self) -> bool:
        """Wait for the newest picture; False when none came in time.

        Raises CameraError with the program's last words where it has ended.
        """
        self._picture = None
        wait_s = self._setup.silent_after_s if self._frames else self._setup.open_timeout_s
        until_s = time.monotonic() + wait_s
        while self._opened and not self._cut():
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return False
            self._read(left_s)
        return self._picture is not None

    def retrieve(self) -> tuple[bool, np.ndarray | None]:
        """Return the file of the picture that was grabbed, (1, N) uint8."""
        if self._picture is None:
            return False, None
        return True, np.frombuffer(self._picture, np.uint8).reshape(1, -1)

    def set(self, _number: int, _value: float) -> bool:
        """Controls are set at the opening."""
        return False

    def get(self, _number: int) -> float:
        """No OpenCV property is known here."""
        return -1.0

    def release(self) -> None:
        """End the program. Never raises."""
        if not self._opened:
            return
        self._opened = False
        self._process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S / 4)
        child_process.end(self._process)
        os.close(self._told)
        self._errors.close()

    def _read(self, wait_s: float) -> None:
        """Take what the program has for us, or wait so long for it."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        ready, _, _ = select.select([pipe, self._told], [], [], wait_s)
        if self._told in ready:
            self._hear(os.read(self._told, _CHUNK_B))
        if pipe in ready:
            chunk = os.read(pipe, _CHUNK_B)
            self._coming += chunk
            if not chunk:
                raise CameraError(f"its program ended: {self._last_words()}")
            if len(self._coming) > LARGEST_B:
                raise CameraError("its program sends no JPEG files")

    def _cut(self) -> bool:
        """Take the newest whole file out of what has come; older ones are let go.

        A frame that was exposed before it was asked for is last round's.
        """
        end = self._coming.rfind(_END)
        start = self._coming.rfind(_START, 0, max(end, 0))
        if start < 0:
            return False
        self._picture = self._coming[start : end + len(_END)]
        self._coming = self._coming[end + len(_END) :]
        self._frames += 1
        return True

    def _hear(self, chunk: bytes) -> None:
        """Metadata: `NAME=VALUE` lines for each picture, and an empty line."""
        *whole, self._metadata = (self._metadata + chunk).split(b"\n\n")
        for text in whole:
            self._said += 1
            if self._said == READ_BACK_FRAMES:
                self._judge(text.decode(errors="replace"))

    def _judge(self, text: str) -> None:
        asked, said = self._setup.controls, _said(text)
        wrong = [] if asked.exposure_ms is not None else [AUTOMATIC]
        # A camera without colour has no gains of colours.
        if said.colour_gains is not None and not (asked.colour_gains or asked.white_balance_k):
            wrong.append(TINTED)
        self._on_controls(wrong + compare(asked, said))

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"status {self._process.returncode}"


def _arguments(index: int, setup: CameraSetup, image_size: tuple[int, int]) -> list[str]:
    """The program's options (raspberrypi/rpicam-apps, core/options.cpp)."""
    asked = setup.controls
    found = {
        "camera": f"{index}",
        "codec": "mjpeg",
        "quality": f"{QUALITY}",
        "width": f"{image_size[0]}",
        "height": f"{image_size[1]}",
        "framerate": f"{setup.frames_per_s:g}",
        "timeout": "0",
        "output": "-",
        "metadata-format": "txt",
    }
    if asked.exposure_ms is not None:
        found["shutter"] = f"{round(asked.exposure_ms * 1000)}"
    if asked.gain is not None:
        found["gain"] = f"{asked.gain:g}"
    if asked.colour_gains is not None:
        found["awbgains"] = "{:g},{:g}".format(*asked.colour_gains)
    if asked.focus is not None:
        found |= {"autofocus-mode": "manual", "lens-position": f"{asked.focus:g}"}
    words = [word for name, value in found.items() for word in (f"--{name}", value)]
    return ["--nopreview", "--flush", *words]


def _said(text: str) -> Controls:
    """What libcamera says. A colour temperature is measured there, and cannot be set."""
    values = {
        name: [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", value)]
        for name, _, value in (line.partition("=") for line in text.splitlines())
    }
    exposure, gain, focus = (
        next(iter(values.get(name, [])), None)
        for name in ("ExposureTime", "AnalogueGain", "LensPosition")
    )
    gains = values.get("ColourGains", [])
    return Controls(
        exposure_ms=None if exposure is None else exposure / 1000.0,
        gain=gain,
        colour_gains=(gains[0], gains[1]) if len(gains) == 2 else None,
        focus=focus,
    )
