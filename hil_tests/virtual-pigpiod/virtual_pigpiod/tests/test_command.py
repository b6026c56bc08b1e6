"""The command line of the daemon refuses by the option what it cannot do."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from virtual_pigpiod.command import app


@pytest.mark.parametrize(
    ("option", "value"), [("--port", "-1"), ("--port", "65536"), ("--seconds", "inf")]
)
def test_an_option_out_of_range_is_named(option, value):
    done = CliRunner().invoke(app, [option, value])
    assert (done.exit_code, f"'{option}'" in done.output) == (2, True)
