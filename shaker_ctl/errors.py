"""Every error that the controller raises, on one page.

`code` is stable: it stands on consoles, in the journal and in the fault queue, and scripts match
on it. Each docstring says when the error is raised, how it leaves the hardware, and who acts.
An expected outcome (a cocked die, a reading refused) is a value, never an exception.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class ShakerError(Exception):
    """Root of the tree. Catch it only where every error becomes an event (`service`)."""

    code = "error"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy

    def line(self) -> str:
        """What happened, where, and what to do next, as one line."""
        return f"{self}. {self.remedy}" if self.remedy else str(self)


class SettingsError(ShakerError, ValueError):
    """A settings or profile file is wrong. Nothing was opened; the installer acts."""

    code = "settings"


class RefusedError(ShakerError):
    """Something was asked for that is not permitted now. Nothing changed; the asker reads why."""

    code = "refused"


class PhotoError(ShakerError):
    """A file given to `read` is missing or no picture. Nothing was changed; the asker looks."""

    code = "photo"


class HardwareError(ShakerError):
    """A device did not do what it must. `service` turns it into a malfunction event."""

    code = "hardware"


class GpioLinkError(HardwareError):
    """The GPIO daemon refused, timed out or vanished.

    The daemon's dead-man script drops EN by itself; where the daemon itself died, the hardware
    monostable does. The technician restarts the daemon.
    """

    code = "gpio-link"


class CameraError(HardwareError):
    """No usable picture stream: missing, frozen, late, wrong size. The motor is not concerned."""

    code = "camera"


class LampError(HardwareError):
    """The lamp controller did not show, or did not prove to show, what was committed."""

    code = "lamp"


class LampTimeoutError(LampError, TimeoutError):
    """The exchange outran its total deadline. The lamps may show old or nothing."""

    code = "lamp-timeout"


class LampReplyError(LampError):
    """A reply came and was wrong: other unit, exception, garbage, map version."""

    code = "lamp-reply"


class LampReadbackError(LampError):
    """What is lit, or measured at the bulbs, differs from what was committed."""

    code = "lamp-readback"


class LampAnchorError(LampError):
    """The lamp box refused the head of the journal: it holds a later one, or another table's.

    The lamps are not concerned. The table stops after the round; the technician looks for a second
    controller on the line.
    """

    code = "lamp-anchor"


class ConsoleLineError(HardwareError):
    """A console's serial line cannot be opened, or is gone. The table goes on; it is reopened."""

    code = "console-line"


class JournalError(ShakerError):
    """The record of the table cannot be trusted or extended. No new output but stopping."""

    code = "journal"


class JournalWriteError(JournalError):
    """An append or sync failed or outran its deadline: disk full, read-only, hung. Table stops."""

    code = "journal-write"


class JournalCorruptError(JournalError):
    """The chain, or a copy, does not verify. Halt; a person decides (O-4)."""

    code = "journal-corrupt"


class DisputesError(JournalCorruptError):
    """The list of disputes is damaged, or not the one that the journal knows. No picture is dropped
    and no volume removed; a person brings it back or has it written anew."""

    code = "disputes"


class JournalAbsentError(JournalError):
    """A copy of the journal is not there, while the other one is: its medium may come later, and
    nothing is known to be damaged. A start is tried again; nothing was changed."""

    code = "journal-missing"


class JournalVersionError(JournalError):
    """A newer program wrote this journal, or one of a form that is converted first. Nothing was
    changed."""

    code = "journal-version"


class SealError(ShakerError):
    """A sealed file is not as it was sealed, or a break stands that nobody has cleared.

    Nothing was opened but the journal; the table does not play until a person acts (O-1, O-2).
    """

    code = "seal"


@contextlib.contextmanager
def reraise_as(kind: type[ShakerError], what: str, *, remedy: str) -> Iterator[None]:
    """Raise what the system refuses in this block (OSError) as an error of that kind.

    Its line says what could not be done, the system's reason, and what to do.
    """
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}", remedy=remedy) from error
