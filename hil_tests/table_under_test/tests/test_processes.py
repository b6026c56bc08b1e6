"""A program is waited for by what it says since its last start, and is ended with what it began."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from hil_tests.processes import BenchError, Program, cpu_s, resident_mb
from hil_tests.waiting import until

SLEEPS = "import time; print('READY at', {}, flush=True); time.sleep(600)"
"""Says that it is ready, and goes on."""
WORKS = "import time\nwhile time.process_time() < 0.03: pass\n" + SLEEPS
"""Takes more processor time than the kernel counts at once (0.01 s), before it is ready."""
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEPS


def part(folder: Path, text: str, **more: object) -> Program:
    made = Program("the program", [sys.executable, "-c", text], folder / "log" / "it.log")
    for name, value in more.items():
        setattr(made, name, value)
    return made


def test_it_is_waited_for_anew_at_each_start(tmp_path: Path) -> None:
    one = part(tmp_path, WORKS.format(1))
    one.start()
    assert one.wait_for("READY at ") == "1"
    assert one.is_running
    assert cpu_s(one.pid) > 0.0
    assert resident_mb(one.pid) > 1.0
    one.stop()
    assert not one.is_running
    one.command[-1] = SLEEPS.format(2)
    one.start()
    assert one.wait_for("READY at ") == "2"
    one.kill()
    assert one.log.read_text("utf-8").count("READY") == one.starts == 2


def test_one_that_ends_by_itself_is_named_with_its_last_words(tmp_path: Path) -> None:
    one = part(tmp_path, "import sys; sys.exit('no camera')")
    one.start()
    with pytest.raises(BenchError, match="the program ended with status 1: no camera") as ended:
        one.wait_for("READY")
    assert str(one.log) in ended.value.remedy
    one.stop()
    one.check()  # what was stopped has not ended by itself


def test_one_that_stands_still_is_stopped_all_the_same(tmp_path: Path) -> None:
    one = part(tmp_path, SLEEPS.format(1))
    one.start()
    one.wait_for("READY")
    one.signal(signal.SIGSTOP)
    one.stop()
    assert not one.is_running


@pytest.mark.parametrize("ends_its_own", [True, False])
def test_a_signal_goes_to_all_that_it_started_or_to_itself(
    tmp_path: Path, ends_its_own: bool
) -> None:
    begins = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {DEAF.format(7)!r}])"
    one = part(tmp_path, f"{begins}; {SLEEPS.format(1)}", ends_its_own=ends_its_own)
    one.start()
    one.wait_for("READY at 1")
    one.wait_for("READY at 7")
    group = one.pid
    one.kill()
    members = Path("/proc").glob("[0-9]*")
    left = [int(each.name) for each in members if _group(each) == group]
    if ends_its_own:
        (other,) = left
        os.kill(other, signal.SIGKILL)
    else:
        until(lambda: not any(_group(Path(f"/proc/{each}")) == group for each in left))


def _group(process: Path) -> int:
    """The process group, 0 where the process has gone."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] == "Z" else int(fields[2])
