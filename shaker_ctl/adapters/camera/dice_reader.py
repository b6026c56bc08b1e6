"""The dice reader as the table sees it: commands in, rules events out, pictures for the record.

Owns the ring light's dip, and when a camera is lost. Must not know thresholds or what a verdict
leads to.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from shaker_ctl.adapters.camera.dice_camera import DiceCamera
from shaker_ctl.adapters.camera.look_on import LookOn
from shaker_ctl.console.desk import CameraView
from shaker_ctl.errors import HardwareError, RefusedError
from shaker_ctl.ports import Pictures, ReaderCommand, ShakerOutputs
from shaker_ctl.reading import messages, taught_table
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.vocabulary import Condition, Occasion
from vision.reading import NoRoll, Unreadable, Verified

log = logging.getLogger(__name__)

LOST_AFTER_S = 6.0
"""How long a camera fault may stand before the reader counts as lost. A killed camera process is
back, model loaded and first frame seen, after 1-2 s; a Pi needs up to 5 s."""


STEADY_S = 1.0
"""For so long a camera must give pictures, after a fault, to be back. One that is opened again and
again, and each time gives a picture before it falls silent, is lost all the same."""

LOST = frozenset(
    {
        "camera-open",
        "camera-silent",
        "camera-process",
        "model",
        "frozen",
        "looped",
        "camera-moved",
        "seal",
    }
)
"""Faults without which there is no reader. A poor picture (dark, blocked) is judged when dice are
read: a cover on its way is no reason to lose the reader. A camera that was bumped stays so, and its
process says so only of pictures in which nothing moves."""


def in_words(reading: messages.ReadingDone) -> str:
    """A reading, for screens."""
    what = f"{reading.occasion.purpose.value} {reading.occasion.number}"
    match reading.verdict:
        case Verified(values, confidence):
            said = f"{' '.join(map(str, values))} verified ({confidence:.3f})"
        case NoRoll(_, kind, angle_deg):
            said = f"no roll: {kind.value}, {angle_deg:.0f}°"
        case Unreadable(text=text):
            said = f"unreadable: {text}"
    return f"{what}: {said}"


class CameraReader:
    """The camera process behind the `DiceReader` port."""

    def __init__(
        self,
        parameters: CameraParameters,
        outputs: ShakerOutputs,
        post: Callable[[events.Event, Pictures | None], None],
        check_files: Callable[[], None] = lambda: None,
        taught: bytes = b"",
    ) -> None:
        """`check_files` is called before a camera process is started again; see `DiceCamera`."""
        self._outputs = outputs
        self._post = post
        self.camera = DiceCamera(parameters, self._take, check_files=check_files, taught=taught)
        """The process itself, for whoever starts the table."""
        self._looks = LookOn(self.camera.read)
        self._light_lock = threading.Lock()
        """Held while the light changes: a word of the camera process must not undo a command."""
        self._is_dipped = False
        self._light_obeys = True
        self._lost: threading.Timer | None = None
        self._well_since_s: float | None = None
        self.last: messages.ReadingDone | None = None
        """The newest reading, without its pictures, for screens."""

    def stop(self) -> None:
        """End the camera process."""
        self._looks.end()
        self._cancel_lost()
        self.camera.stop()

    def snap(self) -> bytes:
        """The newest frame as JPEG. Raises `RefusedError` while dice are covered."""
        if self.camera.is_blind:
            raise RefusedError(
                "no picture is taken between cover-closed and reveal",
                remedy="ask again after the reveal",
            )
        return self.camera.snap()

    def camera_view(self) -> CameraView:
        """Figures for screens."""
        health, fault = self.camera.health, self.camera.fault
        state = "ready" if self.camera.is_ready else "starting"
        if fault is not None:
            state = f"{fault.code}: {fault.text}; {fault.remedy}"
        elif self.camera.is_blind:
            state = "blind: the dice are covered"
        return CameraView(
            fps=None if health is None else round(health.fps, 1),
            exposure="" if health is None else f"median grey {health.median:.0f} of 255",
            sharpness=None if health is None else round(health.sharpness, 2),
            brightness=None if health is None else round(health.median, 1),
            late_frames=None if health is None else health.late,
            last_reading=in_words(self.last) if self.last else "",
            state=state,
        )

    # ── Commands ────────────────────────────────────────────────────────────

    def perform(self, command: ReaderCommand) -> None:
        """Do as commanded; answers come as events."""
        match command:
            case commands.NotePoses(occasion):
                self.camera.begin_toss(occasion)
            case commands.LightOn():
                with self._light_lock:
                    self._set_light(1.0)
                    self.camera.blind(False)
            case commands.LightOff():
                # Blind first: no frame of the covered dice, however dark, is captured.
                with self._light_lock:
                    self.camera.blind(True)
                    self._set_light(0.0)
            case commands.StartReading(occasion):
                self._looks.end()
                self.camera.read(occasion)
            case commands.KeepLooking(occasion):
                self._looks.begin(occasion)
            case commands.StopReading():
                self._looks.end()
                self.camera.end_reading()

    def settle(self, occasion: Occasion) -> None:
        """The motor was switched off: a head start for the dip. Covered dice have none."""
        if not self.camera.is_blind:
            self.camera.settle(occasion)

    def _dip(self, level: float) -> None:
        """As the camera process asks; while the dice are covered it asks in vain."""
        with self._light_lock:
            if not self.camera.is_blind:
                self._set_light(level)
                self._is_dipped = level < 1.0

    def _set_light(self, level: float) -> None:
        """A light that does not obey is no reason to stop: its dip is not seen, nothing is read.

        It is another light than that of the inspection, so an inspection is due. That the link is
        lost is the motion thread's to say.
        """
        try:
            self._outputs.set_light(level)
            self._light_obeys = True
        except HardwareError as error:
            log.warning("the ring light: %s", error.line())
            if self._light_obeys:
                self._light_obeys = False
                self._post(events.ConditionChanged(Condition.LIGHT), None)

    # ── Messages of the camera process ──────────────────────────────────────

    def _take(self, message: messages.Message) -> None:
        match message:
            case messages.Rested():
                self._rested(message)
            case messages.DipLight(occasion, level):
                self._dip(level)
                self.camera.light_dipped(occasion, time.monotonic())
            case messages.RestoreLight():
                self._dip(1.0)
            case messages.ReadingDone():
                self._done(message)
            case messages.CameraFault():
                if message.code == "camera-process" and self._is_dipped:
                    self._dip(1.0)  # whoever asked for the dip is gone
                is_lost = message.code in LOST
                level = logging.WARNING if is_lost else logging.INFO
                log.log(level, "camera: %s. %s", message.text, message.remedy)
                if message.code in (messages.DIRTY_DOME, taught_table.FAULT):
                    self._post(events.ReaderFault(None, message.code), None)
                if is_lost:
                    self._expect_recovery(message.code)
            case messages.CameraRecovered():
                log.info("camera: %s is over", message.code)
                if self._well_since_s is None and not LOST & self.camera.faults.keys():
                    self._well_since_s = time.monotonic()
            case _:
                pass

    def _rested(self, message: messages.Rested) -> None:
        occasion = message.occasion
        if message.is_proved is False:
            log.warning(
                "%s: only %s of %s dice lie otherwise than before the toss",
                occasion,
                message.poses_changed,
                message.dice,
            )
            self._looks.end()
            self._post(events.TossDisproved(occasion), None)
        elif not self._looks.looks_at(occasion):
            self._post(events.AtRest(occasion, compared=message.is_proved is True), None)

    def _done(self, message: messages.ReadingDone) -> None:
        occasion, verdict = message.occasion, message.verdict
        if isinstance(verdict, Unreadable) and self._looks.read_nothing(occasion):
            return  # as it was said before: only what is read is news
        self._looks.end()
        pictures = Pictures(message.jpeg, message.overlay_jpeg) if message.jpeg else None
        self.last = replace(message, jpeg=b"", overlay_jpeg=b"")
        if message.unchanged:
            # O-21: an unchanged picture is no new result, whatever its values.
            self._post(events.TossDisproved(occasion), pictures)
        else:
            self._post(events.ReadingMade(occasion, verdict), pictures)

    def _expect_recovery(self, code: str) -> None:
        """A fault without which there is no reader: it has so long to be over, and to stay so."""
        if self._is_steady():
            self._cancel_lost()
        self._well_since_s = None
        if self._lost is None:
            self._wait_for_recovery(LOST_AFTER_S, code)

    def _wait_for_recovery(self, for_s: float, code: str) -> None:
        self._lost = threading.Timer(for_s, self._declare_lost, (code,))
        self._lost.daemon = True
        self._lost.start()

    def _is_steady(self) -> bool:
        since_s = self._well_since_s
        return since_s is not None and time.monotonic() - since_s >= STEADY_S

    def _declare_lost(self, code: str) -> None:
        since_s = self._well_since_s
        if self._is_steady():
            self._lost = None
        elif since_s is not None:
            self._wait_for_recovery(since_s + STEADY_S - time.monotonic(), code)
        else:
            self._lost = None
            self._post(events.ReaderFault(None, code), None)  # what it began with

    def _cancel_lost(self) -> None:
        timer, self._lost = self._lost, None
        if timer is not None:
            timer.cancel()
