"""`shaker-ctl rules`, as a person sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from shaker_ctl.commands import rules
from shaker_ctl.errors import RefusedError, SettingsError, ShakerError
from shaker_ctl.main import EX_CONFIG, exit_status
from shaker_ctl.rules import diagram
from shaker_ctl.rules.events import ValuesEntered
from shaker_ctl.rules.machine import ROWS
from shaker_ctl.rules.profile_files import EXAMPLES, PROFILES, load, source
from shaker_ctl.rules.regulation import said, values_of
from shaker_ctl.rules.state import Phase


@pytest.fixture
def shown(monkeypatch):
    def run(*arguments: str) -> str:
        monkeypatch.setattr(rules, "screen", Console(width=160, no_color=True))
        result = CliRunner().invoke(rules.app, list(arguments), catch_exceptions=False)
        assert result.exit_code == 0, result.output
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
    for _, value in values_of(load(name)):
        assert "".join(value.clause.split())[:12] in text
        assert "".join(said(value.value).split())[:12] in text


def test_a_house_s_own_areas_are_shown_with_what_wins_them(shown):
    text = shown("show", str(EXAMPLES / "house-four-numbers.toml"))
    assert "four-1-2-3-4" in text
    assert "among 1, 2, 3, 4; different 3" in text
    assert "area of the house" not in shown("show", "pa-625a")


def test_what_a_text_leaves_to_reading_is_marked_as_such(shown):
    said = " ".join(shown("show", "md").split())
    assert "whoever may inspect makes both parts" in said


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


def test_paytable_with_multipliers_states_both_edges_and_how_they_are_drawn(shown):
    text = " ".join(shown("paytable", "pa-625b").split())
    assert "13.89%" in text
    assert "10.22%" in text
    assert "each round draws 0 to 5 positions and their odds, all evenly" in text


def test_paytable_of_ma_shows_both_readings(shown):
    text = shown("paytable", "ma")
    assert "1 to 10" in text
    assert "7.87%" in text
    assert "39.12% as printed" in text


def refused(shown, kind: type[ShakerError], *arguments: str) -> str:
    """Run it; return the one line that `main` would print."""
    with pytest.raises(kind) as caught:
        shown(*arguments)
    assert exit_status(caught.value) == (EX_CONFIG if kind is SettingsError else 1)
    assert caught.value.remedy
    return caught.value.line()


def test_what_is_wrong_is_one_line_with_the_remedy(shown, tmp_path: Path):
    assert "pa-539" in refused(shown, SettingsError, "show", "nowhere")
    assert "Give --table A" in refused(shown, RefusedError, "paytable", "md", "--table", "B")
    assert "two profiles" in refused(shown, RefusedError, "compare", "md")
    assert "x.dot" in refused(shown, RefusedError, "diagram", "--out", str(tmp_path / "no/x.dot"))
    assert ".svg" in refused(shown, RefusedError, "diagram", "--out", str(tmp_path / "x.png"))


def test_check_finds_a_file_good_or_names_what_is_wrong(shown, tmp_path: Path):
    good = tmp_path / "good.toml"
    text = source(load("md")).read_text(encoding="utf-8").replace('name = "md"', 'name = "own"')
    text = text.replace("Maryland State", "Another State")
    good.write_text(text, encoding="utf-8")
    assert "complete" in shown("check", str(good))
    good.write_text(text.replace('"required"', '"desired"', 1), encoding="utf-8")
    assert str(good) in refused(shown, SettingsError, "check", str(good))
    good.write_text("", encoding="utf-8")
    assert str(good) in refused(shown, SettingsError, "check", str(good))


def test_check_looks_at_files_only(shown, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no file pa-625a" in refused(shown, SettingsError, "check", "pa-625a")
    line = refused(shown, SettingsError, "check", "/etc/hostname")
    assert "/etc/hostname" in line
    assert "Name a .toml file" in line
    assert "pa-625a" not in line, "it takes no name"


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe", b"a = " + b"[" * 5000 + b"]" * 5000, b"a = " + b"9" * 5000, b"on_top_of = 3"],
    ids=["bytes", "deep", "long", "base"],
)
def test_a_file_that_cannot_be_read_is_named_with_its_folder(shown, tmp_path: Path, content: bytes):
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    assert str(file) in refused(shown, SettingsError, "show", str(file))


def test_words_of_a_profile_are_printed_as_they_are(shown, tmp_path: Path):
    text = source(load("md")).read_text(encoding="utf-8").replace('name = "md"', 'name = "own"')
    text = text.replace("Maryland State", "Another State")
    file = tmp_path / "x.toml"
    file.write_text(text.replace('clause = "', 'clause = "[/x]'), encoding="utf-8")
    for words in (("show",), ("paytable",), ("compare", "--all", "md")):
        assert "[/x]" in shown(*words, str(file))
    file = file.rename(tmp_path / "[x].toml")
    assert "[x].toml" in shown("check", str(file))


def test_the_diagram_has_every_phase_in_a_group(shown, tmp_path: Path):
    out = tmp_path / "table.dot"
    shown("diagram", "--out", str(out))
    drawn = out.read_text(encoding="utf-8")
    groups = (*diagram.LIFE, *diagram.ROUND)
    grouped = [phase for group in groups for phase in group.phases]
    assert sorted(phase.value for phase in grouped) == sorted(phase.value for phase in Phase)
    for phase in Phase:
        assert f"<b>{phase.value.replace('_', ' ')}</b>" in drawn


def test_without_graphviz_the_diagram_names_the_package(shown, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    said = refused(shown, RefusedError, "diagram", "--out", str(tmp_path / "x.svg"))
    assert "Graphviz" in said


def test_rows_prints_the_whole_table_and_the_rows_of_a_phase_an_event_or_a_clause(shown):
    def titles(*options: str) -> list[str]:
        blocks = "".join(shown("rows", *options)).split("\n\n")
        own = ([line for line in each.splitlines() if line[:1] != "#"] for each in blocks)
        return [lines[0].partition("  [")[0] for lines in own if lines]

    assert titles() == [row.name for row in ROWS]
    assert titles("--phase", "awaiting_dealer", "--event", "valuesEntered") == [
        row.name for row in ROWS if Phase.AWAITING_DEALER in row.phases and row.on is ValuesEntered
    ]
    key = "no_roll.wagers"
    assert {row.name for row in ROWS if key in row.may_cite} < {*titles("--clause", key)}
    announced = titles("--clause", "interruption.after_toss", "--phase", "interrupted")
    assert "the required person is present: the dealer reads" in announced
    assert "EN on" in titles("--clause", "625a.5(g)")
    assert f"cites, as the cause is: {key}; " in "".join(shown("rows", "--clause", key))


def test_rows_say_what_their_words_mean(shown):
    told = shown("rows", "--event", "CompartmentOpened", "--explain")
    assert "compartment opened: Whoever agrees to a correction sees the dice as they fell" in told
    assert "value unknown: Refused: a value of this round is verified or entered." in told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--phase", "awaiting"), "awaiting dealer"),
        (("--event", "LampsFault"), "LampFault"),
        (("--clause", "no_rol.wagers"), "no_roll.wagers"),
        (("--clause", "1.A"), "rules show --text"),
        (("--phase", "closed", "--clause", "no_roll.wagers"), "--clause"),
    ],
)
def test_rows_that_nobody_knows_are_refused_with_the_nearest_names(given, told):
    refused = CliRunner().invoke(rules.app, ["rows", *given]).exception
    assert isinstance(refused, RefusedError)
    assert told in refused.remedy
