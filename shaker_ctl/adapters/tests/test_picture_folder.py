"""Pictures are kept whole, found again after a restart, and dropped only by the quota."""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import closing
from pathlib import Path

import pytest

from shaker_ctl.adapters.disk.dispute_list import (
    ACT,
    NAME,
    NOTHING,
    Dispute,
    DisputeList,
    known,
)
from shaker_ctl.adapters.disk.picture_folder import PictureFolder
from shaker_ctl.adapters.disk.volume_file import VolumeFile
from shaker_ctl.adapters.tests.written import changed, flipped
from shaker_ctl.errors import DisputesError, JournalWriteError
from shaker_ctl.journal.record import Entry, Record, genesis, link
from shaker_ctl.ports import Pictures

PICTURES = Pictures(frame=b"f" * 60_000, overlay=b"o" * 60_000)


def test_both_pictures_are_kept_with_their_digests(tmp_path: Path) -> None:
    folder = PictureFolder(tmp_path / "pictures", quota_mb=10)
    folder.save(12, 345, PICTURES)
    saved = folder.named(12, 345, PICTURES)
    folder.settle()
    path = tmp_path / "pictures" / saved["frame"]["file"]
    assert path.name == "00000012-0000000345-frame.jpg"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == saved["frame"]["sha256"]
    assert (tmp_path / "pictures" / saved["overlay"]["file"]).read_bytes() == PICTURES.overlay


def names(folder: Path) -> list[int]:
    return sorted({int(path.name[:8]) for path in folder.glob("*.jpg")})


def test_the_quota_drops_the_oldest_but_never_the_last_ten_rounds_or_disputes(
    tmp_path: Path,
) -> None:
    folder = PictureFolder(tmp_path, quota_mb=0.5, disputed=lambda: {3})
    for number in range(1, 31):
        folder.save(number, number, PICTURES)
        folder.settle()
    assert names(tmp_path) == [3, *range(21, 31)]


def test_what_lies_there_after_a_restart_counts_for_the_quota(tmp_path: Path) -> None:
    before = PictureFolder(tmp_path, quota_mb=100)
    for number in range(1, 21):
        before.save(number, number, PICTURES)
    (tmp_path / "note.txt").write_text("not a picture of ours")
    after = PictureFolder(tmp_path, quota_mb=1.21)
    after.save(21, 21, PICTURES)
    after.settle()
    assert names(tmp_path) == list(range(12, 22))
    assert (tmp_path / "note.txt").exists()


def test_a_medium_that_refuses_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(JournalWriteError, match="cannot be kept"):
        PictureFolder(tmp_path / "file" / "pictures", quota_mb=1)
    folder = PictureFolder(tmp_path / "pictures", quota_mb=1)
    (tmp_path / "pictures").rmdir()
    with pytest.raises(JournalWriteError, match="cannot be kept"):
        folder.save(1, 1, PICTURES)


def test_a_dispute_that_a_person_opened_holds_its_pictures_over_restarts_until_it_is_settled(
    tmp_path: Path,
) -> None:
    def act(number: int, *, is_open: bool) -> Dispute:
        return Dispute(number, is_open, "fay", "player 3 saw a five", "2026-11-21T00:00:00+00:00")

    disputes = DisputeList(tmp_path)
    disputes.add(act(2, is_open=True))
    disputes.add(act(4, is_open=True))
    disputes.add(act(4, is_open=False))
    for number in range(1, 31):
        folder = PictureFolder(tmp_path, quota_mb=0.5)  # as after a restart in every round
        folder.save(number, number, PICTURES)
        folder.settle()
    assert names(tmp_path) == [2, *range(21, 31)]
    disputes.add(act(2, is_open=False))
    folder.settle()
    assert names(tmp_path) == list(range(21, 31))


