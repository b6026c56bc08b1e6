"""One profile and one table's settings, made ready for play.

Owns the decisions that follow from both: which order of play, who enters, whose presence, what the
clock forbids. Refuses at start what the profile does not allow. Must not know phases or events.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from shaker_ctl.errors import SettingsError
from shaker_ctl.rules import profile_files
from shaker_ctl.rules.layout import Layout
from shaker_ctl.rules.outcome import Area
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.regulation import (
    Attendance,
    Cited,
    CoverUse,
    DiceAge,
    EntryMode,
    InterruptedAfterToss,
    NmbBefore,
    Profile,
)
from shaker_ctl.rules.vocabulary import (
    Barrier,
    DiceSet,
    RetireStep,
    Role,
    Timer,
    TimeTrust,
    WagersDo,
)

BAD_CYCLES = 3
"""Bad cycles in a row that make a shaker fault."""


class Citation(NamedTuple):
    """On what a decision rests."""

    clause: str
    reading: str
    """Set where it rests on a reading, not on the words."""


@dataclass(frozen=True, eq=False)
class Rulebook:
    """Everything that the machine needs to know about its rules. Built by `rulebook`."""

    profile: Profile
    parameters: TableParameters
    nmb_before: NmbBefore
    covered: bool
    """A cover hides the dice during the toss."""
    cover_must_be_absent: bool
    entry: EntryMode
    attended: bool
    autonomous: bool
    people_settle: bool
    """Wagers are settled by people, so lamps go dark only after somebody said `settled`. False at a
    table that paces itself with nobody at it, or for show."""
    player_activated: bool
    cover_driven: bool
    multipliers: bool
    shift_inspection: bool
    interrupted: InterruptedAfterToss
    demonstration: bool
    layout: Layout
    areas: tuple[Area, ...]
    lamp_entries: int
    cycles: int
    shift_cycles: int
    opening_signers: frozenset[Role]
    shift_signers: frozenset[Role]
    presence: frozenset[Role]
    retire_steps: frozenset[RetireStep]
    dice_age: DiceAge
    min_round_s: float
    approved_on: date | None = None
    """The day of the approval that the table rests on: it permits nothing before."""
    manual: bool = False
    """These are the rules of play with a manual shaker; see `in_use`."""
    own_marks: tuple[str, ...] = ()
    """Marks that this table has for a reason of its own, beside those of its rules."""
    _cited: dict[str, Citation] = field(default_factory=dict, repr=False)
    """Found before; and the clause of the order that holds here, under the key of the order."""

    def cite(self, key: str) -> Citation:
        """Return the clause of a profile key, or `key` itself where it is no key.

        Rows about the device's own duties cite an obligation (O-…) or say the duty in words.
        """
        found = self._cited.get(key)
        if found is None:
            value: object = self.profile
            for part in key.split("."):
                value = getattr(value, part, None)
            if isinstance(value, Cited):
                found = Citation(value.clause, value.reading)
            else:
                found = Citation(key, "")
            self._cited[key] = found
        return found

    def in_use(self, *, manual: bool) -> Rulebook:
        """Return the rules of the shaker in use: these, or while it is retired a manual one's.

        With a manual shaker the dealer paces and enters, no player presses, the dice have an age
        of their own, and no shift inspects a shaker that is out of use.
        """
        return self._by_hand if manual else self

    @cached_property
    def _by_hand(self) -> Rulebook:
        order, dice = self.profile.order.manual, self.profile.dice.manual
        return replace(
            self,
            manual=True,
            nmb_before=NmbBefore.ACTIVATE,
            entry=EntryMode.DEALER_ENTRY,
            autonomous=False,
            people_settle=True,
            player_activated=False,
            shift_inspection=False,
            cycles=0,
            dice_age=dice.value,
            own_marks=(*self.own_marks, "manual shaker"),
            _cited={
                "order.nmb_before": Citation(order.clause, order.reading),
                "dice.automated": Citation(dice.clause, dice.reading),
            },
        )

    def seconds(self, timer: Timer) -> float:
        """Return the length of a timer in seconds: the setting, and never below the profile's."""
        if timer is Timer.MIN_ROUND:
            return self.min_round_s
        return self.parameters.seconds(timer)

    def signature_end(self, signed_at: datetime) -> datetime:
        """Return the moment from which a signature opens no table any more."""
        return signed_at + timedelta(hours=self.parameters.signature_h)

    @property
    def named(self) -> str:
        """By what a round is played and paid, as its record names it beside the text's digest."""
        return (
            f"{self.profile.name}, paytable {self.parameters.paytable}, "
            f"entry {self.entry.value}, {len(self.areas)} areas"
        )

    @property
    def marks(self) -> tuple[str, ...]:
        """What every screen and record has to carry beside the profile's name."""
        profile, approval = self.profile, self.parameters.approval
        stand = profile.no_roll.wagers.value is WagersDo.STAND
        silent = self.shift_inspection and not self.parameters.shifts
        marks = {
            "DEMONSTRATION": self.demonstration,
            "rests on no instrument": not profile.rests_on_instrument,
            "a profile file of the house": profile.own_file,
            f"{len(profile.areas)} areas of the house": profile.areas,
            "no roll: wagers stand, by the house's own rule": stand,
            "no shift begins by itself: table.shifts is empty": silent,
            f"{self._approved()} by approval: {approval}": approval,
        }
        return (*self.own_marks, *(mark for mark, holds in marks.items() if holds))

    def _approved(self) -> str:
        """What the approval is for, in words."""
        by_table = self.autonomous and not self.profile.pacing.by_table.value
        acts = (
            "automatic entry" * (self.entry is EntryMode.AUTO),
            "pacing by the table" * by_table,
        )
        return " and ".join(filter(None, acts)) or "played"

    def bars(
        self,
        now: datetime,
        trust: TimeTrust,
        behind_last_record: bool,
        dice: DiceSet | None,
        *,
        in_doubt: bool = False,
    ) -> Barrier | None:
        """Return what forbids a round at this wall time, or None. The gravest comes first."""
        if trust is TimeTrust.NONE or behind_last_record:
            return Barrier.TIME_UNTRUSTED
        if not self.demonstration:
            barrier = out_of_force(self.profile, self.profile.day(now))
            if barrier is not None:
                return barrier
            if self.approved_on is not None and self.profile.day(now) < self.approved_on:
                return Barrier.NOT_YET_IN_FORCE
        if dice is None:
            return Barrier.DICE_UNKNOWN
        if in_doubt:
            return Barrier.DICE_IN_DOUBT
        if dice.installed_at > now:
            return Barrier.DICE_AHEAD
        return Barrier.DICE_EXPIRED if self.over_age(dice, now) else None

    def over_age(self, dice: DiceSet | None, now: datetime) -> bool:
        """True for dice that may not be used for play any more; none at all are not over age."""
        end = dice_end(dice.installed_at, self.dice_age) if dice else None
        return end is not None and now >= end

    def explain(self, barrier: Barrier) -> str:
        """Return in one sentence why no round starts, and since when or until what."""
        force = self.profile.in_force
        return {
            Barrier.TIME_UNTRUSTED: "the wall clock is not trusted: no RTC, no synchronised time, "
            "or earlier than the last record; a floorperson confirms the time",
            Barrier.CLOCK_SILENT: "the wall clock did not answer",
            Barrier.NOT_YET_IN_FORCE: f"{self.profile.name} is not in force before "
            f"{force.effective_from.value} ({force.effective_from.clause})"
            + (f", nor its approval before {self.approved_on}" if self.approved_on else ""),
            Barrier.EXPIRED: f"{self.profile.name} is not in force since the end of "
            f"{force.last_day.value} ({force.last_day.clause})",
            Barrier.DICE_UNKNOWN: "nobody has recorded which dice are locked in: `dice changed`",
            Barrier.DICE_EXPIRED: f"the dice have been used for {self.dice_age.value} "
            f"({self.cite('dice.automated').clause}): change them",
            Barrier.DICE_AHEAD: "the dice were recorded under a clock that stood later than "
            "now: open the compartment, close it, and record them again: `dice changed`",
            Barrier.DICE_IN_DOUBT: "the compartment was opened, or may have been without "
            "power, and nobody has said whether the same dice are in it: `dice same`, or "
            "`dice changed`",
            Barrier.SHIFT_INSPECTION_DUE: "the shift inspection is due "
            f"({self.profile.shift_inspection.required.clause})",
            Barrier.INTERLOCK: "the compartment is open, the e-stop is pressed, or the cover is "
            "where it must not be",
            Barrier.LAMPS_NOT_DARK: "the lamps are not proved dark",
        }[barrier]


