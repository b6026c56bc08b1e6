"""A bench for dice: tosses on a table whose service stands still, and what the reader reads.

Owns the order of one toss. It drives through the shipped motion thread, with its dead-man and its
watches, and reads through the shipped camera process. Nothing is recorded and no lamp is lit.
Whatever happens, EN is low afterwards.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from shaker_ctl.adapters.camera.dice_reader import CameraReader
from shaker_ctl.adapters.clock import SystemClock
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.pins.gpio_backend import make_pins
from shaker_ctl.doctor.examination import refuse_beside_a_service
from shaker_ctl.errors import RefusedError
from shaker_ctl.motion.reports import DriveEnded, MotionReport, MotionStopped
from shaker_ctl.ports import Pictures
from shaker_ctl.rules import commands, events, rulebook
from shaker_ctl.rules.vocabulary import Occasion, Purpose
from shaker_ctl.service.motion_thread import MotionThread
from shaker_ctl.settings import Settings
from vision.reading import Verdict

ANSWER_S = 30.0
"""Longest time from the order to toss until the dice are read or refused, in seconds."""

COVER_S = 10.0
"""Longest time for the cover, which a person may have to move."""

MEND = "See `shaker-ctl doctor`"


class Said(NamedTuple):
    """What a thread said."""

    what: events.Event | MotionReport
    pictures: Pictures | None = None


class DiceBench:
    """Tosses once at a time. `said` is where motion thread and reader leave what they say."""

    def __init__(
        self,
        motion: MotionThread,
        reader: CameraReader,
        said: queue.SimpleQueue[Said],
        cover: Callable[[bool], None] | None = None,
    ) -> None:
        """`cover` opens (True) or closes the cover that hides the dice; None: there is none."""
        self._motion, self._reader, self._said, self._cover = motion, reader, said, cover

    def toss(self, number: int) -> tuple[Verdict, bytes | None]:
        """Toss, and return what was read, with the picture of it. Raises RefusedError where the
        shaker or the reader failed."""
        occasion = Occasion(Purpose.TRIAL, number)
        self._reader.perform(commands.LightOn())
        self._reader.perform(commands.NotePoses(occasion))
        if self._cover is not None:
            self._reader.perform(commands.LightOff())
            self._move_cover(self._cover, is_open=False)
        self._motion.start_toss(occasion, self._motion.draw_plan(), time.monotonic())
        why, until_s = "", time.monotonic() + ANSWER_S
        try:
            while True:
                said = self._next(until_s, why or "nothing was read in time")
                match said.what:
                    case DriveEnded():
                        self._reader.settle(occasion)
                    case MotionStopped(reason=reason):
                        why = reason
                    case events.TossSettled():
                        if self._cover is not None:
                            self._move_cover(self._cover, is_open=True)
                            self._reader.perform(commands.LightOn())
                        self._reader.perform(commands.StartReading(occasion))
                    case events.ReadingMade(of, verdict) if of == occasion:
                        return verdict, said.pictures.overlay if said.pictures else None
                    case events.TossNotStarted(reason=reason):
                        raise RefusedError(f"the shaker does not start: {reason}", remedy=MEND)
                    case events.ShakerFault(code=code) | events.ReaderFault(code=code):
                        raise RefusedError(f"{code}: {why or 'see the log'}", remedy=MEND)
                    case events.TossDisproved():
                        raise RefusedError("a die lies as it lay before the toss", remedy=MEND)
        finally:
            self._reader.perform(commands.StopReading())

    def _move_cover(self, drive: Callable[[bool], None], *, is_open: bool) -> None:
        drive(is_open)
        until_s = time.monotonic() + COVER_S
        while self._motion.contacts().cover_open is not is_open:
            if time.monotonic() > until_s:
                words = "open" if is_open else "close"
                raise RefusedError(f"the cover does not {words}", remedy=MEND)
            time.sleep(0.02)

    def _next(self, until_s: float, late: str) -> Said:
        try:
            return self._said.get(timeout=max(0.0, until_s - time.monotonic()))
        except queue.Empty:
            raise RefusedError(f"toss: {late}", remedy=MEND) from None


@contextmanager
def opened(settings: Settings) -> Iterator[DiceBench]:
    """Open pins and camera of a table whose service is stopped; no service starts meanwhile.

    Raises RefusedError beside a service, and a leaf of `ShakerError` where a device is missing.
    """
    refuse_beside_a_service(settings)
    book = rulebook.rulebook(settings.table)
    said: queue.SimpleQueue[Said] = queue.SimpleQueue()

    def post(event: Any, pictures: Pictures | None = None) -> None:
        said.put(Said(event, pictures))

    with ExitStack() as held:
        held.callback(JournalLock(settings.journal.path).close)
        pins = make_pins(settings.gpio)
        reader = CameraReader(settings.camera, pins.outputs, post)
        held.callback(reader.stop)
        reader.camera.load()
        reader.camera.start()
        held.callback(pins.link.close)
        pins.link.open()
        held.callback(pins.motor.stop)
        motion = MotionThread(
            motor=pins.motor,
            tach=pins.tach,
            lines=pins.lines,
            link=pins.link,
            clock=SystemClock(),
            parameters=settings.motion,
            state_is_alive=lambda: True,  # each plan is bounded; the dead-man watches this process
            post=post,
            report=post,
        )
        needed = True if book.covered else False if book.cover_must_be_absent else None
        motion.require_cover(needed)
        held.callback(motion.close)
        motion.start()
        pins.outputs.set_light(1.0)
        reader.camera.wait_ready()
        yield DiceBench(motion, reader, said, pins.outputs.drive_cover if book.covered else None)
