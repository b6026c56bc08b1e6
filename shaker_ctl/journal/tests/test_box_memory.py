"""What the lamp box proves against a journal: each history, and its finding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shaker_ctl.journal.box_memory import (
    BoxMemory,
    JournalMemory,
    KnownBox,
    compare_lamp_box,
    may_adopt,
)
from shaker_ctl.journal.record import Anchor, Head, genesis, table_mark
from shaker_ctl.journal.recovery import Trouble

OURS, THEIRS = table_mark("ours"), table_mark("theirs")
FIRST, SECOND = frozenset({"small", "odd"}), frozenset({"small", "even"})


def head_at(record: int) -> Head:
    return Head(record, bytes([record]) * 32)


def hash_at(record: int) -> bytes | None:
    return head_at(record).hash if 0 < record <= 120 else None


JOURNAL = JournalMemory(OURS, head_at(120), hash_at, last_pushed=7, lit=frozenset({FIRST}))
BOX = BoxMemory(5, 0, 7, frozenset({FIRST}), Anchor(OURS, 6, head_at(100)))


@pytest.mark.parametrize(
    "box",
    [
        BOX,
        replace(BOX, anchor=None),
        replace(BOX, lit=frozenset()),
        replace(BOX, last_committed=6, lit=frozenset({SECOND})),
        replace(BOX, last_committed=0, lit=frozenset(), anchor=None),
        replace(BOX, anchor=Anchor(OURS, 7, head_at(120))),
    ],
)
def test_a_box_that_tells_the_same_story_or_an_earlier_one_finds_nothing(box: BoxMemory) -> None:
    assert compare_lamp_box(JOURNAL, box) is None


def test_a_corrected_round_may_be_remembered_with_either_result() -> None:
    journal = replace(JOURNAL, lit=frozenset({FIRST, SECOND}))
    for lit in ({FIRST}, {FIRST, SECOND}, {SECOND}):
        assert compare_lamp_box(journal, replace(BOX, lit=frozenset(lit))) is None


@pytest.mark.parametrize(
    ("box", "trouble"),
    [
        (replace(BOX, last_committed=8), Trouble.LAMP_AHEAD),
        (replace(BOX, anchor=Anchor(OURS, 8, head_at(121))), Trouble.LAMP_AHEAD),
        (replace(BOX, anchor=Anchor(OURS, 6, Head(100, bytes(32)))), Trouble.REWRITTEN),
        (replace(BOX, anchor=Anchor(THEIRS, 6, head_at(100))), Trouble.OTHER_TABLE),
        (replace(BOX, lit=frozenset({SECOND})), Trouble.OTHER_RESULT),
        (replace(BOX, lit=frozenset({FIRST, SECOND})), Trouble.OTHER_RESULT),
    ],
)
def test_each_other_story_is_named_and_halts(box: BoxMemory, trouble: Trouble) -> None:
    found = compare_lamp_box(JOURNAL, box)
    assert found is not None
    assert found.trouble is trouble
    assert found.halts
    assert found.remedy


def test_a_new_journal_and_a_box_that_remembers_nothing_agree() -> None:
    new = JournalMemory(OURS, genesis("ours"), lambda record: None, 0, frozenset())
    assert compare_lamp_box(new, BoxMemory(5, 3, 0, frozenset(), None)) is None


@pytest.mark.parametrize(
    ("known", "trouble"),
    [
        (KnownBox(5, 0), None),
        (KnownBox(6, 0), Trouble.OTHER_BOX),
        (KnownBox(5, 1), Trouble.BOX_ERASED),
    ],
)
def test_another_box_and_an_erased_memory_are_named_before_anything_else(
    known: KnownBox, trouble: Trouble | None
) -> None:
    worse = replace(BOX, anchor=Anchor(THEIRS, 6, head_at(100)))
    found = compare_lamp_box(replace(JOURNAL, box=known), worse if trouble else BOX)
    assert (found and found.trouble) is trouble
    if found:
        assert found.halts
        assert "shaker-ctl lamp adopt" in found.remedy


def test_a_round_that_was_accepted_with_the_box_is_no_missing_end() -> None:
    ahead = replace(BOX, last_committed=250000, lit=frozenset(), anchor=None)
    accepted = replace(JOURNAL, box=KnownBox(5, 0, remembers=250000))
    assert compare_lamp_box(accepted, ahead) is None
    found = compare_lamp_box(accepted, replace(ahead, last_committed=250001))
    assert found is not None
    assert found.trouble is Trouble.LAMP_AHEAD


@pytest.mark.parametrize(
    "box",
    [
        replace(BOX, anchor=Anchor(THEIRS, 6, head_at(100))),
        replace(BOX, anchor=Anchor(OURS, 6, Head(100, bytes(32)))),
        replace(BOX, anchor=None, last_committed=9),
        replace(BOX, anchor=None, lit=frozenset({SECOND})),
    ],
)
def test_a_memory_that_only_a_hand_can_take_away_is_erased_first(box: BoxMemory) -> None:
    bar = may_adopt(JOURNAL, replace(box, serial_number=9))
    assert bar is not None
    assert "by hand" in bar.remedy
    empty = BoxMemory(9, 1, 0, frozenset(), None)
    assert may_adopt(JOURNAL, empty) is None
    assert may_adopt(JOURNAL, replace(BOX, serial_number=9)) is None


def test_the_mark_of_a_table_is_short_and_its_own() -> None:
    assert len(OURS) == 8
    assert OURS != THEIRS
