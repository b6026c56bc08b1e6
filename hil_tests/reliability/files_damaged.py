"""Every file of a table, flipped, cut, emptied and exchanged, byte by byte.

`python -m hil_tests.reliability.files_damaged` damages each byte of the small files and a seeded
sample of the large ones. It starts the table as far as its first device, reads who may log in,
brings the tables of figures up to date, and compares the lamp box's memory with the journal. A
start may succeed only if it read the same values as from the undamaged file. Otherwise it must end
with the promised status and line, or with the named fault of a lamp box. Any other exception counts
as `traceback`, and is always an error.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import typer
from typer.testing import CliRunner

from hil_tests.campaign import Judged, Only, Results, judge_all
from hil_tests.reliability.bytes_cut import fast_folder, forged, records_after, volume_after
from hil_tests.reliability.large_journal import a_round
from hil_tests.rig.lamp_box.box import SERIAL_NUMBER, LampBox
from hil_tests.rig.lamp_box.memory import Retained
from shaker_ctl import sealed_start, settings
from shaker_ctl.adapters.disk import record_tables, volume_proofs
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.dispute_list import Dispute, DisputeList, known
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.disk.record_tables import RecordTables, TablesReader
from shaker_ctl.adapters.disk.records_watch import RecordsWatch
from shaker_ctl.commands.seal import app as seal
from shaker_ctl.console import accounts
from shaker_ctl.errors import JournalCorruptError, ShakerError
from shaker_ctl.journal.box_memory import BoxMemory, compare_lamp_box
from shaker_ctl.journal.proofs import Proof, Proofs
from shaker_ctl.journal.record import Anchor, Entry, Head, Record, table_mark
from shaker_ctl.lamp import registers
from shaker_ctl.main import exit_status
from shaker_ctl.reading import taught_table
from shaker_ctl.reading.taught_table import Bound, TaughtTable
from shaker_ctl.rules import commands
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.vocabulary import Role, play
from shaker_ctl.seal.examine import NOTHING
from shaker_ctl.service.lamp_box import KEY, as_recorded, journal_memory
from shaker_ctl.tests.installed_library import install_library
from vision.networks.model_card import MANIFEST, read_model_card

BAD_MEMORY = "fault: the lamp box's memory is bad"
"""The table comes up with this fault of its lamp box; it is not opened."""

STARTS, CHANGED, TRACEBACK = "starts", "accepted a change", "traceback"
WRONG = (CHANGED, TRACEBACK)

BOX, PICTURE, TEACHING = "lamp-memory.json", "calibration.png", "teaching"

VALUES = (2, 2, 5)
LAYOUT = rulebook(TableParameters()).layout
AREAS = LAYOUT.won(VALUES)
"""The last round of the journal, which the box lit."""

MOST, SEED = 20_000, 1
"""Places in a large file, and the seed of them."""


class BadMemoryError(Exception):
    """The lamp box says that its memory failed its check."""


def _span(block: registers.Block) -> tuple[int, int]:
    return block.address, block.words


@dataclass(frozen=True)
class TableFiles:
    """One table in a folder: sealed, with people, a journal of two volumes, a dispute, tables, the
    model, a picture of its calibration, its teaching, and its lamp box's memory."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "settings.toml"

    @property
    def packages(self) -> Path:
        return self.folder / "packages"

    def files(self) -> list[Path]:
        """Every file of the table, but the program's modules, which the seal's tests damage."""
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(
            path.relative_to(self.folder) for path in found if path.suffix not in (".lock", ".py")
        )

    def contents(self) -> dict[Path, bytes]:
        """Return the bytes of every file but the packages."""
        found = {}
        for place, folders, names in os.walk(self.folder):
            if place == str(self.folder):
                folders.remove(self.packages.name)
            found.update({(here := Path(place, name)): here.read_bytes() for name in names})
        return found

    def facts(self, *, is_seal_looked_at: bool = True) -> tuple[object, ...]:
        """Start as far as the first device; return what was read. Raises as a start does.

        Without a look at the seal's files, which takes most of the time: for damage elsewhere.
        """
        found = NOTHING
        if is_seal_looked_at:
            found = sealed_start.check_files(self.config, self.packages)
            read_model_card(self.packages / "models" / "manifest.toml")
        chosen = settings.load(self.config)
        sealed_start.check_required(found, chosen.seal, self.config)
        opened = open_copies(chosen.journal)
        try:
            RecordsWatch(opened.copies).refuse_a_broken_one()
            sealed_start.check_journal(found, opened)
            for copy in opened.copies:  # as the proving does before the table opens
                for one in copy.closed:
                    if (damage := copy.verify_closed(one)[1]) is not None:
                        raise JournalCorruptError(damage.line(), remedy="journal verify")
            disputes = DisputeList(chosen.journal.pictures, known(opened.main.milestones())).acts()
            records = list(opened.main.newest_first())
            box = self.box_memory(opened.main)
        finally:
            opened.close()
        people = accounts.load(chosen.console.users_file)
        taught = taught_table.found(chosen.camera)
        # A volume whose proof is lost is verified anew: it is enough that they answer.
        volume_proofs.load(volume_proofs.place(chosen.journal.path))
        figures = figures_of(chosen.journal.path)
        return found.seal, found.manifest, chosen, records, people, disputes, figures, box, taught

    def box_memory(self, journal: DiskJournal) -> BoxMemory:
        """What the virtual lamp box remembers, as the service asks for it; compared as at a start.

        Raises BadMemoryError, JournalCorruptError.
        """
        box = LampBox(memory=self.folder / BOX)
        status = registers.decode_status(box.read(*_span(registers.STATUS)), LAYOUT)
        if registers.Flag.MEMORY in status.flags:
            raise BadMemoryError
        anchor, erasures = registers.decode_anchor(box.read(*_span(registers.ANCHOR)))
        lit = registers.decode_committed(box.read(*_span(registers.COMMITTED)), LAYOUT)
        head = Head(anchor.record, anchor.head)
        memory = BoxMemory(
            *(SERIAL_NUMBER, erasures, status.last_committed_round),
            frozenset({lit.first, lit.areas}),
            Anchor(anchor.table, anchor.round_id, head),
        )
        if (finding := compare_lamp_box(journal_memory(journal), memory)) is not None:
            raise JournalCorruptError(finding.text, remedy=finding.remedy)
        return memory

    def outcome(self, sound: tuple[object, ...], *, is_guarded: bool) -> str:
        """How a start ends. `sound`: what it read before anything was damaged; `is_guarded`: a
        change of this file must be noticed."""
        try:
            facts = self.facts(is_seal_looked_at=sound[0] != NOTHING.seal)
        except ShakerError as error:
            return f"status {exit_status(error)}: {error.code}"
        except BadMemoryError:
            return BAD_MEMORY
        except Exception as error:  # noqa: BLE001 - whatever a start lets through is the finding
            return f"{TRACEBACK}: {type(error).__name__}"
        return CHANGED if is_guarded and facts != sound else STARTS


