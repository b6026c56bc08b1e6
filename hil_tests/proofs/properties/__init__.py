"""The properties that are proved, one module a subject.

A property judges one transition (`case.Case`): it compares what the machine did with what an
observer knows (`watch.Watch`). Importing this package registers all of them.
"""

from __future__ import annotations

from hil_tests.proofs.properties import (
    hearing,
    inspections,
    lamps,
    malfunctions,
    people,
    rounds,
    tossing,
)
from hil_tests.proofs.properties.case import PROPERTIES, Case, Violation, asked, check

SUBJECTS = (hearing, tossing, lamps, inspections, malfunctions, rounds, people)

__all__ = ["PROPERTIES", "SUBJECTS", "Case", "Violation", "asked", "check"]
