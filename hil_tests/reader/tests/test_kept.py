"""Results that a stopped bench left behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hil_tests.reader.kept import contents_of, digest_of, results
from vision.errors import VisionError
from vision.networks.classifier import DieFinder


def test_a_stopped_bench_goes_on_and_a_half_written_result_is_made_again(tmp_path):
    file, asked = tmp_path / "seen" / "cases.jsonl", []

    def case(number):
        asked.append(number)
        return {"number": number}

    assert results(file, 3, case) == [{"number": n} for n in range(3)]
    file.write_bytes(file.read_bytes()[:-4])
    assert results(file, 4, case) == [{"number": n} for n in range(4)]
    assert asked == [0, 1, 2, 2, 3]
    assert len(file.read_text().splitlines()) == 4


def test_a_line_that_is_no_result_is_told(tmp_path):
    file = tmp_path / "cases.jsonl"
    file.write_text("garbage\n")
    with pytest.raises(VisionError, match="take the file away"):
        results(file, 1, lambda number: {"number": number})


def test_another_score_gives_another_digest():
    finder = DieFinder()
    before = digest_of(finder)
    finder.card = replace(finder.card, min_score=finder.card.min_score / 2)
    assert digest_of(finder) != before


def test_sets_of_one_name_differ_by_what_is_in_them(tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        (tmp_path / name / "shots").mkdir(parents=True)
        (tmp_path / name / "shots" / "0.jsonl").write_text(f'{{"value": {value}}}')
    a, b = (contents_of(tmp_path / name / "shots") for name in "ab")
    assert a != b
    assert contents_of(tmp_path / "a" / "shots" / "0.jsonl") != b
