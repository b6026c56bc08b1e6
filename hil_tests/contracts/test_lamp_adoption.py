"""A spare lamp box, an erased memory, and a journal that is not the box's: each by the real line.

The journal is the product's own, the box the rig's at the end of a pseudo-terminal, and the person
uses `shaker-ctl lamp adopt`.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hil_tests.contracts.test_lamp_contract import Bench as OnLine
from hil_tests.rig.lamp_box.box import LampBox
from shaker_ctl import sealed_start, settings
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.journal_copies import OpenedJournal, open_copies
from shaker_ctl.adapters.lines.modbus_lamp import ModbusLamp
from shaker_ctl.commands.program import program
from shaker_ctl.console import accounts
from shaker_ctl.errors import LampReplyError
from shaker_ctl.journal.box_memory import compare_lamp_box
from shaker_ctl.journal.record import Anchor, Entry, Head, Record, chain_hash, table_mark
from shaker_ctl.journal.recovery import Trouble
from shaker_ctl.rules import commands
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.vocabulary import Role, play
from shaker_ctl.service.lamp_box import KEY, as_recorded, journal_memory

WORD = "correct horse battery"
VALUES = (2, 2, 5)


class Bench:
    """A table's files, its lamp line, and the box at the end of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = folder / "settings.toml"
        accounts.add(folder / "users.toml", "tess", Role.TECHNICIAN, WORD, "tess-1")
        self.config.write_text(
            "[lamp]\n"
            f'device = "{folder}/lamp"\nreply_slack_s = 0.12\nrequest_deadline_s = 0.4\n'
            "show_deadline_s = 0.4\n"
            f'[journal]\npath = "{folder}/journal.jsonl"\nsecond = "{folder}/second.jsonl"\n'
            f'pictures = "{folder}/pictures"\n[console]\nusers_file = "{folder}/users.toml"\n'
        )
        self.settings = settings.load(self.config)
        self.layout = rulebook(self.settings.table).layout
        self._fitted: OnLine | None = None

    def fit(self, box: LampBox) -> LampBox:
        """Put a box at the end of the line, in the place of the one before."""
        self.take_off()
        self._fitted = OnLine(self.folder, box=box)
        return box

    def take_off(self) -> None:
        if self._fitted is not None:
            self._fitted.close()
        self._fitted = None

    def lamp(self) -> closing[ModbusLamp]:
        return closing(ModbusLamp(self.settings.lamp, self.layout))

    def journal(self) -> closing[OpenedJournal]:
        return closing(open_copies(self.settings.journal))

    def play(self, *numbers: int) -> None:
        """Open, light and close rounds as the table does, with an anchor after each."""
        with self.lamp() as lamp, self.journal() as journal:
            opened = {KEY: as_recorded(lamp.memory())}
            sealed_start.write(journal, Entry("opening", opened))
            for number in numbers:
                areas = tuple(sorted(self.layout.won(VALUES)))
                pushed = commands.PushLamps(play(number), VALUES, areas)
                facts = {"rows": [], "decision": [to_record(pushed)]}
                sealed_start.write(journal, Entry("step", facts, number))
                lamp.show(number, VALUES)
                lamp.clear(number)
                mark = table_mark(journal.main.identity)
                lamp.anchor(Anchor(mark, number, journal.main.head()))

    def trouble(self) -> Trouble | None:
        """What a start would find."""
        with self.lamp() as lamp, self.journal() as journal:
            found = compare_lamp_box(journal_memory(journal.main), lamp.memory())
        return None if found is None else found.trouble

    def adopt(self, word: str = WORD, reason: str = "the old one burnt out") -> Result:
        words = ["lamp", "adopt", "--by", "tess", "--reason", reason, "--config", str(self.config)]
        return CliRunner().invoke(program, words, input=word + "\n")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    bench.fit(LampBox(memory=tmp_path / "memory.json"))
    yield bench
    bench.take_off()


def spare() -> LampBox:
    return LampBox(serial_number=4242)


def commit(bench: Bench, number: int) -> None:
    """What another table did with this box."""
    with bench.lamp() as lamp:
        lamp.show(number, (1, 2, 3))
        lamp.clear(number)


def test_a_table_and_its_own_box_need_nobody(bench: Bench) -> None:
    assert bench.trouble() is None
    bench.play(1, 2)
    assert bench.trouble() is None
    refused = bench.adopt()
    assert refused.exit_code == 1
    assert "one story" in str(refused.exception)


