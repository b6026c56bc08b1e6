"""What machines read with a token, and what they never read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shaker_ctl.console import accounts
from shaker_ctl.errors import SettingsError
from shaker_ctl.page.people import ASKED_A_SECOND
from shaker_ctl.page.tests.asking import Answer, Browser
from shaker_ctl.page.tests.test_page import WORD, _page, page, sam, scribe, vic, view

__all__ = ["page", "sam", "scribe", "vic"]

ADDRESSES = ("/state.json", "/rounds.json", "/rounds/1.json", "/day.json", "/openapi.json")


class Machine:
    """Asks with a token."""

    def __init__(self, page: Any, role: str, name: str = "m1") -> None:
        users = page._places.users_file
        self.token = accounts.add_token(users, name, accounts.ROLES[role])
        self.browser = Browser(page.app)

    def ask(self, path: str) -> Answer:
        return self.browser.get(path, authorization=f"Bearer {self.token}", accept="*/*")

    def got(self, path: str) -> Any:
        answer = self.ask(path)
        assert answer.status == 200, (path, answer.status, answer.text)
        return json.loads(answer.text)


@pytest.mark.parametrize(
    ("role", "allowed"), [("display", {"/state.json", "/openapi.json"}), ("machine", {*ADDRESSES})]
)
def test_a_token_opens_what_its_role_may_read(page, role, allowed):
    machine = Machine(page, role)

    answers = {path: machine.ask(path).status for path in ADDRESSES}

    assert answers == {path: 200 if path in allowed else 403 for path in ADDRESSES}
    assert machine.ask("/staff").status == 403


def test_without_a_token_or_with_a_withdrawn_one_there_is_nothing(page):
    machine = Machine(page, "machine")
    assert machine.ask("/state.json").status == 200
    machine.token, kept = machine.token + "x", machine.token
    assert {machine.ask(path).status for path in ADDRESSES} == {401}

    machine.token = kept
    accounts.remove(page._places.users_file, "m1", None)

    assert {machine.ask(path).status for path in ADDRESSES} == {401}


def test_nobody_logs_in_with_a_token_and_no_file_keeps_it(page):
    machine = Machine(page, "machine")
    users = page._places.users_file

    for role in ("machine", "display", "surveillance"):
        form = {"name": "m1", "role": role, "passphrase": machine.token}
        assert Browser(page.app).post("/login", form).status == 403

    machine.got("/state.json")
    refused = machine.browser.post("/logout", authorization=f"Bearer {machine.token}")
    assert refused.status == 403, "a logout would be on record, as often as it asks"
    assert machine.token not in users.read_text()
    with pytest.raises(SettingsError, match="machine"):
        accounts.add(users, "m1", accounts.ROLES["viewer"], WORD)
    with pytest.raises(SettingsError, match="person"):
        accounts.add_token(users, "vic", accounts.ROLES["display"])


def test_a_machine_that_asks_too_often_is_told_to_come_again(page, monkeypatch):
    machine = Machine(page, "display")
    monkeypatch.setattr("shaker_ctl.page.site.time.monotonic", lambda: 5.0)

    answers = [machine.ask("/state.json").status for _ in range(ASKED_A_SECOND + 1)]

    assert answers == [200] * ASKED_A_SECOND + [429]


def test_a_machine_that_looks_on_and_on_fills_no_record(page):
    machine = Machine(page, "machine")

    for _ in range(3):
        machine.got("/rounds/1.json")
        machine.got("/rounds/2.json")
        machine.got("/day.json")

    looked = [(one["name"], one["kind"], one["what"]) for one in page.site.looked.last(9)]
    assert looked == [("m1", "day", "2026-11-23"), ("m1", "round", "1")]


def test_a_round_in_hand_is_read_by_nobody_before_it_has_ended(page, scribe):
    toss = {"type": "Occasion", "purpose": "play", "number": 4}
    verdict = {"type": "Verified", "values": [3, 5, 1], "confidence": 0.9}
    scribe.write({"type": "BetsRequested"}, of=4)
    scribe.write({"type": "ReadingMade", "occasion": toss, "verdict": verdict}, of=4)
    machine = Machine(page, "machine")
    page.watch.view = view(last_result=[3, 5, 1], phase="awaiting dealer")

    assert machine.ask("/rounds/4.json").status == 404
    assert [machine.ask(page).status for page in ("/rounds", "/rounds/4", "/day")] == [403] * 3
    assert [one["number"] for one in machine.got("/rounds.json")["rounds"]] == [3, 2, 1]
    state = machine.got("/state.json")
    assert (state["sign"]["values"], state["staff"]) == ([], None)
    assert state["road"][-1]["values"] == [2, 2, 2]


def test_only_who_sees_the_staff_view_gets_it(page, vic, sam):
    page.watch.view = view(says="Announce 3 5 1.")

    of_viewer, of_staff = (json.loads(one.get("/state.json").text)["staff"] for one in (vic, sam))

    assert of_viewer is None
    assert of_staff["says"] == "Announce 3 5 1."


def test_a_strange_site_reads_the_answer_to_a_token_alone(page, vic, tmp_path, scribe):
    machine = Machine(page, "display")
    strange = {"origin": "https://sign.example", "accept": "*/*"}
    allowed = "access-control-allow-origin"

    assert machine.ask("/state.json").headers[allowed] == "*"
    assert allowed not in vic.get("/state.json", **strange).headers
    everybody = _page(tmp_path, login=False)
    answer = Browser(everybody.app).get("/state.json", authorization="Bearer x", **strange)
    everybody.book.stop()
    everybody.site.looked.close()
    assert answer.status == 200
    assert allowed not in answer.headers


def test_what_is_not_understood_is_named(page):
    answer = Machine(page, "machine").ask("/rounds.json?from=tomorrow")

    assert (answer.status, answer.text) == (400, "not understood: from")


def test_events_bring_what_changed_until_the_token_is_withdrawn(page):
    machine = Machine(page, "display")
    page.watch.view = view()
    goes_on = page.site.people.goes_on

    def once(session):
        accounts.remove(page._places.users_file, "m1", None)
        return goes_on(session)

    page.site.people.goes_on = once
    assert machine.ask("/stream/state").text.count("data: ") == 0, "withdrawn before the first one"

    machine = Machine(page, "display")
    seen: list[int] = []

    def twice(session):
        seen.append(1)
        if len(seen) == 2:
            page.watch.view = view(phase="no more bets", round_id=5)
            page._regions._wake()
        return goes_on(session) and len(seen) < 3

    page.site.people.goes_on = twice
    text = machine.ask("/stream/state").text
    first, then = (json.loads(line[6:]) for line in text.splitlines() if line[:6] == "data: ")
    assert {"sign", "road", "figures", "age_s", "version"} == set(first)
    assert {"sign", "age_s", "version"} == set(then)
    assert (first["sign"]["round"], then["sign"]["round"]) == (4, 5)
