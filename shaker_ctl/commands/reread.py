"""The stored frames of a journal through today's reader: would any value differ?

Loaded only when frames are to be read, since it brings OpenCV and the model with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from shaker_ctl import settings
from shaker_ctl.adapters.disk.picture_folder import recorded_picture
from shaker_ctl.commands.table_reader import table_reader
from shaker_ctl.errors import RefusedError, SettingsError
from shaker_ctl.journal.history import verdict_in
from shaker_ctl.journal.record import Record
from shaker_ctl.journal.replay import Difference
from shaker_ctl.rules.record import to_record
from vision.errors import VisionError
from vision.frame import Frame
from vision.reading import Unreadable
from vision.table.reader import TableReader

COMPARED = ("Verified", "NoRoll")
"""Verdicts that one frame can confirm. An unreadable toss may rest on frames that disagreed."""


@dataclass(slots=True)
class Reread:
    """What reading the stored frames again gave."""

    frames: int = 0
    """Read again and compared."""
    refused: int = 0
    """Frames of tosses that were unreadable: read again, compared with nothing."""
    refused_but_readable: int = 0
    """Those of them that today's reader reads, each by itself."""
    differences: list[Difference] = field(default_factory=list)


def reread(records: Iterable[Record], folder: Path, config: Path) -> Reread:
    """Read every stored frame again.

    A frame that the quota has dropped is passed over; one whose bytes are not those recorded is a
    difference. Raises SettingsError where model or calibration cannot be used.
    """
    cv2.setNumThreads(1)
    try:
        reader = table_reader(settings.load(config).camera)
    except VisionError as error:
        raise SettingsError(f"{config}: {error}") from error
    found = Reread()
    for record in records:
        if b'"ReadingMade"' not in record.body:
            continue
        plain = record.plain
        then = verdict_in(plain)
        saved = plain["pictures"].get("frame")
        if not saved:
            continue
        try:
            content = recorded_picture(folder, saved["file"], saved["sha256"])
        except FileNotFoundError:
            continue
        except RefusedError:
            what = "the stored frame is not the recorded one"
            found.differences.append(_difference(plain, what, saved["file"]))
            continue
        now = _opinion(reader, content)
        if then.get("type") not in COMPARED:
            found.refused += 1
            found.refused_but_readable += now["type"] in COMPARED
            continue
        found.frames += 1
        if not _agrees(then, now):
            found.differences.append(_difference(plain, then, now))
    return found


def _opinion(reader: TableReader, content: bytes) -> Any:
    image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        return to_record(Unreadable.of("not a picture"))
    return to_record(reader.look(Frame(image), 3).observation.opinion)


def _agrees(then: dict[str, Any], now: dict[str, Any]) -> bool:
    """True for the same values in any order, and for a no roll of any kind after a no roll."""
    if then["type"] != now["type"]:
        return False
    return then["type"] == "NoRoll" or sorted(then["values"]) == sorted(now["values"])


def _difference(plain: dict[str, Any], then: Any, now: Any) -> Difference:
    return Difference(plain["sequence"], plain["round"], "ReadingMade: frame", then, now)
