"""The page as a browser gets it: who sees what, and what nobody gets."""

from __future__ import annotations

import asyncio
import io
import json
import re
import subprocess
import sys
import time
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from hil_tests.waiting import until
from shaker_ctl.adapters.disk.record_tables import RecordTables
from shaker_ctl.console import accounts
from shaker_ctl.console.desk import LampView, ProfileView, RoomView, TableView
from shaker_ctl.console.json_voice import plain
from shaker_ctl.errors import JournalWriteError
from shaker_ctl.journal.history import Round
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.page.app import Page
from shaker_ctl.page.guard import HEADERS
from shaker_ctl.page.parameters import PageParameters, SignParameters
from shaker_ctl.page.people import NOBODY
from shaker_ctl.page.places import TablePlaces
from shaker_ctl.page.regions import MAX_OF_ONE, MAX_STREAMS, Regions
from shaker_ctl.page.site import STATIC, TEMPLATES
from shaker_ctl.page.tests.a_journal import UNDER, Scribe, digest
from shaker_ctl.page.tests.asking import Browser

WORD = "correct horse"


@pytest.fixture
def scribe(tmp_path):
    made = Scribe(tmp_path / "journal.jsonl")
    made.round(1, (1, 6, 6))
    made.round(2, None)
    made.round(3, (2, 2, 2), person="eve")
    yield made
    made.close()


@pytest.fixture
def page(tmp_path, scribe):
    for name, role in (("vic", "viewer"), ("sam", "surveillance"), ("tom", "technician")):
        accounts.add(tmp_path / "users.toml", name, accounts.ROLES[role], WORD, f"{name}-1")
    made = _page(tmp_path, login=True)
    yield made
    made.book.stop()
    made.site.looked.close()


def _page(folder: Path, house: SignParameters | None = None, **told: Any) -> Page:
    places = TablePlaces(
        name="Table 7",
        runtime_dir=folder / "run",
        journal=JournalParameters(path=folder / "journal.jsonl", pictures=folder / "pictures"),
        users_file=folder / "users.toml",
        profile="pa-625a",
        settings=folder / "settings.toml",
        documents=Path(__file__).parents[3] / "systemd",
    )
    made = Page(PageParameters(state_dir=folder / "page", **told), places, house)
    made.book.start()
    until(lambda: not made.book.trouble and not made.book.is_behind)
    return made


def _logged_in(page: Page, name: str, role: str) -> Browser:
    browser = Browser(page.app)
    answer = browser.post("/login?next=/", {"name": name, "role": role, "passphrase": WORD})
    assert answer.status == 303, answer.words
    return browser


@pytest.fixture
def vic(page):
    return _logged_in(page, "vic", "viewer")


@pytest.fixture
def sam(page):
    return _logged_in(page, "sam", "surveillance")


@pytest.fixture
def tom(page):
    return _logged_in(page, "tom", "technician")


def view(**more: Any) -> dict[str, Any]:
    """A view of the table, as the status socket sends it."""
    shown = TableView(
        table="Table 7",
        life="open",
        phase="bets open",
        says="Bets are open.",
        room=RoomView(says="Place your bets.", are_bets_open=True, shape="circle"),
        round_id=4,
        lamps=LampView(measured=()),
        since_s=1_790_000_000.0,
        profile=ProfileView(title="Pennsylvania: Sic Bo"),
    )
    odds = {"big": "1 to 1", "small": "1 to 1", "one-6": "1, 2, 3 to 1"}
    return {**plain(shown), "odds": odds, "monotonic_s": time.monotonic(), **more}


def _part(html: str, name: str) -> str:
    """One part of a live page."""
    return html.partition(f'data-part="{name}"')[2].partition("</section>")[0]


