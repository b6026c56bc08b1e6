"""The room's sign: what it shows when, and that no public surface tells a reading too early."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from shaker_ctl.console.json_voice import plain
from shaker_ctl.link.shown import state_of
from shaker_ctl.page.parameters import SignParameters
from shaker_ctl.page.tests.asking import Browser
from shaker_ctl.page.tests.test_page import _first_event, _logged_in, _page, page, scribe, view
from shaker_ctl.rules.commands import Announce, RecordRound
from shaker_ctl.rules.outcome import Toss
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.paytable import paid
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Cause,
    Ending,
    Named,
    Notice,
    Occasion,
    Person,
    Purpose,
    Role,
    Source,
    WagersDo,
)
from shaker_ctl.view import table_view, wording
from shaker_ctl.view.tests.paper import facts
from vision.reading import Kind, NoRoll, Unreadable, Verified

__all__ = ["page", "scribe"]

COMBINATIONS = 10_000
RULES = rulebook(TableParameters())
PARTS = ("bar", "state", "result", "layout")
_RAW = re.compile(r"[a-z]+_[a-z_]+|None|\{|<")
_FACE = re.compile(r"#die([1-6])")


def _a_view(rnd: random.Random) -> tuple[dict[str, Any], bool]:
    """A view of one phase, with readings and people; and whether its lamps are read back lit."""
    read = (rnd.randint(1, 6), rnd.randint(1, 6), rnd.randint(1, 6))
    ending = rnd.choice(tuple(Ending))
    by = Person("dan", rnd.choice(tuple(Role)))
    verdict = rnd.choice((Verified(read), NoRoll(0, Kind.TILTED), Unreadable.of("glare"), None))
    state = TableState(
        rnd.choice(tuple(Phase)),
        purpose=rnd.choice(tuple(Purpose)),
        round=8,
        reading=verdict,
        values=rnd.choice((read, None)),
        source=rnd.choice((Source.VERIFIED, None)),
        entered=rnd.choice((read, None)),
        enterer=by,
        ending=ending,
        cause=rnd.choice(tuple(Cause)),
        named=rnd.choice((Named(read, by), None, None)),
    )
    record = RecordRound(8, ending, WagersDo.RETURNED, state.cause, None, None, ())
    paper = facts(RULES, SimpleNamespace(state=state, post=None), last_round=lambda: record)
    told: dict[str, Any] = plain(table_view.compose(paper, frozenset()))
    is_lit = state.values is not None and rnd.random() < 0.5
    lit = sorted(Toss(state.values).areas(RULES.layout)) if is_lit and state.values else []
    told["lamps"] |= {"measured": lit, "commanded": lit}
    return told | {"odds": paid(RULES.profile, "A"), "monotonic_s": 0.0}, is_lit


def test_no_public_surface_tells_a_reading_early_and_no_person_reads_a_field_s_name(page) -> None:
    """Phases x purposes x readings x notices x roles, by a seed; the texts of staff, too."""
    rnd = random.Random(62)
    drawn: dict[object, str] = {}
    for _ in range(COMBINATIONS):
        told, is_lit = _a_view(rnd)
        page.watch.view = told
        sign = page._sign_now()
        key = repr(sign)
        if key not in drawn:
            page._regions._change += 1
            drawn[key] = "".join(page._regions.part(name, "en") for name in PARTS)
        faces = _FACE.findall(drawn[key].partition("Layout")[0])
        assert not faces or is_lit or told["phase"] == "clearing", (told["phase"], told["says"])
        shown = state_of(told)
        assert not re.search(r"\d|dan\b", f"{sign.says} {sign.call} {shown['room']}")
        notice = Announce(Occasion(Purpose.PLAY, 8), rnd.choice(tuple(Notice)), "625a.7(c)")
        notice = replace(notice, cause=rnd.choice((None, *Cause)))
        texts = (told["says"], told["next_step"], told["last_ended"], wording.announce(notice))
        said = f"{' '.join(texts)} {(told['pending'] or {}).get('text', '')} {sign.says}"
        assert not _RAW.search(said), said


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


def test_shares_and_faces_are_those_of_the_results_on_record(page) -> None:
    words = _logged_in(page, "vic", "viewer").get("/sign").words

    assert "Small 0 % Triple 50 % Big 50 % hot 2 cold 5" in words


@pytest.mark.parametrize(("role", "first"), [("viewer", "/sign"), ("surveillance", "/staff")])
def test_the_first_page_is_that_of_the_role(page, role: str, first: str) -> None:
    name = "vic" if role == "viewer" else "sam"

    assert _logged_in(page, name, role).get("/").headers["location"] == first
