"""A table is taught its dice at a terminal, on the rig; its service says by whom and how well."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pexpect
import pytest

from hil_tests.report.evidence import lines_of
from hil_tests.table_under_test.lamps import values_of
from hil_tests.table_under_test.session import EASY_WORD, Plan, Session
from hil_tests.table_under_test.table import TableUnderTest, people_at
from shaker_ctl import settings
from shaker_ctl.reading import taught_table

pytestmark = [pytest.mark.rig, pytest.mark.timeout(900)]

TEACH = (sys.executable, "-I", "-c", "from shaker_ctl.main import app; app()", "teach")
TOSSES = 30


@pytest.fixture
def table(tmp_path: Path) -> Iterator[TableUnderTest]:
    """A rig with settings that fit it, and no service; automatic entry is left to the dealer."""
    session = Session(Plan(by_hand=True, pace="brisk", is_taught=False), tmp_path)
    session.start_rig()
    session.write_settings()
    with closing(session), people_at(session) as table:
        yield table


def shown(table: TableUnderTest) -> str:
    """What the console's `camera` says of the teaching."""
    return str(table.console("technician").ask("camera")["camera"]["taught"])


def teach(session: Session, leave_at: int = 0) -> int:
    """Fay types what truly lies there, until it is over or she leaves; the command's status."""
    words = ["--config", str(session.folder / "settings.toml"), "--tosses", str(TOSSES)]
    child = pexpect.spawn(TEACH[0], [*TEACH[1:], *words], encoding="utf-8", timeout=600)
    answers = {
        "who confirms: ": lambda: "fay",
        "Passphrase: ": lambda: EASY_WORD,
        "as on record: ": lambda: "A1 A2 A3",
        "fay: ": lambda: seen(session),
        "Ctrl-C leaves: ": lambda: "",
    }
    tosses = 0
    while (found := child.expect_exact([*answers, pexpect.EOF])) < len(answers):
        tosses += list(answers)[found] == "fay: "
        if leave_at and tosses == leave_at:
            child.sendintr()
        else:
            child.sendline(list(answers.values())[found]())
    child.close()
    return int(child.exitstatus or 0)


def seen(session: Session) -> str:
    """What a person sees who looks through the dome."""
    values = values_of(lines_of(session.rig["truth"])[-1]["dice"])
    return "n" if values is None else "".join(map(str, values))


def test_a_table_that_was_taught_says_by_whom_and_how_well_it_reads(table: TableUnderTest) -> None:
    session = table.session
    assert teach(session, leave_at=3) == 130
    status = teach(session)
    taught = taught_table.found(settings.load(session.folder / "settings.toml").camera)
    assert taught is not None
    assert status == (0 if taught.is_enough else 1)
    assert taught.tosses >= TOSSES
    assert taught.read > 0.5
    session.start_service()
    assert shown(table) == taught.words()
    assert not table.status()["faults"]
    records = [each["record"] for each in lines_of(session.journal) if "record" in each]
    opening = next(each for each in records if each["kind"] == "opening")
    assert opening["teaching"] == taught.words()


def test_an_untaught_table_may_come_back_without_its_reader(table: TableUnderTest) -> None:
    table.session.start_service()
    assert table.status()["faults"] == [taught_table.FAULT]
    assert table.act("technician", "return-to-service")
    table.be_open()
    assert table.status()["life"] == "open"


def test_a_damaged_teaching_is_a_fault_that_a_technician_clears(table: TableUnderTest) -> None:
    (table.session.folder / "teaching").write_bytes(b"torn")
    table.session.start_service()
    assert table.status()["faults"] == [taught_table.FAULT]
    assert "is damaged" in shown(table)
    assert table.act("technician", f"fault clear {taught_table.FAULT}")
    assert not table.status()["faults"]
