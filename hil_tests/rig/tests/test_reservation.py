"""One user at a time: the next is told who and since when, and death frees the bench."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from hil_tests.rig.reservation import Reservation, ReservedError

HOLDER = """
import sys, time
from pathlib import Path
from hil_tests.rig.reservation import Reservation
with Reservation(Path(sys.argv[1]), "a firmware trial"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_user_is_told_who_has_it_and_since_when(tmp_path: Path) -> None:
    lock = tmp_path / "bench.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ReservedError) as caught, Reservation(lock, "mine"):
        pass
    said = str(caught.value)
    assert f"process {holder.pid}" in said
    assert "since 20" in said
    assert "a firmware trial" in said
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with Reservation(lock, "mine"):
        pass


def test_no_folder_is_made_for_a_lock_that_was_mistyped(tmp_path: Path) -> None:
    with (
        pytest.raises(ReservedError, match=f"no folder {tmp_path / 'deep'} for the lock"),
        Reservation(tmp_path / "deep" / "bench.lock", "mine"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_is_not_kept_leaves_no_file_and_never_two_holders(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    folder = partial(Reservation, lock, what="the folder", remedy="End it", is_kept=False)
    with folder("first"):
        with (
            pytest.raises(ReservedError, match=r"^the folder is reserved by .* first\. End it;"),
            folder("second"),
        ):
            pass
        assert lock.exists(), "whoever was refused takes nothing away"
    assert not lock.exists()


def test_a_lock_whose_file_was_taken_away_meanwhile_is_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening and locking its last holder may end, and take the file with it."""
    lock = tmp_path / "lock"
    lock_it = fcntl.flock
    locked: list[int] = []

    def late(fd: int, operation: int) -> None:
        if not locked:
            lock.unlink()
        locked.append(fd)
        lock_it(fd, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with Reservation(lock, "mine", is_kept=False):
        assert len(locked) == 2
        assert lock.exists()
