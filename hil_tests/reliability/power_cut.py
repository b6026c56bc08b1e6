"""Each state in which a kill or a power cut can leave the files of an act at a table.

`python -m hil_tests.reliability.power_cut` has a process of its own do each act once: records and a
change of volume, the first start, a conversion, archive, fetch, removal, a copy written anew, the
adoption of a lamp box; a person who is let in or removed, measured settings, the keys of a seal, a
seal. The process is stopped after every system call (ptrace(2)), and the files are kept as

- a kill leaves them: everything written so far;
- a power cut leaves them: only what was synced, file by file and folder by folder;
- a power cut leaves them whose medium kept names before contents, or the first half of what was
  written and not synced.

From each state the next start, or the act done again, must go on: nothing is lost that the act
had reported as written, no copy is broken, and nothing is in an archive that is not whole.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import typer

from hil_tests.campaign import Judged, Only, Results, judge_all
from hil_tests.reliability import former_form, tracer
from hil_tests.reliability.bytes_cut import fast_folder, records_after, volume_after
from shaker_ctl import sealed_start, settings_text
from shaker_ctl.adapters.disk.copy_rebuild import rebuild
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_path
from shaker_ctl.adapters.disk.former_journal import convert
from shaker_ctl.adapters.disk.journal_copies import OpenedJournal, open_copies
from shaker_ctl.adapters.disk.volume_archive import archive, delete, fetch, require_archived
from shaker_ctl.commands import seal
from shaker_ctl.console import accounts
from shaker_ctl.errors import ShakerError
from shaker_ctl.journal import volume
from shaker_ctl.journal.box_memory import BoxMemory
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, Record
from shaker_ctl.rules.vocabulary import Person, Role
from shaker_ctl.seal import examine, manifest, place, signature
from shaker_ctl.service.lamp_box import KEY, adopted, as_recorded, on_record

OLD_BOX = BoxMemory(1, 0, 0, frozenset(), None)
NEW_BOX = BoxMemory(4242, 0, 7, frozenset(), None)

GOES_ON, WRONG = "goes on", "WRONG"

Files = dict[str, bytes]
"""Contents by path below the folder; a folder's path ends with `/`."""


# ── The acts ────────────────────────────────────────────────────────────────


def parameters_in(folder: Path) -> JournalParameters:
    """Both copies, as on two media."""
    return JournalParameters(
        path=folder / "card" / "journal.jsonl", second=folder / "stick" / "journal.jsonl"
    )


def append(opened: OpenedJournal, records: list[Record]) -> None:
    """Write as the service does: the main copy's sync is reported, then the second follows."""
    opened.main.write(records)
    say(opened.main.head().sequence)
    opened.copies[1].write(records)


def say(word: object) -> None:
    """Report to whoever watches."""
    typer.echo(word)


def begin(folder: Path) -> None:
    """Two folders, and nothing in them."""
    (folder / "card").mkdir()
    (folder / "stick").mkdir()


def three_volumes(folder: Path) -> None:
    """A journal with two closed volumes in both copies, and a lamp box on record."""
    begin(folder)
    opened = open_copies(parameters_in(folder))
    for number, day in enumerate(("2026-01-02", "2026-01-03", "2026-11-22")):
        records = records_after(opened.main.head(), 6, round_of_first=1 + 2 * number)
        _write(opened, records)
        _write(opened, [volume_after(opened.main, day)])
    sealed_start.write(opened, Entry("opening", {KEY: as_recorded(OLD_BOX)}))
    opened.close()


def _write(opened: OpenedJournal, records: list[Record]) -> None:
    opened.main.write(records)
    opened.copies[1].write(records)


def archived(folder: Path) -> None:
    """As `three_volumes`, with every closed one in an archive."""
    three_volumes(folder)
    list(archive(parameters_in(folder), folder / "archive"))


def broken(folder: Path) -> None:
    """As `archived`; one closed volume of the main copy is damaged, one of the second is gone."""
    archived(folder)
    path, second = parameters_in(folder).path, parameters_in(folder).second
    content = bytearray(path.read_bytes())
    content[content.index(b'"kind":"step"') + 9] ^= 1
    path.write_bytes(content)
    assert second is not None
    volume_path(second, 2).unlink()


