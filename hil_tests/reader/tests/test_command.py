"""What a person may type at the reader's benches: what means nothing is refused before any work."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.reader import __main__ as command
from hil_tests.reader.__main__ import app
from hil_tests.reader.outcomes import told
from vision.errors import ModelError, VisionError


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("speed", "--times", "0"), "--times"),
        (("verification",), "--rig"),
        (("verification", "--rig", "9", "--frames", "4"), "--frames"),
        (("refusals", "--kind", "five dice"), "five dice"),
        (("robustness", "--sweep", "hail"), "hail"),
    ],
)
def test_what_means_nothing_is_refused(words: tuple[str, ...], named: str) -> None:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 2
    assert named in done.output


@pytest.mark.parametrize(
    ("error", "status"), [(RuntimeError("burst"), 70), (OSError("full"), 2), (VisionError("no"), 2)]
)
def test_a_bench_that_dies_has_not_the_status_of_a_missed_goal(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    status: int,
) -> None:
    def die() -> None:
        raise error

    monkeypatch.setattr(command, "app", die)
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == status
    assert str(error) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (None, "no set of rendered pictures"),
        ('{"image": "a.png", "dice": []}', "no set of calibrated shots"),
        ('{"image": "a', "line 1: no row of a picture"),
    ],
)
def test_a_set_that_is_none_is_told(tmp_path: Path, lines: str | None, why: str) -> None:
    if lines is not None:
        (tmp_path / "0.jsonl").write_text(lines)
    words = ["verification", str(tmp_path), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, VisionError)
    assert why in str(done.exception)


def test_no_more_pictures_are_counted_than_asked_for(tmp_path: Path) -> None:
    words = ["verification", "--seed", "5", "--out", str(tmp_path), "--rig"]
    for count in ("1", "2", "1"):
        done = CliRunner().invoke(app, [*words, count])
        assert f"rig-5: {count} pictures" in done.stdout


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    words = ["wrong-model", "--pictures", "1", "--model", str(tmp_path / "none")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, ModelError)
    assert str(tmp_path / "none") in str(done.exception)


def test_what_must_not_be_said_is_counted_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    """`told` judges every bench that counts words."""
    rows = [
        {"kind": kind, "said": word}
        for kind, word in (("a", "right"), ("a", "WRONG"), ("b", "right"))
    ]
    assert told(rows, "WRONG") == 1
    assert told(rows[2:], "WRONG") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["  a     2  1 right, 1 WRONG", "  b     1  1 right"]
    assert said[2].startswith("WRONG: 1 of 3, 95 %: 6.15%-")
