"""Which pictures may go, and what two copies and a lamp box say together."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.journal.pictures import LAST_ROUNDS, PictureFile, to_drop
from shaker_ctl.journal.record import Head
from shaker_ctl.journal.recovery import IN_FLIGHT, CopyState, Trouble, compare

MB = 1_000_000


def kept(rounds: range, each: int = MB) -> list[PictureFile]:
    return [
        PictureFile(f"{n:08d}-{role}", n, each) for n in rounds for role in ("frame", "overlay")
    ]


def test_below_the_quota_nothing_goes() -> None:
    assert to_drop(kept(range(1, 11)), quota_bytes=20 * MB) == []


def test_the_oldest_go_first_and_only_as_many_as_needed() -> None:
    dropped = to_drop(kept(range(1, 31)), quota_bytes=55 * MB)
    assert [p.round for p in dropped] == [1, 1, 2, 2, 3]


@given(st.sets(st.integers(1, 60)), st.integers(0, 200))
def test_last_rounds_and_open_disputes_always_stay(disputed: set[int], quota_mb: int) -> None:
    files = kept(range(1, 61))
    dropped = to_drop(files, quota_bytes=quota_mb * MB, disputed=disputed)
    assert not {p.round for p in dropped} & disputed
    assert all(p.round <= 60 - LAST_ROUNDS for p in dropped)
    left = sum(p.size_bytes for p in files) - sum(p.size_bytes for p in dropped)
    protected = [p for p in files if p.round > 60 - LAST_ROUNDS or p.round in disputed]
    assert left <= max(quota_mb * MB, sum(p.size_bytes for p in protected))


def copy(length: int) -> CopyState:
    """A sound copy of so many records."""

    def hash_at(sequence: int) -> bytes | None:
        return str(sequence).encode() if sequence <= length else None

    return CopyState("here", Head(length, str(length).encode()), None, hash_at)


@pytest.mark.parametrize(
    ("missing", "trouble"),
    [(0, None), (4, Trouble.MAIN_LATE), (IN_FLIGHT, Trouble.MAIN_LATE),
     (IN_FLIGHT + 1, Trouble.MAIN_CUT)],
)  # fmt: skip
def test_a_main_copy_may_lack_what_the_second_kept(missing: int, trouble: Trouble | None) -> None:
    found = compare(copy(9), copy(9 + missing), second_at=Path("stick"), kept_by_either=True)
    assert [finding.trouble for finding in found] == ([trouble] if trouble else [])
    assert any(finding.halts for finding in found) is (trouble is Trouble.MAIN_CUT)
