"""All 56 multisets, every profile and paytable, against an oracle written from the definitions.

The oracle below is a second author: it reads the wagers as the texts define them, and never calls
the product to find out what wins or what it pays.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.errors import SettingsError
from shaker_ctl.rules.layout import AREAS, Layout, sic_bo
from shaker_ctl.rules.outcome import OUTCOMES
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.paytable import paid, pays, prices
from shaker_ctl.rules.profile_files import PROFILES, load
from shaker_ctl.rules.rulebook import rulebook

MULTISETS = list(combinations_with_replacement(range(1, 7), 3))

A = {
    "three": 150, "two": 8, "any": 24, "pair": 5,
    4: 50, 5: 18, 6: 14, 7: 12, 8: 8, 9: 6, 10: 6,
    11: 6, 12: 6, 13: 8, 14: 12, 15: 14, 16: 18, 17: 50,
    "one": (1, 2, 3),
}  # fmt: skip
B = {
    "three": 180, "two": 11, "any": 31, "pair": 6,
    4: 62, 5: 31, 6: 18, 7: 12, 8: 8, 9: 7, 10: 6,
    11: 6, 12: 7, 13: 8, 14: 12, 15: 18, 16: 31, 17: 62,
    "one": (1, 2, 12),
}  # fmt: skip
SUPER = A | {"any": 30, 5: 20, 6: 15, 15: 15, 16: 20}
ORACLE = {
    ("pa-625a", "A"): A,
    ("pa-625a", "B"): B,
    ("pa-625b", "A"): SUPER,
    ("ma", "A"): A,
    ("pa-539", "A"): A,
    ("md", "A"): A,
    ("house-auto", "A"): A,
}
"""Odds to 1, typed from the texts. `ma` prints its first one of a kind "1 to 10": see below."""


def wins(area: str, dice: tuple[int, ...], super_sic_bo: bool) -> bool:
    """Does a wager on `area` win with these dice? By the words of 625a.3 and 625b.1(c)."""
    name, *numbers = area.replace("any-triple", "anytriple").split("-")
    n = [int(number) for number in numbers]
    same = dice[0] == dice[1] == dice[2]
    match name:
        case "triple":  # "the same number is showing on all three dice", the one selected
            return same and dice[0] == n[0]
        case "double":  # "the same number on two of the three dice"; a triple holds two
            return [n[0], n[0]] in ([dice[i], dice[j]] for i, j in ((0, 1), (0, 2), (1, 2)))
        case "anytriple":
            return same
        case "total":
            return dice[0] + dice[1] + dice[2] == n[0]
        case "pair":  # "two specific but different values … showing"
            return n[0] in dice and n[1] in dice
        case "small":  # 4 to 10, and loses if a three of a kind appears
            return sum(dice) in (4, 5, 6, 7, 8, 9, 10) and not same
        case "big":
            return sum(dice) in (11, 12, 13, 14, 15, 16, 17) and not same
        case "one":
            return n[0] in dice
        case "even":  # no exception for triples in the text
            return super_sic_bo and sum(dice) in range(2, 19, 2)
        case "odd":
            return super_sic_bo and sum(dice) in range(3, 19, 2)
        case "four":  # three different numbers of the four
            return len({*dice}) == 3 and {*dice} <= {*n}
    raise AssertionError(area)


def odds(area: str, dice: tuple[int, ...], table: dict[Any, Any]) -> Any:
    """What the oracle's table pays for a winning `area`."""
    name, _, number = area.partition("-")
    match name:
        case "triple":
            return table["three"]
        case "double":
            return table["two"]
        case "any":
            return table["any"]
        case "total":
            return table[int(number)]
        case "pair":
            return table["pair"]
        case "four":
            return 7
        case "one":
            return table["one"][sum(die == int(number) for die in dice) - 1]
    return 1


@pytest.mark.parametrize("values", MULTISETS, ids=str)
@pytest.mark.parametrize(("name", "letter"), list(ORACLE))
def test_every_multiset_lights_what_wins_and_pays_what_is_printed(name, letter, values):
    profile = load(name)
    layout, lines = profile.layout, profile.payout.tables[letter]
    for a, b, c in set(permutations(values)):
        dice = (a, b, c)
        lit = layout.won(dice)
        assert lit == {area for area in AREAS if wins(area, dice, name == "pa-625b")}
        for area in layout.areas:
            paid = pays(area, dice, layout, lines)
            if area in lit:
                assert paid == odds(area, dice, ORACLE[name, letter]), area
            else:
                assert paid is None, area


