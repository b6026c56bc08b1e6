"""Alarm rules and dashboards speak of figures that exist, and each alarm comes up on its cause."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shaker_ctl.floor import metrics
from shaker_ctl.floor.tables import ShownTable
from shaker_ctl.link.messages import State
from shaker_ctl.link.topics import Place

HERE = Path(__file__).parent
FILES = HERE.parent / "monitoring"
SOURCE = Path(metrics.__file__).read_text("utf-8")


TESTED = ("alerts_test.yml", "alerts_days_test.yml")


@pytest.mark.parametrize("file", TESTED)
def test_alarms_come_up_on_their_cause_and_on_no_other(file: str) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed: apt install prometheus")
    ran = subprocess.run(
        ["promtool", "test", "rules", file], cwd=HERE, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("file", sorted(FILES.iterdir()), ids=lambda file: file.name)
def test_every_figure_that_is_asked_for_exists(file: Path) -> None:
    text = file.read_text("utf-8")
    named = set(re.findall(r"shaker_(?:floor|table)_[a-z_]+", text))
    for name in named:
        known = name.removesuffix("_total").removesuffix("_bucket")
        assert re.search(f'"({known}|{known.removeprefix("shaker_table_")})"', SOURCE), name
    if file.suffix == ".json":
        assert {"uid", "panels", "templating"} <= json.loads(text).keys()


@pytest.mark.parametrize(
    ("health", "sample"),
    [({"throttled": None}, None), ({}, None), ({"throttled": []}, 0), ({"throttled": ["x"]}, 1)],
)
def test_a_table_that_does_not_know_its_supply_gives_no_sample(
    health: dict[str, object], sample: int | None
) -> None:
    state = State(service=True, health=health)  # type: ignore[typeddict-item]
    table = ShownTable(Place("house", "pit-1"), state=state)
    assert {name: value for name, _, value in metrics.figures_of(table)}["throttled"] == sample
