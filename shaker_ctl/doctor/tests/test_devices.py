"""Contacts, lamps, consoles and digests: which state is which line, without any device."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.console.parameters import PortParameters
from shaker_ctl.doctor import lines, shaker
from shaker_ctl.doctor.digests import judged
from shaker_ctl.doctor.finding import Grade
from shaker_ctl.lamp.registers import STATUS, BoxState, Flag, decode_status
from shaker_ctl.ports import Interlocks
from shaker_ctl.rules.layout import sic_bo
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.seal.examine import NOTHING, Examined
from shaker_ctl.seal.manifest import Manifest
from shaker_ctl.seal.manifest import SealFinding as Difference

AT_REST = Interlocks(
    compartment_open=False,
    cover_open=False,
    estop_pressed=False,
    driver_fault=False,
    button_pressed=False,
)


def failed(seen: Interlocks, needs_cover: bool | None = None) -> list[str]:
    found = shaker.contacts(seen, needs_cover)
    return [one.name for one in found if one.verdict is Grade.FAIL]


@pytest.mark.parametrize(
    ("change", "needs_closed", "lines_failed"),
    [
        ({}, None, []),
        ({"compartment_open": True}, None, ["compartment"]),
        ({"estop_pressed": True}, None, ["e-stop"]),
        ({"driver_fault": True}, None, ["driver fault"]),
        ({"button_pressed": True}, None, ["player's button"]),
        ({"cover_open": True}, True, ["cover"]),
        ({}, True, []),
        ({"cover_open": True}, False, []),
        ({}, False, ["cover"]),
        ({"cover_open": True}, None, []),
    ],
)
def test_each_contact_has_its_line_and_the_rule_text_judges_the_cover(
    change: dict[str, bool], needs_closed: bool | None, lines_failed: list[str]
):
    assert failed(replace(AT_REST, **change), needs_closed) == lines_failed


def test_a_jog_is_judged_by_the_speed_that_it_held():
    def held(rpm: float) -> Grade:
        trace = tuple((i / 100, rpm) for i in range(110))
        return shaker._judged(trace).verdict

    assert held(shaker.JOG_RPM) is Grade.OK
    assert held(shaker.JOG_RPM * 0.7) is Grade.WARN
    assert shaker._judged(()).verdict is Grade.FAIL


HEALTHY = replace(
    decode_status([0] * STATUS.words, sic_bo()),
    state=BoxState.DARK,
    flags=Flag.HEALTHY | Flag.MEASURED,
    supply_v=12.1,
)


@pytest.mark.parametrize(
    ("change", "verdict", "remedy"),
    [
        ({}, Grade.OK, ""),
        ({"open_bulbs": frozenset({"small"})}, Grade.FAIL, "Replace the bulb"),
        ({"stuck_bulbs": frozenset({"big"})}, Grade.FAIL, "Replace their driver"),
        ({"flags": Flag.MEASURED | Flag.SUPPLY}, Grade.FAIL, "supply"),
        ({"flags": Flag.MEASURED | Flag.MEMORY}, Grade.FAIL, "memory"),
        ({"state": BoxState.FAULT}, Grade.FAIL, "console"),
        ({"result_round": 12}, Grade.WARN, "Start the table"),
    ],
)
def test_each_ailment_of_the_lamps_has_its_remedy(
    change: dict[str, Any], verdict: Grade, remedy: str
):
    found = lines.lamps(replace(HEALTHY, **change))
    assert found.verdict is verdict
    assert remedy in found.remedy


def test_a_console_is_opened_where_it_is_switched_on(tmp_path: Path):
    off = PortParameters(device="", roles=(Role.DEALER,))
    assert lines.console("dealer's console", off).verdict is Grade.OK
    gone = PortParameters(device=str(tmp_path / "none"), roles=(Role.DEALER,))
    assert lines.console("dealer's console", gone).verdict is Grade.FAIL


def test_digests_are_as_sealed_or_named():
    sealed = Manifest("2026-11-21", "the approver", {"a": "1"}, {}, {"b": "2"}, "b", "j", "")
    good = Examined("0123456789abcdef", sealed)
    assert judged(good, is_real_table=True).verdict is Grade.OK
    differing = tuple(Difference(f"file{n}.py", "differs from its seal") for n in range(5))
    found = judged(Examined("0123456789abcdef", sealed, differing), is_real_table=True)
    assert found.verdict is Grade.FAIL
    assert "file0.py" in found.text
    assert "2 more" in found.text


def test_an_unsealed_table_is_to_be_known_where_it_is_a_real_one():
    assert judged(NOTHING, is_real_table=True).verdict is Grade.WARN
    assert judged(NOTHING, is_real_table=False).verdict is Grade.OK
