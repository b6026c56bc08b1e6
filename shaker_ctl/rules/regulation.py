"""Type and bounds of every number and ordering that a rule text fixes.

Owns the shape of a profile. Must not know files (`profile_files`), settings, or what the table does
with a value.

Every value stands beside its clause: `{ value = "required", clause = "1.D(2)(a)" }`. Where a value
rests on a reading and not on the words, `reading` says which and why. A profile may lie
`on_top_of` another: what it leaves out, the other says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from shaker_ctl.rules.layout import (
    MULTISETS,
    OWN_LAMPS,
    SIC_BO,
    AreaRule,
    Layout,
    OnTriple,
    lines_of,
)
from shaker_ctl.rules.outcome import Area
from shaker_ctl.rules.vocabulary import RetireStep, Role, WagersDo

T = TypeVar("T")

NOT_STATED = "not stated"


def among(*allowed: Enum) -> BeforeValidator:
    """Allow only some members of an Enum, and name no other."""

    def check(value: object) -> object:
        if value not in (*allowed, *(member.value for member in allowed)):
            raise ValueError("one of " + ", ".join(f"`{member.value}`" for member in allowed))
        return value

    return BeforeValidator(check)


class Strict(BaseModel):
    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class Cited(Strict, Generic[T]):
    """A value and where it stands."""

    value: T
    clause: str = Field(min_length=1)
    reading: str = ""
    """Set where the value is our reading of the text, or where the text is silent."""


def said(value: object) -> str:
    """Return a profile's value in words: enums by value, tuples by commas."""
    if isinstance(value, Enum):
        return said(value.value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(said(each) for each in value) or "nobody"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value).replace("_", " ")


def values_of(part: Strict, where: str = "") -> Iterator[tuple[str, Cited[Any]]]:
    """Yield (key, cited value) for every value of a profile, in the order of the file."""
    for name in type(part).model_fields:
        value = getattr(part, name)
        key = f"{where}.{name}" if where else name
        if isinstance(value, Cited):
            yield key, value
        elif isinstance(value, Strict):
            yield from values_of(value, key)


class CoverUse(Enum):
    OPTIONAL = "optional"
    FORBIDDEN = "forbidden"
    REQUIRED = "required"


class CoverInterlock(Enum):
    MUST_BE_CLOSED = "must_be_closed"
    """During the toss, until the reveal."""
    MUST_BE_ABSENT = "must_be_absent"
    AS_FITTED = "as_fitted"
    """Closed during the toss where a cover is fitted; otherwise there is no contact."""


class NmbBefore(Enum):
    """What "no more bets" must come before."""

    ACTIVATE = "activate"
    REVEAL = "reveal"


class EntryMode(Enum):
    DEALER_ENTRY = "dealer_entry"
    """The dealer enters the values read by eye; the reader only checks."""
    DEALER_CONFIRM = "dealer_confirm"
    """The reader proposes verified values; the dealer repeats them."""
    AUTO = "auto"
    """Verified values go to the lamps by themselves."""


class Attendance(Enum):
    REQUIRED = "required"
    MAY_BE_UNATTENDED = "may_be_unattended"


class InterruptedAfterToss(Enum):
    DEALER_READS = "dealer_reads"
    VOID = "void"


class Force(Enum):
    EXACTLY = "exactly"
    """These odds and no others."""
    NO_LESS_THAN = "no_less_than"


class DiceAge(Enum):
    """Longest time that dice may be used for play."""

    DAY = "24 hours"
    MONTH = "1 month"
    UNLIMITED = "unlimited"


class InForce(Strict):
    effective_from: Cited[date | Literal["not stated"]]
    """First day in force."""
    last_day: Cited[date | Literal["not stated", "none"]]
    """Last day in force."""
    time_zone: Cited[str]
    """The jurisdiction's own zone, as `America/New_York`: its days begin and end there."""

    @model_validator(mode="after")
    def _days_begin_somewhere(self) -> InForce:
        dated = isinstance(self.effective_from.value, date) or isinstance(self.last_day.value, date)
        if self.time_zone.value == NOT_STATED:
            if dated:
                raise ValueError("a dated text needs the `time_zone` that its days are counted in")
            return self
        try:
            ZoneInfo(self.time_zone.value)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(
                f"this machine knows no time zone `{self.time_zone.value}`: correct its name, or "
                "install the package tzdata"
            ) from error
        return self


