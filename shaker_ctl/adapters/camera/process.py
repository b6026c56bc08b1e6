"""The camera process: `python -m shaker_ctl.adapters.camera.process FD`.

Owns: the camera's grab thread, the reader, and the one thread that feeds one to the other. Must not
know rounds, lamps or settings files. It is started, watched and killed by `dice_camera`; everything
it knows comes over the socket whose number is its argument, and it ends when that closes.
"""

from __future__ import annotations

import gc

if __name__ == "__main__":
    gc.disable()  # until the networks are loaded: what imports make stays

import os
import queue
import sys
import threading
import time
import traceback
from dataclasses import replace
from multiprocessing.connection import Connection

import cv2

from shaker_ctl.adapters.camera import allocator
from shaker_ctl.adapters.camera.grabber import Grabber, Shot
from shaker_ctl.adapters.camera.small_picture import small_jpeg
from shaker_ctl.adapters.camera.source import make_opener
from shaker_ctl.plain_form import PlainFormError
from shaker_ctl.reading import messages, taught_table
from shaker_ctl.reading.kept_picture import encoded, kept
from shaker_ctl.reading.stream import FROZEN_FRAMES, LOOPED_FRAMES, StreamMemory
from shaker_ctl.reading.toss_session import Finished, TossSession
from shaker_ctl.reading.wire import receive, send
from vision.calibration import Calibration
from vision.errors import ModelError, VisionError
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.overlay import draw_reading
from vision.reading import Quality, Reason
from vision.table.dome import DomeWatch
from vision.table.motion import StillnessDetector
from vision.table.place import RimSearch
from vision.table.quality import QualityGate
from vision.table.reader import TableReader
from vision.taught import Teaching, TeachingError

_HEARTBEAT_S = 0.2
_LOOK_AFTER_S = 0.5
"""Seconds between two checks of the picture's quality while nothing is read."""
_FAULT_CHECKS = 2
"""Checks in a row that must agree before a fault is reported or withdrawn: a hand that passes under
the camera is no fault."""
_MOVED_CHECKS = 4
"""Checks in a row, two seconds, that must find that the camera moved: then the table plays without
its reader."""
_SLOW_SHARE = 0.7
_RECENT_S = 0.25
_MAX_TOSS_S = 10.0
"""Seconds from the start of a toss in which its pictures are watched for dirt on the dome."""
_MODEL_STATUS = 3
_HUNG_STATUS = 4

_OF_THE_RIGHT_LENS = (Reason.BLACK, Reason.OVER_EXPOSED, Reason.DEFOCUSED, Reason.TORN)
"""What the right picture of a stereo camera is watched for. If the camera was moved, the left one
shows it; the right lens is placed at the height of the dice, not of the rim."""

_REMEDIES = {
    Reason.BLACK: "check the ring light and the lens cap",
    Reason.OVER_EXPOSED: "lower the camera's exposure, or shade the table",
    Reason.DEFOCUSED: "clean the dome and focus the lens",
    Reason.CAMERA_MOVED: "fix the camera and calibrate it again: shaker-ctl calibrate camera",
    Reason.WRONG_SIZE: "set the camera to the size in [camera.calibration]",
    Reason.TORN: "check the camera's cable and bandwidth",
    Reason.BLOCKED: "take away what covers the dome",
}
"""Of what is wrong in a single picture."""


