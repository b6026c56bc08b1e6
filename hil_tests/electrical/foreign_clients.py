"""Foreign pigpio programs at the virtual daemon: `python -m hil_tests.electrical.foreign_clients`.

Owns how each is fetched, built and run, and the count of what passed. A program that is missing
here is named, and counts as not run. The sources of pigpio and of gpiozero are folders of theirs
(`git clone`): `--pigpio` and `--gpiozero`.

| program | needs |
| --- | --- |
| x_pigpio.py, all groups | `--pigpio` |
| x_pigpiod_if2.c, all groups | `--pigpio`, a C compiler |
| x_pigs | `--pigpio`, `pigs` (Debian: pigpio-tools) |
| gpiozero's test_real_pins.py | `--gpiozero`, and gpiozero in this Python or in `--python` |
| pigpio-client | `npm`, and a network |

The daemon listens at pigpio's own port and puts its pipes into /dev, because these programs look
nowhere else. Exit status 0: nothing failed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from virtual_pigpiod.buses.attached import attach
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod

PORT = 8888
DEVICES = ("i2c:1:0x53=adxl345", "spi:1=loop", "serial:/dev/ttyAMA0=loop")
"""What pigpio's own scripts want to be wired: an accelerometer, an SPI device, TXD to RXD."""
OUTPUT, INPUT = 22, 27
"""The wire that gpiozero's tests want."""
GROUPS = "0123456789dabc"
PATIENCE_S = 300

CLIENT = """
const client = require("pigpio-client").pigpio({host: "127.0.0.1", port: 8888});
const tell = (what, right) => console.log(what + (right ? " ok" : " FAIL"));
client.once("error", () => { tell("connection", false); process.exit(1); });
client.once("connected", async () => {
  const pin = client.gpio(22), seen = client.gpio(27);
  await pin.modeSet("output"); await seen.modeSet("input");
  for (const level of [1, 0]) { await pin.write(level); tell("wire", await seen.read() === level); }
  const bus = await client.i2cOpen(1, 0x53);
  await client.i2cWriteDevice(bus, [0]);
  tell("i2c", (await client.i2cReadDevice(bus, 1))[1] === 0xE5);
  await client.i2cClose(bus);
  client.end();
});
"""


class MissingError(Exception):
    """The program cannot be run here. The text says what is missing."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What one program said of itself."""

    passed: int
    failed: tuple[str, ...]


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Everything that the program printed. Raises `MissingError` where it is not here."""
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise MissingError(f"{command[0]} is not installed here") from error
    return ran.stdout


def counted(said: str, passed: str, failed: str) -> Counted:
    """Count lines that match; a program that passed nothing has failed."""
    wrong = tuple(line for line in said.splitlines() if re.search(failed, line))
    right = len(re.findall(passed, said, re.MULTILINE))
    return Counted(right, wrong or (() if right else (said.strip()[-200:] or "it said nothing",)))


def python_script(pigpio: Path, build: Path) -> Counted:
    said = run([sys.executable, "x_pigpio.py", GROUPS], pigpio)
    return counted(said, r"TEST.*PASS", "FAILED|Error")


def c_client(pigpio: Path, build: Path) -> Counted:
    """Built as on a Pi, where `char` has no sign."""
    program = build / "x_pigpiod_if2"
    sources = [str(pigpio / name) for name in ("x_pigpiod_if2.c", "pigpiod_if2.c", "command.c")]
    said = run(["cc", "-w", "-funsigned-char", "-o", str(program), *sources, "-lpthread"], build)
    if not program.exists():
        raise MissingError(f"it cannot be built: {said.strip()[-200:]}")
    return counted(run([str(program), GROUPS], build), r"TEST.*PASS", "FAILED")


def shell_script(pigpio: Path, build: Path) -> Counted:
    if shutil.which("pigs") is None:
        raise MissingError("pigs is not installed here")
    return counted(run(["bash", "x_pigs"], pigpio), r"\bok$", r"\bfail\b")


def gpiozero_tests(gpiozero: Path, python: str, build: Path) -> Counted:
    tests = "tests/test_real_pins.py"
    options = ["-q", "-c", os.devnull, "--rootdir", ".", "-p", "no:cacheprovider", "-k", "pigpio"]
    said = run([python, "-m", "pytest", *options, tests], gpiozero, PIGPIO_PORT=str(PORT))
    passed = re.search(r"(\d+) passed", said)
    wrong = tuple(line for line in said.splitlines() if line.startswith(("FAILED", "ERROR")))
    if passed is None:
        raise MissingError(said.strip()[-200:])
    return Counted(int(passed[1]), wrong)


def npm_client(build: Path) -> Counted:
    run(["npm", "install", "--silent", "--prefix", str(build), "pigpio-client"], build)
    if not (build / "node_modules").is_dir():
        raise MissingError("npm could not install pigpio-client")
    (build / "client.js").write_text(CLIENT, "utf-8")
    return counted(run(["node", "client.js"], build), " ok$", " FAIL$")


@contextmanager
def daemon() -> Iterator[None]:
    """The virtual daemon, wired as all these programs want it."""
    board = Board()
    board.follow(INPUT, board, OUTPUT)
    with VirtualPigpiod(board, port=PORT, fifo_folder=Path("/dev"), attached=attach(DEVICES)):
        yield


def main(
    pigpio: Annotated[Path | None, typer.Option(help="Folder of pigpio's sources.")] = None,
    gpiozero: Annotated[Path | None, typer.Option(help="Folder of gpiozero's sources.")] = None,
    python: Annotated[str, typer.Option(help="Python that has gpiozero.")] = sys.executable,
) -> None:
    """Foreign pigpio programs at the virtual daemon; status 1 where one fails."""
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        programs = {
            "x_pigpio.py": (pigpio, lambda here: python_script(here, build)),
            "x_pigpiod_if2": (pigpio, lambda here: c_client(here, build)),
            "x_pigs": (pigpio, lambda here: shell_script(here, build)),
            "gpiozero": (gpiozero, lambda here: gpiozero_tests(here, python, build)),
            "pigpio-client": (build, npm_client),
        }
        failed = 0
        for name, (here, play) in programs.items():
            began_s = time.monotonic()
            if here is None:
                typer.echo(f"{name:15} not run: no folder of its sources was given")
                continue
            try:
                with daemon():
                    found = play(here.resolve())
            except (MissingError, subprocess.TimeoutExpired) as error:
                typer.echo(f"{name:15} not run: {error}")
                continue
            took_s = time.monotonic() - began_s
            typer.echo(
                f"{name:15} {found.passed} passed, {len(found.failed)} failed, {took_s:.0f} s"
            )
            for line in found.failed:
                typer.echo(f"    {line}")
            failed += len(found.failed)
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
