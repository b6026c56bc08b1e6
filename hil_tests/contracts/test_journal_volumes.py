"""A chain of volumes is one journal: read, verified, copied and recovered as a single file was."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from hil_tests.reliability.bytes_cut import records_after, volume_after
from shaker_ctl import child_process
from shaker_ctl.adapters.disk import (
    disk_journal,
    record_tables,
    records_process,
    records_watch,
    volume_file,
    volume_lines,
    volume_proofs,
)
from shaker_ctl.adapters.disk.copy_rebuild import rebuild
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers, volume_path
from shaker_ctl.adapters.disk.follower import Follower
from shaker_ctl.adapters.disk.journal_copies import open_copies, survey
from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.adapters.disk.records_watch import RecordsWatch
from shaker_ctl.adapters.disk.volume_archive import archive, fetch
from shaker_ctl.adapters.disk.volume_file import VolumeFile
from shaker_ctl.adapters.tests.written import changed, flipped, gone, unhashed
from shaker_ctl.errors import (
    JournalAbsentError,
    JournalCorruptError,
    JournalError,
    JournalVersionError,
    JournalWriteError,
    RefusedError,
)
from shaker_ctl.journal import volume
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.proofs import GOOD_FOR_S, Break, Proof, Proofs
from shaker_ctl.journal.record import SCHEMA, Entry, Head, Record, canonical, chain_hash, link
from shaker_ctl.journal.recovery import FETCH

EACH = 40


def turn(store: DiskJournal, day: str = "2026-11-22") -> Record:
    """Begin the next volume; return its first record."""
    record = volume_after(store, day)
    store.write([record])
    return record


def grown(store: DiskJournal, count: int) -> list[Record]:
    """So many volumes of `EACH` records; the last one stays open."""
    written: list[Record] = []
    for n in range(count):
        if n:
            written.append(turn(store, f"2026-11-{n:02}"))
        # The volume's own record is the first of its volume.
        made = records_after(store.head(), EACH - bool(n), round_of_first=1 + 8 * n)
        store.write(made)
        written += made
    return written


def both(parameters: JournalParameters, count: int) -> list[Record]:
    """Two copies of so many volumes."""
    opened = open_copies(parameters)
    records = grown(opened.main, count)
    opened.copies[1].write(records)
    opened.close()
    return records


# ── One journal ─────────────────────────────────────────────────────────────


def test_volumes_are_read_as_one_chain(tmp_path: Path) -> None:
    store = DiskJournal(tmp_path / "journal.jsonl")
    records = grown(store, 4)
    assert volume_numbers(store.path) == [1, 2, 3, 4]
    assert [v.day for v in store.closed] == ["2026-11-21", "2026-11-01", "2026-11-02"]
    assert [(v.first, v.last) for v in store.closed] == [(1, 40), (41, 80), (81, 120)]
    assert list(store.read()) == records
    assert list(store.read(38, 83)) == records[37:83]
    assert list(store.newest_first()) == records[::-1]
    assert list(store.newest_first(85)) == records[84::-1]
    for at in (1, 2, 40, 41, 42, 80, 81, 160):
        expected = Head(at - 1, records[at - 2].hash) if at > 1 else store.start
        assert store.head_before(at) == expected
    assert store.verify() == (Head(160, records[-1].hash), None)
    store.check_tail(150)
    store.close()
    again = DiskJournal(store.path, read_only=True)
    assert list(again.read()) == records
    assert again.verify()[1] is None
    again.close()


def test_what_is_no_step_is_found_in_whichever_volume_it_lies(tmp_path: Path) -> None:
    store = DiskJournal(tmp_path / "journal.jsonl")
    records = grown(store, 3)
    opening = link(
        store.head(), Entry("opening", {}), monotonic_s=0.0, wall="2026-11-22", digests={}
    )
    assert list(store.milestones()) == [records[2 * EACH], records[EACH]]
    store.write([opening])
    assert list(store.milestones()) == [opening, records[2 * EACH], records[EACH]]
    changed(volume_path(store.path, 2), 45, flipped)
    found = store.milestones()
    assert [next(found), next(found)] == [opening, records[2 * EACH]]
    with pytest.raises(JournalCorruptError, match="record 45"):
        next(found)
    store.close()


def test_rounds_are_found_in_whichever_volume_they_lie(tmp_path: Path) -> None:
    store = DiskJournal(tmp_path / "journal.jsonl")
    grown(store, 3)
    rounds = sorted({r.plain["round"] for r in store.read() if r.plain["round"]})
    assert store.last_rounds(5) == rounds[-5:]
    assert store.last_rounds(1000) == rounds
    for number in rounds:
        found = store.read_round(number)
        assert {r.plain["round"] for r in found} == {number}
    assert store.read_round(max(rounds) + 1) == []
    store.close()


def test_a_copy_that_is_written_anew_has_the_same_volumes(parameters: JournalParameters) -> None:
    records = both(parameters, 3)
    for number in volume_numbers(parameters.copies[1]):
        volume_path(parameters.copies[1], number).unlink()
    with pytest.raises(JournalAbsentError, match="second copy"):
        open_copies(parameters)
    rebuild(parameters, main=False)
    opened = open_copies(parameters)
    assert opened.notices == ()
    assert opened.copies[1].closed == opened.main.closed
    assert list(opened.copies[1].read()) == records
    opened.close()


def test_a_second_copy_is_caught_up_over_a_change_of_volume(parameters: JournalParameters) -> None:
    opened = open_copies(parameters)
    records = grown(opened.main, 3)
    opened.copies[1].write(records[:37])
    opened.close()
    opened = open_copies(parameters)
    assert list(opened.copies[1].read()) == records
    opened.close()


def test_the_services_group_may_read_and_nobody_else(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        store = DiskJournal(tmp_path / "journal.jsonl")
        grown(store, 2)
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        assert set(modes.values()) == {0o640}, modes
        assert len(modes) == 2
        store.close()
    finally:
        os.umask(before)


def test_who_reads_the_journal_keeps_nothing_from_being_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A console reads in another thread, the records process in another process, for seconds."""
    monkeypatch.setattr(volume_lines, "_FIRST_LOOK", 64)
    monkeypatch.setattr(volume_lines, "_CHUNK", 64)
    store = DiskJournal(tmp_path / "journal.jsonl")
    records = records_after(store.head(), 10)
    store.write(records)
    follower = Follower(store.path)
    assert len(follower.take(4)) == 4
    amid = store.read()
    next(amid)
    records.append(turn(store))
    store.write(records_after(store.head(), 1))
    assert list(amid) == records[1:10]
    assert len(list(archive(JournalParameters(path=store.path), tmp_path / "archive"))) == 1
    assert len(follower.take()) == 8
    follower.close()
    store.close()


