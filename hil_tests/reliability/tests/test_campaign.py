"""A campaign that was broken off goes on where it was, and takes no damaged line for a result."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import typer

from hil_tests.campaign import Campaign, Judged, chosen, judge_all, shard


@dataclass
class Found:
    """What became of a case."""

    took_s: float
    wrong: list[str] = field(default_factory=list)


def test_a_run_that_was_broken_off_goes_on_where_it_was(tmp_path: Path) -> None:
    file, asked = tmp_path / "new" / "file.jsonl", []

    def case(number: int) -> Found:
        asked.append(number)
        return Found(float(number))

    assert Campaign(file, Found).run(range(3), case) == [Found(0.0), Found(1.0), Found(2.0)]
    file.write_bytes(file.read_bytes()[:-4])
    again = Campaign(file, Found)
    assert again.left_out == [3]
    assert again.run(range(4), case)[2:] == [Found(2.0), Found(3.0)]
    assert asked == [0, 1, 2, 2, 3]
    assert len(Campaign(file, Found).all) == 4, "the next line is no part of the one that was cut"


def test_cases_that_are_begun_anew_are_forgotten_and_no_others(tmp_path: Path) -> None:
    kept = Campaign(tmp_path / "file.jsonl", Found)
    kept.keep("a", Found(1.0))
    kept.keep("b", Found(2.0))
    Campaign(kept.file, Found).keep("d", Found(3.0))  # another process
    kept.forget(["a", "c"])
    for one in (kept, Campaign(kept.file, Found)):
        assert one.all == [("b", Found(2.0)), ("d", Found(3.0))]
        assert one.find("a") is None


@pytest.mark.parametrize(
    "result",
    [{"took_s": 1.0}, {"took_s": "soon", "wrong": []}, {"took_s": 1.0, "wrong": None}, [], None],
)
def test_a_line_that_lacks_something_counts_as_not_run_and_is_named(
    tmp_path: Path, result: Any
) -> None:
    file = tmp_path / "file.jsonl"
    whole = json.dumps({"case": "a", "result": {"took_s": 1.0, "wrong": []}})
    file.write_text(
        "\n".join([whole, json.dumps({"case": "b", "result": result}), "[]", "[" * 9999])
    )
    kept = Campaign(file, Found)
    assert [case for case, _ in kept.all] == ["a"]
    assert kept.left_out == [2, 3, 4]
    assert kept.said()[0] == "file.jsonl, line 2, is not whole: not run"


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_are_the_whole_and_share_nothing(count: int) -> None:
    parts = [shard(range(20), f"{i}/{count}") for i in range(1, count + 1)]
    assert sorted(case for part in parts for case in part) == list(range(20))


@pytest.mark.parametrize("which", ["", "0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_that_is_none_is_refused(which: str) -> None:
    with pytest.raises(ValueError, match="a shard is i/n"):
        shard(range(3), which)


def test_cases_are_chosen_by_the_beginnings_of_their_names() -> None:
    cases = ["lamp-dark", "lamp-silent", "tach"]
    assert chosen(cases, ["lamp"], str) == cases[:2]
    assert chosen(cases, None, str) == cases
    with pytest.raises(ValueError, match="called jam"):
        chosen(cases, ["jam"], str)


def test_one_case_that_is_not_as_it_must_be_is_told_and_is_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = []

    def one(case: str) -> Judged:
        ran.append(case)
        return Judged(case != "tach", f"about {case}")

    cases = ["lamp", "tach"]
    judge_all(cases, one, ["lamp"], tmp_path)
    for _ in range(2):  # the second time from the file
        with pytest.raises(typer.Exit) as ended:
            judge_all(cases, one, None, tmp_path)
        assert ended.value.exit_code == 1
    assert ran == cases, "what is kept is not run again"
    assert capsys.readouterr().out == "ok   lamp: about lamp\nFAIL tach: about tach\n"
    with pytest.raises(typer.BadParameter, match="called jam"):
        judge_all(cases, one, ["jam"], None)