class CameraWorker:
    """Everything of the camera process but its start."""

    def __init__(self, link: Connection, setup: messages.CameraSetup) -> None:
        self._link = link
        self._link_lock = threading.Lock()
        self._setup = setup
        self._requests: queue.SimpleQueue[messages.Request | None] = queue.SimpleQueue()
        self._started = time.monotonic()
        calibration = Calibration.from_table(setup.calibration)
        self._calibration = calibration
        self._gate = QualityGate(calibration)
        self._right_gate = None if calibration.right is None else QualityGate(calibration.right)
        self._finder = DieFinder()
        teaching, untaught = _taught(setup, calibration)
        self._reader = TableReader(self._finder, calibration, threads=2, teaching=teaching)
        self._session = TossSession(self._reader, self._send, setup)
        self._grabber = Grabber(
            setup.device,
            make_opener(setup, calibration.frame_size, self._controls_set),
            frames_per_s=setup.frames_per_s,
            on_trouble=self._stream_changed,
            part_px=None if calibration.right is None else calibration.image_size[0],
        )
        self._faults: set[str] = set()
        self._fault_lock = threading.Lock()
        self._stream = StreamMemory()
        self._suspect: tuple[Reason | None, int] = (None, 0)
        self._rest = StillnessDetector(calibration)
        self._search = RimSearch(calibration)
        self._dome = DomeWatch(calibration)
        self._tossing_until = 0.0
        self._elsewhere: float | None = None
        """How far away the rim was seen, pixels, while it cannot be seen at its place."""
        self._previous: Shot | None = None
        """The grab before, for telling whether anything moves."""
        self._quality: Quality | None = None
        self._is_blind = False
        self._is_ready = False
        self._set_fault(taught_table.FAULT, untaught, taught_table.AGAIN)

    def run(self) -> None:
        """Work until told to stop, or until nobody listens any more."""
        self._grabber.start()
        threading.Thread(target=self._receive, name="requests", daemon=True).start()
        sequence = 0
        beat = looked = 0.0
        while True:
            now = time.monotonic()
            if now - beat >= _HEARTBEAT_S:
                beat = now
                self._beat(now)
            wakes = self._session.wakes_at
            patience_s = 0.005 if self._session.is_reading else 0.02
            wait_s = patience_s if wakes is None else max(0.0, min(patience_s, wakes - now))
            shot = self._grabber.next(sequence, wait_s)
            if not self._serve_requests():
                self._grabber.stop()
                return
            if shot is None:
                self._done(self._session.tick(time.monotonic()))
                continue
            sequence = shot.sequence
            is_replayed = self._check_stream(shot)
            is_due = now - looked >= _LOOK_AFTER_S
            searches = self._quality is not None and _shows_no_rim(self._quality)
            # Between two looks a picture is only compared with the others, not decoded.
            is_tossing = now < self._tossing_until
            if self._session.is_reading or is_due or searches or is_tossing or not self._is_ready:
                frame = shot.frame()
                if frame is None:
                    self._spoiled()
                    self._done(self._session.tick(time.monotonic()))
                elif self._session.is_reading:
                    self._announce_ready(frame)
                    if is_replayed:
                        self._done(self._session.tick(time.monotonic()))
                    else:
                        self._done(self._session.see(frame, time.monotonic))
                else:
                    if is_tossing and not self._is_blind:
                        self._dome.take(frame.image)
                    if is_due or not self._is_ready:
                        looked = now
                        self._announce_ready(frame)
                        self._check_quality(frame)
                    elif searches:
                        self._look_elsewhere(frame)
            self._previous = shot

    # ── Requests ────────────────────────────────────────────────────────────

    def _receive(self) -> None:
        while True:
            try:
                request = receive(self._link)
            except (EOFError, OSError, PlainFormError):
                request = None
            self._requests.put(request)
            if request is None or isinstance(request, messages.StopCamera):
                return

    def _serve_requests(self) -> bool:
        """Serve what came; False when it is time to end."""
        while True:
            try:
                request = self._requests.get_nowait()
            except queue.Empty:
                return True
            match request:
                case None | messages.StopCamera():
                    return False
                case messages.BeginToss(occasion, before):
                    self._session.begin(occasion, self._grabber.newest, before)
                    self._dome.begin()
                    self._tossing_until = time.monotonic() + _MAX_TOSS_S
                case messages.SettleDice(occasion):
                    self._tossing_until = 0.0
                    self._session.settle(occasion, time.monotonic(), self._grabber.newest)
                case messages.ReadDice(occasion):
                    self._tossing_until = 0.0
                    self._session.read(occasion, time.monotonic(), self._grabber.newest)
                    self._done(self._session.catch_up(time.monotonic))
                case messages.LightDipped(occasion, t_set):
                    self._session.light_dipped(occasion, t_set)
                case messages.EndReading(occasion):
                    self._session.end(occasion)
                case messages.Blind(is_blind):
                    self._is_blind = is_blind
                    self._grabber.blind(is_blind)
                case messages.TakePicture(request_id):
                    frame = self._grabber.newest
                    jpeg = b"" if frame is None else small_jpeg(frame.image)
                    self._send(messages.Picture(request_id, jpeg))

    # ── Messages ────────────────────────────────────────────────────────────

    def _send(self, message: messages.Message) -> None:
        try:
            with self._link_lock:
                send(self._link, message)
        except OSError:
            os._exit(0)  # nobody listens: a camera without a service has nothing to do

    def _announce_ready(self, frame: Frame) -> None:
        if self._is_ready:
            return
        self._is_ready = True
        card = self._finder.card
        height, width = frame.image.shape[:2]
        self._send(messages.CameraReady(card.name, width, height, time.monotonic() - self._started))
        threading.Thread(target=self._reader.warm, name="warm", daemon=True).start()

    def _beat(self, now: float) -> None:
        self._grabber.judge_silence(self._setup.silent_after_s)
        state = self._grabber.state
        age_s = now - (state.newest or self._started)
        if age_s > 4 * max(self._setup.silent_after_s, self._setup.open_timeout_s):
            os._exit(_HUNG_STATUS)  # a driver that hangs cannot be interrupted, only left
        is_slow = state.frames > 60 and state.fps < _SLOW_SHARE * self._setup.frames_per_s
        self._set_fault(
            "camera-slow",
            f"{state.fps:.1f} frames a second instead of {self._setup.frames_per_s:g}"
            if is_slow
            else None,
            "check the camera's exposure time, its cable, and the machine's load",
        )
        quality = self._quality
        self._send(
            messages.CameraHealth(
                frames=state.frames,
                fps=state.fps,
                late=state.late,
                median=quality.median if quality else 0.0,
                sharpness=quality.sharpness if quality else 0.0,
                is_blind=self._is_blind,
            )
        )

    def _done(self, finished: Finished | None) -> None:
        if finished is None:
            return
        frame = finished.frame
        jpeg = overlay = b""
        if frame is not None:
            frame = kept(frame)
            jpeg = frame.jpeg
            if finished.seen is not None:
                picture = draw_reading(frame.image, finished.seen.observation, finished.verdict)
                overlay = encoded(picture)
        self._send(
            messages.ReadingDone(
                occasion=finished.occasion,
                verdict=finished.verdict,
                t_rest=finished.t_rest,
                t_dip_seen=finished.t_dip_seen,
                t_capture=None if frame is None else frame.t_capture,
                t_verdict=finished.t_verdict,
                jpeg=jpeg,
                overlay_jpeg=overlay,
                frames=tuple(
                    (each.t_capture, sum(ms for _, ms in each.cost_ms))
                    for each in finished.observations
                ),
                frames_looked_at=finished.frames_looked_at,
                unchanged=finished.unchanged,
            )
        )

        # After the result, so that the round in hand is not lost by it.
        blots = self._dome.blots()
        if blots is not None:
            self._set_fault(
                messages.DIRTY_DOME,
                f"camera: {blots[0]} stays in the picture while the dice move" if blots else None,
                "clean the dome and the lens",
            )

    # ── Faults ──────────────────────────────────────────────────────────────

    def _set_fault(self, code: str, text: str | None, remedy: str) -> None:
        with self._fault_lock:
            stands = code in self._faults
            if text is not None and not stands:
                self._faults.add(code)
                self._send(messages.CameraFault(code, text, remedy))
            elif text is None and stands:
                self._faults.discard(code)
                self._send(messages.CameraRecovered(code))

    def _stream_changed(self, trouble: str | None) -> None:
        """Called by the grabber's thread, and by ours where the stream falls silent."""
        code = "camera-silent" if self._is_ready else "camera-open"
        if trouble is None:
            for known in ("camera-open", "camera-silent"):
                self._set_fault(known, None, "")
        else:
            self._set_fault(code, trouble, "check its cable, its power and [camera] device")

    def _controls_set(self, wrong: list[str]) -> None:
        """Called by the grabber's thread after each opening."""
        self._set_fault(
            "camera-controls",
            f"the camera does not hold what [camera.controls] asks for: {'; '.join(wrong)}"
            if wrong
            else None,
            "set under [camera.controls] what it names, and leave out what this camera has not",
        )

    def _check_quality(self, frame: Frame) -> None:
        quality = self._gate.judge(frame.image)
        self._quality = quality
        if misfit := self._calibration.misfit(frame):
            quality = replace(quality, fault=Reason.WRONG_SIZE, detail=misfit)
        elif quality.fault is None and self._right_gate is not None and frame.right is not None:
            right = self._right_gate.judge(frame.right)
            if right.fault in _OF_THE_RIGHT_LENS:
                quality = replace(quality, fault=right.fault, detail=f"right lens: {right.detail}")
        if not _shows_no_rim(quality):
            self._elsewhere = None
            self._search.restart()
        elif self._elsewhere is not None:
            quality = replace(
                quality,
                fault=Reason.CAMERA_MOVED,
                detail=f"the compartment is about {self._elsewhere:.0f} pixels off its place",
            )
        if quality.fault is Reason.CAMERA_MOVED and not self._is_still(frame):
            return  # The plate that shakes moves the rim; of the camera that says nothing.
        reason, times = self._suspect
        times = times + 1 if quality.fault is reason else 1
        self._suspect = (quality.fault, times)
        if times < (_MOVED_CHECKS if quality.fault is Reason.CAMERA_MOVED else _FAULT_CHECKS):
            return
        for known, remedy in _REMEDIES.items():
            text = f"camera: {quality.detail}" if known is quality.fault else None
            self._set_fault(known.value, text, remedy)

    def _look_elsewhere(self, frame: Frame) -> None:
        """A knocked camera shows the rim at another place; a hand shows it nowhere."""
        if self._elsewhere is None and self._is_still(frame):
            self._elsewhere = self._search.look(frame.image)

    def _is_still(self, frame: Frame) -> bool:
        """True if nothing moved since the frame before, which must be a recent one."""
        if self._previous is None or frame.t_capture - self._previous.t_capture > _RECENT_S:
            return False
        before = self._previous.frame()
        if before is None or before.image.shape != frame.image.shape:
            return False
        return not self._rest.has_moved(
            self._rest.thumbnail(before.image), self._rest.thumbnail(frame.image)
        )

    def _spoiled(self) -> None:
        """A file that cannot be decoded is a fault until a picture that can is looked at."""
        self._quality = None
        self._suspect = (Reason.TORN, _FAULT_CHECKS)
        text = "camera: a picture cannot be decoded"
        self._set_fault(Reason.TORN.value, text, _REMEDIES[Reason.TORN])

    def _check_stream(self, shot: Shot) -> bool:
        """Name a frozen or looped stream. Return whether this picture was seen longer ago.

        Such a picture says nothing about a toss: it could show the dice as they lay before.
        """
        repeated, looped = self._stream.take(shot.fingerprint)
        self._set_fault(
            Reason.FROZEN.value,
            f"camera: the same picture {repeated} times" if repeated >= FROZEN_FRAMES else None,
            "restart the camera",
        )
        self._set_fault(
            Reason.LOOPED.value,
            "camera: pictures that had been seen before came again, to the last bit"
            if looped >= LOOPED_FRAMES
            else None,
            "the pictures are a recording: check what is connected as the camera",
        )
        return looped > 0


