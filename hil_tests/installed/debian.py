"""A Debian in a folder: made once, kept as an archive, unpacked afresh for each check.

Owns mmdebstrap, the emulation of foreign processors, and how programs run inside. Needs root.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

CACHE = Path("/var/tmp/shaker-ctl-debian")
"""Not in the source tree: whatever walks through that would walk through a Debian."""

Cache = Annotated[Path, typer.Option("--cache", help="Where Debians are kept.")]

EMULATED_CPU = "cortex-a72"
"""A Raspberry Pi 4's. For programs of this machine's own kind it means nothing."""

BINFMT = Path("/proc/sys/fs/binfmt_misc")
EMULATOR = Path("/usr/bin/qemu-aarch64-static")
_ELF_ARM64 = (
    r":qemu-aarch64:M:0:\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:"
    r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:"
    rf"{EMULATOR}:F"
)
"""What an arm64 program looks like (Linux, Documentation/admin-guide/binfmt-misc.rst). `F` opens
the emulator now, so that it is also found inside a changed root."""


LIBRARIES = {
    "bookworm": ("libgl1", "libglib2.0-0"),
    "trixie": ("libgl1", "libglib2.0-0t64"),
}
"""What opencv-python links to and no wheel brings."""


class Suite(StrEnum):
    BOOKWORM = "bookworm"
    TRIXIE = "trixie"


class DebianError(Exception):
    """The check cannot run on this machine; the text says what to install."""


@contextlib.contextmanager
def checked() -> Iterator[None]:
    """Say why a check ends early: status 2 where it cannot run here, 1 where a program failed."""
    try:
        yield
    except DebianError as error:
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    except subprocess.CalledProcessError as error:
        typer.echo(f"FAIL: {error}", err=True)
        raise typer.Exit(1) from None


class Teller:
    """One line a promise, with the time it took since the last."""

    def __init__(self, about: str = "") -> None:
        """`about` stands before each line."""
        self._about = about
        self._since_s = time.monotonic()
        self.is_fine = True

    def __call__(self, text: str, is_fine: bool, why: str | Callable[[], str] = "") -> None:
        """`why`: the reason, printed below a promise that was not kept."""
        now_s = time.monotonic()
        took_s, self._since_s = now_s - self._since_s, now_s
        self.is_fine &= is_fine
        word = "ok  " if is_fine else "FAIL"
        print(f"{word} {self._about}{text} ({took_s:.0f} s)", flush=True)  # noqa: T201
        if why and not is_fine:
            print(why() if callable(why) else why)  # noqa: T201


ESSENTIAL = (
    *("base-files", "base-passwd", "bash", "ca-certificates", "coreutils", "dash", "debianutils"),
    *("diffutils", "findutils", "grep", "gzip", "hostname", "libc-bin", "login", "mawk"),
    *("ncurses-base", "passwd", "sed", "tar", "util-linux"),
)
"""What a Debian that is only unpacked needs in order to be one."""


MERGED_USR = "/usr/share/mmdebstrap/hooks/maybe-merged-usr"
"""Makes /bin and /lib the links that a maintainer script would have made."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which Debian."""

    suite: str
    packages: tuple[str, ...]
    architecture: str = "amd64"
    is_unpacked_only: bool = False
    """No maintainer script is run: a foreign processor's would be emulated, for half an hour."""

    @property
    def name(self) -> str:
        """Other packages make another Debian, and another archive."""
        packages = hashlib.sha256(" ".join(self.packages).encode()).hexdigest()
        return f"{self.suite}-{self.architecture}-{packages[:8]}"


def booting(suite: str, *more: str) -> Recipe:
    """Return a Debian that boots its own systemd, with what the product's libraries link to."""
    packages = ("systemd", "systemd-sysv", "dbus", "udev", "python3", "socat")
    return Recipe(suite, (*packages, *LIBRARIES[suite], *more))


def require(*programs: str) -> None:
    """Raise `DebianError` unless this is root and every program is there."""
    if os.geteuid() != 0:
        raise DebianError("this check makes a whole Debian and needs root: sudo make ...")
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise DebianError(
            f"missing: {', '.join(missing)}. "
            "apt install mmdebstrap systemd-container qemu-user-static"
        )


def emulate_arm64() -> None:
    """Have the kernel run arm64 programs by qemu. Stays until the next start of this machine."""
    require(EMULATOR.name)
    if not (BINFMT / "status").exists():
        mounted = subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", str(BINFMT)])
        if mounted.returncode != 0:
            raise DebianError("this kernel has no binfmt_misc: arm64 cannot be emulated here")
    if not (BINFMT / "qemu-aarch64").exists():
        (BINFMT / "register").write_text(_ELF_ARM64)


def archive(recipe: Recipe, folder: Path) -> Path:
    """Return the archive of such a Debian; make it where it is not there yet (minutes)."""
    path = folder / f"{recipe.name}.tar"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial.tar")
        how = ["--variant=minbase"]
        packages = recipe.packages
        if recipe.is_unpacked_only:
            how = ["--variant=extract", f"--hook-dir={MERGED_USR}"]
            packages = (*ESSENTIAL, *packages)
        subprocess.run(
            [
                *("mmdebstrap", "--quiet", *how),
                f"--architectures={recipe.architecture}",
                f"--include={','.join(packages)}",
                *(recipe.suite, str(partial)),
            ],
            check=True,
        )
        partial.rename(path)
    return path


def unpack(recipe: Recipe, folder: Path, root: Path) -> None:
    """Have a fresh one in `root`, in place of what is there."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    subprocess.run(["tar", "-C", str(root), "-xf", str(archive(recipe, folder))], check=True)


def inside(
    root: Path, words: Sequence[str], *, source: Path, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a program inside `root`, with `source` at /source to read only; return what it said.

    Python keeps there what it compiled: a Debian that is only unpacked has none of its own library,
    and an emulated start without any takes a minute.

    Raises `subprocess.CalledProcessError`, after printing what it said, where `check` is asked for.
    """
    command = [
        *("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--as-pid2", "--pipe"),
        *("--resolv-conf=off", "--timezone=off", f"--directory={root}"),
        *(f"--bind-ro={source}:/source", f"--setenv=QEMU_CPU={EMULATED_CPU}"),
    ]
    ran = subprocess.run(
        [*command, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if check and ran.returncode != 0:
        print(ran.stdout, ran.stderr)  # noqa: T201 - the reason, for whoever started the check
        ran.check_returncode()
    return ran
