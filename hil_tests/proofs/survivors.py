"""Why a mutant that survives does so.

Owns the explanations, by what was changed. A survivor that none of them fits is printed as not
explained: then either a property is missing, or the row does nothing.
"""

from __future__ import annotations

_REASONS: tuple[tuple[str, str], ...] = (
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
    ("next_entry", "a gap: the same entry repeats and never passes; told in test_rounds, not here"),
    ("multipliers drawn: deleted", "a gap: they are taken as none drawn, lawful but not the draw"),
    ("a shift begins", "a gap: no property asks that a shift may begin; test_rounds does"),
    ("announce result", "a gap: the values are asked for with lamps only; here they are by hand"),
    ("announce cycle_bad", "a gap: the notice of unmoved dice in a cycle"),
    ("entry_disputed", "no roll called: the note holds no values, as the state does already"),
    ("note `signed`", "purpose and names: set again when the table opens its next use"),
    ("barred := None", "cleared again when bets open, or replaced when they are barred"),
    ("something denies", "refused instead: the deadline of the clock then leads to the same phase"),
    (
        "lamps passed",
        "reached only late in the bounded walk: the last cycle then asks for the lamps",
    ),
    ("light off", "the light is off since the toss, unless the controller restarted"),
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