def _taught(
    setup: messages.CameraSetup, calibration: Calibration
) -> tuple[Teaching | None, str | None]:
    """What the table was taught, and why it cannot be used."""
    try:
        return Teaching.from_bytes(setup.taught, calibration) if setup.taught else None, None
    except TeachingError as error:
        return None, str(error)


def _shows_no_rim(quality: Quality) -> bool:
    """The picture is good, but for the compartment's rim, which is not near its place."""
    return quality.fault is Reason.BLOCKED or (quality.fault is None and quality.rim_px < 0.0)


def main(descriptor: int) -> int:
    """Serve the parent at the other end of a socket until it hangs up."""
    allocator.return_large_blocks()
    cv2.setNumThreads(1)
    link = Connection(descriptor)
    setup = receive(link)
    try:
        worker = CameraWorker(link, setup)
    except ModelError as error:
        send(link, messages.CameraFault("model", str(error), "restore models/ from the release"))
        return _MODEL_STATUS
    except VisionError as error:
        send(link, messages.CameraFault("model", str(error), "correct [camera.calibration]"))
        return _MODEL_STATUS
    gc.freeze()
    gc.enable()
    try:
        worker.run()
    except Exception:  # noqa: BLE001 - the parent reads the last line and starts a new process
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # not waiting for a grab thread that a driver may hold
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