class TestWithoutALogin:
    @pytest.mark.parametrize(
        ("path", "status", "leads_to"),
        [
            ("/", 303, "/login?next=%2F"),
            ("/stream/sign", 401, None),
            (f"/picture/{digest(1)}", 401, None),
            ("/rounds/" + "9" * 5000, 404, None),
        ],
    )
    def test_pages_lead_to_the_login_and_all_else_is_refused_without_a_word(
        self, page, path, status, leads_to
    ):
        answer = Browser(page.app).get(path, accept="*/*")

        assert (answer.status, answer.body) == (status, b"")
        assert answer.headers.get("location") == leads_to

    def test_a_demonstration_needs_none_says_so_and_answers_to_no_strange_name(
        self, tmp_path, scribe
    ):
        page = _page(tmp_path, login=False)

        assert "no login: demonstration" in Browser(page.app).get("/staff").words
        assert Browser(page.app, host="strange.example").get("/").status == 421
        page.book.stop()


class TestLogin:
    def test_strangers_at_many_computers_who_poll_it_keep_nobody_out(self, page):
        async def poll(number: int) -> None:
            for guess in range(1000):
                client = f"10.{number}.{guess // 256}.{guess % 256}"
                await page.site._checked("sam", "surveillance", "a wrong guess", client)

        async def log_in_beside_them() -> object:
            polling = [asyncio.create_task(poll(number)) for number in range(40)]
            await asyncio.sleep(0.2)
            came = page.site._checked("sam", "surveillance", WORD, "192.168.0.1")
            got = await asyncio.wait_for(came, 30)
            for task in polling:
                task.cancel()
            return got

        assert isinstance(asyncio.run(log_in_beside_them()), tuple)

    def test_one_computer_has_few_logins_in_line(self, page):
        async def many() -> list[object]:
            tries = [page.site._checked("sam", "x", "y", "10.0.0.9") for _ in range(9)]
            return await asyncio.gather(*tries)

        got = asyncio.run(many())

        assert sum("too many people" in str(one) for one in got) == 7
        assert not page.site._waiting

    def test_the_cookie_is_for_this_host_alone_and_for_no_script(self, page):
        answer = Browser(page.app).post(
            "/login", {"name": "vic", "role": "viewer", "passphrase": WORD}
        )

        said = answer.cookies["__Host-shaker"].lower()
        assert all(word in said for word in ("secure", "httponly", "samesite=strict", "path=/"))
        assert "domain" not in said

    def test_another_role_than_ones_own_is_refused_and_stays_in_the_form(self, page):
        form = {"name": "vic", "role": "technician", "passphrase": WORD}

        answer = Browser(page.app).post("/login", form)

        assert answer.status == 403
        assert 'value="vic"' in answer.text
        assert re.findall(r'<option value="(\w+)" selected>', answer.text) == ["technician"]

    def test_wrong_passphrases_are_recorded_and_delayed_and_who_does_not_wait_fills_no_record(
        self, page
    ):
        form = {"name": "sam", "role": "surveillance", "passphrase": "wrong one"}

        answers = [Browser(page.app).post("/login", form) for _ in range(10)]

        assert "wait" in answers[-1].words
        assert [record["kind"] for record in page.site.looked.last(20)] == ["login-refused"] * 3

    def test_a_name_that_nobody_has_is_not_recorded(self, page):
        form = {"name": "my passphrase", "role": "viewer", "passphrase": "x"}

        Browser(page.app).post("/login", form)

        assert next(page.site.looked.last(1))["name"] == "?"

    def test_a_form_of_another_site_is_refused(self, page):
        form = {"name": "vic", "role": "viewer", "passphrase": WORD}

        assert Browser(page.app).post("/login", form, origin="http://evil.example").status == 403

    def test_a_cookie_opens_nothing_after_logout(self, page):
        browser = _logged_in(page, "vic", "viewer")
        stolen = dict(browser.cookies)
        assert browser.get("/sign").status == 200

        browser.post("/logout")
        thief = Browser(page.app)
        thief.cookies = stolen

        assert thief.get("/sign").status == 303
        assert thief.get("/stream/sign", accept="*/*").status == 401

    def test_it_leads_on_inside_this_site_only(self, page):
        form = {"name": "vic", "role": "viewer", "passphrase": WORD}

        answer = Browser(page.app).post("/login?next=//evil.example/", form)

        assert answer.headers["location"] == "/"


