"""A round is settled under the rules under which its bets were made."""

from __future__ import annotations

from typing import Any

import pytest

from shaker_ctl.errors import SettingsError
from shaker_ctl.journal.record import Entry, Head, Record, canonical, genesis, link
from shaker_ctl.main import EX_CONFIG, exit_status
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import Playing
from shaker_ctl.service.round_rules import of_settings, on_record, recovered


class Journal:
    """A run under the given settings, killed after what was played."""

    def __init__(self, played: Playing, digest: str = "text", **table: Any) -> None:
        self.records: list[Record] = []
        self._digest = digest
        self._add(Entry("opening", {"rules": TableParameters(**table).model_dump(mode="json")}))
        for event, step in played.history:
            body = {
                "event": to_record(event),
                "rows": [row.name for row in step.rows],
                "decision": [to_record(command) for command in step.commands],
            }
            self._add(Entry("step", body, step.state.round or None))

    def _add(self, entry: Entry) -> None:
        last = self.records[-1] if self.records else None
        head = genesis("x") if last is None else Head(last.sequence, last.hash)
        self.records.append(
            link(
                head,
                entry,
                monotonic_s=0.0,
                wall="2026-03-02T12:00:00+00:00",
                digests={"profile": self._digest},
            )
        )

    def newest_first(self) -> Any:
        return reversed(self.records)

    def milestones(self) -> Any:
        return (one for one in reversed(self.records) if one.plain["kind"] != "step")


def start(journal: Journal, digest: str = "text", **table: Any) -> Any:
    parameters = TableParameters(**table)
    found, _ = recovered(journal, of_settings(parameters, digest), rulebook(parameters))
    return found.state


@pytest.mark.parametrize(
    ("digest", "table"),
    [
        ("text", {"profile": "ma"}),
        ("text", {"paytable": "B"}),
        ("text", {"entry_mode": "dealer_entry"}),
        ("text", {"profile": "pa-625b", "as_demonstration": True}),
        ("another text of the same name", {}),
    ],
)
def test_a_standing_round_does_not_go_on_under_other_rules(
    digest: str, table: dict[str, Any]
) -> None:
    journal = Journal(Playing().open().lit())
    with pytest.raises(SettingsError, match="round 1 stands under pa-625a, paytable A") as caught:
        start(journal, digest, **table)
    assert "settle it" in caught.value.remedy
    assert start(journal).round == 1


@pytest.mark.parametrize("table", [{"profile": "ma"}, {"paytable": "B"}, {"profile": "md"}])
def test_without_a_round_in_hand_other_rules_hold_and_the_record_says_so(
    table: dict[str, Any],
) -> None:
    """Also where the rows of the former rules would not replay under the new ones."""
    table = {**table, "cover_fitted": table.get("profile") == "md"}
    journal = Journal(Playing().open().lit().cleared())
    assert start(journal, **table).phase is Phase.READY
    then = on_record(journal.milestones())
    assert then is not None
    change = then.change_to(of_settings(TableParameters(**table), "text"), "Ann Approver")
    (key,) = table.keys() - {"cover_fitted"}
    assert change.body["from"][key] != change.body["to"][key] == table[key]
    assert key in change.body["note"]
    assert change.body["note"].endswith("sealed by Ann Approver")


def test_pace_is_no_rule() -> None:
    journal = Journal(Playing().open().lit())
    assert start(journal, payout_s=1.0, betting_s=5.0).round == 1


def test_a_journal_from_before_rules_were_recorded_is_resumed_as_before() -> None:
    journal = Journal(Playing().open().lit())
    del journal.records[0]
    assert start(journal).round == 1


def test_a_round_under_a_text_that_reads_otherwise_now_is_refused_by_name() -> None:
    """The rows that were taken then cannot be taken any more: no damage, other rules."""
    journal = Journal(Playing().open().lit())
    for at, record in enumerate(journal.records[1:], start=1):
        plain = {**record.plain, "rows": ["a row of the text as it read"]}
        journal.records[at] = Record(record.sequence, record.hash, canonical(plain))
    with pytest.raises(SettingsError, match="round 1 stands under pa-625a, paytable A") as caught:
        start(journal, "another text of the same name")
    assert exit_status(caught.value) == EX_CONFIG, "which is not tried again"
