"""What every journal store must keep: order, durability, refusal of change, and honesty."""

from __future__ import annotations

import contextlib
import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hil_tests.reliability import bytes_cut
from hil_tests.reliability.bytes_cut import records_after
from shaker_ctl.adapters.disk import kept_aside
from shaker_ctl.adapters.disk.copy_rebuild import rebuild
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.dispute_list import known
from shaker_ctl.adapters.disk.journal_copies import (
    await_media,
    open_copies,
    survey,
)
from shaker_ctl.adapters.disk.volume_lines import Lines
from shaker_ctl.adapters.tests.written import appended, changed, flipped, unhashed
from shaker_ctl.errors import (
    JournalAbsentError,
    JournalCorruptError,
    JournalError,
    JournalVersionError,
    JournalWriteError,
    RefusedError,
)
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import (
    SCHEMA,
    Damage,
    Head,
    Record,
    canonical,
)
from shaker_ctl.journal.recovery import Trouble
from shaker_ctl.main import exit_status
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.seal.fault import past
from shaker_ctl.service.lamp_box import on_record
from shaker_ctl.service.last_end import last_end
from shaker_ctl.service.recovery import recover

WALL = "2026-11-27T12:00:00.000+00:00"


def write(store: DiskJournal, count: int, round_of_first: int = 1) -> list[Record]:
    records = records_after(store.head(), count, round_of_first=round_of_first)
    store.write(records)
    return records


@pytest.fixture
def parameters(tmp_path: Path) -> JournalParameters:
    (tmp_path / "stick").mkdir()
    return JournalParameters(
        path=tmp_path / "journal.jsonl",
        second=tmp_path / "stick" / "journal.jsonl",
        pictures=tmp_path / "pictures",
    )


def only_main_keeps(parameters: JournalParameters) -> JournalParameters:
    """The same, where no record is kept by the second copy alone."""
    return parameters.model_copy(update={"kept_by_either": False})


def filled(parameters: JournalParameters, main: int, second: int) -> None:
    """Found both copies and write so many records to each."""
    opened = open_copies(parameters)
    records = records_after(opened.main.head(), max(main, second))
    opened.main.write(records[:main])
    opened.copies[1].write(records[:second])
    opened.close()


# ── Order and durability ────────────────────────────────────────────────────


def test_what_was_written_is_read_back_in_order(parameters: JournalParameters) -> None:
    opened = open_copies(parameters)
    records = write(opened.main, 30)
    assert list(opened.main.read()) == records
    assert list(opened.main.read(10, 12)) == records[9:12]
    assert opened.main.verify() == (Head(30, records[-1].hash), None)
    opened.close()


def test_a_batch_is_written_whole_or_not_at_all(parameters: JournalParameters) -> None:
    store = DiskJournal(parameters.path)
    write(store, 3)
    records = records_after(store.head(), 3)
    broken = [records[0], flipped(records[1]), records[2]]
    with pytest.raises(JournalError):
        store.write(broken)
    assert store.head().sequence == 3
    assert len(list(store.read())) == 3
    write(store, 2)
    assert store.verify()[1] is None
    store.close()


def test_a_record_that_does_not_follow_is_refused(parameters: JournalParameters) -> None:
    store = DiskJournal(parameters.path)
    records = records_after(store.head(), 4)
    with pytest.raises(JournalCorruptError, match="cannot follow"):
        store.write(records[2:])
    store.close()


@pytest.mark.parametrize("behind", [b"", bytes(700)], ids=["nothing", "zeros of the file system"])
def test_a_torn_end_was_never_acknowledged_wherever_it_is_torn(
    parameters: JournalParameters, behind: bytes
) -> None:
    """A power cut in mid-write, at each byte of two records: the table goes on."""
    filled(parameters, 8, 6)
    content = parameters.path.read_bytes()
    batch = b"".join(content.splitlines(keepends=True)[-2:])
    kept = content.removesuffix(batch)
    for at in range(len(batch)):
        parameters.path.write_bytes(kept + batch[:at] + behind)
        store = DiskJournal(parameters.path)
        assert store.verify() == (store.head(), None), at
        assert store.head().sequence == 6 + batch[:at].count(b"\n"), at
        store.close()


