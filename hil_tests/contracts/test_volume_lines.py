"""The lines of a volume's file: any of them is found."""

from __future__ import annotations

import gc
import os
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.contracts.test_journal_volumes import both
from hil_tests.reliability.bytes_cut import forged
from shaker_ctl.adapters.disk import volume_lines
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_path
from shaker_ctl.adapters.disk.volume_archive import archive
from shaker_ctl.adapters.disk.volume_lines import Lines
from shaker_ctl.commands.journal import app
from shaker_ctl.errors import JournalCorruptError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, Head


@pytest.fixture
def store(tmp_path: Path) -> DiskJournal:
    """Records of all lengths; rounds of one to nine records, with stretches that are of none."""
    store = DiskJournal(tmp_path / "journal.jsonl")
    entries = []
    for number in range(1, 60):
        words = "x" * (number**3 % 30_000)
        entries += [Entry("step", {"text": words}, number)] * (1 + number % 9)
        entries += [Entry("note", {"event": {"round": 7}}, None)] * (number % 5 * 8)
    store.write(forged(store.head(), entries, lambda _: "2026-11-21T00:00:00+00:00"))
    return store


def test_each_record_and_each_round_is_found_by_halving(
    store: DiskJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume_lines, "_NEAR", 1)
    with closing(DiskJournal(store.path, read_only=True)) as book:
        records = list(book.read())
        for at, record in enumerate(records):
            assert list(book.read(record.sequence, record.sequence)) == [record]
            before = records[at - 1].hash if at else book.start.hash
            assert book.head_before(record.sequence) == Head(at, before)
        for number in range(1, 60):
            own = [each for each in records if each.plain["round"] == number]
            assert book.read_round(number) == own
        assert book.last_rounds(70) == list(range(1, 60))
        assert book.last_rounds(3) == [57, 58, 59]
        assert book.read_round(60) == book.read_round(0) == book.read_round(10**30) == []


def test_a_line_without_end_is_damage_and_takes_no_memory(
    store: DiskJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume_lines, "MAX_LINE_B", 1 << 16)
    head, content = store.head(), store.path.read_bytes()
    store.path.write_bytes(content + b"[" * (1 << 19) + b"\n")
    with pytest.raises(JournalCorruptError, match="a line of more than 65536 bytes"):
        DiskJournal(store.path)
    with closing(Lines(store.path, read_only=True)) as lines:
        for walk in (lines.lines(0), lines.backwards()):
            with pytest.raises(JournalCorruptError, match="a line of more than 65536 bytes"):
                list(walk)
    store.path.write_bytes(content + bytes(1 << 19))
    with pytest.raises(JournalCorruptError, match="stand behind its last line"):
        DiskJournal(store.path).write(forged(head, [Entry("step", {})], lambda _: "2026-11-21"))


def test_what_is_no_file_is_let_go_once(tmp_path: Path) -> None:
    with pytest.raises(JournalCorruptError, match="no ordinary file") as refused:
        Lines(tmp_path, read_only=True)
    number = os.open(tmp_path, os.O_RDONLY)  # has the number that the refused one had
    del refused
    gc.collect()
    os.fstat(number)
    os.close(number)


AUDITOR = r"""
link=$1
while IFS= read -r line; do
    record=${line#*'"record":'}; record=${record%\}}
    before=$(printf %s "$link" | sed 's/../\\x&/g')
    link=$({ printf "$before"; printf %s "$record"; } | sha256sum | cut -c1-64)
    [ "$line" = "{\"hash\":\"$link\",\"record\":$record}" ] || exit 1
done
echo "$link"
"""
"""Another program than ours, in another language."""


def audited(before: Head, lines: bytes) -> str:
    words = ["bash", "-c", AUDITOR, "auditor", before.hash.hex()]
    return subprocess.run(words, input=lines, capture_output=True, check=False).stdout.decode()


def test_volumes_copies_archives_and_exports_are_lines_that_a_shell_walks(
    parameters: JournalParameters, tmp_path: Path
) -> None:
    both(parameters, 2)
    list(archive(parameters, tmp_path / "archive"))
    words = ["export", str(tmp_path / "out"), "--journal", str(parameters.path)]
    assert CliRunner().invoke(app, words).exit_code == 0
    with closing(DiskJournal(parameters.path, read_only=True)) as book:
        start, closed, head = book.start, book.closed[0], book.head()
    for file in (parameters.path, parameters.second, tmp_path / "archive" / "journal.jsonl"):
        assert file is not None
        assert audited(start, file.read_bytes().split(b"\n", 1)[1]) == closed.hash.hex() + "\n"
    last = volume_path(parameters.path, 2).read_bytes().split(b"\n", 1)[1]
    assert audited(closed.head, last) == head.hash.hex() + "\n"
    whole = (tmp_path / "out" / "records.jsonl").read_bytes()
    assert audited(start, whole) == head.hash.hex() + "\n"
    assert audited(start, whole.replace(b'"n":7', b'"n":8', 1)) == ""
