"""`shaker-ctl journal` on real files: what a person sees, and what a script can rely on."""

from __future__ import annotations

import csv
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shaker_ctl.journal
from shaker_ctl.adapters.disk.dispute_list import NAME
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.disk.picture_folder import PictureFolder
from shaker_ctl.adapters.tests.written import WALL, append, changed, gone, rewritten, saying
from shaker_ctl.commands.journal import app
from shaker_ctl.errors import JournalCorruptError, RefusedError, ShakerError
from shaker_ctl.journal.record import Entry
from shaker_ctl.ports import Pictures
from shaker_ctl.rules.parameters import TableParameters

RUNNER = CliRunner()


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Four ended rounds, a void one among them, and a fifth that is not over."""
    path = tmp_path / "journal.jsonl"
    for number, values in enumerate([(1, 2, 3), (6, 6, 6), None, (4, 4, 1), "open"], start=1):
        decisions: list[list[dict[str, object]]] = [[{"type": "StartToss"}]]
        if values != "open":
            ending = "void" if values is None else "settled"
            closed = {
                "type": "RecordRound",
                "round": number,
                "ending": ending,
                "wagers": "returned" if values is None else "settled",
                "cause": "shaker" if values is None else None,
                "values": values,
                "source": None if values is None else "verified",
            }
            decisions.append([closed])
        event = {"type": "TimerExpired", "round": number}
        steps = ({"event": event, "rows": ["a row"], "decision": each} for each in decisions)
        entries = (Entry("step", step, round=number) for step in steps)
        wall = f"2026-11-2{number}T12:00:00.000+00:00"
        append(path, *entries, wall=wall, digests={"model": "ab" * 16})
    return path


def run(*words: str, journal: Path) -> str:
    result = RUNNER.invoke(app, [*words, "--journal", str(journal)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_last_shows_the_incomplete_round_too(journal: Path) -> None:
    shown = json.loads(run("last", "3", "--json", journal=journal))
    assert [(r["round"], r["ending"], r["values"]) for r in shown] == [
        (3, "void", None),
        (4, "settled", [4, 4, 1]),
        (5, None, None),
    ]
    assert "unfinished" in run("last", journal=journal)


def test_a_demonstration_is_marked_by_its_records(journal: Path, tmp_path: Path) -> None:
    closed = {"type": "RecordRound", "round": 6, "ending": "settled", "wagers": "settled"}
    closed |= {"cause": None, "values": (1, 1, 2), "source": "verified"}
    body = {"event": {"type": "TimerExpired"}, "rows": [], "decision": [closed]}
    append(journal, Entry("step", {**body, "marks": ["DEMONSTRATION"]}, round=6))

    shown = json.loads(run("last", "2", "--json", journal=journal))
    assert [one["marks"] for one in shown] == [[], ["DEMONSTRATION"]]
    assert json.loads(run("statistics", "--json", journal=journal))["marks"] == ["DEMONSTRATION"]
    for words in (["last"], ["show", "6"], ["statistics"]):
        assert "** DEMONSTRATION **" in run(*words, journal=journal), words
    run("export", str(tmp_path / "out"), journal=journal)
    with (tmp_path / "out" / "rounds.csv").open() as file:
        assert [row["marks"] for row in csv.DictReader(file)] == [""] * 4 + ["DEMONSTRATION"]


def test_an_export_has_the_dice_as_a_table(journal: Path, tmp_path: Path) -> None:
    fay = {"type": "Person", "name": "fay", "role": "floorperson", "number": "F7"}
    logged = {"type": "DiceLogged", "person": fay, "what": "received", "serials": ["=A1", "A2"]}
    changed = {"type": "DiceChanged", "person": fay, "serials": ["A1", "A2", "A3"]}
    named = {"type": "Announce", "notice": "dice_named"}
    for event, decision in ((logged, []), (changed, [named])):
        append(journal, Entry("step", {"event": event, "rows": [], "decision": decision}))
    run("export", str(tmp_path / "out"), journal=journal)
    with (tmp_path / "out" / "dice.csv").open() as file:
        told = [(row["what"], row["serials"], row["by"]) for row in csv.DictReader(file)]
    by = "fay (floorperson, F7)"
    assert told[-2:] == [("received", "'=A1 A2", by), ("locked in, named by one", "A1 A2 A3", by)]


def test_show_tells_every_step_of_a_round(journal: Path) -> None:
    shown = json.loads(run("show", "2", "--json", journal=journal))
    assert [step["record"]["sequence"] for step in shown] == [3, 4]
    assert "StartToss" in run("show", "2", "--raw", journal=journal)
    told = run("show", "2", journal=journal)
    at = datetime(2026, 11, 22, 12, tzinfo=UTC).astimezone()
    assert f"{at:%H:%M:%S}.000  4       timer expired; round 2 settled: 6 6 6" in told


def test_what_comes_after_the_end_of_a_round_is_no_part_of_it(journal: Path) -> None:
    """An inspection bears the number of the round before it."""
    body = {"event": {"type": "LampsShown", "values": [6, 6, 6]}, "rows": [], "decision": []}
    append(journal, Entry("step", body, round=4))
    assert "lamps shown" not in run("show", "4", journal=journal)
    shown = json.loads(run("last", "3", "--json", journal=journal))
    assert shown[1]["ended"] != WALL


def test_verify_says_that_the_chain_is_whole_and_what_it_cannot_see(journal: Path) -> None:
    text = run("verify", journal=journal)
    assert "the chain is whole" in text
    assert "journal-tail-unproved" in text


def test_verify_compares_pictures_with_their_records_where_it_is_asked(journal: Path) -> None:
    folder = journal.parent / "pictures"
    store, shot = PictureFolder(folder, 1.0), (5, 9, Pictures(b"frame", b"overlay"))
    store.save(*shot)
    saved = store.named(*shot)
    body = {"event": {"type": "CameraReconnected"}, "rows": [], "decision": []}
    append(journal, Entry("step", body, round=5), pictures=saved)
    assert "pictures: 2 as recorded, 0 no longer kept, 0 changed" in run(
        "verify", "--pictures", journal=journal
    )
    frame = folder / saved["frame"]["file"]
    frame.write_bytes(b"another")
    assert "NOT as its record has it" in run("show", "5", journal=journal)
    assert "the chain is whole" in run("verify", journal=journal)
    with pytest.raises(JournalCorruptError, match="1 pictures are not as their records have them"):
        run("verify", "--pictures", journal=journal)


def test_verify_names_the_first_bad_record(journal: Path) -> None:
    change(journal, "6,6,6", "6,6,5")
    done = RUNNER.invoke(app, ["verify", "--journal", str(journal)])
    assert isinstance(done.exception, JournalCorruptError)
    assert "record 4" in str(done.exception)
    assert done.exception.code == "journal-damaged"
    assert "record 4" not in done.output, "it is told once, by the line of the error"


@pytest.mark.parametrize("found", ["a record", "a file"])
def test_verify_says_that_another_process_writes_where_it_finds_something(
    journal: Path, found: str
) -> None:
    """A rebuild may be half done."""
    with closing(JournalLock(journal)):
        assert "another process" not in run("verify", journal=journal)
        if found == "a record":
            rewritten(journal, saying("6,6,6", "6,6,5"))
        else:
            journal.write_bytes(b"no journal")
        done = RUNNER.invoke(app, ["verify", "--journal", str(journal)])
        assert "verify again once that has ended" in done.output
    done = RUNNER.invoke(app, ["verify", "--journal", str(journal)])
    assert isinstance(done.exception, JournalCorruptError)
    assert "another process" not in done.output


def test_export_writes_records_with_hashes_and_rounds_as_a_table(
    journal: Path, tmp_path: Path
) -> None:
    run("export", str(tmp_path / "all"), journal=journal)
    lines = (tmp_path / "all" / "records.jsonl").read_text().splitlines()
    assert len(lines) == 9
    assert len(json.loads(lines[0])["hash"]) == 64
    with (tmp_path / "all" / "rounds.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["ending"] for row in rows] == ["settled", "settled", "void", "settled"]
    assert rows[1]["third"] == "6"

    words = ["export", str(tmp_path / "some"), "--from", "2026-11-22", "--to", "2026-11-24"]
    run(*words, journal=journal)
    assert len((tmp_path / "some" / "records.jsonl").read_text().splitlines()) == 4


@pytest.fixture
def export(journal: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "some"
    run("export", str(folder), "--from", "2026-11-22", journal=journal)
    return folder


PAGE = Path(shaker_ctl.journal.__file__).with_name("README.md")


def by_the_page(folder: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """The program of the page, without anything of ours."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    program = tmp_path / "check.py"
    program.write_text(found[1], "utf-8")
    command = [sys.executable, "-I", str(program), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_export_is_verified_by_the_page_s_lines_alone(export: Path, tmp_path: Path) -> None:
    checked = by_the_page(export, tmp_path)
    assert (checked.returncode, checked.stderr) == (0, "")
    ours = RUNNER.invoke(app, ["verify", str(export)], catch_exceptions=False)
    assert checked.stdout.split()[-2:] == ours.output.split()[-2:]
    assert "records.jsonl: whole" in ours.output  # the table beside it is proved by nothing


@pytest.mark.parametrize("seed", range(6))
def test_one_flipped_byte_of_an_export_is_found(export: Path, tmp_path: Path, seed: int) -> None:
    file = export / "records.jsonl"
    content = bytearray(file.read_bytes())
    content[(seed * len(content)) // 6] ^= 1
    file.write_bytes(content)
    assert "is not what the table wrote" in by_the_page(export, tmp_path).stderr
    with pytest.raises(JournalCorruptError, match="is not what the table wrote"):
        RUNNER.invoke(app, ["verify", str(export)], catch_exceptions=False)


def test_a_record_that_is_missing_from_an_export_is_found(export: Path, tmp_path: Path) -> None:
    file = export / "records.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    for left in (lines[1:], lines[:2] + lines[3:], lines[:-1]):
        file.write_bytes(b"".join(left))
        by_the_page_alone = by_the_page(export, tmp_path)
        assert by_the_page_alone.returncode == 1
        with pytest.raises(JournalCorruptError, match=f": {by_the_page_alone.stderr.strip()}$"):
            RUNNER.invoke(app, ["verify", str(export)], catch_exceptions=False)


CHAINED = '{"first": 1, "before": "", "head": ""}'


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "chain",
    [
        "[" * 200_000,
        *(CHAINED.replace("1", number) for number in ("Infinity", "NaN", "1.5", "true", "null")),
        CHAINED + " " * 20_000,
        CHAINED,
    ],
    ids=lambda chain: chain[:20],
)
def test_what_is_no_export_is_refused_and_never_waited_for(tmp_path: Path, chain: str) -> None:
    (tmp_path / "chain.json").write_text(chain)
    os.mkfifo(tmp_path / "records.jsonl")
    with pytest.raises(RefusedError, match="is no export"):
        RUNNER.invoke(app, ["verify", str(tmp_path)], catch_exceptions=False)


def test_an_export_writes_nothing_through_a_link_that_was_planted(
    journal: Path, tmp_path: Path
) -> None:
    out, precious = tmp_path / "out", tmp_path / "precious"
    out.mkdir()
    precious.write_text("precious")
    (out / f".records.jsonl.{os.getpid()}.new").symlink_to(precious)
    run("export", str(out), journal=journal)
    assert precious.read_text() == "precious"
    assert not (out / "records.jsonl").is_symlink()


@pytest.fixture
def audited(journal: Path) -> Path:
    """The same journal, in which people have acted as well."""
    fay, tom = ({"name": n, "role": r} for n, r in (("fay", "floorperson"), ("tom", "technician")))
    acts = (
        {"type": "Signed", "person": fay},
        {"type": "DiceChanged", "person": fay, "serials": ["A1", "A2", "A3"]},
        {"type": "FaultCleared", "person": tom, "kind": "lamp"},
    )
    refused = {"event": {"type": "OpenRequested", "person": tom}, "reason": "not your role"}
    append(
        journal,
        Entry("console", {"note": "login", "text": "", "actor": {**fay, "port": "dealer"}}),
        *(Entry("step", {"event": act, "rows": [], "decision": []}) for act in acts),
        Entry("refused", refused),
    )
    return journal


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--who", "tom"], ["fault cleared by tom, technician: lamp", "refused: open requested"]),
        (["--kind", "dice"], ["dice changed by fay, floorperson: A1 A2 A3"]),
        (["--kind", "signed"], ["signed by fay, floorperson"]),
        (["--day", "2026-11-27", "--kind", "login"], ["login by fay, floorperson at the dealer"]),
        (["--round", "3"], ["timer expired; round 3 void (shaker)"]),
        (["--round", "3", "--all"], ["timer expired", "timer expired; round 3 void (shaker)"]),
    ],
)
def test_events_tell_who_did_what_in_words(
    audited: Path, options: list[str], told: list[str]
) -> None:
    lines = run("events", *options, journal=audited).splitlines()
    assert [words in line for words, line in zip(told, lines, strict=True)] == [True] * len(told)