class TestWall:
    def test_without_a_table_it_shows_what_the_journal_tells(self, vic):
        words = vic.get("/sign").words

        assert "The table has not answered yet." in words
        assert "Round 3 T" in words

    @pytest.mark.parametrize("path", ["/sign", "/staff"])
    def test_the_dice_of_another_round_are_nowhere_but_in_the_road(self, page, path, sam):
        page.watch.view = view(round_id=4)
        result = _part(sam.get(path).text, "result")

        assert "#die2" not in result
        assert result.count("#die0") == 3
        page.watch.view = view(round_id=3)
        page._regions._wake()
        assert _part(sam.get(path).text, "result").count("#die2") == 3

    @pytest.mark.parametrize("call", ["void", "no roll", "dispute", "no result", "by hand"])
    def test_what_is_no_result_is_called_in_its_place(self, page, call, vic, sam):
        room = RoomView(
            says="This round has no result.",
            scene="dice",
            call=call,
            wagers="All wagers are returned.",
            clause="625a.7(c)",
            shape="cross",
        )
        page.watch.view = view(
            last_result=[2, 2, 2],
            room=plain(room),
            lamps={"measured": ["big"], "commanded": ["big"], "broken": []},
        )

        text = vic.get("/sign").text

        result = _part(text, "result")
        assert re.search(f"<strong[^>]*>{call}</strong>", result)
        assert "All wagers are returned. <small>625a.7(c)</small>" in result
        assert "#die" not in result
        assert 'class="life cross"' in text
        assert 'class="life circle"' not in text
        on_staff = sam.get("/staff").text
        assert 'class="life circle"' not in on_staff

    def test_the_room_reads_none_of_what_staff_reads(self, page, vic, sam):
        page.watch.view = view(
            says="lamp-silent: the lamp box is silent.",
            next_step="repair what `faults` names; then the technician: fault clear lamp-silent",
            pending={
                "text": "dealer: 5 6 4, reader: 4 6 4; say: decide 5 6 4; dan may put it right",
                "roles": ["floorperson", "supervisor"],
            },
            faults=[{"code": "lamp-silent", "cause": "silent", "remedy": "systemctl restart it"}],
        )
        of_staff = ("5 6 4", "4 6 4", "dan", "decide", "`", "lamp-silent", "systemctl")
        seen = vic.get("/sign").words

        assert [word for word in of_staff if word in seen] == []
        assert (vic.get("/staff").status, vic.get("/stream/staff").status) == (403, 403)
        on_staff = sam.get("/staff").words
        assert [word for word in of_staff[:4] if word not in on_staff] == []
        assert "lamp-silent : silent. systemctl restart it" in on_staff
        assert "floorperson or supervisor since " in on_staff

    def test_it_speaks_the_language_that_the_browser_asks_for(self, vic):
        assert '<html lang="zh-Hant">' in vic.get("/sign", accept_language="fr, zh-TW;q=0.5").text

    @pytest.mark.parametrize(
        ("measured", "said"),
        [(None, "What is lit is not known."), ([], "Lit: nothing."), (["big"], "Lit: big.")],
    )
    def test_a_screen_reader_says_what_is_lit_or_that_nobody_knows(self, page, measured, said, vic):
        page.watch.view = view(lamps={"measured": measured, "commanded": [], "broken": []})

        words = vic.get("/sign").words

        sayings = ("What is lit is not known.", "Lit: nothing.", "Lit: big.")
        assert [one for one in sayings if one in words] == [said]

    def test_what_a_person_typed_cannot_become_a_script(self, page, vic):
        page.watch.view = view(table="<script>alert(1)</script>")

        assert "<script>alert" not in vic.get("/sign").text


class TestPictures:
    def test_a_viewer_gets_the_picture_on_the_wall_and_no_other(self, page, vic):
        page.watch.view = view(round_id=3)

        assert vic.get(f"/picture/{digest(3)}", accept="*/*").body == b"\xff\xd8picture 3"
        assert vic.get(f"/picture/{digest(1)}", accept="*/*").status == 403

    def test_a_look_at_an_older_one_is_on_record(self, page, sam):
        assert sam.get(f"/picture/{digest(1)}").status == 200

        newest = next(page.site.looked.last(1))
        assert (newest["name"], newest["kind"], newest["what"]) == ("sam", "picture", digest(1))

    def test_one_that_is_not_as_its_record_has_it_is_no_evidence(self, page, sam):
        folder = page._places.journal.pictures
        named = page.book.file_of(digest(1))
        (folder / named).write_bytes(b"\xff\xd8 exchanged")

        answer = sam.get(f"/picture/{digest(1)}", accept="*/*")

        assert answer.status == 410
        assert "not as its record has it" in answer.text

    @pytest.mark.parametrize(
        "path", ["..%2f..%2fetc%2fpasswd", "../../etc/passwd", "0" * 64, "x", "%00", "a" * 5000]
    )
    def test_no_path_leads_to_another_file(self, path, sam):
        answer = sam.get(f"/picture/{path}", accept="*/*")

        assert (answer.status, answer.body) == (404, b"")


