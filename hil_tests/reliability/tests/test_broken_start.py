"""The journal of a start that must not succeed, made wrong and right: of one volume and of two."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hil_tests.reliability.bench import Bench
from hil_tests.reliability.broken_start import BROKEN
from hil_tests.reliability.bytes_cut import records_after, volume_after
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.errors import JournalAbsentError, JournalCorruptError
from shaker_ctl.journal.parameters import JournalParameters


@pytest.fixture(params=[1, 2])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A table's journal in two copies, of so many volumes, with twenty records in the last."""
    main, second = tmp_path / "journal.jsonl", tmp_path / "journal-second.jsonl"
    copies = open_copies(JournalParameters(path=main, second=second))
    assert copies.second is not None
    for volume in range(request.param):
        records = [volume_after(copies.main)] if volume else []
        for copy in (copies.main, copies.second):
            copy.write(records)
        records = records_after(copies.main.head(), 20)
        for copy in (copies.main, copies.second):
            copy.write(records)
    copies.close()
    return SimpleNamespace(journal=main, second=second, folder=tmp_path)


def start(session: Any) -> None:
    """Open both copies, as a start does."""
    open_copies(JournalParameters(path=session.journal, second=session.second)).close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("main missing", "is missing"),
        ("main flipped", "record"),
        ("second missing", "second copy"),
        ("second foreign", "another journal"),
        ("second planted", "is a link"),
    ],
)
def test_a_start_names_what_is_wrong_and_succeeds_when_it_is_right_again(
    session: Any, name: str, said: str
) -> None:
    bench = cast("Bench", SimpleNamespace(session=session))
    BROKEN[name].wrong(bench)
    with pytest.raises((JournalAbsentError, JournalCorruptError), match=said):
        start(session)
    BROKEN[name].right(bench)
    start(session)
