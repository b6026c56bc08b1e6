"""A demonstration is marked in the settings that it plays by."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaker_ctl.commands import run
from shaker_ctl.errors import RefusedError
from shaker_ctl.installation import real_table


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
