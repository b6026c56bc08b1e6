"""`shaker-ctl console`: the laptop's side of a serial console, and the people who may log in.

Owns the laptop's terminal: raw keys to the line, text to the screen, files that come over the line
to the disk. Editing, history and completion are the controller's; this end adds nothing that PuTTY
lacks but the files. With input from a pipe it speaks the scripts' voice instead: one command a
line in, one JSON reply a line out, status 1 when any was refused.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console as Screen

from shaker_ctl.adapters.serial_port import SerialPort, candidates
from shaker_ctl.console import accounts, machine
from shaker_ctl.console.armour import Broken, Unwrapper
from shaker_ctl.console.client import Console, ConsoleRefusedError
from shaker_ctl.console.desk import Parcel
from shaker_ctl.console.parameters import ConsoleParameters
from shaker_ctl.errors import ConsoleLineError, SettingsError
from shaker_ctl.rules.vocabulary import Role

app = typer.Typer(
    invoke_without_command=True,
    help="Talk to a table over its serial console; Ctrl-] ends. Pipe commands in for JSON.",
)
screen = Screen(stderr=True, highlight=False)

USERS_FILE = ConsoleParameters().users_file

LEAVE = b"\x1d"
"""Ctrl-], as in telnet and miniterm."""


@app.callback()
def console(
    context: typer.Context,
    port: Annotated[
        str | None, typer.Option(help="Serial device; without it, the only USB one there is.")
    ] = None,
    baud: Annotated[int, typer.Option(help="Bits per second, as the table has it.")] = 115200,
    save: Annotated[
        Path, typer.Option(help="Folder for pictures and bundles that come over the line.")
    ] = Path(),
) -> None:
    """Talk to a table over its serial console; Ctrl-] ends. Pipe commands in for JSON."""
    if context.invoked_subcommand is not None:
        return
    with contextlib.closing(SerialPort(port or the_only_port(), baud)) as line:
        if sys.stdin.isatty():
            talk(line, save)
        elif not run_script(line, save):
            raise typer.Exit(1)


@app.command()
def add_user(
    name: Annotated[str, typer.Argument(help="Login name: letters, digits, . _ -")],
    role: Annotated[str, typer.Argument(help="dealer, floorperson, supervisor or technician")],
    users: Annotated[
        Path, typer.Option(help="The users file of the table's settings.")
    ] = USERS_FILE,
) -> None:
    """Add a person who may log in, or give one a new passphrase. Takes effect at once."""
    if role not in {known.value for known in Role}:
        raise SettingsError(
            f"there is no role {role!r}",
            remedy="Use dealer, floorperson, supervisor or technician",
        )
    passphrase = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True)
    was_there = accounts.add(users, name, Role(role), passphrase)
    screen.print(f"{name} {'has a new passphrase' if was_there else 'may log in'} as {role}")


def the_only_port() -> str:
    """Return the one USB serial device of this computer; raises `ConsoleLineError` otherwise."""
    found = candidates()
    if len(found) == 1:
        screen.print(f"[dim]{found[0][0]}: {found[0][1]}[/]")
        return found[0][0]
    listed = ", ".join(f"{device} ({what})" for device, what in found) or "none is plugged in"
    raise ConsoleLineError(
        f"no single USB serial device to choose: {listed}",
        remedy="Plug the table in, or name it: shaker-ctl console --port DEVICE",
    )


def talk(line: SerialPort, folder: Path) -> None:
    """Carry keys and text until Ctrl-] or the line's end."""
    screen.print(f"[dim]{line.device}; Ctrl-] ends, files go to {folder.resolve()}[/]")
    unwrapper = Unwrapper()
    keys = sys.stdin.fileno()
    with _raw(keys):
        line.write(b"\r")
        while True:
            ready, _, _ = select.select([keys, line], [], [])
            if keys in ready:
                typed = os.read(keys, 1024)
                if LEAVE in typed or not typed:
                    break
                line.write(typed)
            if line in ready:
                for piece in unwrapper.feed(line.read(0.0)):
                    _put(piece if isinstance(piece, bytes) else _told(piece, folder))
                if coming := unwrapper.under_way:
                    _put(f"\r[{coming[0]} {coming[1]:4.0%}, Ctrl-C ends it] ".encode())
    screen.print()


def run_script(line: SerialPort, folder: Path) -> bool:
    """Give each line of standard input as a command; True when none was refused."""
    client = Console(line)
    client.connect()
    is_fine = True
    for command in sys.stdin:
        if not command.strip():
            continue
        try:
            reply = client.ask(command.strip(), timeout_s=600.0)
        except ConsoleRefusedError as refused:
            is_fine = False
            _put(machine.error(command.strip(), refused.code, refused.args[0]).encode())
            continue
        if parcel := client.parcel(reply):
            reply["saved"] = str(save_file(parcel, folder))
        _put(machine.line(reply).encode())
    return is_fine


def save_file(parcel: Parcel, folder: Path) -> Path:
    """Write `parcel` into `folder` under its own name, never over another file."""
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(parcel.name).name or "file"
    for number in range(1, 10_000):
        path = folder / (name if number == 1 else f"{number}-{name}")
        with contextlib.suppress(FileExistsError), path.open("xb") as file:
            file.write(parcel.content)
            return path
    raise ConsoleLineError(f"{folder} is full of {name}", remedy="Name another folder with --save")


def _told(file: Parcel | Broken, folder: Path) -> bytes:
    if isinstance(file, Broken):
        return f"\r\n[{file.name} was lost: {file.reason}]\r\n".encode()
    try:
        path = save_file(file, folder)
    except (OSError, ConsoleLineError) as error:
        return f"\r\n[{file.name} could not be saved: {error}]\r\n".encode()
    return f"\r[saved {path}, {len(file.content)} bytes]\x1b[K\r\n".encode()


def _put(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def _raw(keys: int) -> Iterator[None]:
    before = termios.tcgetattr(keys)
    tty.setraw(keys)
    try:
        yield
    finally:
        termios.tcsetattr(keys, termios.TCSADRAIN, before)
