"""What leaves the table as a file: the records to the byte, and nothing secret beside them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.history import Named, Round
from shaker_ctl.journal.record import Head, Record, canonical
from shaker_ctl.journal.tally import Tally
from shaker_ctl.journal.tests.test_statistics import tally_of
from shaker_ctl.ports import JournalHealth
from shaker_ctl.view import archive
from shaker_ctl.view.archive import JournalArchive

SETTINGS = '[camera]\ndevice = "http://eye:hunter2@10.0.0.7/video"\n'
TODAY = ("pa-625a", "5e")


def record(sequence: int, **plain: Any) -> Record:
    body = canonical({"sequence": sequence, "wall": "2026-11-21T02:00:00+00:00", **plain})
    return Record(sequence, hashlib.sha256(body).digest(), body)


class Kept:
    def __init__(self, *records: Record) -> None:
        self.records = records

    def head(self) -> Head:
        last = self.records[-1] if self.records else None
        return Head(last.sequence, last.hash) if last else Head(0, b"")

    def read(self, first: int = 1, last: int | None = None) -> Iterator[Record]:
        yield from (r for r in self.records if r.sequence >= first)

    def read_round(self, number: int) -> list[Record]:
        return [r for r in self.records if r.plain.get("round") == number]


def made(
    *records: Record,
    counted: Callable[[], tuple[Tally, int] | None] = lambda: None,
    fault: str = "",
) -> JournalArchive:
    kept = Kept(*records)
    return JournalArchive(
        kept,
        lambda: JournalHealth(kept.head(), 0, None, fault, is_failed=bool(fault)),
        counted,
        volumes=str,
        settings=SETTINGS,
        versions="shaker-ctl 1\n",
        pictures=lambda count: iter([(f"pictures/{count}.jpg", b"\xff\xd8")]),
        profile=TODAY,
    )


def unpacked(content: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(content)) as bundle:
        return {m.name: bundle.extractfile(m).read() for m in bundle}  # type: ignore[union-attr]


def test_a_bundle_holds_records_settings_versions_and_pictures_and_no_secret() -> None:
    named = {"overlay": {"file": "2.jpg", "sha256": hashlib.sha256(b"\xff\xd8").hexdigest()}}
    files = unpacked(made(record(1, kind="opening", pictures=named)).bundle().content)
    assert list(files) == ["journal.jsonl", "settings.toml", "versions.txt", "pictures/2.jpg"]
    assert b"hunter2" not in b"".join(files.values())
    assert files["settings.toml"] == b'[camera]\ndevice = "http://...@10.0.0.7/video"\n'


def test_a_picture_of_a_bundle_that_is_another_one_says_so_by_its_name() -> None:
    named = {"overlay": {"file": "2.jpg", "sha256": "ab" * 32}}
    files = unpacked(made(record(1, kind="opening", pictures=named)).bundle().content)
    assert list(files)[-1] == "pictures/2.NOT-AS-RECORDED.jpg"


def test_the_lines_of_an_export_verify_by_themselves() -> None:
    records = [record(n, kind="step", text="\u00e9") for n in range(1, 4)]
    parcel = made(*records).export()
    assert parcel.name == "shaker-journal-1-3.jsonl.gz"
    lines = gzip.decompress(parcel.content).splitlines()
    assert len(lines) == 3
    for line in lines:
        found = json.loads(line)
        assert hashlib.sha256(canonical(found["record"])).hexdigest() == found["hash"]


def test_a_long_journal_leaves_over_the_line_by_its_newest_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archive, "EXPORT_RECORDS", 2)
    assert (
        made(*(record(n, kind="step") for n in range(1, 6))).export().name.endswith("-4-5.jsonl.gz")
    )
    with pytest.raises(RefusedError, match="empty"):
        made().export()


UNDER = "ma, paytable A, entry dealer_confirm, 52 areas"


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ({"digests": {"profile": "5e"}}, "pa-625a"),
        ({"digests": {"profile": "77"}}, "a profile that is not today's"),
        ({"under": UNDER}, UNDER),
    ],
)
def test_a_round_names_its_rules_or_says_that_they_were_others(
    named: dict[str, Any], shown: str
) -> None:
    step = record(1, kind="step", round=4, event={"type": "BetsRequested"}, decision=[], **named)
    found = made(step).round(4)
    assert found is not None
    assert found.facts["profile"] == shown
    assert made(step).round(5) is None


def test_a_round_says_who_did_what_and_with_which_values() -> None:
    entered = {
        "type": "ValuesEntered",
        "person": {"type": "Person", "name": "dan", "role": "dealer"},
        "values": [6, 6, 2],
    }
    found = made(record(1, kind="step", round=4, event=entered, decision=[])).round(4)
    assert found is not None
    assert [what for _, what in found.events] == ["values entered by dan, dealer: 6 6 2"]
    assert found.facts["entered"] == (6, 6, 2)


def test_a_corrected_round_shows_both_results_and_who_put_one_in_the_place_of_the_other() -> None:
    by = (Named("dan", "dealer"), Named("fay", "floorperson"))
    told = Round(number=4, values=(1, 4, 4), withdrawn="1 4 5", corrected_by=by)
    details = archive.round_view(told, ()).facts
    assert details["read"] is None, "it was entered"
    assert details["corrected_to"] == "1 4 4"
    assert details["corrected"] == {
        "from": "1 4 5",
        "named_by": "dan (dealer)",
        "agreed_by": "fay (floorperson)",
    }


def test_a_round_by_eye_says_so_and_what_was_read_later() -> None:
    late = {"type": "Verified", "values": [6, 4, 6], "confidence": 1.0}
    told = Round(number=4, values=(1, 1, 1), by_eye=True, late=late)
    said = archive.round_view(told, ()).facts["by_eye"]
    assert said == "read after it was entered: 6 4 6, another"


def test_statistics_come_from_the_tables_and_say_how_far_they_reach() -> None:
    """No record is read: a journal of years costs what a journal of a day does."""
    shown = made(counted=lambda: (tally_of([(1, 2, 3), (6, 6, 6)]), 40)).statistics()
    assert shown["tosses"] == 2
    assert shown["counted_to_record"] == 40
    with pytest.raises(RefusedError, match="still being counted"):
        made().statistics()


def test_figures_are_worked_out_once_for_each_tally(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = [(tally_of([(1, 2, 3)]), 40)]
    asked = made(counted=lambda: counted[-1])
    first = asked.statistics()
    with monkeypatch.context() as patched:
        patched.delattr(archive, "figures_of")
        counted.append((tally_of([(1, 2, 3)]), 52))
        assert asked.statistics() == {**first, "counted_to_record": 52}
    counted.append((tally_of([(1, 2, 3), (6, 6, 6)]), 65))
    assert asked.statistics()["tosses"] == 2


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"type": "CompartmentWatched", "stayed": True}, "compartment watched: yes"),
        ({"type": "CompartmentWatched", "stayed": False}, "compartment watched: no"),
        ({"type": "CycleJudged", "tossed": False}, "cycle judged: no"),
        ({"type": "DisputeDecided", "values": [1, 4, 5]}, "dispute decided: 1 4 5"),
        ({"type": "DisputeDecided", "values": None}, "dispute decided: no roll"),
    ],
)
def test_what_a_person_said_stands_beside_their_name(event: dict[str, Any], said: str) -> None:
    assert archive.happened_in(event) == said


@pytest.mark.parametrize("taken", [JournalArchive.export, JournalArchive.bundle])
def test_nothing_is_handed_out_while_that_cannot_be_recorded(
    taken: Callable[[JournalArchive], object],
) -> None:
    with pytest.raises(RefusedError, match="cannot be recorded: disk full"):
        taken(made(record(1), fault="disk full"))
