"""The libraries that this program runs with: which versions, and whether each is as installed.

Owns the list (`lock.txt`, the one that a table is installed from) and the digest of a library. Must
not know what a difference leads to.

A library's digest is taken over its installer's record (`RECORD`: each file with its SHA-256). The
same wheel gives the same digest on every table; `damage` holds the files against the record.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from importlib.metadata import Distribution, PackagePath, distributions
from pathlib import Path

from shaker_ctl.frozen import frozen
from shaker_ctl.whole_file import opened

LOCK = Path(__file__).with_name("lock.txt")

DECIDING = ("numpy", "onnxruntime", "opencv-python", "pigpio", "pymodbus")
"""What reads the dice, moves the motor and lights the lamps; `pyproject.toml` bounds each from
above."""

HEADLESS = {"opencv-python": "opencv-python-headless"}
"""The same library without windows; a house may install it instead."""

_BY_INSTALLER = frozenset({"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"})
"""Files that differ from one installation of a wheel to the next."""


@frozen
class Library:
    """One installed library."""

    name: str
    """As in the lock: lower case, with hyphens."""
    version: str
    digest: str
    """SHA-256 over the record of its files, in hex."""

    def line(self) -> str:
        """For seals and records."""
        return f"{self.version} sha256:{self.digest}"


def unsupported() -> str:
    """Say that the processor lacks an instruction of what reads the dice; empty where it does not.

    Such an instruction ends whoever meets it (SIGILL), so a process of its own tries.
    """
    ran = subprocess.run(
        [sys.executable, "-c", "import cv2, onnxruntime"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if ran.returncode != -signal.SIGILL:
        return ""
    return (
        "this processor is not supported: loading OpenCV and onnxruntime meets an instruction "
        "that it lacks"
    )


def locked(lock: Path = LOCK) -> dict[str, str]:
    """Return the version of each library in the lock, without those that other systems need.

    Raises OSError where the lock cannot be read.
    """
    found = {}
    for line in lock.read_text("utf-8").splitlines():
        entry = re.match(r"([a-z0-9-]+)==([^ ;]+)(.*)", line)
        if entry and "win32" not in entry[3]:
            found[entry[1]] = entry[2]
    return found


def installed(root: Path) -> dict[str, Library]:
    """Return those libraries of the lock that are installed beside the packages below `root`.

    A source tree has no libraries beside it: there, those that this program runs with are meant.
    """
    return {name: _library(name, found) for name, found in _found(root).items()}


def deciding(root: Path) -> dict[str, str]:
    """Return version and digest, as text, of each library that decides."""
    wanted = {*DECIDING, *HEADLESS.values()}
    return {name: _library(name, found).line() for name, found in _found(root, wanted).items()}


def damage(
    root: Path, wanted: Collection[str] = (), rest: Callable[[], None] = lambda: None
) -> Iterator[tuple[str, str, str]]:
    """Yield (library, file, what is wrong) for each file that is not as it was installed.

    `wanted`: only these libraries; by default those of the whole lock. `rest` is called before each
    file.
    """
    for name, found in _found(root, wanted).items():
        for file in _recorded(found):
            rest()
            path = Path(str(found.locate_file(file)))
            try:
                with opened(path) as content:
                    raw = hashlib.file_digest(content, "sha256").digest()
            except FileNotFoundError:
                yield name, str(file), "is missing"
                continue
            except OSError as error:
                yield name, str(file), f"cannot be read: {error.strerror}"
                continue
            spelled = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
            if file.hash is not None and spelled != file.hash.value:
                yield name, str(file), "differs from what was installed"


def strangers(root: Path, but: Collection[str]) -> Iterator[str]:
    """Yield each file beside the packages below `root` that no installer has put there.

    Python runs what a `.pth` names, and takes a `x.so`, or a folder `x`, before the `x.py` beside
    it. No installer makes a link to a folder. `but`: folders that are looked at otherwise. A source
    tree has no libraries beside it.
    """
    abouts = list(root.glob("*.dist-info"))
    if not abouts:
        return
    known = {
        row[0]
        for about in abouts
        if (about / "RECORD").exists()
        for row in csv.reader((about / "RECORD").read_text("utf-8").splitlines())
        if row
    }
    for folder, folders, files in os.walk(root):
        inside = Path(folder).relative_to(root)
        if not inside.parts:
            folders[:] = [f for f in folders if f not in but and not f.endswith(".dist-info")]
        if inside.name == "__pycache__":
            files = [file for file in files if not file.endswith(".pyc")]
        files += [each for each in folders if (Path(folder) / each).is_symlink()]
        yield from sorted({str(inside / file) for file in files} - known)


def _found(root: Path, wanted: Collection[str] = ()) -> dict[str, Distribution]:
    """The installed ones of `wanted`, by default of the whole lock."""
    has_own = any(root.glob("*.dist-info"))
    path = [str(root)] if has_own else sys.path
    found = {
        name: next(iter(distributions(name=name, path=path)), None)
        for name in sorted(wanted or {*locked(), *HEADLESS.values()})
    }
    return {name: one for name, one in found.items() if one is not None}


def _library(name: str, found: Distribution) -> Library:
    lines = sorted(f"{file} {file.hash.value}" for file in _recorded(found) if file.hash)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return Library(name, found.version, digest)


def _recorded(found: Distribution) -> Iterator[PackagePath]:
    """Yield the files that came out of the wheel as they are."""
    for file in found.files or ():
        is_made_here = file.name in _BY_INSTALLER or ".." in file.parts or file.suffix == ".pyc"
        if file.hash is not None and file.hash.mode == "sha256" and not is_made_here:
            yield file