class CoverRule(Strict):
    use: Cited[CoverUse]
    interlock: Cited[CoverInterlock]
    drive: Cited[bool]
    """A motor may move the cover."""

    @model_validator(mode="after")
    def _interlock_fits(self) -> CoverRule:
        fits = {
            CoverUse.OPTIONAL: CoverInterlock.AS_FITTED,
            CoverUse.FORBIDDEN: CoverInterlock.MUST_BE_ABSENT,
            CoverUse.REQUIRED: CoverInterlock.MUST_BE_CLOSED,
        }[self.use.value]
        if self.interlock.value is not fits:
            raise ValueError(f"with a cover {self.use.value.value}, interlock is `{fits.value}`")
        if self.drive.value and self.use.value is CoverUse.FORBIDDEN:
            raise ValueError("a forbidden cover has no drive")
        return self


class OrderRule(Strict):
    nmb_before: Cited[NmbBefore]
    uncovered_or_player_activated: Cited[NmbBefore | Literal["not provided"]]
    """625a.5(g): the order where no cover is fitted, or a player activates."""
    manual: Cited[NmbBefore]
    """The order of a manual shaker: before it is shaken (`activate`), or before the reveal."""


class Activation(Strict):
    by_dealer: Cited[Literal[True]]
    by_player: Cited[bool]


class Pacing(Strict):
    by_table: Cited[bool]
    """The table may announce, activate, reveal and clear by itself. False: those are the dealer's
    acts, and a table that does them takes the name of an approval."""


class EntryRule(Strict):
    mode: Cited[EntryMode]
    """Default; `auto` elsewhere takes the name of an approval."""
    auto_needs_approval: Cited[bool]
    announce: Cited[str]
    settled_when: Cited[str]
    dispute: Cited[str]
    """Where the dealer and the reader differ."""
    correction: Cited[str]
    """Where a person typed what the dice do not show, and wagers are not settled yet."""


class AttendanceRule(Strict):
    shaker: Cited[Attendance]


Roles = Annotated[tuple[Role, ...], Field(min_length=1)]
"""Who may do what a text names a person for: never nobody."""


class OpeningInspection(Strict):
    signed_by: Cited[Roles]
    lamp_entries: Cited[Annotated[int, Field(ge=3, le=3)]]
    cycles: Cited[Annotated[int, Field(ge=3, le=10)]]
    consecutive: Cited[Literal[True]]
    each_lamp: Cited[Literal[True]]
    due_again: Cited[str]
    """What makes an inspection due that was signed before."""


class ShiftInspection(Strict):
    required: Cited[bool]
    signed_by: Cited[tuple[Role, ...]]
    cycles: Cited[Annotated[int, Field(ge=0, le=10)]]

    @model_validator(mode="after")
    def _somebody_does_it(self) -> ShiftInspection:
        if self.required.value and not (self.signed_by.value and self.cycles.value):
            raise ValueError("an inspection that is required has cycles and somebody who signs it")
        if not {Role.FLOORPERSON, Role.SUPERVISOR}.issuperset(self.signed_by.value):
            raise ValueError("a shift is inspected by a floorperson or a supervisor")
        return self


class Consequence(Strict):
    wagers: Cited[Annotated[WagersDo, among(WagersDo.RETURNED, WagersDo.SILENT)]]
    told: Cited[str]
    """What the dealer is told."""


class NoRollRule(Consequence):
    wagers: Cited[Annotated[WagersDo, among(WagersDo.RETURNED, WagersDo.SILENT, WagersDo.STAND)]]


class VoidRule(Consequence):
    disturbed: Cited[str]
    """A toss that was broken into, or moved nothing, and no shaker failed."""


class LampFaultRule(Strict):
    presence: Cited[Roles]
    """Who must be there before anything is settled by hand."""
    told: Cited[str]
    resume_when_fixed: Cited[Literal["device", "device or area"]]
    covers: Cited[Literal["device", "device and area"]]
    """Whose failure the clause is about."""


class ReaderFaultRule(Strict):
    attended: Cited[Literal["dealer enters"]]
    unattended: Cited[Literal["void"]]
    told: Cited[str]


class Interruption(Strict):
    after_toss: Cited[InterruptedAfterToss]


class OutOfOrder(Strict):
    steps: Cited[tuple[RetireStep, ...]]
    """All of them, before a manual shaker may be used."""
    told: Cited[str]


class DiceRule(Strict):
    number: Cited[Annotated[int, Field(ge=3, le=3)]]
    automated: Cited[DiceAge]
    """Locked in an automated shaker and compliant."""
    otherwise: Cited[DiceAge]
    """Not locked, or not compliant."""
    manual: Cited[DiceAge]
    """In a manual shaker."""


class Settling(Strict):
    order: Cited[Literal["collect losing, then pay winning"]]
    clear: Cited[str]


