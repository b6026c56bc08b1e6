"""The live screen shows what the bulbs measured, not what was commanded."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from shaker_ctl.commands.screen import curve, draw, layout
from shaker_ctl.rules.layout import AREAS, sic_bo

FIFTY = list(sic_bo().areas)


def view(**changes: Any) -> dict[str, Any]:
    """A view as the status socket sends it."""
    whole: dict[str, Any] = {
        "table": "Table 7",
        "life": "open",
        "room": {"shape": "circle"},
        "phase": "collecting",
        "says": "Losing wagers are collected.",
        "marks": ["DEMONSTRATION"],
        "round_id": 41,
        "last_result": [2, 3, 3],
        "profile": {"key": "pa-625a"},
        "areas": FIFTY,
        "faults": [],
        "lamps": {"measured": ["small", "total-8"], "commanded": ["small", "total-8"]},
        "motor": {"rpm": 0.0, "duty": 0.0, "last_toss_rpm": [0.0, 700.0, 810.0, 0.0]},
        "camera": {"last_reading": "play 41: 2 3 3 verified (0.998)"},
    }
    return {**whole, **changes}


def shown(renderable: Any, width: int = 112) -> str:
    console = Console(
        width=width, force_terminal=True, color_system="truecolor", record=True, file=io.StringIO()
    )
    console.print(renderable)
    return console.export_text(styles=True)


@pytest.mark.parametrize("height", [24, 50])
def test_a_low_terminal_shows_lamps_and_each_fault_with_its_remedy(height: int) -> None:
    fault = {"code": "lamp", "cause": "it is dark", "remedy": "replace the bulb", "wall_s": 1.0}
    screen = io.StringIO()
    console = Console(width=80, height=height, file=screen, force_terminal=True, no_color=True)
    console.print(draw(view(faults=[fault], next_step="mend it", seal="unsealed")))
    told = screen.getvalue()
    for words in ("next: mend it", "SMALL", "it is dark", "replace the bulb"):
        assert words in told
    assert ("last reading" in told) == (height == 50)
    assert len(told.splitlines()) <= height


def test_what_stands_below_is_as_long_as_the_terminal_has_room_for() -> None:
    below = ["\n".join("wxyz" for _ in range(9)), "short"]
    for height, last in ((50, "wxyz"), (24, "wxyz"), (20, "short"), (10, "short")):
        screen = io.StringIO()
        console = Console(width=80, height=height, file=screen, force_terminal=True, no_color=True)
        console.print(draw(view(), below=below))
        assert screen.getvalue().rstrip().splitlines()[-1] == last
        assert ("last reading" in screen.getvalue()) == (height == 50)


def test_the_screen_says_whom_it_waits_for_and_what_to_type() -> None:
    pending = {"roles": ["dealer"], "text": "collect and pay, then: settled (key -)"}
    told = shown(draw(view(pending=pending)))
    assert "waits for dealer: collect and pay, then: settled (key -)" in told
    told = shown(draw(view(pending=None, next_step="dealer: bets (key +)")))
    assert "next: dealer: bets (key +)" in told


def test_everything_a_bystander_needs_is_on_the_screen() -> None:
    text = shown(draw(view(), [{"round": 40, "values": [1, 1, 6], "ending": "settled"}]))
    for word in ("OPEN", "round 41", "pa-625a", "DEMONSTRATION", "verified (0.998)", "settled"):
        assert word in text


@pytest.mark.parametrize("width", [80, 100, 112])
@pytest.mark.parametrize("areas", [FIFTY, list(AREAS)])
def test_nothing_is_cut_in_eighty_columns(width: int, areas: list[str]) -> None:
    driven = {"rpm": 812.0, "duty": 1.0, "last_toss_rpm": [15.0 * n for n in range(60)]}
    hand = {"round": 1234, "values": [1, 1, 6], "ending": "settled_by_hand"}
    text = shown(draw(view(areas=areas, motor=driven), [hand]), width)
    assert "…" not in text
    for word in ("duty 100%", "0.998", "settled by hand", "triple", "4–10", "11–17", "555"):
        assert word in text


def test_an_unsealed_table_says_so() -> None:
    assert "unsealed" in shown(draw(view(seal="unsealed")))
    assert "unsealed" not in shown(draw(view(seal="fbd8ba4a731244b9")))


def test_only_measured_lamps_shine() -> None:
    lit = shown(layout(view()))
    dark = shown(layout(view(lamps={"measured": [], "commanded": ["small", "total-8"]})))
    assert lit != dark
    assert "no answer" in shown(layout(view(lamps={"measured": None, "commanded": []})))


def test_lit_areas_and_dice_are_told_without_colour() -> None:
    console = Console(width=80, file=io.StringIO(), color_system=None)
    console.print(draw(view(lamps={"measured": ["small", "total-8"], "commanded": []})))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[SMALL]" in text
    assert "[8]" in text
    assert "[BIG]" not in text
    assert re.search(r"  2 +3 +3  ", text)


def test_even_and_odd_stand_on_the_layouts_that_have_them() -> None:
    assert "EVEN" not in shown(layout(view()))
    assert "EVEN" in shown(layout(view(areas=list(AREAS))))


def test_a_house_s_own_areas_stand_with_their_odds_below_those_of_sic_bo() -> None:
    own = "four-1-2-3-4"
    areas = {"areas": [*AREAS, own], "odds": {own: "7 to 1"}}
    lit = {"measured": [own], "commanded": [own]}
    assert own not in shown(layout(view()))
    told = shown(layout(view(**areas, lamps=lit)))
    assert f"[{own}]" in told
    assert "7 to 1" in told


def test_the_speed_curve_has_its_size_and_rises_with_speed() -> None:
    rows = curve([0.0, 450.0, 900.0], width=9, height=3)
    assert [len(row) for row in rows] == [9, 9, 9]
    assert rows[0][0] == " "
    assert rows[0][-1] == "█"
    assert curve([], 5, 2) == ["     ", "     "]
