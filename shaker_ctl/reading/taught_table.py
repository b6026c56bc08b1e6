"""What a table was taught, as it is kept: of which dice, camera and light, by whom, and how well.

Owns the file's form and what it is bound to. What was learnt is vision's, and here only bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from shaker_ctl.errors import CameraError, SettingsError
from shaker_ctl.frozen import frozen
from shaker_ctl.plain_form import PlainForm, PlainFormError
from shaker_ctl.reading.controls import Controls
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.rules.agreement import is_alike
from shaker_ctl.rules.vocabulary import Person
from shaker_ctl.whole_file import read_bounded

FAULT = "teaching"
"""Code of the fault that a teaching cannot be used."""
MAX_B = 12_000_000
"""Longest file, bytes; one of a large compartment has a megabyte and a half."""
UNTAUGHT = "not taught its dice: shaker-ctl teach"
AGAIN = "Teach the table again: shaker-ctl teach. Until then it reads nothing, and dealers enter"


@frozen
class Bound:
    """What a teaching is of: with other dice, another camera or another light it says nothing."""

    serials: tuple[str, ...]
    calibration: str
    """SHA-256 of the settings' calibration, as the record has it."""
    controls: Controls

    @classmethod
    def now(cls, p: CameraParameters, serials: tuple[str, ...]) -> Bound:
        return cls(serials, p.calibration_digest(), p.setup().controls)

    def misfit(self, p: CameraParameters) -> str:
        """Why this is not of the camera as it is set now; empty where it is."""
        if self.calibration != p.calibration_digest():
            return "the camera was measured anew since the table was taught"
        if self.controls != p.setup().controls:
            return "[camera.controls] were changed since the table was taught"
        return ""


@frozen
class TaughtTable:
    """The one file of a table's teaching."""

    bound: Bound
    at: datetime
    by: tuple[Person, ...]
    tosses: int
    """Confirmed tosses that it was taught by."""
    read: float
    """Share of them that it reads, each by what the others teach."""
    is_enough: bool
    """Whether automatic entry is offered."""
    advice: str
    """What to change where it is not."""
    taught: bytes

    def to_bytes(self) -> bytes:
        """Return the file: the SHA-256 of a line of JSON, and that line."""
        line = json.dumps(_FORM.plain(self), separators=(",", ":")).encode()
        return hashlib.sha256(line).hexdigest().encode() + b"\n" + line

    def words(self) -> str:
        """Who taught it, when, by what, and how well it reads."""
        names = " and ".join(f"{one.name} ({one.number})" for one in self.by)
        return (
            f"taught on {self.at.date()} by {names}, {self.tosses} tosses of "
            f"{' '.join(self.bound.serials)}; reads {100 * self.read:.1f} % of its own tosses"
        )

    def words_with(self, serials: Sequence[str]) -> str:
        """The same, with what stands against it while dice with these serials are locked in."""
        is_other = bool(serials) and not is_alike(serials, self.bound.serials)
        return self.words() + "; other dice are locked in" * is_other


_FORM = PlainForm(
    {kind.__name__: kind for kind in (TaughtTable, Bound, Controls, Person)}.get, is_whole=True
)


def of_bytes(data: bytes, source: Path) -> TaughtTable:
    """Read a file back. Raises CameraError where it is not as it was written."""
    digest, _, line = data.partition(b"\n")
    try:
        if hashlib.sha256(line).hexdigest().encode() != digest:
            raise PlainFormError("its digest is not that of its content")
        table = _FORM.made(json.loads(line), "teaching")
        if not isinstance(table, TaughtTable):
            raise PlainFormError("it holds something else")
    except (ValueError, RecursionError) as error:
        raise CameraError(f"the teaching {source} is damaged: {error}", remedy=AGAIN) from error
    return table


def found(p: CameraParameters) -> TaughtTable | None:
    """The teaching of this table; None where it was not taught.

    Raises CameraError where the file is damaged, or of another camera or light.
    """
    try:
        data = read_bounded(p.teaching, MAX_B)
    except FileNotFoundError:
        return None
    except OSError as error:
        said = f"cannot read the teaching {p.teaching}: {error.strerror}"
        raise CameraError(said, remedy=AGAIN) from error
    table = of_bytes(data, p.teaching)
    if misfit := table.bound.misfit(p):
        raise CameraError(f"the teaching {p.teaching} cannot be used: {misfit}", remedy=AGAIN)
    return table


def require_may_enter(p: CameraParameters, table: TaughtTable | None) -> None:
    """Raise SettingsError where a table may not enter what it reads: before it was taught, before
    one lens, which proves no lean, or where it reads too few of its own tosses."""
    if table is not None and table.is_enough and p.second.fitted:
        return
    why, change = "the table was not taught its dice", "shaker-ctl teach"
    if not p.second.fitted:
        why, change = "one lens does not prove how a die lies", "fit a stereo camera"
    elif table is not None:
        why, change = f"the table reads {100 * table.read:.1f} % of its own tosses", table.advice
    raise SettingsError(
        f"automatic entry is not offered: {why}",
        remedy=f"{change}; or set table.entry_mode to dealer_confirm",
    )
