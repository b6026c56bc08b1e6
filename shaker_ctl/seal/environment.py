"""The files beside the packages that decide as well: what starts the program, and with which pins.

Owns where they lie on an installed table: the environment's start script, the units with all their
drop-ins, the scripts of the units, and `pins.conf`. A source tree has none of them. Must not know
their contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

OF_TABLE = Path("/etc/shaker-ctl/pins.conf")
UNITS = (
    *("shaker-ctl.service", "shaker-pigpiod.service"),
    *("shaker-page.service", "shaker-link.service"),
)
BROUGHT = ("/usr/lib/systemd/system", "/usr/libexec/shaker-ctl")
"""Folders of a package: a version that is only unpacked has its own."""
OF_HOUSE = (
    *("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system"),
    *("/usr/local/libexec/shaker-ctl", "/etc/systemd/system.control", "/run/systemd/transient"),
)
STARTED_FROM = ("pyvenv.cfg", "bin/shaker-ctl")
"""Files of the virtual environment that start the program."""

PACKAGED = Path("usr/lib/shaker-ctl")
"""Below the root of a system: the environment of the package."""


def files(packages: Path) -> Mapping[str, Path]:
    """Return where each such file lies, by the absolute path that it has on the table.

    `packages`: the folder of the installed packages, of this system or of one that is mounted below
    a folder. Of a Debian package that was only unpacked, what the package brings is taken from
    there, and the house's own files from this system. Empty for every other folder.
    """
    try:
        prefix = packages.resolve().parents[2]
    except IndexError:
        return {}
    if prefix.parts[-3:] != PACKAGED.parts or not (prefix / "pyvenv.cfg").exists():
        return {}
    return dict(_files(prefix.parents[2], Path("/") / PACKAGED))


def _files(root: Path, prefix: Path) -> Iterator[tuple[str, Path]]:
    def below(root: Path, path: str | Path) -> Path:
        return root / Path(path).relative_to("/")

    for name in STARTED_FROM:
        yield str(prefix / name), below(root, prefix) / name
    house = root if (root / "etc/shaker-ctl").is_dir() else Path("/")
    for folders, where in ((BROUGHT, root), (OF_HOUSE, house)):
        for folder in folders:
            for path in sorted(below(where, folder).rglob("*")):
                inside = path.relative_to(below(where, folder))
                if (path.is_file() or is_linked_folder(path)) and _decides(folder, inside):
                    yield str(Path(folder) / inside), path
    if (pins := below(house, OF_TABLE)).exists():
        yield str(OF_TABLE), pins


def _decides(folder: str, inside: Path) -> bool:
    if folder.endswith("libexec/shaker-ctl"):
        return True
    first = inside.parts[0]
    is_drop_in = first in {f"{unit}.d" for unit in UNITS} or first == "service.d"
    return is_drop_in or (first in UNITS and len(inside.parts) == 1)


def is_linked_folder(path: Path) -> bool:
    """Whether a link to a folder stands there. What lies in that folder is looked at by no search
    of this one, and is found by whoever follows the link: systemd, and Python."""
    return path.is_symlink() and path.is_dir()