def former(folder: Path) -> None:
    """As `three_volumes`, in the form that an upgrade finds."""
    three_volumes(folder)
    for copy in (parameters_in(folder).path, parameters_in(folder).second):
        assert copy is not None
        former_form.put_back(copy)


def converted(folder: Path) -> None:
    for copy in (parameters_in(folder).path, parameters_in(folder).second):
        assert copy is not None
        heads = [head.sequence for _, head in convert(copy)]
        say(heads[-1] if heads else 0)


def is_converted(folder: Path, said: list[str]) -> None:
    """The act done again ends it, and nothing of it is lost."""
    converted(folder)
    plays_on(folder, [*said, "21"])


def start(folder: Path) -> None:
    open_copies(parameters_in(folder)).close()


def play(folder: Path) -> None:
    """Records, a change of volume, records, an orderly end."""
    opened = open_copies(parameters_in(folder))
    for _ in range(2):
        append(opened, records_after(opened.main.head(), 2))
    append(opened, [volume_after(opened.main, "2026-11-23")])
    for _ in range(2):
        append(opened, records_after(opened.main.head(), 2))
    opened.close()


def bring(folder: Path) -> None:
    for brought in archive(parameters_in(folder), folder / "archive"):
        say(brought.file.name)


def fetch_back(folder: Path) -> None:
    for brought in fetch(parameters_in(folder), folder / "archive"):
        say(brought.file.parent.name + "/" + brought.file.name)


def remove(folder: Path) -> None:
    """As `shaker-ctl journal remove`, for both closed volumes of January."""
    opened = open_copies(parameters_in(folder))
    going = [one for one in opened.main.present if one.day < "2026-02-01"]
    require_archived(opened, going, folder / "archive")
    by = {"name": "tess", "role": "technician"}
    numbers = [one.number for one in going]
    if going:
        sealed_start.write(opened, volume.removal(numbers, "archive", by, "the card is full"))
        say(opened.main.head().sequence)
        delete(opened, going)
    opened.close()


def write_anew(folder: Path) -> None:
    say(rebuild(parameters_in(folder), main=False).sequence)


def adopt(folder: Path) -> None:
    """As `shaker-ctl lamp adopt`, behind its questions."""
    opened = open_copies(parameters_in(folder))
    sealed_start.write(
        opened, adopted(NEW_BOX, Person("tess", Role.TECHNICIAN, "tess-1"), "the old one burnt out")
    )
    say(opened.main.head().sequence)
    opened.close()


def users_in(folder: Path) -> Path:
    return folder / "etc" / "users.toml"


def settings_in(folder: Path) -> Path:
    return folder / "etc" / "settings.toml"


def people(folder: Path) -> None:
    """Two people who may log in."""
    (folder / "etc").mkdir()
    accounts.add(users_in(folder), "dan", Role.DEALER, "four short words", "11")
    accounts.add(users_in(folder), "fay", Role.FLOORPERSON, "four short words", "12")


def let_in(folder: Path) -> None:
    accounts.add(users_in(folder), "tom", Role.TECHNICIAN, "four short words", "13")
    say("tom")


def turn_out(folder: Path) -> None:
    accounts.remove(users_in(folder), "dan", Role.DEALER)
    say("dan")


def set_up(folder: Path) -> None:
    """Settings as they were installed, the approver's key, and its public half at the table."""
    (folder / "etc").mkdir()
    for package in manifest.PACKAGES:
        (folder / "packages" / package).mkdir(parents=True)
    settings_in(folder).write_text("[camera]\nthresholds = 'as measured'\n")
    signature.make_pair(folder / "key.pem", place.beside(settings_in(folder)).public_key, None)


MEASURED = {"camera.calibration.height_m": 0.35}


def measure(folder: Path) -> None:
    file = settings_in(folder)
    settings_text.replace(file, settings_text.changed(file.read_text(), MEASURED, {}))
    say("measured")


def sealable(folder: Path) -> None:
    set_up(folder)
    settings_in(folder).write_text("")


