"""While a dealer reads the dice for themself: the reader's word is shown to nobody.

Owns the one question that every screen, port, socket and reader of records asks. Must not know who
asks. `dealer_entry` is an independent second reading only if the dealer cannot copy the first.
"""

from __future__ import annotations

from shaker_ctl.rules.phases import AFTER_TOSS, P
from shaker_ctl.rules.regulation import EntryMode
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.rules.state import TableState
from shaker_ctl.rules.vocabulary import Purpose

KEY = "awaits_entry"
"""Marks each record behind which a reading still waits for the dealer's own."""

_UNREAD = AFTER_TOSS | {P.AWAITING_DEALER, P.INTERRUPTED}


def awaits_entry(state: TableState, rules: Rulebook) -> bool:
    """Whether the dealer's own reading of the round in hand is still to come. `rules`: in use."""
    return (
        rules.entry is EntryMode.DEALER_ENTRY
        and state.purpose is Purpose.PLAY
        and state.phase in _UNREAD
    )
