"""The tests on outcomes: right against SciPy, blind to chance, and able to see what they claim."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable

import numpy as np
import pytest
from scipy import stats

from shaker_ctl.journal.distributions import (
    chi_square_critical,
    chi_square_power,
    chi_square_tail,
    normal_power,
    normal_two_sided,
    share_interval,
)
from shaker_ctl.journal.history import Round, Values
from shaker_ctl.journal.record import Entry, Head, Record, genesis, link
from shaker_ctl.journal.statistics import ALPHA, figures, figures_of, judge
from shaker_ctl.journal.tally import Tally, from_plain


def tally_of(tosses: Iterable[Values]) -> Tally:
    """Return the counts over tosses alone."""
    counts = Tally()
    for values in tosses:
        counts.add_toss(values)
    return counts


def tosses(n: int, seed: int, weights: tuple[float, ...] = (1, 1, 1, 1, 1, 1)) -> list[Values]:
    chance = random.Random(seed)
    faces = chance.choices(range(1, 7), weights, k=3 * n)
    return [(faces[i], faces[i + 1], faces[i + 2]) for i in range(0, 3 * n, 3)]


@pytest.mark.parametrize("df", [1, 2, 5, 15, 35])
@pytest.mark.parametrize("x", [0.1, 1.0, 4.0, 11.07, 40.0, 120.0])
def test_chi_square_tail_agrees_with_scipy(x: float, df: int) -> None:
    assert chi_square_tail(x, df) == pytest.approx(stats.chi2.sf(x, df), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("df", [2, 5, 35])
def test_chi_square_critical_agrees_with_scipy(df: int) -> None:
    assert chi_square_critical(0.01, df) == pytest.approx(stats.chi2.isf(0.01, df), rel=1e-9)


@pytest.mark.parametrize("noncentrality", [0.0, 0.5, 12.0, 300.0])
def test_chi_square_power_agrees_with_scipy(noncentrality: float) -> None:
    critical = stats.chi2.isf(0.01, 5)
    theirs = stats.ncx2.sf(critical, 5, noncentrality) if noncentrality else 0.01
    assert chi_square_power(noncentrality, 5, 0.01) == pytest.approx(theirs, abs=1e-9)


def test_normal_tails_agree_with_scipy() -> None:
    assert normal_two_sided(2.5) == pytest.approx(2 * stats.norm.sf(2.5))
    z = stats.norm.isf(0.005)
    theirs = stats.norm.sf(z - 3.0) + stats.norm.cdf(-z - 3.0)
    assert normal_power(3.0, 0.01) == pytest.approx(theirs)


def test_face_test_is_pearsons() -> None:
    sample = tosses(500, 1)
    counts = np.bincount(np.array(sample).ravel(), minlength=7)[1:]
    (ours,) = [t for t in judge(tally_of(sample)) if t.name == "faces"]
    theirs = stats.chisquare(counts)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue)


def test_correlations_are_pearsons() -> None:
    sample = np.array(tosses(500, 2))
    (ours,) = [
        t for t in judge(tally_of(tosses(500, 2))) if t.name == "correlation of dice 1 and 3"
    ]
    assert ours.statistic == pytest.approx(stats.pearsonr(sample[:, 0], sample[:, 2]).statistic)


def test_chance_alone_lies_outside_about_once_in_a_hundred_tests() -> None:
    all_tests = [test for seed in range(60) for test in judge(tally_of(tosses(1000, seed)))]
    outside = sum(test.is_outside for test in all_tests)
    n = len(all_tests)
    assert abs(outside - n * ALPHA) < 5 * (n * ALPHA * (1 - ALPHA)) ** 0.5


def test_stated_power_is_reached() -> None:
    weights = (1.1, 0.98, 0.98, 0.98, 0.98, 0.98)
    n = 1500
    found = [
        next(t for t in judge(tally_of(tosses(n, s, weights))) if t.name == "faces")
        for s in range(60)
    ]
    power = found[0].power
    assert power is not None
    seen = sum(test.is_outside for test in found) / len(found)
    assert seen == pytest.approx(power, abs=4 * (power * (1 - power) / 60) ** 0.5)


def test_dice_that_repeat_are_seen_in_the_serial_correlation() -> None:
    chance = random.Random(3)
    sample = tosses(400, 4)
    for i in range(1, len(sample)):
        if chance.random() < 0.3:
            sample[i] = sample[i - 1]
    outside = {test.name for test in judge(tally_of(sample)) if test.is_outside}
    assert {f"serial correlation of die {die}" for die in (1, 2, 3)} <= outside


def test_dice_that_follow_each_other_are_seen_across() -> None:
    chance = random.Random(5)
    sample = [(a, a if chance.random() < 0.3 else b, c) for a, b, c in tosses(600, 6)]
    outside = {test.name for test in judge(tally_of(sample)) if test.is_outside}
    assert "correlation of dice 1 and 2" in outside
    assert "pairs of dice 1 and 2" in outside


def test_too_small_a_sample_says_so_and_tests_nothing() -> None:
    assert judge(tally_of(tosses(5, 1))) == []
    assert "too few" in str(figures(journal_of([(1, 2, 3)]))["note"])


def journal_of(values: list[Values | None]) -> list[Record]:
    head: Head = genesis("statistics")
    records = []
    for n, toss in enumerate(values, start=1):
        command = {
            "type": "RecordRound",
            "round": n,
            "ending": "void" if toss is None else "settled",
            "source": None if toss is None else "entered" if n % 4 == 0 else "verified",
            "values": None if toss is None else list(toss),
        }
        entry = Entry("step", {"event": {"type": "Tick"}, "decision": [command]}, round=n)
        record = link(head, entry, monotonic_s=n, wall="2026-11-21T00:00:00+00:00", digests={})
        records.append(record)
        head = Head(record.sequence, record.hash)
    return records


def test_unreadable_and_void_rates_stand_beside_each_face_with_their_number() -> None:
    """Round 2 was unreadable and entered by hand; round 3 was read, and then void."""
    read, unread = {"type": "Verified", "values": [2, 6, 6]}, {"type": "Unreadable"}
    counts = Tally()
    for one in (
        Round(number=1, ending="settled", source="verified", values=(1, 2, 2)),
        Round(number=2, ending="settled", source="entered", values=(2, 5, 5), verdicts=(unread,)),
        Round(number=3, ending="void", verdicts=(read,)),
    ):
        counts.add(one)
    shown = figures_of(counts)
    by_face: dict[int, dict[str, object]] = shown["by_face"]  # type: ignore[assignment]
    third = round(1 / 3, 5)
    assert by_face[2] == {
        "n": 3,
        "unreadable_rate": third,
        "by_hand_rate": third,
        "void_rate": third,
    }
    assert by_face[5]["unreadable_rate"] == 1.0
    assert by_face[6]["void_rate"] == 1.0
    assert by_face[4] == dict.fromkeys(by_face[4], None) | {"n": 0}
    assert shown["unreadable_rate"] == third


def test_every_test_says_what_it_could_have_seen() -> None:
    for test in judge(tally_of(tosses(3000, 8))):
        assert test.power is not None, test.name
        assert ALPHA < test.power <= 1.0, test.name
        assert test.against


def test_figures_are_plain_and_never_say_that_dice_are_fair() -> None:
    shown = figures(journal_of([*tosses(300, 9), None]))
    text = json.dumps(shown)
    assert "fair" not in text.lower()
    assert shown["rounds"] == 301
    assert shown["void_rate"] == pytest.approx(1 / 301, abs=1e-5)
    assert sum(shown["faces"].values()) == 900  # type: ignore[attr-defined]
    assert sum(shown["pairs"].values()) == 900  # type: ignore[attr-defined]


def test_a_kept_tally_is_the_tally_and_grows_on() -> None:
    records = journal_of([*tosses(60, 4), None, (1, 2, 3)])
    kept = Tally()
    for record in records:
        kept = from_plain(json.loads(json.dumps(kept.to_plain())))
        kept.take(record)
    assert {**figures_of(kept), "left_out": [], "marks": []} == figures(records)


def test_a_shares_interval_is_wilsons() -> None:
    for count, n in ((0, 9), (4, 9), (150, 900), (900, 900)):
        wanted = stats.binomtest(count, n).proportion_ci(0.95, "wilson")
        assert share_interval(count, n) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
