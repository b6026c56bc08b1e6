"""One fold tells a round; whoever shows, counts or keeps it follows without being changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.history import (
    InHand,
    Named,
    Round,
    after,
    ended_by,
    from_plain,
    round_of,
    to_plain,
)
from shaker_ctl.journal.record import Record, canonical
from shaker_ctl.plain_form import PlainFormError

PLAY = {"purpose": "play", "number": 7}
DAN = {"type": "Person", "name": "dan", "role": "dealer", "number": "1"}
FAY = {"type": "Person", "name": "fay", "role": "floorperson", "number": "2"}


def step(sequence: int, event: dict[str, Any], *decision: dict[str, Any]) -> dict[str, Any]:
    frame = {"sequence": sequence, "kind": "step", "wall": "2026-11-23T06:00:00+00:00", "round": 7}
    told = {"at_s": float(sequence), "marks": ["DEMONSTRATION"]}
    return {**frame, **told, "event": event, "decision": list(decision)}


def push(*values: int) -> dict[str, Any]:
    told = {"values": list(values), "areas": ["big"], "corrects": values == (4, 4, 4)}
    return {"type": "PushLamps", "occasion": PLAY, **told}


UNREAD = {"type": "Unreadable", "reason": "b"}
BY_TWO = {"first": [1, 2, 3], "named_by": DAN, "agreed_by": FAY}
SETTLED = {"ending": "settled", "source": "entered", "wagers": "settled", "cause": None}
END = {"type": "RecordRound", "round": 7, "values": [4, 4, 4], "correction": BY_TWO, **SETTLED}

RECORDS = [
    step(1, {"type": "BetsRequested", "person": DAN}),
    step(2, {"type": "AtRest", "occasion": PLAY}),
    step(3, {"type": "ReadingMade", "occasion": PLAY, "verdict": UNREAD}),
    step(4, {"type": "ValuesEntered", "person": DAN, "values": [1, 2, 3]}, push(1, 2, 3)),
    step(6, {"type": "LampsShown", "occasion": PLAY, "values": [1, 2, 3]}),
    step(7, {"type": "CorrectionAgreed", "person": FAY, "values": [4, 4, 4]}, push(4, 4, 4)),
    step(9, {"type": "LampsShown", "occasion": PLAY, "values": [4, 4, 4]}),
    step(10, {"type": "LampsDark", "occasion": PLAY}, END),
]  # fmt: skip


def folded(records: list[dict[str, Any]]) -> Round:
    found = Round(number=7)
    for plain in records:
        found = after(found, plain)
    return found


def test_a_round_tells_what_happened_in_it() -> None:
    one = folded(RECORDS)
    assert (one.first, one.last, one.ended_in) == (1, 10, 10)
    assert (one.ending, one.source, one.values) == ("settled", "entered", (4, 4, 4))
    assert (one.reading, one.reason, one.entered) == ("Unreadable", "b", (1, 2, 3))
    assert (one.read_ms, one.lit_ms) == (1000.0, 4000.0)
    assert one.withdrawn == "1 2 3"
    assert [each.name for each in one.corrected_by] == ["dan", "fay"]
    assert one.people == (Named("dan", "dealer", "1"), Named("fay", "floorperson", "2"))
    assert (one.shown, one.shown_in, one.taken_back) == ((4, 4, 4), 9, "")
    assert one.lamps == ("LampsShown", "LampsShown", "LampsDark")
    assert one.marks == ("DEMONSTRATION",)


def test_what_follows_the_end_is_none_of_the_round() -> None:
    inspected = {"purpose": "inspection", "number": 1}
    later = [
        step(11, {"type": "InspectionRequested", "person": FAY}),
        step(12, {"type": "LampsShown", "occasion": inspected, "values": [6, 6, 6]}),
        step(13, {"type": "LampFault", "occasion": None}, {**END, "ending": "void"}),
    ]
    assert folded([*RECORDS, *later]) == folded(RECORDS)


def test_what_was_refused_changed_nothing() -> None:
    refused = step(5, {"type": "ValuesEntered", "person": FAY, "values": [6, 6, 6]})
    one = folded([*RECORDS[:4], {**refused, "kind": "refused"}])
    assert (one.entered, [each.name for each in one.people], one.last) == ((1, 2, 3), ["dan"], 5)


def test_a_round_that_was_kept_half_way_goes_on_as_if_it_had_not_been() -> None:
    for many in range(len(RECORDS)):
        kept = from_plain(to_plain(folded(RECORDS[:many])))
        for plain in RECORDS[many:]:
            kept = after(kept, plain)
        assert kept == folded(RECORDS)


def test_rounds_in_hand_are_let_go_of_when_a_later_one_ends() -> None:
    in_hand = InHand()
    assert [one for plain in RECORDS for one in in_hand.take(plain)] == [folded(RECORDS)]
    assert in_hand.rounds == {}
    (alone,) = ended_by(RECORDS[-1])
    assert (alone.number, alone.values, alone.reading) == (7, (4, 4, 4), None)


@pytest.mark.parametrize(
    "strange",
    [
        step(3, {"type": "ReadingMade", "occasion": PLAY, "verdict": [[]]}),
        step(3, {"type": "LampsShown", "occasion": PLAY, "values": [0, 2, 3]}),
        step(3, {"type": "LampsDark"}, {**END, "cause": 5}),
        step(3, {"type": "LampsDark"}, {**END, "values": [1e308] * 3}),
        {**step(3, {"type": "AtRest", "occasion": PLAY}), "at_s": "late"},
        step(3, {"type": ["AtRest"], "occasion": PLAY}),
        step(3, {"type": "ReadingMade", "verdict": {**UNREAD, "reason": {}}}),
        step(3, {"type": "ReadingMade", "verdict": {"type": "Verified", "values": [7, 7, 7]}}),
        step(3, {"type": "BetsRequested", "person": {**DAN, "name": None}}),
        step(3, {"type": "LampsDark"}, {**END, "late": "read"}),
        step(3, {"type": "LampsDark"}, {**END, "late": {"type": "Verified", "values": 5}}),
        step(3, {"type": "LampsDark"}, {**END, "multipliers": [5]}),
    ],
)
def test_a_record_that_makes_no_sense_is_named(strange: dict[str, Any]) -> None:
    records = [Record(each["sequence"], b"", canonical(each)) for each in (*RECORDS[:2], strange)]
    with pytest.raises(JournalCorruptError, match="record 3: it says what this program does not"):
        round_of(records, 7)


def test_a_kept_round_with_a_list_in_the_place_of_an_object_is_refused() -> None:
    with pytest.raises(PlainFormError, match=r"round\.late: \[1\] is not dict"):
        from_plain({**to_plain(folded(RECORDS)), "late": [1]})


ADDED = """
import importlib.util, sys
from pathlib import Path

