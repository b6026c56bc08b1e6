"""The acts that make up an installation: each says what it will do, and whether it is done.

Owns files, folders and commands of the operating system. Must not know what they are for. An act
that is done does nothing when asked again; an act that cannot be done raises `InstallError`.
"""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from shaker_ctl.errors import ShakerError, reraise_as
from shaker_ctl.frozen import frozen
from shaker_ctl.whole_file import put

MEND = "Mend that and run it again"


class InstallError(ShakerError):
    """An act of the installation failed. What was done before stays; running it again goes on."""

    code = "install"


class Act(Protocol):
    """One thing that an installation does."""

    @property
    def what(self) -> str:
        """What will be done, as an order."""

    def is_done(self) -> bool:
        """Whether there is nothing to do. Never raises for what is merely missing."""

    def do(self) -> None:
        """Do it. Raises `InstallError`."""


@frozen
class Write:
    """Have a file with this content. `keep`: whatever stands there already is right."""

    path: Path
    content: str
    mode: int = 0o644
    group: str | None = None
    """Name of the group that owns it; None: as the folder's writer has it."""
    keep: bool = False

    @property
    def what(self) -> str:
        try:
            is_other = self.path.read_text("utf-8") != self.content
        except FileNotFoundError:
            return f"write {self.path}"
        except (OSError, UnicodeDecodeError):
            is_other = True
        if is_other and not self.keep:
            return f"replace {self.path}"
        return f"give {self.path} mode {self.mode:04o}" + (
            f", group {self.group}" if self.group else ""
        )

    def is_done(self) -> bool:
        try:
            there = self.path.stat()
            is_same = self.keep or self.path.read_text("utf-8") == self.content
        except (OSError, UnicodeDecodeError):
            return False
        is_owned = self.group is None or group_number(self.group) == there.st_gid
        return is_same and is_owned and there.st_mode & 0o7777 == self.mode

    def do(self) -> None:
        with _changing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not (self.keep and self.path.exists()):
                put(self.path, self.content)
            self.path.chmod(self.mode)
            if self.group is not None:
                shutil.chown(self.path, group=self.group)


@frozen
class Folder:
    """Have a folder with this mode and, where they are named, this owner and group."""

    path: Path
    mode: int = 0o755
    owner: str | None = None
    group: str | None = None

    @property
    def what(self) -> str:
        owned = f", {self.owner or 'root'}:{self.group}" if self.group else ""
        return f"have the folder {self.path}, mode {self.mode:04o}{owned}"

    def is_done(self) -> bool:
        try:
            there = self.path.stat()
        except OSError:
            return False
        return (
            stat.S_ISDIR(there.st_mode)
            and there.st_mode & 0o7777 == self.mode
            and (self.owner is None or user_number(self.owner) == there.st_uid)
            and (self.group is None or group_number(self.group) == there.st_gid)
        )

    def do(self) -> None:
        with _changing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self.path.chmod(self.mode)
            if self.owner is not None:
                shutil.chown(self.path, user=self.owner)
            if self.group is not None:
                shutil.chown(self.path, group=self.group)


@frozen
class SymbolicLink:
    """Have a symbolic link to `target`: how a unit is switched on at start."""

    path: Path
    target: str
    what: str

    def is_done(self) -> bool:
        return self.path.is_symlink() and os.readlink(self.path) == self.target

    def do(self) -> None:
        with _changing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.unlink(missing_ok=True)
            self.path.symlink_to(self.target)


@frozen
class Remove:
    """Have a file or a whole folder gone."""

    path: Path

    @property
    def what(self) -> str:
        return f"remove {self.path}"

    def is_done(self) -> bool:
        try:
            self.path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return False

    def do(self) -> None:
        with _changing(self.path):
            if self.path.is_dir() and not self.path.is_symlink():
                shutil.rmtree(self.path)
            else:
                self.path.unlink(missing_ok=True)


@frozen
class RunProgram:
    """Have a program of the operating system run, unless `is_needless` says that it was."""

    what: str
    words: Sequence[str]
    is_needless: Callable[[], bool]
    remedy: str = ""

    def is_done(self) -> bool:
        return self.is_needless()

    def do(self) -> None:
        remedy = self.remedy or "Run it on Raspberry Pi OS or Debian with systemd"
        with reraise_as(InstallError, f"cannot run {self.words[0]}", remedy=remedy):
            ran = subprocess.run(self.words, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            said = (ran.stderr or ran.stdout).strip().splitlines()
            raise InstallError(
                f"`{' '.join(self.words)}` ended with status {ran.returncode}"
                + (f": {said[-1]}" if said else ""),
                remedy=self.remedy or MEND,
            )


@contextlib.contextmanager
def _changing(path: Path) -> Iterator[None]:
    """Raise what stands in the way of a change as `InstallError`."""
    try:
        yield
    except (OSError, LookupError) as error:
        is_denied = isinstance(error, PermissionError)
        remedy = "Run it as root: sudo shaker-ctl install" if is_denied else MEND
        reason = error.strerror if isinstance(error, OSError) else error
        raise InstallError(f"cannot change {path}: {reason}", remedy=remedy) from error


def user_number(name: str) -> int | None:
    """Return the user's number on this system; None where it is not known yet."""
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError:
        return None


def group_number(name: str) -> int | None:
    """Return the group's number on this system; None where it is not known yet."""
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        return None
