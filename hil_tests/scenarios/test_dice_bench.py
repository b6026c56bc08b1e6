"""`shaker-ctl dice test` on the rig: it tosses, reads, counts, and leaves the motor off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.commands import dice

pytestmark = [pytest.mark.rig, pytest.mark.timeout(180)]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(Plan(seed=5), tmp_path / "table")
    try:
        made.start_rig()
        made.write_settings()
        yield made
    finally:
        made.close()


def test_dice_are_tossed_read_and_counted(session: Session, tmp_path: Path) -> None:
    out = tmp_path / "pictures"
    words = ["test", "--config", str(session.folder / "settings.toml"), "--tosses", "3", "--yes"]
    shown = CliRunner().invoke(dice.app, [*words, "--out", str(out)], env={"COLUMNS": "120"})
    assert shown.exit_code == 0, (shown.output, shown.exception)
    assert "3 tosses read, 0 not" in shown.output
    assert "nothing is outside in 3 tosses" in shown.output
    page = (out / "index.html").read_text()
    tosses = [line.strip().split("  ") for line in shown.output.splitlines()[:3]]
    for number, values in tosses:
        assert f"<figcaption>{int(number)}: {values}</figcaption>" in page
        assert (out / f"{int(number):05}.jpg").read_bytes().startswith(b"\xff\xd8")


def test_a_carried_die_is_outside_by_the_eighteenth_toss(session: Session) -> None:
    session.ask_rig("inject die_carried die=2")
    words = ["test", "--config", str(session.folder / "settings.toml"), "--tosses", "18", "--yes"]
    shown = CliRunner().invoke(dice.app, words, env={"COLUMNS": "120"})
    assert shown.exit_code == 1, (shown.output, shown.exception)
    assert "outside after" in shown.output