def figures_of(journal: Path) -> tuple[object, ...]:
    """What the tables beside the chain answer, before and after the records process takes them up.

    Before, a question may also have no answer; then the one of afterwards stands here twice.
    """
    reader = TablesReader(record_tables.place(journal))

    def asked() -> tuple[object, ...]:
        return reader.counted(), reader.meters(), reader.dice(), reader.ledger(0)

    before = asked()
    with contextlib.redirect_stderr(io.StringIO()):  # its line about damage
        tables = RecordTables(journal)
    while tables.keep_up():
        pass
    tables.close()
    after = asked()
    return *(b if b is not None else a for b, a in zip(before, after, strict=True)), *after


def played(head: Head, rounds: int) -> list[Record]:
    """Forge some rounds, with an opened compartment and other dice, so that each counter moves."""
    chance = random.Random(1)
    opened, dice = ({"type": "CompartmentOpened"}, {"type": "DiceChanged", "serials": ["A"]})
    entries = [Entry("step", {"event": event, "decision": []}) for event in (opened, dice)]
    box = BoxMemory(SERIAL_NUMBER, 0, 0, frozenset(), None)
    push = to_record(commands.PushLamps(play(rounds + 1), VALUES, tuple(sorted(AREAS))))
    entries += [
        *(entry for n in range(1, rounds + 1) for entry in a_round(n, chance)),
        Entry("opening", {KEY: as_recorded(box)}),
        Entry("step", {"rows": [], "decision": [push]}, rounds + 1),
    ]
    return forged(head, entries, lambda _: "2026-11-22T12:00:00.000+00:00")


