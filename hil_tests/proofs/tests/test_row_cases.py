"""Each row at one moment where it is taken, and at one for each guard that alone keeps it out.

To try one row: `pytest "hil_tests/proofs/tests/test_row_cases.py::test_row[NAME OF THE ROW]"`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from hil_tests.proofs import row_cases
from hil_tests.proofs.row_cases import FILE, Situation, outcome, pairs
from hil_tests.proofs.tables import ExploredTable, imagined, tables
from shaker_ctl.rules.events import Event
from shaker_ctl.rules.machine import MACHINE, Machine, initial
from shaker_ctl.rules.record import from_record, to_record
from shaker_ctl.rules.state import TableState

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()
]
ROWS = list(dict.fromkeys(case["row"] for case in CASES))


@cache
def table(name: str) -> ExploredTable:
    return next(each for each in (*tables(), *imagined()) if each.name == name)


def moment(case: dict[str, Any]) -> Situation:
    at = table(case["table"])
    state = from_record(to_record(initial(at.rules)) | case["state"], TableState)
    return Situation(at, state, from_record(case["event"], Event))


@pytest.mark.parametrize("row", ROWS)
def test_row(row: str) -> None:
    """It is taken in its moment, and not where one of its guards alone fails."""
    for case in CASES:
        if case["row"] != row or "never" in case:
            continue
        came = outcome(moment(case))
        assert came == case["then"], case.get("guard", "it is taken")
        assert (row in came.get("rows", ())) == ("guard" not in case), case


def test_every_row_and_guard_has_its_moment() -> None:
    """After a row was changed: python -m hil_tests.proofs.row_cases, then look at what differs."""
    assert {(case["row"], case.get("guard", "")) for case in CASES} == pairs()
    never = [(case["row"], case.get("guard", "")) for case in CASES if "never" in case]
    assert all(guard for _, guard in never), "each row is taken"
    assert set(never) == {key for keys in row_cases.WHY.values() for key in keys}, "extend WHY"


def test_a_row_that_is_deleted_or_loses_a_guard_fails_its_test(monkeypatch) -> None:
    """Every such mutant of the table, but for guards that never fail alone."""
    never = {(case["row"], case.get("guard", "")) for case in CASES if "never" in case}
    survivors = []
    for row in MACHINE.rows:
        left_out = [
            (guard.name, replace(row, when=tuple(g for g in row.when if g is not guard)))
            for guard in row.when
            if (row.name, guard.name) not in never
        ]
        for name, instead in [("", None), *left_out]:
            rows = [instead if each is row else each for each in MACHINE.rows]
            mutant = Machine(each for each in rows if each is not None)
            monkeypatch.setattr(row_cases, "MACHINE", mutant)
            with suppress(Exception):  # a crash of any kind is a failure
                test_row(row.name)
                survivors.append((row.name, name))
    assert not survivors