def test_a_new_spare_box_is_named_adopted_and_played_with(bench: Bench) -> None:
    bench.play(1, 2)
    bench.fit(spare())
    assert bench.trouble() is Trouble.OTHER_BOX
    done = bench.adopt()
    assert done.exit_code == 0, done.output
    assert "number 4242" in done.output
    assert bench.trouble() is None
    bench.play(3)
    assert bench.trouble() is None


def test_a_used_spare_box_is_erased_by_hand_first(bench: Bench) -> None:
    bench.play(1, 2)
    box = bench.fit(spare())
    commit(bench, 250000)
    refused = bench.adopt()
    assert refused.exit_code == 1
    assert "by hand" in getattr(refused.exception, "remedy", "")
    box.erase_memory()
    assert bench.adopt().exit_code == 0
    assert bench.trouble() is None


def test_a_memory_that_was_erased_by_hand_is_named_and_accepted_by_a_person(bench: Bench) -> None:
    box = bench.fit(LampBox())
    bench.play(1, 2)
    box.erase_memory()
    assert bench.trouble() is Trouble.BOX_ERASED
    assert bench.adopt(reason="moved from table 7").exit_code == 0
    assert bench.trouble() is None


def test_a_box_that_keeps_the_head_of_a_lost_end_is_erased_by_hand_first(bench: Bench) -> None:
    box = bench.fit(LampBox())
    bench.play(1)
    older = [bench.folder / name for name in ("journal.jsonl", "second.jsonl")]
    for path in older:
        shutil.copy(path, path.with_suffix(".older"))
    bench.play(2)
    for path in older:
        shutil.move(path.with_suffix(".older"), path)
    assert bench.trouble() is Trouble.LAMP_AHEAD
    assert bench.adopt().exit_code == 1
    box.erase_memory()
    assert bench.adopt(reason="both media were lost after round 1").exit_code == 0
    assert bench.trouble() is None


def test_a_new_journal_and_another_tables_are_named(bench: Bench) -> None:
    bench.play(1, 2)
    for name in ("journal.jsonl", "second.jsonl"):
        (bench.folder / name).rename(bench.folder / f"{name}.away")
    assert bench.trouble() is Trouble.FOUNDED_ANEW
    box = bench.fit(LampBox())
    bench.play(1)
    bench.fit(LampBox(memory=bench.folder / "memory.json"))
    assert bench.trouble() is Trouble.OTHER_TABLE
    bench.fit(box)
    assert bench.trouble() is None


def test_a_result_that_is_rewritten_with_every_hash_after_it_is_named(bench: Bench) -> None:
    """Whoever may write both copies can make a whole chain; the head in the box is not theirs."""
    bench.play(1, 2)
    for name in ("journal.jsonl", "second.jsonl"):
        path = bench.folder / name
        with closing(DiskJournal(path)) as journal:
            identity, records = journal.identity, list(journal.read())
        path.unlink()
        with closing(DiskJournal(path, identity=identity)) as forged:
            forged.write(list(_rewritten(forged.start, records)))
    with bench.journal() as opened:
        assert opened.main.verify()[1] is None, "the files alone do not show it"
    assert bench.trouble() is Trouble.REWRITTEN
    assert bench.adopt().exit_code == 1


def _rewritten(head: Head, records: list[Record]) -> Iterator[Record]:
    """The chain with another result of round 1, as if it had always been so."""
    link = head.hash
    for record in records:
        body = record.body
        if b'"PushLamps"' in body and b'"number":1,' in body:
            assert b"[2,2,5]" in body
            body = body.replace(b"[2,2,5]", b"[6,6,6]")
        link = chain_hash(link, body)
        yield Record(record.sequence, link, body)


@pytest.mark.parametrize(("word", "reason"), [("wrong horse", "it burnt out"), (WORD, "  ")])
def test_nothing_is_accepted_without_a_passphrase_and_a_reason(
    bench: Bench, word: str, reason: str
) -> None:
    bench.play(1, 2)
    bench.fit(spare())
    assert bench.adopt(word, reason).exit_code == 1
    assert bench.trouble() is Trouble.OTHER_BOX


def test_a_box_that_is_exchanged_in_play_is_another_box(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    box = bench.fit(LampBox())
    with bench.lamp() as lamp:
        lamp.prove_dark()
        box.faults.inject("lamp_other_box")
        with contextlib.suppress(LampReplyError):  # the first look may be the one that finds it
            lamp.prove_dark()
        with pytest.raises(LampReplyError, match="number 4242"):
            lamp.prove_dark()
        box.faults.heal()
        with contextlib.suppress(LampReplyError):
            lamp.prove_dark()
        lamp.prove_dark()
    bench.take_off()
