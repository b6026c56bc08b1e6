"""What an installation does, in order, and what taking it away does.

Owns the order and the contents. Must not know how an act is done, nor the command line. A plan
holds only what is still to be done: after it was carried out the next one is empty.

Staged into a folder, a plan is files only: users, owners and the running system's managers come
when it is run on the system itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.errors import reraise_as
from shaker_ctl.frozen import frozen
from shaker_ctl.installation import pins as pins_file
from shaker_ctl.installation import sockets
from shaker_ctl.installation.acts import (
    Act,
    Folder,
    InstallError,
    Remove,
    RunProgram,
    SymbolicLink,
    Write,
    user_number,
)
from shaker_ctl.installation.certificate import MakeCertificate
from shaker_ctl.installation.places import LINK_USER, PAGE_USER, PREFIX, USER, Places, shipped

UNITS = (
    "shaker-ctl.service",
    "pigpiod.service",
    "shaker-page.service",
    "shaker-link.service",
    "media-shaker\\x2djournal.mount",
)
STARTED = ("pigpiod.service", "shaker-ctl.service")
"""Units that start at power-on. The mount comes with its stick, by udev."""

PACKAGED_STARTED = ("shaker-pigpiod.service", "shaker-ctl.service")
"""Units that start where the Debian package installs: Debian's daemon already has `pigpiod`."""

PAGE_UNIT = "shaker-page.service"
"""Starts at power-on where the page is wished for."""

LINK_UNIT = "shaker-link.service"
"""Switched on by hand, once the floor has given the table a certificate."""

UDEV = Path("/run/udev/control")
"""Where udev listens. In a container it does not run; it reads its rules when it starts."""

SCRIPTS = ("motor-off", "await-pigpiod")

SETTINGS = "settings.toml"
"""The settings file as a new table gets it: the keys of `settings_page.FIRST`, and no others."""

REAL_TABLE = """\
This computer is a real table. No demonstration and no virtual rig runs here.
Written by `shaker-ctl install`; `shaker-ctl uninstall` removes it.
"""


@frozen
class Wishes:
    """What the person who installs has said."""

    places: Places = field(default_factory=Places)
    devices: Mapping[str, Path] = field(default_factory=dict)
    """Names of `sockets.NAMES` to the device that is plugged in where that name belongs."""
    pins: PinParameters = field(default_factory=PinParameters)
    public_key: Path | None = None
    """The approver's `seal.pub`; the private half is never on a table."""
    page: bool = False
    """Whether the page for browsers starts at power-on."""
    properties: Callable[[Path], Mapping[str, str]] = sockets.properties


def to_install(wishes: Wishes) -> list[Act]:
    """Return what is still to be done for a table that starts at power-on.

    Raises `InstallError` where the environment lies where the service could not see it, a device
    is not what it was said to be, or another public key is in place.
    """
    places = wishes.places
    if places.is_packaged:
        return _to_set_up_package(wishes)
    _require_prefix(places)
    found: list[Act] = []
    found += _user(places)
    found += _pending(_folders(places))
    found += _pending(_configuration(wishes))
    found += _pending(_keys(wishes))
    found += _pending(_page(wishes))
    units = _pending([*_units(places), *_page_started(wishes, Path("/etc/systemd/system"))])
    rules = _pending(_rules(wishes))
    log = _pending([Write(places.journald, _text("shaker-ctl.journald.conf"))])
    found += [*units, *rules, *log]
    if not places.is_staged:
        found += _reloads(units, rules, log)
    return found


