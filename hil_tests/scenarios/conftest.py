"""Tables for scenarios: one for a module where stories follow each other, or one for a story."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from hil_tests.conftest import Operator
from hil_tests.report.record import TestRecord
from hil_tests.scenarios.attached import files_of
from hil_tests.scenarios.running import session_of
from hil_tests.scenarios.table import Table
from hil_tests.table_under_test.session import Plan

MakeTable = Callable[..., Table]


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Any:
    """The target of `--lg-env FILE`; None where labgrid has no part in it."""
    is_labs = request.config.getoption("lg_env", default=None)
    return request.getfixturevalue("target") if is_labs else None


@pytest.fixture(scope="module")
def shared_table(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    rig_file: Path | None,
    operator: Operator | None,
    lab: Any,
) -> Iterator[Table]:
    """The module's table, after its own `PLAN` where it has one."""
    plan = getattr(request.module, "PLAN", Plan(pace="brisk", seed=5))
    session = session_of(plan, tmp_path_factory.mktemp("table"), rig_file, lab)
    with Table(session, operator) as table:
        yield table


@pytest.fixture
def table(shared_table: Table, record: TestRecord) -> Iterator[Table]:
    """The module's table, telling this test's story."""
    with telling(shared_table, record):
        yield shared_table


@pytest.fixture
def make_table(
    tmp_path: Path, rig_file: Path | None, operator: Operator | None, lab: Any, record: TestRecord
) -> Iterator[MakeTable]:
    """Make a table for this test alone."""
    with ExitStack() as made:

        def make(plan: Plan) -> Table:
            session = session_of(plan, tmp_path / "table", rig_file, lab)
            table = made.enter_context(Table(session, operator))
            made.enter_context(telling(table, record))
            return table

        yield make


@contextmanager
def telling(table: Table, record: TestRecord) -> Iterator[None]:
    """Give a table the story of a test, and the test the table's evidence at the end."""
    table.story = record.story
    try:
        yield
    finally:
        record.t1 = time.monotonic()
        record.evidence = table.evidence(record.t0, record.t1)
        record.attach(files_of(table.session.folder, record.t0))
