"""Alarm rules and dashboards speak of figures that exist, and each alarm comes up on its cause."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from shaker_ctl.floor import metrics

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
        assert known in SOURCE or known.removeprefix("shaker_floor_") in SOURCE, name
    if file.suffix == ".json":
        assert {"uid", "panels", "templating"} <= json.loads(text).keys()


@pytest.mark.parametrize(
    ("health", "sample"),
    [({"throttled": None}, None), ({}, None), ({"throttled": []}, 0), ({"throttled": ["x"]}, 1)],
)
def test_a_table_that_does_not_know_its_supply_gives_no_sample(
    health: dict[str, object], sample: int | None
) -> None:
    place = SimpleNamespace(table="T1")
    table: Any = SimpleNamespace(
        place=place, state={"service": True, "health": health}, birth=None, is_online=True,
        life="", heard_s=0.0, behind=0, refused=0,
    )  # fmt: skip
    collector: Any = SimpleNamespace(named={})
    assert metrics.Figures(collector)._of(table)["shaker_table_throttled"] == sample
