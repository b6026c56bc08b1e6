"""Stable names for devices by the USB socket they are plugged into.

Owns how udev's properties of a device become a rule. The name follows the socket, not the device's
serial number: CH34x adapters have none, and a broken camera can be replaced without a new
installation.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from shaker_ctl.errors import RefusedError, reraise_as

NAMES = {
    "camera": ("video4linux", "shaker-camera"),
    "lamps": ("tty", "shaker-lamps"),
    "technician": ("tty", "shaker-technician"),
    "dealer": ("tty", "shaker-dealer"),
}
"""What a person can name at the set-up: the kernel's subsystem, and the name under /dev."""

HEADER = "# Written by `shaker-ctl setup`: the USB sockets of this table's devices.\n"


def properties(device: Path) -> dict[str, str]:
    """Return what udev knows of `device`. Raises `RefusedError`."""
    words = ["udevadm", "info", "--query=property", f"--name={device}"]
    with reraise_as(RefusedError, "cannot run udevadm", remedy="apt install udev"):
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RefusedError(
            f"udev knows no device {device}",
            remedy="Plug it in and look for its name: ls /dev/video* /dev/ttyUSB* /dev/ttyACM*",
        )
    return dict(line.split("=", 1) for line in ran.stdout.splitlines() if "=" in line)


def rule(name: str, device: Path, known: Mapping[str, str]) -> str:
    """Return the rule that gives whatever is plugged in where `device` is the name of `name`.

    Raises `RefusedError` where `device` is another kind of device or in no socket.
    """
    subsystem, link = NAMES[name]
    if known.get("SUBSYSTEM") != subsystem:
        raise RefusedError(
            f"{device} is a {known.get('SUBSYSTEM', 'device of no kind')}, {name} needs a "
            f"{subsystem} device",
            remedy="Give the right one",
        )
    if not known.get("ID_PATH"):
        raise RefusedError(
            f"{device} is in no USB socket and needs no other name",
            remedy=f"Give no socket, and {device} as the device of the settings",
        )
    index = ', ATTR{index}=="0"' if subsystem == "video4linux" else ""
    # `link_priority` lets this name win over the one that fits any adapter.
    return (
        f'SUBSYSTEM=="{subsystem}", ENV{{ID_PATH}}=="{known["ID_PATH"]}"{index}, '
        f'SYMLINK+="{link}", OPTIONS+="link_priority=10"\n'
    )


def merged(before: str, given: Mapping[str, str]) -> str:
    """Return the rules file with the rules `given` by name; those of other names stay as before."""
    rules = {
        name: f"{line}\n"
        for line in before.splitlines()
        for name, (_, link) in NAMES.items()
        if f'SYMLINK+="{link}"' in line
    }
    return HEADER + "".join(rule for _, rule in sorted({**rules, **given}.items()))