def approve(folder: Path) -> None:
    """As `shaker-ctl seal write`, over packages that are empty."""
    seal.write(folder / "key.pem", "ann", settings_in(folder), folder / "packages")
    say("sealed")


def make_keys(folder: Path) -> None:
    signature.make_pair(folder / "etc" / "new.pem", folder / "etc" / "new.pub", None)
    say("made")


# ── What must be afterwards ─────────────────────────────────────────────────


@contextlib.contextmanager
def opened_in(folder: Path) -> Iterator[tuple[OpenedJournal, list[DiskJournal]]]:
    """What a start opens, and both copies of it."""
    opened = open_copies(parameters_in(folder))
    try:
        yield opened, opened.copies
    finally:
        opened.close()


def plays_on(folder: Path, said: list[str]) -> None:
    """Start; every reported record is in both copies; append, change the volume, start again."""
    reported = max(map(int, said), default=0)
    with opened_in(folder) as (opened, copies):
        assert opened.main.head().sequence >= reported, "a reported record is lost"
        assert copies[0].head() == copies[1].head(), "the copies end differently"
        _write(opened, records_after(opened.main.head(), 2))
        _write(opened, [volume_after(opened.main, "2026-11-24")])
        _write(opened, records_after(opened.main.head(), 2))
    with opened_in(folder) as (_, copies):
        for copy in copies:
            assert (damage := copy.verify()[1]) is None, damage


def is_brought(folder: Path, said: list[str]) -> None:
    """What was reported lies there whole, and the act done again brings the rest."""
    path = parameters_in(folder).path
    with contextlib.closing(DiskJournal(path, read_only=True)) as journal:
        for one in journal.closed:
            file = folder / "archive" / volume_path(path, one.number).name
            assert file.exists() or file.name not in said, f"{file.name} is lost"
            if file.exists():
                assert (damage := journal.verify_closed(one, file=file)[1]) is None, damage
        done = list(archive(parameters_in(folder), folder / "archive"))
        assert [one.number for one in done] == [one.number for one in journal.closed]
    plays_on(folder, [])


def is_fetched(folder: Path, said: list[str]) -> None:
    """What was reported is whole, the damaged file is kept, and the act done again ends it."""
    for name in said:
        path = parameters_in(folder).path.parent.parent / name
        assert path.exists(), f"{name} is lost"
    list(fetch(parameters_in(folder), folder / "archive"))
    aside = list((folder / "card").glob("journal.jsonl.replaced-*"))
    assert aside, "the damaged file is lost"
    plays_on(folder, [])


def is_removed(folder: Path, said: list[str]) -> None:
    """A start accepts what is gone; the act done again ends it; the archive gives it back."""
    start(folder)
    remove(folder)
    for path in (parameters_in(folder).path, parameters_in(folder).second):
        assert path is not None
        assert not volume_path(path, 2).exists(), "the volume was not removed"
    list(fetch(parameters_in(folder), folder / "archive"))
    plays_on(folder, said)


def is_written_anew(folder: Path, said: list[str]) -> None:
    """The main copy is as it was, and the act done again ends it."""
    rebuild(parameters_in(folder), main=False)
    plays_on(folder, said)


def is_adopted(folder: Path, said: list[str]) -> None:
    """The box on record is the old one or, once reported, the new one, in both copies."""
    with opened_in(folder) as (_, copies):
        for copy in copies:
            box = on_record(copy.newest_first())
            assert box is not None, "no box is on record"
            known = {NEW_BOX.serial_number} | ({OLD_BOX.serial_number} if not said else set())
            assert box.serial_number in known, f"box {box.serial_number} is on record"
    plays_on(folder, said)


def is_let_in(folder: Path, said: list[str]) -> None:
    """Nobody else is in or out; who was reported is in, and the act done again ends it."""
    before = {"dan", "fay"}
    names = {one.name for one in accounts.load(users_in(folder))}
    assert names in ([before | {"tom"}] if said else [before, before | {"tom"}]), names
    let_in(folder)
    assert {one.name for one in accounts.load(users_in(folder))} == before | {"tom"}


def is_turned_out(folder: Path, said: list[str]) -> None:
    """Whose removal was reported never comes back."""
    names = {one.name for one in accounts.load(users_in(folder))}
    assert names in ([{"fay"}] if said else [{"fay"}, {"dan", "fay"}]), names
    if "dan" in names:
        turn_out(folder)


