"""What the drawn table was taught."""

import pytest

from vision.taught import Teaching
from vision.tests.taught_table import taught


@pytest.fixture
def teaching() -> Teaching:
    return taught()
