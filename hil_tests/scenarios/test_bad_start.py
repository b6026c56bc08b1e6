"""A start that cannot succeed ends with one line, a remedy, a status, and the motor off."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pigpio
import pytest

from hil_tests.table_under_test.session import APPROVAL, Plan, Session
from shaker_ctl import sealed_start, settings
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.lines.modbus_lamp import ModbusLamp
from shaker_ctl.journal.record import Anchor, Entry, Head
from shaker_ctl.rules.rulebook import rulebook

EN, PWM = 23, 18

pytestmark = pytest.mark.rig


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A rig with settings that fit it, and no service."""
    session = Session(Plan(pace="brisk"), tmp_path_factory.mktemp("bad-start"))
    session.start_rig()
    session.write_settings()
    yield session
    session.close()


RUN = (sys.executable, "-c", "from shaker_ctl.main import app; app()", "run")


def start_with(
    session: Session, old: str, new: str, file: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the service with one thing wrong in its settings; it must end by itself."""
    text = (file or session.folder / "settings.toml").read_text("utf-8")
    assert old in text
    broken = session.folder / "broken.toml"
    broken.write_text(text.replace(old, new), "utf-8")
    return subprocess.run(
        [*RUN, "--config", str(broken)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr.strip().splitlines()[-1]


def assert_motor_is_off(session: Session) -> None:
    pi = pigpio.pi(session.rig["pigpiod"]["host"], session.rig["pigpiod"]["port"])
    try:
        assert pi.read(EN) == 0
        assert pi.read(PWM) == 0
    finally:
        pi.stop()


def test_a_misspelt_key_is_named_with_its_nearest(session: Session) -> None:
    done = start_with(session, "betting_s", "bettng_s")
    assert done.returncode == 78
    assert "table.bettng_s" in last_line(done)
    assert "did you mean table.betting_s" in last_line(done)
    assert "Traceback" not in done.stderr


def test_auto_entry_without_approval_is_refused_with_its_clause(session: Session) -> None:
    approved = f'approval = "{APPROVAL}"\nas_demonstration = true'
    done = start_with(session, approved, 'approval = ""\nas_demonstration = false')
    assert done.returncode == 78
    assert "`auto` under pa-625a needs an approval (625a.1(b), 625a.5(d))" in last_line(done)
    assert "Traceback" not in done.stderr


def test_no_daemon(session: Session) -> None:
    port = session.rig["pigpiod"]["port"]
    done = start_with(session, f"port = {port}", "port = 1")
    assert done.returncode == 1
    assert last_line(done).startswith("gpio-link")
    assert "systemctl start shaker-pigpiod" in last_line(done)
    assert "Traceback" not in done.stderr


def test_no_camera(session: Session) -> None:
    done = start_with(session, session.rig["camera"]["url"], "http://127.0.0.1:1/camera.mjpg")
    assert done.returncode == 1
    assert last_line(done).startswith("camera")
    assert "127.0.0.1:1" in last_line(done)
    assert "Traceback" not in done.stderr
    assert_motor_is_off(session)


def test_the_wrong_box_on_the_lamp_line(session: Session) -> None:
    lamp = session.rig["lamp"]["device"]
    stranger = session.rig["console"]["technician"]["person"]
    done = start_with(session, f'device = "{lamp}"', f'device = "{stranger}"')
    assert done.returncode == 1
    assert last_line(done).startswith("lamp")
    assert "Traceback" not in done.stderr
    assert_motor_is_off(session)


def test_a_wrong_baudrate_of_the_lamp_line(session: Session) -> None:
    done = start_with(session, "baudrate = 115200", "baudrate = 19200")
    assert done.returncode == 1
    assert last_line(done).startswith("lamp")
    assert "Traceback" not in done.stderr
    assert_motor_is_off(session)


def test_a_journal_in_a_folder_that_does_not_exist(session: Session) -> None:
    there, nowhere = (f'path = "{session.folder}/{name}' for name in ("journal", "nowhere/journal"))
    done = start_with(session, there, f"media_wait_s = 1.0\n{nowhere}")
    assert done.returncode == 1
    assert "nowhere" in last_line(done)
    assert "Traceback" not in done.stderr


def with_a_stick(session: Session, name: str, wait_s: float) -> Path:
    """Settings whose second copy lies on a stick; the journal has a record, the stick is out."""
    stick = session.folder / name
    stick.mkdir()
    text = (session.folder / "settings.toml").read_text("utf-8")
    text = text.replace(str(session.folder / "journal.jsonl"), f"{stick}-main.jsonl")
    text = text.replace(str(session.folder / "journal-second.jsonl"), f"{stick}/journal.jsonl")
    file = session.folder / f"{name}.toml"
    file.write_text(text.replace("[journal]", f"[journal]\nmedia_wait_s = {wait_s}"), "utf-8")
    with contextlib.closing(open_copies(settings.load(file).journal)) as opened:
        sealed_start.write(opened, Entry("note", {"note": "the table had played before"}))
    stick.rename(session.folder / f"{name}-in-the-drawer")
    stick.mkdir()
    return file


def test_a_stick_that_never_comes_ends_the_start_to_be_tried_again(session: Session) -> None:
    done = start_with(session, "", "", with_a_stick(session, "never", 2.0))
    assert done.returncode == 1, "65 would never be tried again"
    assert last_line(done).startswith("journal-second-missing")
    assert str(session.folder / "never" / "journal.jsonl") in last_line(done)
    assert "Traceback" not in done.stderr
    assert_motor_is_off(session)


def test_a_stick_that_comes_after_five_seconds_lets_the_table_play(session: Session) -> None:
    file = with_a_stick(session, "late", 60.0)
    stick = session.folder / "late"
    with subprocess.Popen(
        [*RUN, "--config", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        time.sleep(5.0)
        assert service.poll() is None, "the start waits"
        stick.rmdir()
        (session.folder / "late-in-the-drawer").rename(stick)
        ready = service.stdout.readline()
        service.terminate()
        assert ready == "READY\n", service.stderr and service.stderr.read()


def test_a_lamp_box_that_keeps_the_head_of_another_journal(session: Session) -> None:
    found = settings.load(session.folder / "settings.toml")
    lamp = ModbusLamp(found.lamp, rulebook(found.table).layout)
    assert lamp.anchor(Anchor(b"\x5b" * 8, 9, Head(180, b"\x01" * 32)))
    lamp.close()
    done = start_with(session, "betting_s", "betting_s")
    assert done.returncode == 65
    assert last_line(done).startswith("journal-founded-anew")
    assert "lamp adopt" in last_line(done)
    assert "Traceback" not in done.stderr
    assert_motor_is_off(session)
