"""The camera: read all the time, and only the newest frame kept.

Owns: the thread that grabs, and the statistics of the stream. Must not know dice, nor how a device
is opened (`source`).

A reader that pauses is given old frames afterwards: after 3 s of idling, `cv2.VideoCapture` on an
HTTP stream hands out 3 s old pictures and needs up to 90 reads to catch up, and refuses
`CAP_PROP_BUFFERSIZE`. So one thread does nothing but grab. `CAP_PROP_FPS` says 25 whatever is true;
the rate is measured.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import cv2
import numpy as np

from shaker_ctl.errors import ShakerError
from shaker_ctl.frozen import frozen
from vision.frame import Frame, digest

log = logging.getLogger(__name__)

_START_OF_SCAN = b"\xff\xda"
"""Marks the picture's own data in a JPEG file (ITU-T T.81, B.1.1.3)."""
_RATE_FRAMES = 60
_REOPEN_WAITS_S = (0.1, 0.3, 1.0, 2.0)


class Shot:
    """What one grab brought: a picture, or the camera's own JPEG file of it. A file is decoded when
    somebody asks for its picture, and then once: most are only compared."""

    def __init__(
        self, taken: np.ndarray, t_capture: float, sequence: int, part_px: int | None = None
    ) -> None:
        """`taken`: (H, W, 3) uint8 BGR, or the bytes of a JPEG file as (1, N) uint8. `part_px`: as
        in `Grabber`."""
        self._part_px = part_px
        self.t_capture = t_capture
        self.sequence = sequence
        self._coded = taken.tobytes() if taken.ndim == 2 and taken.shape[0] == 1 else b""
        self._frame = None if self._coded else self._parted(Frame(taken, t_capture, sequence))
        self._is_spoiled = False

    @property
    def fingerprint(self) -> int:
        """A number that two grabs share only if their pictures are the same to the last bit.

        Of a file only the picture's data counts, so that another comment makes no other picture.
        """
        if self._coded:
            return zlib.crc32(memoryview(self._coded)[max(0, self._coded.rfind(_START_OF_SCAN)) :])
        assert self._frame is not None
        return digest(self._frame.image)

    def frame(self) -> Frame | None:
        """The picture; None where the file cannot be decoded."""
        if self._frame is None and not self._is_spoiled:
            image = cv2.imdecode(np.frombuffer(self._coded, np.uint8), cv2.IMREAD_COLOR)
            self._is_spoiled = image is None
            if image is not None:
                whole = Frame(image, self.t_capture, self.sequence, self._coded)
                self._frame = self._parted(whole)
        return self._frame

    def _parted(self, frame: Frame) -> Frame:
        return frame if self._part_px is None else frame.parted(self._part_px)


class Capture(Protocol):
    """What frames are grabbed from; `cv2.VideoCapture` is one."""

    def isOpened(self) -> bool: ...  # noqa: N802 - OpenCV's name

    def grab(self) -> bool: ...

    def retrieve(self) -> tuple[bool, Any]: ...

    def get(self, number: int, /) -> float: ...

    def set(self, number: int, value: float, /) -> bool: ...

    def release(self) -> None: ...


@frozen
class StreamState:
    """How the stream is doing."""

    frames: int
    fps: float
    """Over the last two seconds."""
    late: int
    """Frames that came more than half a period late, since the start."""
    newest: float
    """When the last frame was grabbed, monotonic seconds; 0 before the first."""


