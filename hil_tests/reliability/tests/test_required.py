"""A result that differs from what is required is called different, whatever differs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hil_tests.reliability.required import (
    Observation,
    Required,
    RequiredEnding,
    RequiredLamps,
    RequiredMotor,
    differences,
    judged,
    matches,
)

REQUIRED = Required(
    RequiredEnding.VOID,
    "returned",
    "out of service",
    motor=RequiredMotor.STOPPED,
    motor_within_s=0.2,
    still_within_s=1.0,
    lamps=(RequiredLamps.DARK,),
    source=("verified",),
    codes=("tach-silent", "motor-stall"),
    seen_as=("ShakerFault:tach-silent", "ShakerFault:motor-stall"),
    within_s=0.25,
    start_says="no box",
)


def good() -> Observation:
    """What was seen when all is as `REQUIRED` says."""
    return Observation(
        ending="void",
        wagers="returned",
        source="verified",
        life="out of service",
        motor="stopped",
        motor_after_s=0.16,
        still_after_s=0.4,
        lamps="dark",
        codes=["motor-stall"],
        events=["ShakerFault:motor-stall", "WagersSettled"],
        detected_after_s=0.151,
        start_said="there is no box on the line",
    )


def test_what_is_as_required_has_no_difference() -> None:
    assert differences(REQUIRED, good()) == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"ending": "settled"}, "ending void"),
        ({"ending": None}, "ending void"),
        ({"wagers": "settled"}, "wagers returned"),
        ({"source": "entered"}, "values from verified"),
        ({"life": "open"}, "table afterwards"),
        ({"motor": "finished"}, "motor stopped"),
        ({"motor_after_s": 0.201}, "EN low within 0.2 s"),
        ({"motor_after_s": None}, "EN low within 0.2 s, never seen"),
        ({"still_after_s": 1.5}, "cam still within 1 s"),
        ({"lamps": "truth"}, "lamps dark"),
        ({"lamps": "wrong for good: big"}, "lamps dark"),
        ({"codes": []}, "fault code tach-silent or motor-stall"),
        ({"codes": ["lamp"]}, "fault code tach-silent or motor-stall"),
        ({"events": ["WagersSettled"]}, "event ShakerFault:tach-silent"),
        ({"detected_after_s": 0.3}, "detected within 0.25 s"),
        ({"detected_after_s": None}, "detected within 0.25 s, never seen"),
        ({"start_said": "it started"}, "start must end with 'no box'"),
        ({"violations": ["WRONG VALUE committed"]}, "WRONG VALUE"),
    ],
)
def test_each_difference_is_found_and_named(change: dict[str, object], named: str) -> None:
    seen = good()
    for name, value in change.items():
        setattr(seen, name, value)
    found = differences(REQUIRED, seen)
    assert len(found) == 1
    assert named in found[0]


def test_a_fault_on_the_console_where_none_may_be_is_a_difference() -> None:
    assert "no fault, console: lamp" in differences(
        replace(REQUIRED, codes=()), replace(good(), codes=["lamp"])
    )


def test_wrong_lamps_must_be_dark_and_the_fault_shown_in_time() -> None:
    required = replace(REQUIRED, lamps=(RequiredLamps.WRONG_THEN_DARK,), dark_within_s=0.5)
    seen = replace(good(), lamps="wrong, then dark", dark_after_s=0.1, fault_shown_after_s=0.2)
    assert differences(required, seen) == []
    seen.fault_shown_after_s = None
    assert differences(required, seen) == ["phase fault shown within 0.5 s, never seen"]
    seen.dark_after_s, seen.fault_shown_after_s = 0.6, 0.2
    assert differences(required, seen) == ["lamps dark within 0.5 s, seen after 0.600 s"]


def test_of_several_outcomes_one_must_be_met_whole() -> None:
    other = Required(
        RequiredEnding.SETTLED,
        "settled",
        "open",
        lamps=(RequiredLamps.TRUTH,),
    )
    settled = Observation(ending="settled", wagers="settled", life="open", lamps="truth")
    assert judged((REQUIRED, other), settled) == []
    mixed = replace(settled, life="out of service")
    assert judged((REQUIRED, other), mixed) == ["table afterwards open, seen: out of service"]


@pytest.mark.parametrize(
    ("pattern", "event", "is_it"),
    [
        ("EstopPressed", "EstopPressed", True),
        ("ReadingMade:Unreadable", "ReadingMade:Unreadable no-dip: late", True),
        ("ReadingMade:Unreadable", "ReadingMade:Verified", False),
        ("LampFault:lamp-reply", "ShakerFault:lamp-reply", False),
        ("LampFault:lamp-reply", "LampFault", False),
    ],
)
def test_events_are_told_apart(pattern: str, event: str, is_it: bool) -> None:
    assert matches(pattern, event) is is_it