# ── The change ──────────────────────────────────────────────────────────────


def test_a_torn_end_is_moved_away_when_its_volume_is_closed(tmp_path: Path) -> None:
    """An auditor who walks a closed volume finds nothing in it but records."""
    store = DiskJournal(tmp_path / "journal.jsonl")
    grown(store, 1)
    with store.path.open("ab") as file:
        file.write(b'{"hash":')
    turn(store)
    assert store.verify_closed(store.closed[0])[1] is None
    assert store.path.read_bytes().endswith(b"}\n")
    with store.path.open("ab") as file:
        file.write(b'{"hash":')
    _, damage = store.verify_closed(store.closed[0])
    assert damage is not None
    assert "stand behind the last line" in damage.what
    store.close()


def test_a_volume_that_is_only_opened_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    store = DiskJournal(path)
    store.write(records_after(store.head(), EACH))
    store.close()
    before = path.read_bytes()
    DiskJournal(path).close()
    assert path.read_bytes() == before


def test_a_killed_writer_leaves_the_old_volume_or_the_new_one_and_loses_nothing(
    tmp_path: Path,
) -> None:
    """It changes volumes all the time, says each record after its sync, and is killed."""
    program = (
        "import sys; from pathlib import Path\n"
        "from hil_tests.contracts.test_journal_volumes import turn\n"
        "from hil_tests.reliability.bytes_cut import records_after\n"
        "from shaker_ctl.adapters.disk.disk_journal import DiskJournal\n"
        "store = DiskJournal(Path(sys.argv[1]))\n"
        "while True:\n"
        "    store.write(records_after(store.head(), 2))\n"
        "    print(store.head().sequence, flush=True)\n"
        "    turn(store)\n"
        "    print(store.head().sequence, flush=True)\n"
    )
    path = tmp_path / "journal.jsonl"
    for n in range(6):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert process.stdout is not None
        said = [int(process.stdout.readline()) for _ in range(3 + n)]
        process.kill()
        said += [int(line) for line in process.stdout.read().split("\n")[:-1] if line]
        process.wait()
        process.stdout.close()
        store = DiskJournal(path)
        head, damage = store.verify()
        assert damage is None
        assert head.sequence >= said[-1]
        store.close()


