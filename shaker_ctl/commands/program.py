"""The whole command line as one program: every command under its name.

Owns the names, the order in which they are listed, and the line that the list shows of each. What a
command needs is loaded when that command is called: all of it together takes seconds on a Raspberry
Pi.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from shaker_ctl.commands.interruption import quiet_interruption
from shaker_ctl.errors import SettingsError

LISTED = {
    "run": "Run a table until SIGTERM or Ctrl-C.",
    "demo": "Play a table on the virtual rig: opening inspection, then round after round.",
    "status": "Show a running table: state, motor, last reading, lamps, faults.",
    "page": "Serve the page of a table until SIGTERM or Ctrl-C: what it sees, does and did.",
    "setup": "Lead through the set-up of this table, question by question, until it starts.",
    "doctor": "Check the whole table: computer, disks, people, digests, lamps, consoles, camera, "
    "shaker.",
    "read": "Read dice in photographs: values where both readers agree, or why not.",
    "calibrate": "Calibrate the camera by a printed target.",
    "teach": "Teach the table its dice: it tosses them, you type what lies there, some 34 times.",
    "dice": "The ledger of the table's dice, and the test that watches them.",
    "journal": "The table's journal: its last rounds, one round, proof, disputes, export, figures.",
    "backup": "The whole table in one file, and back.",
    "lamp": "The lamp box of the table, as a spare part.",
    "link": "Hand the table's journal, state and alarms to a floor, until SIGTERM or Ctrl-C.",
    "rules": "Show, compare and check the rule profiles.",
    "seal": "The signed list of everything that decides: program, libraries, settings, profile.",
    "describe": "Describe what machines read of a table: OpenAPI, AsyncAPI, JSON Schema.",
    "console": "Talk to a table over its serial console; Ctrl-] ends. Pipe commands in for JSON.",
    "settings": "Settings: reference, a new file, what is in force, a check.",
}
"""The first paragraph of each command's own help. Its module has the command's name."""

MODULES = {"demo": "hil_tests.demo.command"}
"""Where the module has another name; the demonstration lives with the rig, as its own
distribution."""

INSTALL_RIG = (
    "On a computer that is no table, install shaker-rig of the same version: "
    "pip install shaker_rig-*.whl (`make wheel`)"
)

MARKUP: Literal["rich"] = "rich"


def loaded(name: str) -> Any:
    """Return a command of `LISTED`, with all that it needs."""
    try:
        with quiet_interruption():
            module = importlib.import_module(MODULES.get(name, f"shaker_ctl.commands.{name}"))
    except ModuleNotFoundError as error:
        if name != "demo":
            raise
        text = f"the virtual rig is not installed: {error.name} is missing"
        raise SettingsError(text, remedy=INSTALL_RIG) from error
    holder = typer.Typer(rich_markup_mode=MARKUP, pretty_exceptions_show_locals=False)
    if (group := getattr(module, "app", None)) is not None:
        holder.add_typer(group, name=name)
    else:
        holder.command(name)(getattr(module, name))
    return for_people(typer.main.get_group(holder).commands[name])


def for_people(command: Any) -> Any:
    """Have paragraphs of a command's help fill the width that there is, and no switch name a type;
    return the command.
    """
    parts = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(p if p[:1] in " -*|" else " ".join(p.split()) for p in parts)
    params_of = command.get_params

    def params(ctx: typer.Context) -> list[Any]:
        found: list[Any] = params_of(ctx)
        for one in found:
            if getattr(one, "is_flag", False):
                one.metavar = ""
        return found

    command.get_params = params
    for other in getattr(command, "commands", {}).values():
        for_people(other)
    return command


class CommandGroup(TyperGroup):
    """Lists the commands without loading them; loads the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for_people(self)
        self.commands = {name: TyperCommand(name, help=line) for name, line in LISTED.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return its name, the whole of it, and the words that are left for it."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, loaded(name) if name else listed, rest


program = typer.Typer(
    name="shaker-ctl",
    cls=CommandGroup,
    no_args_is_help=True,
    rich_markup_mode=MARKUP,
    context_settings={"max_content_width": 1000},  # a man page breaks its lines itself
    help="Controller of a Sic Bo table with an automated dice shaker. "
    "It tosses, reads, verifies, lights, and keeps the rules.",
    pretty_exceptions_show_locals=False,
)


def _version(context: typer.Context, wanted: bool) -> None:
    if wanted:
        from shaker_ctl import __version__  # loads importlib.metadata, which no other word needs

        typer.echo(f"{context.find_root().command.name} {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_version, is_eager=True, help="Print and exit.")
]


@program.callback()
def options(version: Version = False) -> None:
    """Options that come before a command."""
