"""One users file for all console tests: a hash costs tens of milliseconds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from shaker_ctl.console.tests.support import users_file

# On a shared machine an example takes now 2 ms and now 300: no promise is about that.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")


@pytest.fixture(scope="session")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return users_file(tmp_path_factory.mktemp("users"))
