"""One user at a time: the next is told who and since when, and death frees the bench."""

from __future__ import annotations

import subprocess
import sys
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