class TestStream:
    def test_one_login_has_a_dozen_and_no_more(self, page):
        browser = _logged_in(page, "vic", "viewer")
        session = page.site.people.session(browser.cookies["__Host-shaker"])
        page._regions._streams[session.key] = MAX_OF_ONE

        assert browser.get("/stream/sign").status == 429
        page._regions._streams["all others"] = MAX_STREAMS
        assert browser.get("/stream/sign").status == 503
        other = _logged_in(page, "vic", "viewer")
        page.site.people.log_out(page.site.people.session(other.cookies["__Host-shaker"]))
        assert other.get("/stream/sign").status == 401

    def test_all_who_read_the_same_get_the_same_part_drawn_once(self, page):
        made: list[str] = []
        shown = ["one"]

        def draw(name, language):
            made.append(name)
            return shown[0]

        regions = Regions(draw, lambda: (7, {"age_s": 0.1}))

        async def read() -> list[list[bytes]]:
            streams = [
                regions._events(("state",), "en", NOBODY, lambda _session: True) for _ in range(3)
            ]
            told = [[await anext(one), await anext(one)] for one in streams]
            shown[0] = "two"
            waiting = [asyncio.ensure_future(anext(one)) for one in streams]
            await asyncio.sleep(0)
            regions._wake()
            for events, waits in zip(told, waiting, strict=True):
                events.append(await waits)
            for stream in streams:
                await stream.aclose()
            return told

        told = asyncio.run(read())

        assert made == ["state", "state"]
        assert b'"parts": {"state": "one"}' in told[0][1]
        assert b'"parts": {"state": "two"}' in told[0][2]
        assert told[0][2] == told[1][2] == told[2][2]
        assert not regions._streams

    def test_a_part_that_cannot_be_drawn_ends_its_streams(self, page):
        def draw(name, language):
            raise KeyError("a field that this page does not know")

        regions = Regions(draw, lambda: (0, {}))

        async def read() -> None:
            stream = regions._events(("state",), "en", NOBODY, lambda _session: True)
            await anext(stream)
            await anext(stream)

        with pytest.raises(KeyError, match="does not know"):
            asyncio.run(read())


