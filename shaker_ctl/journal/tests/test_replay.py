"""A recorded decision is told when it would differ, once, and where."""

from __future__ import annotations

from shaker_ctl.journal.record import Entry, Head, Plain, Record, genesis, link
from shaker_ctl.journal.replay import Decided, replay


def adding(state: Plain, event: Plain) -> Decided:
    """Rules of a toy: the state is a sum."""
    if event["n"] < 0:
        raise ValueError("cannot take less than nothing")
    total = state + event["n"]
    return Decided(rows=["add"], decision=[{"type": "Show", "total": total}], state=total)


def recorded(numbers: list[int], *, states_every: int = 2) -> list[Record]:
    head: Head = genesis("replay")
    records, state = [], 0
    for index, n in enumerate(numbers):
        state += n
        body: dict[str, Plain] = {
            "event": {"type": "Add", "n": n},
            "rows": ["add"],
            "decision": [{"type": "Show", "total": state}],
        }
        if index % states_every == 0:
            body["state"] = state
        record = link(
            head,
            Entry("step", body, round=index),
            monotonic_s=index,
            wall="2026-11-21T00:00:00+00:00",
            digests={},
        )
        records.append(record)
        head = Head(record.sequence, record.hash)
    return records


def test_the_same_rules_give_no_difference() -> None:
    found = replay(recorded([1, 2, 3, 4]), adding, 0)
    assert (found.steps, len(found.rounds), found.differences) == (4, 4, [])


def test_without_the_first_records_it_begins_behind_the_first_that_carries_a_state() -> None:
    found = replay(recorded([1, 2, 3, 4, 5])[1:], adding, None)
    assert (found.steps, sorted(found.rounds), found.differences) == (2, [3, 4], [])


def test_a_changed_rule_is_told_with_then_and_now() -> None:
    def doubling_threes(state: Plain, event: Plain) -> Decided:
        n = 6 if event["n"] == 3 else event["n"]
        return adding(state, {**event, "n": n})

    found = replay(recorded([1, 2, 3, 4]), doubling_threes, 0)
    assert [(d.sequence, d.what) for d in found.differences] == [
        (3, "Add: commands"),
        (3, "Add: state"),
    ]
    assert found.differences[0].then == [{"type": "Show", "total": 6}]
    assert found.differences[0].now == [{"type": "Show", "total": 9}]


def test_an_event_that_today_means_nothing_is_told() -> None:
    found = replay(recorded([1, -2, 3]), adding, 0)
    assert [(d.sequence, d.what) for d in found.differences] == [
        (2, "Add: cannot be decided"),
        (3, "Add: commands"),
        (3, "Add: state"),
    ]


def test_records_of_other_kinds_are_passed_over() -> None:
    head = genesis("replay")
    opening = link(
        head,
        Entry("opening", {"version": "1"}),
        monotonic_s=0,
        wall="2026-11-21T00:00:00+00:00",
        digests={},
    )
    assert replay([opening], adding, 0).steps == 0
