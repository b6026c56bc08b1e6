"""What a person types on the floor's machine."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl.errors import RefusedError
from shaker_ctl.floor.main import program
from shaker_ctl.floor.store import Store, StoreError
from shaker_ctl.floor.tests.test_store import fill, played


@pytest.fixture
def config(tmp_path: Path, url: str) -> Path:
    """Settings of a floor whose database holds twenty rounds."""
    with closing(Store(url)) as store:
        fill(store, played(20), each=64)
    file = tmp_path / "floor.toml"
    file.write_text(f'store = "{url}"\n', "utf-8")
    return file


def told(*words: str, config: Path) -> str:
    ran = CliRunner().invoke(program, [*words, "--config", str(config)], catch_exceptions=False)
    return ran.output


def test_a_schema_is_changed_by_a_command_and_every_other_one_names_it(config: Path) -> None:
    assert told("migrate", "--to", "records", config=config).split()[-1] == "records"
    with pytest.raises(StoreError) as refused:
        told("tables", config=config)
    assert refused.value.remedy == "Stop collectors and page, then: shaker-floor migrate"
    with pytest.raises(RefusedError, match="no schema"):
        told("migrate", "--to", "tomorrow", config=config)
    told("migrate", config=config)
    assert "records 1 to 80" in told("tables", config=config)
    assert "sound, records 1 to 80" in told("verify", config=config)


def test_a_line_says_who_had_its_beginning_removed(config: Path, url: str) -> None:
    with closing(Store(url)) as store:
        store.remove(before="9999", by="Ann Floor")
    assert "no records" in told("tables", config=config)
    assert "removed by Ann Floor" in told("tables", config=config)


@pytest.mark.parametrize(("by", "reason"), [(" ", "x"), ("Ann", "")])
def test_what_people_decide_needs_a_name_and_a_reason(config: Path, by: str, reason: str) -> None:
    with pytest.raises(RefusedError, match="is empty"):
        told("accept", "pit-1", "--by", by, "--reason", reason, config=config)
