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


WRONG = [
    ("betting_s", "bettng_s", 78, "", "table.bettng_s (did you mean table.betting_s?)"),
    (
        f'approval = "{APPROVAL}"\nas_demonstration = true',
        'approval = ""\nas_demonstration = false',
        78,
        "",
        "`auto` under pa-625a needs an approval (625a.1(b), 625a.5(d))",
    ),
    ("port = {port}", "port = 1", 1, "gpio-link", "systemctl start shaker-pigpiod"),
    ("{camera}", "http://127.0.0.1:1/camera.mjpg", 1, "camera", "127.0.0.1:1"),
    ('device = "{lamp}"', 'device = "{stranger}"', 1, "lamp", ""),
    ("baudrate = 115200", "baudrate = 19200", 1, "lamp", ""),
    (
        'path = "{folder}/journal',
        'media_wait_s = 1.0\npath = "{folder}/nowhere/journal',
        1,
        "",
        "nowhere",
    ),
]
NAMES = ["misspelt key", "no approval", "no daemon", "no camera", "no lamp box", "baud", "folder"]


@pytest.mark.parametrize(("old", "new", "status", "begins", "told"), WRONG, ids=NAMES)
def test_one_thing_wrong_in_the_settings_is_named_in_the_last_line(
    session: Session, old: str, new: str, status: int, begins: str, told: str
) -> None:
    rig = session.rig
    known = {
        "port": rig["pigpiod"]["port"],
        "camera": rig["camera"]["url"],
        "lamp": rig["lamp"]["device"],
        "stranger": rig["console"]["technician"]["person"],
        "folder": session.folder,
    }
    done = start_with(session, old.format(**known), new.format(**known))
    assert done.returncode == status
    assert last_line(done).startswith(begins)
    assert told in last_line(done)
    assert "Traceback" not in done.stderr
    assert_motor_is_off(session)


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
    lamp.anchor(Anchor(b"\x5b" * 8, 9, Head(180, b"\x01" * 32)))
    lamp.close()
    done = start_with(session, "betting_s", "betting_s")
    assert done.returncode == 65
    assert last_line(done).startswith("journal-founded-anew")
    assert "lamp adopt" in last_line(done)
    assert "Traceback" not in done.stderr
    assert_motor_is_off(session)
