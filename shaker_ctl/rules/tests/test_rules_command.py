"""`shaker-ctl rules`, as a person sees it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console
from typer.testing import CliRunner

from shaker_ctl.commands import rules
from shaker_ctl.rules import diagram
from shaker_ctl.rules.regulation import PROFILES, load, source
from shaker_ctl.rules.state import Phase


@pytest.fixture
def shown(monkeypatch):
    def run(*arguments: str, status: int = 0) -> str:
        monkeypatch.setattr(rules, "console", Console(width=160, no_color=True))
        result = CliRunner().invoke(rules.app, list(arguments))
        assert result.exit_code == status, result.output
        return result.output

    return run


def test_list_names_every_profile_and_what_is_not_in_force(shown):
    text = shown("list")
    assert all(name in text for name in PROFILES)
    assert "since the end of 2012-04-03" in text
    assert "no instrument" in text


@pytest.mark.parametrize("name", PROFILES)
def test_show_gives_every_value_with_its_clause(shown, name):
    text = "".join(shown("show", name).split())
    for _, value in rules.cited(load(name)):
        assert "".join(value.clause.split())[:12] in text


def test_ma_says_that_it_is_not_confirmed(shown):
    assert "not confirmed" in shown("show", "ma")


def test_compare_shows_where_two_profiles_differ(shown):
    text = shown("compare", "md", "pa-539")
    assert "required" in text
    assert "forbidden" in text
    assert "539.5(b)" in text
    assert "settling: order" not in text
    assert "settling: order" in shown("compare", "md", "pa-539", "--all")


def test_paytable_shows_odds_probability_and_edge(shown):
    text = shown("paytable", "pa-625a", "--table", "B")
    assert "180 to 1" in text
    assert "35/216" in text
    assert "16.20%" in text


def test_paytable_of_ma_shows_both_readings(shown):
    text = shown("paytable", "ma")
    assert "1 to 10" in text
    assert "7.87%" in text
    assert "39.12% as printed" in text


def test_a_wrong_name_is_one_line_with_the_remedy(shown):
    shown("show", "nowhere", status=2)
    shown("paytable", "md", "--table", "B", status=2)


def test_check_finds_a_file_good_or_names_what_is_wrong(shown, tmp_path: Path):
    good = tmp_path / "good.toml"
    text = source(load("md")).read_text(encoding="utf-8")
    good.write_text(text, encoding="utf-8")
    assert "complete" in shown("check", str(good))
    good.write_text(text.replace('"required"', '"desired"', 1), encoding="utf-8")
    shown("check", str(good), status=2)


def test_the_diagram_has_every_phase_and_every_ordinary_way(shown, tmp_path: Path):
    out = tmp_path / "table.svg"
    shown("diagram", "--out", str(out))
    tree = ElementTree.fromstring(out.read_text(encoding="utf-8"))
    words = {element.text for element in tree.iter() if element.text}
    assert {phase.value.replace("_", " ") for phase in Phase} <= words
    assert diagram.summary().split()[0].isdigit()
