"""`shaker-ctl console`: the laptop's side of a serial console, and the people who may log in.

Owns the laptop's terminal: raw keys to the line, text to the screen, files that come over the line
to the disk. Editing, history and completion are the controller's; this end adds nothing that PuTTY
lacks but the files. With input from a pipe it speaks the scripts' voice instead: one command a
line in, one JSON reply a line out, status 1 when any was refused. The line after `login` is its
passphrase; at the end the console is people's again, and whom the pipe logged in is logged out.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import tempfile
import termios
import tty
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console as Screen
from rich.table import Table

from shaker_ctl.adapters.lines.serial_port import SerialPort, candidates
from shaker_ctl.console import accounts, codes, grammar, json_voice
from shaker_ctl.console.client import Console, Reply
from shaker_ctl.console.desk import Parcel
from shaker_ctl.console.file_transfer import BrokenFile, Unwrapper
from shaker_ctl.console.parameters import ConsoleParameters
from shaker_ctl.console.stream import ByteStream
from shaker_ctl.errors import ConsoleLineError, SettingsError

app = typer.Typer(
    invoke_without_command=True,
    help="Talk to a table over its serial console; Ctrl-] ends. Pipe commands in for JSON.",
)
screen = Screen(stderr=True, highlight=False)

USERS_FILE = ConsoleParameters().users_file
UsersFile = Annotated[Path, typer.Option(help="The users file of the table's settings.")]

LEAVE = b"\x1d"
"""Ctrl-], as in telnet and miniterm."""

MAX_S = 600.0
"""Longest wait for one reply: the whole journal takes minutes over a line."""


@app.callback()
def console(
    context: typer.Context,
    port: Annotated[
        str | None, typer.Option(help="Serial device; without it, the only USB one there is.")
    ] = None,
    baud: Annotated[int, typer.Option(help="Bits per second, as the table has it.")] = 115200,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Folder for pictures and bundles that come over the line; without it, this one."
        ),
    ] = None,
) -> None:
    """Talk to a table over its serial console; Ctrl-] ends. Pipe commands in for JSON."""
    if context.invoked_subcommand is not None:
        return
    # Made now where it was named: a picture that has come over the line must have a place.
    folder = Path() if save is None else made(save)
    with contextlib.closing(SerialPort(port or the_only_port(), baud)) as line:
        if sys.stdin.isatty():
            talk(line, folder)
        elif not run_script(line, folder, iter(sys.stdin)):
            raise typer.Exit(1)


@app.command()
def add_user(
    name: Annotated[str, typer.Argument(help="Login name: letters, digits, . _ -")],
    role: Annotated[str, typer.Argument(help=f"One of: {', '.join(accounts.PEOPLE)}.")],
    number: Annotated[
        str, typer.Option(help="Of the licence or badge; nobody else has it. Once for a person.")
    ] = "",
    users: UsersFile = USERS_FILE,
) -> None:
    """Add a person who may log in, or give one a new passphrase. Takes effect at once."""
    known = _role(role, accounts.PEOPLE)
    accounts.require_name(name)
    accounts.number_for(users, name, known, number)
    passphrase = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True)
    others = [each.role.value for each in accounts.load_if_any(users) if each.name == name]
    was_there = accounts.add(users, name, known, passphrase, number)
    screen.print(f"{name} {'has a new passphrase' if was_there else 'may log in'} as {role}")
    if also := sorted(set(others) - {role}):
        screen.print(
            f"{name} is also {', '.join(also)}, each with a passphrase of its own; "
            "one person is never both sides of a duty that needs two"
        )


@app.command("add-token")
def add_token(
    name: Annotated[str, typer.Argument(help="Name of the machine: letters, digits, . _ -")],
    role: Annotated[
        Literal["display", "machine"],
        typer.Argument(help="display: what the room reads; machine: rounds and day sheets, too."),
    ],
    users: UsersFile = USERS_FILE,
) -> None:
    """Print a new token with which a machine reads the page. `remove-user` withdraws it."""
    typer.echo(accounts.add_token(users, name, accounts.ROLES[role]))
    screen.print(f"{name} may read the page as {role}; nobody can print this token again")


@app.command("set-number")
def set_number(
    name: Annotated[str, typer.Argument(help="Login name.")],
    number: Annotated[str, typer.Argument(help="Of the licence or badge; nobody else has it.")],
    users: UsersFile = USERS_FILE,
) -> None:
    """Give a person their credential number, in every role. Two persons are two numbers."""
    accounts.set_number(users, name, number)
    screen.print(f"{name} has the credential number {number}")


@app.command("users")
def list_users(
    users: UsersFile = USERS_FILE,
    is_accepted: Annotated[
        bool,
        typer.Option(
            "--accept", help="The file was changed by hand: write its digest anew, then list."
        ),
    ] = False,
) -> None:
    """List who may log in, which machines may read, and as what."""
    table = Table(box=None)
    for column in ("name", "number", "roles"):
        table.add_column(column)
    roles: dict[str, list[str]] = {}
    numbers: dict[str, str] = {}
    for account in accounts.accept(users) if is_accepted else accounts.load(users):
        roles.setdefault(account.name, []).append(account.role.value)
        numbers[account.name] = account.number or "none"
    for name in sorted(roles):
        table.add_row(name, numbers[name], ", ".join(sorted(roles[name])))
    Screen().print(table)


@app.command("remove-user")
def remove_user(
    name: Annotated[str, typer.Argument(help="Login name.")],
    role: Annotated[str, typer.Argument(help="Only this role; without it, all.")] = "",
    users: UsersFile = USERS_FILE,
) -> None:
    """Take a person's right to log in, or a machine's token, at once. Records keep the name."""
    gone = accounts.remove(users, name, _role(role) if role else None)
    screen.print(f"{name} may no longer log in as {', '.join(each.value for each in gone)}")


def _role(word: str, known: Iterable[str] = accounts.ROLES) -> accounts.AnyRole:
    if word not in known:
        raise SettingsError(f"there is no role {word!r}", remedy=f"Use one of: {', '.join(known)}")
    return accounts.ROLES[word]


def the_only_port() -> str:
    """Return the one USB serial device of this computer; raises `ConsoleLineError` otherwise."""
    found = candidates()
    if len(found) == 1:
        _whisper(f"{found[0][0]}: {found[0][1]}")
        return found[0][0]
    listed = ", ".join(f"{device} ({what})" for device, what in found) or "none is plugged in"
    raise ConsoleLineError(
        f"no single USB serial device to choose: {listed}",
        remedy="Plug the table in, or name it: shaker-ctl console --port DEVICE",
    )


def talk(line: SerialPort, folder: Path) -> None:
    """Carry keys and text until Ctrl-] or the line's end."""
    _whisper(f"{line.device}; Ctrl-] ends, files go to {folder.resolve()}")
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