name, folder = "shaker_ctl.journal.history", Path(sys.argv[1])
spec = importlib.util.find_spec(name)
text = Path(spec.origin).read_text("utf-8")
for was, now in (
    ("    manual_shaker: bool = False\\n", "    lid_opened_in: int = 0\\n"),
    ('    "LampsShown": _lit,\\n',
     '    "CompartmentOpened": lambda was, step, _: {"lid_opened_in": step["sequence"]},\\n'),
):
    assert text.count(was) == 1
    text = text.replace(was, was + now)
module = importlib.util.module_from_spec(spec)
sys.modules[name] = module
exec(compile(text, spec.origin, "exec"), module.__dict__)

import shaker_ctl.journal
shaker_ctl.journal.history = module
from datetime import time

from shaker_ctl.page.journal import read_round
from shaker_ctl.page.tables import RoundTables
from shaker_ctl.page.tests.a_journal import Scribe

scribe = Scribe(folder / "journal.jsonl")
scribe.write({"type": "BetsRequested"}, of=1)
opened = scribe.write({"type": "CompartmentOpened"}, of=1)
scribe.write({"type": "BetsRequested"}, of=1)
for _ in range(2):  # the second ones take up what the first ones kept
    tables = RoundTables(folder / "tables.sqlite", scribe.book.path, time(6))
    tables.keep_up()
shown = read_round(scribe.book.path, scribe.pictures, 1).told
assert "lid_opened_in" in module.FACTS  # tables that kept rounds without it are made anew
print(opened, tables._known(1).lid_opened_in, shown.lid_opened_in)
"""


def test_a_fact_that_is_added_to_a_round_changes_one_module(tmp_path: Path) -> None:
    """The page's tables keep it, a round that is looked up has it, and tables of before go."""
    done = subprocess.run(
        [sys.executable, "-c", ADDED, str(tmp_path)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (["2", "2", "2"], "")
