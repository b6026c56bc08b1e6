"""The report as one HTML file: it opens without a network and without anything beside it.

Owns what a reader sees, in which order: first what failed, and there first the sentence that says
why; then who did what and what was seen; then every toss with its pictures and lines.
Must not know pytest or rigs: it draws `report.json`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hil_tests.report import drawings
from hil_tests.report.evidence import AFTER_S, BEFORE_S
from hil_tests.report.html import filled
from hil_tests.report.story import FOUND

Test = Mapping[str, Any]


def draw(report: Mapping[str, Any]) -> str:
    """Return the whole page."""
    tests = sorted(map(_shown, report["tests"]), key=lambda test: KINDS.index(test["kind"]))
    kinds = Counter(test["kind"] for test in tests)
    return filled(
        "report/page.html",
        rig=report["rig"],
        count=", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind] or kind in ALWAYS),
        below=report["at"] + ("" if report.get("is_ended", True) else NOT_ENDED),
        tiles=_tiles(tests, kinds),
        about=report.get("about", {}),
        tests=tests,
    )


UNFINISHED = "not finished"
"""Of a test that the end of its run cut short, or that was not run."""
KINDS = ("failed", UNFINISHED, "passed", "skipped")
ALWAYS = ("failed", "passed", "skipped")
NOT_ENDED = ": this run has not come to its end; tests that are not below were not run"


def _tiles(tests: Sequence[Test], kinds: Counter[str]) -> list[tuple[object, str, str]]:
    taken = [one for test in tests for one in test["measurements"]]
    within = sum(one["passed"] for one in taken)
    return [
        (kinds["failed"], "failed", "bad" if kinds["failed"] else ""),
        *([(kinds[UNFINISHED], UNFINISHED, "")] if kinds[UNFINISHED] else []),
        (kinds["passed"], "passed", "good"),
        (kinds["skipped"], "skipped, with a reason", ""),
        (f"{within} of {len(taken)}", "values within limits", ""),
        (sum(len(test["tosses"]) for test in tests), "tosses seen", ""),
    ]


def _shown(test: Test) -> Test:
    """A test with what the page says of it."""
    evidence = test["evidence"]
    return {
        "attached": (),
        **test,
        "kind": test["outcome"] if test["outcome"] in KINDS else "failed",
        "table": "; ".join(f"{name} {said}" for name, said in evidence.get("table", {}).items()),
        "origin": _origin(test),
        "why": _why(test),
        "overview": _overview(test),
        "tosses": [_toss(test, toss) for toss in evidence.get("tosses", ())],
    }


def _why(test: Test) -> list[tuple[str, str, str]]:
    """Why it failed, at one glance: what was to be, what was instead, and what came just before."""
    expected, _, found = str(test["reason"]).removeprefix("expected: ").partition(FOUND)
    rows = [("Expected", expected, ""), ("Found instead", found, "")]
    if not found:
        rows = [("What stopped it", expected, "")]
    before = _before_the_end(test["story"])
    for kinds, said in ((("did",), "Last act before"), (("saw", "held"), "Last seen before")):
        last = next((line for line in reversed(before) if line["kind"] in kinds), None)
        if last is not None:
            at_s = last["t"] - _origin(test)
            rows.append((said, f"{last['who']}: {last['text']} ({at_s:.2f} s)", "plain"))
    if late := _late(test):
        rows.append(("The rig itself", late, "plain"))
    return rows


def _late(test: Test, t0: float = -math.inf, t1: float = math.inf) -> str:
    """In words, whether the rig was late while the cam turned, between `t0` and `t1`."""
    late = [(ms, at) for at, ms in test["evidence"].get("late", ()) if t0 <= at <= t1]
    if not late:
        return ""
    worst_ms, at_s = max(late)
    times = "once" if len(late) == 1 else f"{len(late)} times"
    return (
        f"the rig's own computer was late {times} while the cam turned, by up to {worst_ms:.0f} ms "
        f"(at {at_s - _origin(test):.2f} s): what the lines show there may be no fault of the "
        "controller"
    )


def _before_the_end(story: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The lines before the last failed one, or all. A journal read afterwards explains, and is
    nothing that anybody saw."""
    failed = [number for number, line in enumerate(story) if line["kind"] == "failed"]
    lines = story[: failed[-1]] if failed else story
    return [line for line in lines if line["who"] != "journal"]


def _origin(test: Test) -> float:
    """The zero of a test's times: its first line, which may be of the preparation."""
    return min([float(test["t0"]), *(float(line["t"]) for line in test["story"])])


def _overview(test: Test) -> dict[str, Any]:
    """All lines of the test, and whether something is marked on them."""
    evidence = test["evidence"]
    t0, t1 = test["t0"], test["t0"] + max(test["seconds"], 0.1)
    failed = [line["t"] for line in test["story"] if line["kind"] == "failed"]
    marks = [*_fault_marks(evidence), *((t, "✗ here", "fault") for t in failed)]
    lines = drawings.trace(
        evidence.get("signals", ()),
        t0,
        t1,
        origin=_origin(test),
        lamps=evidence.get("lamps", ()),
        marks=marks,
    )
    return {"lines": lines, "is_marked": any(t0 <= t <= t1 for t, _, _ in marks)}


def _fault_marks(evidence: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    return [
        (event["t"], event["name"], "fault")
        for event in evidence.get("events", ())
        if event["what"] == "fault"
    ]


def _toss(test: Test, toss: Mapping[str, Any]) -> dict[str, Any]:
    """A toss with what the page says of it."""
    evidence = test["evidence"]
    t0, t1 = toss["t_start"] - BEFORE_S, toss["t_rest"] + AFTER_S
    lines = drawings.trace(
        toss["signals"],
        t0,
        t1,
        origin=_origin(test),
        lamps=[change for change in evidence.get("lamps", ()) if t0 <= change["t"] <= t1],
        marks=[
            (toss["t_start"], "moves", "begin"),
            (toss["t_rest"], "at rest", "rest"),
            *_fault_marks(evidence),
        ],
    )
    shown = ", ".join(map(_die, toss["dice"]))
    return {**toss, "shown": shown, "late": _late(test, t0, t1), "lines": lines}


def _die(die: Mapping[str, Any]) -> str:
    if die["flat"]:
        return str(die["value"])
    return f"{die['value']} ({die['kind']}, {die['tilt_deg']:.0f}°)"
