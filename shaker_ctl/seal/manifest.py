"""The list of everything that decides, with the SHA-256 of each, and what differs from it.

Owns which files are covered: all of the installed packages but their tests, the training tools and
documentation, none of which runs at a table; the libraries that they run with; the settings file; a
profile of the house's own; and what starts the program (`environment`).
A file that the list does not name is a difference too, since Python prefers a `reader.so` to the
`reader.py` beside it. Python also runs its compiled copies in `__pycache__` instead of the modules,
so each must come from its module.

Must not know keys, nor what a difference leads to. A program that checks itself proves nothing
against somebody who replaced the check: `shaker-ctl seal check` therefore also runs from another
medium, over this table's files (`--packages`).
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from shaker_ctl import libraries as installed_libraries
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import canonical
from shaker_ctl.seal import environment
from shaker_ctl.whole_file import opened

PACKAGES = ("shaker_ctl", "vision", "models")
"""What runs at a table. The rig and the tests do not."""

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the installed packages."""

_NOT_COVERED = frozenset({"__pycache__", "tests", "training"})
_DOCUMENTATION = frozenset({".md", ".svg", ".png", ".jpg"})

FORMAT = 2
"""2: the libraries are sealed too."""


class OtherFormatError(ValueError):
    """A seal that another version of the program wrote."""


@frozen
class SealFinding:
    """One file that is not as it was sealed."""

    file: str
    what: str

    def line(self) -> str:
        """For screens and records."""
        return f"{self.file} {self.what}"


@frozen
class Manifest:
    """What was sealed, when and by whom, and where the table keeps its journal.

    The journal stands here so that a fault can be recorded although the settings cannot be read.
    """

    sealed: str
    """Wall time, ISO 8601."""
    by: str
    packages: Mapping[str, str]
    """SHA-256 of each file of the packages, by its path below their folder."""
    libraries: Mapping[str, str]
    """Version and digest of each library, by its name."""
    elsewhere: Mapping[str, str]
    """SHA-256 of each other file, by absolute path: the settings, a profile of the house's own,
    units, drop-ins and scripts."""
    settings: str
    """Which of them is the settings file."""
    journal: str
    journal_second: str

    def signed_part(self) -> bytes:
        """The one spelling that is signed."""
        return canonical({"format": FORMAT, **{k: _plain(getattr(self, k)) for k in _FIELDS}})


_FIELDS = tuple(Manifest.__dataclass_fields__)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def understood(plain: Any) -> Manifest:
    """Return the manifest that a decoded file holds. Raises ValueError where it holds none."""
    if not isinstance(plain, dict):
        raise ValueError("its manifest is no table")
    if plain.get("format") != FORMAT:
        raise OtherFormatError("was written by another version of the program: seal again")
    given = {name: plain.get(name) for name in _FIELDS}
    for name, value in given.items():
        is_table = name in ("packages", "libraries", "elsewhere")
        if not isinstance(value, dict if is_table else str):
            raise ValueError(f"{name} is missing or of another kind")
        if isinstance(value, dict) and not all(isinstance(x, str) for x in value.values()):
            raise ValueError(f"{name} holds something else than digests")
    return Manifest(**given)  # type: ignore[arg-type]


# ── Taking ──────────────────────────────────────────────────────────────────


def covered(root: Path = ROOT) -> Iterator[Path]:
    """Yield each file of the packages below `root` that belongs to the seal, and each link to a
    folder: Python takes a folder `reader` before the `reader.py` beside it."""
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            inside = path.relative_to(root).parts
            if path.suffix in _DOCUMENTATION or not _NOT_COVERED.isdisjoint(inside):
                continue
            if path.is_file() or environment.is_linked_folder(path):
                yield path


def digest(path: Path) -> str:
    """SHA-256 of one file, in hex. Raises OSError."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests_of_packages(root: Path = ROOT) -> dict[str, str]:
    """Return the SHA-256 of each covered file, by its path below `root`. Raises OSError."""
    return {path.relative_to(root).as_posix(): digest(path) for path in covered(root)}


def digests_of_environment(root: Path = ROOT) -> dict[str, str]:
    """Return the SHA-256 of each file that starts the program, by its path on the table.

    Raises OSError.
    """
    return {name: digest(path) for name, path in environment.files(root).items()}


def libraries(root: Path = ROOT) -> dict[str, str]:
    """Return version and digest of each library that the packages below `root` run with."""
    return {name: one.line() for name, one in installed_libraries.installed(root).items()}


# ── Comparing ───────────────────────────────────────────────────────────────


def differences(
    manifest: Manifest, settings: Path, root: Path = ROOT, rest: Callable[[], None] = lambda: None
) -> list[SealFinding]:
    """Return every file that is not as sealed: changed, missing, or not sealed at all.

    `settings` is the file that the table is about to be run with. `rest` is called between files.
    """
    found = []
    if str(settings) != manifest.settings:
        found.append(
            SealFinding(
                str(settings), f"is not the settings file that was sealed: {manifest.settings}"
            )
        )
    starting = environment.files(root)
    for name, sealed in manifest.elsewhere.items():
        found += _compare(name, starting.get(name, Path(name)), sealed)
    for name in starting:
        if name not in manifest.elsewhere:
            found.append(SealFinding(name, "is not among the sealed files"))
    found += _packages_that_differ(manifest, root, rest)
    found += _libraries_that_differ(manifest.libraries, libraries(root))
    return [*found, *_damaged_libraries(root, rest=rest), *_strangers(root)]


def unlisted(root: Path = ROOT) -> list[SealFinding]:
    """Return what differs at the packages below `root` and shows in no digest: compiled copies,
    files of libraries against their installer's record, and what no installer has put there."""
    modules = (path for path in covered(root) if path.suffix == ".py")
    compiled = (each for path in modules for each in _compiled(path, root))
    return [*compiled, *_damaged_libraries(root), *_strangers(root)]