def test_a_volume_is_never_founded_over_a_file_that_is_there(tmp_path: Path) -> None:
    store = DiskJournal(tmp_path / "journal.jsonl")
    store.write(records_after(store.head(), 10))
    planted = tmp_path / "journal-000002.jsonl"
    planted.write_text("what somebody put there")
    with pytest.raises(JournalWriteError, match="is there already"):
        turn(store)
    assert planted.read_text() == "what somebody put there"
    assert store.head().sequence == 10
    store.write(records_after(store.head(), 2))
    store.close()


def test_a_volume_record_that_does_not_fit_the_volumes_is_not_written(tmp_path: Path) -> None:
    store = DiskJournal(tmp_path / "journal.jsonl")
    store.write(records_after(store.head(), 10))
    wrong = Entry("volume", {"volume": 2, "day": "2026-11-23", "volumes": "00" * 32})
    with pytest.raises(JournalCorruptError, match="list of closed volumes"):
        store.write([link(store.head(), wrong, monotonic_s=0.0, wall="2026-11-23", digests={})])
    assert volume_numbers(store.path) == [1]
    store.close()


# ── Damage ──────────────────────────────────────────────────────────────────


def test_a_start_sees_a_closed_volume_that_is_missing_or_cut(parameters: JournalParameters) -> None:
    both(parameters, 3)
    kept = parameters.path.read_bytes()
    parameters.path.write_bytes(kept[:-100])
    with pytest.raises(JournalCorruptError, match="volume 1"):
        open_copies(parameters)
    parameters.path.unlink()
    with pytest.raises(JournalCorruptError, match="volume 1"):
        open_copies(parameters)
    parameters.path.write_bytes(kept)
    open_copies(parameters).close()


def test_a_start_sees_a_changed_list_of_volumes(parameters: JournalParameters) -> None:
    both(parameters, 3)
    newest = volume_path(parameters.path, 3)
    kept = newest.read_bytes()
    header = json.loads(kept.split(b"\n")[0])
    one, two = header["closed"]
    wrong: list[object] = [[[*one[:4], "00" * 32, *one[5:]], two], [one, [*two[:6], 99]], [two]]
    of_another_type = [[[*one[:at], {}, *one[at + 1 :]], two] for at in range(7)]
    for listed in (*wrong, *of_another_type, 5, [[]]):
        changed_header = canonical({**header, "closed": listed})
        newest.write_bytes(changed_header + kept[kept.index(b"\n") :])
        with pytest.raises(JournalCorruptError):
            open_copies(parameters)
    newest.write_bytes(kept)
    open_copies(parameters).close()


@pytest.mark.parametrize(
    ("number", "change"), [(7, flipped), (40, unhashed), (20, gone), (1, gone), (9, unhashed)]
)
def test_a_changed_closed_volume_is_found(
    parameters: JournalParameters, number: int, change: Callable[[Record], Record | None]
) -> None:
    """Its end is looked at by the start, all else by the proving that comes before play."""
    both(parameters, 3)
    changed(parameters.path, number, change)
    if number == 40:
        with pytest.raises(JournalCorruptError, match="does not end as it was closed"):
            open_copies(parameters)
        return
    opened = open_copies(parameters)
    _, damage = opened.main.verify_closed(opened.main.closed[0])
    assert damage is not None
    assert damage.where == str(parameters.path)
    assert opened.main.verify()[1] == damage
    opened.close()
    _, findings = survey(parameters)
    assert findings[0].halts


