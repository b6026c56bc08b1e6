"""The tables that are proved: every profile, in every way of playing that changes its rows.

Owns how the list of them (`tables.toml`) is read: the settings under exploration, and what each
regulation expects of them. This is written down a second time from the texts, and not read from the
profiles.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.profile_files import EXAMPLES, load
from shaker_ctl.rules.regulation import Profile
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
    stands_after_no_roll: bool = False
    """The dice are shaken again over the same wagers, where they can be."""
    dice_removed: bool = True
    """The dice leave the automated shaker before a manual one is used."""


@dataclass(frozen=True)
class ExploredTable:
    """One table under exploration."""

    name: str
    rules: Rulebook
    expected: Expected
    day: datetime
    """A day on which it may play."""
    bad_days: tuple[datetime, ...] = ()
    """Days on which the instrument is not in force."""

    def in_use(self, *, manual: bool) -> ExploredTable:
        """Return what is expected with the shaker in use: the automated one, or a manual one."""
        return self._by_hand if manual else self

    @cached_property
    def _by_hand(self) -> ExploredTable:
        """The dealer shakes, paces and enters; no shift inspects a shaker that is out of use."""
        expected = replace(
            self.expected, nmb_before_reveal=False, shift=NOBODY, player=False, auto=False
        )
        return replace(self, rules=self.rules.in_use(manual=True), expected=expected)


TABLES = Path(__file__).with_name("tables.toml")
TODAY = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


NOBODY: frozenset[Role] = frozenset()
PA = Expected(
    nmb_before_reveal=False,
    wagers_without_result=WagersDo.RETURNED,
    presence=FLOOR_UP,
    signs=FLOOR,
    shift=NOBODY,
)
"""Pennsylvania, all three texts."""


@cache
def tables() -> tuple[ExploredTable, ...]:
    """Return all tables that are proved."""
    rows = tomllib.loads(TABLES.read_text("utf-8").replace("{examples}", str(EXAMPLES)))
    return tuple(_table(name, **row) for name, row in rows.items())


def _table(
    name: str,
    settings: dict[str, Any],
    expected: dict[str, Any] | None = None,
    day: datetime = TODAY,
    bad_days: Sequence[datetime] = (),
    *,
    with_a_cover: bool = False,
) -> ExploredTable:
    """Make one table of its row."""
    parameters = TableParameters.model_validate(settings)
    profile = load(parameters.profile)
    rules = rulebook(parameters, _with_a_cover(profile) if with_a_cover else profile)
    differs = TypeAdapter(Expected).validate_python({**asdict(PA), **(expected or {})})
    return ExploredTable(name, rules, differs, day, tuple(bad_days))


def _with_a_cover(profile: Profile) -> Profile:
    """A jurisdiction that none of the five is: covered, and bets close before activation."""
    told = profile.model_dump()
    told["cover"]["use"]["value"] = "required"
    told["cover"]["interlock"]["value"] = "must_be_closed"
    return Profile.model_validate(told)