class Grabber:
    """Reads one camera all the time on its own thread."""

    def __init__(
        self,
        device: int | str,
        open_device: Callable[[], Capture | None],
        *,
        frames_per_s: float,
        on_trouble: Callable[[str | None], None],
        part_px: int | None = None,
    ) -> None:
        """`device` is for messages; `source.make_opener` gives what opens it. `on_trouble` is
        called from any thread: with what is wrong when the stream is lost, with None when it is
        back. The grabber opens a lost stream again by itself. `part_px`: width of one
        picture, where two lenses show theirs side by side."""
        self._device = device
        self._open = open_device
        self._period_s = 1.0 / frames_per_s
        self._on_trouble = on_trouble
        self._part_px = part_px
        self._is_stopping = threading.Event()
        self._is_blind = threading.Event()
        self._fresh = threading.Condition()
        self._shot: Shot | None = None
        self._frames = 0
        self._late = 0
        self._newest = 0.0
        self._times: deque[float] = deque(maxlen=_RATE_FRAMES)
        self._telling = threading.RLock()
        self._is_lost = False
        self._thread = threading.Thread(target=self._run, name="grab", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end; a driver that hangs is left to the process's own end."""
        self._is_stopping.set()
        self._thread.join(timeout=0.5)

    def blind(self, is_blind: bool) -> None:
        """While blind, frames are taken off the stream undecoded, and none is kept."""
        if is_blind:
            self._is_blind.set()
            with self._fresh:
                self._shot = None
        else:
            self._is_blind.clear()

    def next(self, after: int, timeout_s: float) -> Shot | None:
        """The newest grab whose sequence is above `after`, or None when none came in time."""
        with self._fresh:
            self._fresh.wait_for(lambda: self._has_after(after), timeout_s)
            return self._shot if self._has_after(after) else None

    @property
    def newest(self) -> Frame | None:
        """The newest frame; None before the first, while blind, and where it cannot be decoded."""
        with self._fresh:
            shot = self._shot
        return None if shot is None else shot.frame()

    @property
    def state(self) -> StreamState:
        with self._fresh:
            times = list(self._times)
            span = times[-1] - times[0] if len(times) > 1 else 0.0
            fps = (len(times) - 1) / span if span > 0 else 0.0
            return StreamState(self._frames, fps, self._late, self._newest)

    def judge_silence(self, longest_s: float) -> None:
        """Say that the stream is lost if no frame came for so long, whatever its driver waits for:
        V4L2 in OpenCV notices a camera that stopped after whole seconds. Call it all the time."""
        with self._telling:
            newest = self.state.newest
            if newest and not self._is_lost and time.monotonic() - newest > longest_s:
                self._lose("stopped giving frames")

    def _has_after(self, after: int) -> bool:
        return self._shot is not None and self._shot.sequence > after

    # ── The grabber's thread ────────────────────────────────────────────────

    def _run(self) -> None:
        failures = 0
        while not self._is_stopping.is_set():
            before = self._frames
            try:
                reason = self._stream()
            except ShakerError as error:
                reason = f"fails: {error.line()}"
            except Exception as error:
                # Whatever a driver or its library raises: a thread that ends says nothing.
                reason = f"fails: {type(error).__name__}: {error}"
                log.exception("the camera %r fails", self._device)
            if self._is_stopping.is_set():
                break
            if self._frames > before:
                failures = 0
            self._lose(reason)
            self._is_stopping.wait(_REOPEN_WAITS_S[min(failures, len(_REOPEN_WAITS_S) - 1)])
            failures += 1

    def _stream(self) -> str:
        """Open the device and take frames until there are no more; return what is wrong then."""
        before = self._frames
        capture = self._open()
        if capture is None:
            return "does not open"
        with contextlib.ExitStack() as held:
            held.callback(capture.release)
            while not self._is_stopping.is_set() and self._grab(capture):
                self._find()
        return "stopped giving frames" if self._frames > before else "gives no frames"

    def _lose(self, reason: str) -> None:
        with self._telling:
            self._is_lost = True
            self._on_trouble(f"the camera {self._device!r} {reason}")

    def _find(self) -> None:
        with self._telling:
            if self._is_lost:
                self._is_lost = False
                self._on_trouble(None)

    def _grab(self, capture: Capture) -> bool:
        """Take one frame off the stream; False when the stream is lost."""
        if not capture.grab():
            return False
        now = time.monotonic()
        taken = None
        if not self._is_blind.is_set():
            is_taken, taken = capture.retrieve()
            if not is_taken or taken is None:
                return False
        with self._fresh:
            if self._newest and now - self._newest > 1.5 * self._period_s:
                self._late += 1
            self._frames += 1
            self._newest = now
            self._times.append(now)
            self._shot = (
                None
                if taken is None or self._is_blind.is_set()
                else Shot(taken, now, self._frames, self._part_px)
            )
            self._fresh.notify_all()
        return True
