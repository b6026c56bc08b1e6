"""Wheels for an arm64 Debian, unpacked by this machine's own pip: nothing runs inside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hil_tests.installed.debian import DebianError

PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}

LOCK = Path(__file__).resolve().parents[2] / "shaker_ctl" / "lock.txt"
"""What a table uses."""

LOCKED = ("--require-hashes", "-r", str(LOCK))
"""As words of pip."""

NEWEST_GLIBC = {"bookworm": 36, "trixie": 41}
"""Each Debian's glibc is 2.this; wheels for an older one fit too (PEP 600)."""

OLDEST_GLIBC = 17
"""The first that arm64 wheels were built for."""


class WheelsError(DebianError):
    """A library has no such wheel, or the index cannot be reached; the text is pip's."""


def unpack(suite: str, folder: Path, *wanted: str) -> None:
    """Have the wheels of `wanted`, words of pip, and of what they need, unpacked in `folder`.

    Raises `WheelsError`.
    """
    platforms = [
        f"--platform=manylinux_2_{minor}_aarch64"
        for minor in range(NEWEST_GLIBC[suite], OLDEST_GLIBC - 1, -1)
    ]
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--no-compile"),
        *("--platform=manylinux2014_aarch64", *platforms, f"--target={folder}"),
        *("--implementation=cp", f"--python-version={PYTHONS[suite]}", *wanted),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise WheelsError(f"no arm64 wheels for {suite}: {ran.stderr.strip()[-1500:]}")
