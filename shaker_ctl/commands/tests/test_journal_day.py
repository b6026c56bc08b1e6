"""`shaker-ctl journal day`: what stands on the sheet that people sign."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.record_tables import RecordTables
from shaker_ctl.commands.journal import app
from shaker_ctl.commands.journal.day_sheet import INDENT, LINE, WIDTH, sheet
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.box_memory import BoxMemory
from shaker_ctl.journal.day_sheet import DaySheet, SheetLine
from shaker_ctl.journal.record import Entry, Head, link
from shaker_ctl.journal.tests.zones import zone
from shaker_ctl.journal.volume import removal
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, TILTED, UNREADABLE, Playing
from shaker_ctl.rules.vocabulary import Person, Role
from shaker_ctl.seal.fault import Past, cleared
from shaker_ctl.service.lamp_box import adopted
from shaker_ctl.view.archive import who
from vision.reading import Verdict, Verified

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def in_utc() -> Iterator[None]:
    with zone("UTC"):
        yield


def written(path: Path, days: dict[str, Playing]) -> Path:
    """A journal of what happened at one table after another, each on its own day at noon."""
    store = DiskJournal(path)
    head: Head = store.head()
    for day, table in days.items():
        for number, (event, step) in enumerate(table.history):
            body = {
                "event": to_record(event),
                "decision": [to_record(command) for command in step.commands],
            }
            record = link(
                head,
                Entry("step", body, round=step.state.round or None),
                monotonic_s=float(number),
                wall=f"{day}T12:00:{number % 60:02}.000+00:00",
                digests={},
            )
            store.write([record])
            head = Head(record.sequence, record.hash)
    store.close()
    return path


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    quiet = Playing().open()
    busy = Playing().open().betting()
    busy.do(ev.NoMoreBetsCalled(DEALER, 1), ev.ShakerFault(None, "stall"))
    busy.do(ev.WagersSettled(DEALER, 1))
    busy.do(ev.CompartmentOpened(), ev.CompartmentClosed())
    return written(tmp_path / "journal.jsonl", {"2026-03-02": quiet, "2026-03-03": busy})


def run(*words: str, journal: Path) -> str:
    result = RUNNER.invoke(app, ["day", *words, "--journal", str(journal)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_last_day_is_shown_with_its_rounds_persons_and_counters(journal: Path) -> None:
    told = run(journal=journal)
    assert "day 2026-03-03" in told
    assert "Rounds 1, numbers 1 to 1" in told
    assert "not started" in told
    assert "round 1: not started" in told
    assert f"signed  {FLOOR.name} (floorperson)" in told
    assert "no more bets called" not in told, "what a dealer does in every round"
    assert "compartment opened" in told
    assert "stall" in told


def test_a_corrected_round_stands_on_the_sheet_with_both_results_and_both_names(
    tmp_path: Path,
) -> None:
    table = Playing().open().awaiting_dealer(UNREADABLE)
    table.do(*2 * [ev.ValuesEntered(DEALER, 1, (1, 4, 5))])
    table.do(ev.LampsShown(table.state.occasion, (1, 4, 5)))
    table.do(ev.CorrectionNamed(DEALER, 1, (1, 4, 4)), ev.CorrectionAgreed(FLOOR, 1, (1, 4, 4)))
    table.do(ev.LampsShown(table.state.occasion, (1, 4, 4))).cleared()
    told = run(journal=written(tmp_path / "journal.jsonl", {"2026-03-02": table}))
    line = told.replace(f"\n{INDENT}", " ").partition("round 1: settled")[2].partition("\n")[0]
    assert "1 4 4" in line
    assert "corrected from 1 4 5" in line
    assert DEALER.name in line
    assert FLOOR.name in line
    assert "correction agreed" in told


@pytest.mark.parametrize(
    ("late", "said"),
    [
        (None, "by eye, never read"),
        (Verified((5, 4, 1)), "by eye, read after it was entered: 5 4 1, the same"),
        (Verified((1, 4, 4)), "by eye, read after it was entered: 1 4 4, another"),
        (TILTED, "by eye, read after it was entered: no roll, another"),
    ],
)
def test_a_round_by_eye_stands_on_the_sheet_with_what_was_read_later(
    tmp_path: Path, late: Verdict | None, said: str
) -> None:
    table = Playing().open().awaiting_dealer(UNREADABLE)
    table.do(*2 * [ev.ValuesEntered(DEALER, 1, (1, 4, 5))])
    table.do(ev.LampsShown(table.state.occasion, (1, 4, 5)))
    if late is not None:
        table.read(late)
    table.cleared()
    told = run(journal=written(tmp_path / "journal.jsonl", {"2026-03-02": table}))
    line = told.replace(f"\n{INDENT}", " ").partition("round 1: settled")[2].partition("\n")[0]
    assert said in line
    assert re.search(r"rounds by eye +1", told)


def test_the_sheet_is_to_be_signed_and_fits_the_paper(journal: Path) -> None:
    told = run(journal=journal)
    assert told.count(LINE) >= 3, "dealer, floorperson, and the opening that nobody is named for"
    assert "Closing inspection" in told
    assert max(map(len, told.splitlines())) <= WIDTH


def test_a_long_line_goes_on_below_its_words_and_nothing_of_it_is_lost() -> None:
    found = DaySheet()
    reason = " ".join(f"because{number}" for number in range(40))
    wall = "2026-03-02T12:00:00+00:00"
    found.exceptions.append(SheetLine(wall, "no_roll", (f"{FLOOR.name} (floorperson)",), reason))
    told = sheet("2026-03-02", "/var/lib/" + "long" * 30, found)
    assert max(map(len, told.splitlines())) <= WIDTH
    assert reason in " ".join(told.split())
    assert "long" * 30 in told.replace(f"\n{INDENT}", "")


def test_a_day_carries_the_head_of_its_last_record(journal: Path) -> None:
    first = json.loads(run("2026-03-02", "--json", journal=journal))
    last = json.loads(run("2026-03-03", "--json", journal=journal))
    assert first["last"] + 1 == last["first"]
    store = DiskJournal(journal, read_only=True)
    records = list(store.read())
    store.close()
    assert last["head"] == records[-1].hash.hex()
    assert first["head"] == records[first["last"] - 1].hash.hex()
    assert last["meters"]["starts of the controller"] == 1


def test_a_day_without_a_record_says_so(journal: Path) -> None:
    assert "No record of this day." in run("2026-05-01", journal=journal)


def test_what_is_no_day_is_refused(journal: Path) -> None:
    with pytest.raises(RefusedError):
        run("yesterday", journal=journal)


def test_a_day_is_found_in_the_volumes_that_hold_it(journal: Path, tmp_path: Path) -> None:
    """The first records of a day still lie in the volume of the day before."""
    parted = DiskJournal(tmp_path / "parted.jsonl")
    head = parted.head()
    source = DiskJournal(journal, read_only=True)
    begun = 0
    for record in source.read():
        plain = record.plain
        begun += plain["wall"] > "2026-03-03"
        entries = [Entry("step", {"event": plain["event"], "decision": plain["decision"]})]
        if begun == 5:
            entries.insert(0, parted.next_volume("2026-03-03", {}))
        for entry in entries:
            again = link(head, entry, monotonic_s=0.0, wall=plain["wall"], digests={})
            parted.write([again])
            head = Head(again.sequence, again.hash)
    source.close()
    assert parted.volume == 2
    parted.close()
    for day in ("2026-03-02", "2026-03-03"):
        whole = json.loads(run(day, "--json", journal=journal))
        sheet = json.loads(run(day, "--json", journal=tmp_path / "parted.jsonl"))
        for name in ("rounds", "endings", "meters", "faults", "acts", "exceptions"):
            assert sheet[name] == whole[name], (day, name)


TOM = Person("tom", Role.TECHNICIAN, "T-3")


def test_what_a_person_signed_with_a_command_is_theirs() -> None:
    box = BoxMemory(123, 0, 0, frozenset(), None)
    entries = (
        removal([1], "/mnt/archive", TOM.signature(), "a year is over"),
        cleared(Past("key"), "key", TOM, "card replaced"),
        adopted(box, TOM, "box exchanged"),
    )
    found = DaySheet()
    for number, entry in enumerate(entries, start=1):
        plain = {"sequence": number, "wall": "w", "kind": entry.kind, **entry.body}
        found.take(plain)
        assert who(plain) == "tom"
    assert [(line.what, line.persons, line.detail) for line in found.acts] == [
        ("volumes removed", ("tom (technician, T-3)",), "a year is over"),
        ("seal cleared", ("tom (technician, T-3)",), "card replaced"),
        ("lamp adopted", ("tom (technician, T-3)",), "box exchanged"),
    ]


def test_who_released_the_lid_is_named_at_the_opening_that_follows() -> None:
    sheet = DaySheet()
    opened = {"type": "CompartmentOpened"}
    asked = {"type": "LidRequested", "person": to_record(FLOOR)}
    for number, event in enumerate([asked, opened, opened], start=1):
        sheet.take({"sequence": number, "wall": "w", "kind": "step", "event": event})
    assert [line.persons for line in sheet.openings] == [(f"{FLOOR.name} (floorperson)",), ()]


def test_the_sheet_of_a_table_has_its_name_and_its_ledger(journal: Path, tmp_path: Path) -> None:
    config = tmp_path / "table.toml"
    config.write_text(f'[service]\ntable_name = "Pit 3"\n[journal]\npath = "{journal}"\n')
    shown = RUNNER.invoke(app, ["day", "--config", str(config)], catch_exceptions=False)
    assert "DAY SHEET  Pit 3\n" in shown.output
    assert "not counted" in shown.output, "nobody has made the tables yet"
    tables = RecordTables(journal)
    tables.keep_up()
    tables.close()
    shown = RUNNER.invoke(app, ["day", "--config", str(config)], catch_exceptions=False)
    assert "not counted" not in shown.output


def test_an_opening_by_key_carries_the_name_of_who_said_which_dice_are_in_it() -> None:
    table = Playing().locked().do(ev.CompartmentOpened(), ev.CompartmentClosed())
    table.do(ev.DiceKept(FLOOR), ev.CompartmentOpened())
    sheet = DaySheet()
    for number, (event, step) in enumerate(table.history, start=1):
        decision = [to_record(command) for command in step.commands]
        plain = {"sequence": number, "wall": "2026-03-02T12:00:00+00:00", "kind": "step"}
        sheet.take({**plain, "event": to_record(event), "decision": decision})
    assert [line.persons for line in sheet.openings] == [(f"{FLOOR.name} (floorperson)",), ()]


def test_the_sheet_is_headed_by_the_rules_that_its_rounds_name() -> None:
    """Whatever the settings say when it is printed."""
    first, second = "pa-625a, paytable A, entry dealer_confirm, 52 areas", "ma, paytable A"
    found = DaySheet()
    for number, under in enumerate([first, None, first, second], start=1):
        step = {"kind": "step", "event": {"type": "TimeChecked"}, "decision": []}
        plain = {"sequence": number, "wall": "2026-03-02T12:00:00+00:00", **step}
        found.take({**plain, "under": under} if under else plain)
    printed = sheet("2026-03-02", "Pit 3", found)
    assert f"rules {first}\nrules {second}\n" in printed
