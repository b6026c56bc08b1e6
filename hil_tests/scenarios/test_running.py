"""Stories that attach to a rig and a controller that run already: what they read and switch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hil_tests.processes import BenchError
from hil_tests.scenarios.running import RunningSession, session_of
from hil_tests.table_under_test.session import Plan, Session
from hil_tests.waiting import until

PEOPLE = 'fay = "one"\ndan = "two"\ntom = "three"\nsue = "four"\n'


@pytest.fixture
def rig_file(tmp_path: Path) -> Path:
    (tmp_path / "people.toml").write_text(PEOPLE)
    file = tmp_path / "rig.toml"
    file.write_text(
        f"""
[service]
rig = "{tmp_path}/running"
people = "{tmp_path}/people.toml"
off = ["sh", "-c", "echo off >>{tmp_path}/switched"]
on = ["sh", "-c", "echo on >>{tmp_path}/switched"]
"""
    )
    return file


@pytest.fixture
def session(tmp_path: Path, rig_file: Path) -> RunningSession:
    found = session_of(Plan(), tmp_path / "table", rig_file)
    assert isinstance(found, RunningSession)
    return found


def test_without_a_running_rig_in_the_file_everything_is_started_here(tmp_path: Path) -> None:
    assert type(session_of(Plan(), tmp_path, None)) is Session


def test_a_rig_that_does_not_run_is_named_with_how_to_start_it(session: RunningSession) -> None:
    with pytest.raises(BenchError, match="no rig runs in") as error:
        session.start_rig()
    assert "shaker-rig run --rig" in str(error.value.remedy)


def test_it_reads_addresses_and_passphrases_and_writes_nothing(
    session: RunningSession, tmp_path: Path
) -> None:
    (tmp_path / "running").mkdir()
    (tmp_path / "running" / "rig.json").write_text(json.dumps({"rig": "bench"}))
    session.start_rig()
    session.write_settings()
    assert session.rig == {"rig": "bench"}
    assert session.passphrases["sue"] == "four"
    assert not (tmp_path / "table").exists()


def test_power_is_cut_once_when_the_rig_blows_the_fuse(
    session: RunningSession, tmp_path: Path
) -> None:
    session.arm_power_cut(None)
    assert session.is_serving
    assert session._fuse is not None
    session._fuse.kill()
    until(lambda: not session.is_serving)
    assert not session.is_serving
    assert (tmp_path / "switched").read_text() == "off\n"


def test_power_that_the_operator_cannot_cut_is_not_taken_for_cut(
    tmp_path: Path, rig_file: Path
) -> None:
    rig_file.write_text(rig_file.read_text().replace("off =", "# off ="))
    session = session_of(Plan(), tmp_path / "table", rig_file)
    assert isinstance(session, RunningSession)
    session.arm_power_cut(lambda said: False)
    assert session._fuse is not None
    session._fuse.kill()
    session._fuse.wait()
    with pytest.raises(pytest.skip.Exception, match="the operator cannot do that"):
        assert session.is_serving


def test_a_fuse_that_was_not_needed_ends_with_the_session(session: RunningSession) -> None:
    session.arm_power_cut(None)
    fuse = session._fuse
    assert fuse is not None
    session.close()
    assert fuse.poll() is not None
