"""The words that the page looks for by name are those of the rules and of the wiring page."""

from __future__ import annotations

from shaker_ctl.installation.places import shipped
from shaker_ctl.journal.history import STAGES
from shaker_ctl.page.technician import WIRING, parts_of
from shaker_ctl.rules import events
from shaker_ctl.rules.events import Event


def test_each_stage_begins_with_an_event_of_the_rules() -> None:
    for name in STAGES:
        assert issubclass(getattr(events, name), Event)


def test_each_link_to_the_wiring_leads_to_a_part_of_that_page() -> None:
    text = (shipped() / "README.md").read_text("utf-8")
    assert set(WIRING.values()) <= {anchor for anchor, _, _ in parts_of(text)}