def remember(path: Path, last: Record, table: bytes) -> None:
    """Write the memory of a box that lit the last round and keeps the head of the journal."""
    memory, number = Retained(path), last.plain["round"]
    anchor = registers.BoxAnchor(table, number, last.sequence, last.hash)
    memory.anchor = registers.encode_anchor(anchor)
    memory.commit(number, LAYOUT.mask(AREAS))


def made(folder: Path) -> TableFiles:
    """Make a whole table in an empty folder."""
    table = TableFiles(folder)
    for package in ("shaker_ctl", "vision", "models"):
        (table.packages / package).mkdir(parents=True)
        (table.packages / package / "program.py").write_text(f"NAME = {package!r}\n")
    for file in ("manifest.toml", "dice.onnx", "near.onnx", "photo.onnx"):
        shutil.copy(MANIFEST.with_name(file), table.packages / "models" / file)
    install_library(table.packages, "mdurl", "mdurl.py", b"ANSWER = 42\n")
    (folder / PICTURE).write_bytes(bytes(random.Random(1).randbytes(2000)))
    (folder / "stick").mkdir()
    (folder / "approver").mkdir()
    table.config.write_text(
        f'[console]\nusers_file = "{folder / "users.toml"}"\n'
        f'[journal]\npath = "{folder / "journal.jsonl"}"\n'
        f'second = "{folder / "stick" / "journal.jsonl"}"\npictures = "{folder / "pictures"}"\n'
        f'[camera]\nteaching = "{folder / TEACHING}"\n'
        f'[camera.calibration]\npicture = "{folder / PICTURE}"\n'
    )
    accounts.add(folder / "users.toml", "tom", Role.TECHNICIAN, "a phrase of words", "tom-1")
    _run("keys", str(folder / "approver" / "seal.key"), str(folder / "seal.pub"), "--no-passphrase")
    _run(
        *("write", "--key", str(folder / "approver" / "seal.key"), "--by", "Ann"),
        *("--config", str(table.config), "--packages", str(table.packages)),
    )
    shutil.rmtree(folder / "approver")
    camera, parameters = settings.load(table.config).camera, settings.load(table.config).journal
    bound, now = Bound.now(camera, ("A", "B", "C")), datetime(2026, 11, 22, tzinfo=UTC)
    taught = TaughtTable(bound, now, (), 34, 1.0, True, "", b"what was learnt")
    (folder / TEACHING).write_bytes(taught.to_bytes())
    opened = open_copies(parameters)
    records = records_after(opened.main.head(), 10)
    opened.main.write(records)
    records.append(volume_after(opened.main))
    records += played(Head(records[-1].sequence, records[-1].hash), 3)
    opened.main.write(records[10:])
    opened.copies[1].write(records)
    disputes = DisputeList(parameters.pictures)
    disputes.add(Dispute(1, True, "fay", "a five", "2026-11-23"))
    sealed_start.write(opened, disputes.listed().entry())
    remember(folder / BOX, records[-1], table_mark(opened.main.identity))
    proof = Proof(volume_proofs.mark_of(parameters.path), 1.0)
    proofs = Proofs().proved(str(parameters.path), proof)
    volume_proofs.save(volume_proofs.place(parameters.path), proofs)
    opened.close()
    figures_of(parameters.path)
    return table


