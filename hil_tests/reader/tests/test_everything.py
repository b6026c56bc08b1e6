"""All benches on one page."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from hil_tests.reader import everything
from hil_tests.reader.__main__ import app


def run(folder, *names):
    only = [word for name in names for word in ("--only", name)]
    return CliRunner().invoke(app, ["everything", "--seed", "9", "--out", str(folder), *only])


def test_the_page_has_each_bench_and_a_stopped_run_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(
        everything,
        "BENCHES",
        {
            "refusals": ("--kind", "black picture", "--count", "1"),
            "verification": (),  # asks for no pictures: an error
        },
    )
    assert run(tmp_path, "refusals").exit_code == 0
    kept = (tmp_path / "benches.jsonl").read_text("utf-8")
    assert run(tmp_path).exit_code == 1
    assert (tmp_path / "benches.jsonl").read_text("utf-8") == kept, "an error is no result"
    page = (tmp_path / "README.md").read_text("utf-8")
    assert "| refusals | 0 |" in page
    assert "| verification | came to no end | – |" in page
    assert "black picture     1  1 for the right reason" in page


def test_a_bench_that_there_is_not_is_named(tmp_path):
    refused = run(tmp_path, "tea")
    assert refused.exit_code == 2
    assert "no bench 'tea'" in refused.output


@pytest.mark.parametrize("name", everything.BENCHES)
def test_each_bench_is_a_command_with_these_options(name):
    asked = CliRunner().invoke(app, [name, *everything.BENCHES[name], "--help"])
    assert asked.exit_code == 0
