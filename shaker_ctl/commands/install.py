"""`shaker-ctl install` and `uninstall`: make this computer a table, and take that away again.

Owns the conversation: say first what will be done, ask, do. What is done is `installation`'s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from shaker_ctl import settings
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.errors import reraise_as
from shaker_ctl.installation.acts import Act, InstallError
from shaker_ctl.installation.places import PREFIX, Places
from shaker_ctl.installation.plan import Wishes, kept, to_install, to_uninstall

screen = Console(highlight=False, markup=False, emoji=False)

RootOption = Annotated[
    Path,
    typer.Option("--root", help="Stage the files into this folder: no users, owners or services."),
]
CheckOption = Annotated[
    bool, typer.Option("--check", help="Say what is missing and change nothing; status 1 then.")
]
RemovalCheckOption = Annotated[
    bool,
    typer.Option(
        "--check", help="Say what would be removed and change nothing; status 1 if anything would."
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DeviceOption = Annotated[
    Path | None, typer.Option(help="Device that is plugged in where this name shall belong.")
]


def install(
    check: CheckOption = False,
    yes: YesOption = False,
    root: RootOption = Path("/"),
    camera: DeviceOption = None,
    lamps: DeviceOption = None,
    technician: DeviceOption = None,
    dealer: DeviceOption = None,
    page: Annotated[
        bool,
        typer.Option(
            "--page", help="Start the page for browsers at power-on; make its certificate."
        ),
    ] = False,
    public_key: Annotated[
        Path | None, typer.Option(help="The approver's seal.pub; never replaces another one.")
    ] = None,
) -> None:
    """Make this computer a table that starts at power-on. Say first what will be done.

    Installs the user, the folders, a settings file to fill in, the units, the stop script, udev
    rules, and the mark that this is a real table. What is there already stays; settings, people,
    keys and the journal are never touched. Run it again after every change of the table gpio.pins.

    With --camera, --lamps, --technician or --dealer the USB socket of that device gets the name
    /dev/shaker-camera, /dev/shaker-lamps, ... for whatever is plugged in there later.

    With --page the page for browsers starts as well. It listens on this computer alone until the
    settings' section `page` names an address, the certificate and its key.
    """
    named = {"camera": camera, "lamps": lamps, "technician": technician, "dealer": dealer}
    devices = {name: device for name, device in named.items() if device is not None}
    places = _places(root)
    pins = PinParameters()
    if _is_there(places.settings):
        pins = settings.load(places.settings).gpio.pins
    wishes = Wishes(places=places, devices=devices, pins=pins, public_key=public_key, page=page)
    _carry_out(to_install(wishes), check=check, yes=yes, done="installed")
    if not check:
        screen.print(
            f"Next: fill in {places.settings}, then shaker-ctl settings check {places.settings}, "
            "shaker-ctl console add-user, systemctl start shaker-pigpiod where pigpio drives the "
            f"pins, shaker-ctl calibrate camera --config {places.settings}, shaker-ctl doctor, the "
            "approver's shaker-ctl seal write, systemctl start shaker-ctl."
        )


def uninstall(
    check: RemovalCheckOption = False, yes: YesOption = False, root: RootOption = Path("/")
) -> None:
    """Take units, scripts and rules away again. The journal, its pictures and /etc stay."""
    places = _places(root)
    _carry_out(to_uninstall(places), check=check, yes=yes, done="uninstalled")
    for path in kept(places):
        screen.print(f"kept: {path}", soft_wrap=True)


def _places(root: Path) -> Places:
    """Raises `InstallError` where `root` is no folder and cannot become one."""
    try:
        root = root.resolve()
        standing = next(path for path in (root, *root.parents) if path.exists())
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead round in a circle
        reason = (
            error.strerror if isinstance(error, OSError) else "its links lead round in a circle"
        )
        raise InstallError(
            f"--root {root} cannot be used: {reason}", remedy="Give another folder"
        ) from error
    if not standing.is_dir():
        raise InstallError(
            f"--root {root} cannot be used: {standing} is no folder", remedy="Give another folder"
        )
    return Places(root) if root == Path("/") else Places(root, prefix=PREFIX)


def _is_there(path: Path) -> bool:
    remedy = "Run it as root: sudo shaker-ctl install"
    with reraise_as(InstallError, f"{path} may not be looked at", remedy=remedy):
        return path.exists()


def _carry_out(acts: list[Act], *, check: bool, yes: bool, done: str) -> None:
    if not acts:
        screen.print(Text.assemble(("ok", "green"), f"  {done}: nothing to do"))
        return
    for act in acts:
        screen.print(f"  {act.what}", soft_wrap=True)
    if check:
        screen.print(f"{len(acts)} to do; nothing was changed")
        raise typer.Exit(1)
    if not yes and not typer.confirm("Do this?"):
        raise InstallError("nothing was changed", remedy="Answer y, or give --yes")
    for act in acts:
        act.do()
    screen.print(Text.assemble(("ok", "green"), f"  {done}: {len(acts)} done"))