def test_the_bytes_of_a_torn_end_are_kept(parameters: JournalParameters) -> None:
    filled(parameters, 8, 7)
    content = parameters.path.read_bytes()
    parameters.path.write_bytes(content + b'{"hash":"12')
    opened = open_copies(parameters)
    assert parameters.path.read_bytes() == content + b'{"hash":"12'
    write(opened.main, 2)
    opened.close()
    (kept,) = parameters.path.parent.glob("journal.jsonl.torn-*")
    assert kept.read_bytes() == b'{"hash":"12'
    assert DiskJournal(parameters.path, read_only=True).verify()[0].sequence == 10


def test_what_is_not_synced_yet_is_not_there_for_readers(
    parameters: JournalParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that handed on what a power cut takes back would have told another history."""
    store = DiskJournal(parameters.path)
    write(store, 4)
    reader = DiskJournal(parameters.path, read_only=True)
    seen: list[tuple[int, int]] = []
    sync = os.fdatasync

    def look(number: int) -> None:
        seen.append((len(list(reader.read())), reader.newest().sequence))
        with contextlib.closing(DiskJournal(parameters.path, read_only=True)) as late:
            assert late.head().sequence == 4
        sync(number)

    monkeypatch.setattr(os, "fdatasync", look)
    write(store, 3)
    assert seen == [(4, 4)]
    assert reader.newest().sequence == 7
    store.close()
    reader.close()


# ── Media that refuse ───────────────────────────────────────────────────────


REFUSALS = [
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EROFS, "Read-only file system"),
    OSError(errno.EIO, "Input/output error"),
    MemoryError("out of memory"),
]


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("call", ["pwrite", "fdatasync"])
def test_a_medium_that_refuses_is_named_and_goes_on_when_it_is_mended(
    parameters: JournalParameters,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    refusal: BaseException,
) -> None:
    """Half of what was written stands there; it is not kept for a record."""
    store = DiskJournal(parameters.path)
    write(store, 5)
    content = parameters.path.read_bytes()

    written = os.write

    def refuse(number: int, data: bytes = b"", _at: int = 0) -> int:
        if len(data) < 1500:
            raise refusal
        return written(number, data[: len(data) // 2])

    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuse)
        with pytest.raises(JournalWriteError, match="cannot be written") as caught:
            write(store, 10)
    assert caught.value.code == "journal-write"
    assert "Free space" in caught.value.remedy
    assert store.head().sequence == 5
    assert parameters.path.read_bytes() == content
    write(store, 5)
    assert store.verify() == (store.head(), None)
    assert store.head().sequence == 10
    store.close()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalWriteError, match="does not exist"):
        DiskJournal(tmp_path / "nowhere" / "journal.jsonl")


def test_a_second_medium_that_is_read_only_at_start_halts_with_its_remedy(
    parameters: JournalParameters, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A USB stick that came up read-only: lock and main copy are well, the second is not."""
    filled(parameters, 40, 33)
    second = parameters.copies[1]

    def append(lines: Lines, data: bytes) -> None:
        if lines.path == second:
            raise JournalWriteError(f"{second} is read-only", remedy="mount it")
        pytest.fail("nothing is written to the main copy")

    monkeypatch.setattr(Lines, "append", append)
    with pytest.raises(JournalWriteError, match="stick/journal"):
        open_copies(parameters)


def test_a_file_that_is_no_journal_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"not a journal at all\n" * 500)
    with pytest.raises(JournalCorruptError, match="not a journal of this table"):
        DiskJournal(path)


# ── Two copies ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("main", "second", "said"),
    [(40, 40, []), (40, 33, [Trouble.SECOND_LATE]), (33, 40, [Trouble.MAIN_LATE])],
)
def test_a_copy_that_is_behind_is_caught_up_and_said(
    parameters: JournalParameters, main: int, second: int, said: list[Trouble]
) -> None:
    filled(parameters, main, second)
    opened = open_copies(parameters)
    assert [notice.trouble for notice in opened.notices] == said
    assert list(opened.main.read()) == list(opened.copies[1].read())
    assert opened.main.head().sequence == 40
    opened.close()