class RoundRule(Strict):
    min_length_s: Cited[Annotated[float, Field(ge=0, le=600)]]


class Wagers(Strict):
    areas: Cited[Annotated[int, Field(ge=50, le=64)]]
    even_odd_on_triple: Cited[OnTriple]
    two_of_a_kind_on_triple: Cited[Annotated[OnTriple, among(OnTriple.WIN, OnTriple.LOSE)]]
    small_big_on_triple: Cited[Annotated[OnTriple, among(OnTriple.LOSE)]]


MULTIPLIABLE = frozenset(line for area in SIC_BO for line in lines_of(area))
"""Lines of a paytable that a multiplier may stand on. Areas of a house have no display for one."""


class Printed(Strict):
    """A line of a paytable, as printed."""

    printed: str = Field(pattern=r"^[1-9]\d* to [1-9]\d*$")
    clause: str = Field(min_length=1)
    pays: str = Field(default="", pattern=r"^([1-9]\d* to [1-9]\d*)?$")
    """What is paid where the print is an evident error; otherwise empty."""
    reading: str = ""

    @model_validator(mode="after")
    def _typo_is_explained(self) -> Printed:
        if self.pays and not self.reading:
            raise ValueError("`pays` other than `printed` needs a `reading` that says why")
        return self

    @property
    def printed_odds(self) -> Fraction:
        """Odds to 1, exactly as printed."""
        return _odds(self.printed)

    @property
    def odds(self) -> Fraction:
        """Odds to 1 that are paid."""
        return _odds(self.pays or self.printed)


def _odds(text: str) -> Fraction:
    win, _, stake = text.partition(" to ")
    return Fraction(int(win), int(stake))


class Payout(Strict):
    force: Cited[Force]
    wording: Cited[str]
    tables: dict[str, dict[str, Printed]]
    """Paytable letter to lines."""

    def complete(self, layout: Layout) -> None:
        """Raise ValueError unless each table has the lines of this layout, and lawful odds."""
        wanted = {line for area in layout.areas for line in layout.rules[area].pays}
        for letter, lines in self.tables.items():
            missing, unknown = sorted(wanted - set(lines)), sorted(set(lines) - wanted)
            wrong = [f"`{name}` is missing" for name in missing]
            wrong += [f"`{name}` is no wager of this layout" for name in unknown]
            if wrong:
                raise ValueError(f"paytable {letter}: {'; '.join(wrong)}")
            for name, line in lines.items():
                self._forced(letter, name, line)

    def _forced(self, letter: str, name: str, line: Printed) -> None:
        """Refuse odds that the text's own words do not allow."""
        exactly = self.force.value is Force.EXACTLY
        if line.odds < line.printed_odds or (exactly and line.odds != line.printed_odds):
            raise ValueError(
                f"paytable {letter}, `{name}`: pays {line.pays}, but the text prints "
                f"{line.printed} and has it paid {'exactly' if exactly else 'at no less'} "
                f"({self.force.clause})"
            )


class Range(Strict):
    """Odds (to 1) between which a multiplied position pays."""

    least: Annotated[int, Field(ge=1)]
    most: Annotated[int, Field(ge=1)]
    clause: str = Field(min_length=1)

    @model_validator(mode="after")
    def _ordered(self) -> Range:
        if self.least > self.most:
            raise ValueError(f"least {self.least} is above most {self.most}")
        return self


class Multipliers(Strict):
    offered: Cited[bool]
    when: Cited[str]
    never: Cited[tuple[Literal["small", "big", "even", "odd"], ...]]
    displays: Cited[str]
    """Whether the opening inspection looks at the displays of multiplied wagers."""
    ranges: dict[str, Range] = {}
    """By paytable line. A line that is not here is never multiplied."""

    @model_validator(mode="after")
    def _only_what_may_be(self) -> Multipliers:
        for name in self.ranges:
            if name not in MULTIPLIABLE or name in self.never.value:
                raise ValueError(f"`{name}` cannot carry a multiplier ({self.never.clause})")
        if self.offered.value != bool(self.ranges):
            raise ValueError("multipliers are offered exactly where ranges are given")
        return self


AREA = re.compile(r"[a-z]+(-[a-z0-9]+)*")

NUMBERED = ("total-", "one-", "pair-", "double-", "triple-")
"""How areas of Sic Bo are called and read out: `pair-2-1` of a house would be taken for one."""

ON_TRIPLE = ("small_big_on_triple", "even_odd_on_triple", "two_of_a_kind_on_triple")


