"""`shaker-ctl journal` on real files: what a person sees, and what a script can rely on."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl.adapters.sqlite_journal import SqliteJournal
from shaker_ctl.commands.journal import app
from shaker_ctl.errors import JournalCorruptError, RefusedError
from shaker_ctl.journal.record import Entry, Head, link

RUNNER = CliRunner()


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Four ended rounds, a void one among them, and a fifth that is not over."""
    path = tmp_path / "journal.sqlite"
    store = SqliteJournal(path)
    head = store.head()
    for number, values in enumerate([(1, 2, 3), (6, 6, 6), None, (4, 4, 1), "open"], start=1):
        decisions: list[list[dict[str, object]]] = [[{"type": "StartToss"}]]
        if values != "open":
            ending = "void" if values is None else "settled"
            closed = {
                "type": "RecordRound",
                "round": number,
                "ending": ending,
                "wagers": "returned" if values is None else "settled",
                "cause": "shaker" if values is None else None,
                "values": values,
                "source": None if values is None else "verified",
            }
            decisions.append([closed])
        for step, decision in enumerate(decisions):
            body = {
                "event": {"type": "TimerExpired", "round": number},
                "rows": ["a row"],
                "decision": decision,
            }
            record = link(
                head,
                Entry("step", body, round=number),
                monotonic_s=10.0 * number + step,
                wall=f"2026-11-2{number}T12:00:00.000+00:00",
                digests={"model": "ab" * 16},
            )
            store.write([record])
            head = Head(record.sequence, record.hash)
    store.close()
    return path


def run(*words: str, journal: Path) -> str:
    result = RUNNER.invoke(app, [*words, "--journal", str(journal)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_last_shows_the_incomplete_round_too(journal: Path) -> None:
    shown = json.loads(run("last", "3", "--json", journal=journal))
    assert [(r["round"], r["ending"], r["values"]) for r in shown] == [
        (3, "void", None),
        (4, "settled", [4, 4, 1]),
        (5, None, None),
    ]
    assert "unfinished" in run("last", journal=journal)


def test_show_tells_every_step_of_a_round(journal: Path) -> None:
    shown = json.loads(run("show", "2", "--json", journal=journal))
    assert [step["record"]["sequence"] for step in shown] == [3, 4]
    text = run("show", "2", journal=journal)
    assert "StartToss" in text
    assert "RecordRound" in text


def test_an_unknown_round_is_refused_with_a_remedy(journal: Path) -> None:
    with pytest.raises(RefusedError, match="no round 99") as caught:
        run("show", "99", journal=journal)
    assert "journal last" in caught.value.line()


def test_a_missing_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="there is no journal"):
        run("last", journal=tmp_path / "none.sqlite")


def test_verify_says_that_the_chain_is_whole_and_what_it_cannot_see(journal: Path) -> None:
    text = run("verify", journal=journal)
    assert "the chain is whole" in text
    assert "journal-tail-unproved" in text


def test_verify_names_the_first_bad_record(journal: Path) -> None:
    store = SqliteJournal(journal)
    store._db.execute("DROP TRIGGER record_stays")
    store._db.execute("UPDATE record SET body = replace(body, '6,6,6', '6,6,5') WHERE sequence = 4")
    store.close()
    with pytest.raises(JournalCorruptError, match="record 4"):
        run("verify", journal=journal)


def test_export_writes_records_with_hashes_and_rounds_as_a_table(
    journal: Path, tmp_path: Path
) -> None:
    run("export", str(tmp_path / "all"), journal=journal)
    lines = (tmp_path / "all" / "records.jsonl").read_text().splitlines()
    assert len(lines) == 9
    assert len(json.loads(lines[0])["hash"]) == 64
    with (tmp_path / "all" / "rounds.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["ending"] for row in rows] == ["settled", "settled", "void", "settled"]
    assert rows[1]["third"] == "6"

    words = ["export", str(tmp_path / "some"), "--from", "2026-11-22", "--to", "2026-11-24"]
    run(*words, journal=journal)
    assert len((tmp_path / "some" / "records.jsonl").read_text().splitlines()) == 4


def test_statistics_count_what_was_settled(journal: Path) -> None:
    shown = json.loads(run("statistics", "--json", journal=journal))
    assert shown["tosses"] == 3
    assert shown["faces"] == {"1": 2, "2": 1, "3": 1, "4": 2, "5": 0, "6": 3}
    assert "fair" not in run("statistics", journal=journal).lower()


def test_a_dispute_is_opened_shown_and_settled_by_name(journal: Path) -> None:
    words = ("--by", "fay", "--reason", "player 3 saw a five")
    assert "open disputes: 2" in run("dispute", "2", *words, journal=journal)
    assert "opened" in run("show", "2", journal=journal)
    with pytest.raises(RefusedError, match="knows no round 77"):
        run("dispute", "77", *words, journal=journal)
    with pytest.raises(RefusedError, match="no dispute is open on round 1"):
        run("dispute", "1", "--settled", *words, journal=journal)
    text = run("dispute", "2", "--settled", "--by", "sue", "--reason", "picture", journal=journal)
    assert "open disputes: none" in text
    assert "by sue: picture" in run("show", "2", journal=journal)
