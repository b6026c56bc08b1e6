"""The examples read what the descriptions promise, and the player display shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, StrictUndefined

from hil_tests.page.conftest import chromium
from hil_tests.page.moments import MOMENTS, served, view_of
from shaker_ctl.console import accounts
from shaker_ctl.floor import door as floor_door
from shaker_ctl.link import home_assistant, messages
from shaker_ctl.link.topics import Place
from shaker_ctl.page import door
from shaker_ctl.page.tests.a_journal import Scribe
from shaker_ctl.page.tests.test_page import _page

__all__ = ["chromium"]

HERE = Path(__file__).parent


def fields(described: dict[str, Any], name: str) -> set[str]:
    return set(described["components"]["schemas"][name]["properties"])


def test_every_field_that_an_example_reads_is_described() -> None:
    flow, panel = ((HERE / name).read_text("utf-8") for name in ("node-red.json", "grafana.json"))
    html = (HERE / "display.html").read_text("utf-8")
    (reads,) = (one["url"] for one in json.loads(panel)["targets"])
    columns = {one["selector"] for one in json.loads(panel)["targets"][0]["columns"]}
    topics = [one["topic"] for one in json.loads(flow) if one["type"] == "mqtt in"]
    of_sign = re.findall(r"const \{ (.+) \} = state\.sign", html)

    assert reads.endswith("/state.json")
    assert columns <= fields(floor_door.described(), "TableCard")
    assert set(re.findall(r"payload\.(\w+)", flow)) <= fields(messages.described(), "Result")
    assert topics == [messages.READS[0].where.format(site="house", table="+")]
    assert set(of_sign[0].split(", ")) <= fields(door.described(), "Sign")
    assert set(re.findall(r"state\.(\w+)", html)) <= fields(door.described(), "State")
    assert set(re.findall(r"one\.(\w+)\.", html)) <= fields(door.described(), "Past")


def test_home_assistant_reads_what_a_table_publishes() -> None:
    place = Place("house", "pit-1")
    told = home_assistant.discovery(place, "Table 1")
    known = {one.where.format(site="house", table="pit-1", code="+"): one for one in messages.READS}

    assert home_assistant.topic(place) == "homeassistant/device/house-pit-1/config"
    reads = [*told["components"].values(), *told["availability"]]
    for one in reads:
        read = known[one.get("state_topic") or one["topic"]].what
        assert read is not None
        values = {key: ["x"] for key in fields(messages.described(), read.__name__)}
        template = Environment(undefined=StrictUndefined).from_string(one["value_template"])
        assert template.render(value_json=values)
    assert len({one["unique_id"] for one in reads[:-1]}) == len(reads) - 1


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_the_player_display_shows_what_the_room_may_know(chromium: Any, tmp_path: Path) -> None:
    scribe = Scribe(tmp_path / "journal.jsonl")
    scribe.round(1, (1, 6, 6))
    scribe.close()
    page = _page(tmp_path, login=True)
    page.watch.age_s = lambda: 0.1  # type: ignore[method-assign] # posed, and not late
    token = accounts.add_token(tmp_path / "users.toml", "d1", accounts.Looker.DISPLAY)
    tab = chromium.new_context().new_page()
    with served(page) as address:
        tab.goto(f"{(HERE / 'display.html').as_uri()}#page={address}&token={token}")
        for moment in ("betting", "announcing", "result", "void"):
            made, says, call = MOMENTS[moment]
            page.watch.view, page.watch.trouble = view_of(made()), ""
            page._regions._wake()
            tab.wait_for_function(f"document.getElementById('says').textContent === {says!r}")
            assert tab.inner_text("#call").startswith(call)
            assert tab.inner_text("#dice") == ("⚀ ⚃ ⚃" if moment == "result" else "")
        assert tab.inner_text("#road") == "1 6 6"
        page.watch.age_s = lambda: 11.0  # type: ignore[method-assign] # the table has gone
        tab.wait_for_function("document.getElementById('says').textContent.includes('not answer')")
    tab.context.close()
