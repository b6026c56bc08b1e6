"""The confirmed tosses of a table that is being taught, kept one by one.

Owns the folder: a picture and a line for each toss. A line is written after its picture and names
the picture's digest, so that a power cut leaves a toss whole or not there. Must not know persons'
words, nor what is learnt.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path

import cv2
import numpy as np

from shaker_ctl.errors import CameraError, RefusedError, reraise_as
from shaker_ctl.frozen import frozen
from shaker_ctl.plain_form import PlainForm, PlainFormError
from shaker_ctl.reading.controls import Controls
from shaker_ctl.reading.taught_table import Bound
from shaker_ctl.rules.vocabulary import Person
from shaker_ctl.whole_file import put, read_bounded, unused_stamp
from vision.frame import Frame
from vision.taught import Toss

MAX_LINE, MAX_PICTURE = 65_536, 64 << 20
"""Bytes."""
_NAME = "toss-{:03d}"


@frozen
class Confirmed:
    """What persons said of one toss, and where the network saw its dice."""

    bound: Bound
    at: datetime
    by: tuple[Person, ...]
    values: tuple[int, ...]
    """In the order of `corners`."""
    corners: tuple[tuple[tuple[float, float], ...], ...]
    """Empty where the network saw another number of dice: nothing can be learnt from the toss."""
    picture: str
    """SHA-256 of the picture's file."""


_FORM = PlainForm(
    {kind.__name__: kind for kind in (Confirmed, Bound, Controls, Person)}.get, is_whole=True
)


class ConfirmedTosses:
    """The tosses of one set of dice under one camera."""

    def __init__(self, folder: Path, bound: Bound, width: int) -> None:
        """Read what is kept; `width`: of one lens's picture. Raises CameraError where a file is
        damaged, RefusedError where the tosses are of other dice, camera or light."""
        self._folder, self._bound, self._width = folder, bound, width
        with _writing(folder):
            folder.mkdir(mode=0o750, exist_ok=True)
        self._files = sorted(folder.glob("toss-*.json"))
        self.kept = [self._read(file) for file in self._files]

    def learnt_from(self) -> list[Toss]:
        """The tosses with their pictures. Raises CameraError where a picture is damaged."""
        pairs = zip(self._files, self.kept, strict=True)
        return [self._toss(file, said) for file, said in pairs if said.corners]

    @property
    def unseen(self) -> int:
        """Flat tosses in which the network saw another number of dice."""
        return sum(not said.corners for said in self.kept)

    def add(
        self, frame: Frame, toss: Toss | None, values: tuple[int, ...], by: tuple[Person, ...],
        at: datetime,
    ) -> None:  # fmt: skip
        """Keep a toss; it is on the disk when this returns. `toss`: None where it is unseen."""
        whole = frame.image if frame.right is None else np.hstack([frame.image, frame.right])
        picture = cv2.imencode(".png", whole)[1].tobytes()
        corners = () if toss is None else tuple(_pairs(die) for die in toss.corners)
        said = Confirmed(
            self._bound, at, by, values if toss is None else toss.values, corners,
            hashlib.sha256(picture).hexdigest(),
        )  # fmt: skip
        last = int(self._files[-1].stem[-3:]) if self._files else 0
        file = self._folder / f"{_NAME.format(last + 1)}.json"
        with _writing(self._folder):
            put(file.with_suffix(".png"), picture)
            put(file, json.dumps(_FORM.plain(said)) + "\n")
        self._files.append(file)
        self.kept.append(said)

    def take_back(self) -> None:
        """Forget the newest toss."""
        file = self._files.pop()
        self.kept.pop()
        with _writing(self._folder):
            file.unlink()
            file.with_suffix(".png").unlink(missing_ok=True)

    def _read(self, file: Path) -> Confirmed:
        try:
            said = _FORM.made(json.loads(read_bounded(file, MAX_LINE)), file.name)
            if not isinstance(said, Confirmed):
                raise PlainFormError("it holds something else")
        except (OSError, ValueError, RecursionError) as error:
            raise _damaged(file, error) from error
        if said.bound != self._bound:
            raise RefusedError(
                f"{self._folder} holds {len(self._files)} tosses of the dice "
                f"{' '.join(said.bound.serials)} under the camera and light of "
                f"{said.at.date()}",
                remedy="With these dice, and nothing changed, give the same serials; else begin "
                "anew with --anew, which keeps that folder aside",
            )
        return said

    def _toss(self, file: Path, said: Confirmed) -> Toss:
        picture = file.with_suffix(".png")
        try:
            data = read_bounded(picture, MAX_PICTURE)
            if hashlib.sha256(data).hexdigest() != said.picture:
                raise ValueError("it is not the picture that was confirmed")
        except (OSError, ValueError) as error:
            raise _damaged(picture, error) from error
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        frame = Frame(np.asarray(image)).parted(self._width)
        return Toss(frame.image, np.array(said.corners), said.values, frame.right)


def set_aside(folder: Path) -> None:
    """Make room for new tosses; those of before stay beside them. Raises RefusedError."""
    if folder.exists():
        with _writing(folder):
            folder.rename(f"{folder}.replaced-{unused_stamp(folder)}")


def _pairs(die: np.ndarray) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in die)


def _damaged(file: Path, error: Exception) -> CameraError:
    return CameraError(
        f"{file} cannot be used: {error}", remedy="Take this toss's two files away, and go on"
    )


def _writing(folder: Path) -> AbstractContextManager[None]:
    return reraise_as(RefusedError, f"cannot keep tosses in {folder}", remedy="Run it as root")
