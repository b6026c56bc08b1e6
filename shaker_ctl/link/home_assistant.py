"""What Home Assistant is told of a table, so that it shows it unasked (its MQTT discovery).

Owns the one message. Home Assistant then reads what the table publishes anyway, with a certificate
named `page`; with one named `display` it reads results alone.
"""

from __future__ import annotations

from typing import Any

from shaker_ctl import __version__
from shaker_ctl.link import topics
from shaker_ctl.link.topics import Place

PREFIX = "homeassistant"


def topic(place: Place) -> str:
    """Where Home Assistant looks for a device."""
    return f"{PREFIX}/device/{place.site}-{place.table}/config"


def discovery(place: Place, title: str) -> dict[str, Any]:
    """Return the message; `title`: of the table, as people call it."""

    def shows(kind: str, name: str, template: str, platform: str = "sensor") -> dict[str, str]:
        unique = f"{place.site}-{place.table}-{name.replace(' ', '-').lower()}"
        said = {"platform": platform, "name": name, "unique_id": unique}
        return {**said, "state_topic": place.topic(kind), "value_template": template}

    result, state = topics.RESULT, topics.STATE
    values = "{{ 'withdrawn' if value_json.withdrawn else value_json['values'] | join(' ') }}"
    waits = "{{ 'ON' if value_json.needs else 'OFF' }}"
    return {
        "device": {"identifiers": [f"{place.site}-{place.table}"], "name": title},
        "origin": {"name": "shaker-ctl", "sw_version": __version__},
        "availability": [
            {"topic": place.topic(topics.ALIVE), "value_template": "{{ value_json.is }}"}
        ],
        "components": {
            "result": shows(result, "Result", values),
            "round": shows(result, "Round", "{{ value_json.round }}"),
            "room": shows(state, "The room reads", "{{ value_json.room }}"),
            "life": shows(state, "State", "{{ value_json.life }}"),
            "needs": shows(state, "Needs somebody", waits, "binary_sensor"),
        },
    }