def rulebook(parameters: TableParameters, profile: Profile | None = None) -> Rulebook:
    """Return the rulebook of a table. Raises SettingsError on what the profile does not allow."""
    profile = profile or profile_files.load(parameters.profile)
    covered, entry = parameters.cover_fitted, parameters.entry_mode or profile.entry.mode.value
    for is_refused, what, remedy in _refusals(profile, parameters, entry):
        if is_refused:
            raise SettingsError(f"table.{what}", remedy=remedy)
    uncovered = profile.order.uncovered_or_player_activated.value
    uncovered_order = isinstance(uncovered, NmbBefore) and (
        parameters.player_activated or not covered
    )
    order = (
        profile.order.uncovered_or_player_activated if uncovered_order else profile.order.nmb_before
    )
    after_toss = profile.interruption.after_toss.value
    return Rulebook(
        profile=profile,
        parameters=parameters,
        nmb_before=NmbBefore(order.value),
        covered=covered,
        cover_must_be_absent=profile.cover.use.value is CoverUse.FORBIDDEN,
        entry=entry,
        attended=parameters.attended,
        autonomous=parameters.autonomous,
        people_settle=not parameters.autonomous
        or (parameters.attended and not parameters.as_demonstration),
        player_activated=parameters.player_activated,
        cover_driven=parameters.cover_driven,
        multipliers=profile.multipliers.offered.value,
        shift_inspection=profile.shift_inspection.required.value,
        interrupted=after_toss if parameters.attended else InterruptedAfterToss.VOID,
        demonstration=parameters.as_demonstration,
        layout=profile.layout,
        areas=profile.layout.areas,
        lamp_entries=profile.opening_inspection.lamp_entries.value,
        cycles=profile.opening_inspection.cycles.value,
        shift_cycles=profile.shift_inspection.cycles.value,
        opening_signers=frozenset(profile.opening_inspection.signed_by.value),
        shift_signers=frozenset(profile.shift_inspection.signed_by.value),
        presence=frozenset(profile.lamp_fault.presence.value),
        retire_steps=frozenset(profile.out_of_order.steps.value),
        dice_age=profile.dice.automated.value
        if parameters.dice_locked_and_compliant
        else profile.dice.otherwise.value,
        min_round_s=max(parameters.min_round_s, profile.round.min_length_s.value),
        approved_on=_approved_on(parameters),
        _cited={"order.nmb_before": Citation(order.clause, order.reading)},
    )


