"""The room's sign: what it shows when, and what a house sets of it."""

from __future__ import annotations

from shaker_ctl.page.parameters import SignParameters
from shaker_ctl.page.tests.asking import Browser
from shaker_ctl.page.tests.test_page import _first_event, _page, page, sam, scribe, vic, view
from shaker_ctl.rules.paytable import paid
from shaker_ctl.rules.profile_files import EXAMPLES, load

__all__ = ["page", "sam", "scribe", "vic"]


def test_a_countdown_runs_while_bets_are_open_where_the_house_sets_one(page, monkeypatch) -> None:
    page._house = SignParameters(bets_s=30.0)
    page.watch.view, page.watch.trouble = view(), ""
    page._heard()

    event = _first_event(page, monkeypatch)

    assert 29 < event["left_s"] <= 30
    page._heard()
    assert page._said()[1]["left_s"] <= event["left_s"]  # the same round goes on counting
    page.watch.view = view(room={**view()["room"], "are_bets_open": False})
    page._heard()
    assert "left_s" not in page._said()[1]


def test_it_has_odds_limits_house_and_rules_and_neither_menu_nor_login(tmp_path, scribe) -> None:
    logo = tmp_path / "logo.svg"
    logo.write_text("<svg/>")
    house = SignParameters(house="Harbour", limits="$10 to $500", accent="#ffaa00", logo=logo)
    made = _page(tmp_path, house, login=False)
    made.watch.view = view(marks=["DEMONSTRATION"])
    everybody = Browser(made.app)

    answer = everybody.get("/sign")

    for word in ("$10 to $500", "Pennsylvania: Sic Bo", "DEMONSTRATION", "1, 2, 3 to 1", "Round 4"):
        assert word in answer.words
    assert "<nav" not in answer.text
    assert "everybody" not in answer.text
    assert "--lit: #ffaa00" in everybody.get("/sign/house.css").text
    assert everybody.get("/sign/logo").body == b"<svg/>"
    assert everybody.get("/sign/result.mp3", accept="*/*").status == 404
    made.book.stop()


def test_a_house_s_own_areas_stand_on_the_sign_with_their_odds(tmp_path, scribe) -> None:
    made = _page(tmp_path, SignParameters(), login=False)
    made.watch.view = view(odds=paid(load(EXAMPLES / "house-four-numbers.toml"), "A"))

    words = Browser(made.app).get("/sign").words

    assert "four 1 2 3 4 7 to 1" in words
    assert "four 3 4 5 6 7 to 1" in words
    made.book.stop()


def test_a_logo_that_cannot_be_read_is_none(page, vic, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("os.access", lambda file, how: False)  # another user's
    (tmp_path / "logo.svg").write_text("<svg/>")
    for logo in (tmp_path / "logo.svg", tmp_path / ("x" * 300)):
        page._house = SignParameters(logo=logo)
        assert vic.get("/sign/logo").status == 404


def test_shares_and_faces_are_those_of_the_results_on_record(vic) -> None:
    assert "Small 0 % Triple 50 % Big 50 % hot 2 cold 5" in vic.get("/sign").words


def test_the_first_page_is_that_of_the_role(vic, sam) -> None:
    assert [one.get("/").headers["location"] for one in (vic, sam)] == ["/sign", "/staff"]