def test_a_volume_that_begins_with_anything_but_its_own_record_is_damaged(tmp_path: Path) -> None:
    """What it says of the volumes before it is sealed in by nothing."""
    store = DiskJournal(tmp_path / "journal.jsonl")
    grown(store, 1)
    closed = replace(volume_closed(store), day="1999-01-01")
    store.close()
    steps = records_after(closed.head, 3)
    volume_file.found(volume_path(store.path, 2), store.identity, [closed], steps)
    with closing(DiskJournal(store.path, read_only=True)) as forged:
        _, damage = forged.verify()
    assert damage is not None
    assert (damage.sequence, "its own volume record" in damage.what) == (41, True)


def volume_closed(store: DiskJournal) -> volume.Volume:
    return store._file.as_closed()


def test_a_volume_from_another_place_of_the_chain_is_not_taken_for_this_one(
    parameters: JournalParameters,
) -> None:
    both(parameters, 3)
    with closing(DiskJournal(parameters.path, read_only=True)) as store:
        shutil.copy(volume_path(parameters.path, 2), parameters.path)
        _, damage = store.verify_closed(store.closed[0])
    assert damage is not None
    assert "another place" in damage.what
    with pytest.raises(JournalCorruptError, match="volume 1: it does not end as it was closed"):
        open_copies(parameters)


def test_records_that_a_start_reads_back_are_proved_though_their_volume_is_not(
    tmp_path: Path,
) -> None:
    """State and faults are taken up from the records before the open volume, too."""
    store = DiskJournal(tmp_path / "journal.jsonl")
    grown(store, 2)
    store.close()
    changed(tmp_path / "journal.jsonl", 31, flipped)
    store = DiskJournal(tmp_path / "journal.jsonl")
    with pytest.raises(JournalCorruptError, match="record 31"):
        list(store.newest_first())
    store.close()


def test_the_last_volume_cut_off_is_a_cut_journal(parameters: JournalParameters) -> None:
    both(parameters, 3)
    volume_path(parameters.path, 3).unlink()
    with pytest.raises(JournalCorruptError) as caught:
        open_copies(parameters.model_copy(update={"kept_by_either": False}))
    assert caught.value.code == "journal-cut"
    with closing(open_copies(parameters)) as opened:
        assert [each.trouble.value for each in opened.notices] == ["journal-main-late"]
        assert opened.main.volume == 3
        assert opened.main.verify()[1] is None


def test_what_a_newer_program_wrote_is_refused_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume_file, "FORMAT", SCHEMA + 7)  # two numbers that rise by themselves
    store = DiskJournal(tmp_path / "journal.jsonl")
    body = canonical({"schema": SCHEMA + 1, "kind": "step", "round": None})
    record = Record(1, chain_hash(store.head().hash, body), body)
    with pytest.raises(JournalVersionError, match=f"version {SCHEMA + 1}.* up to {SCHEMA}$"):
        store.write([record])
    store.close()
    monkeypatch.setattr(volume_file, "FORMAT", volume_file.FORMAT - 1)
    with pytest.raises(JournalVersionError, match=f" up to {volume_file.FORMAT}$") as refused:
        DiskJournal(store.path)
    assert "newer" in refused.value.remedy


def test_a_later_volume_that_is_given_for_the_journal_leads_to_the_first(
    parameters: JournalParameters,
) -> None:
    both(parameters, 3)
    for number in (2, 3):
        with pytest.raises(JournalError, match=f"is volume {number} of a journal") as caught:
            DiskJournal(volume_path(parameters.path, number), read_only=True)
        assert caught.value.code == "journal"
        assert caught.value.remedy.endswith(f", {parameters.path}")


def test_a_folder_where_a_volume_is_written_first_is_moved_aside(
    parameters: JournalParameters,
) -> None:
    both(parameters, 3)
    here = volume_path(parameters.path, 2)
    here.unlink()
    for name in (f"{here}.part", f"{parameters.copies[1]}.founding"):
        (Path(name) / "something").mkdir(parents=True)
    assert [each.number for each in fetch(parameters)] == [2]
    rebuild(parameters, main=False)
    assert survey(parameters)[1] == []
    aside = [*parameters.path.parent.rglob("*.part.replaced-*/something")]
    assert len([*aside, *parameters.path.parent.rglob("*.founding.replaced-*/something")]) == 2


# ── The proving ─────────────────────────────────────────────────────────────


