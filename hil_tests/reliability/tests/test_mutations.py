"""Every mutation applies to the product as it stands, and is meant for a row that exists."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hil_tests.campaign import Campaign
from hil_tests.reliability.mutations import (
    MUTATIONS,
    Edit,
    Mutation,
    MutationError,
    Noticed,
    changed,
    has_caught,
    judged,
    mutated_tree,
)
from hil_tests.reliability.required import Observation
from hil_tests.reliability.trial import Result

each_mutation = pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)


@each_mutation
def test_its_lines_stand_in_the_product_and_what_they_become_is_python(mutation: Mutation) -> None:
    for file, text in changed(mutation).items():
        compile(text, file, "exec")


@each_mutation
def test_its_story_is_there(mutation: Mutation) -> None:
    if mutation.is_test:
        file, _, name = mutation.story.partition("::")
        assert f"def {name}(" in source_text(Path(file))
        return
    fault, moment = mutation.row
    assert moment in fault.required


@pytest.mark.parametrize("old", ["no such line", "from __future__ import", "def "])
def test_a_line_that_is_gone_or_stands_twice_is_an_error(old: str) -> None:
    edits = (Edit("shaker_ctl/motion/watch.py", old, "pass"),) * 2
    with pytest.raises(MutationError, match=r"watch\.py: this stands there \d+ times, not once"):
        changed(replace(MUTATIONS[0], edits=edits))


def test_the_service_of_a_mutated_tree_runs_the_mutation_and_the_tree_stays(tmp_path: Path) -> None:
    mutation = MUTATIONS[0]
    source = Path(mutation.edits[0].file)
    before = source_text(source)
    tree = mutated_tree(mutation, tmp_path)
    ran = subprocess.run(
        [
            *(sys.executable, "-c"),
            "from shaker_ctl.child_process import ROOT\n"
            "from shaker_ctl.motion import watch\n"
            "print(watch.__file__, ROOT)",
        ],
        env={**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    imported, camera_runs = map(Path, ran.stdout.split())
    assert imported == tree / source
    assert camera_runs == tree, "the camera process runs the product as it stands"
    assert mutation.edits[0].new in imported.read_text("utf-8")
    assert source_text(source) == before


def source_text(file: Path) -> str:
    return (Path(__file__).parents[3] / file).read_text("utf-8")


@pytest.mark.parametrize(
    ("differences", "seen"),
    [
        ([], Noticed.SURVIVED),
        (["fault code tach-silent, console: motor-stall"], Noticed.CAUGHT),
        (["the table did not come back: a console is silent"], Noticed.OTHERWISE),
    ],
)
def test_it_is_caught_for_the_right_reason_alone(differences: list[str], seen: Noticed) -> None:
    assert judged(MUTATIONS[0], differences) is seen


def test_a_result_counts_for_its_own_row_alone() -> None:
    kept, one = Campaign(None, Result), MUTATIONS[0]
    assert not has_caught(kept, one)
    kept.keep(one.case, Result(*one.told, Observation(), ["tach-silent late"]))
    assert has_caught(kept, one)
    assert not has_caught(kept, replace(MUTATIONS[1], name=one.name)), "a result of another row"