@pytest.mark.skipif(not shutil.which("logger"), reason="apt install bsdutils")
def test_what_happens_from_now_on_reaches_a_syslog_server(journal: Path) -> None:
    program = f"{sys.executable} -c 'from shaker_ctl.main import app; app()'"
    told = f"{program} journal events --follow --journal {journal}"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(30.0)
        port = server.getsockname()[1]
        log = f"logger --rfc5424 --udp -n 127.0.0.1 -P {port} -t shaker-ctl"
        following = subprocess.Popen(["sh", "-c", f"{told} | {log}"], start_new_session=True)
        try:
            for number in range(60):  # until it follows: what was there before is not told
                note = {
                    "note": "login",
                    "text": "",
                    "actor": {"name": "fay", "role": "floorperson", "port": f"line-{number}"},
                }
                append(journal, Entry("console", note))
                if select.select([server], [], [], 0.5)[0]:
                    break
            heard = server.recv(4096).decode()
        finally:
            os.killpg(following.pid, signal.SIGTERM)
            following.wait(20)
    assert re.match(r"<\d+>1 \S+ \S+ shaker-ctl - ", heard), heard  # RFC 5424, 6
    assert "login by fay, floorperson" in heard


@pytest.mark.parametrize(("more", "hint"), [([], True), (["--all"], False)])
def test_events_that_nothing_fits_say_so_beside_the_answer(
    audited: Path, more: list[str], hint: bool
) -> None:
    words = ["events", "--who", "nobody", "--journal", str(audited), *more]
    found = RUNNER.invoke(app, words, catch_exceptions=False)
    assert (found.exit_code, found.stdout) == (0, "")
    assert found.stderr.startswith("no record of the journal fits")
    assert ("--all" in found.stderr) is hint


