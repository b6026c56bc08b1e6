"""`shaker-rig`: the virtual machine to play with, by hand or by script.

Owns the command line. Must not know how the rig is made.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from rich.console import Console
from rich.table import Column, Table

from hil_tests.rig import lifetime
from hil_tests.rig.control import TOKEN, RigRefusedError, is_address, told
from hil_tests.rig.crossed import crossed
from hil_tests.rig.fault_set import Fault, FaultPart
from hil_tests.rig.rigfile import RigFile, RigFileError, load
from hil_tests.rig.wire_test import wires
from virtual_pigpiod.scheduling import answer_in_time
from virtual_pigpiod.server import LAST_PORT

app = typer.Typer(no_args_is_help=True)
app.command("crossed")(crossed)
app.command("wires")(wires)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shaker-rig {version('shaker-rig')}")
        raise typer.Exit


@app.callback()
def refuse_on_real_table(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print and exit.")
    ] = False,
) -> None:
    """A shaker machine that is not there: motor, dice, camera, lamps and consoles, in real time, on
    the lines that the real ones use."""
    try:
        lifetime.refuse_on_real_table()
    except lifetime.RealTableError as refusal:
        _fail(str(refusal))


on_start: list[Callable[[dict[str, Any]], list[str]]] = []
"""Asked, once a rig without real parts listens, for lines to show beside its addresses. The rig
knows no table: whoever puts one on it adds itself here."""

DEFAULT_FOLDER = Path(tempfile.gettempdir()) / f"shaker-rig-{Path.home().name}"
"""Where `run` puts its devices without --dir, and where the other commands look for them."""


FolderOption = Annotated[
    Path, typer.Option("--dir", help="Folder of the rig's devices, addresses and truth.")
]
PlaceOption = Annotated[
    Path,
    typer.Option("--dir", help=f"Folder of the rig, or HOST:PORT of its door, with ${TOKEN}."),
]


@app.command()
def run(
    folder: FolderOption = DEFAULT_FOLDER,
    rig_file: Annotated[
        Path | None,
        typer.Option("--rig", help="File that says which parts are real; without it none is."),
    ] = None,
    geometry: Annotated[
        Literal["standard", "narrow", "rough", "littered"] | None,
        typer.Option(help="Compartment; in `rough` many dice end cocked."),
    ] = None,
    dice: Annotated[
        str | None, typer.Option(help="Style of the dice; one that is none lists them.")
    ] = None,
    cover: Annotated[
        Literal["hand", "driven"] | None,
        typer.Option(help="Cover over the dome: moved by hand, or driven by its pin."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of chance; printed, for a run like this one.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=LAST_PORT, help="Port of the virtual pigpiod; 0: any free.")
    ] = 0,
    camera_port: Annotated[
        int, typer.Option(min=0, max=LAST_PORT, help="Port of the camera; 0: any free.")
    ] = 0,
    monostable: Annotated[
        bool | None,
        typer.Option(help="Fit the hardware monostable on EN; without it EN may simply stay high."),
    ] = None,
) -> None:
    """Run the rig until Ctrl-C, SIGTERM, `shaker-rig quit`, or its parent's end.

    Point the controller, pigs, mbpoll, picocom or a browser at the printed addresses; they also
    stand in DIR/rig.json. Without --rig, DIR/settings.toml and DIR/users.toml are for a table on
    this rig, with what simulated lines need; the line that runs it is printed.
    """
    # Imported here, because the camera's process imports this module anew and needs none of it.
    from hil_tests.rig import view
    from hil_tests.rig.camera.stream import CameraLostError, CameraPortError
    from hil_tests.rig.reservation import ReservedError
    from hil_tests.rig.rig import Rig, RigPlan
    from hil_tests.rig.wires.bench import WiresError

    try:
        given = RigFile() if rig_file is None else load(rig_file)
    except RigFileError as error:
        _fail(str(error))
    if seed is None:
        seed = given.machine.seed or secrets.randbelow(1_000_000)
    machine = {"geometry": geometry, "dice": dice, "cover": cover, "seed": seed}
    given = given.but(
        machine=given.machine.but(**machine), gpio=given.gpio.but(monostable=monostable)
    )
    plan = RigPlan(folder.resolve(), port, camera_port, given, rig_file)
    remedy = "Choose" if rig_file is None else f"Correct {rig_file}, or choose"
    try:
        with lifetime.Lifetime() as life, Rig(plan) as rig:
            answer_in_time()
            life.ends_when(lambda: rig.has_ended)
            said = [line for ask in on_start if given.is_virtual for line in ask(rig.addresses)]
            screen = Console(markup=False, emoji=False)
            view.show(screen, rig.addresses, rig.status, life.ended, said)
    except (WiresError, CameraLostError, ReservedError) as error:
        _fail(str(error))
    except CameraPortError as error:
        _fail(f"{error}. Choose another --camera-port")
    except (ValueError, KeyError) as error:
        _fail(str(error.args[0]))
    except (OSError, RuntimeError) as error:
        _fail(f"the rig cannot run in {folder}: {error}. {remedy} another --dir or --port")
    if rig.failure:
        _fail(rig.failure)


@app.command()
def inject(
    fault: Annotated[list[str], typer.Argument(help="NAME KEY=VALUE ... after COUNT EVENT.")],
    folder: PlaceOption = DEFAULT_FOLDER,
) -> None:
    """Break something on a running rig, such as: inject tach_silent after 12 edges"""
    _say(_ask(folder, f"inject {' '.join(fault)}"))


@app.command()
def heal(
    fault: Annotated[str, typer.Argument(help="Name of the fault, or all.")] = "all",
    folder: PlaceOption = DEFAULT_FOLDER,
) -> None:
    """Mend one fault, or all."""
    _say(_ask(folder, f"heal {fault}"))


@app.command()
def hands(
    action: Annotated[list[str], typer.Argument(help="Such as: press estop")],
    folder: PlaceOption = DEFAULT_FOLDER,
) -> None:
    """Do what a person's hands do at the machine. `hands help` lists what they can, while a rig
    runs."""
    words = " ".join(action)
    before, lays, file = words.partition("lay card ")
    if lays and not before:
        words = lays + str(Path(file).resolve())  # the rig itself may run in another folder
    _say(_ask(folder, f"hands {words}"))


@app.command()
def status(folder: PlaceOption = DEFAULT_FOLDER) -> None:
    """Print what the rig sees of itself, as JSON."""
    _say(_ask(folder, "status"))


@app.command()
def quit(folder: PlaceOption = DEFAULT_FOLDER) -> None:  # noqa: A001 - the command's name
    """End a running rig."""
    _ask(folder, "quit")


@app.command()
def faults() -> None:
    """List every fault: who is broken, how, and what an observer sees."""
    from hil_tests.rig.rig import known_parts  # and with it the physics

    console = Console(markup=False, emoji=False)
    for line in catalogue(known_parts()):
        console.print(line)


def catalogue(parts: list[FaultPart]) -> list[Table | str]:
    """Every fault as a row; below them, once, what a fault can wait for."""
    from hil_tests.rig.faults import EVENTS

    folded = [Column(name, overflow="fold") for name in ("what", "seen", "parameters")]
    table = Table("part", Column("fault", no_wrap=True), *folded)
    for part in parts:
        for fault in part.catalogue.values():
            parameters = [_parameter(fault, key) for key in fault.parameters]
            table.add_row(part.name, fault.name, fault.summary, fault.seen, "\n".join(parameters))
    lines: list[Table | str] = [table]
    lines.append(f"Any fault can wait, `after COUNT EVENT`, for: {' '.join(EVENTS)}")
    for part in parts:
        if own := [event for event in part.events if event not in EVENTS]:
            lines.append(f"Those of {part.name} also for: {' '.join(own)}")
    return lines


def _parameter(fault: Fault, key: str) -> str:
    value = fault.parameters[key]
    if key not in fault.bounds:
        return f"{key}={value}"
    least, most = fault.bounds[key]
    return f"{key}={value:g} ({least:g} to {most:g})"


@app.command()
def trend(
    reports: Annotated[list[Path], typer.Argument(help="Folders of --rig-report, oldest first.")],
) -> None:
    """Follow every measured value over many reports: where it went, and which nears its limit.

    Ends with status 1 if a value that goes on like this reaches its limit within as many runs more.
    """
    from hil_tests.report import trend as following

    try:
        found = following.trends([following.load(report) for report in reports])
    except following.ReportError as error:
        _fail(str(error))
    Console(markup=False, emoji=False).print(following.table(found, len(reports)))
    if any(one.is_near for one in found):
        raise typer.Exit(1)


def _ask(folder: Path, command: str) -> Any:
    """Return a running rig's answer, or leave with a line that says what to do."""
    try:
        place = str(folder)
        if not is_address(place):
            place = json.loads((folder / "rig.json").read_text(encoding="utf-8"))["control"]
        return told(place, command)
    except RigRefusedError as error:
        _fail(str(error))
    except (OSError, ValueError) as error:
        _fail(f"no rig answers in {folder} ({error}). Start one: shaker-rig run --dir {folder}")


def _say(answer: Any) -> None:
    Console().print_json(json.dumps(answer))


def _fail(message: str) -> NoReturn:
    screen = Console(stderr=True, markup=False, emoji=False)  # file names print as they stand
    screen.print(f"shaker-rig: {message}", highlight=False, soft_wrap=True)
    raise typer.Exit(1)


if __name__ == "__main__":
    app()
