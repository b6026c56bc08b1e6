"""The comparison catches what it must: a wrong lamp, a value read from tilted dice."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hil_tests.demo import page
from hil_tests.table_under_test.lamps import against_truth
from hil_tests.table_under_test.rounds import PlayedRound, check


def dice(*values: int) -> list[dict[str, Any]]:
    return [{"value": value, "flat": True} for value in values]


GOOD = PlayedRound(
    round=1,
    profile="pa-625a",
    truth=dice(1, 3, 5),
    read=[5, 1, 3],
    verdict="verified",
    reason="",
    wagers="settled",
    lamps=sorted(against_truth((), dice(1, 3, 5), "pa-625a").missing),
    t_toss=10.0,
    t_rest=12.0,
    t_verified=12.15,
    t_lit=12.2,
    picture="",
)


def test_a_true_round_shows_no_difference() -> None:
    tally = check([GOOD])
    assert tally.differences == ()
    assert (tally.rounds, tally.flat, tally.read_without_help) == (1, 1, 1)
    assert tally.rest_to_lit_ms == pytest.approx((200.0,))


@pytest.mark.parametrize("area", GOOD.lamps)
def test_a_missing_lamp_is_a_difference(area: str) -> None:
    lamps = [lamp for lamp in GOOD.lamps if lamp != area]
    assert check([replace(GOOD, lamps=lamps)]).differences


def test_a_lamp_too_many_is_a_difference() -> None:
    wrong = replace(GOOD, lamps=[*GOOD.lamps, "any-triple"])
    assert check([wrong]).differences


def test_a_wrong_reading_is_a_difference_even_with_dark_lamps() -> None:
    wrong = replace(GOOD, read=[5, 1, 4], lamps=[], verdict="void")
    assert check([wrong]).differences


def test_values_from_a_die_that_does_not_lie_flat_are_a_difference() -> None:
    truth = [*GOOD.truth[:2], {"value": 5, "flat": False}] if GOOD.truth else None
    tally = check([replace(GOOD, truth=truth)])
    assert len(tally.differences) == 2
    assert tally.not_flat == 1


@pytest.mark.parametrize("verdict", ["void", "no_roll"])
def test_lamps_of_a_round_without_a_result_are_a_difference(verdict: str) -> None:
    (said,) = check([replace(GOOD, verdict=verdict)]).differences
    assert f"round 1: {verdict}, and lamps lit for it" in said


def test_lamps_without_any_known_toss_are_a_difference() -> None:
    assert check([replace(GOOD, truth=None)]).differences


def test_winning_areas_count_as_the_rule_texts_count_them() -> None:
    sizes = [
        len(against_truth((), dice(*v), "pa-625a").missing) for v in product(range(1, 7), repeat=3)
    ]
    # 120 tosses of three values light 8 areas, 90 with a pair 6, 6 triples 5 or (1-1-1, 6-6-6) 4.
    assert sizes.count(8) == 120
    assert sizes.count(6) == 90
    assert sorted(size for size in sizes if size < 6) == [4, 4, 5, 5, 5, 5]


def test_the_page_opens_alone_and_shows_rounds_lamps_pictures_and_what_was_injected(
    tmp_path: Path,
) -> None:
    (tmp_path / "round-00001.jpg").write_bytes(b"\xff\xd8picture")
    wrong = replace(GOOD, round=2, picture="round-00001.jpg", reason="<b>glare</b>", lamps=["big"])
    rounds = [GOOD, wrong]
    log = [{"t": 5.0, "what": "phase"}, {"t": 7.5, "what": "fault", "name": "jam"}]
    tally = check(rounds)
    text = page.write(tmp_path, "pa-625a", rounds, tally, log).read_text("utf-8")
    assert "http" not in text
    assert "src=" in text
    assert 'src="data:image/jpeg;base64,' in text
    assert text.index("Round 2") < text.index("Round 1")
    assert "<b>glare" not in text
    assert "2.5 s" in text
    assert "jam" in text
    assert tally.differences[0].split(":")[0] in text
    assert "read back lit 50 ms" in text