def test_a_journal_that_is_named_is_replayed_by_the_settings_it_was_played_with(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.jsonl"
    rules = TableParameters(profile="ma").model_dump(mode="json")
    append(path, Entry("opening", {"rules": rules}))
    none = ["--config", str(tmp_path / "none.toml")]
    assert "0 differences; no frame was read again" in run("replay", *none, journal=path)


def test_a_journal_that_does_not_say_its_settings_asks_for_them(
    journal: Path, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match="does not say by which settings"):
        run("replay", "--config", str(tmp_path / "none.toml"), journal=journal)


def test_statistics_count_what_was_settled(journal: Path) -> None:
    shown = json.loads(run("statistics", "--json", journal=journal))
    assert shown["tosses"] == 3
    assert shown["faces"] == {"1": 2, "2": 1, "3": 1, "4": 2, "5": 0, "6": 3}
    text = run("statistics", journal=journal)
    assert "fair" not in text.lower()
    assert [line.split()[-1] for line in text.splitlines() if line.startswith("face ")] == [
        *("2", "1", "1", "2", "0", "3")
    ]


def test_a_dispute_is_opened_shown_and_settled_by_name(journal: Path) -> None:
    words = ("--by", "fay", "--reason", "player 3 saw a five")
    assert "open disputes: 2" in run("dispute", "2", *words, journal=journal)
    assert "opened" in run("show", "2", journal=journal)
    with pytest.raises(RefusedError, match="knows no round 77"):
        run("dispute", "77", *words, journal=journal)
    with pytest.raises(RefusedError, match="no dispute is open on round 1"):
        run("dispute", "1", "--settled", *words, journal=journal)
    text = run("dispute", "2", "--settled", "--by", "sue", "--reason", "picture", journal=journal)
    assert "open disputes: none" in text
    assert "by sue: picture" in run("show", "2", journal=journal)


# ── Export ──────────────────────────────────────────────────────────────────


def exported(folder: Path) -> list[int]:
    """Rounds whose records stand in the export."""
    lines = (folder / "records.jsonl").read_text().splitlines()
    return sorted({json.loads(line)["record"]["round"] for line in lines})


def test_records_that_say_nothing_sensible_of_dice_are_exported(tmp_path: Path) -> None:
    odd = [{}, {"type": "DiceLogged"}, {"type": "DiceChanged", "serials": 3}]
    journal = tmp_path / "journal.jsonl"
    append(journal, *(Entry("step", {"event": event, "decision": []}) for event in odd))
    said = run("export", str(tmp_path / "out"), journal=journal)
    assert "3 records and 0 rounds" in said
    assert said.count("says of dice what is not understood") == 2
    run("verify", str(tmp_path / "out"), journal=journal)


@pytest.mark.parametrize(
    ("since", "rounds"),
    [
        ("2026-11-24", [4, 5]),
        ("2026-11-24T12:00:00", [4, 5]),
        ("2026-11-24T12:00:01", [5]),
        ("2026-11-24T17:00:00+05:00", [4, 5]),
        ("2026-11-24T17:00:01+05:00", [5]),
        ("2026-11-24T07:00:01-05:00", [5]),
        ("0001-01-01T00:00:00+05:00", [1, 2, 3, 4, 5]),
    ],
)
def test_a_time_is_utc_unless_it_brings_its_offset(
    journal: Path, tmp_path: Path, since: str, rounds: list[int]
) -> None:
    run("export", str(tmp_path / "out"), "--from", since, journal=journal)
    assert exported(tmp_path / "out") == rounds


def test_an_export_that_fails_or_finds_nothing_leaves_the_earlier_one(
    journal: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run("export", str(out), journal=journal)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(RefusedError, match="stays as it was"):
        run("export", str(out), "--from", "2030-01-01", journal=journal)
    with pytest.raises(RefusedError, match="no record lies in that time"):
        run("export", str(tmp_path / "new"), "--from", "2030-01-01", journal=journal)
    assert not list((tmp_path / "new").iterdir())
    with pytest.raises(RefusedError, match="is not before"):
        run("export", str(out), "--from", "2026-11-23", "--to", "2026-11-22", journal=journal)
    rewritten(journal, saying("6,6,6", "6,6,5"))
    with pytest.raises(JournalCorruptError, match="record 4"):
        run("export", str(out), journal=journal)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("where", ["file", "file/below", "loop", "taken", "y" * 300])
def test_an_export_into_what_is_no_folder_is_refused(
    journal: Path, tmp_path: Path, where: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "taken" / "records.jsonl").mkdir(parents=True)
    with pytest.raises(RefusedError, match="the export cannot be written in"):
        run("export", str(tmp_path / where), journal=journal)
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["records.jsonl"]


# ── Damage ──────────────────────────────────────────────────────────────────


def change(journal: Path, old: str, new: str) -> None:
    """Write into the records behind the journal's back."""
    rewritten(journal, saying(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("TimerExpired", "Timer\x01xpired"),
        ("2026-11", "20X6-11"),
        ("monotonic", "monotonix"),
        ("decision", "decisiom"),
        ("6,6,6", "6,6,5"),
        ("RecordRound", "RecordRoumd"),
        ('"round":2', '"roumd":2'),
        ("{", "["),
    ],
)
@pytest.mark.parametrize(
    "words",
    [
        *(["last"], ["last", "--json"], ["show", "2"], ["show", "2", "--json"]),
        *(["statistics"], ["statistics", "--json"], ["replay", "--no-pictures"], ["export", "out"]),
    ],
)
def test_what_does_not_fit_the_chain_is_never_shown_without_saying_so(
    journal: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    old: str,
    new: str,
) -> None:
    rewritten(journal, saying(old, new))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.toml").touch()
    words = [*words, "--journal", str(journal), "--config", "settings.toml"]
    result = RUNNER.invoke(app, words)
    assert isinstance(result.exception, JournalCorruptError), result.exception
    assert f"{journal}: record " in result.exception.line()
    assert "journal verify" in result.exception.line()
    if "--json" in words and result.output:
        json.loads(result.output)
    assert not (tmp_path / "out" / "records.jsonl").exists()


def test_a_sound_round_of_a_damaged_journal_is_shown(journal: Path) -> None:
    rewritten(journal, saying("6,6,6", "6,6,5"))
    assert "round 4 settled: 4 4 1" in run("show", "4", journal=journal)


def test_a_missing_record_is_named(journal: Path) -> None:
    changed(journal, 3, gone)
    with pytest.raises(JournalCorruptError, match="record 3: missing; 4 follows"):
        run("statistics", journal=journal)


@pytest.mark.parametrize("content", [b"no database at all" * 100, None])
def test_verify_does_not_send_people_to_verify(journal: Path, content: bytes | None) -> None:
    if content is None:
        changed(journal, 3, gone)
    else:
        journal.write_bytes(content)
    with pytest.raises(JournalCorruptError) as caught:
        run("verify", journal=journal)
    assert "journal verify" not in caught.value.line()
    assert "journal rebuild" in caught.value.line()


# ── What people type ────────────────────────────────────────────────────────

HUGE = "99999999999999999999"


def test_numbers_beyond_every_journal_are_answered(journal: Path) -> None:
    for words in (["show", HUGE], ["dispute", HUGE, "--by", "fay", "--reason", "a five"]):
        with pytest.raises(RefusedError, match=f"no round {HUGE}"):
            run(*words, journal=journal)
    assert len(json.loads(run("last", HUGE, "--json", journal=journal))) == 5


def test_words_are_shown_as_they_were_written(journal: Path, tmp_path: Path) -> None:
    words = ["--by", "[/x] :die:", "--reason", "die [/y] [red]cocked :smile:"]
    run("dispute", "1", *words, journal=journal)
    run("dispute", "2", "--by", "fay", "--reason", "a five", journal=journal)
    shown = run("show", "1", journal=journal)
    assert "[/x] :die:" in shown
    assert "die [/y] [red]cocked" in shown
    named = tmp_path / "[" / "journal.jsonl"
    named.parent.mkdir()
    journal.rename(named)
    # How a narrow screen breaks the line depends on the name's length.
    told = "".join(run("verify", journal=named).split())
    assert f"{named}:9records" in told


@pytest.mark.parametrize(
    "words",
    ["", "  ", "a\udcff", "two\nlines", "\x1b[2J", "a\u202eb", "a\u2028b", "a\u2029b", "\u200b"],
)
@pytest.mark.parametrize("option", ["--by", "--reason"])
def test_a_dispute_without_words_is_refused(journal: Path, option: str, words: str) -> None:
    given = {"--by": "fay", "--reason": "a five", option: words}
    with pytest.raises(RefusedError, match=f"the dispute's {option}"):
        run("dispute", "2", *(word for pair in given.items() for word in pair), journal=journal)
    assert not (journal.parent / "pictures" / NAME).exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("loop", "is a link"),
        ("file/below", "there is no journal"),
        ("y" * 300, "there is no journal"),
    ],
)
def test_a_path_that_cannot_be_a_journal_is_refused(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ShakerError, match=why):
        run("last", journal=tmp_path / name)


