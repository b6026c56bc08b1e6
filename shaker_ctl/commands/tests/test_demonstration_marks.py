"""A text that does not govern today is not played, unless asked for as a demonstration."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaker_ctl.commands import demo, run
from shaker_ctl.errors import RefusedError
from shaker_ctl.installation import real_table


@pytest.mark.parametrize(
    ("profile", "since"), [("pa-625b", "2026-08-04"), ("pa-539", "2012-04-03")]
)
def test_an_expired_text_does_not_open_and_says_since_when(profile: str, since: str) -> None:
    with pytest.raises(RefusedError, match=f"not in force since the end of {since}") as refused:
        demo._refuse_out_of_force(profile)
    assert "--as-demonstration" in refused.value.line()


@pytest.mark.parametrize("profile", ["pa-625a", "ma", "md", "house-auto"])
def test_a_text_in_force_or_undated_needs_no_flag(profile: str) -> None:
    demo._refuse_out_of_force(profile)


def test_the_flag_marks_the_settings_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_table, "mark", lambda: None)
    config = tmp_path / "settings.toml"
    config.write_text("")
    plain, shown = run._settings(config, False), run._settings(config, True)
    assert not plain.table.as_demonstration
    assert shown.table.as_demonstration
    assert shown.model_copy(update={"table": plain.table}) == plain


def test_no_demonstration_on_a_real_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_table, "mark", lambda: Path("/etc/shaker-ctl/seal.pub"))
    config = tmp_path / "settings.toml"
    config.write_text("")
    with pytest.raises(RefusedError, match="real table"):
        run._settings(config, True)