def out_of_force(profile: Profile, day: date) -> Barrier | None:
    """Return why the profile does not govern `day`, or None. An undated text bars nothing.

    `day` is the jurisdiction's own: `profile.day(moment)`.
    """
    first, last = profile.in_force.effective_from.value, profile.in_force.last_day.value
    if isinstance(first, date) and day < first:
        return Barrier.NOT_YET_IN_FORCE
    if isinstance(last, date) and day > last:
        return Barrier.EXPIRED
    return None


def dice_end(installed_at: datetime, age: DiceAge) -> datetime | None:
    """Return the moment from which the dice may not be used for play; None: no limit.

    A month is the shorter of 30 days and one calendar month; the calendar month of the 31st of
    January ends on the last day of February.
    """
    if age is DiceAge.UNLIMITED:
        return None
    if age is DiceAge.DAY:
        return installed_at + timedelta(hours=24)
    year, month = divmod(installed_at.year * 12 + installed_at.month, 12)
    day = min(installed_at.day, calendar.monthrange(year, month + 1)[1])
    calendar_month = installed_at.replace(year=year, month=month + 1, day=day)
    return min(calendar_month, installed_at + timedelta(days=30))


def _approved_on(parameters: TableParameters) -> date | None:
    """Return the day of the approval. It can be looked up: it names its instrument and its day.

    That the day has come is judged by the clock that admits a round, which may not be trusted yet
    when the service starts.
    """
    if not parameters.approval or parameters.as_demonstration:
        return None
    found = re.fullmatch(r"(.*\w.*?)\b(\d{4}-\d{2}-\d{2})", parameters.approval.strip())
    with suppress(ValueError):
        if found:
            return date.fromisoformat(found.group(2))
    raise SettingsError(
        f"table.approval: `{parameters.approval}` names no instrument with its date",
        remedy='Write both: table.approval = "BGLO 461a.4, letter of 2027-03-12"',
    )


