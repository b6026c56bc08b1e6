"""An arm64 Python with this project's libraries, run by qemu-user with every instruction counted.

Owns the Debian tree, the arm64 wheels, the counting plugin, and how a program is run with them. All
three are made once and kept in the cache folder. Nothing runs inside while they are made, and
nothing needs root.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hil_tests.arm64.processors import Core
from hil_tests.installed.arm64_wheels import LOCK, LOCKED, PYTHONS, WheelsError, unpack

SOURCE = Path(__file__).resolve().parents[2]
COUNTER = Path(__file__).with_name("counter.c")
CACHE = Path("/var/tmp/shaker-ctl-arm64")

SUITE = "bookworm"
PACKAGES = (
    *("base-files", "libc-bin", "python3", "libgl1", "libglib2.0-0", "libstdc++6", "libgomp1"),
)
"""Python, and what the wheels of OpenCV and onnxruntime link to."""
PROGRAMS = {"qemu-aarch64": "qemu-user", "mmdebstrap": "mmdebstrap", "cc": "gcc"}
"""Programs, and the Debian packages that bring them."""

RUN_S = 900.0


class EmulationError(Exception):
    """What is counted cannot be run here; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One line of the counter."""

    number: int
    """What the program said; -1 at its end."""
    instructions: int
    """Since the mark before, over all threads."""
    dots: int
    """Dot products of bytes among them."""


def marks_of(text: str) -> list[Mark]:
    """The counter's lines, in order. Raises ValueError where a line is none."""
    return [Mark(*map(int, line.split())) for line in text.splitlines()]


class Emulator:
    """Runs arm64 programs and counts."""

    def __init__(self, cache: Path = CACHE) -> None:
        """Make what is missing in `cache`, in some two minutes. Raises EmulationError."""
        missing = [package for name, package in PROGRAMS.items() if shutil.which(name) is None]
        if missing:
            raise EmulationError(
                f"counting arm64 instructions needs {', '.join(missing)}: "
                f"apt install {' '.join(missing)}"
            )
        cache.mkdir(parents=True, exist_ok=True)
        self._tree = _tree(cache)
        self._site = _site(cache)
        self._plugin = _plugin(cache)
        self._bytecode = cache / "bytecode"

    def words(
        self, core: Core, counts: Path, folder: Path, *, first_thread: bool = False
    ) -> list[str]:
        """The command that runs the arm64 Python and writes its counts to `counts`; its arguments
        follow. `folder` is the program's home. `first_thread`: no other thread is counted."""
        prefix = _prefix(self._tree, core)
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            # One standard library for all cores: by another path it would be compiled once more.
            "PYTHONHOME": str(self._tree / "usr"),
            "PYTHONPATH": f"{self._site}:{SOURCE}",
            "PYTHONPYCACHEPREFIX": str(self._bytecode),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        return [
            *("env", "-i", *(f"{name}={value}" for name, value in environment.items())),
            *("qemu-aarch64", "-cpu", core.qemu, "-L", str(prefix)),
            *("-plugin", f"{self._plugin},out={counts}{',threads=first' * first_thread}"),
            str(prefix / f"usr/bin/python{PYTHONS[SUITE]}"),
        ]

    def run(self, core: Core, folder: Path, arguments: Sequence[str]) -> list[Mark]:
        """Run the arm64 Python with `arguments` in `folder`. Raises EmulationError if it fails."""
        counts = folder / "counts"
        ran = subprocess.run(
            [*self.words(core, counts, folder), *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_S,
            check=False,
        )
        if ran.returncode != 0:
            said = (ran.stdout + ran.stderr).strip()[-1500:]
            raise EmulationError(f"{' '.join(arguments)} ended with {ran.returncode}: {said}")
        return marks_of(counts.read_text("ascii"))


def _tree(cache: Path) -> Path:
    tree = cache / f"{SUITE}-{_short(' '.join(PACKAGES))}"
    if tree.exists():
        return tree
    partial = tree.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    _make(
        f"an arm64 {SUITE}",
        [
            *("mmdebstrap", "--quiet", "--variant=extract", "--architectures=arm64"),
            *("--skip=output/dev", f"--include={','.join(PACKAGES)}", SUITE, str(partial)),
        ],
    )
    partial.rename(tree)
    return tree


def _site(cache: Path) -> Path:
    """One folder with the arm64 wheels of everything that is locked."""
    site = cache / f"site-{_short(LOCK.read_text('utf-8'))}"
    if site.exists():
        return site
    partial = site.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        unpack(SUITE, partial, *LOCKED)
    except WheelsError as error:
        raise EmulationError(str(error)) from error
    partial.rename(site)
    return site


def _plugin(cache: Path) -> Path:
    plugin = cache / f"counter-{_short(COUNTER.read_text('utf-8'))}.so"
    if not plugin.exists():
        partial = plugin.with_suffix(".partial")
        words = ["cc", "-O2", "-shared", "-fPIC", "-o", str(partial), str(COUNTER)]
        _make("the counter", words)
        partial.rename(plugin)
    return plugin


def _prefix(tree: Path, core: Core) -> Path:
    """The tree with a /proc/cpuinfo of `core`: qemu 7 shows the host's, by which onnxruntime would
    choose kernels of another processor. Real folders: a program resolves links in its own path."""
    prefix = tree.with_name(f"{tree.name}-{core.qemu}")
    if not prefix.exists():
        partial = prefix.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        _make("a tree of hard links", ["cp", "-al", str(tree), str(partial)])
        (partial / "proc").mkdir(exist_ok=True)
        (partial / "proc/cpuinfo").write_text(core.cpuinfo(), "ascii")
        partial.rename(prefix)
    return prefix


def _make(what: str, words: Sequence[str]) -> None:
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise EmulationError(f"{what} could not be made: {made.stderr.strip()[-1500:]}")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
