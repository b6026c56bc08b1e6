"""The consoles of a whole table on the rig, from outside: terminal programs, scripts, faults."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hil_tests.processes import resident_mb
from hil_tests.report.evidence import gather
from hil_tests.report.measurement import Measure
from hil_tests.report.record import TestRecord
from hil_tests.report.story import Story
from hil_tests.scenarios.console_sessions import (
    PICOCOM,
    by_hand,
    jam_at_night,
    open_for_people,
    person,
    three_rounds,
)
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl import console
from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.console.client import Console, ConsoleRefusedError
from shaker_ctl.console.tests.noise import pieces
from shaker_ctl.errors import ConsoleLineError
from shaker_ctl.service.status_socket import read_status

pytestmark = [pytest.mark.rig, pytest.mark.timeout(300)]

README = Path(console.__file__).with_name("README.md")
STATUS_S = 0.1
BYTES_PER_S = 11_520
"""What 115200 baud carry; a pseudo-terminal takes more and drops it."""


def ask_status(asked: Console, seconds: float) -> list[float]:
    """Ask for `status` for so long; return the milliseconds until each whole answer was here."""
    times_ms = []
    until_s = time.monotonic() + seconds
    while (began_s := time.monotonic()) < until_s:
        asked.status()
        times_ms.append(1e3 * (time.monotonic() - began_s))
        time.sleep(0.01)
    return times_ms


@contextlib.contextmanager
def noise(session: Session, port: str) -> Iterator[Callable[[], int]]:
    """Feed random and mutated bytes to a port at the pace of its line; yields a count of them."""
    ended, fed = threading.Event(), [0]
    line = SerialPort(session.rig["console"][port]["person"])

    def feed() -> None:
        for piece in pieces(random.Random(1)):
            if ended.is_set():
                return
            with contextlib.suppress(ConsoleLineError):
                line.write(piece)
                line.read(0.0)
                fed[0] += len(piece)
                ended.wait(len(piece) / BYTES_PER_S)

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    try:
        yield lambda: fed[0]
    finally:
        ended.set()
        thread.join(5.0)
        line.close()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(Plan(pace="brisk", seed=5), tmp_path_factory.mktemp("table")) as session:
        yield session


with_picocom = pytest.mark.skipif(
    shutil.which("picocom") is None, reason="picocom is not installed (Debian package picocom)"
)


@contextlib.contextmanager
def on_record(session: Session, record: TestRecord) -> Iterator[Session]:
    """Leave the rig's logs of what follows to the report."""
    began = time.monotonic()
    try:
        yield session
    finally:
        record.evidence = gather(session.rig, began, time.monotonic(), {}, {})


@with_picocom
def test_a_jam_at_night_is_found_mended_inspected_and_signed_through_picocom(
    table: Session, record: TestRecord
) -> None:
    with on_record(table, record):
        seen = jam_at_night(table, record.story)
    assert "-> look for a jam" in seen
    assert "ok tom, technician" in seen
    assert "ok fay, floorperson" in seen
    assert ": open" in seen
    assert not [word for word in table.passphrases.values() if word in seen]


def test_wrong_passphrases_are_slowed_locked_and_on_record(table: Session) -> None:
    asked = table.console("technician")
    codes = []
    for _ in range(3):
        with pytest.raises(ConsoleRefusedError) as refused:
            asked.login("technician", "tom", "not the passphrase")
        codes.append(refused.value.code)
    with pytest.raises(ConsoleRefusedError) as refused:
        asked.login("technician", "tom", table.passphrases["tom"])
    assert [*codes, refused.value.code] == ["wrong-passphrase"] * 3 + ["locked-out"]
    records = asked.ask("journal last 100")["records"]
    assert sum("login-refused" in str(record) for record in records) == 3
    time.sleep(2.5)
    asked.login("technician", "tom", table.passphrases["tom"])
    asked.ask("logout")
    asked.ask("mode people")
    asked.close()