def test_a_damaged_list_of_disputes_is_named_and_nothing_is_dropped(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('{"round": 2, "is_o\n')
    folder = PictureFolder(tmp_path, quota_mb=0.5)
    for number in range(1, 31):
        folder.save(number, number, PICTURES)
    with pytest.raises(DisputesError, match=r"disputes\.jsonl"):
        folder.settle()
    assert names(tmp_path) == list(range(1, 31))


@pytest.mark.parametrize(
    ("key", "value"), [("round", "2"), ("round", [2]), ("is_open", 1), ("by", None), ("more", 1)]
)
def test_an_act_of_other_kinds_of_values_is_damage(tmp_path: Path, key: str, value: object) -> None:
    """A round that is text is no round, and its pictures would be dropped."""
    DisputeList(tmp_path).add(an_act(2))
    with closing(VolumeFile(tmp_path / NAME)) as file:
        act = next(file.read()).plain[ACT]
        told = Entry(ACT, {ACT: act | {key: value}})
        file.append([link(file.head(), told, monotonic_s=0.0, wall="2026-11-23", digests={})])
    with pytest.raises(DisputesError, match="is no act of a dispute"):
        DisputeList(tmp_path).open_rounds()


def an_act(number: int, *, is_open: bool = True) -> Dispute:
    return Dispute(number, is_open, "fay", "player 3 saw a five", "2026-11-21T00:00:00+00:00")


def a_record(kind: str, **body: object) -> Record:
    return link(genesis("x"), Entry(kind, body), monotonic_s=0.0, wall="2026-11-23", digests={})


def test_a_list_that_the_journal_knows_is_read_as_it_was_or_is_damaged(tmp_path: Path) -> None:
    """A flipped bit in each byte, every cut, and no list at all."""
    first = DisputeList(tmp_path)
    for number in (12, 40):
        first.add(an_act(number))
    acts, listed = first.acts(), first.listed()
    whole = (tmp_path / NAME).read_bytes()
    disputes = DisputeList(tmp_path, listed)
    flips = [whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1 :] for i in range(len(whole))]
    for content in (*flips, *(whole[:end] for end in range(len(whole)))):
        (tmp_path / NAME).write_bytes(content)
        with pytest.raises(DisputesError, match="list of disputes"):
            disputes.acts()
    (tmp_path / NAME).unlink()
    with pytest.raises(DisputesError, match="with 2 acts; open disputes: 12, 40"):
        disputes.acts()
    (tmp_path / NAME).write_bytes(whole)
    assert disputes.acts() == acts
    changed(tmp_path / NAME, 2, flipped)
    with pytest.raises(DisputesError, match="record 2"):  # nor what the journal does not know yet
        DisputeList(tmp_path).acts()


def test_a_list_from_before_is_taken_as_it_stands_and_what_is_added_is_told_once(
    tmp_path: Path,
) -> None:
    assert known([a_record("closing"), a_record("opening")]) == NOTHING
    DisputeList(tmp_path).add(an_act(12))
    disputes = DisputeList(tmp_path, NOTHING)
    adopted = disputes.grown()
    assert adopted is not None
    assert adopted.open == (12,)
    assert disputes.grown() is None
    DisputeList(tmp_path).add(an_act(12, is_open=False))
    grown = disputes.grown()
    assert grown is not None
    assert (grown.acts, grown.open) == (2, ())
    entry = grown.entry()
    assert known([a_record("closing"), a_record(entry.kind, **entry.body)]) == grown
    assert known([a_record("opening"), a_record(entry.kind, **entry.body)]) == NOTHING
    (tmp_path / NAME).unlink()
    with pytest.raises(DisputesError):
        disputes.grown()
    assert disputes.grown() is None  # told once


@pytest.mark.parametrize("cut", ['{"round": 2, "is_o', '{"round": 2, "reason": "\xe9'])
def test_an_act_that_a_power_cut_has_cut_was_none_and_the_next_one_counts(
    tmp_path: Path, cut: str
) -> None:
    disputes = DisputeList(tmp_path)
    disputes.add(Dispute(1, True, "fay", "the player says 6", "2026-11-02T10:00:00+00:00"))
    with (tmp_path / NAME).open("ab") as file:
        file.write(cut.encode()[:-1])
    assert disputes.open_rounds() == {1}
    disputes.add(Dispute(3, True, "fay", "another", "2026-11-02T11:00:00+00:00"))
    assert disputes.open_rounds() == {1, 3}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_a_full_or_read_only_disk_is_named_and_the_next_picture_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    folder = PictureFolder(tmp_path, quota_mb=10)

    def refuse(_path: Path, _content: bytes) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", refuse)
        with pytest.raises(JournalWriteError, match=os.strerror(number)) as caught:
            folder.save(1, 1, PICTURES)
    assert "Free space" in caught.value.remedy
    folder.save(2, 2, PICTURES)
    folder.settle()
    assert names(tmp_path) == [2]
