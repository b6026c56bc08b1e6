"""What it means to tighten a rule text: to forbid more, and to allow nothing more.

Owns the direction of every value that has one. A value without a direction may only stay as it is.
Must not read files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from operator import ge, le
from typing import Any

from shaker_ctl.rules.regulation import Printed, Profile, said, values_of

Tighter = Callable[[Any, Any], bool]
"""True when the second value is as strict as the first, or stricter."""


_forbids, _demands, _more = ge, le, le


def _dates(fits: Tighter) -> Tighter:
    """A day in the place of none, or one that fits."""
    return lambda below, above: (
        isinstance(above, date) and (not isinstance(below, date) or fits(below, above))
    )


_later, _earlier = _dates(le), _dates(ge)


def _sets(fits: Tighter) -> Tighter:
    return lambda below, above: fits(set(below), set(above))


_fewer, _all_and_more = _sets(ge), _sets(le)


def _along(*words: str) -> Tighter:
    """From loose to strict."""

    def tighter(below: Any, above: Any) -> bool:
        places = [words.index(getattr(each, "value", each)) for each in (below, above)]
        return places[0] <= places[1]

    return tighter


def _from(loose: str, *strict: str) -> Tighter:
    """From one loose value to any of several strict ones that do not compare."""
    return lambda below, above: below.value == loose and above.value in strict


DIRECTIONS: dict[str, Tighter] = {
    "in_force.effective_from": _later,
    "in_force.last_day": _earlier,
    "cover.use": _from("optional", "required", "forbidden"),
    "cover.interlock": _from("as_fitted", "must_be_closed", "must_be_absent"),
    "cover.drive": _forbids,
    "order.nmb_before": _along("reveal", "activate"),
    "order.manual": _along("reveal", "activate"),
    "activation.by_player": _forbids,
    "pacing.by_table": _forbids,
    "entry.mode": _along("auto", "dealer_confirm", "dealer_entry"),
    "entry.auto_needs_approval": _demands,
    "attendance.shaker": _along("may_be_unattended", "required"),
    "opening_inspection.signed_by": _fewer,
    "opening_inspection.cycles": _more,
    "shift_inspection.required": _demands,
    "shift_inspection.cycles": _more,
    "no_roll.wagers": _along("stand", "silent", "returned"),
    "void.wagers": _along("silent", "returned"),
    "not_started.wagers": _along("silent", "returned"),
    "lamp_fault.presence": _fewer,
    "lamp_fault.resume_when_fixed": _along("device", "device or area"),
    "lamp_fault.covers": _along("device", "device and area"),
    "out_of_order.steps": _all_and_more,
    "dice.automated": _along("unlimited", "1 month", "24 hours"),
    "dice.otherwise": _along("unlimited", "1 month", "24 hours"),
    "dice.manual": _along("unlimited", "1 month", "24 hours"),
    "round.min_length_s": _more,
    "payout.force": _along("no_less_than", "exactly"),
    "multipliers.offered": _forbids,
    "multipliers.never": _all_and_more,
}
"""Profile key to its direction: what is not here may only stay as it is."""


def loosened(base: Profile, top: Profile) -> list[str]:
    """Return every key under which `top` allows more than `base`, or says something else."""
    return [
        *_plain(base, top),
        *_said_of_it(base, top),
        *_values(base, top),
        *_areas(base, top),
        *_odds(base, top),
        *_multiplied(base, top),
    ]


def _plain(base: Profile, top: Profile) -> Iterator[str]:
    for name in ("instrument", "rests_on_instrument"):
        if getattr(base, name) != getattr(top, name):
            yield f"{name}: {getattr(top, name)!r} where it says {getattr(base, name)!r}"


def _said_of_it(base: Profile, top: Profile) -> Iterator[str]:
    """What is shown wherever the text is shown: a file may add to it, and takes nothing away."""
    for name in ("title", "caution"):
        if getattr(base, name) not in getattr(top, name):
            yield f"{name}: without the words {getattr(base, name)!r}"
    for oddity in base.oddities:
        if oddity not in top.oddities:
            yield f"oddities: without {oddity!r}"


def _values(base: Profile, top: Profile) -> Iterator[str]:
    others = dict(values_of(top))
    for key, below in values_of(base):
        above = others[key]
        if below == above:
            continue
        if below.value == above.value:
            yield f"{key}: other words for the same value ({below.clause})"
        elif above.clause == below.clause and above.reading in ("", below.reading):
            yield f"{key}: another value under the text's own clause ({below.clause})"
        elif key == "shift_inspection.signed_by" and not below.value:
            continue  # an inspection that the text does not know has signers of its own
        elif key not in DIRECTIONS or not DIRECTIONS[key](below.value, above.value):
            words = f"{said(above.value)} where it says {said(below.value)}"
            yield f"{key}: {words} ({below.clause})"


def _areas(base: Profile, top: Profile) -> Iterator[str]:
    for area in sorted({*base.areas, *top.areas}):
        if base.areas.get(area) != top.areas.get(area):
            yield f"areas.{area}: another layout than the text's"


def _odds(base: Profile, top: Profile) -> Iterator[str]:
    """Every line stands as the text prints it, and pays that, or no less where the text says so."""
    tables = base.payout.tables
    exactly = base.payout.force.value.value == "exactly"
    for letter, lines in top.payout.tables.items():
        below = tables.get(letter) or next(iter(tables.values()))
        for name, line in lines.items():
            if name in below and not _stands(below[name], line, exactly=exactly):
                yield (
                    f"payout.tables.{letter}.{name}: {_printed(line)} where it says "
                    f"{_printed(below[name])}"
                )


def _stands(below: Printed, above: Printed, *, exactly: bool) -> bool:
    """Print and clause are the text's; what is paid is the house's, where it may be more."""
    same_print = (above.printed, above.clause) == (below.printed, below.clause)
    return same_print and (above.odds == below.odds if exactly else above.odds >= below.odds)


def _printed(line: Printed) -> str:
    paid = f", pays {line.pays}" if line.pays else ""
    return f"{line.printed}{paid} ({line.clause})"


def _multiplied(base: Profile, top: Profile) -> Iterator[str]:
    for name, span in top.multipliers.ranges.items():
        below = base.multipliers.ranges.get(name)
        if below is None:
            yield f"multipliers.{name}: multiplied where the text has no multiplier"
        elif span.least < below.least or span.most > below.most:
            yield f"multipliers.{name}: beyond {below.least} to {below.most} ({below.clause})"
