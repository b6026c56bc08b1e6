"""`python -m hil_tests.proofs`: what its last line and its status say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from typer.testing import CliRunner, Result

from hil_tests.proofs import __main__ as prove
from hil_tests.proofs.explore import Exploration
from hil_tests.proofs.mutants import mutants
from hil_tests.proofs.properties import PROPERTIES
from hil_tests.proofs.tables import ExploredTable, tables
from shaker_ctl.rules.machine import ROWS

NAMES = [table.name for table in tables()]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Exploration:
    """What every exploration finds, in no time: everything reached, all rows taken."""
    whole = Exploration(
        "a table",
        nodes=1,
        reached=Counter(one.name for one in PROPERTIES),
        rows={row.name for row in ROWS},
    )

    def at_once(table: ExploredTable, **_: object) -> Exploration:
        return replace(whole, table=table.name)

    monkeypatch.setattr(prove, "explore", at_once)
    return whole


def run(*words: str) -> Result:
    return CliRunner().invoke(prove.app, list(words))


def test_all_hold_where_everything_was_reached(found: Exploration) -> None:
    result = run()
    assert result.exit_code == 0
    assert f"{len(NAMES)} tables" in result.output
    assert "all hold" in result.output


@pytest.mark.parametrize("lost", ["property", "row"])
def test_what_no_table_reaches_is_a_failure_of_the_whole_proof_only(
    found: Exploration, lost: str
) -> None:
    if lost == "property":
        del found.reached[PROPERTIES[0].name]
    else:
        found.rows.remove(ROWS[0].name)
    whole = run()
    assert whole.exit_code == 1
    assert "NOT PROVED" in whole.output
    assert (PROPERTIES if lost == "property" else ROWS)[0].name[:20] in whole.output
    one = run("--only", NAMES[0])
    assert one.exit_code == 0, one.output
    assert "all hold" in one.output


def test_one_table_that_fails_is_not_proved(found: Exploration) -> None:
    found.complete = False
    assert run("--only", NAMES[0]).exit_code == 1


def test_a_table_that_there_is_not_is_answered_with_those_there_are(found: Exploration) -> None:
    result = run("--only", "nowhere")
    assert result.exit_code == 2
    shown = "".join(result.output.replace("│", " ").split())
    assert all("".join(name.split()) in shown for name in NAMES)


@pytest.mark.parametrize(("alive", "status"), [(0, 0), (1, 1)])
def test_mutants_fail_where_one_survives(
    found: Exploration, monkeypatch: pytest.MonkeyPatch, alive: int, status: int
) -> None:
    two = list(mutants())[:2]
    survive = {mutant.name for mutant in two[:alive]}
    monkeypatch.setattr(prove, "mutants", lambda: two)
    monkeypatch.setattr(
        prove, "judge", lambda mutant, _: "" if mutant.name in survive else "a property"
    )
    result = run("--mutants")
    assert f"{2 - alive} of 2 mutants killed" in " ".join(result.output.split())
    assert result.exit_code == status