def test_a_journal_in_a_folder_whose_name_is_no_utf8_is_read(journal: Path, tmp_path: Path) -> None:
    odd = tmp_path / "ov\udcff"
    odd.mkdir()
    journal.rename(odd / "journal.jsonl")
    assert len(json.loads(run("last", "--json", journal=odd / "journal.jsonl"))) == 5


def test_what_a_terminal_would_obey_and_a_spreadsheet_calculate_is_spelled_out(
    journal: Path, tmp_path: Path
) -> None:
    """As a forged record has it: the chain fits, the words are an attacker's."""
    closed = {
        "type": "RecordRound",
        "round": 6,
        "ending": "settled\x1b[8m\u202e\u2028",
        "wagers": "=cmd|' /C calc'!A0",
        "cause": "\x1b[2J\x1b]0;owned\x07",
        "values": [1, 2, 3],
        "source": "+1",
    }
    body = {"event": {"type": "\x9b31m", "note": "\r\n"}, "rows": [], "decision": [closed]}
    append(journal, Entry("step", body, 6), wall="2026-11-26T12:00:00+00:00")
    for words in (["last"], ["show", "6"], ["day", "2026-11-26"], ["statistics"]):
        shown = run(*words, journal=journal)
        assert not set(shown) & set("\x1b\x07\x9b\r\u202e\u2028"), ascii(shown)
        assert "x1b" in shown
    run("export", str(tmp_path / "out"), journal=journal)
    text = (tmp_path / "out" / "rounds.csv").read_text()
    rows = list(csv.reader(text.splitlines()))
    assert not [each for each in rows[-1] if each.startswith(("=", "+", "\x1b"))], rows[-1]


@pytest.mark.parametrize("values", [[1e308, 1e308, 1e308], [7, 1, 1], [1, 2], "123", {"a": 1}])
def test_statistics_leave_out_values_of_no_dice(journal: Path, values: object) -> None:
    closed = {"type": "RecordRound", "round": 6, "ending": "settled", "values": values}
    body = {"event": {"type": "LampsDark"}, "rows": [], "decision": [closed]}
    append(journal, Entry("step", body, 6))
    assert "record 10 is left out" in run("statistics", journal=journal)