def is_measured(folder: Path, said: list[str]) -> None:
    text = settings_in(folder).read_text()
    assert "as measured" in text, "the settings are lost"
    assert not said or "height_m" in text, "what was measured is lost"
    measure(folder)


def is_approved(folder: Path, said: list[str]) -> None:
    """No seal, or a whole one; which was reported is there, and the act done again ends it."""
    where = place.beside(settings_in(folder))
    if said or where.manifest.exists():
        found = examine.examine(where, folder / "packages")
        assert found.manifest is not None, found.findings  # of another folder, but signed and whole
    approve(folder)


def has_keys(folder: Path, said: list[str]) -> None:
    """A pair that was reported is one. Else another is made: a key is never replaced."""
    if said:
        private = signature.load_private(folder / "etc" / "new.pem", None)
        public = signature.load_public(folder / "etc" / "new.pub")
        assert signature.fingerprint(private.public_key()) == signature.fingerprint(public)
    signature.make_pair(folder / "etc" / "again.pem", folder / "etc" / "again.pub", None)


@dataclass(frozen=True)
class Act:
    """One act, what it starts from, and what must hold after each crash in it."""

    name: str
    before: Callable[[Path], None]
    does: Callable[[Path], None]
    holds: Callable[[Path, list[str]], None]


ACTS = (
    Act("first start", begin, start, plays_on),
    Act("records and a change of volume", three_volumes, play, plays_on),
    Act("conversion of a former journal", former, converted, is_converted),
    Act("archive", three_volumes, bring, is_brought),
    Act("fetch", broken, fetch_back, is_fetched),
    Act("removal", archived, remove, is_removed),
    Act("second copy written anew", three_volumes, write_anew, is_written_anew),
    Act("adoption of a lamp box", three_volumes, adopt, is_adopted),
    Act("person let in", people, let_in, is_let_in),
    Act("person removed", people, turn_out, is_turned_out),
    Act("measured settings", set_up, measure, is_measured),
    Act("keys of a seal", people, make_keys, has_keys),
    Act("seal", sealable, approve, is_approved),
)


# ── Watching ────────────────────────────────────────────────────────────────


def now_in(folder: Path) -> tuple[Files, dict[str, int]]:
    """Contents by path, and the inode of each; a folder has no contents."""
    files: Files = {}
    inodes: dict[str, int] = {}
    for where, _, names in os.walk(folder):
        place = os.path.relpath(where, folder) + "/"
        files[place] = b""
        inodes[place] = os.stat(where).st_ino
        for name in names:
            path = os.path.join(where, name)
            try:
                with open(path, "rb") as file:
                    content = file.read()
                    number = os.fstat(file.fileno()).st_ino
            except FileNotFoundError:  # it was renamed meanwhile
                continue
            files[os.path.normpath(place + name)] = content
            inodes[os.path.normpath(place + name)] = number
    return files, inodes


@dataclass
class Medium:
    """What of a folder a power cut would leave, by what was synced."""

    contents: dict[int, bytes] = field(default_factory=dict)
    """Of each file, by its inode, at its last sync."""
    names: dict[str, int] = field(default_factory=dict)
    """Inode of each path, at the last sync of the folder that it is in."""

    def sync(self, path: str, files: Files, inodes: dict[str, int]) -> None:
        """A file, or a folder with its names, has reached the medium."""
        if path in files:
            self.contents[inodes[path]] = files[path]
            return
        place = path + "/"
        inside = {name: n for name, n in inodes.items() if _folder_of(name) == place}
        gone = [name for name in self.names if _folder_of(name) == place and name not in inside]
        for name in gone:
            del self.names[name]
        self.names.update(inside)

    def left(self, names: dict[str, int]) -> Files:
        """The files by these names, with their contents as synced; none in a folder that is not
        there."""
        files: Files = {}
        for name in sorted(names, key=_depth):
            place = _folder_of(name)
            if place == name or place in files:
                files[name] = self.contents.get(names[name], b"")
        return files


