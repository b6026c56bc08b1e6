"""One users file for all console tests: a hash costs tens of milliseconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaker_ctl.console.tests.support import users_file


@pytest.fixture(scope="session")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return users_file(tmp_path_factory.mktemp("users"))
