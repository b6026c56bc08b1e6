"""The rig as a process: it serves what it prints, and leaves nothing behind."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import serial
from rich.console import Console
from typer.testing import CliRunner

from hil_tests.rig import control as control_socket
from hil_tests.rig import lifetime, main
from hil_tests.rig.camera.stream import Camera, CameraLostError, CameraPortError
from hil_tests.rig.control import TOKEN, Control, RigRefusedError, told
from hil_tests.rig.faults import EVENTS, CameraPart
from hil_tests.rig.main import app
from hil_tests.rig.reservation import Reservation
from hil_tests.rig.rig import Rig, RigPlan, _dice, known_parts
from hil_tests.waiting import until

START_S = 60.0
PROGRAM = [sys.executable, "-c", "from hil_tests.rig.main import app; app()"]
LOGS = {"truth.jsonl", "lamps.jsonl", "events.jsonl", "signals.jsonl", "lamp-memory.json", "lock"}
"""What a rig leaves: what happened, what its lamp box retains without power, and a free lock."""
ENABLE, PWM, TACH = 23, 18, 24


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PROGRAM, "run", "--dir", str(folder), "--seed", "5", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def addresses(folder: Path, process: subprocess.Popen[str]) -> dict[str, Any]:
    path = folder / "rig.json"

    def is_there() -> bool:
        if process.poll() is not None:
            pytest.fail(f"the rig ended: {process.communicate()[0]}")
        return path.exists()

    until(is_there, START_S)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def family(pid: int) -> list[int]:
    """Return the process ids of `pid` and of all that descend from it."""
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def reads(pi: Any, pin: int, level: int) -> bool:
    return bool(pi.read(pin) == level)


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


# ── One rig for the tests that only use it ──


class Running:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = start(folder, "--no-monostable")
        self.addresses = addresses(folder, self.process)

    def ask(self, command: str) -> Any:
        return told(self.addresses["control"], command)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    rig = Running(tmp_path_factory.mktemp("rig"))
    pids = family(rig.addresses["pid"])
    ports = [rig.addresses["pigpiod"]["port"], camera_port(rig.addresses)]
    assert len(pids) > 1, "the camera has a process of its own"
    assert all(is_listening(port) for port in ports)
    yield rig
    rig.process.send_signal(signal.SIGTERM)
    assert rig.process.wait(10) == 0
    assert rig.process.stdout is not None
    printed = rig.process.stdout.read()
    rig.process.stdout.close()
    assert "Traceback" not in printed, printed
    assert rig.addresses["camera"]["url"] in printed
    until(lambda: not any(is_alive(pid) for pid in pids))
    assert not any(is_listening(port) for port in ports)
    left = {path.name for path in rig.folder.iterdir()}
    assert left == LOGS


def camera_port(found: dict[str, Any]) -> int:
    return int(found["camera"]["url"].split(":")[2].split("/")[0])


@pytest.mark.rig
def test_a_toss_by_hand_turns_the_tach_and_is_written_as_truth(rig):
    pigpio = pytest.importorskip("pigpio")
    pi = pigpio.pi("127.0.0.1", rig.addresses["pigpiod"]["port"], show_errors=False)
    try:
        edges = pi.callback(TACH, pigpio.RISING_EDGE)
        rig.ask("inject light_dead after 30 edges")
        pi.hardware_PWM(PWM, 20000, 750000)
        pi.write(ENABLE, 1)
        until(lambda: edges.tally() > 60)
        assert "light_dead" in rig.ask("status")["faults"]
        assert rig.ask("status")["speed_rpm"] > 300
        pi.write(ENABLE, 0)
        truth = Path(rig.addresses["truth"])
        until(lambda: truth.read_text().count("\n") == 1)
        [line] = truth.read_text().splitlines()
        toss = json.loads(line)
        assert toss["t_start"] < toss["t_rest"] < time.monotonic()
        assert len(toss["dice"]) == 3
        until(lambda: rig.ask("status")["tosses"] == 1)
        edges.cancel()
    finally:
        pi.stop()
        rig.ask("heal all")


@pytest.mark.rig
def test_hands_move_contacts(rig):
    pigpio = pytest.importorskip("pigpio")
    pi = pigpio.pi("127.0.0.1", rig.addresses["pigpiod"]["port"], show_errors=False)
    try:
        for pin, act, undo in (
            (13, "press estop", "release estop"),
            (5, "force compartment", "close compartment"),
        ):
            assert pi.read(pin) == 0
            rig.ask(f"hands {act}")
            until(partial(reads, pi, pin, 1))
            rig.ask(f"hands {undo}")
            until(partial(reads, pi, pin, 0))
        rig.ask("hands press button")
        until(lambda: pi.read(16) == 0)
        rig.ask("hands release button")
    finally:
        pi.stop()


@pytest.mark.rig
@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("dance", "there are: status"),
        ("hands open compartment", "force compartment opens it"),
        ("hands lay card none.png", "Lay the PNG that"),
        ("hands juggle", "hands can: press estop"),
        ("hands throw dice", "nobody can throw dice now: dice and coins need the lid open"),
        ("hands replace dice plaid", "no dice style 'plaid'"),
        ("hands replace dice 1 2 7", "a value of 1 to 6 for each of 2 to 4 dice"),
        ("heal tach_lost", "no fault 'tach_lost'"),
    ],
)
def test_the_door_says_what_would_have_been_right(rig, command, text):
    with pytest.raises(RigRefusedError, match=re.escape(text)):
        rig.ask(command)


@pytest.mark.rig
def test_the_command_line_reaches_a_running_rig(rig):
    run = CliRunner().invoke
    done = run(app, ["inject", "camera_black", "--dir", str(rig.folder)])
    assert done.exit_code == 0, done.output
    assert "camera_black" in rig.ask("status")["faults"]
    assert run(app, ["heal", "all", "--dir", str(rig.folder)]).exit_code == 0


@pytest.mark.rig
def test_a_person_types_into_a_console_that_the_service_reads(rig):
    ends = rig.addresses["console"]["dealer"]
    with (
        serial.Serial(ends["service"], 115200, timeout=2) as service,
        serial.Serial(ends["person"], 115200, timeout=2) as person,
    ):
        time.sleep(0.1)
        person.write(b"status\r")
        assert service.read(7) == b"status\r"


# ── Ends ──


@pytest.mark.rig
def test_a_rig_ends_with_its_parent(tmp_path):
    """The parent is killed outright and can tell nobody."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.DEVNULL
    )
    until(lambda: (tmp_path / "rig.json").exists() or parent.poll() is not None, START_S)
    found = json.loads((tmp_path / "rig.json").read_text())
    pids = family(found["pid"])
    parent.kill()
    parent.wait()
    until(lambda: not any(is_alive(pid) for pid in pids), 10)
    assert not (tmp_path / "rig.json").exists()


