"""The arm64 package on an emulated arm64 Debian, as a Raspberry Pi has it.

    python -m hil_tests.installed.arm64 --package dist/shaker-ctl_..._arm64.deb --suite bookworm

The package unpacked: `shaker-ctl --version`, `shaker-ctl read` on a picture of known truth, and the
source tree's unit tests under its libraries. Emulated by qemu, so figures of speed mean nothing
here, and the tests' own time limits are lifted (see `slow_machine`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import cv2
import typer

from hil_tests.arm64.processors import A72
from hil_tests.installed import arm64_wheels, debian
from hil_tests.installed.arm64_wheels import PYTHONS
from hil_tests.installed.debian import Teller
from vision.tests.drawing import Die, draw

HERE = Path(__file__).resolve().parents[2]

PREFIX = "/usr/lib/shaker-ctl"

TEST_TOOLS = (
    *("pytest>=8.3", "pytest-timeout>=2.3", "pytest-xdist>=3.6", "hypothesis>=6.112"),
    *("pexpect>=4.9", "scipy>=1.14"),
)

DICE = (Die(-22, -12, 20, 3), Die(18, -18, 55, 6), Die(4, 22, 80, 1))
"""Three flat dice, apart: left to right 3, 1, 6."""


def recipe(suite: str) -> debian.Recipe:
    """Return the Debian of one suite: what the package depends on, and nothing else."""
    packages = ("python3", "mount", *debian.LIBRARIES[suite])
    return debian.Recipe(suite, packages, "arm64", is_unpacked_only=True)


def _inside(root: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a program there. qemu before 8.2 shows the host's processor, by which onnxruntime,
    looking for features of arm64, is led into a crash."""
    told = ("sh", "-c", 'mount --bind /cpuinfo /proc/cpuinfo && exec "$@"', "sh")
    return debian.inside(root, [*told, *words], source=HERE, check=check)


def check(suite: str, package: Path, cache: Path, tests: Sequence[str], processes: int) -> bool:
    """Check one suite; return whether all held. `tests`: folders or files of unit tests."""
    root = cache / f"{suite}-root"
    say = Teller(f"{suite}: ")
    debian.unpack(recipe(suite), cache, root)
    # As dpkg does it: /lib stays a link.
    unpacked = 'dpkg-deb --fsys-tarfile "$0" | tar -C "$1" --keep-directory-symlink -x'
    subprocess.run(["sh", "-c", unpacked, str(package), str(root)], check=True)
    arm64_wheels.unpack(suite, root / TOOLS.lstrip("/"), *TEST_TOOLS)
    (root / "cpuinfo").write_text(A72.cpuinfo())
    machine = _inside(root, "uname", "-m").stdout.strip()
    python = _inside(root, PYTHON, "--version").stdout.strip()
    say(f"{machine}, {python}", machine == "aarch64" and PYTHONS[suite] in python)
    say(*_version(root))
    say(*_read(root))
    say(*_unit_tests(root, tests, processes))
    return say.is_fine


SAID = "tests.log"
"""In the root: what pytest says."""

TOOLS = "/srv/tools"
PYTHON = f"{PREFIX}/bin/python3"
PROGRAM = f"{PREFIX}/bin/shaker-ctl"


def _version(root: Path) -> tuple[str, bool]:
    """Return what the program says of itself, and whether that is a version."""
    version = _inside(root, PROGRAM, "--version").stdout.strip()
    return version, bool(re.fullmatch(r"shaker-ctl \d+\.\d+\.\d+\S*", version))


def _read(root: Path) -> tuple[str, bool]:
    """Read a drawn picture of known values, as a photograph: a table reads once it was taught."""
    cv2.imwrite(str(root / "srv/dice.png"), draw(DICE))
    ran = _inside(root, PROGRAM, "read", "--json", "/srv/dice.png", check=False)
    line = ran.stdout.strip().splitlines()[-1] if ran.stdout.strip() else "{}"
    try:
        values = json.loads(line).get("values")
    except json.JSONDecodeError:
        values = None
    said = f"read {values}" if values else f"status {ran.returncode}: {line[:300]}"
    is_fine = ran.returncode == 0 and sorted(values or ()) == sorted(die.value for die in DICE)
    return said, is_fine


def _unit_tests(root: Path, tests: Sequence[str], processes: int) -> tuple[str, bool]:
    """Run the source tree's tests, all that need no rig; return pytest's last line."""
    needs_rig = [
        f"--ignore=/source/{path.relative_to(HERE)}"
        for package in ("shaker_ctl", "vision")
        for path in (HERE / package).rglob("test_*.py")
        if "hil_tests" in path.read_text("utf-8")
    ]
    words = [
        *("env", f"PYTHONPATH=/source:{TOOLS}", "PYTHONDONTWRITEBYTECODE=1", PYTHON),
        *("-m", "pytest", "-v", "-c", "/source/pyproject.toml", "--rootdir", "/source"),
        *("-p", "no:cacheprovider", "-m", "not rig", "-o", "timeout=3600"),
        *("-p", "hil_tests.installed.slow_machine", f"--numprocesses={processes}"),
        *("--durations=15", *needs_rig, *(f"/source/{one}" for one in tests)),
    ]
    ran = _inside(root, "sh", "-c", f"{shlex.join(words)} >/{SAID} 2>&1", check=False)
    said = (root / SAID).read_text("utf-8").strip().splitlines() or ["pytest said nothing"]
    if ran.returncode != 0:
        print("\n".join(said[-150:]))  # noqa: T201 - the reason
    return said[-1].strip("= "), ran.returncode == 0


def main(
    package: Annotated[Path, typer.Option()],
    suite: debian.Suite = debian.Suite.BOOKWORM,
    cache: debian.Cache = debian.CACHE,
    tests: Annotated[list[str] | None, typer.Option(help="A folder or file of tests.")] = None,
    processes: int = os.cpu_count() or 1,
) -> None:
    """The package on the emulated arm64 Debian of its suite; status 1 where something fails."""
    with debian.checked():
        debian.require("mmdebstrap", "systemd-nspawn", "dpkg-deb")
        debian.emulate_arm64()
        if not check(suite, package, cache, tests or ("shaker_ctl", "vision"), processes):
            raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
