"""A table in one file: what a house told it and what it remembers, for an empty machine.

Owns the archive: a tar file whose last member lists the SHA-256 of each other one, as `sha256sum`
does. Files are taken and laid down as they are; what stands in them is their owners' matter.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from shaker_ctl.adapters.disk.journal_lock import JournalLock
from shaker_ctl.errors import RefusedError, ShakerError
from shaker_ctl.installation.places import Places
from shaker_ctl.rules.profile_files import own_files
from shaker_ctl.settings import Settings
from shaker_ctl.whole_file import sync_folder

SUMS = "SHA256SUMS"

BLOCK = 1 << 20


class BackupError(ShakerError):
    """A backup is not whole, or cannot be read or written."""

    code = "backup"


def sources(places: Places, found: Settings) -> list[Path]:
    """Return the files and folders that make up a table: settings, people, keys, calibration,
    journal and pictures, the page's own files."""
    return [
        places.house,
        places.page_keys,
        places.at("/etc/shaker-link"),
        places.socket_rules,
        found.journal.path.parent,
        found.journal.pictures,
        found.camera.teaching,
        found.page.state_dir,
        found.console.users_file,
        *own_files(found.table.profile),
    ]


def write(file: Path, places: Places, found: Settings) -> int:
    """Write the table into `file`, read it back, and return how many files it holds.

    Raises `RefusedError` while the table runs, or where `file` is there; `BackupError`.
    """
    try:
        with closing(JournalLock(found.journal.path)), _made(file) as aside:
            number = _archived(aside, places.root, _files(sources(places, found)))
            check(aside)
    except (OSError, ValueError, tarfile.TarError) as error:
        remedy = "Write it as root, with room, and with every file of the table below the root"
        raise BackupError(f"the backup {file} cannot be written: {error}", remedy=remedy) from error
    return number


@contextlib.contextmanager
def _made(file: Path) -> Iterator[Path]:
    """A new file for its owner alone, at its place once it is whole: keys are in it."""
    if file.exists():
        raise RefusedError(f"{file} is there already", remedy="Name another file")
    aside = file.with_name(f".{file.name}.partial")
    os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    try:
        yield aside
        with aside.open("rb") as written:
            os.fsync(written.fileno())
        aside.rename(file)
        sync_folder(file.parent)
    finally:
        aside.unlink(missing_ok=True)


def _files(roots: Iterable[Path]) -> list[Path]:
    """Every file below, once; no locks, which say that a process lives, and nothing half made."""
    found = {path for root in roots for path in (root, *_below(root))}
    taken = (path for path in found if path.suffix != ".lock" and not path.name.startswith("."))
    return sorted(path for path in taken if path.is_file())


def _below(root: Path) -> Iterator[Path]:
    """Raises OSError where a folder cannot be read: what is in it would be lost unsaid."""
    for folder, _, names in os.walk(root, onerror=_refuse):
        yield from (Path(folder, name) for name in names)


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _archived(aside: Path, root: Path, files: Iterable[Path]) -> int:
    sums = []
    with tarfile.open(aside, "w", format=tarfile.PAX_FORMAT, dereference=True) as archive:
        for path in files:
            name = str(path.absolute().relative_to(root))
            member = archive.gettarinfo(path, arcname=name)
            with path.open("rb") as content:
                member.size, digest = os.fstat(content.fileno()).st_size, hashlib.sha256()
                archive.addfile(member, _Hashed(content, digest))
            sums.append(f"{digest.hexdigest()}  {name}\n")
        text = "".join(sums).encode()
        last = tarfile.TarInfo(SUMS)
        last.size = len(text)
        archive.addfile(last, io.BytesIO(text))
    return len(sums)


class _Hashed(io.RawIOBase):
    """A file that is hashed as it is read."""

    def __init__(self, file: BinaryIO, digest: hashlib._Hash) -> None:
        self._file, self._digest = file, digest

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self._digest.update(block)
        return block


def check(file: Path) -> Mapping[str, str]:
    """Return the digest of each member. Raises `BackupError` where one is not as it was taken."""
    try:
        with tarfile.open(file, "r:") as archive:
            members = [each for each in archive if each.name != SUMS]
            found = {each.name: _digest(archive, each) for each in members}
            if len(found) < len(members):
                raise ValueError("two of its files have one name")
            listed = archive.extractfile(SUMS)
            lines = listed.read().decode().splitlines() if listed else []
    except (OSError, KeyError, EOFError, ValueError, tarfile.TarError) as error:
        raise BackupError(
            f"the backup {file} is not whole: {error}", remedy="Take another copy"
        ) from error
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    for name in sums.keys() | found.keys():
        if sums.get(name) != found.get(name):
            raise BackupError(
                f"the backup {file} is not whole: {name} is not as it was taken",
                remedy="Take another copy",
            )
    return sums


def _digest(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    path = PurePosixPath(member.name)
    content = archive.extractfile(member) if member.isreg() else None
    if content is None or path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{member.name} is no file of a table")
    digest = hashlib.sha256()
    while block := content.read(BLOCK):
        digest.update(block)
    return digest.hexdigest()


def restore(file: Path, root: Path, also: Iterable[Path] = ()) -> int:
    """Lay a whole backup onto an empty machine; return how many files. `also`: folders that hold
    files of this table, besides those of every table.

    Raises `RefusedError` where one of them is there, or belongs to no table, before anything is
    written; `BackupError`.
    """
    names = check(file)
    own = [*sources(Places(), Settings()), *also]
    for name in names:
        if not any(Path("/", name).is_relative_to(folder) for folder in own):
            raise RefusedError(
                f"{file} holds /{name}, where no table keeps files by itself",
                remedy=f"If yours does: --also {Path('/', name).parent}",
            )
        if (root / name).exists():
            raise RefusedError(
                f"{root / name} is there already: a backup is laid onto an empty machine",
                remedy="Move that table's files away, or install the package on another card",
            )
    laid: list[Path] = []
    try:
        with tarfile.open(file, "r:") as archive:
            for member in archive:
                if member.name != SUMS:
                    _lay(archive, member, root / member.name, laid)
    except (OSError, tarfile.TarError) as error:
        for path in laid:
            path.unlink()
        raise BackupError(f"{file}: {error}", remedy="Mend that, and restore again") from error
    return len(names)


def _lay(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path, laid: list[Path]) -> None:
    """Lay one file down, with owner and mode as they were, where this machine knows the owner."""
    _make_folder(path.parent, member)
    content = archive.extractfile(member)
    assert content is not None
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    laid.append(path)
    with open(number, "wb") as target:
        _give(path, member)
        os.fchmod(number, member.mode & 0o777)
        shutil.copyfileobj(content, target, BLOCK)
        target.flush()
        os.fsync(number)
    os.utime(path, (member.mtime, member.mtime))


def _make_folder(folder: Path, member: tarfile.TarInfo) -> None:
    """Whose a file is writes beside it, too: a table its next picture."""
    if not folder.is_dir():
        _make_folder(folder.parent, member)
        folder.mkdir(0o750)
        _give(folder, member)


def _give(path: Path, member: tarfile.TarInfo) -> None:
    if os.geteuid() == 0:
        with contextlib.suppress(LookupError):
            shutil.chown(path, member.uname, member.gname)
