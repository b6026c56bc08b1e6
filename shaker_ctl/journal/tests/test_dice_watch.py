"""The sequential test of the dice: its promise, what it finds, and how records move it."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from itertools import product
from statistics import median

import pytest

from shaker_ctl.journal.dice_watch import PROMISE, DiceWatch, from_plain
from shaker_ctl.journal.history import Values
from shaker_ctl.journal.tests.simulated_dice import FAULTS, first_found, tossed

ALL: list[Values] = [(a, b, c) for a, b, c in product(range(1, 7), repeat=3)]


def after(tosses: list[Values]) -> DiceWatch:
    watch = DiceWatch()
    for values in tosses:
        watch.add(values)
    return watch


def ended(*values: int, source: str = "verified") -> dict[str, object]:
    command = {"type": "RecordRound", "round": 1, "values": values or None, "source": source}
    return step({"type": "TimerExpired"}, command)


def step(event: Mapping[str, object], *decision: Mapping[str, object]) -> dict[str, object]:
    return {"kind": "step", "sequence": 7, "event": event, "decision": list(decision)}


CHANGED = step({"type": "DiceChanged"})
CLEARED = step({"type": "FaultCleared", "kind": "shaker"})


@pytest.mark.parametrize("seed", range(4))
def test_the_evidence_is_a_martingale_whatever_was_tossed_before(seed: int) -> None:
    """Over all 216 next tosses its mean is what it was: then Ville's inequality holds."""
    chance = random.Random(seed)
    watch = after([chance.choice(ALL) for _ in range(3 * seed)])
    plain = watch.to_plain()
    assert watch.evidence == pytest.approx(1.0) or seed
    following = []
    for values in ALL:
        other = from_plain(json.loads(json.dumps(plain)))
        other.add(values)
        following.append(other.evidence)
    assert sum(following) / 216 == pytest.approx(watch.evidence, rel=1e-9)


def test_dice_that_behave_are_not_found_to_be_outside() -> None:
    assert [first_found(None, seed, 2_000) for seed in range(20)] == [None] * 20


@pytest.mark.parametrize(
    ("fault", "typical", "most"),
    [
        ("a carried die", 15, 18),
        ("two dice keep their faces", 15, 18),
        ("one die keeps half of its faces", 120, 300),
        ("one die turns about one axis", 120, 300),
        ("one die loaded, 0.35", 450, 1_440),
        ("one die loaded, 0.5", 130, 600),
    ],
)
def test_dice_that_go_wrong_are_found(fault: str, typical: int, most: int) -> None:
    found = [first_found(FAULTS[fault], seed, most) for seed in range(100, 111)]
    assert None not in found
    assert median(each for each in found if each is not None) <= typical


def test_a_face_in_every_toss_is_always_found_by_toss_18() -> None:
    """At worst it never shows on two dice."""
    for face in range(1, 7):
        others = [each for each in range(1, 7) if each != face]
        watch = after([(face, others[n % 5], others[n // 5 % 5]) for n in range(18)])
        assert f"face {face} in each of the last" in watch.found


def test_a_die_that_sticks_after_months_is_found_too() -> None:
    whole = list(tossed(None, 1, 40_000))
    watch = after(whole)
    assert not watch.found
    for values in tossed(FAULTS["a carried die"], 2, 40):
        watch.add(values)
    assert "does not turn" in watch.found


def test_what_is_found_is_said_with_the_tosses_and_the_die_where_it_lay() -> None:
    watch = after([(1, 4, 6), (4, 2, 2), (3, 4, 5)] * 4)
    while not watch.found:
        watch.add((1, 4, 6), is_placed=True)
    assert watch.found == (
        f"outside after {watch.tosses} tosses: "
        f"face 4 in each of the last {watch.tosses}, one die (2 from the left) does not turn"
    )
    tosses = watch.tosses
    watch.add((1, 1, 1))
    assert watch.tosses == tosses, "what was found stays as it was found"


def test_no_finding_and_no_figure_says_that_dice_are_fair() -> None:
    words = [after([]).line(), after([(1, 2, 3)] * 30).line()]
    for fault in FAULTS.values():
        words.append(after(list(tossed(fault, 1, 3_000))).line())
    assert all("outside" in each and "fair" not in each for each in words)


def test_records_move_it_and_other_dice_or_a_cleared_fault_begin_it_anew() -> None:
    watch = DiceWatch()
    watch.take(ended(1, 2, 3))
    watch.take(ended())
    watch.take({**ended(1, 2, 3), "kind": "refused"})
    assert watch.tosses == 1
    watch.take(CLEARED)
    assert watch.tosses == 1, "another fault of the shaker was cleared"
    while not watch.found:
        watch.take(ended(5, 5, 5))
    assert watch.found_in == 7
    watch.take(CLEARED)
    assert watch == DiceWatch()
    watch.take(ended(5, 5, 5))
    first = {"type": "Announce", "notice": "dice_named"}
    watch.take(step({"type": "DiceChanged"}, first))
    assert watch.tosses == 1, "the first of two persons has named them"
    watch.take(CHANGED)
    assert watch == DiceWatch()


def test_the_evidence_reaches_the_promise_only_when_something_is_found() -> None:
    watch = after([(2, 2, 2)] * 30)
    assert watch.evidence >= PROMISE
    assert watch.found


@pytest.mark.parametrize("harm", [{"ratios": [1.0]}, {"last": [7, 1, 1]}, {"runs": []}])
def test_what_was_kept_by_another_version_is_refused(harm: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"version|values"):
        from_plain({**DiceWatch().to_plain(), **harm})
