"""Settings of the table: which profile it keeps, how it is built, and how it paces itself.

Owns the section `[table]` of the settings file. Must not know profiles' contents; `rulebook`
brings both together and refuses what the profile does not allow.
"""

from __future__ import annotations

import re

from pydantic import field_validator

from shaker_ctl.parameters import Parameters, bounded
from shaker_ctl.rules.regulation import EntryMode
from shaker_ctl.rules.vocabulary import Timer

MAX_LAMPS = 52
LAMP_SLACK_S = 1.0
"""Seconds for one lamp of the walk beside the time that it is lit, before the box counts as silent.
Lit, dark and both read back take 0.1 s."""


class TableParameters(Parameters):
    """What a house chooses inside its profile, and the pace of play."""

    profile: str = "pa-625a"
    """Name of a shipped profile (`shaker-ctl rules list`), or path of a profile file."""

    paytable: str = "A"
    """Letter of the profile's paytable. Only `pa-625a` offers a second one, B."""

    entry_mode: EntryMode | None = None
    """Who enters the values: `dealer_entry`, `dealer_confirm` or `auto`. Empty: the profile's own.

    In `dealer_entry` nobody is shown the reading before the dealer has entered their own.
    `auto` on a profile that rests on a rule text needs `approval`.
    """

    approval: str = ""
    """Name of the approval that `auto` or `autonomous` rests on, shown on screens and in records.

    It names instrument and date: "BGLO 461a.4, letter of 2027-03-12". Empty where none is needed.
    """

    as_demonstration: bool = False
    """Play without instrument or approval, marked on every screen, record and lamp phase.

    Lets an expired profile, `auto` without approval, and play without attendance run for show.
    Never for wagers.
    """

    cover_fitted: bool = False
    """An opaque cover and its contact are fitted. Some profiles require it, some forbid it."""

    cover_driven: bool = False
    """A motor moves the cover; otherwise a person does."""

    player_activated: bool = False
    """The player's button starts the shaker, where the profile allows it."""

    attended: bool = True
    """A dealer is at the table. False only where the profile lets the table be unattended."""

    autonomous: bool = False
    """The table paces itself by the times below; false: the dealer's acts pace it.

    On a profile that rests on a rule text it needs `approval`. Where people attend, lamps go dark
    only after a dealer said `settled`, whoever paces the rest.
    """

    dice_locked_and_compliant: bool = True
    """The dice are locked in and comply with the clause that the profile's longer limit needs.

    False: the shorter limit holds.
    """

    dice_by_two: bool = False
    """Two persons name other dice, or say that they are the same: the second repeats it. The
    house's rule, or that of a text that has two."""

    shifts: tuple[str, ...] = ()
    """Times of day at which shifts begin, local time, as `06:00`. At each of them, and at every
    opening, the inspection of a shift is due where the profile has one."""

    dice_notice_h: float = bounded(1.0, at_least=0.0, at_most=72.0)
    """Hours before the dice grow too old at which everybody at the table is told, an idle table
    too; and once more when they have. Shorter: no time to bring others. Estimate."""

    betting_s: float = bounded(30.0, at_least=0.2, at_most=600.0)
    """Seconds from bets open to no more bets, autonomous only. Estimate; the house's pace."""

    activation_s: float = bounded(10.0, at_least=0.2, at_most=120.0)
    """Seconds that the player's button may stay unpressed, autonomous only; then it starts."""

    settling_s: float = bounded(10.0, at_least=0.1, at_most=300.0)
    """Seconds to collect losing wagers, autonomous only. Estimate."""

    payout_s: float = bounded(15.0, at_least=0.1, at_most=600.0)
    """Seconds to pay winning wagers, or to take wagers back, autonomous only. Estimate."""

    min_round_s: float = bounded(0.0, at_least=0.0, at_most=600.0)
    """Least seconds from bets open to the next bets open. The profile's own minimum holds besides.

    72 in Great Britain (O-20).
    """

    time_check_s: float = bounded(2.0, at_least=0.2, at_most=10.0)
    """Seconds for the wall clock to answer before no round starts. It answers at once; generous."""

    draw_s: float = bounded(2.0, at_least=0.2, at_most=10.0)
    """Seconds for a random draw. It answers at once; longer means that the controller is stuck."""

    cover_s: float = bounded(5.0, at_least=0.5, at_most=30.0)
    """Seconds for a driven cover to close or open. Depends on the drive; estimate. No cover's
    contact is taken for stuck before the reveal has had this time, be it driven or moved by hand.
    """

    lamps_s: float = bounded(3.0, at_least=0.5, at_most=10.0)
    """Seconds for a lamp command before the lamps count as failed.

    Above the lamp exchange's own total deadline, so that its more exact fault comes first.
    """

    look_s: float = bounded(2.0, at_least=0.5, at_most=30.0)
    """Least seconds for which an entry of the opening inspection is lit before a person may say
    that they saw it. It stays lit until they do. Shorter: nobody has looked. Estimate."""

    each_lamp_s: float = bounded(0.5, at_least=0.5, at_most=10.0)
    """Seconds for which the inspection's walk lights each lamp: long enough to be seen. The walk
    can be paused, and a lamp repeated. At 0.5 the walk over 52 lamps takes half a minute."""

    signature_h: float = bounded(24.0, at_least=0.5, at_most=168.0)
    """Hours for which a signed opening inspection may open the table; then one is due again.

    No text states a time. Longer: more can happen unseen between inspection and opening.
    """

    toss_s: float = bounded(20.0, at_least=2.0, at_most=60.0)
    """Seconds for a toss to start, and again to settle. Above the longest approved shake."""

    rest_s: float = bounded(5.0, at_least=0.5, at_most=30.0)
    """Seconds for the camera to prove rest, before the toss counts as unreadable."""

    reading_s: float = bounded(5.0, at_least=0.5, at_most=30.0)
    """Seconds for the reader to decide, its retries included, before the toss is unreadable."""

    @field_validator("shifts")
    @classmethod
    def _times_of_day(cls, shifts: tuple[str, ...]) -> tuple[str, ...]:
        for each in shifts:
            if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", each):
                raise ValueError(f"`{each}` is no time of day such as 06:00")
        return shifts

    def seconds(self, timer: Timer) -> float:
        """Return the length of a timer in seconds."""
        if timer is Timer.EACH_LAMP:
            return MAX_LAMPS * (self.each_lamp_s + LAMP_SLACK_S)
        return float(getattr(self, f"{timer.value}_s"))
