"""A table that breaks down costs its row, not the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from hil_tests.processes import TrialError
from hil_tests.reliability import __main__ as program
from hil_tests.reliability.catalogue import BY_NAME, CatalogueFault
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.required import Observation
from hil_tests.reliability.trial import Result

JAM, TACH, COVER = (BY_NAME[n] for n in ("motor-jam", "tach-silent", "cover-contact-opens"))


class Played:
    """Trials of which the jam breaks the table; says at which table each was played."""

    at: list[tuple[str, str]]

    def __init__(self, bench: Any, _: Any) -> None:
        self._profile = bench.session.plan.profile

    def play(self, fault: CatalogueFault, moment: Moment) -> Result:
        self.at.append((fault.name, self._profile))
        if fault is JAM:
            raise TrialError("it smokes")
        return Result(fault.name, moment.value, Observation(), [])

    def close(self) -> None:
        """Nothing runs."""


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> type[Played]:
    def tables(
        _folder: Any, _console: Any, _until_s: float, more: Any, profile: Any
    ) -> Iterator[tuple[Any, None]]:
        while more():
            plan = SimpleNamespace(profile=profile())
            yield SimpleNamespace(session=SimpleNamespace(plan=plan), is_evidence=False), None

    monkeypatch.setattr(program, "_tables", tables)
    monkeypatch.setattr(program, "Trials", Played)
    Played.at = []
    return Played


def run(tmp_path: Path, *faults: CatalogueFault) -> list[Result]:
    rows = [(fault, Moment.TOSS) for fault in faults]
    found = program._results(rows, float("inf"), tmp_path, Console())
    return [result for _, result in found]


def test_the_rows_after_a_table_that_did_not_come_back_are_played_at_a_new_one(
    tmp_path: Path, played: type[Played]
) -> None:
    jam, tach = run(tmp_path, JAM, TACH)
    assert "it smokes" in jam.differences[0]
    assert tach.is_as_required


def test_a_run_is_given_up_when_tables_keep_breaking(tmp_path: Path, played: type[Played]) -> None:
    assert len(run(tmp_path, *[JAM] * 9)) == program.MAX_FAILURES


def test_the_files_of_a_table_are_kept_only_where_something_was_wrong_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def session(_: object, folder: Path) -> SimpleNamespace:
        return SimpleNamespace(folder=folder, rig={}, journal=folder, second=folder)

    def bench(session: SimpleNamespace) -> AbstractContextManager[SimpleNamespace]:
        return nullcontext(SimpleNamespace(session=session, is_evidence=False))

    monkeypatch.setattr(program, "trial_session", session)
    monkeypatch.setattr(program, "Bench", bench)
    left = [False, True]
    made = []
    for one, _ in program._tables(tmp_path, Console(), float("inf"), lambda: bool(left)):
        one.is_evidence = left.pop(0)
        made.append(one.session.folder)
    assert [folder.exists() for folder in made] == [False, True]