@pytest.mark.parametrize("is_main", [True, False])
def test_a_missing_copy_halts_and_is_rebuilt_by_command(
    parameters: JournalParameters, is_main: bool
) -> None:
    filled(parameters, 40, 40)
    gone = parameters.path if is_main else parameters.second
    assert gone is not None
    gone.unlink()
    with pytest.raises(JournalAbsentError, match="missing") as caught:
        open_copies(parameters)
    assert is_main or caught.value.code == "journal-second-missing"
    head = rebuild(parameters, main=is_main)
    opened = open_copies(parameters)
    assert opened.notices == ()
    assert opened.main.head() == opened.copies[1].head() == head
    opened.close()


@pytest.mark.parametrize(
    ("main", "second", "code"),
    [(33, 40, "journal-cut"), (40, 400, "journal-cut"), (400, 40, "journal-second-behind")],
)
def test_copies_that_differ_by_more_halt_the_table(
    parameters: JournalParameters, main: int, second: int, code: str
) -> None:
    if main == 33:
        parameters = only_main_keeps(parameters)
    filled(parameters, main, second)
    with pytest.raises(JournalCorruptError) as caught:
        open_copies(parameters)
    assert caught.value.code == code
    assert "rebuild" in caught.value.remedy
    with pytest.raises(JournalCorruptError):
        open_copies(parameters)  # A restart does not clear it.


def test_a_medium_that_is_late_is_waited_for(parameters: JournalParameters, tmp_path) -> None:
    """A stick is mounted some seconds after the table's program runs: it is not damaged."""
    filled(parameters, 40, 40)
    second = parameters.second
    assert second is not None
    away = second.rename(tmp_path / "not mounted yet")
    waited_s = 0.0

    def sleep(seconds: float) -> None:
        nonlocal waited_s
        waited_s += seconds
        if waited_s >= 5.0:
            away.rename(second)

    alive: list[int] = []
    await_media(parameters, lambda: alive.append(1), sleep=sleep)
    assert waited_s == 5.0
    assert alive
    open_copies(parameters).close()


def test_a_medium_that_never_comes_is_tried_again_and_not_called_damaged(
    parameters: JournalParameters,
) -> None:
    filled(parameters, 40, 40)
    slept: list[float] = []
    for gone in (parameters.copies[1], parameters.path):
        away = gone.rename(gone.with_suffix(".away"))
        await_media(parameters, sleep=slept.append)
        with pytest.raises(JournalAbsentError, match="missing") as caught:
            open_copies(parameters)
        assert exit_status(caught.value) == 1
        assert "lost for good" in caught.value.remedy
        away.rename(gone)
    assert sum(slept) == 2 * parameters.media_wait_s


def test_two_services_never_write_one_journal(parameters: JournalParameters) -> None:
    opened = open_copies(parameters)
    with pytest.raises(RefusedError, match="another process"):
        open_copies(parameters)
    with pytest.raises(RefusedError, match="another process"):
        rebuild(parameters, main=False)
    opened.close()
    open_copies(parameters).close()


def test_a_survey_changes_no_byte(crashed: bytes_cut.Crashed) -> None:
    parameters = crashed.parameters
    files = [crashed.file(which) for which in bytes_cut.FILES]
    before = [file.read_bytes() for file in files]
    heads, findings = survey(parameters)
    assert findings == []
    assert [head.sequence for _, head in heads] == [60, 60]
    assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize(("main", "found"), [(5, []), (4, [Trouble.MAIN_LATE])])
def test_a_survey_beside_a_table_that_plays_knows_a_longer_copy_from_a_cut_one(
    parameters: JournalParameters,
    monkeypatch: pytest.MonkeyPatch,
    main: int,
    found: list[Trouble],
) -> None:
    """Five records come to the second copy while it waits for its turn, and `main` to the main."""
    filled(parameters, 30, 30)
    verify = DiskJournal.verify

    def walked(copy: DiskJournal, alive: object = None) -> tuple[Head, Damage | None]:
        done = verify(copy)
        if copy.path == parameters.path:
            for path, count in ((parameters.path, main), (parameters.second, 5)):
                assert path is not None
                with contextlib.closing(DiskJournal(path)) as writer:
                    writer.write(records_after(writer.head(), 5)[:count])
        return done

    monkeypatch.setattr(DiskJournal, "verify", walked)
    _, findings = survey(parameters)
    assert [each.trouble for each in findings] == found


