"""The page as a browser gets it: who sees what, and what nobody gets."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from hil_tests.waiting import until
from shaker_ctl.console import accounts
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.page.app import Page, TablePlaces
from shaker_ctl.page.parameters import PageParameters
from shaker_ctl.page.tests.a_journal import Scribe
from shaker_ctl.page.tests.asking import Browser

WORD = "correct horse"


@pytest.fixture
def scribe(tmp_path):
    made = Scribe(tmp_path / "journal.sqlite")
    made.round(1, (1, 6, 6))
    made.round(2, None)
    made.round(3, (2, 2, 2), person="eve")
    yield made
    made.close()


@pytest.fixture
def page(tmp_path, scribe):
    for name, role in (("vic", "viewer"), ("sam", "surveillance"), ("tom", "technician")):
        accounts.add(tmp_path / "users.toml", name, accounts.ROLES[role], WORD)
    made = _page(tmp_path, login=True)
    yield made
    made.book.stop()
    made.looked.close()


def _page(folder: Path, **told: Any) -> Page:
    places = TablePlaces(
        name="Table 7",
        runtime_dir=folder / "run",
        journal=JournalParameters(path=folder / "journal.sqlite", pictures=folder / "pictures"),
        users_file=folder / "users.toml",
    )
    made = Page(PageParameters(state_dir=folder / "page", **told), places)
    made.book.start()
    until(lambda: not made.book.trouble and not made.book.is_behind)
    return made


def _logged_in(page: Page, name: str, role: str) -> Browser:
    browser = Browser(page.app)
    answer = browser.post("/login?next=/", {"name": name, "role": role, "passphrase": WORD})
    assert answer.status == 303, answer.words
    return browser


def view(**more: Any) -> dict[str, Any]:
    """A view of the table, as the status socket sends it; without what the wall does not use."""
    return {
        "table": "Table 7",
        "life": "open",
        "phase": "bets open",
        "says": "Bets are open.",
        "round_id": 4,
        "last_result": None,
        "pending": None,
        "next_step": "",
        "marks": [],
        "faults": [],
        "lamps": {"measured": [], "commanded": [], "broken": []},
        "areas": ["big", "small", "one-6"],
        "motor": {"is_enabled": False},
        "digests": [],
        "monotonic_s": time.monotonic(),
        **more,
    }


class TestWithoutALogin:
    def test_every_page_leads_to_the_login(self, page):
        answer = Browser(page.app).get("/")

        assert answer.status == 303
        assert answer.headers["location"] == "/login?next=%2F"

    @pytest.mark.parametrize("path", ["/stream/wall", f"/picture/{1:064x}"])
    def test_what_is_no_page_is_refused_without_a_word(self, page, path):
        answer = Browser(page.app).get(path, accept="*/*")

        assert (answer.status, answer.body) == (401, b"")

    def test_a_demonstration_needs_none_and_says_so(self, tmp_path, scribe):
        page = _page(tmp_path, login=False)

        answer = Browser(page.app).get("/")

        assert answer.status == 200
        assert "no login: demonstration" in answer.words
        page.book.stop()

    def test_a_demonstration_answers_to_no_strange_name(self, tmp_path, scribe):
        page = _page(tmp_path, login=False)

        assert Browser(page.app, host="strange.example").get("/").status == 421
        page.book.stop()


class TestLogin:
    def test_the_cookie_is_for_this_host_alone_and_for_no_script(self, page):
        answer = Browser(page.app).post(
            "/login", {"name": "vic", "role": "viewer", "passphrase": WORD}
        )

        said = answer.cookies["__Host-shaker"].lower()
        assert all(word in said for word in ("secure", "httponly", "samesite=strict", "path=/"))
        assert "domain" not in said

    def test_another_role_than_ones_own_is_refused(self, page):
        form = {"name": "vic", "role": "technician", "passphrase": WORD}

        assert Browser(page.app).post("/login", form).status == 403

    def test_wrong_passphrases_are_recorded_and_delayed(self, page):
        form = {"name": "sam", "role": "surveillance", "passphrase": "wrong one"}
        for _ in range(3):
            Browser(page.app).post("/login", form)

        answer = Browser(page.app).post("/login", form)

        assert "wait" in answer.words
        kinds = [record["kind"] for record in page.looked.last(3)]
        assert kinds == ["login-refused"] * 3

    def test_a_name_that_nobody_has_is_not_recorded(self, page):
        form = {"name": "my passphrase", "role": "viewer", "passphrase": "x"}

        Browser(page.app).post("/login", form)

        assert next(page.looked.last(1))["name"] == "?"

    def test_a_form_of_another_site_is_refused(self, page):
        form = {"name": "vic", "role": "viewer", "passphrase": WORD}

        assert Browser(page.app).post("/login", form, origin="http://evil.example").status == 403

    def test_a_cookie_opens_nothing_after_logout(self, page):
        browser = _logged_in(page, "vic", "viewer")
        stolen = dict(browser.cookies)
        assert browser.get("/").status == 200

        browser.post("/logout")
        thief = Browser(page.app)
        thief.cookies = stolen

        assert thief.get("/").status == 303
        assert thief.get("/stream/wall", accept="*/*").status == 401

    def test_it_leads_on_inside_this_site_only(self, page):
        form = {"name": "vic", "role": "viewer", "passphrase": WORD}

        answer = Browser(page.app).post("/login?next=//evil.example/", form)

        assert answer.headers["location"] == "/"


class TestWall:
    def test_without_a_table_it_shows_what_the_journal_tells(self, page):
        words = _logged_in(page, "vic", "viewer").get("/").words

        assert "no table" in words
        assert "Round 3 T" in words

    def test_a_result_is_not_shown_before_its_lamps_are_lit(self, page):
        page.watch.view = view(last_result=[5, 5, 6], phase="awaiting dealer")
        browser = _logged_in(page, "vic", "viewer")
        assert "5 5 6" not in browser.get("/").words

        page.watch.view = view(
            last_result=[5, 5, 6],
            phase="collecting",
            lamps={"measured": ["big"], "commanded": ["big"], "broken": []},
        )

        page._regions._wake()
        assert "5 5 6" in browser.get("/").words

    def test_it_speaks_the_language_that_the_browser_asks_for(self, page):
        answer = _logged_in(page, "vic", "viewer").get("/", accept_language="fr, en;q=0.5")

        assert '<html lang="en">' in answer.text

    def test_what_a_person_typed_cannot_become_a_script(self, page):
        page.watch.view = view(table="<script>alert(1)</script>")

        assert "<script>alert" not in _logged_in(page, "vic", "viewer").get("/").text


class TestPictures:
    def test_a_viewer_gets_the_picture_on_the_wall_and_no_other(self, page):
        browser = _logged_in(page, "vic", "viewer")

        assert browser.get(f"/picture/{3:064x}", accept="*/*").body == b"\xff\xd8picture 3"
        assert browser.get(f"/picture/{1:064x}", accept="*/*").status == 403

    def test_a_look_at_an_older_one_is_on_record(self, page):
        assert _logged_in(page, "sam", "surveillance").get(f"/picture/{1:064x}").status == 200

        newest = next(page.looked.last(1))
        assert (newest["name"], newest["kind"], newest["what"]) == ("sam", "picture", f"{1:064x}")

    @pytest.mark.parametrize(
        "path", ["..%2f..%2fetc%2fpasswd", "../../etc/passwd", "0" * 64, "x", "%00", "a" * 5000]
    )
    def test_no_path_leads_to_another_file(self, page, path):
        answer = _logged_in(page, "sam", "surveillance").get(f"/picture/{path}", accept="*/*")

        assert (answer.status, answer.body) == (404, b"")


class TestStream:
    def test_its_first_event_has_every_part(self, page, monkeypatch):
        page.watch.view = view()

        event = _first_event(page, monkeypatch)

        assert set(event["parts"]) == {"state", "result", "layout", "road"}
        assert event["age_s"] < 30

    def test_it_ends_with_its_session(self, page):
        browser = _logged_in(page, "vic", "viewer")
        session = page.people.session(browser.cookies["__Host-shaker"])

        page.people.log_out(session)

        assert not page.people.goes_on(session)


def _first_event(page: Page, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The first event of the wall's stream, whose session ends with it."""
    browser = _logged_in(page, "vic", "viewer")
    asked: list[int] = []

    def once(_session):
        asked.append(1)
        return len(asked) == 1

    monkeypatch.setattr(page.people, "goes_on", once)
    text = browser.get("/stream/wall", accept="text/event-stream").text
    data = next(line for line in text.splitlines() if line.startswith("data: "))
    return json.loads(data.removeprefix("data: "))