def _damaged_libraries(
    root: Path, wanted: Collection[str] = (), rest: Callable[[], None] = lambda: None
) -> Iterator[SealFinding]:
    for name, file, what in installed_libraries.damage(root, wanted, rest):
        yield SealFinding(f"library {name}: {file}", what)


def loaded_anew(manifest: Manifest, root: Path = ROOT) -> list[SealFinding]:
    """Return what differs among the files that a process of the table loads when it is restarted:
    the packages, the libraries that decide, and what Python would run in the place of either. A
    part of `differences`, and quick."""
    deciding = {*installed_libraries.DECIDING, *installed_libraries.HEADLESS.values()}
    sealed = {name: line for name, line in manifest.libraries.items() if name in deciding}
    return [
        *_packages_that_differ(manifest, root, lambda: None),
        *_libraries_that_differ(sealed, installed_libraries.deciding(root)),
        *_damaged_libraries(root, deciding),
        *_strangers(root),
    ]


def _packages_that_differ(
    manifest: Manifest, root: Path, rest: Callable[[], None]
) -> Iterator[SealFinding]:
    for name, sealed in manifest.packages.items():
        yield from _compare(name, root / name, sealed)
        rest()
    for path in covered(root):
        name = path.relative_to(root).as_posix()
        if name not in manifest.packages:
            yield SealFinding(name, "is not among the sealed files")
        elif path.suffix == ".py":
            yield from _compiled(path, root)
            rest()


def _libraries_that_differ(
    sealed_ones: Mapping[str, str], there: Mapping[str, str]
) -> Iterator[SealFinding]:
    for name in sorted({*sealed_ones, *there}):
        now, sealed = there.get(name), sealed_ones.get(name)
        if now is None:
            yield SealFinding(f"library {name}", "is missing")
        elif sealed is None:
            yield SealFinding(f"library {name}", "is not among the sealed ones")
        elif now != sealed:
            yield SealFinding(
                f"library {name}", f"is not as sealed: {_short(now)}, not {_short(sealed)}"
            )


def _strangers(root: Path) -> Iterator[SealFinding]:
    for file in installed_libraries.strangers(root, PACKAGES):
        yield SealFinding(file, "belongs to no library")


def _short(line: str) -> str:
    """Version and the first digits of the digest."""
    return line[: line.find(":") + 17]


def _compare(name: str, path: Path, sealed: str) -> Iterator[SealFinding]:
    try:
        now = digest(path)
    except FileNotFoundError:
        yield SealFinding(name, "is missing")
        return
    except OSError as error:
        yield SealFinding(name, f"cannot be read: {error.strerror}")
        return
    if now != sealed:
        yield SealFinding(name, f"differs from its seal: {now[:16]}, sealed {sealed[:16]}")


class _Looking(SourceFileLoader):
    """Finds the code that Python would run, and leaves the disk as it is."""

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Write no compiled copy."""


def _compiled(source: Path, root: Path) -> Iterator[SealFinding]:
    """Compare a module with the compiled copy that Python would run in its place."""
    cache = Path(importlib.util.cache_from_source(str(source)))
    if not cache.exists():
        return
    name = cache.relative_to(root).as_posix() if cache.is_relative_to(root) else str(cache)
    try:
        runs = _Looking(source.stem, str(source)).get_code(source.stem)
        meant = compile(source.read_bytes(), str(source), "exec", dont_inherit=True)
    except (OSError, SyntaxError):
        return  # the module itself has been found wrong above
    except Exception:  # noqa: BLE001 - damaged code objects raise anything, SystemError included
        yield SealFinding(name, "is not a compiled module: delete it")
        return
    if runs is None or not _is_same_code(runs, meant):
        yield SealFinding(name, "does not come from its module: delete it")


_PASSED_OVER = (
    "co_stacksize", "co_flags", "co_exceptiontable", "co_linetable", "co_qualname", "co_filename",
)  # fmt: skip
"""What Python's own equality of code does not look at, in one version or another."""


def _is_same_code(one: CodeType, other: CodeType) -> bool:
    """Compare all of two code objects, and what is inside them."""
    if one != other or any(getattr(one, n) != getattr(other, n) for n in _PASSED_OVER):
        return False
    inner = zip(one.co_consts, other.co_consts, strict=True)
    return all(_is_same_code(a, b) for a, b in inner if isinstance(a, CodeType))