Refusal = tuple[bool, str, str]
"""Whether it is refused, what, and what to do."""


def _refusals(profile: Profile, chosen: TableParameters, entry: EntryMode) -> Iterator[Refusal]:
    """Yield what a profile does not allow a table, or the table's own settings do not."""
    name, use, player = profile.name, profile.cover.use, profile.activation.by_player
    by_itself, by_table = profile.entry.auto_needs_approval, profile.pacing.by_table
    shaker, force = profile.attendance.shaker, profile.payout.force
    excused = bool(chosen.approval or chosen.as_demonstration)
    unattended, fitted = not chosen.attended, chosen.cover_fitted
    yield (
        chosen.paytable not in profile.payout.tables,
        f"paytable: {name} has no paytable `{chosen.paytable}` ({force.clause})",
        f"Choose {' or '.join(profile.payout.tables)}",
    )
    yield (
        use.value is CoverUse.REQUIRED and not fitted,
        f"cover_fitted: {name} requires a cover ({use.clause})",
        "Fit the cover and its contact, and set table.cover_fitted = true",
    )
    yield (
        use.value is CoverUse.FORBIDDEN and fitted,
        f"cover_fitted: {name} forbids a cover ({use.clause})",
        "Take the cover off, and set table.cover_fitted = false",
    )
    yield (
        chosen.cover_driven and not fitted,
        "cover_driven: there is no cover to drive",
        "Set table.cover_fitted = true, or table.cover_driven = false",
    )
    yield (
        chosen.player_activated and not player.value,
        f"player_activated: {name} has the dealer activate ({player.clause})",
        "Set table.player_activated = false",
    )
    yield (
        entry is EntryMode.AUTO and by_itself.value and not excused,
        f"entry_mode: `auto` under {name} needs an approval ({by_itself.clause})",
        'Name it: table.approval = "…"; or choose dealer_confirm',
    )
    yield (
        chosen.autonomous and not by_table.value and not excused,
        f"autonomous: {name} has the dealer pace the table ({by_table.clause})",
        'Set table.autonomous = false; or name the approval: table.approval = "…"',
    )
    yield (
        unattended and shaker.value is Attendance.REQUIRED and not chosen.as_demonstration,
        f"attended: {name} requires attendance ({shaker.clause})",
        "Set table.attended = true",
    )
    yield (
        unattended and not (entry is EntryMode.AUTO and chosen.autonomous),
        "attended: without a dealer the table must read and pace itself",
        'Set table.entry_mode = "auto" and table.autonomous = true',
    )
    yield (
        unattended and fitted and not chosen.cover_driven,
        "attended: without a dealer nobody moves the cover",
        "Set table.cover_driven = true where a drive is fitted, or take the cover off",
    )
