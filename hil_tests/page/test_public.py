"""No public surface tells a reading too early, and no person reads the name of a field."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from shaker_ctl.console.json_voice import plain
from shaker_ctl.link.shown import state_of
from shaker_ctl.page.app import LIVE, Page
from shaker_ctl.page.regions import fields_of
from shaker_ctl.page.tests.test_page import page, scribe
from shaker_ctl.rules.agreement import About, Agreement
from shaker_ctl.rules.commands import Announce, RecordRound
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.paytable import paid
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import (
    Cause,
    Ending,
    Notice,
    Occasion,
    Person,
    Purpose,
    Role,
    Source,
    WagersDo,
)
from shaker_ctl.view import table_view, wording
from shaker_ctl.view.tests.paper import facts
from vision.reading import Kind, NoRoll, Unreadable, Verified

__all__ = ["page", "scribe"]

COMBINATIONS = 10_000
RULES = rulebook(TableParameters())
PARTS = ("bar", "state", "result", "layout")
_RAW = re.compile(r"[a-z]+_[a-z_]+|None|\{|<")
_FACE = re.compile(r"#die([1-6])")


def _a_view(rnd: random.Random) -> tuple[dict[str, Any], bool]:
    """A view of one phase, with readings and people; and whether its lamps are read back lit."""
    read = (rnd.randint(1, 6), rnd.randint(1, 6), rnd.randint(1, 6))
    ending = rnd.choice(tuple(Ending))
    by = Person("dan", rnd.choice(tuple(Role)))
    verdict = rnd.choice((Verified(read), NoRoll(0, Kind.TILTED), Unreadable.of("glare"), None))
    state = TableState(
        rnd.choice(tuple(Phase)),
        purpose=rnd.choice(tuple(Purpose)),
        round=8,
        reading=verdict,
        values=rnd.choice((read, None)),
        source=rnd.choice((Source.VERIFIED, None)),
        ending=ending,
        cause=rnd.choice(tuple(Cause)),
        stated=rnd.choice((None, *(Agreement(about, by, read) for about in About))),
    )
    record = RecordRound(8, ending, WagersDo.RETURNED, state.cause, None, None, ())
    paper = facts(RULES, SimpleNamespace(state=state, post=None))
    paper.announcer.last_round = record
    told: dict[str, Any] = plain(table_view.compose(paper, frozenset()))
    is_lit = state.values is not None and rnd.random() < 0.5
    won = sorted(RULES.layout.won(state.values)) if state.values else []
    told["lamps"] |= {"measured": won if is_lit else [], "commanded": won}
    return told | {"odds": paid(RULES.profile, "A"), "monotonic_s": 0.0}, is_lit


def test_no_public_surface_tells_a_reading_early_and_no_person_reads_a_field_s_name(
    page: Page,
) -> None:
    """Phases x purposes x readings x notices x roles, by a seed; the texts of staff, too."""
    rnd = random.Random(62)
    drawn: dict[object, str] = {}
    machines: dict[object, dict[str, Any]] = {}
    for _ in range(COMBINATIONS):
        told, is_lit = _a_view(rnd)
        page.watch.view = told
        sign = page._sign_now()
        key = repr(sign)
        if key not in drawn:
            page._regions._change += 1
            drawn[key] = "".join(page._regions.part(name, "en") for name in PARTS)
            parts = {name: page._regions.part(name, "en") for name in LIVE["state"][1]}
            machines[key] = fields_of(parts)
        faces = _FACE.findall(drawn[key].partition("Layout")[0])
        assert not faces or is_lit or told["phase"] == "clearing", (told["phase"], told["says"])
        assert is_lit or not sign.commanded, "machines read it, too"
        read = machines[key]["sign"]["values"]
        assert not read or is_lit or told["phase"] == "clearing", (told["phase"], read)
        assert "staff" not in machines[key]
        assert "dan" not in json.dumps(machines[key])
        shown = state_of(told)
        assert not re.search(r"\d|dan\b", f"{sign.says} {sign.call} {shown['room']}")
        notice = Announce(Occasion(Purpose.PLAY, 8), rnd.choice(tuple(Notice)), "625a.7(c)")
        notice = replace(notice, cause=rnd.choice((None, *Cause)))
        texts = (told["says"], told["next_step"], told["last_ended"], wording.announce(notice))
        said = f"{' '.join(texts)} {(told['pending'] or {}).get('text', '')} {sign.says}"
        assert not _RAW.search(said), said
