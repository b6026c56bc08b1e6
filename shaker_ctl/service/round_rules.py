"""Under which rules a table played last, and whether it may go on under today's.

A round is settled by the rules under which its bets were made (58 Pa. Code 521.8(b), AGCO 6.1.2).
Owns what of the settings counts as rules, and the record of a change. Must not know files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from shaker_ctl.errors import JournalCorruptError, SettingsError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.day_sheet import RULES_CHANGED
from shaker_ctl.journal.record import Entry, Record, names_its_record
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.rulebook import Rulebook, rulebook
from shaker_ctl.service.recovery import Recovered, may_be_left, recover

KEY = "rules"
"""Under which each opening record, and each record that begins a volume, has them."""

DECIDING = (
    *("profile", "paytable", "entry_mode", "approval", "as_demonstration", "autonomous"),
    *("attended", "player_activated", "cover_fitted", "dice_locked_and_compliant"),
)
"""Settings that decide how a round is played and paid; the others are its pace."""


@frozen
class RoundRules:
    """The rules of a table at one time."""

    table: Mapping[str, Any]
    """The settings of the section `table`, as they are recorded."""
    digest: str
    """Of the profile's text."""

    def decides_as(self, other: RoundRules) -> bool:
        """Whether rounds are played and paid alike under both."""
        ours, theirs = ([of.table.get(key) for key in DECIDING] for of in (self, other))
        return ours == theirs and self.digest == other.digest

    def words(self) -> str:
        """For people: `pa-625a, paytable A, entry dealer_confirm`."""
        entry = self.table.get("entry_mode") or "as the text has it"
        return f"{self.table.get('profile')}, paytable {self.table.get('paytable')}, entry {entry}"

    def change_to(self, now: RoundRules, sealed_by: str) -> Entry:
        """Return the record of a change, made where no round stood. `sealed_by`: who signed the
        settings of now; empty where nobody did."""
        told = [
            f"{key} {self.table.get(key)!r} -> {now.table.get(key)!r}"
            for key in DECIDING
            if self.table.get(key) != now.table.get(key)
        ]
        if self.digest != now.digest:
            told.append(f"text {self.digest[:12]} -> {now.digest[:12]}")
        by = f"sealed by {sealed_by}" if sealed_by else "unsealed: nobody is named"
        body = {
            "from": {**self.table, "digest": self.digest},
            "to": {**now.table, "digest": now.digest},
            "note": f"{'; '.join(told)}; {by}",
        }
        return Entry(RULES_CHANGED, body)


def of_settings(parameters: TableParameters, digest: str) -> RoundRules:
    """Return the rules of today."""
    return RoundRules(parameters.model_dump(mode="json"), digest)


@names_its_record
def on_record(milestones: Iterable[Record]) -> RoundRules | None:
    """Return the rules of the newest run; None before the first. `milestones`: newest first."""
    for record in milestones:
        plain = record.plain
        if isinstance(table := plain.get(KEY), dict):
            return RoundRules(table, str(plain.get("digests", {}).get("profile", "")))
    return None


def rulebook_of(then: RoundRules) -> Rulebook | None:
    """Return the rulebook that they made; None where this program has their text no more."""
    try:
        return rulebook(TableParameters.model_validate(dict(then.table)))
    except (SettingsError, ValueError):
        return None


class Remembered(Protocol):
    """A journal, read backwards."""

    def newest_first(self) -> Iterator[Record]: ...

    def milestones(self) -> Iterator[Record]: ...


def recovered(
    journal: Remembered, now: RoundRules, book: Rulebook
) -> tuple[Recovered, RoundRules | None]:
    """Return the state where the journal left it, and the rules that held then, where they are
    known. The state is replayed under those.

    Raises SettingsError where a round stands under other rules than `now`, and JournalCorruptError
    as `recover` does.
    """
    then = on_record(journal.milestones())
    if then is None or then.decides_as(now):
        return recover(journal.newest_first(), book), then
    try:
        found = recover(journal.newest_first(), rulebook_of(then) or book)
    except JournalCorruptError as error:  # the text as it read then is here no more
        raise _refused(_newest_round(journal), then, now) from error
    if not may_be_left(found.state):
        raise _refused(found.state.round, then, now)
    return found, then


def _newest_round(journal: Remembered) -> int:
    numbers = (one.plain["round"] for one in journal.newest_first())
    return next((int(number) for number in numbers if number), 0)


def _refused(number: int, then: RoundRules, now: RoundRules) -> SettingsError:
    """Return why a start under `now` is refused while a round stands under `then`."""
    what = then.words() if then.words() != now.words() else f"{then.words()}, as it read then"
    return SettingsError(
        f"round {number} stands under {what}; the settings say {now.words()}",
        remedy="Start with the rules of the round, settle it, stop the table; then change them",
    )