def test_copies_that_tell_different_stories_halt(parameters: JournalParameters) -> None:
    filled(parameters, 10, 10)
    for path, n in ((parameters.path, 3), (parameters.copies[1], 4)):
        store = DiskJournal(path)
        write(store, 2, round_of_first=n)
        store.close()
    with pytest.raises(JournalCorruptError) as caught:
        open_copies(parameters)
    assert caught.value.code == "journal-forked"


def test_without_a_second_copy_it_says_what_cannot_be_seen(tmp_path: Path) -> None:
    opened = open_copies(JournalParameters(path=tmp_path / "j.jsonl"))
    assert [n.trouble for n in opened.notices] == [Trouble.TAIL_UNPROVED]
    assert not opened.notices[0].halts
    opened.close()


# ── Damage: cut and flipped ─────────────────────────────────────────────────


@pytest.fixture
def fast_path() -> Iterator[Path]:
    with bytes_cut.fast_folder() as folder:
        yield folder


@pytest.fixture
def crashed(fast_path: Path) -> bytes_cut.Crashed:
    return bytes_cut.made(fast_path)


def test_a_killed_services_journal_opens_whole(crashed: bytes_cut.Crashed) -> None:
    assert bytes_cut.verdict(crashed.parameters, crashed.records) == "sound"


@pytest.mark.parametrize("either", [False, True])
@pytest.mark.parametrize("which", bytes_cut.FILES)
def test_a_cut_is_never_taken_for_a_shorter_journal(
    crashed: bytes_cut.Crashed, fast_path: Path, which: str, *, either: bool
) -> None:
    """Each boundary of a page, and every 61st byte of the last records between. Where either copy
    keeps, a start puts back from the second what is cut off the main one.

    Every byte: `python -m hil_tests.reliability.bytes_cut`.
    """
    if not either:
        parameters = only_main_keeps(crashed.parameters)
        crashed = bytes_cut.Crashed(parameters, crashed.records)
    places = bytes_cut.last_bytes(crashed, which, every=61)
    seen = Counter(bytes_cut.cut(crashed, which, at, fast_path / "trial") for at in places)
    assert "silent" not in seen, seen
    if either and which == "main":
        assert seen["sound"] > 50, seen
    else:
        assert seen.total() - seen["sound"] > 50, seen


@pytest.mark.parametrize("which", bytes_cut.FILES)
def test_a_flipped_byte_is_named_or_changes_nothing(
    crashed: bytes_cut.Crashed, fast_path: Path, which: str
) -> None:
    seen = Counter(
        bytes_cut.flip(crashed, which, at, bit, fast_path / "trial")
        for at, bit in bytes_cut.flips(crashed, which, 200, seed=7)
    )
    assert "silent" not in seen, seen
    assert seen.total() - seen["sound"] > 10, seen


def test_damaged_files_are_kept_as_found(crashed: bytes_cut.Crashed) -> None:
    parameters = crashed.parameters
    file = crashed.file("main")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(JournalCorruptError, match="as found"):
        open_copies(parameters)
    with pytest.raises(JournalCorruptError, match="as found"):
        open_copies(parameters)  # A restart finds the same, and keeps it once.
    (folder,) = parameters.path.parent.glob("*.evidence-*")
    assert (folder / file.name).read_bytes() == bytes(content)
    assert "journal" in (folder / "why.txt").read_text()


def test_the_first_wrong_byte_is_named_where_the_second_copy_knows_it(
    crashed: bytes_cut.Crashed,
) -> None:
    """A changed digit leaves valid JSON: only the other copy knows which byte is wrong."""
    parameters = crashed.parameters
    changed(crashed.file("main"), 28, flipped)
    at = crashed.records[27].body.index(b'"wall":"20') + 9
    _, findings = survey(parameters)
    assert f"record 28, byte {at}:" in findings[0].text


def test_a_changed_hash_is_told_from_a_changed_record(crashed: bytes_cut.Crashed) -> None:
    parameters = crashed.parameters
    changed(crashed.file("main"), 29, unhashed)
    _, findings = survey(parameters)
    assert "record 29: its hash is not the one" in findings[0].text


# ── Planted links ───────────────────────────────────────────────────────────


