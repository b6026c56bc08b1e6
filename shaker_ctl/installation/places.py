"""Where what a house told its table lies, below `/` or below a folder that stands for it.

Owns the paths and nothing else. The package's units, rules and scripts name the same paths as text;
a test holds them together.
"""

from __future__ import annotations

from pathlib import Path

from shaker_ctl.frozen import frozen

USER = "shaker"
"""The unprivileged user of the service, and its group."""

PAGE_USER = "shaker-page"
"""The unprivileged user of the page, and its group."""


def shipped() -> Path:
    """Return the folder of the pages for a house: beside the program in a wheel; in a source tree
    `systemd/`, where units, rules and scripts are, too.
    """
    package = Path(__file__).resolve().parents[1]
    beside = package / "units"
    return beside if beside.is_dir() else package.parent / "systemd"


@frozen
class Places:
    """Paths of an installed table. A `root` other than `/` is a folder that stands for one."""

    root: Path = Path("/")

    @property
    def is_staged(self) -> bool:
        """Whether this is a folder, and not the running system."""
        return self.root != Path("/")

    def at(self, path: str | Path) -> Path:
        """Return the absolute `path` as it lies below the root."""
        return self.root / Path(path).relative_to("/")

    @property
    def stop_script(self) -> Path:
        """Beside no Python: it must run when the environment is gone."""
        return self.at("/usr/libexec/shaker-ctl/motor-off")

    @property
    def started(self) -> Path:
        """What systemd starts at power-on: links to units."""
        return self.at("/etc/systemd/system/multi-user.target.wants")

    @property
    def house(self) -> Path:
        """Folder of what the house says of its table."""
        return self.at("/etc/shaker-ctl")

    @property
    def settings(self) -> Path:
        return self.house / "settings.toml"

    @property
    def answered(self) -> Path:
        """Which questions of `setup` were answered."""
        return self.house / "setup.answered"

    @property
    def public_key(self) -> Path:
        """The approver's key, against which the seal is checked at every start."""
        return self.house / "seal.pub"

    @property
    def pins(self) -> Path:
        """Which pins the scripts and the daemon's mask speak of, for programs without Python."""
        return self.house / "pins.conf"

    @property
    def real_table(self) -> Path:
        """The mark that no rig and no demonstration runs here (O-16)."""
        return self.house / "real-table"

    @property
    def page_keys(self) -> Path:
        """Folder of the page's certificate and key."""
        return self.at("/etc/shaker-page")

    @property
    def socket_rules(self) -> Path:
        return self.at("/etc/udev/rules.d/71-shaker-ctl-sockets.rules")
