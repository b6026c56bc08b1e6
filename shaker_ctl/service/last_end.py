"""How the run before this one ended: in order, for want of power, or by its own death (O-10, O-15).

Owns the first and the last record of every run, and what their pattern says. Must not know what
follows from it: the rules decide that.

A run that is stopped writes a `closing`. Without a `closing` the run died, or the power failed. The
kernel's boot number, which every `opening` carries, distinguishes the two. Only the service manager
knows what killed a run: the unit's stop action leaves systemd's word (`$SERVICE_RESULT`,
systemd.exec(5)) in a file. A volume that begins in a run repeats the facts of the run's opening.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from shaker_ctl import __version__
from shaker_ctl.journal.record import Entry, Record, names_its_record

OPENING, CLOSING, VOLUME = "opening", "closing", "volume"

BOOT = Path("/proc/sys/kernel/random/boot_id")
MANAGERS_WORD = Path("/run/shaker-ctl.ended")
"""Written by `ExecStopPost` of the unit; absent where no service manager runs this."""

WATCHDOG = "watchdog"


class LastEnd(StrEnum):
    """The word for it in the `opening` that follows."""

    NONE = "none on record"
    STOPPED = "stopped"
    POWER = "power lost"
    HUNG = "hung"
    DIED = "died"

    @property
    def fault(self) -> str:
        """Code of the controller's fault that this is; empty where it is none."""
        return {LastEnd.HUNG: "controller-hung", LastEnd.DIED: "controller-died"}.get(self, "")


@names_its_record
def last_end(milestones: Iterable[Record], boot: str, managers_word: str = "") -> LastEnd:
    """Return how the newest run in the journal ended.

    `milestones`: newest first. `boot`: this start's boot number; `managers_word`: systemd's result
    of the run before. Both are empty where they are not known. Of a run without a boot number on
    record nothing is claimed.
    """
    for record in milestones:
        plain = record.plain
        if plain["kind"] == CLOSING:
            return LastEnd.STOPPED if plain["in_order"] else LastEnd.DIED
        if plain["kind"] == OPENING or (plain["kind"] == VOLUME and "boot" in plain):
            then = plain.get("boot", "")
            if not (boot and then):
                return LastEnd.NONE
            if boot != then:
                return LastEnd.POWER
            return LastEnd.HUNG if managers_word == WATCHDOG else LastEnd.DIED
    return LastEnd.NONE


def opening(before: LastEnd, facts: Mapping[str, Any]) -> Entry:
    """Return the first record of a run: what plays here (`facts`), and how the run before ended."""
    program = {"version": __version__, "python": platform.python_version(), "pid": os.getpid()}
    note = f"the run before: {before.value}"
    return Entry(OPENING, {**program, **facts, "before": before.value, "note": note})


def text(path: Path) -> str:
    """Return the one word in a file of the system; empty where there is none."""
    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
