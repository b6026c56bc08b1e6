"""The descriptions hold: a table says in every moment what they say, and no field goes unseen."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hil_tests.described import fits
from hil_tests.page.conftest import Stage
from hil_tests.page.moments import MOMENTS, Jammed, announcing, no_roll, typed, view_of
from hil_tests.page.readers import get
from shaker_ctl.commands.describe import OWN, VALUES, described
from shaker_ctl.console.desk import TableView
from shaker_ctl.console.json_voice import plain
from shaker_ctl.described import VERSION, schema
from shaker_ctl.floor.door import described as of_floor
from shaker_ctl.link import shown
from shaker_ctl.link.results import NewestResult
from shaker_ctl.page.tests.a_journal import Scribe
from shaker_ctl.page.tests.asking import Browser
from shaker_ctl.page.tests.test_door import Machine
from shaker_ctl.page.tests.test_page import _page
from shaker_ctl.service.status_socket import read_status
from shaker_ctl.view.tests.seated import Seated

KEPT = Path(__file__).with_name("described.txt")
MEND = "raise described.VERSION, and write the file anew: python -m hil_tests.page.test_described"


def decided(line: str = "settled") -> Seated:
    table = typed("5 6 4")
    table.fay.does("decide 1 4 4")
    return typed(line, table)


def corrected() -> Seated:
    table = decided("correct 1 4 5")
    table.fay.does("correct 1 4 5")
    return typed("settled", table)


ENDED: dict[str, Callable[[], Seated]] = {
    "settled": lambda: typed("lamps-off", typed("settled", typed("1 4 4"))),
    "no_roll": lambda: typed("settled", no_roll()),
    "void": lambda: typed("settled", announcing(Jammed)),
    "decided": lambda: typed("lamps-off", decided()),
    "corrected": lambda: typed("lamps-off", corrected()),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_a_table_says_in_each_moment_is_as_described(moment: str, tmp_path: Path) -> None:
    table = MOMENTS[moment][0]()
    view = view_of(table)
    Scribe(tmp_path / "journal.jsonl").close()
    page = _page(tmp_path, login=False)
    page.watch.view = view
    state = Machine(page, "display").got("/state.json")
    staff = {"staff": json.loads(page._regions.part("staff.json", "en"))}
    page.book.stop()
    page.site.looked.close()
    assert state["sign"]["says"] == MOMENTS[moment][1]

    fits(state, described("page"), "State")
    fits(staff, described("page"), "State", is_part=True)
    fits(plain(table.desk.view()), schema(TableView))
    told = json.loads(json.dumps(shown.state_of(view)))
    fits(told, described("link"), "State")
    assert told.keys() == described("link")["components"]["schemas"]["State"]["properties"].keys()
    for alarm in shown.alarms_of(view).values():
        fits(alarm, described("link"), "Alarm")


@pytest.mark.parametrize("how", ENDED)
def test_what_a_table_did_is_as_described(how: str, tmp_path: Path) -> None:
    scribe = Scribe(tmp_path / "journal.jsonl", ["DEMONSTRATION"])
    for record in ENDED[how]()._journal:
        scribe.write(record.plain["event"], record.plain["decision"], of=record.plain.get("round"))
    scribe.close()
    page = _page(tmp_path, login=False)
    machine = Machine(page, "machine")
    rounds = machine.got("/rounds.json")
    number = rounds["rounds"][0]["number"]
    proof, day = machine.got(f"/rounds/{number}.json"), machine.got("/day.json")
    case = Browser(page.app).post(f"/rounds/{number}/case", {"reason": "a dispute"}).body
    page.book.stop()
    page.site.looked.close()

    fits(rounds, described("page"), "Rounds")
    fits(proof, described("page"), "RoundProof")
    fits(day, described("page"), "Day")
    with zipfile.ZipFile(io.BytesIO(case)) as files:
        fits(json.loads(files.read(f"round-{number}/case.json")), described("case"))
        fits(json.loads(files.read(f"round-{number}/chain.json")), described("export"))
    told = proof["round"]
    assert (proof["damage"], told["marks"]) == ("", ["DEMONSTRATION"])
    assert told["ending"] == (how if how in ("no_roll", "void") else "settled")
    assert (told["source"] == "decided") == (how in ("decided", "corrected"))
    assert bool(told["corrected_by"]) == (how == "corrected")
    newest = NewestResult(tmp_path / "journal.jsonl").now()
    assert bool(newest) == (how not in ("no_roll", "void"))
    if newest:
        fits(dict(newest), described("link"), "Result")


@pytest.mark.rig
@pytest.mark.timeout(600)
def test_a_table_that_plays_says_what_is_described(stage: Stage) -> None:
    fits(read_status(stage.session.runtime_dir), described("status"))
    for path, what in {"state": "State", "rounds": "Rounds", "day": "Day"}.items():
        status, body, _ = get(stage.open, f"/{path}.json")
        assert status == 200
        fits(json.loads(body), described("page"), what)


# ── What was promised ───────────────────────────────────────────────────────


def lines() -> list[str]:
    """Every field of every description with its type, one a line."""
    found = [f"version {VERSION}"]
    everything = {what: described(what) for what in (*OWN, *VALUES)}
    for what, whole in {**everything, "floor": of_floor()}.items():
        found += [f"{what} {where}" for where in (*whole.get("paths", ()), *_topics(whole))]
        parts = {what: whole, **whole.get("$defs", {}), **_schemas(whole)}
        for name, part in parts.items():
            for field, one in part.get("properties", {}).items():
                spelled = json.dumps({k: v for k, v in one.items() if k != "description"})
                must = "" if field in part["required"] else "?"
                found.append(f"{what} {name}.{field}{must} {_short(spelled)}")
    return sorted(found)


def _topics(whole: Mapping[str, Any]) -> Iterable[str]:
    return (one["address"] for one in whole.get("channels", {}).values())


def _schemas(whole: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = whole.get("components", {}).get("schemas", {})
    return found


def _short(spelled: str) -> str:
    for long, short in (('"', ""), ("#/components/schemas/", ""), ("#/$defs/", ""), ("type: ", "")):
        spelled = spelled.replace(long, short)
    return spelled


def test_no_field_goes_or_changes_its_type_without_a_new_version() -> None:
    """What comes anew is kept from the next version on."""
    gone = set(KEPT.read_text("utf-8").splitlines()) - set(lines())

    assert gone == set(), MEND


if __name__ == "__main__":
    KEPT.write_text("\n".join(lines()) + "\n", "utf-8")