def _first_event(page: Page, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The first event of the wall's stream, whose session ends with it."""
    browser = _logged_in(page, "vic", "viewer")
    asked: list[int] = []

    def once(_session):
        asked.append(1)
        return len(asked) == 1

    monkeypatch.setattr(page.site.people, "goes_on", once)
    text = browser.get("/stream/sign", accept="text/event-stream").text
    data = next(line for line in text.splitlines() if line.startswith("data: "))
    return json.loads(data.removeprefix("data: "))


class TestRounds:
    def test_they_are_found_by_number_ending_cause_and_person(self, sam):
        def numbers(query: str) -> list[str]:
            return re.findall(r'href="/rounds/(\d+)"', sam.get(f"/rounds?{query}").text)

        assert numbers("") == ["3", "2", "1"]
        assert numbers("number=2") == ["2"]
        assert numbers("ending=no_roll") == ["2"]
        assert numbers("cause=not_flat") == ["2"]
        assert numbers("person=eve") == ["3"]
        assert numbers("from=2026-11-24T00:00") == []

    @pytest.mark.parametrize("query", ["number=x", "number=99999999999999999999", "from=soon"])
    def test_what_is_not_understood_is_said(self, query, sam):
        answer = sam.get(f"/rounds?{query}")

        assert answer.status == 200
        assert "not understood" in answer.words

    def test_one_shows_its_events_people_and_that_the_chain_holds(self, sam):
        words = sam.get("/rounds/1").words

        assert "bets requested by dan, dealer" in words
        assert "625a.5(d)" in words
        assert "✓ holds" in words

    def test_one_with_a_forged_record_says_so(self, tmp_path, sam):
        path = tmp_path / "journal.jsonl"
        path.write_bytes(path.read_bytes().replace(b"dan", b"eve", 1))

        assert "✗ does not hold" in sam.get("/rounds/1").words


class TestInspection:
    def test_what_is_lit_in_one_is_no_result_of_the_round_before_it(self, page, scribe, sam):
        of_test = {"type": "Occasion", "purpose": "inspection", "number": 1}
        push = {"type": "PushLamps", "occasion": of_test, "values": [3, 4, 6], "areas": ["big"]}
        scribe.write({"type": "LampValuesEntered", "values": [3, 4, 6]}, [push], of=2)
        verdict = {"type": "Verified", "values": [3, 4, 6], "confidence": 0.9}
        scribe.write({"type": "ReadingMade", "occasion": of_test, "verdict": verdict}, of=2)
        until(lambda: page.book.cursor == scribe.book.head())

        found = page.book.round(2)

        assert (found.values, found.reading, found.areas) == (None, "NoRoll", ())
        round_page = sam.get("/rounds/2").words
        assert UNDER in round_page
        assert "verified: 3 4 6" not in round_page


class TestCorrection:
    def test_the_first_result_is_withdrawn_and_both_persons_are_named(self, page, scribe, sam):
        def person(name: str) -> dict[str, str]:
            return {"type": "Person", "name": name, "role": "dealer"}

        ended = {
            "type": "RecordRound",
            "round": 4,
            "ending": "settled",
            "source": "entered",
            "wagers": "settled",
            "cause": None,
            "values": [1, 4, 4],
            "correction": {
                "first": [1, 4, 5],
                "named_by": person("dan"),
                "agreed_by": person("fay"),
            },
        }
        scribe.write({"type": "LampsDark"}, [ended], of=4)
        until(lambda: page.book.round(4))
        page._regions._wake()
        assert "<del>1 4 5</del>" in sam.get("/sign").text
        assert "Corrected; withdrawn: 1 4 5 (dan, fay)" in sam.get("/rounds/4").words


class TestStrangeRecords:
    """Their chain is right: another version, a defect or a forger wrote them."""

    @pytest.mark.parametrize(
        ("event", "decision"),
        [
            (
                {
                    "type": "TossSettled",
                    "occasion": {"type": "Occasion", "purpose": "play", "number": 4},
                    "proof": 2**63,
                },
                [],
            ),
            (
                {"type": "LampsDark"},
                [{"type": "RecordRound", "round": 4, "ending": "settled", "values": [1e308] * 3}],
            ),
            ({"type": "ReadingMade", "verdict": [[]]}, []),
            ({"type": "ReadingMade", "verdict": {"type": "Unreadable", "reason": {}}}, []),
            ({"type": "LampFault"}, [{"type": "RaiseFault", "kind": "lamp", "code": "x"}] * 33),
        ],
    )
    def test_one_is_left_out_and_told_and_the_next_rounds_are_shown(
        self, page, scribe, event, decision, sam, tom
    ):
        number = max(scribe.write(event, decision, of=4) for _ in range(2))
        scribe.round(5, (1, 2, 3))

        until(lambda: page.book.round(5) and page.book.round(5).ended and page.book.trouble)

        assert f"2 records, from {number - 1} on, are not shown here" in page.book.trouble
        for path in ("/sign", "/rounds", "/rounds/5", "/day", "/day.csv", "/statistics"):
            assert sam.get(path).status == 200
        assert tom.get("/technician").status == 200


class TestForms:
    def test_a_body_is_counted_whatever_its_length_is_said_to_be(self, page):
        form = {"name": "vic", "role": "viewer", "passphrase": "a" * 5000}

        answer = Browser(page.app).post("/login", form, content_length="10")

        assert answer.status == 413

    def test_a_read_with_a_body_is_refused_before_anything_is_sent(self, page):
        answer = Browser(page.app).get("/static/page.css", content_length="9000")

        assert answer.status == 413

    @pytest.mark.parametrize("body", [b"a&" * 50, b"\xff\xfe", b"name=%FF"])
    def test_what_is_no_form_is_refused(self, page, body):
        browser = Browser(page.app)
        headers = {"origin": "http://127.0.0.1"}

        answer = asyncio.run(browser.ask("POST", "/login", body, headers))

        assert answer.status in (400, 403)


class TestCase:
    @pytest.fixture
    def case(self, tmp_path, sam):
        answer = sam.post("/rounds/1/case", {"reason": "a guest disagrees"})
        assert answer.status == 200
        with zipfile.ZipFile(io.BytesIO(answer.body)) as packed:
            packed.extractall(tmp_path / "case")
        return tmp_path / "case" / "round-1"

    def _verify(self, case: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", str(case / "verify.py")]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_it_verifies_by_itself(self, case):
        done = self._verify(case)

        assert done.returncode == 0, done.stdout + done.stderr
        assert "7 records, 1 pictures: all fits" in done.stdout

    @pytest.mark.parametrize(
        ("files", "old", "new"),
        [
            ("records.jsonl", b'"values":[1,6,6]', b'"values":[6,6,6]'),
            ("pictures/*", b"picture", b"another picture"),
        ],
    )
    def test_what_was_changed_is_found(self, case, files, old, new):
        changed = next(case.glob(files))
        changed.write_bytes(changed.read_bytes().replace(old, new))

        assert self._verify(case).returncode == 1

    def test_a_picture_that_was_exchanged_before_is_told_and_left_out(self, page, tmp_path, sam):
        (page._places.journal.pictures / page.book.file_of(digest(1))).write_bytes(b"other")
        answer = sam.post("/rounds/1/case", {"reason": "a guest disagrees"})
        with zipfile.ZipFile(io.BytesIO(answer.body)) as packed:
            packed.extractall(tmp_path / "case")

        done = self._verify(tmp_path / "case" / "round-1")

        assert done.returncode == 1
        assert "not as its record has it" in done.stdout

    def test_who_took_it_and_why_is_on_record_and_without_a_reason_there_is_none(
        self, page, case, sam
    ):
        answer = sam.post("/rounds/1/case", {"reason": " "})

        assert answer.status == 400
        taken = [one for one in page.site.looked.last(9) if one["kind"] == "export"]
        assert [(one["name"], one["what"]) for one in taken] == [
            ("sam", "round 1: a guest disagrees")
        ]


class TestMarks:
    """A demonstration is marked by its own records, also while the table is stopped."""

    @pytest.fixture
    def scribe(self, tmp_path):
        made = Scribe(tmp_path / "journal.jsonl", marks=("DEMONSTRATION",))
        made.round(1, (1, 6, 6))
        yield made
        made.close()

    def test_every_page_of_its_records_has_the_mark(self, page, sam, tom):
        page.book.stop()
        for path in (
            *("/sign", "/staff", "/rounds", "/rounds/1"),
            "/day",
            "/day.csv",
            "/statistics",
        ):
            assert "DEMONSTRATION" in sam.get(path).words, path
        assert "DEMONSTRATION" in tom.get("/technician").words

    def test_a_case_has_it(self, sam):
        answer = sam.post("/rounds/1/case", {"reason": "why"})
        packed = zipfile.ZipFile(io.BytesIO(answer.body))

        assert json.loads(packed.read("round-1/case.json"))["marks"] == ["DEMONSTRATION"]
        assert b"** DEMONSTRATION **" in packed.read("round-1/README.txt")


class TestDay:
    def test_the_sheet_counts_and_the_table_of_rounds_is_for_a_spreadsheet(self, page, sam):
        words = sam.get("/day").words
        assert "3 rounds" in words
        assert re.search(r"Made at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \w+ \(UTC[+-]\d{4}\)", words)
        rows = sam.get(f"/day.csv?day={next(iter(page.book.days()))}").text
        assert [line.split(",")[0] for line in rows.splitlines()] == ["round", "1", "2", "3"]

    def test_no_cell_is_a_formula_or_moves_a_terminal(self, page, scribe, sam):
        told = {"type": "RecordRound", "round": 4, "ending": "=1+1", "cause": "\x1b[2J"}
        scribe.write({"type": "LampsDark"}, [told], of=4)
        until(lambda: page.book.round(4) and page.book.round(4).ended)
        rows = sam.get(f"/day.csv?day={next(iter(page.book.days()))}").text

        assert "'=1+1" in rows
        assert "\x1b" not in rows

    def test_the_dice_of_a_day_are_reconciled(self, page, scribe, sam):
        fay = {"type": "Person", "name": "fay", "role": "floorperson", "number": "F7"}
        logged = {"type": "DiceLogged", "person": fay, "what": "received", "serials": ["A_1"]}
        scribe.write(logged, [], of=3)
        until(lambda: len(page.book.days()) == 1)
        tables = RecordTables(scribe.book.path)
        tables.keep_up()
        tables.close()

        words = sam.get("/day").words

        assert "received: A_1 fay (floorperson, F7)" in words
        assert "serials A_1, what received" in words
        assert "moved: received 1" in words

    def test_a_day_that_goes_on_is_read_anew(self, page, scribe, sam):
        assert "3 rounds" in sam.get("/day").words

        scribe.round(4, (1, 2, 3))
        until(lambda: page.book.round(4))

        assert "4 rounds" in sam.get("/day").words


class TestOthers:
    def test_statistics_say_that_they_are_still_counted(self, sam):
        assert "still being counted" in sam.get("/statistics").words

    def test_statistics_never_say_that_dice_are_fair(self, scribe, sam):
        tables = RecordTables(scribe.book.path)
        faces = range(1, 7)
        for number, values in enumerate(product(faces, faces, faces)):
            told = Round(number=number, ending="settled", source="verified", values=values)
            tables._tally.add(told)
        tables.keep_up()
        tables.close()

        words = sam.get("/statistics").words.lower()

        assert "219 rounds" in words
        assert "tests of the outcomes" in words
        assert "shows no deviation larger" in words
        assert "fair" not in words

    def test_technician_surveillance_and_viewer_have_pages_of_their_own(self, vic, sam, tom):
        sam.get("/rounds/2")

        for path in ("/technician", "/technician/wiring"):
            assert (tom.get(path).status, sam.get(path).status) == (200, 403)
        assert tom.get("/technician/picture").status == 409, "no table gives one"
        assert "sam, surveillance round 2" in sam.get("/looked").words
        assert tom.get("/looked").status == 403
        assert vic.get("/rounds").status == 403

    @pytest.mark.parametrize(
        "path", ["/rounds/99", "/rounds/" + "9" * 20, "/day?day=2020-01-01", "/nope"]
    )
    def test_a_wrong_address_says_so_and_leads_back(self, page, path, sam):
        answer = sam.get(path)

        assert answer.status == 404
        assert "There is no such page Back to the first page" in answer.words

    @pytest.mark.parametrize("accept", ["text/html", "*/*"])
    def test_a_broken_page_bears_the_headers_of_every_other(self, page, monkeypatch, accept, sam):
        def broken(_count):
            raise RuntimeError("a mistake of ours")

        monkeypatch.setattr(page.book, "last", broken)

        with pytest.raises(RuntimeError, match="a mistake of ours"):  # the server logs it
            sam.get("/sign", accept=accept)

        assert sam.answer.status == 500
        told = {name: sam.answer.headers.get(name.lower()) for name in HEADERS}
        assert told == HEADERS
        assert sam.answer.headers["cache-control"] == "no-store"

    def test_what_cannot_be_recorded_is_not_shown(self, page, monkeypatch, sam):
        def full(_records):
            raise JournalWriteError("the disk is full")

        monkeypatch.setattr(page.site.looked._book, "write", full)

        answer = sam.get("/rounds/1")
        assert answer.status == 503
        assert "bets requested" not in answer.words
        assert sam.get("/sign").status == 200


class TestVendored:
    def test_no_page_asks_another_server(self):
        for file in [*TEMPLATES.rglob("*.html"), *STATIC.glob("*.js"), *STATIC.glob("*.css")]:
            assert not re.search(
                r"(?:src|href|url\()=?[\"']?(?:https?:)?//", file.read_text("utf-8")
            )