def to_uninstall(places: Places) -> list[Act]:
    """Return what takes an installation away. Journal, pictures, settings, people and keys stay.

    Raises `InstallError` where a Debian package brought it.
    """
    if places.is_packaged:
        raise InstallError(
            "this program came as a Debian package", remedy="sudo apt remove shaker-ctl"
        )
    services: list[Act] = []
    if not places.is_staged and (places.units / UNITS[0]).exists():
        services = [
            RunProgram(
                "stop the table and the GPIO daemon; the motor is off then",
                ["systemctl", "stop", *STARTED, PAGE_UNIT, LINK_UNIT],
                is_needless=lambda: False,
            )
        ]
    units = _pending(
        [
            *(
                Remove(places.units / "multi-user.target.wants" / name)
                for name in (*STARTED, PAGE_UNIT, LINK_UNIT)
            ),
            *(Remove(places.units / name) for name in UNITS),
        ]
    )
    rest = _pending(
        Remove(path)
        for path in (
            places.socket_rules,
            places.rules,
            places.journald,
            places.tmpfiles,
            places.sysusers,
            places.scripts,
            places.documents,
            places.pins,
            places.real_table,
        )
    )
    reloads = [] if places.is_staged else _reloads(units, rest, rest)
    return [*services, *units, *rest, *reloads]


def kept(places: Places) -> list[Path]:
    """Return what an uninstallation leaves: the table's memory, and what it was told."""
    return [
        path
        for name in (
            "/var/lib/shaker-ctl",
            "/etc/shaker-ctl",
            "/var/lib/shaker-page",
            "/etc/shaker-page",
            "/etc/shaker-link",
        )
        if (path := places.at(name)).exists()
    ]


def _to_set_up_package(wishes: Wishes) -> list[Act]:
    """What the package leaves: settings, keys, sockets, and that the table starts at power-on."""
    places = wishes.places
    found = _pending(_told(wishes))
    found += _pending(_keys(wishes))
    found += _pending(_page(wishes))
    packaged = Path("/usr/lib/systemd/system")
    started = _switched_on(places, PACKAGED_STARTED, packaged)
    switched_on = _pending([*started, *_page_started(wishes, packaged)])
    rules = _pending(_socket_rules(wishes))
    found += [*switched_on, *rules]
    if not places.is_staged:
        found += _reloads(switched_on, rules, ())
    return found


# ── Parts ───────────────────────────────────────────────────────────────────


def _require_prefix(places: Places) -> None:
    """The unit's `ProtectHome` hides homes: a service that lies there cannot start."""
    hidden = [name for name in ("home", "root") if str(places.prefix).startswith(f"/{name}/")]
    if hidden and not places.is_staged:
        raise InstallError(
            f"this program lies in {places.prefix}, where the service may not look",
            remedy=f"Install it into {PREFIX}: python3 -m venv {PREFIX} and "
            f"{PREFIX}/bin/pip install the wheel",
        )


def _user(places: Places) -> list[Act]:
    declared = Write(places.sysusers, _text("shaker-ctl.sysusers"))
    if places.is_staged:
        return _pending([declared])
    made = RunProgram(
        f"make the users {USER} and {PAGE_USER}, with their groups",
        ["systemd-sysusers", str(places.sysusers)],
        is_needless=lambda: (
            declared.is_done() and None not in map(user_number, (USER, PAGE_USER, LINK_USER))
        ),
        remedy="apt install systemd",
    )
    return _pending([declared, made])


def _folders(places: Places) -> list[Act]:
    group = None if places.is_staged else USER
    return [
        Folder(places.at("/etc/shaker-ctl"), 0o750, group=group),
        Folder(places.at("/var/lib/shaker-ctl"), 0o750, owner=group, group=group),
        Folder(places.page_keys, 0o750, group=None if places.is_staged else PAGE_USER),
        Folder(places.at("/etc/shaker-link"), 0o750, group=None if places.is_staged else LINK_USER),
        Folder(places.at("/media/shaker-journal")),
        Write(places.tmpfiles, _text("shaker-ctl.tmpfiles")),
    ]


def _configuration(wishes: Wishes) -> list[Act]:
    places = wishes.places
    return [
        *(Write(places.scripts / name, _text(name), 0o755) for name in SCRIPTS),
        *(
            Write(places.documents / name, _text(name))
            for name in ("README.md", "PARTS.md", "wiring.svg", "bench.conf")
        ),
        *_told(wishes),
    ]


