"""The console on a real serial device file: the service's thread, the client, the laptop's side."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from hil_tests.waiting import until
from shaker_ctl.adapters.lines.serial_console import SerialConsole
from shaker_ctl.adapters.lines.serial_port import SerialPort
from shaker_ctl.console.client import Console, ConsoleRefusedError
from shaker_ctl.console.desk import Announcement
from shaker_ctl.console.parameters import ConsoleParameters, PortParameters
from shaker_ctl.console.tests.fake_desk import JPEG, FakeDesk
from shaker_ctl.console.tests.support import PASSPHRASE, crossed_ptys, served
from shaker_ctl.errors import ConsoleLineError
from shaker_ctl.rules.vocabulary import Role

pytestmark = pytest.mark.timed

LAPTOP = "from shaker_ctl.commands.console import app; app()"


class Bench:
    """A served console: the table of paper behind it, the person's device before it."""

    def __init__(self, desk: FakeDesk, device: str) -> None:
        self.desk = desk
        self.device = device


@pytest.fixture
def bench(users: Path) -> Iterator[Bench]:
    desk = FakeDesk("ready")
    with served(desk, users) as device:
        yield Bench(desk, device)


@pytest.fixture
def client(bench: Bench) -> Iterator[Console]:
    line = SerialPort(bench.device)
    console = Console(line)
    console.connect()
    yield console
    console.close()


def test_a_script_logs_in_acts_and_reads_its_refusals(bench: Bench, client: Console) -> None:
    with pytest.raises(ConsoleRefusedError, match="needs-login") as refused:
        client.ask("bets")
    assert refused.value.code == "needs-login"
    client.login("dealer", "dan", PASSPHRASE)
    assert client.ask("bets")["text"] == "bets open"
    assert client.status()["round"] == 1
    with pytest.raises(ConsoleRefusedError, match="wrong-passphrase"):
        client.login("dealer", "dan", "not this one")


def test_a_script_fetches_a_picture_whole_amid_events(bench: Bench, client: Console) -> None:
    bench.desk.announce(Announcement("round", "bets are open"))
    parcel = client.fetch("camera snap")
    assert (parcel.name, parcel.content) == ("snap.jpg", JPEG)
    client.wait(lambda _: client.events, timeout_s=5)
    assert [(e["event"], e["text"]) for e in client.events] == [("round", "bets are open")]


def test_a_reply_that_an_interrupted_script_did_not_await_answers_no_later_command(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_timeout_s: float) -> bytes:
        raise KeyboardInterrupt

    line = SerialPort(bench.device)
    client = Console(line)
    client.connect()
    with monkeypatch.context() as while_it_waits:
        while_it_waits.setattr(line, "read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            client.status()
    assert client.ask("help")["command"] == "help"
    assert client.status()["command"] == "status"
    client.close()


def test_a_script_can_wait_for_a_state(bench: Bench, client: Console) -> None:
    threading.Timer(0.3, bench.desk.go, ("bets open",)).start()
    assert client.wait(lambda status: status["phase"] == "bets open", timeout_s=5)["round"] is None
    with pytest.raises(TimeoutError, match="bets open"):
        client.wait(lambda status: False, timeout_s=0.1)


def test_connect_works_from_whatever_the_console_was_doing(bench: Bench) -> None:
    line = SerialPort(bench.device)
    for before in (
        b"half a li",
        b"login dealer dan\r",
        b"camera snap\r",
        b"mode machine\r\xff\x00",
    ):
        line.write(before)
        time.sleep(0.05)
        console = Console(line)
        assert console.connect()["text"] == "READY"
        console.ask("mode people")
    line.close()


def typed(line: SerialPort, keys: bytes, answer: bytes) -> None:
    """Type, and wait for what the console says to it, however busy the machine is."""
    line.write(keys)
    heard: list[bytes] = []

    def has_answered() -> bool:
        heard.append(line.read(0.1))
        return answer in b"".join(heard)

    until(has_answered)


def test_connect_gives_up_no_inspection_that_a_person_watched(bench: Bench) -> None:
    bench.desk.go("inspection due")
    bench.desk.steps_of_work = 10**9
    line = SerialPort(bench.device)
    typed(line, b"login floorperson anna\r", b"Passphrase: ")
    typed(line, PASSPHRASE.encode() + b"\r", b"ok anna")
    typed(line, b"inspect all\r", b"ok inspect all has begun")
    Console(line).connect()
    line.close()
    assert [command.name for command, _ in bench.desk.acts] == ["inspect all"]


def test_a_line_that_nobody_serves_is_told_with_its_remedy() -> None:
    with crossed_ptys() as (_service, person):
        console = Console(SerialPort(person), reply_s=0.3)
        with pytest.raises(ConsoleLineError, match="does not answer"):
            console.connect()
        console.close()


def test_a_device_that_is_not_there_is_told_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConsoleLineError, match="no such device"):
        SerialPort(str(tmp_path / "ttyUSB7"))


