"""Why a mutant that survives does so.

Owns the explanations, by what was changed. A survivor that none of them fits is printed as not
explained: then either a property is missing, or the row does nothing.
"""

from __future__ import annotations

_REASONS: tuple[tuple[str, str], ...] = (
    ("inspector_named", "a name that is recorded and never decides; the exploration forgets names"),
    (
        "part_asked",
        "the part is asked again at the next request; only a re-run of one part differs",
    ),
    (
        "note `new inspection`",
        "the entry keeps its number: old answers are then told by their kind",
    ),
    ("note `new shift`", "the cycle keeps its number: old answers are then told by their kind"),
    ("next_number", "the cycle keeps its number: old answers are then told by their kind"),
    (
        "nothing_passed",
        "bookkeeping: who signed, and why a round was barred; all else is empty here",
    ),
    ("no_cycles_left", "the counts are reset again when the next inspection begins"),
    (
        "passed left out",
        "a part that has passed alone; reached only by running the parts one by one",
    ),
    ("show_multipliers_again", "needs multipliers in force in a phase the bounded walk rarely has"),
    ("hide_multipliers", "nothing was shown at that moment in the nodes that were tried"),
    ("light on", "the light is on already: belt and braces after a restart"),
    ("clear lamps", "the lamps are dark already: belt and braces after a restart"),
    ("lamps := unknown", "another note or command of the same step says so too"),
    ("stop motor", "the motor stands still already: belt and braces"),
    ("stop reading", "nothing is being read at that moment: belt and braces"),
    ("guard `nothing denies` negated", "contacts that deny have ended the phase already"),
    ("guard `cover is right` negated", "a wrong cover has ended the phase already"),
)


def why(name: str) -> str:
    """Return why the mutant of this name survives, or that nobody has said."""
    return next((reason for part, reason in _REASONS if part in name), "not explained")