def test_the_canonical_order_is_that_of_the_lamps():
    pairs = [f"pair-{a}-{b}" for a in range(1, 7) for b in range(a + 1, 7)]
    expected = ["small", "big", "even", "odd", "any-triple"]
    expected += [f"triple-{n}" for n in range(1, 7)] + [f"double-{n}" for n in range(1, 7)]
    expected += pairs + [f"total-{n}" for n in range(4, 18)] + [f"one-{n}" for n in range(1, 7)]
    assert list(AREAS) == expected
    assert len(AREAS) == 52


def test_a_mask_and_its_areas_are_one_to_one():
    for bit, area in enumerate(AREAS):
        assert sic_bo().mask({area}) == 1 << bit
        assert sic_bo().named(1 << bit) == {area}
    with pytest.raises(ValueError, match="0x10000000000000 has lamps that no area has"):
        sic_bo().named(1 << 52)


@pytest.mark.parametrize(
    ("on_triple", "expected"), [("lose", 105), ("win", 108), ("not_offered", 0)]
)
def test_even_and_odd_on_a_triple_is_a_choice(on_triple, expected):
    layout = sic_bo(on_triple)
    ways = sum("even" in layout.won(values) for values in OUTCOMES)
    assert ways == expected


def test_two_of_a_kind_on_a_triple_is_a_choice():
    layout = sic_bo(doubles="lose")
    assert "double-4" not in layout.won((4, 4, 4))
    assert "double-4" in layout.won((4, 1, 4))


@pytest.mark.parametrize("bad", [(0, 1, 2), (1, 2, 7), (1, 2), (1, 2, 3, 4)])
def test_a_toss_is_three_values_of_one_to_six(bad):
    with pytest.raises(ValueError, match="three values of 1 to 6"):
        sic_bo().won(bad)


@pytest.mark.parametrize(("name", "letter"), list(ORACLE))
def test_house_edges_are_the_exact_fractions(name, letter):
    profile = load(name)
    table = ORACLE[name, letter]
    for price in prices(profile, letter):
        won = [
            1 + odds(price.area, dice, table)
            for dice in product(range(1, 7), repeat=3)
            if wins(price.area, dice, name == "pa-625b")
        ]
        assert price.edge == 1 - Fraction(sum(won), 216)
        assert price.ways == len(won)


def test_one_of_a_kind_of_ma_shows_both_readings():
    ma = next(price for price in prices(load("ma"), "A") if price.area == "one-1")
    assert ma.odds[0] == "1 to 10"
    assert ma.edge == Fraction(17, 216)
    # 75 outcomes show the number once: 1/10 instead of 1 costs 75 * 9/10 of 216.
    assert ma.edge_as_printed == Fraction(17, 216) + Fraction(75 * 9, 2160)
    assert round(float(ma.edge_as_printed), 3) == 0.391


@pytest.mark.parametrize("name", PROFILES)
def test_odds_are_worded_to_and_never_for(name):
    for lines in load(name).payout.tables.values():
        assert all(" to " in line.printed and "for" not in line.printed for line in lines.values())


def test_the_edge_with_multipliers_is_that_of_the_draw():
    """Against the draw itself: every position as often as any other, every odds evenly."""
    profile = load("pa-625b")
    found = {price.wager: price for price in prices(profile, "A")}
    percent = {
        name: round(float(found[name].edge_multiplied or 0) * 100, 1)
        for name in ("three of a kind", "total 9", "two dice combination", "one of a kind", "even")
    }
    assert percent == {
        "three of a kind": 21.0,
        "total 9": 7.5,
        "two dice combination": 10.6,
        "one of a kind": 4.2,
        "even": 0.0,
    }
    assert all(price.edge_multiplied is None for price in prices(load("pa-625a"), "A"))


HOUSE = Path(__file__).parents[1] / "examples" / "house-four-numbers.toml"
FOUR = ("four-1-2-3-4", "four-2-3-4-5", "four-2-3-5-6", "four-3-4-5-6")


@pytest.mark.parametrize("dice", OUTCOMES, ids=str)
def test_a_house_s_own_areas_win_and_pay_as_its_file_says(dice):
    profile = load(HOUSE)
    layout, lines = profile.layout, profile.payout.tables["A"]
    assert layout.areas == (*AREAS, *FOUR)
    for area in layout.areas:
        won = wins(area, dice, super_sic_bo=True)
        if area in ("even", "odd"):
            won = won and len({*dice}) > 1
        assert (area in layout.won(dice)) == won
        assert pays(area, dice, layout, lines) == (odds(area, dice, A) if won else None)


