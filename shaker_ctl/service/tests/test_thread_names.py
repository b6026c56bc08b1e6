"""Whoever looks for the thread that hangs finds it by name."""

from __future__ import annotations

import threading
from pathlib import Path

from shaker_ctl.service import thread_names


def test_a_thread_has_its_name_in_the_kernel() -> None:
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait, name="journal-second-copy", daemon=True)
    thread.start()
    try:
        thread_names.publish()
        comm = Path(f"/proc/self/task/{thread.native_id}/comm").read_text().strip()
    finally:
        ended.set()
        thread.join()
    assert comm == "journal-second-copy"[: thread_names.MAX_LENGTH]


def test_a_system_without_such_names_is_no_fault(tmp_path: Path) -> None:
    thread_names.publish(tmp_path / "nothing")
