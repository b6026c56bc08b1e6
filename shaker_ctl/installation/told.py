"""What a house tells its table, as files: settings, pins, key, sockets, and that it is a real one.

Owns what each file becomes. Must not know who asks. What is right already is left as it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shaker_ctl import settings
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.errors import reraise_as
from shaker_ctl.installation import pins as pins_file
from shaker_ctl.installation import sockets
from shaker_ctl.installation.files import SetupError, have
from shaker_ctl.installation.places import USER, Places
from shaker_ctl.settings_text import changed

REAL_TABLE = """\
This computer is a real table. No demonstration and no virtual rig runs here.
Written by `shaker-ctl setup`; `apt purge shaker-ctl` removes it.
"""


def mark_table(places: Places, pins: PinParameters) -> bool:
    """Say that this is a real table, and tell the scripts its pins; whether anything changed."""
    marked = have(places.real_table, REAL_TABLE)
    return have(places.pins, pins_file.environment(pins)) or marked


def answers(places: Places) -> dict[str, Any]:
    """Return the settings as they stand; empty where there is no file. Raises `SettingsError`."""
    if not places.settings.exists():
        return {}
    return tomllib.loads(settings.read_text(places.settings))


def with_keys(file: Path, values: Mapping[str, Any], notes: Mapping[str, str]) -> str:
    """Return the text of a settings file with these keys; None takes one away. `notes`: comments
    behind them.

    Raises `SettingsError` for what no table starts with.
    """
    text = settings.read_text(file) if file.exists() else ""
    whole = changed(text, values, notes, source=str(file))
    settings.check_rules(settings.parse_text(whole, source=str(file)), source=str(file))
    return whole


def tell(places: Places, values: Mapping[str, Any], why: str = "") -> None:
    """Write keys of the table's settings, or leave the file as it was; see `with_keys`."""
    whole = with_keys(places.settings, values, {name: why for name in values if why})
    have(places.settings, whole, 0o640, None if places.is_staged else USER)


def take_key(places: Places, given: Path) -> None:
    """Have the key against which the seal is checked. Another one in its place is a person's
    matter."""
    remedy = "Give the approver's seal.pub: shaker-ctl seal keys makes a pair"
    with reraise_as(SetupError, f"the public key {given} cannot be read", remedy=remedy):
        content = given.read_text("utf-8", "replace")
        there = places.public_key.exists() and places.public_key.read_text("utf-8", "replace")
    if there not in (False, content):
        raise SetupError(
            f"{places.public_key} holds another key, and a key is never replaced",
            remedy="A new approver: remove that file by hand, install the new key, seal again",
        )
    have(places.public_key, content)


def name_sockets(
    places: Places,
    devices: Mapping[str, Path],
    properties: Callable[[Path], Mapping[str, str]] = sockets.properties,
) -> bool:
    """Give the USB socket of each device its name; whether anything changed."""
    given = {name: sockets.rule(name, path, properties(path)) for name, path in devices.items()}
    file = places.socket_rules
    before = file.read_text("utf-8", "replace") if file.exists() else ""
    return have(file, sockets.merged(before, given))
