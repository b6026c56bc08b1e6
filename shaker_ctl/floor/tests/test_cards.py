"""What the floor's first page shows of a table: to staff, and to whoever may see the wall alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.floor.cards import card_of, in_order
from shaker_ctl.floor.page import HERE
from shaker_ctl.floor.tables import Tables
from shaker_ctl.floor.tests.a_table import alarm, alive, birth, result
from shaker_ctl.link.shown import state_of
from shaker_ctl.link.topics import Place
from shaker_ctl.page.parameters import PageParameters
from shaker_ctl.page.site import Site

PLACE = Place("house", "pit-1")


def said_by(views: dict[str, dict[str, Any]]) -> Tables:
    """Each of these tables is there, and has said where it stands."""
    tables = Tables("house")
    for name, view in views.items():
        tables.take(Place("house", name).topic("alive"), alive())
        state = json.dumps(state_of(view)).encode()
        tables.take(Place("house", name).topic("state"), state)
    return tables


def drawn(folder: Path, *, is_staff: bool) -> str:
    view = {
        "life": "open",
        "phase": "disputed",
        "room": {"says": "Please wait: a floorperson is called."},
        "pending": {"text": "dealer: 5 6 4, reader: 4 6 4; say: decide 5 6 4"},
    }
    tables = said_by({"pit-1": view})
    tables.take(PLACE.topic("birth"), birth(marks=["DEMONSTRATION"]))
    tables.take(PLACE.topic("alarm/motor-stall"), alarm("motor-stall"))
    parameters = PageParameters(state_dir=folder)
    templates = (HERE / "templates",)
    site = Site(parameters, folder / "users.toml", menu=(), described=dict, templates=templates)
    site.looked.close()
    cards = [card_of(one, "") for one in tables.by_name.values()]
    return site.draw(
        "parts/cards.html", "en", cards=cards, is_staff=is_staff, sentences=lambda text: text
    )


@pytest.mark.parametrize(
    ("of_room", "on_floor"),
    [("circle", "circle"), ("square", "circle"), ("triangle", "triangle"), ("cross", "triangle")],
)
def test_an_open_table_that_waits_for_somebody_is_not_green(of_room: str, on_floor: str) -> None:
    tables = said_by({"pit-1": {"life": "open", "room": {"says": "", "shape": of_room}}})

    assert card_of(tables.by_name["pit-1"], "").shape == on_floor


def test_a_viewer_reads_what_the_room_reads_and_no_alarm(tmp_path: Path) -> None:
    room, staff = (drawn(tmp_path, is_staff=one) for one in (False, True))
    assert "Please wait: a floorperson is called." in room
    assert not [word for word in ("5 6 4", "decide", "motor-stall", "disputed") if word in room]
    assert "decide 5 6 4" in staff
    assert "motor-stall" in staff
    assert "DEMONSTRATION" in room
    assert "DEMONSTRATION" in staff


@pytest.mark.parametrize(
    ("round_id", "shape", "is_shown"),
    [(7, "circle", True), (8, "circle", False), (7, "cross", False)],
)
def test_a_card_shows_the_result_of_the_round_in_hand_alone(
    round_id: int, shape: str, is_shown: bool
) -> None:
    view = {"life": "open", "round_id": round_id, "room": {"shape": shape}}
    tables = said_by({"pit-1": view})
    tables.take(PLACE.topic("result"), result())

    assert bool(card_of(tables.by_name["pit-1"], "").result) is is_shown


def test_a_floor_hears_which_multipliers_are_in_force() -> None:
    room = {"says": "Place your bets.", "multipliers": [["double-4", "87 to 1"]]}

    said = state_of({"room": room})["room"]
    assert said == "Place your bets. Multipliers in force: double-4 87 to 1."


def test_who_has_waited_longest_comes_first_with_role_and_time() -> None:
    pending = {"text": "decide", "roles": ["floorperson"]}
    waits = {"pit-1": ("circle", 0.0), "pit-2": ("triangle", 1_790_000_600.0)}
    views = {
        name: {"life": "open", "room": {"shape": shape}, "pending": pending, "since_s": since_s}
        for name, (shape, since_s) in {**waits, "pit-10": ("triangle", 1_790_000_000.0)}.items()
    }
    tables = said_by(views)

    cards = in_order(card_of(one, "") for one in tables.by_name.values())

    assert [card.name for card in cards] == ["pit-10", "pit-2", "pit-1"]
    assert (cards[0].needs, cards[0].since_s) == (("floorperson",), 1_790_000_000)
