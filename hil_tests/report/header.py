"""What a report says of the run itself: build, digests, station, operator.

Owns asking the source tree and the installation. Must not know tests.
"""

from __future__ import annotations

import getpass
import hashlib
import platform
import subprocess
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHOWN = 12
"""Hexadecimal digits of a digest: enough to tell two files apart by eye."""


def header(operator: str | None, station: str | None) -> dict[str, str]:
    """What stands above a report, by name; nothing that could not be found out is left out."""
    return {
        "station": station or platform.node(),
        "operator": operator or _user(),
        "computer": f"{platform.machine()}, Python {platform.python_version()}",
        "build": _build(),
        **{f"digest of {file.name}": _digest(file) for file in _decisive()},
    }


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def _build() -> str:
    try:
        version = metadata.version("shaker-ctl")
    except metadata.PackageNotFoundError:
        version = "not installed"
    commit = _git("rev-parse", "--short=12", "HEAD")
    if not commit:
        return f"shaker-ctl {version}"
    changed = ", with changes" if _git("status", "--porcelain", "--untracked-files=no") else ""
    return f"shaker-ctl {version}, commit {commit}{changed}"


def _git(*words: str) -> str:
    """The answer of git about this tree; empty where there is none."""
    try:
        ran = subprocess.run(
            ["git", "-C", str(ROOT), *words],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.strip() if ran.returncode == 0 else ""


def _decisive() -> list[Path]:
    """The files that decide a reading: the networks, and what the model's manifest says of them."""
    return sorted([*(ROOT / "models").glob("*.onnx"), *(ROOT / "models").glob("manifest*.toml")])


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:SHOWN]