def _folder_of(name: str) -> str:
    """Of a file or of a folder; of the outermost one itself."""
    if name == "./":
        return name
    return (os.path.dirname(name.rstrip("/")) or ".") + "/"


def _depth(name: str) -> int:
    """How many folders lie around it: each folder comes before what is in it."""
    return -1 if name == "./" else name.rstrip("/").count("/")


@dataclass(frozen=True)
class DiskState:
    """Files as something leaves them, and what the act had reported by then."""

    how: str
    said: tuple[str, ...]
    files: Files


PROGRAM = """
import sys
from pathlib import Path
from hil_tests.reliability import power_cut

act = next(one for one in power_cut.ACTS if one.name == sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
act.does(Path(sys.argv[2]))
"""


def states(act: Act, folder: Path) -> Iterator[DiskState]:
    """Do an act in a folder, and yield each state once in which a crash can leave it."""
    act.before(folder)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, act.name, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    os.set_blocking(process.stdout.fileno(), False)
    said = b""
    medium = Medium()
    files, medium.names = now_in(folder)
    medium.contents = {number: files[name] for name, number in medium.names.items()}
    found: dict[tuple[object, ...], DiskState] = {}

    def look(synced: str) -> None:
        nonlocal said
        said += process.stdout.read() or b""  # type: ignore[union-attr]
        files, inodes = now_in(folder)
        if synced:
            medium.sync(os.path.relpath(synced, folder), files, inodes)
        words = tuple(said.decode().split())
        for how, left in images(files, inodes, medium):
            found.setdefault((words, *sorted(left.items())), DiskState(how, words, left))

    watched = tracer.Watched(process.pid, look)
    watched.start()
    assert watched.began.wait(5.0)
    process.stdin.write(b"go\n")
    process.stdin.close()
    watched.join(120.0)
    status = process.wait(5.0)
    assert status == 0, f"{act.name} ended with status {status}; {watched.failure}"
    process.stdout.close()
    yield from found.values()


def images(files: Files, inodes: dict[str, int], medium: Medium) -> Iterator[tuple[str, Files]]:
    """What a crash can leave now."""
    yield "killed", files
    yield "power cut", medium.left(medium.names)
    yield "power cut, names first", medium.left(inodes)
    torn = medium.left(inodes)
    for name in torn:
        torn[name] = _half(torn[name], files[name])
    yield "power cut, half written", torn


def _half(synced: bytes, written: bytes) -> bytes:
    """The first half of what differs is on the medium."""
    size = max(len(synced), len(written))
    old, new = synced.ljust(size, b"\0"), written.ljust(size, b"\0")
    differing = [at for at in range(0, size, 512) if old[at : at + 512] != new[at : at + 512]]
    if not differing:
        return written
    middle = differing[len(differing) // 2]
    return (new[:middle] + old[middle:])[: len(written) if middle else len(synced)]


def lay(files: Files, folder: Path) -> Path:
    """Write a state into an emptied folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return folder


def verdict(act: Act, state: DiskState, folder: Path) -> str:
    """How it goes on from a state: GOES_ON, or WRONG and why."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # what is done again reports, too
            act.holds(lay(state.files, folder), list(state.said))
    except (ShakerError, AssertionError, OSError) as error:
        return f"{WRONG}: {state.how}, reported {' '.join(state.said) or 'nothing'}: {error}"
    return GOES_ON


def tried(act: Act) -> Counter[str]:
    """Do an act, and go on from each state; count how."""
    with fast_folder() as folder:
        (folder / "here").mkdir()
        every = list(states(act, folder / "here"))
        return Counter(verdict(act, state, folder / "there") for state in every)


def main(only: Only = None, results: Results = None) -> None:
    """Crash each act everywhere; status 1 where something is lost or does not go on."""
    acts = {act.name: act for act in ACTS}

    def one(case: str) -> Judged:
        seen = tried(acts[case])
        wrong = [f"{count} x {what}" for what, count in seen.items() if what != GOES_ON]
        told = f"{seen.total()} states, {seen[GOES_ON]} go on"
        return Judged(not wrong, "\n  ".join([told, *wrong]))

    judge_all(list(acts), one, only, results)


if __name__ == "__main__":
    typer.run(main)
