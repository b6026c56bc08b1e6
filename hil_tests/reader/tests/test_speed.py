"""What a person may type at the bench of the readers' speed. It draws a network to compare with."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the bench needs the train extra")

from hil_tests.contracts.test_command_lines import refused
from hil_tests.reader import speed as reader_speed


@pytest.mark.parametrize(
    ("option", "least", "given"), [("--times", 1, 0), ("--pictures", 1, 0), ("--seed", 0, -1)]
)
def test_numbers_that_measure_nothing_are_refused(
    option: str, least: int, given: int, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(reader_speed.main, capsys, option, str(given))
    assert said.endswith(f"argument {option}: must be {least} or more, not {given}")


def test_a_model_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(reader_speed.main, capsys, "--model", str(tmp_path / "none"))
    assert f"--model: no model manifest at {tmp_path / 'none'}" in said