class Profile(Strict):
    """One rule text, as data."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    title: str = Field(min_length=1)
    instrument: str = Field(min_length=1)
    rests_on_instrument: bool
    """False: the house's own rules, marked as such everywhere."""
    caution: str = ""
    """Shown wherever the profile is shown."""
    oddities: tuple[str, ...] = ()
    """Misprints and gaps of the text, kept and not corrected."""
    own_file: bool = Field(default=False, exclude=True)
    """True for a file that does not come with the product. The loader says so, never the file."""

    in_force: InForce
    cover: CoverRule
    order: OrderRule
    activation: Activation
    pacing: Pacing
    entry: EntryRule
    attendance: AttendanceRule
    opening_inspection: OpeningInspection
    shift_inspection: ShiftInspection
    no_roll: NoRollRule
    void: VoidRule
    not_started: Consequence
    lamp_fault: LampFaultRule
    reader_fault: ReaderFaultRule
    interruption: Interruption
    out_of_order: OutOfOrder
    dice: DiceRule
    settling: Settling
    round: RoundRule
    wagers: Wagers
    payout: Payout
    multipliers: Multipliers
    areas: dict[Area, AreaRule] = {}
    """Areas of the house, beside those of Sic Bo."""

    @cached_property
    def layout(self) -> Layout:
        """The areas that a table of this profile offers."""
        told = {key: getattr(self.wagers, key).value for key in ON_TRIPLE}
        return Layout(told, self.areas)

    @model_validator(mode="after")
    def _own_areas(self) -> Profile:
        stand = self.no_roll.wagers.value is WagersDo.STAND
        if self.rests_on_instrument and (self.areas or stand):
            raise ValueError(
                "`areas`, and `no_roll.wagers` that stand, are a house's own: its name begins with "
                "`house`, and it says rests_on_instrument = false"
            )
        lamps = [rule.lamp for rule in self.areas.values()]
        for area, rule in self.areas.items():
            if area in SIC_BO or not AREA.fullmatch(area) or area.startswith(NUMBERED):
                raise ValueError(f"areas.{area}: call it otherwise, such as `four-1-2-3-4`")
            if rule.lamp not in OWN_LAMPS or lamps.count(rule.lamp) > 1:
                raise ValueError(
                    f"areas.{area}: lamp {rule.lamp} is taken; a house's own are "
                    f"{OWN_LAMPS[0]} to {OWN_LAMPS[-1]}, one for each area"
                )
            if not rule.clause:
                raise ValueError(f"areas.{area}: name its `clause`")
            if not any(area in self.layout.won(values) for values in MULTISETS):
                raise ValueError(f"areas.{area}: no toss wins, as `wagers.{rule.on_triple}` says")
        if len(self.layout.areas) != self.wagers.areas.value:
            raise ValueError(
                f"`wagers.areas` says {self.wagers.areas.value}, but the layout has "
                f"{len(self.layout.areas)}: 50, Even and Odd where they are offered, and `areas`"
            )
        self.payout.complete(self.layout)
        return self

    @model_validator(mode="after")
    def _whole(self) -> Profile:
        for letter, lines in self.payout.tables.items():
            for name, span in self.multipliers.ranges.items():
                if lines[name].odds != span.least:
                    raise ValueError(
                        f"multipliers.{name} starts at {span.least}, but paytable {letter} pays "
                        f"{lines[name].odds} without one ({span.clause})"
                    )
        nmb, cover = self.order.nmb_before, self.cover.use
        elsewhere = self.order.uncovered_or_player_activated.value
        may_be_uncovered = cover.value is not CoverUse.REQUIRED
        reveals = nmb.value is NmbBefore.REVEAL and elsewhere is not NmbBefore.ACTIVATE
        if may_be_uncovered and reveals:
            raise ValueError(
                "without a cover nothing is revealed: no more bets must come before activation "
                f"({nmb.clause}, {cover.clause})"
            )
        before_toss = nmb.value is NmbBefore.ACTIVATE and elsewhere is not NmbBefore.REVEAL
        if self.no_roll.wagers.value is WagersDo.STAND and not before_toss:
            raise ValueError(
                "where wagers stand after a no roll, bets close before activation: "
                f"`order.nmb_before` ({self.no_roll.wagers.clause})"
            )
        player = self.activation.by_player
        if player.value and self.order.uncovered_or_player_activated.value == "not provided":
            raise ValueError(
                f"a player may activate ({player.clause}), but no order for it is provided"
            )
        return self

    def day(self, moment: datetime) -> date:
        """Return the jurisdiction's day at this moment; the UTC day of an undated text."""
        zone = self.in_force.time_zone.value
        return moment.astimezone(UTC if zone == NOT_STATED else ZoneInfo(zone)).date()