def test_no_passphrase_is_in_the_journal_the_logs_the_history_or_a_bundle(table: Session) -> None:
    asked = table.console("technician")
    asked.login("technician", "tom", table.passphrases["tom"])
    bundle = asked.fetch("log bundle")
    history = str(asked.ask("history"))
    asked.ask("logout")
    asked.close()
    files = [path for path in table.folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    for word in [*table.passphrases.values(), "not the passphrase"]:
        assert word not in history
        assert word.encode() not in bundle.content
        for path in files:
            assert word.encode() not in path.read_bytes(), path


def test_status_answers_within_100_ms_whatever_is_broken(
    table: Session, measure: Measure, story: Story
) -> None:
    def answers(what: str, seconds: float) -> None:
        times_ms = ask_status(asked, seconds)
        name = f"status, 99th percentile, {what}"
        measure(name, p99(times_ms), "ms", upper=STATUS_S * 1e3)

    with contextlib.closing(table.console("dealer")) as asked:
        # The table plays by itself meanwhile: these seconds hold tosses.
        answers("while the table plays", 8)
        os.kill(read_status(table.runtime_dir)["camera_pid"], signal.SIGKILL)
        story.did("rig", "kills the camera's process")
        answers("after the camera's process was killed", 4)
        table.ask_rig("inject pigpiod_hang")
        story.did("rig", "hangs the GPIO daemon")
        try:
            answers("while the GPIO daemon hangs", 4)
        finally:
            table.ask_rig("heal pigpiod_hang")


def p99(times_ms: list[float]) -> float:
    return sorted(times_ms)[int(len(times_ms) * 0.99)]


def test_noise_at_one_port_does_nothing_to_the_table_nor_to_the_other_port(
    table: Session, measure: Measure
) -> None:
    asked = table.console("technician")
    before = asked.ask("health")["journal"]["sequence"]
    assert table.service_pid is not None
    before_mb = resident_mb(table.service_pid)
    with noise(table, "dealer") as fed:
        times_ms = ask_status(asked, 10)
        assert fed() > 20_000
    name = "status, 99th percentile, noise at the other port"
    measure(name, p99(times_ms), "ms", upper=2 * STATUS_S * 1e3)
    grown_mb = resident_mb(table.service_pid) - before_mb
    measure("memory, grown by noise", grown_mb, "MB", upper=2.0)
    began_s = time.monotonic()
    asked.fetch("camera snap")
    measure("camera snap", time.monotonic() - began_s, "s", upper=10.0)
    records = asked.ask("journal last 200")["records"]
    new = [r for r in records if r["sequence"] > before]
    # Noise may ask to log in, with a wrong passphrase; what reaches the rules has a person.
    refused = ("login-refused", "login-locked")
    acts = [r for r in new if " by " in r["text"] and not r["text"].startswith(refused)]
    assert acts == [], "something was done by somebody who never logged in"
    asked.ask("mode people")
    asked.close()


@with_picocom
def test_ctrl_c_ends_jog_test_toss_lamp_walk_and_cycle_with_the_motor_off_and_the_lamps_dark(
    tmp_path: Path, record: TestRecord
) -> None:
    given_up = "ok What was under way is given up."
    with Session(Plan(pace="brisk", seed=8), tmp_path) as session:
        with (
            on_record(session, record),
            person(session, "technician", PICOCOM, record.story) as tom,
        ):
            tom.login("technician", "tom")
            assert given_up in tom.interrupt("jog 300 5", after_s=1.5)
            assert "stopped after" in tom.type("motor")
            tom.wait_for("motor", "speed         0 rpm")
            assert given_up in tom.interrupt("test-toss", after_s=1.0)
            tom.wait_for("motor", "speed         0 rpm")
            assert given_up in tom.interrupt("lamp test", after_s=1.0)
            assert "commanded     all dark" in tom.type("lamps")
            tom.login("floorperson", "fay")
            for line in ("time confirm", "dice changed A1 A2 A3", "inspect all"):
                tom.type(line)
            assert given_up in tom.interrupt("inspect enter 6 6 6", after_s=0.2)
            tom.type("inspect shaker")
            assert given_up in tom.interrupt("inspect cycle", after_s=1.0)
            assert "the last one was given up" in tom.type("inspection")
            tom.wait_for("motor", "speed         0 rpm")
        status = session.console("technician").status()
    assert status["faults"] == []


def test_a_dealer_runs_three_rounds_through_miniterm_and_the_floorperson_decides_one(
    tmp_path: Path, record: TestRecord
) -> None:
    with Session(Plan(pace="brisk", seed=6, by_hand=True), tmp_path) as session:
        with on_record(session, record):
            three_rounds(session, record.story)
        asked = session.console("technician")
        rounds = [asked.ask(f"round {number}")["round"] for number in (1, 2, 3)]
        asked.close()
    assert [played["verdict"] for played in rounds] == ["settled"] * 3
    assert rounds[1]["source"] == "decided", "by the floorperson"


def test_the_script_of_the_readme_opens_the_bets(tmp_path: Path) -> None:
    script = README.read_text().split("```python\n")[1].split("```")[0]
    with Session(Plan(pace="brisk", seed=7, by_hand=True), tmp_path) as session:
        open_for_people(session)
        port = session.rig["console"]["dealer"]["person"]
        ended = subprocess.run(
            [sys.executable, "-c", script, port, session.passphrases["dan"]],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert "Bets are open" in ended.stdout, ended.stdout + ended.stderr


@pytest.mark.timeout(900)
def test_a_visitor_plays_by_hand_with_the_lines_that_the_demonstration_prints(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "demonstration"
    assert by_hand(folder) == 0
    rounds = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    assert sum(each["wagers"] == "settled" for each in rounds) >= 2, rounds