def test_a_house_s_own_layout_is_marked_and_has_a_digest_of_what_it_lights():
    rules = rulebook(TableParameters(profile=str(HOUSE)))
    assert {"a profile file of the house", "4 areas of the house"} <= {*rules.marks}
    assert any("wagers stand" in mark for mark in rules.marks)
    own = {**rules.profile.areas}
    other = own | {"four-1-2-3-4": own["four-1-2-3-4"].model_copy(update={"among": (1, 2, 3, 5)})}
    same = own | {"four-1-2-3-4": own["four-1-2-3-4"].model_copy(update={"among": (4, 3, 2, 1)})}
    digests = [Layout(rules.layout.on_triple, each).digest for each in (own, other, same)]
    assert digests[0] == digests[2] != digests[1]
    assert bytes(8) not in digests


def test_odds_of_several_stakes_are_told_for_one_stake(tmp_path):
    own = tmp_path / "house-own.toml"
    text = HOUSE.read_text("utf-8")
    own.write_text(text.replace('1 = { printed = "1 to 1"', '1 = { printed = "1 to 2"'), "utf-8")
    assert paid(load(own), "A")["one-3"] == "1, 4, 6 to 2"
    assert paid(load(HOUSE), "A")["one-3"] == "1, 2, 3 to 1"


@pytest.mark.parametrize(
    ("good", "bad", "says"),
    [
        ("lamp = 53", "lamp = 52", "lamp 52 is taken; a house's own are 52 to 63"),
        ("lamp = 53", "lamp = 51", "lamp 51 is taken"),
        ("lamp = 53", "lamp = 64", "areas.four-2-3-4-5.lamp`: Input should be less than 64"),
        ("four-2-3-4-5 =", "small =", "areas.small: call it otherwise"),
        ("four-2-3-4-5 =", '"FOUR 2345" =', "areas.FOUR 2345: call it otherwise"),
        ("four-2-3-4-5 =", "pair-2-1 =", "areas.pair-2-1: call it otherwise"),
        ("among = [2, 3, 4, 5], different = 3,",
         'different = 1, on_triple = "small_big_on_triple",',
         "no toss wins, as `wagers.small_big_on_triple` says"),
        ("among = [2, 3, 4, 5]", "among = [2, 3, 4, 7]", "less than or equal to 6"),
        ("among = [2, 3, 4, 5]", "total = [2, 9]", "greater than or equal to 3"),
        ("among = [2, 3, 4, 5]", "total = [9, 8]", "no toss wins"),
        ("among = [2, 3, 4, 5], different = 3,", "", "every toss wins"),
        ("among = [2, 3, 4, 5]", "beyond = 3", "Extra inputs are not permitted"),
        ('pays = ["four-number"], clause', 'pays = ["five-number"], clause', "`five-number` is"),
        ('7 to 1", clause = "house" }', '7 to 1", clause = "house" }\nx = { printed = "1 to 1", '
         'clause = "house" }', "`x` is no wager of this layout"),
        ('"four-number"], clause = "house"', '"four-number"]', "name its `clause`"),
        ('"four-number"]', '"four-number", "even", "odd"]', "three lines where `shows` has one"),
        ("areas = { value = 56", "areas = { value = 52", "says 52, but the layout has 56"),
        ('"activate"', '"reveal"', "wagers stand after a no roll, bets close before"),
        ('name = "house-four-numbers"', 'name = "pa-625a"', "a profile called `pa-625a`"),
        ('name = "house-four-numbers"', 'name = "pa-sic-bo"', "does not say house"),
        ('name = "house-four-numbers"', 'name = "pa-sic-bo"\nrests_on_instrument = true',
         "are a house's own: its name begins with `house`"),
        ('on_top_of = "house-auto"', 'on_top_of = "pa-625a"\nrests_on_instrument = false',
         "areas, odds or warnings of pa-625a are changed: areas.four-1-2-3-4"),
    ],
)  # fmt: skip
def test_a_layout_that_no_house_may_have_is_refused_by_name(tmp_path, good, bad, says):
    text = HOUSE.read_text("utf-8")
    assert good in text
    own = tmp_path / "house-own.toml"
    own.write_text(text.replace(good, bad, 1), "utf-8")
    with pytest.raises(SettingsError) as error:
        load(own)
    assert "house-own.toml" in error.value.line()
    assert says in error.value.line()