def _run(*words: str) -> None:
    done = CliRunner().invoke(seal, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output


def is_guarded(file: Path) -> bool:
    """Whether a change of this file must be noticed, and not only be survived."""
    is_of_model = "models" in file.parts
    names = ("seal.", "settings", "users", "disputes", BOX, TEACHING)
    return is_of_model or file.name.startswith(names) or "journal" in file.name


def is_sealed(file: Path) -> bool:
    """Whether the seal's files must be looked at where this one is damaged."""
    return "packages" in file.parts or file.name.startswith(("seal.", "settings"))


Damage = Callable[[bytes], bytes]


def _flipped(at: int, bit: int, content: bytes) -> bytes:
    return content[:at] + bytes([content[at] ^ bit]) + content[at + 1 :]


def _cut(at: int, content: bytes) -> bytes:
    return content[:at]


def _replaced(by: bytes, _content: bytes) -> bytes:
    return by


def flips(size: int, most: int, seed: int) -> Iterator[tuple[str, Damage]]:
    """One bit of each byte, or of so many; and cuts, nothing, and something else."""
    chance = random.Random(seed)
    at_all = range(size) if size <= most else chance.sample(range(size), most)
    for at in at_all:
        yield f"flip {at}", partial(_flipped, at, 1 << chance.randrange(8))
        if at % 8 == 0:
            yield f"high bit {at}", partial(_flipped, at, 0x80)
            yield f"cut {at}", partial(_cut, at)
    for name, content in REPLACED.items():
        yield name, partial(_replaced, content)


REPLACED = {
    "emptied": b"",
    "zeros": bytes(4096),
    "not UTF-8": b"\xff\xfe\x80" * 100,
    "deep": b"[" * 100_000,
    "huge number": b'{"a": 1e999, "b": ' + b"9" * 5000 + b"}",
    "deep TOML": b"a = " + b"[" * 5000 + b"]" * 5000 + b"\n",
    "huge TOML number": b"a = " + b"9" * 5000 + b"\n",
    "another file": Path(__file__).read_bytes(),
}


def ways(table: TableFiles, file: Path, most: int, seed: int) -> list[tuple[str, Damage]]:
    """Every way in which this file is damaged; `most`: places."""
    return list(flips((table.folder / file).stat().st_size, most, seed))


def trials(
    table: TableFiles, file: Path, every: Iterable[tuple[str, Damage]]
) -> Iterator[tuple[str, str]]:
    """Damage one file in each way; yield what was done, and how the start ended."""
    facts = table.facts(is_seal_looked_at=is_sealed(file))
    sound = table.contents()
    content = (table.folder / file).read_bytes()
    for name, damage in every:
        (table.folder / file).write_bytes(damage(content))
        yield name, table.outcome(facts, is_guarded=is_guarded(file))
        (table.folder / file).write_bytes(content)
        put_back(table, sound)


def put_back(table: TableFiles, sound: Mapping[Path, bytes]) -> None:
    """Restore every file, and take away what a start has left (evidence, locks)."""
    folders = {path.parent for path in sound}
    now = table.contents()
    for path in now.keys() - sound.keys():
        path.unlink()
    for path, content in sound.items():
        if now.get(path) != content:
            path.write_bytes(content)
    for left in {path.parent for path in now} - folders:
        shutil.rmtree(left)


def main(only: Only = None, results: Results = None) -> None:
    """Damage a table's files; status 1 where a change passed or a start ended in a traceback."""
    with fast_folder() as folder:
        (folder / "table").mkdir()
        table = made(folder / "table")

        def one(case: str) -> Judged:
            file = Path(case)
            found = list(trials(table, file, ways(table, file, MOST, SEED)))
            wrong = [f"{done}: {what}" for done, what in found if what.startswith(WRONG)]
            seen = Counter(what for _, what in found)
            told = ", ".join(f"{name} {n}" for name, n in seen.most_common())
            return Judged(not wrong, "\n  ".join([f"{seen.total()}: {told}", *wrong]))

        judge_all(list(map(str, table.files())), one, only, results)


if __name__ == "__main__":
    typer.run(main)