def run_script(line: ByteStream, folder: Path, commands: Iterator[str]) -> bool:
    """Give each line of `commands` to the table, one reply a line; True when none was refused."""
    client = Console(line)
    client.connect()
    is_fine, is_ours = True, False
    try:
        for command in map(str.strip, commands):
            if not command:
                continue
            reply = _no_other_voice(command) or _given(client, command, commands)
            if reply["status"] == "ok":
                is_ours = is_ours or reply["command"] == "login"
                reply = _saved(client, reply, folder)
            is_fine = is_fine and reply["status"] == "ok"
            _put(json_voice.line(reply).encode())
    finally:
        # Whoever comes to this console next finds words, and nobody's name to act in.
        client.leave(is_logged_out=is_ours)
    return is_fine


def _no_other_voice(command: str) -> Reply | None:
    """The refusal of a `mode` in which the pipe would hear no reply any more; None for all else."""
    meant = grammar.parse(command)
    if isinstance(meant, grammar.ConsoleRefusal) or meant is None or meant.form.name != "mode":
        return None
    if meant.arguments["mode"] == grammar.MACHINE:
        return None
    text = "commands from a pipe are answered in JSON alone; leave this line out"
    return {"status": "error", "command": "mode", "code": codes.SYNTAX, "text": text}


def _given(client: Console, command: str, further: Iterator[str]) -> Reply:
    """Give one command. The line after a `login` is its passphrase, also where none is asked for:
    given as a command it would stand in the table's history."""
    passphrase: str | None = None
    if _logs_in(command) and (line := next(further, None)) is not None:
        passphrase = line.rstrip("\r\n")
    return client.give(command, timeout_s=MAX_S, passphrase=lambda: passphrase)


def _logs_in(command: str) -> bool:
    meant = grammar.parse(command)
    if isinstance(meant, grammar.TypedCommand):
        return meant.form.name == "login"
    return command.split()[0].lower() == "login"


def _saved(client: Console, reply: Reply, folder: Path) -> Reply:
    """Write the file that came with `reply`, if one did; where that fails, this is the reply."""
    try:
        if parcel := client.parcel(reply):
            return {**reply, "saved": str(save_file(parcel, folder))}
    except (OSError, ConsoleLineError) as error:
        reason = error.strerror if isinstance(error, OSError) else error.line()
        text = f"{reply['name']} could not be saved: {reason}"
        command = reply["command"]
        return {"status": "error", "command": command, "code": codes.FAILED, "text": text}
    return reply


def made(folder: Path) -> Path:
    """Return the folder for files, made where it was not there. Raises `SettingsError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SettingsError(
            f"no file can be written to {folder}: {reason}",
            remedy="Name another folder with --save",
        ) from error
    return folder


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


def _told(file: Parcel | BrokenFile, folder: Path) -> bytes:
    if isinstance(file, BrokenFile):
        return f"\r\n[{file.name} was lost: {file.reason}]\r\n".encode()
    try:
        path = save_file(file, folder)
    except (OSError, ConsoleLineError) as error:
        return f"\r\n[{file.name} could not be saved: {error}]\r\n".encode()
    return f"\r[saved {path}, {len(file.content)} bytes]\x1b[K\r\n".encode()


def _whisper(text: str) -> None:
    screen.print(text, style="dim", markup=False, soft_wrap=True)


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