PARENT = f"""
import subprocess, sys
subprocess.run([*{PROGRAM!r}, "run", "--dir", sys.argv[1]])
"""


@pytest.mark.rig
def test_a_rig_that_is_stopped_while_it_starts_leaves_nothing(tmp_path):
    process = start(tmp_path)
    until(lambda: (tmp_path / "lamp").is_symlink(), START_S)
    pids = family(process.pid)
    process.send_signal(signal.SIGTERM)
    assert process.wait(START_S) == 0
    assert process.stdout is not None
    process.stdout.close()
    until(lambda: not any(is_alive(pid) for pid in pids))
    assert {path.name for path in tmp_path.iterdir()} == LOGS


def test_no_rig_runs_on_a_real_table(tmp_path, monkeypatch):
    seal = tmp_path / "real-table"
    seal.touch()
    monkeypatch.setattr(lifetime, "REAL_TABLE", (str(seal),))
    done = CliRunner().invoke(app, ["run"])
    assert done.exit_code == 1
    assert "real table" in done.output


@pytest.mark.parametrize("mark", lifetime.REAL_TABLE)
def test_each_mark_of_a_real_table_keeps_a_rig_from_being_made(tmp_path, mark):
    lifetime.refuse_on_real_table(tmp_path)
    path = tmp_path / mark.lstrip("/")
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(lifetime.RealTableError, match="Run the rig on another computer"):
        lifetime.refuse_on_real_table(tmp_path)


def test_no_rig_is_made_on_a_real_table_by_other_programs_either(tmp_path, monkeypatch):
    seal = tmp_path / "real-table"
    seal.touch()
    monkeypatch.setattr(lifetime, "REAL_TABLE", (str(seal),))
    with pytest.raises(lifetime.RealTableError), Rig(RigPlan(tmp_path / "rig")):
        pass
    assert not (tmp_path / "rig").exists()


def test_a_card_is_laid_from_the_folder_of_the_person_who_lays_it(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(main, "_ask", lambda folder, command: asked.append(command))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["hands", "lay", "card", "card.png"])
    assert done.exit_code == 0, done.output
    assert asked == [f"hands lay card {tmp_path / 'card.png'}"]


def test_a_folder_is_named_as_it_is_called(tmp_path):
    done = CliRunner().invoke(app, ["status", "--dir", str(tmp_path / "[" / "x] :smile:")])
    assert done.exit_code == 1
    assert f"no rig answers in {tmp_path}/[/x] :smile:" in done.output
    assert "Start one: shaker-rig run" in done.output


