"""Where everything of an installed table lies, below `/` or below a folder that stands for it.

Owns the paths and nothing else. The units, rules and scripts name the same paths as text; a test
holds them together.
"""

from __future__ import annotations

import sys
from pathlib import Path

from shaker_ctl.frozen import frozen

USER = "shaker"
"""The unprivileged user of the service, and its group."""

PAGE_USER = "shaker-page"
"""The unprivileged user of the page, and its group."""

LINK_USER = "shaker-link"
"""The unprivileged user of the link to a floor, and its group."""

PREFIX = Path("/opt/shaker-ctl")
"""The virtual environment that the units name, where it is installed as the page says."""

PACKAGED = Path("/usr/lib/shaker-ctl")
"""The environment of the Debian package, which brings user, units, scripts and rules itself."""


def shipped() -> Path:
    """Return the folder of units, rules and scripts: beside the package in a wheel, `systemd/` in a
    source tree.
    """
    package = Path(__file__).resolve().parents[1]
    beside = package / "units"
    return beside if beside.is_dir() else package.parent / "systemd"


@frozen
class Places:
    """Paths of an installation. `root` other than `/` stages it into a folder."""

    root: Path = Path("/")
    prefix: Path = Path(sys.prefix)
    """The environment whose `bin/shaker-ctl` the service runs, as seen from within `root`."""

    @property
    def is_staged(self) -> bool:
        """Whether this is a folder, and not the running system."""
        return self.root != Path("/")

    @property
    def is_packaged(self) -> bool:
        """Whether this program came as a Debian package, and not by hand."""
        return self.prefix == PACKAGED

    def at(self, path: str | Path) -> Path:
        """Return the absolute `path` as it lies below the root."""
        return self.root / Path(path).relative_to("/")

    @property
    def units(self) -> Path:
        return self.at("/etc/systemd/system")

    @property
    def scripts(self) -> Path:
        """Beside no Python: they must run when the environment is gone."""
        if self.is_packaged:
            return self.at("/usr/libexec/shaker-ctl")
        return self.at("/usr/local/libexec/shaker-ctl")

    @property
    def documents(self) -> Path:
        if self.is_packaged:
            return self.at("/usr/share/doc/shaker-ctl")
        return self.at("/usr/local/share/doc/shaker-ctl")

    @property
    def settings(self) -> Path:
        return self.at("/etc/shaker-ctl/settings.toml")

    @property
    def public_key(self) -> Path:
        """The approver's key, against which the seal is checked at every start."""
        return self.at("/etc/shaker-ctl/seal.pub")

    @property
    def page_keys(self) -> Path:
        """Folder of the page's certificate and key."""
        return self.at("/etc/shaker-page")

    @property
    def pins(self) -> Path:
        """Which pins the scripts and the daemon's mask speak of, for programs without Python."""
        return self.at("/etc/shaker-ctl/pins.conf")

    @property
    def real_table(self) -> Path:
        """The mark that no rig and no demonstration runs here (O-16)."""
        return self.at("/etc/shaker-ctl/real-table")

    @property
    def sysusers(self) -> Path:
        return self.at("/etc/sysusers.d/shaker-ctl.conf")

    @property
    def tmpfiles(self) -> Path:
        return self.at("/etc/tmpfiles.d/shaker-ctl.conf")

    @property
    def journald(self) -> Path:
        return self.at("/etc/systemd/journald.conf.d/shaker-ctl.conf")

    @property
    def rules(self) -> Path:
        return self.at("/etc/udev/rules.d/70-shaker-ctl.rules")

    @property
    def socket_rules(self) -> Path:
        return self.at("/etc/udev/rules.d/71-shaker-ctl-sockets.rules")
