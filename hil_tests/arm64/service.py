"""Inside the emulation: the service until READY. `python -m hil_tests.arm64.service SETTINGS`.

What was executed until READY is the mark 1. The camera process is this machine's own Python
(`SHAKER_CTL_OWN_PYTHON`): what it costs is counted on its own.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from hil_tests.arm64.marks import mark

READY = 1


def main(settings: str) -> None:
    """Run the service as its unit does."""
    import shaker_ctl.main

    sys.argv = ["shaker-ctl", "run", "--config", settings]
    sys.executable = os.environ.pop("SHAKER_CTL_OWN_PYTHON")
    os.environ["PYTHONPATH"] = ""
    import typer

    echo = typer.echo

    def told(message: Any = None, **options: Any) -> None:
        if message == "READY":
            mark(READY)
        echo(message, **options)

    vars(typer)["echo"] = told
    shaker_ctl.main.app()


if __name__ == "__main__":
    main(sys.argv[1])
