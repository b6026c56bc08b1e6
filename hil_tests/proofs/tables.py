"""The tables that are proved: every profile, in every way of playing that changes its rows.

Owns the list of settings under exploration, and what each regulation expects of them, written down
a second time from the texts and not read from the profiles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.profile_files import load
from shaker_ctl.rules.regulation import EntryMode, Profile
from shaker_ctl.rules.rulebook import Rulebook, rulebook
from shaker_ctl.rules.vocabulary import Role, WagersDo

FLOOR = frozenset({Role.FLOORPERSON})
FLOOR_UP = frozenset({Role.FLOORPERSON, Role.SUPERVISOR})
SUPERVISOR = frozenset({Role.SUPERVISOR})


@dataclass(frozen=True)
class Expected:
    """What the texts say, in the words of the comparison, independent of the profile files."""

    nmb_before_reveal: bool
    wagers_without_result: WagersDo
    """After no roll and void."""
    presence: frozenset[Role]
    signs: frozenset[Role]
    shift: frozenset[Role]
    """Who inspects at the start of a shift; empty: nobody."""
    multipliers: bool = False
    player: bool = False
    attended: bool = True
    auto: bool = False
    reads_after_interruption: bool = True
    dice_by_two: bool = False
    dice_removed: bool = True
    """The dice leave the automated shaker before a manual one is used."""


@dataclass(frozen=True)
class Table:
    """One table under exploration."""

    name: str
    rules: Rulebook
    expected: Expected
    day: datetime
    """A day on which it may play."""
    bad_days: tuple[datetime, ...] = ()
    """Days on which the instrument is not in force."""

    def in_use(self, *, manual: bool) -> Table:
        """Return what is expected with the shaker in use: the automated one, or a manual one."""
        return self._by_hand if manual else self

    @cached_property
    def _by_hand(self) -> Table:
        """The dealer shakes, paces and enters; no shift inspects a shaker that is out of use."""
        expected = replace(
            self.expected, nmb_before_reveal=False, shift=NOBODY, player=False, auto=False
        )
        return replace(self, rules=self.rules.in_use(manual=True), expected=expected)


TODAY = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
RETURNED, SILENT = WagersDo.RETURNED, WagersDo.SILENT


NOBODY: frozenset[Role] = frozenset()
PA = Expected(
    nmb_before_reveal=False,
    wagers_without_result=RETURNED,
    presence=FLOOR_UP,
    signs=FLOOR,
    shift=NOBODY,
)
"""Pennsylvania, all three texts."""


def _rules(**settings: object) -> Rulebook:
    return rulebook(TableParameters.model_validate(settings))


def tables() -> tuple[Table, ...]:
    """Return all tables that are proved."""
    early = datetime(2019, 8, 30, 12, 0, tzinfo=UTC)
    b_days = (datetime(2023, 8, 4, 12, 0, tzinfo=UTC), datetime(2026, 8, 5, 4, 0, tzinfo=UTC))
    return (
        Table(
            "pa-625a, no cover, dealer confirms",
            _rules(profile="pa-625a"),
            replace(PA, nmb_before_reveal=False),
            TODAY,
            (early,),
        ),
        Table(
            "pa-625a, cover moved by hand, dealer enters",
            _rules(profile="pa-625a", cover_fitted=True, entry_mode="dealer_entry"),
            replace(PA, nmb_before_reveal=True),
            TODAY,
        ),
        Table(
            "pa-625a, player activates under a driven cover, automatic by approval, self-paced",
            _rules(
                profile="pa-625a",
                cover_fitted=True,
                cover_driven=True,
                player_activated=True,
                entry_mode=EntryMode.AUTO,
                approval="letter of 2026-01-15",
                autonomous=True,
            ),
            replace(PA, nmb_before_reveal=False, player=True, auto=True),
            TODAY,
        ),
        Table(
            "pa-625b, no cover, dealer confirms, self-paced",
            _rules(profile="pa-625b", autonomous=True, approval="letter of 2026-01-15"),
            replace(PA, nmb_before_reveal=False, multipliers=True),
            TODAY,
            b_days,
        ),
        Table(
            "pa-625b, driven cover, dealer confirms",
            _rules(profile="pa-625b", cover_fitted=True, cover_driven=True),
            replace(PA, nmb_before_reveal=True, multipliers=True),
            TODAY,
            b_days,
        ),
        Table(
            "pa-625b, no cover, dealer enters",
            _rules(profile="pa-625b", entry_mode="dealer_entry"),
            replace(PA, nmb_before_reveal=False, multipliers=True),
            TODAY,
            b_days,
        ),
        Table(
            "ma, dealer confirms",
            _rules(profile="ma"),
            Expected(
                nmb_before_reveal=False,
                wagers_without_result=SILENT,
                presence=SUPERVISOR,
                signs=FLOOR,
                shift=SUPERVISOR,
                dice_removed=False,
            ),
            TODAY,
        ),
        Table(
            "pa-539, dealer enters, in its time",
            _rules(profile="pa-539", entry_mode="dealer_entry"),
            replace(PA, nmb_before_reveal=False, dice_removed=False),
            datetime(2011, 3, 2, 12, 0, tzinfo=UTC),
            (datetime(2012, 4, 4, 4, 0, tzinfo=UTC), datetime(2010, 4, 2, 23, 0, tzinfo=UTC)),
        ),
        Table(
            "md, driven cover, dealer confirms",
            _rules(profile="md", cover_fitted=True, cover_driven=True, dice_by_two=True),
            Expected(
                dice_by_two=True,
                nmb_before_reveal=True,
                wagers_without_result=RETURNED,
                presence=FLOOR_UP,
                signs=FLOOR_UP,
                shift=NOBODY,
            ),
            TODAY,
        ),
        Table(
            "house-auto, no cover, unattended",
            _rules(profile="house-auto", attended=False, autonomous=True),
            Expected(
                nmb_before_reveal=False,
                wagers_without_result=RETURNED,
                presence=FLOOR_UP,
                signs=FLOOR_UP,
                shift=NOBODY,
                attended=False,
                auto=True,
                reads_after_interruption=False,
            ),
            TODAY,
        ),
        Table(
            "pa-625b as a demonstration, driven cover, unattended",
            _rules(
                profile="pa-625b",
                cover_fitted=True,
                cover_driven=True,
                attended=False,
                autonomous=True,
                entry_mode=EntryMode.AUTO,
                as_demonstration=True,
            ),
            replace(
                PA,
                nmb_before_reveal=True,
                multipliers=True,
                attended=False,
                auto=True,
                reads_after_interruption=False,
            ),
            TODAY + timedelta(days=365),
        ),
        Table(
            "house-auto, driven cover, unattended",
            _rules(
                profile="house-auto",
                cover_fitted=True,
                cover_driven=True,
                attended=False,
                autonomous=True,
            ),
            replace(
                PA,
                nmb_before_reveal=True,
                signs=FLOOR_UP,
                attended=False,
                auto=True,
                reads_after_interruption=False,
            ),
            TODAY,
        ),
        Table(
            "house-auto, no cover, a player activates, attended",
            _rules(profile="house-auto", player_activated=True, autonomous=True),
            replace(PA, signs=FLOOR_UP, player=True, auto=True, reads_after_interruption=False),
            TODAY,
        ),
        Table(
            "an imagined text: ma with a cover, self-paced as a demonstration",
            rulebook(
                TableParameters(
                    profile="ma",
                    cover_fitted=True,
                    cover_driven=True,
                    autonomous=True,
                    entry_mode=EntryMode.AUTO,
                    as_demonstration=True,
                ),
                _with_a_cover(load("ma")),
            ),
            Expected(
                nmb_before_reveal=False,
                wagers_without_result=SILENT,
                presence=SUPERVISOR,
                signs=FLOOR,
                shift=SUPERVISOR,
                dice_removed=False,
                auto=True,
            ),
            TODAY,
        ),
    )


def imagined() -> tuple[Table, ...]:
    """Return tables that no text has, for moments of a guard that no other table has.

    Nothing is proved of them: a house's own profile may ask for them.
    """
    late = load("house-auto").model_dump()
    late["order"]["uncovered_or_player_activated"]["value"] = "reveal"
    late["cover"]["use"]["value"] = "required"
    late["cover"]["interlock"]["value"] = "must_be_closed"
    return (
        Table(
            "imagined: ma with a cover, paced by its dealer",
            rulebook(TableParameters(profile="ma", cover_fitted=True), _with_a_cover(load("ma"))),
            replace(PA, presence=SUPERVISOR, shift=SUPERVISOR),
            TODAY,
        ),
        Table(
            "imagined: a player activates, and bets close before the reveal",
            rulebook(
                TableParameters(profile="house-auto", player_activated=True, cover_fitted=True),
                Profile.model_validate(late),
            ),
            replace(PA, nmb_before_reveal=True, player=True),
            TODAY,
        ),
    )


def _with_a_cover(profile: Profile) -> Profile:
    """A jurisdiction that none of the five is: covered, and bets close before activation."""
    told = profile.model_dump()
    told["cover"]["use"]["value"] = "required"
    told["cover"]["interlock"]["value"] = "must_be_closed"
    return Profile.model_validate(told)