def _told(wishes: Wishes) -> list[Act]:
    """What a house says of its table, and that it is one."""
    places = wishes.places
    group = None if places.is_staged else USER
    return [
        Write(places.settings, _text(SETTINGS), 0o640, group=group, keep=True),
        Write(places.pins, pins_file.environment(wishes.pins)),
        Write(places.real_table, REAL_TABLE),
    ]


def _keys(wishes: Wishes) -> list[Act]:
    """The key against which the seal is checked. Another one in its place is a person's matter."""
    if wishes.public_key is None:
        return []
    try:
        given = wishes.public_key.read_text("utf-8")
        there = wishes.places.public_key.exists() and wishes.places.public_key.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InstallError(
            f"the public key {wishes.public_key} cannot be read: "
            f"{getattr(error, 'strerror', '') or error}",
            remedy="Give the approver's seal.pub: shaker-ctl seal keys makes a pair",
        ) from error
    if there not in (False, given):
        raise InstallError(
            f"{wishes.places.public_key} holds another key, and a key is never replaced",
            remedy="A new approver: remove that file by hand, install the new key, seal again",
        )
    return [Write(wishes.places.public_key, given)]


def _page(wishes: Wishes) -> list[Act]:
    """The page's certificate. A staged folder gets none: it would bear the builder's name."""
    if not wishes.page or wishes.places.is_staged:
        return []
    return [MakeCertificate(wishes.places.page_keys, PAGE_USER)]


def _page_started(wishes: Wishes, folder: Path) -> list[Act]:
    return _switched_on(wishes.places, (PAGE_UNIT,), folder) if wishes.page else []


def _units(places: Places) -> list[Act]:
    return [
        *(
            Write(places.units / name, _text(name).replace(str(PREFIX), str(places.prefix)))
            for name in UNITS
        ),
        *_switched_on(places, STARTED, Path("/etc/systemd/system")),
    ]


def _switched_on(places: Places, names: Iterable[str], folder: Path) -> list[Act]:
    return [
        SymbolicLink(
            places.units / "multi-user.target.wants" / name,
            str(folder / name),
            f"start {name} at power-on",
        )
        for name in names
    ]


def _rules(wishes: Wishes) -> list[Act]:
    return [Write(wishes.places.rules, _text("shaker-ctl.rules")), *_socket_rules(wishes)]


def _socket_rules(wishes: Wishes) -> list[Act]:
    places = wishes.places
    made: list[Act] = []
    if wishes.devices:
        given = {
            name: sockets.rule(name, device, wishes.properties(device))
            for name, device in wishes.devices.items()
        }
        try:
            before = places.socket_rules.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            before = ""
        made.append(Write(places.socket_rules, sockets.merged(before, given)))
    return made


def _reloads(units: Sequence[Act], rules: Sequence[Act], log: Sequence[Act]) -> list[Act]:
    """The managers that must look again, each only where something of theirs has changed."""

    def say(what: str, *words: str) -> Act:
        return RunProgram(what, words, is_needless=lambda: False)

    found: list[Act] = []
    if units:
        found.append(say("have systemd read its units again", "systemctl", "daemon-reload"))
    if rules and UDEV.exists():
        found.append(say("have udev read its rules again", "udevadm", "control", "--reload"))
        found.append(say("have udev name the devices that are there", "udevadm", "trigger"))
    if log:
        found.append(
            say("restart the system log", "systemctl", "try-restart", "systemd-journald.service")
        )
    return found


def _pending(acts: Iterable[Act]) -> list[Act]:
    return [act for act in acts if not act.is_done()]


def _text(name: str) -> str:
    """Return a shipped file. Raises `InstallError` where the package is not whole."""
    remedy = "Install it again from its wheel"
    with reraise_as(InstallError, f"the installed package lacks {name}", remedy=remedy):
        return (shipped() / name).read_text("utf-8")