def test_the_door_closes_with_clients_inside(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    control = Control(tmp_path / "control", {"echo": lambda rest: rest})
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(control.address)
        client.sendall(b"echo hello\n")
        assert json.loads(client.makefile().readline()) == {"ok": True, "echo": "hello"}
        control.close()
        control.close()
        assert client.recv(10) == b""
    until(lambda: len(os.listdir("/proc/self/fd")) == before)
    assert not Path(control.address).exists()


def test_a_door_on_a_network_answers_whoever_knows_the_token(tmp_path, monkeypatch):
    control = Control(
        ("127.0.0.1", 0), {"status": lambda _: {"tosses": 3}}, token="secret of the bench"
    )
    address = control.address
    try:
        asked = ["status", "--dir", address]
        for token in ("", "secret of the benc", "secret of the bench, and more"):
            monkeypatch.setenv(TOKEN, token)
            refused = CliRunner().invoke(app, asked)
            assert refused.exit_code == 1
            assert "wrong token" in refused.output
        monkeypatch.setenv(TOKEN, "secret of the bench")
        assert json.loads(CliRunner().invoke(app, asked).output) == {"tosses": 3}
        assert told(address, "status") == {"tosses": 3}
    finally:
        control.close()


def test_a_stranger_that_says_nothing_is_let_go(monkeypatch):
    monkeypatch.setattr(control_socket, "CLIENT_PATIENCE_S", 0.05)
    control = Control(("127.0.0.1", 0), {}, token="secret of the bench")
    try:
        host, _, port = control.address.rpartition(":")
        with socket.create_connection((host, int(port)), 5.0) as client:
            assert client.recv(10) == b""
    finally:
        control.close()


def test_a_command_that_fails_is_answered_and_logged_and_the_door_stays_open(tmp_path, caplog):
    control = Control(tmp_path / "control", {"sum": lambda rest: int(float(rest))})
    try:
        with pytest.raises(RigRefusedError, match=r"^OverflowError: cannot convert"):
            told(control.address, "sum inf")
        assert "the command b'sum inf" in caplog.text
        assert told(control.address, "sum 3") == 3
    finally:
        control.close()


# ── What a second rig, a wrong option or a lost camera is told ──


def test_a_second_rig_in_a_folder_is_told_of_the_first_and_touches_nothing(tmp_path):
    theirs = {name: f"{name} of the first" for name in ("rig.json", "truth.jsonl", "control")}
    for name, text in theirs.items():
        (tmp_path / name).write_text(text)
    with Reservation(tmp_path / "lock", "rig virtual"):
        done = CliRunner().invoke(app, ["run", "--dir", str(tmp_path)])
    assert done.exit_code == 1
    assert f"(process {os.getpid()})" in done.output
    assert f"shaker-rig quit --dir {tmp_path}" in done.output
    assert "choose another --dir" in done.output
    assert {name: (tmp_path / name).read_text() for name in theirs} == theirs


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CameraPortError("the camera cannot listen at port 80"), "Choose another --camera-port"),
        (CameraLostError("the rig's camera process has ended"), "camera process has ended\n"),
    ],
)
def test_a_camera_that_does_not_serve_is_told_in_its_own_words(tmp_path, monkeypatch, error, said):
    def fail(rig: Rig) -> None:
        raise error

    monkeypatch.setattr(Rig, "__enter__", fail)
    done = CliRunner().invoke(app, ["run", "--dir", str(tmp_path)])
    assert done.exit_code == 1
    assert str(error) in done.output
    assert said in done.output
    assert "--dir or --port" not in done.output


def test_a_camera_that_is_lost_ends_the_rig_with_its_own_sentence(tmp_path):
    def status() -> None:
        raise CameraLostError("the rig's camera process has ended")

    camera = cast("Camera", SimpleNamespace(status=status))
    rig = Rig(RigPlan(tmp_path))
    rig._camera_status(camera)
    assert rig._failure.startswith("the rig's camera process has ended. What it said, if anything,")
    assert CameraPart(camera).active == {}, "the status is told all the same"


def test_names_of_faults_are_whole_on_a_narrow_terminal():
    parts = known_parts()
    told = io.StringIO()
    for line in main.catalogue(parts):
        Console(file=told, width=80, markup=False, emoji=False).print(line)
    text = told.getvalue()
    assert all(f" {name} " in text for part in parts for name in part.catalogue)
    assert "(0.1 to" in text
    assert "…" not in text
    assert text.count("transfers") == 1
    assert set(EVENTS) < set(text.split("Any fault can wait, `after COUNT EVENT`, for:")[1].split())


@pytest.mark.parametrize("words", ["12 3 4", "white 1", "1 2 34", "1 2 7", "1 2 3 4 5"])
def test_dice_show_one_of_six_faces_each(words):
    with pytest.raises(ValueError, match="a value of 1 to 6 for each of 2 to 4 dice"):
        _dice(words.split())
