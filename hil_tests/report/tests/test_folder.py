"""`--rig-report DIR`: a folder that cannot be written is said before the first test."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hil_tests.conftest import pytest_configure


class Plugins:
    def register(self, _: object, __: str) -> None:
        """Nothing is run with it."""


def configured(folder: Path) -> Any:
    option = SimpleNamespace(
        rig=None, rig_report=str(folder), xmlpath=None, rig_operator="", rig_station=""
    )
    config = SimpleNamespace(option=option, stash={}, pluginmanager=Plugins())
    pytest_configure(cast(pytest.Config, config))
    return config


@pytest.mark.parametrize("folder", ["a file", "a file/below", "/proc", "/proc/nowhere"])
def test_a_folder_in_which_nothing_can_be_written_ends_the_run_at_its_start(
    tmp_path: Path, folder: str
) -> None:
    (tmp_path / "a file").write_text("")
    with pytest.raises(pytest.UsageError, match=r"--rig-report .*name another folder"):
        configured(tmp_path / folder)
