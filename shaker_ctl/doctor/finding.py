"""One line of an examination: what was looked at, how it is, and what to do about it."""

from __future__ import annotations

from enum import StrEnum

from shaker_ctl.frozen import frozen


class Grade(StrEnum):
    """How something is."""

    OK = "ok"
    WARN = "warn"
    """The table can play; a technician should know, or choose."""
    FAIL = "fail"
    """The table cannot play, or not safely."""


@frozen
class Finding:
    """One line. `name` is stable: scripts and tests match on it."""

    name: str
    verdict: Grade
    text: str
    remedy: str = ""
    """What to do; empty where nothing is to be done."""


def ok(name: str, text: str) -> Finding:
    """As it must be."""
    return Finding(name, Grade.OK, text)


def warn(name: str, text: str, remedy: str) -> Finding:
    """The table can play; something is to be known."""
    return Finding(name, Grade.WARN, text, remedy)


def fail(name: str, text: str, remedy: str) -> Finding:
    """The table cannot play, or not safely."""
    return Finding(name, Grade.FAIL, text, remedy)
