"""The report as one HTML file: it opens without a network and without anything beside it.

Owns what a reader sees, in which order: first what failed, and there first the sentence that says
why; then who did what and what was seen; then every toss with its pictures and lines.
Must not know pytest or rigs: it draws `report.json`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hil_tests.report import drawings

Test = Mapping[str, Any]

STYLE = """
:root{--ink:#1d2329;--soft:#5d6872;--rule:#d9dee3;--paper:#fff;--wash:#f5f7f9;--good:#1d7a46;
--bad:#b3261e;--warn:#8a5a00;--accent:#2457a6;--lit:#f2b632}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,"DejaVu Sans",sans-serif;color:var(--ink);background:var(--wash);
margin:0}
main{max-width:1120px;margin:0 auto;padding:24px 20px 80px}
h1{font-size:25px;margin:0 0 2px}
h2{font-size:19px;margin:34px 0 8px}
h3{font-size:15px;margin:20px 0 6px}
.soft{color:var(--soft)}
.card{background:var(--paper);border:1px solid var(--rule);border-radius:8px;padding:16px 20px;
margin:14px 0}
.card.failed{border-left:6px solid var(--bad)}
.card.passed{border-left:6px solid var(--good)}
.card.skipped{border-left:6px solid var(--warn)}
.badge{display:inline-block;border-radius:4px;padding:1px 8px;font-size:12.5px;font-weight:600;
color:#fff;background:var(--good);vertical-align:2px;margin-right:8px}
.badge.failed{background:var(--bad)}.badge.skipped{background:var(--warn)}
.why{background:#fdecea;border-radius:6px;padding:10px 14px;margin:10px 0;font-weight:600;
color:#7c1710;white-space:pre-wrap}
.why dl{display:grid;grid-template-columns:150px 1fr;gap:4px 12px;margin:0}
.why dt{font-weight:400}.why dd{margin:0}.why dd.plain{font-weight:400;color:var(--ink)}
.why.skipped{background:#fff4dd;color:#5e3d00;font-weight:400}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;font-weight:600;color:var(--soft);border-bottom:1px solid var(--rule);
padding:4px 8px}
td{padding:4px 8px;border-bottom:1px solid var(--rule);vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr.bad td{background:#fdecea;font-weight:600}
ol.story{list-style:none;margin:0;padding:0;font-size:14px}
ol.story li{display:grid;grid-template-columns:74px 120px 1fr;gap:8px;padding:2px 0}
ol.story li.held .what{color:var(--good)}
ol.story li.failed{background:#fdecea;font-weight:700}
ol.story li.failed .what{color:var(--bad)}
ol.story li.saw .what{color:var(--soft)}
.when{text-align:right;font-variant-numeric:tabular-nums;color:var(--soft)}
.toss{border-top:1px solid var(--rule);margin-top:16px;padding-top:10px}
.pictures{display:flex;gap:12px;flex-wrap:wrap}
figure{margin:0;width:300px}
figure img{width:100%;display:block;border-radius:4px;background:#222}
figcaption{font-size:13px;color:var(--soft);margin-top:3px}
.none{width:300px;height:110px;border:1px dashed var(--rule);border-radius:4px;display:grid;
place-items:center;color:var(--soft);font-size:13px}
svg.trace{width:100%;height:auto;display:block;margin-top:8px}
svg text{font-family:system-ui,"DejaVu Sans",sans-serif}
svg .name{font-size:12.5px;fill:var(--ink)}
svg .value{font-size:11px;fill:var(--soft)}
svg .tick{font-size:11px;fill:var(--soft);text-anchor:middle}
svg .grid{stroke:#e8ecef}
svg .wave{stroke:var(--accent);fill:none;stroke-width:1.4}
svg .fill{fill:var(--accent);opacity:.13}
svg .edges{stroke:var(--accent);stroke-width:.8}
svg .lit{fill:var(--lit)}
svg .areas{font-size:11px}
svg .mark{stroke:var(--soft);stroke-dasharray:3 3}
svg .mark.fault{stroke:var(--bad);stroke-dasharray:none;stroke-width:1.6}
svg .marked{font-size:11px;fill:var(--soft)}svg .marked.fault{fill:var(--bad);font-weight:700}
svg.histogram{width:420px;max-width:100%}
svg .bar{fill:var(--accent)}
svg line.limit{stroke:var(--bad);stroke-width:1.4}svg text.limit{fill:var(--bad);font-size:11px}
svg .axis{stroke:var(--soft)}
.histograms{display:flex;flex-wrap:wrap;gap:24px;margin-top:14px}
details{margin-top:10px}summary{cursor:pointer;color:var(--accent)}
pre{background:var(--wash);border-radius:6px;padding:10px;overflow:auto;font-size:12px}
.tiles{display:flex;gap:12px;flex-wrap:wrap;margin:14px 0}
.tile{background:var(--paper);border:1px solid var(--rule);border-radius:8px;padding:10px 18px}
.tile b{display:block;font-size:24px}
.tile.bad b{color:var(--bad)}.tile.good b{color:var(--good)}
a{color:var(--accent)}
"""


def draw(report: Mapping[str, Any]) -> str:
    """Return the whole page."""
    tests = report["tests"]
    ordered = sorted(tests, key=lambda test: _rank(test))
    body = [
        _head(report, tests),
        _summary(ordered),
        *(_test(number, test) for number, test in enumerate(ordered)),
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(report['rig'])}: {_count(tests)}</title>"
        f"<style>{STYLE}</style><main>{''.join(body)}</main></html>\n"
    )


def _rank(test: Test) -> int:
    return {"failed": 0, "passed": 1, "skipped": 2}[_kind(test)]


def _kind(test: Test) -> str:
    outcome = str(test["outcome"])
    return outcome if outcome in ("passed", "skipped") else "failed"


def _count(tests: Sequence[Test]) -> str:
    kinds = Counter(_kind(test) for test in tests)
    return ", ".join(f"{kinds[kind]} {kind}" for kind in ("failed", "passed", "skipped"))


def _head(report: Mapping[str, Any], tests: Sequence[Test]) -> str:
    kinds = Counter(_kind(test) for test in tests)
    taken = [one for test in tests for one in test["measurements"]]
    outside = sum(not one["passed"] for one in taken)
    tosses = sum(len(test["evidence"].get("tosses", ())) for test in tests)
    tiles = [
        (kinds["failed"], "failed", "bad" if kinds["failed"] else ""),
        (kinds["passed"], "passed", "good"),
        (kinds["skipped"], "skipped, with a reason", ""),
        (f"{len(taken) - outside} of {len(taken)}", "values within limits", ""),
        (tosses, "tosses seen", ""),
    ]
    drawn = "".join(
        f'<div class="tile {kind}"><b>{number}</b>{text}</div>' for number, text, kind in tiles
    )
    return (
        f"<h1>Run on the rig: {escape(report['rig'])}</h1>"
        f'<div class="soft">{escape(report["at"])}</div>'
        f'<div class="tiles">{drawn}</div>'
        f"<div class='card'><table>{_about(report)}</table></div>"
    )


def _about(report: Mapping[str, Any]) -> str:
    """Build, station and operator; and each table that was played, as its settings had it."""
    rows = dict(report.get("about", {}))
    for test in report["tests"]:
        rows.update(test["evidence"].get("table", {}))
    return "".join(
        f"<tr><th>{escape(str(name))}</th><td>{escape(str(said))}</td></tr>"
        for name, said in rows.items()
    )


def _summary(tests: Sequence[Test]) -> str:
    rows = "".join(
        f'<tr class="{"bad" if _kind(test) == "failed" else ""}">'
        f'<td><a href="#t{number}">{escape(test["title"])}</a></td>'
        f"<td>{_kind(test)}</td><td>{escape(test['reason'])}</td>"
        f'<td class="n">{test["seconds"]:.1f} s</td></tr>'
        for number, test in enumerate(tests)
    )
    return (
        "<h2>What was tried</h2><div class='card'><table><tr><th>promise</th><th>verdict</th>"
        f"<th>because</th><th></th></tr>{rows}</table></div>"
    )


def _test(number: int, test: Test) -> str:
    kind = _kind(test)
    parts = [
        f'<section class="card {kind}" id="t{number}">',
        f'<h2 style="margin-top:0"><span class="badge {kind}">{kind}</span>'
        f"{escape(test['title'])}</h2>",
    ]
    if test["promise"]:
        parts.append(f'<div class="soft">{escape(test["promise"])}</div>')
    if attached := test.get("attached"):
        links = (f'<a href="{quote(file)}">{escape(Path(file).name)}</a>' for file in attached)
        parts.append(f'<div class="soft">beside this page: {" · ".join(links)}</div>')
    if test["reason"]:
        parts.append(f'<div class="why {kind}">{_why(test, kind)}</div>')
    evidence = test["evidence"]
    if evidence and kind == "failed":
        parts.append(_overview(test))
    if test["story"]:
        parts.append(_story(test))
    if test["measurements"]:
        parts.append(_measurements(test))
    if evidence:
        if kind != "failed":
            parts.append(_overview(test))
        parts += _tosses(test)
    if test["trace"]:
        parts.append(
            "<details><summary>for programmers: where the test stopped</summary>"
            f"<pre>{escape(test['trace'])}</pre></details>"
        )
    parts.append("</section>")
    return "".join(parts)


def _why(test: Test, kind: str) -> str:
    """Why it failed, at one glance: what was to be, what was instead, and what came just before."""
    if kind == "skipped":
        return escape(str(test["reason"]))
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
    drawn = "".join(
        f'<dt>{name}</dt><dd class="{look}">{escape(text)}</dd>' for name, text, look in rows
    )
    return f"<dl>{drawn}</dl>"


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


FOUND = " - but found: "
"""Between what was expected and what was found, as `Story.expect` joins them."""


def _before_the_end(story: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The lines before the last failed one, or all. A journal read afterwards explains, and is
    nothing that anybody saw."""
    failed = [number for number, line in enumerate(story) if line["kind"] == "failed"]
    lines = story[: failed[-1]] if failed else story
    return [line for line in lines if line["who"] != "journal"]


def _origin(test: Test) -> float:
    """The zero of a test's times: its first line, which may be of the preparation."""
    return min([float(test["t0"]), *(float(line["t"]) for line in test["story"])])


def _story(test: Test) -> str:
    lines = [
        f'<li class="{line["kind"]}"><span class="when">{line["t"] - _origin(test):.2f} s</span>'
        f"<span>{escape(line['who'])}</span>"
        f'<span class="what">{_mark(line["kind"])}{escape(line["text"])}</span></li>'
        for line in test["story"]
    ]
    return f'<h3>What happened</h3><ol class="story">{"".join(lines)}</ol>'


def _mark(kind: str) -> str:
    return {"held": "✓ ", "failed": "✗ "}.get(kind, "")


def _measurements(test: Test) -> str:
    rows = []
    for taken in test["measurements"]:
        limits = _limits(taken)
        verdict = "within" if taken["passed"] else "OUTSIDE"
        rows.append(
            f'<tr class="{"" if taken["passed"] else "bad"}"><td>{escape(taken["name"])}</td>'
            f'<td class="n">{taken["value"]:.6g} {escape(taken["unit"])}</td>'
            f'<td class="n">{limits[0]}</td><td class="n">{limits[1]}</td><td>{verdict}</td></tr>'
        )
    drawn = "".join(
        f"<figure style='width:420px'>{picture}<figcaption>{escape(taken['name'])}</figcaption>"
        "</figure>"
        for taken in test["measurements"]
        if (
            picture := drawings.histogram(
                taken["samples"], taken["unit"], lower=taken["lower"], upper=taken["upper"]
            )
        )
    )
    return (
        "<h3>Measured</h3><table><tr><th>name</th><th>value</th><th>lower limit</th>"
        f"<th>upper limit</th><th>verdict</th></tr>{''.join(rows)}</table>"
        f'<div class="histograms">{drawn}</div>'
    )


def _limits(taken: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "-" if taken["lower"] is None else f"{taken['lower']:g}",
        "-" if taken["upper"] is None else f"{taken['upper']:g}",
    )


def _overview(test: Test) -> str:
    evidence = test["evidence"]
    t0, t1 = test["t0"], test["t0"] + max(test["seconds"], 0.1)
    marks = _fault_marks(evidence) + _failures(test)
    drawn = drawings.trace(
        evidence.get("signals", ()),
        t0,
        t1,
        origin=_origin(test),
        lamps=evidence.get("lamps", ()),
        marks=marks,
    )
    if not drawn:
        return ""
    key = (
        "The controller drives the first two lines and the lights; the machine answers on the rest."
    )
    if any(t0 <= t <= t1 for t, _, _ in marks):
        key += " Red: the rig broke a part, by its name, or ✗ the test found what must not be."
    return f'<h3>All of it on the lines</h3><div class="soft">{key}</div>{drawn}'


def _fault_marks(evidence: Mapping[str, Any]) -> list[tuple[float, str, str]]:
    return [
        (event["t"], event["name"] if event["what"] == "fault" else "healed", "fault")
        for event in evidence.get("events", ())
        if event["what"] == "fault"
    ]


def _failures(test: Test) -> list[tuple[float, str, str]]:
    return [(line["t"], "✗ here", "fault") for line in test["story"] if line["kind"] == "failed"]


def _tosses(test: Test) -> list[str]:
    evidence = test["evidence"]
    parts = []
    for toss in evidence.get("tosses", ()):
        dice = ", ".join(_die(die) for die in toss["dice"])
        t0, t1 = toss["t_start"] - 0.5, toss["t_rest"] + 1.5
        parts.append(
            f'<div class="toss"><h3>Toss {toss["toss"]}: the dice truly show {dice}</h3>'
            f'<div class="soft">begun at {toss["t_start"] - _origin(test):.2f} s, at rest at '
            f"{toss['t_rest'] - _origin(test):.2f} s, {toss['turns']:g} strokes</div>"
        )
        if late := _late(test, t0, t1):
            parts.append(f'<div class="soft">{escape(late)}</div>')
        parts.append(f'<div class="pictures">{_pictures(toss)}</div>')
        parts.append(
            drawings.trace(
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
        )
        parts.append("</div>")
    if len(evidence.get("gaps_ms", ())) > 20:
        drawn = drawings.histogram(evidence["gaps_ms"], "ms")
        parts.append(f"<h3>Gaps between tach edges in these tosses</h3>{drawn}")
    return parts


def _die(die: Mapping[str, Any]) -> str:
    if die["flat"]:
        return str(die["value"])
    return f"{die['value']} ({die['kind']}, {die['tilt_deg']:.0f}°)"


def _pictures(toss: Mapping[str, Any]) -> str:
    parts = [_figure(toss["picture"], "an eye-witness's picture after the rest")]
    reading = toss["reading"]
    if reading is None:
        parts.append('<div class="none">the controller recorded no reading</div>')
    else:
        caption = f"the controller, round {reading['round']}: {reading['title']}"
        parts.append(_figure(reading["picture"], caption, reading["text"]))
    return "".join(parts)


def _figure(picture: str, caption: str, text: str = "") -> str:
    said = escape(caption) + (f"<br>{escape(text)}" if text else "")
    shown = (
        f'<img alt="{escape(caption)}" src="data:image/jpeg;base64,{picture}">'
        if picture
        else '<div class="none">no picture</div>'
    )
    return f"<figure>{shown}<figcaption>{said}</figcaption></figure>"
