"""The moments of a round at which something can fail, and how each is hit.

Owns the five moments and their triggers. The rig times its own faults by what happens on its wires
(`TRIGGERS`); everything else waits for the same event in the rig's logbook.
"""

from __future__ import annotations

from enum import Enum


class Moment(Enum):
    """Where a round stands when the fault comes."""

    BETS = "before bets close"
    """Bets are open; the motor has not been driven."""
    TOSS = "during toss"
    """Five turns of the cam after EN."""
    REST = "at rest"
    """The dice are truly at rest; nothing is read yet."""
    PUSH = "during push"
    """The lamp box has taken the stage; it is not committed yet."""
    LIT = "lamps lit"
    """Lit, measured, and on record; wagers are being settled."""


EDGES = 60
"""Five turns of twelve edges: some 0.55 s after EN, well inside the shortest approved shake."""

TRIGGERS = {
    Moment.BETS: "",
    Moment.TOSS: f"after {EDGES} edges",
    Moment.REST: "after 1 rest",
    Moment.PUSH: "after 1 stage",
    Moment.LIT: "",
}
"""For the rig's door; empty: at once, when the round stands there."""