def test_a_console_comes_back_when_its_line_does(
    users: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shaker_ctl.adapters.lines.serial_console.REOPEN_S", 0.05)
    link = tmp_path / "ttyUSB0"
    desk = FakeDesk()
    port = PortParameters(device=str(link), roles=tuple(Role))
    console = SerialConsole("technician", port, desk, ConsoleParameters(users_file=users))
    console.start()
    for _ in range(2):
        link.unlink(missing_ok=True)
        with crossed_ptys() as (service, person):
            link.symlink_to(service)
            line = SerialPort(person)
            client = Console(line)
            client.connect()
            client.login("technician", "tom", PASSPHRASE)
            client.close()
        until(lambda: desk.notes[-1].kind == "console-lost")
    console.stop()
    assert [note.kind for note in desk.notes] == ["login", "console-lost"] * 2


def test_a_fault_in_one_command_ends_the_login_and_nothing_else(
    bench: Bench, client: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shaker_ctl.adapters.lines.serial_console.REOPEN_S", 0.05)
    client.login("dealer", "dan", PASSPHRASE)

    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(bench.desk, "statistics", broken)
    with pytest.raises(ConsoleLineError):
        client.ask("statistics", timeout_s=0.5)
    client.connect()
    with pytest.raises(ConsoleRefusedError, match="needs-login"):
        client.ask("bets")


def test_one_slow_console_does_not_slow_the_other(users: Path) -> None:
    """Argon2 at one console, `status` at the other: within 100 ms."""
    desk = FakeDesk("ready")
    stopping = threading.Event()
    times: list[float] = []
    with served(desk, users) as first, served(desk, users, port="dealer") as second:
        busy, quick = Console(SerialPort(first)), Console(SerialPort(second))
        busy.connect()
        quick.connect()

        def log_in_and_out() -> None:
            while not stopping.is_set():
                busy.login("dealer", "dan", PASSPHRASE)

        thread = threading.Thread(target=log_in_and_out)
        thread.start()
        for _ in range(60):
            began = time.monotonic()
            quick.status()
            times.append(time.monotonic() - began)
        stopping.set()
        thread.join()
        busy.close()
        quick.close()
    assert sorted(times)[len(times) * 9 // 10] < 0.1


# ── the laptop's side ───────────────────────────────────────────────────────


@pytest.fixture
def laptop(bench: Bench, tmp_path: Path) -> Iterator[pexpect.spawn]:
    command = ["-c", LAPTOP, "--port", bench.device, "--save", str(tmp_path / "pictures")]
    child = pexpect.spawn(sys.executable, command, encoding="utf-8", timeout=100)
    yield child
    child.close(force=True)


def test_the_laptop_edits_completes_and_leaves(bench: Bench, laptop: pexpect.spawn) -> None:
    laptop.expect("Ctrl-] ends")
    laptop.expect("Table 7> ")
    laptop.send("fau\t\r")
    laptop.expect("no faults")
    laptop.expect("Table 7> ")
    laptop.send("\x1d")
    laptop.expect(pexpect.EOF)
    laptop.wait()
    assert laptop.exitstatus == 0


def test_the_laptop_saves_a_picture_that_comes_over_the_line(
    bench: Bench, laptop: pexpect.spawn, tmp_path: Path
) -> None:
    laptop.expect("Table 7> ")
    for name in ("snap.jpg", "2-snap.jpg"):
        laptop.sendline("camera snap")
        laptop.expect(f"saved .*{name}, {len(JPEG)} bytes")
        laptop.expect("Table 7> ")
        assert (tmp_path / "pictures" / name).read_bytes() == JPEG


def test_commands_in_a_pipe_come_out_as_json(bench: Bench) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LAPTOP, "--port", bench.device],
        input="digests\nbets\n",
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert '"command":"digests"' in ended.stdout
    assert '"code":"needs-login"' in ended.stdout
    assert ended.returncode == 1