def test_a_planted_lock_is_not_followed(parameters: JournalParameters, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    parameters.path.with_name(parameters.path.name + ".lock").symlink_to(target)
    with pytest.raises(JournalWriteError, match="cannot be locked"):
        open_copies(parameters)
    assert not target.exists()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("away", path)])
def test_what_is_no_file_in_the_place_of_the_lock_is_to_be_moved_away(
    parameters: JournalParameters, make: Callable[[Path], None]
) -> None:
    make(parameters.path.with_name(parameters.path.name + ".lock"))
    with pytest.raises(JournalWriteError, match="cannot be locked") as caught:
        open_copies(parameters)
    assert caught.value.remedy == kept_aside.MOVE_AWAY


def test_evidence_goes_into_a_folder_of_its_own(crashed: bytes_cut.Crashed) -> None:
    file = crashed.file("closed")
    kept = kept_aside.preserve(file, "one finding")
    elsewhere = kept.with_name("elsewhere")
    kept.rename(elsewhere)
    kept.symlink_to(elsewhere)
    (elsewhere / "why.txt").unlink()
    with contextlib.suppress(FileExistsError):
        kept_aside.preserve(file, "another finding")
    assert not (elsewhere / "why.txt").exists()


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "step"},
        {"kind": "step", "sequence": 9999, "wall": WALL},
        {"kind": "seal_broken", "findings": 5},
        {"kind": 7, "wall": WALL},
        {"kind": "step", "wall": "yesterday"},
        {"kind": "step", "wall": WALL, "event": 5},
        {"kind": "step", "wall": WALL, "event": {}, "decision": [5]},
        [1, 2],
    ],
)
def test_a_record_that_no_table_writes_is_damage_though_its_hash_is_right(tmp_path, body) -> None:
    """Verification and every start say so alike: 65 with evidence, and never a traceback."""
    path = tmp_path / "journal.jsonl"
    store = DiskJournal(path)
    head = store.head()
    if isinstance(body, dict):
        body = {"sequence": head.sequence + 1, "digests": {}, "pictures": {}, "round": None} | body
    forged = canonical(body)
    store.close()
    appended(path, head, forged)
    store = DiskJournal(path)
    _, damage = store.verify()
    assert damage is not None
    assert damage.sequence == head.sequence + 1
    for read in (recover_from, lambda told: last_end(told, "boot"), past, known, on_record):
        with pytest.raises(JournalCorruptError, match=f"record {head.sequence + 1}"):
            read(store.newest_first())
    store.close()


def recover_from(records):
    return recover(records, rulebook(TableParameters()))


def forge(parameters: JournalParameters, body: bytes) -> int:
    """Append to both copies a record whose hash is right; return its number."""
    for path in parameters.copies:
        with contextlib.closing(DiskJournal(path)) as store:
            head = store.head()
        appended(path, head, body)
    return head.sequence + 1


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"null", b"5", b'{"kind":', b"\xff"),
        b"[1,2]",
        b'{"kind":"step","sequence":9999}',
        b'{"kind":"step","sequence":81}',
        b'{"findings":5,"kind":"seal_broken","sequence":81}',
    ],
)
def test_a_record_out_of_its_frame_ends_a_start_with_evidence_and_a_person_gets_past_it(
    parameters: JournalParameters, body: bytes
) -> None:
    filled(parameters, 80, 80)
    number = forge(parameters, body)
    with pytest.raises(JournalCorruptError, match=f"record {number}.*[(]as found: ") as caught:
        open_copies(parameters)
    assert exit_status(caught.value) == 65
    assert f"record {number}" in survey(parameters)[1][0].text
    rebuild(parameters, main=True, sound_part=True)
    assert rebuild(parameters, main=False).sequence == number - 1
    open_copies(parameters).close()


def test_a_record_of_a_newer_program_is_no_damage(parameters: JournalParameters) -> None:
    filled(parameters, 80, 80)
    frame = {"kind": "opening", "sequence": 81, "wall": WALL}
    forge(parameters, canonical(frame | {"schema": SCHEMA + 1}))
    for look in (open_copies, survey):
        with pytest.raises(JournalVersionError, match="record 81"):
            look(parameters)
    assert not list(parameters.path.parent.glob("*evidence*"))
