"""Settings for people: the reference, a file to begin with, and what is in force.

Owns how a key is written and explained. What a key means stands beside it, in its section's class.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from datetime import time
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from shaker_ctl import parameters
from shaker_ctl.errors import SettingsError
from shaker_ctl.frozen import frozen
from shaker_ctl.parameters import Parameters
from shaker_ctl.rules.profile_files import PROFILES
from shaker_ctl.settings import Settings, for_

FOR_RIG: Mapping[str, tuple[Any, str]] = {
    "service.heartbeat_s": (0.13, "The rig shares this computer; the 150 ms still hold."),
    "gpio.dead_man_s": (0.12, "The host of a virtual machine takes a core away for 100 ms."),
    "lamp.reply_slack_s": (0.12, "Two processes pace the line, and answer later than a box."),
    "lamp.request_deadline_s": (0.4, "As above."),
    "lamp.show_deadline_s": (0.4, "As above."),
}
"""What a table on the virtual rig needs besides its addresses, and why."""

FIRST: Mapping[str, str] = {
    "service.table_name": "the house's name of the table, on every screen and record",
    "table.profile": f"the rule text, {' or '.join(PROFILES)}: `shaker-ctl rules list`",
    "table.paytable": "the letter, where the profile has two",
    "table.cover_fitted": "`true` where a cover and its contact are fitted",
    "table.attended": "`false` where no dealer is at the table",
    "gpio.monostable": "`false` where none is fitted in front of EN",
    "camera.device": "`/dev/shaker-camera`, or `csi:0`",
    "camera.calibration": "`shaker-ctl calibrate camera` writes it; or measure it with a ruler",
    "camera.calibration.die_mm": "edge of the dice, mm",
    "camera.calibration.compartment_radius_mm": "radius of the floor on which the dice lie, mm",
    "camera.second.fitted": "`true` for a stereo camera; `calibrate camera --raised` adds the rest",
    "lamp.device": "`/dev/shaker-lamps`, or the adapter's own name",
    "console.technician.device": "the device file; empty: no such console",
    "console.technician.roles": "who may log in there",
    "console.dealer.device": "the device file; empty: no such console",
    "console.dealer.roles": "who may log in there",
    "journal.second": "the second copy, such as /media/shaker-journal/journal.jsonl on a stick",
    "page.address": "where the page listens: `0.0.0.0` for other computers, too",
    "seal.required": "`true`, or `false` for a trial without an approver",
}
"""What a house decides for a first table, and how: keys, and a section that a command fills in.
Every other key has a default that holds."""

MACHINE = (
    "motion.",
    "gpio.chip", "gpio.pwm_chip", "gpio.pwm_hz", "gpio.dead_man_s", "gpio.answer_s",
    "gpio.tach_glitch_us", "gpio.contact_glitch_us", "gpio.latch_pulse_s", "gpio.light_hz",
    "camera.open_timeout_s", "camera.silent_after_s", "camera.answer_timeout_s",
    "camera.start_timeout_s", "camera.rest_timeout_s", "camera.read_timeout_s", "camera.dip_",
    "lamp.reply_slack_s", "lamp.show_deadline_s", "lamp.request_deadline_s",
    "lamp.multipliers_deadline_s", "console.answer_s", "service.heartbeat_s",
    "service.clock_step_s",
)  # fmt: skip
"""How the keys begin that describe the machine and its computer: whoever changes one has measured
anew what rests on it. A new file leaves them out."""

SUGGESTED: Mapping[str, Any] = {
    "service.table_name": "Sic Bo 1",
    "camera.device": "/dev/shaker-camera",
    "lamp.device": "/dev/shaker-lamps",
    "console.technician.device": "/dev/serial0",
    "console.technician.roles": ["technician", "floorperson", "supervisor"],
    "console.dealer.device": "/dev/ttyGS0",
    "console.dealer.roles": ["dealer", "floorperson", "supervisor"],
    "seal.required": True,
}
"""What `setup` offers where a table usually differs from the default."""


@frozen
class Section:
    """A table of the file."""

    path: tuple[str, ...]
    about: str

    @property
    def header(self) -> str:
        return f"[{'.'.join(self.path)}]"


@frozen
class Key:
    """One key of a section."""

    path: tuple[str, ...]
    value: Any
    bounds: str
    reason: str

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def spelled(self) -> str:
        """As it stands in the file; empty where it is not set."""
        return "" if self.value is None else _as_toml(self.value)


def entries(standing: BaseModel, path: tuple[str, ...] = ()) -> Iterator[Section | Key]:
    """Every section and key of settings in force, sections before their keys."""
    why = parameters.reasons(type(standing))
    sections = []
    for name, field in type(standing).model_fields.items():
        value = getattr(standing, name)
        if isinstance(value, BaseModel):
            sections.append((name, value))
            continue
        bounds = ", ".join(_bound(item) for item in field.metadata if _bound(item))
        bounds = bounds or _choice(field.annotation)
        yield Key((*path, name), value, bounds, why.get(name, ""))
    for name, value in sections:
        yield Section((*path, name), (value.__doc__ or "").strip())
        yield from entries(value, (*path, name))


def reference(section: str = "", of: Parameters | None = None) -> str:
    """Every key with default, bounds and reason, as Markdown; of one section where it is named.
    `of`: defaults of a link or floor.

    Raises `SettingsError` where there is no such section.
    """
    wanted = section.strip("[]")
    lines = [
        "# Settings",
        "",
        "One TOML file. Unknown keys are refused. Generated by `shaker-ctl settings reference`.",
    ]
    found = list(entries(of or Settings()))
    shown = [each for each in found if not wanted or _is_in(each.path, wanted)]
    if not shown:
        names = ", ".join(".".join(each.path) for each in found if isinstance(each, Section))
        raise SettingsError(f"there is no section {wanted!r}", remedy=f"There are: {names}")
    for each in shown:
        if isinstance(each, Section):
            lines += ["", f"## {each.header}", "", each.about, ""]
            continue
        spelled = f"`{each.spelled}`" if each.spelled else "not set"
        bounds = f" ({each.bounds})" if each.bounds else ""
        lines.append(f"- **`{each.path[-1]}`** = {spelled}{bounds}")
        if each.reason:
            lines.append(f"  {each.reason}")
    return "\n".join(lines) + "\n"


def _is_in(path: tuple[str, ...], section: str) -> bool:
    return ".".join(path) == section or ".".join(path).startswith(f"{section}.")


def fresh(
    chosen: Mapping[str, tuple[Any, str]], of: Parameters | None = None, *, machine: bool = False
) -> str:
    """A commented file: each key with its reason and default, and those of `chosen` set; only what
    `machine` says of the keys of `MACHINE`, or of the others. `of`: defaults of a link or floor."""
    of = of or Settings()
    lines = [
        f"# Settings of a {of.FILE}. Each key stands here with its default, behind a #: take the #",
        f"# away and change it. `shaker-ctl settings reference{for_(type(of))}` says more, and",
        f"# `shaker-ctl settings check{for_(type(of))} FILE` says whether this file is good.",
    ]
    if of.FILE == Settings.FILE:
        lines.append("# The keys of motor, pins and deadlines: settings new --machine FILE.")
    header: list[str] = []
    for each in entries(of):
        first = FIRST.get(".".join(each.path)) if of.FILE == Settings.FILE else None
        decided = [f"# A first table sets this: {first}."] if first else []
        if isinstance(each, Section):
            header = ["", each.header, *decided]
            continue
        if each.name not in chosen and each.name.startswith(MACHINE) != machine:
            continue
        lines += header
        header = []
        lines += [*(f"# {line}" for line in textwrap.wrap(each.reason, 96)), *decided]
        if each.name in chosen:
            value, why = chosen[each.name]
            lines.append(f"{each.path[-1]} = {_as_toml(value)}  # {why}")
        elif each.spelled:
            lines.append(f"#{each.path[-1]} = {each.spelled}")
        else:
            lines.append(f"#{each.path[-1]} =  # not set{each.bounds and f': {each.bounds}'}")
    return "\n".join(lines) + "\n"


def differing(standing: Settings) -> Iterator[tuple[Key, Key]]:
    """The keys of settings in force that differ from their defaults, with these."""
    for each, usual in zip(entries(standing), entries(Settings()), strict=True):
        if isinstance(each, Key) and isinstance(usual, Key) and each.value != usual.value:
            yield each, usual


def _as_toml(value: Any) -> str:
    """Return a value as one writes it into the file: JSON's spelling is TOML's too."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(_as_toml(item) for item in value)}]"
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, time):
        return value.isoformat()
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)


def _choice(annotation: Any) -> str:
    """Return the values that a key may have, where they are a list of names."""
    kinds = [annotation, *get_args(annotation)]
    for kind in kinds:
        if get_origin(kind) is Literal:
            return " or ".join(f"`{_as_toml(value)}`" for value in get_args(kind))
        if isinstance(kind, type) and issubclass(kind, Enum):
            return " or ".join(f"`{_as_toml(one)}`" for one in kind)
    return ""


def _bound(item: Any) -> str:
    for attribute, sign in (("gt", ">"), ("ge", "≥"), ("lt", "<"), ("le", "≤")):
        value = getattr(item, attribute, None)
        if value is not None:
            return f"{sign} {value:g}" if isinstance(value, int | float) else f"{sign} {value}"
    return ""
