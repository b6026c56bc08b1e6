"""What a start leaves in a large journal is taken away again, so that each start is the first."""

from __future__ import annotations

from pathlib import Path

from hil_tests.reliability.bytes_cut import records_after, volume_after
from hil_tests.reliability.large_journal import make
from hil_tests.reliability.large_start import put_back
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.disk.sqlite_journal import volume_numbers
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.service.lamp_box import on_record
from shaker_ctl.service.recovery import recover


def test_both_copies_end_as_before_and_a_start_goes_on_from_there(tmp_path: Path) -> None:
    second = tmp_path / "second" / "journal.sqlite"
    second.parent.mkdir()
    parameters = JournalParameters(path=tmp_path / "journal.sqlite", second=second)
    make(parameters, 13_000, seed=1)
    opened = open_copies(parameters)
    assert recover(opened.main.newest_first(), rulebook(TableParameters())).wall is not None
    assert on_record(opened.main.newest_first()) is not None
    before = opened.main.head(), volume_numbers(parameters.path)
    opened.close()
    for _ in range(2):
        with put_back(parameters):
            opened = open_copies(parameters)
            for copy in filter(None, (opened.main, opened.second)):
                copy.write(records_after(copy.head(), 3))
                copy.write([volume_after(copy, "2026-12-01")])
            opened.close()
        opened = open_copies(parameters)
        assert (opened.main.head(), volume_numbers(parameters.path)) == before
        assert opened.second is not None
        assert (opened.second.head(), volume_numbers(second)) == before
        opened.close()
