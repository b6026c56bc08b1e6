"""Settings: bounded, frozen, intolerant of typing errors, and explained."""

from __future__ import annotations

import re
from pathlib import Path

import pydantic
import pytest

from shaker_ctl.errors import SettingsError
from shaker_ctl.settings import Settings, load, parse, reference


def test_defaults_are_valid_and_frozen() -> None:
    settings = parse({}, source="nothing")
    assert settings.table.profile == "pa-625a"
    with pytest.raises(pydantic.ValidationError):
        settings.table.profile = "md"  # type: ignore[misc]


def test_an_unknown_key_names_file_key_and_the_nearest_one() -> None:
    with pytest.raises(SettingsError) as caught:
        parse({"table": {"beting_s": 3.0}}, source="table.toml")
    assert "table.toml" in str(caught.value)
    assert "table.beting_s" in str(caught.value)
    assert "did you mean table.betting_s" in str(caught.value)


def test_an_unknown_section_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"unknown key lamps .*did you mean lamp\?"):
        parse({"lamps": {}}, source="x")


def test_a_value_outside_its_bounds_names_key_value_and_bound() -> None:
    with pytest.raises(SettingsError) as caught:
        parse({"table": {"betting_s": -1}}, source="x")
    assert "table.betting_s = -1" in str(caught.value)
    assert "greater than or equal to" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"[table\n", "not valid TOML"), (b"\xff\xfe", "not a text file")],
)
def test_a_file_that_is_no_settings_file_says_so(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(content)
    with pytest.raises(SettingsError, match=complaint) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert caught.value.remedy


def test_a_missing_file_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot read the settings file") as caught:
        load(tmp_path / "nowhere.toml")
    assert "nowhere.toml" in str(caught.value)


def test_every_key_stands_in_the_reference_with_its_reason() -> None:
    text = reference()
    for section, field in Settings.model_fields.items():
        assert f"## [{section}]" in text
        inner = field.annotation
        assert inner is not None
        for key, member in inner.model_fields.items():
            assert f"`{key}`" in text or f"### {key}" in text
            if not hasattr(member.annotation, "model_fields"):
                assert member.description, f"{section}.{key} has no reason"


def test_the_references_defaults_written_into_a_file_are_the_defaults(tmp_path: Path) -> None:
    lines = []
    for line in reference().splitlines():
        if line.startswith("## ["):
            lines.append(line[3:])
        elif found := re.match(r"- \*\*`(\S+)`\*\* = `(.+?)`(?: \(|$)", line):
            lines.append(f"{found[1]} = {found[2]}")
    path = tmp_path / "settings.toml"
    path.write_text("\n".join(lines))
    assert load(path) == Settings()
    assert len(lines) > 100
