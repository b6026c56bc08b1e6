"""No other reader's results pass for this one's."""

from __future__ import annotations

from dataclasses import replace

from hil_tests.reader.kept import contents_of, digest_of
from vision.networks.classifier import DieFinder


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
