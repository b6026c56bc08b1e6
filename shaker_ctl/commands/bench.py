"""The table whose service is stopped, as a bench: it tosses, and shows the dice at rest.

Owns the order of one toss. It drives through the shipped motion thread, with its dead-man, its
watches and its proof. Nothing is recorded and no lamp is lit. Whatever happens, EN is low
afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from shaker_ctl.adapters.camera.stopped_camera import StillPictures
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.commands.calibrate import lit_and_uncovered
from shaker_ctl.doctor.examination import needed_cover, refuse_beside_a_service
from shaker_ctl.doctor.shaker import TROUBLES, LoneShaker
from shaker_ctl.errors import HardwareError
from shaker_ctl.reading import toss_session
from shaker_ctl.reading.messages import DiePose
from shaker_ctl.rules import rulebook
from shaker_ctl.settings import Settings
from vision.findings import Findings
from vision.frame import Frame

COVER_S = 10.0
"""Longest time for the cover, which a person may have to move."""

MEND = "See what shaker-ctl doctor says"


class Bench:
    """Tosses once at a time."""

    def __init__(
        self,
        shaker: LoneShaker,
        pictures: StillPictures,
        pins: dict[str, int | None],
        cover: Callable[[bool], None] | None = None,
    ) -> None:
        """`pins`: by their names, for remedies. `cover` opens (True) or closes the cover that hides
        the dice; None: there is none."""
        self._shaker, self._pictures, self._pins, self._cover = shaker, pictures, pins, cover
        self._lay: tuple[DiePose, ...] = ()
        self.calibration = pictures.calibration

    def toss(self) -> tuple[Frame, Findings]:
        """Toss, and return the dice at rest, and what is seen of them. Raises HardwareError where
        the shaker or the camera failed, or the dice lie as before."""
        if self._cover is not None:
            self._move_cover(self._cover, is_open=False)
        turned = self._shaker.toss()
        if turned.code:
            remedy = TROUBLES.get(turned.code, MEND).format(**self._pins)
            raise HardwareError(f"{turned.code}: {turned.reason}", remedy=remedy)
        if self._cover is not None:
            self._move_cover(self._cover, is_open=True)
        frame, found = self._pictures.take()
        before, self._lay = self._lay, toss_session.poses_of(found.observation.dice)
        if toss_session.is_unchanged(before, self._lay):
            raise HardwareError("the dice lie as they lay before the toss", remedy=MEND)
        return frame, found

    def _move_cover(self, drive: Callable[[bool], None], *, is_open: bool) -> None:
        drive(is_open)
        until_s = time.monotonic() + COVER_S
        while self._shaker.motion.contacts().cover_open is not is_open:
            if time.monotonic() > until_s:
                words = "open" if is_open else "close"
                raise HardwareError(f"the cover does not {words}", remedy=MEND)
            time.sleep(0.02)


@contextmanager
def opened(settings: Settings) -> Iterator[Bench]:
    """Open pins and camera of a table whose service is stopped; no service starts meanwhile.

    Raises RefusedError beside a service, and a leaf of `ShakerError` where a device is missing.
    """
    refuse_beside_a_service(settings)
    book = rulebook.rulebook(settings.table)
    with ExitStack() as held:
        held.callback(JournalLock(settings.journal.path).close)
        pins = held.enter_context(lit_and_uncovered(settings))
        pictures = held.enter_context(StillPictures(settings.camera))
        shaker = held.enter_context(LoneShaker(pins, settings.motion, needed_cover(book)))
        cover = pins.outputs.drive_cover if book.covered else None
        yield Bench(shaker, pictures, settings.gpio.pins.model_dump(), cover)
