"""Pages for people: 80 columns whatever they hold, and `?` for what is not known."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shaker_ctl.console import json_voice, render
from shaker_ctl.console.desk import (
    CameraView,
    DiceView,
    FaultView,
    HealthView,
    InspectionView,
    JournalLine,
    JournalView,
    LampView,
    MotorView,
    Parcel,
    ProfileView,
    RoundView,
    TableView,
)
from shaker_ctl.rules.layout import AREAS

PAGES = [render.status, render.faults, render.lamps, render.motor, render.camera, render.dice_set,
         render.inspection, render.profile, render.digests, render.health]  # fmt: skip

_text = st.text(alphabet=st.characters(categories=("L", "N", "P", "Zs")), max_size=200)
_figure = st.none() | st.floats(0, 1e6)
_views = st.builds(
    TableView,
    table=st.just("Table 7"),
    life=st.sampled_from(["open", "closed"]),
    phase=st.sampled_from(["", "awaiting dealer"]),
    says=_text,
    marks=st.just(("DEMONSTRATION",)),
    round_id=st.none() | st.integers(1, 10**8),
    faults=st.lists(
        st.builds(FaultView, code=st.just("motor-stall"), wall_s=st.floats(0, 4e9), cause=_text,
                  remedy=_text, is_clearable=st.booleans()),
        max_size=3,
    ).map(tuple),
    lamps=st.builds(LampView, commanded=st.just(AREAS), box=_text, age_s=_figure,
                    measured=st.none() | st.just(AREAS)),
    motor=st.builds(MotorView, rpm=_figure, duty=_figure,
                    last_toss_rpm=st.lists(st.floats(0, 2000), max_size=300).map(tuple)),
    camera=st.builds(CameraView, fps=_figure, last_reading=_text),
    dice=st.builds(DiceView, serials=st.just(("A1", "A2", "A3")), age_s=_figure, limit_s=_figure),
    inspection=st.builds(InspectionView, reasons=st.lists(_text, max_size=3).map(tuple)),
    profile=st.builds(ProfileView, title=_text,
                      facts=st.lists(st.tuples(_text, _text, _text), max_size=3).map(tuple)),
    digests=st.just((("program", "ab" * 32, True), ("model", "cd" * 32, False))),
    health=st.builds(HealthView, temperature_c=_figure, uptime_s=_figure, wall_s=_figure),
    journal=st.builds(JournalView, head=st.just("ef" * 32)),
)  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.__name__)
def test_pages_fit_eighty_columns_also_where_nothing_is_known(
    page: Callable[..., render.Lines],
) -> None:
    @settings(max_examples=30)
    @given(view=_views)
    @example(view=TableView(table="Table 7", life="closed"))
    def check(view: TableView) -> None:
        lines = page(view)
        assert lines
        for line in lines:
            assert len(line) <= 80, line

    check()


def test_an_unknown_speed_is_a_question_mark_and_never_zero() -> None:
    lines = render.motor(TableView(table="t", life="closed"))
    assert "?" in lines[0]
    assert "0 rpm" not in lines[0]


@given(speeds=st.lists(st.floats(0, 5000), min_size=1, max_size=500))
def test_the_sparkline_is_as_long_as_it_may_be_and_peaks_at_the_top(speeds: list[float]) -> None:
    line = render.sparkline(speeds)
    assert len(line) == min(60, len(speeds))
    assert render.sparkline([0.0, 100.0]) == "_#"


@given(view=_views)
def test_every_view_has_a_json_form_of_pure_ascii(view: TableView) -> None:
    line = json_voice.line({"view": view})
    assert line.isascii()
    assert line.count("\n") == 1


def test_round_and_journal_pages_wrap() -> None:
    view = RoundView(
        facts={"lamps": AREAS, "reason": "why " * 40}, events=((1.79e9, "word " * 40),)
    )
    records = [JournalLine(sequence=1, wall_s=1.79e9, kind="event", text="word " * 60)]
    for line in [*render.game_round(view), *render.journal(records)]:
        assert len(line) <= 80


def test_a_parcel_is_lines_of_json_that_a_script_can_join() -> None:
    lines = list(json_voice.parcel(Parcel("a.jpg", bytes(range(256)) * 10)))
    assert all(line.startswith('{"parcel":"a.jpg"') for line in lines)
    assert max(map(len, lines)) < 1100


def test_figures_stand_in_rows_and_lists_of_figures_on_lines_of_their_own() -> None:
    lines = render.figures(
        {
            "no_roll_rate": None,
            "faces": {face: 20 + face for face in range(1, 7)},
            "tests": [
                {"name": "faces", "p": 0.68123, "df": None},
                {"name": "pairs", "p": 0.01, "against": "a word " * 20},
            ],
        }
    )
    assert lines[0].split() == ["no", "roll", "rate", "?"]
    assert lines[1].endswith("1: 21, 2: 22, 3: 23, 4: 24, 5: 25, 6: 26")
    assert lines[2:4] == ["tests", "  name: faces, p: 0.6812"]
    assert all(len(line) <= render.WIDTH for line in lines)


def sealed(is_verified: bool) -> dict[str, object]:
    """A taught table: no seal covers its teaching."""
    rows = (("software", is_verified), ("seal", is_verified), ("teaching", False))
    return {"digests": tuple((what, "ab" * 32, verified) for what, verified in rows)}


@pytest.mark.parametrize(
    ("page", "known", "shown"),
    [
        (render.motor, {}, r"current +not fitted"),
        (render.motor, {"motor": MotorView(current_a=1.25)}, r"current +1\.25 A"),
        (render.status, sealed(False), "unsealed"),
        (render.status, sealed(True), r"(?s)\A(?!.*unsealed)"),
        (render.digests, sealed(False), "unsealed"),
        (render.digests, sealed(True), "verified"),
        (render.health, {"health": HealthView(throttled=None)}, r"power +not known"),
        (render.health, {"health": HealthView(throttled=())}, r"power +no undervoltage"),
        (render.health, {"health": HealthView(throttled=("a low",))}, r"power +a low"),
    ],
)
def test_what_is_missing_and_what_is_not_known_is_said(
    page: Callable[..., render.Lines], known: dict[str, Any], shown: str
) -> None:
    view = TableView(table="T", life="closed", **known)
    assert re.search(shown, "\n".join(page(view)))
