"""What a person may type at the reader's benches: what means nothing is refused before any work."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.reader.__main__ import app
from vision.errors import ModelError


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("speed", "--times", "0"), "--times"),
        (("speed", "--seed", "-1"), "--seed"),
        (("verification", "--rig", "-1"), "--rig"),
        (("verification",), "--rig"),
        (("verification", "--rig", "9", "--frames", "4"), "--frames"),
        (("refusals", "--kind", "five dice"), "five dice"),
        (("robustness", "--sweep", "hail"), "hail"),
        (("wrong-model", "--pictures", "0"), "--pictures"),
        (("specks", "--count", "0"), "--count"),
        (("confirming", "--count", "0"), "--count"),
        (("replay", "--count", "0"), "--count"),
        (("verification", "--blind", "-1"), "--blind"),
    ],
)
def test_what_means_nothing_is_refused(words: tuple[str, ...], named: str) -> None:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 2
    assert named in done.output


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    words = ["wrong-model", "--pictures", "1", "--model", str(tmp_path / "none")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, ModelError)
    assert str(tmp_path / "none") in str(done.exception)