def proved(copies: list[DiskJournal], now_s: float, known: Proofs | None = None) -> Proofs:
    """Verify what is due until nothing is."""
    proofs = known or Proofs()
    while (due := volume_proofs.next_due(copies, proofs, now_s)) is not None:
        proofs = volume_proofs.prove(due, proofs, lambda: now_s)
        if proofs.broken:
            break
    return proofs


def test_every_closed_volume_of_both_copies_is_verified_and_then_none_is_due(
    parameters: JournalParameters,
) -> None:
    both(parameters, 3)
    opened = open_copies(parameters)
    copies = opened.copies
    proofs = proved(copies, 1000.0)
    assert len(proofs.of) == 4
    assert volume_proofs.unproved(copies, proofs, 1000.0) == []
    assert len(volume_proofs.unproved(copies, proofs, 1001.0 + GOOD_FOR_S)) == 4
    kept = volume_proofs.place(parameters.path)
    volume_proofs.save(kept, proofs)
    assert volume_proofs.load(kept) == proofs
    opened.close()


def test_a_volume_that_changed_hands_is_verified_anew(parameters: JournalParameters) -> None:
    both(parameters, 3)
    opened = open_copies(parameters)
    proofs = proved([opened.main], 1000.0)
    content = parameters.path.read_bytes()
    parameters.path.unlink()
    parameters.path.write_bytes(content)
    (one,) = volume_proofs.unproved([opened.main], proofs, 1000.0)
    assert one.path == parameters.path
    opened.close()


def test_proofs_of_a_clock_that_stood_ahead_are_made_anew(parameters: JournalParameters) -> None:
    both(parameters, 3)
    with closing(open_copies(parameters)) as opened:
        ahead = proved([opened.main], 30 * 86400.0)
        assert len(volume_proofs.unproved([opened.main], ahead, 1000.0)) == 2
        again = proved([opened.main], 1000.0, ahead)
        assert volume_proofs.unproved([opened.main], again, 1000.0) == []


def test_a_volume_that_keeps_the_table_closed_is_verified_before_an_old_proof(
    parameters: JournalParameters,
) -> None:
    both(parameters, 3)
    with closing(open_copies(parameters)) as opened:
        first, second = volume_proofs.volumes([opened.main])
        old = Proofs().proved(str(first.path), Proof(first.mark(), 0.0))
        ahead = old.proved(str(second.path), Proof(second.mark(), 9e9))
        assert volume_proofs.next_due([opened.main], ahead, 5 * 86400.0) == second


def test_a_folder_in_the_place_of_the_proofs_is_moved_aside(parameters: JournalParameters) -> None:
    both(parameters, 2)
    kept = volume_proofs.place(parameters.path)
    (kept / "something").mkdir(parents=True)
    assert records_process.verify_next([parameters.path])
    assert len(volume_proofs.load(kept).of) == 1
    (aside,) = kept.parent.glob(f"{kept.name}.replaced-*")
    assert (aside / "something").is_dir()


def test_a_table_is_not_opened_before_every_volume_is_verified(
    parameters: JournalParameters,
) -> None:
    both(parameters, 3)
    opened = open_copies(parameters)
    watch = RecordsWatch([opened.main])
    with pytest.raises(RefusedError, match="2 volumes of the journal are not yet verified") as told:
        watch.require_proved()
    assert "begins with `records:`" in told.value.remedy
    assert watch.words() == "verifying: 0 of 2 closed volumes"
    volume_proofs.save(volume_proofs.place(parameters.path), proved([opened.main], time.time()))
    watch.require_proved()
    assert "2 closed volumes verified" in watch.words()
    opened.close()


