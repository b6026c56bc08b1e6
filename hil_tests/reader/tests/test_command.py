"""What a person may type at the reader's benches: what means nothing is refused before any work."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.reader import __main__ as command
from hil_tests.reader import count
from hil_tests.reader.__main__ import app
from hil_tests.reader.count import Kind, Wanted, every_row, is_false, report
from hil_tests.reader.stage import Shown, Stage
from hil_tests.reader.tables import Table
from vision.errors import ModelError, VisionError
from vision.networks.classifier import DieFinder


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("speed", "--times", "0"), "--times"),
        (("count", "five dice"), "five dice"),
        (("count", "--tables", "0"), "--tables"),
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
    words = ["count", "--shots", str(tmp_path), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, VisionError)
    assert why in str(done.exception)


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["count", "--model", str(tmp_path / "none")])
    assert isinstance(done.exception, ModelError)
    assert str(tmp_path / "none") in str(done.exception)


def row(kind: str, said: str, truth: str = "flat", cell: str = "") -> dict[str, str]:
    return {"kind": kind, "table": "0 white", "cell": cell, "truth": truth, "said": said}


def test_what_must_not_be_said_is_counted_by_kind_cell_and_table() -> None:
    rows = [row("flat", "right"), row("speck", "right", cell="a"), row("speck", "WRONG", cell="b")]
    is_missed, told = report(rows)
    assert is_missed
    assert told[0] == "flat: 1 right; false 0 of 1 (95 %: 0.00%-95.00%)"
    assert told[1].startswith("speck: 1 right, 1 WRONG; false 1 of 2 (95 %: ")
    assert told[2:4] == [
        "  a: 1 right; false 0 of 1 (95 %: 0.00%-95.00%)",
        "  b: 1 WRONG; false 1 of 1 (95 %: 5.00%-100.00%)",
    ]
    assert told[4] == "table 0 white"
    assert told[7].startswith("  speck, false: 1 of 2")


@pytest.mark.parametrize(
    ("truth", "word", "is_so"),
    [
        ("flat", "no roll", True),
        ("flat", "right", False),
        ("not flat", "right", True),
        ("not flat", "no roll", False),
        ("between", "right", False),
        ("between", "WRONG", True),
        ("refused", "right", True),
        ("flat", "doubtful", False),
    ],
)
def test_what_is_false_depends_on_what_is_true(truth: str, word: str, is_so: bool) -> None:
    assert is_false(row("any", word, truth)) is is_so


def test_a_goal_is_a_share_and_what_shows_nothing_does_not_count() -> None:
    held = [row("held up", "no roll", "not flat")] * 999 + [row("held up", "right", "not flat")]
    assert not report(held)[0]
    assert report(held[1:])[0]
    assert report([row("changing", "not read before", "refused")])[1][0] == "table 0 white"


def test_a_run_goes_on_and_keeps_the_pictures_of_what_is_false(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def make(stage: Stage) -> Shown:
        made.append(stage.index)
        return Shown(stage.shots(), stage.toss.values, "not flat", "x")

    monkeypatch.setattr(count, "KINDS", {"flat": Kind(make)})
    monkeypatch.setattr(count, "rig_tables", lambda *_: lambda _number: table)
    for cases in (1, 2):
        every_row(table.finder, Wanted(["flat"], 1, cases, 9), tmp_path)
    assert made == [0, 1]
    assert len(list(tmp_path.glob("false-0-flat-0-*.png"))) == 3


def test_the_report_names_reader_and_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count, "every_row", lambda *_: [row("flat", "right")])
    done = CliRunner().invoke(app, ["count", "--seed", "7"])
    assert done.exit_code == 0
    assert f"networks {DieFinder().card.finder.sha256[:12]}" in done.output
    assert "seed 7\nflat: 1 right; false 0 of 1" in done.output