def test_the_process_that_verifies_runs_the_packages_of_the_service(
    parameters: JournalParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[str] = []

    def popen(*_words: object, env: Mapping[str, str], **_how: object) -> None:
        started.append(env["PYTHONPATH"])
        raise OSError("enough")

    monkeypatch.setattr("shaker_ctl.adapters.disk.records_watch.subprocess.Popen", popen)
    with closing(open_copies(parameters)) as opened:
        RecordsWatch([opened.main]).start()
    assert started == [str(child_process.ROOT)]


def test_a_broken_volume_is_kept_as_found_and_bars_each_start_until_it_is_whole(
    parameters: JournalParameters,
) -> None:
    both(parameters, 3)
    whole = parameters.path.read_bytes()
    changed(parameters.path, 3, flipped)
    found = parameters.path.read_bytes()
    opened = open_copies(parameters)
    proofs = proved([opened.main], 1000.0)
    assert proofs.broken is not None
    assert "record 3" in proofs.broken.line
    (folder,) = parameters.path.parent.glob("journal.jsonl.evidence-*")
    assert (folder / "journal.jsonl").read_bytes() == found
    volume_proofs.save(volume_proofs.place(parameters.path), proofs)
    with pytest.raises(JournalCorruptError, match="record 3") as broken:
        RecordsWatch([opened.main]).refuse_a_broken_one()
    assert broken.value.remedy == FETCH
    parameters.path.write_bytes(whole)
    RecordsWatch([opened.main]).refuse_a_broken_one()
    assert RecordsWatch([opened.main]).broken() is None
    opened.close()


def test_a_broken_volume_of_a_copy_that_the_table_has_no_more_bars_nothing(
    parameters: JournalParameters,
) -> None:
    """A stick died, and the second copy was written anew on another one."""
    both(parameters, 3)
    opened = open_copies(parameters)
    gone = Break("/media/old-stick/journal.jsonl", "record 3 is wrong", time.time())
    volume_proofs.save(volume_proofs.place(parameters.path), Proofs(broken=gone))
    watch = RecordsWatch([opened.main])
    watch.refuse_a_broken_one()
    assert watch.broken() is None
    with pytest.raises(RefusedError, match="2 volumes of the journal are not yet verified"):
        watch.require_proved()
    opened.close()


def test_a_records_process_that_cannot_be_started_is_tried_again(
    parameters: JournalParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    both(parameters, 2)
    opened = open_copies(parameters)
    watch = RecordsWatch([opened.main])
    tried: list[int] = []

    def refuse(*_: object, **__: object) -> None:
        tried.append(1)
        raise OSError(errno.ENOMEM, "no memory")

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", refuse)
        patched.setattr(records_watch, "AGAIN_AFTER_S", -1.0)
        watch.start()
        watch.look()
        watch.look()
    assert len(tried) == 3
    watch.stop()
    opened.close()


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[" * 5000, b"\xff", b'{"type":"Proofs","of":7}', b'{"type":"Proof"}'),
        b'{"type":"Proofs","of":{"a":{"type":"Proof","mark":["x"],"wall_s":1}}}',
        b'{"type":"Proofs","of":{"a":{"type":"Proof","mark":[1],"wall_s":1%s}}}' % (b"0" * 400),
    ],
)
def test_proofs_that_cannot_be_understood_prove_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.proved.json"
    path.write_bytes(content)
    assert volume_proofs.load(path) == Proofs()


def test_the_records_process_verifies_and_ends_with_its_service(
    parameters: JournalParameters,
) -> None:
    both(parameters, 3)
    opened = open_copies(parameters)
    watch = RecordsWatch(opened.copies)
    watch.start()
    process = watch._process
    assert process is not None
    try:
        for _ in range(600):
            if len(watch.proofs().of) == 4:
                break
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            pytest.fail("the records process ended")
        assert len(watch.proofs().of) == 4
        assert os.getpriority(os.PRIO_PROCESS, process.pid) >= records_process.NICE
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0
    finally:
        watch.stop()
        opened.close()


def test_a_volume_is_verified_before_the_tables_are_made(
    parameters: JournalParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table waits for the volumes; the tables of a year take long."""
    both(parameters, 3)
    done: list[str] = []
    verify, keep_up = records_process.verify_next, record_tables.RecordTables.keep_up

    def verified(paths: list[Path]) -> bool:
        is_due = verify(paths)
        done.append("verified" if is_due else "none is due")
        return is_due

    def kept_up(tables: record_tables.RecordTables) -> bool:
        done.append("kept up")
        keep_up(tables)
        if len(done) > 6:
            raise SystemExit
        return True  # as where there is more than is done here

    monkeypatch.setattr(records_process, "verify_next", verified)
    monkeypatch.setattr(record_tables.RecordTables, "keep_up", kept_up)
    monkeypatch.setattr(records_process, "wait", lambda _=0.0: None)
    with pytest.raises(SystemExit):
        records_process._work([parameters.path])
    assert done[:4] == ["verified", "kept up", "verified", "kept up"]
    assert done[4:6] == ["none is due", "kept up"]


def test_a_records_process_waits_until_the_one_before_it_has_ended(
    parameters: JournalParameters,
) -> None:
    """Two at one file of tables: each puts in what the other one has put in."""
    both(parameters, 2)
    opened = open_copies(parameters)
    tables = record_tables.place(parameters.path)
    before = JournalLock(tables)
    watch = RecordsWatch([opened.main])
    watch.start()
    try:
        time.sleep(2.0)
        assert not tables.exists()
        assert watch.proofs().of == {}
        before.close()
        until_s = time.monotonic() + 60.0
        while len(watch.proofs().of) < 1:
            assert time.monotonic() < until_s
            time.sleep(0.05)
        assert tables.exists()
        with pytest.raises(RefusedError):
            JournalLock(tables)
    finally:
        before.close()
        watch.stop()
        opened.close()


class SlowToDie:
    """A process that was killed while the computer is busy."""

    def kill(self) -> None: ...

    def communicate(self) -> None:
        threading.Event().wait()


def test_the_tables_end_does_not_wait_for_a_records_process_that_gets_no_processor(
    parameters: JournalParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    both(parameters, 2)
    opened = open_copies(parameters)
    watch = RecordsWatch([opened.main])
    monkeypatch.setattr(watch, "_process", SlowToDie())
    watch.stop()
    opened.close()


# ── The archive ─────────────────────────────────────────────────────────────


def test_every_closed_volume_is_brought_to_an_archive_once_and_verified_there(
    parameters: JournalParameters, tmp_path: Path
) -> None:
    both(parameters, 3)
    folder = tmp_path / "archive"
    brought = [(one.number, one.is_new) for one in archive(parameters, folder)]
    assert brought == [(1, True), (2, True)]
    assert {path.name for path in folder.iterdir()} == {"journal.jsonl", "journal-000002.jsonl"}
    assert (folder / "journal.jsonl").read_bytes() == parameters.path.read_bytes()
    assert [one.is_new for one in archive(parameters, folder)] == [False, False]


def test_an_archive_is_never_written_over_and_a_broken_one_is_named(
    parameters: JournalParameters, tmp_path: Path
) -> None:
    both(parameters, 3)
    folder = tmp_path / "archive"
    list(archive(parameters, folder))
    changed(folder / "journal.jsonl", 3, gone)
    broken = (folder / "journal.jsonl").read_bytes()
    with pytest.raises(JournalCorruptError, match="record 3"):
        list(archive(parameters, folder))
    assert (folder / "journal.jsonl").read_bytes() == broken
    for own in (parameters.path.parent, parameters.copies[1].parent):
        with pytest.raises(RefusedError, match="holds the journal itself"):
            list(archive(parameters, own))


def test_a_broken_volume_never_reaches_an_archive(
    parameters: JournalParameters, tmp_path: Path
) -> None:
    both(parameters, 3)
    changed(parameters.path, 3, flipped)
    folder = tmp_path / "archive"
    with pytest.raises(JournalCorruptError, match="record 3"):
        list(archive(parameters, folder))
    assert not (folder / "journal.jsonl").exists()


def test_missing_and_broken_volumes_of_both_copies_are_fetched_back(
    parameters: JournalParameters, tmp_path: Path
) -> None:
    records = both(parameters, 3)
    folder = tmp_path / "archive"
    list(archive(parameters, folder))
    parameters.path.unlink()
    second = volume_path(parameters.copies[1], 2)
    changed(second, 50, gone)
    broken = second.read_bytes()
    fetched = [(one.number, one.file) for one in fetch(parameters, folder)]
    assert fetched == [(1, parameters.path), (2, second)]
    (aside,) = second.parent.glob("*.replaced-*")
    assert aside.read_bytes() == broken
    assert list(fetch(parameters, folder)) == []
    opened = open_copies(parameters)
    assert list(opened.main.read()) == records
    with pytest.raises(RefusedError, match="another process"):
        list(fetch(parameters, folder))
    opened.close()
    _, findings = survey(parameters)
    assert findings == []


def test_another_tables_volume_is_not_fetched(
    parameters: JournalParameters, tmp_path: Path
) -> None:
    both(parameters, 3)
    folder = tmp_path / "archive"
    folder.mkdir()
    strange = DiskJournal(folder / "journal.jsonl")
    other = "2026-01-01T06:00:00.000+00:00"
    strange.write(records_after(strange.head(), EACH, wall=other))
    turn(strange)
    strange.close()
    parameters.path.unlink()
    parameters.copies[1].unlink()
    with pytest.raises(JournalCorruptError, match="40 of its 40 records are bad"):
        list(fetch(parameters, folder))
    (folder / "journal.jsonl").unlink()
    with pytest.raises(RefusedError, match="has none"):
        list(fetch(parameters, folder))
    with pytest.raises(RefusedError, match="holds no volume"):
        list(fetch(parameters, tmp_path / "mistyped"))
    assert not parameters.path.exists()


def test_an_archive_that_is_cut_short_leaves_no_volume_that_looks_whole(
    parameters: JournalParameters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both(parameters, 3)
    folder = tmp_path / "archive"

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(RefusedError, match="No space left"):
            list(archive(parameters, folder))
    assert not (folder / "journal.jsonl").exists()
    assert len(list(archive(parameters, folder))) == 2


def test_what_the_medium_gives_back_is_verified_and_not_what_memory_holds_of_it(
    parameters: JournalParameters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both(parameters, 3)
    asked: list[int] = []

    def forgotten(number: int, *_: int) -> None:
        """The stick has kept one letter of the first file otherwise."""
        if not asked:
            file = Path(f"/proc/self/fd/{number}").resolve()
            file.write_bytes(file.read_bytes().replace(b'"kind"', b'"Kind"', 1))
        asked.append(number)

    monkeypatch.setattr(os, "posix_fadvise", forgotten)
    folder = tmp_path / "archive"
    with pytest.raises(JournalCorruptError, match=r"journal\.jsonl\.part"):
        list(archive(parameters, folder))
    assert not (folder / "journal.jsonl").exists()


def test_one_process_at_a_time_brings_volumes_to_a_folder(
    parameters: JournalParameters, tmp_path: Path
) -> None:
    both(parameters, 3)
    first = archive(parameters, tmp_path / "archive")
    assert next(first).number == 1
    with pytest.raises(RefusedError, match="another process brings volumes"):
        list(archive(parameters, tmp_path / "archive"))
    assert [one.number for one in first] == [2]
    assert len(list(archive(parameters, tmp_path / "archive"))) == 2


def test_ten_thousand_volumes_are_looked_at_without_opening_one(tmp_path: Path) -> None:
    """A start opens the last file only; of the others it reads the header."""
    store = DiskJournal(tmp_path / "journal.jsonl")
    grown(store, 6)
    store.close()
    opened: list[str] = []

    class Counting(VolumeFile):
        def __init__(self, path: Path, *, read_only: bool = False, alone: bool = False) -> None:
            opened.append(path.name)
            super().__init__(path, read_only=read_only)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(disk_journal, "VolumeFile", Counting)
        store = DiskJournal(tmp_path / "journal.jsonl")
        assert store.verify_start()[1] is None
        store.close()
    assert opened == ["journal-000006.jsonl"]
    assert os.path.exists(tmp_path / "journal-000005.jsonl")
    assert volume.broken_list(store.closed) == ""


def test_a_damaged_identity_is_mended_as_the_refusal_says(parameters: JournalParameters) -> None:
    both(parameters, 2)
    file = volume_path(parameters.copies[1], 2)
    file.write_bytes(file.read_bytes().replace(b'"journal":"', b'"journal":"f', 1))
    with pytest.raises(JournalCorruptError, match="another journal") as caught:
        open_copies(parameters)
    assert f"move {file} away, then rebuild: shaker-ctl journal" in caught.value.remedy
    with pytest.raises(RefusedError, match=r"first line of .* is damaged") as refused:
        rebuild(parameters, main=False)
    assert f"Move {file} away" in refused.value.remedy
    file.unlink()
    rebuild(parameters, main=False)
    open_copies(parameters).close()
    assert survey(parameters)[1] == []
