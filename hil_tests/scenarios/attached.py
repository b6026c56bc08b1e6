"""What a reader of the report may want to see whole of a story: settings, log, and its records.

Owns which files those are. The records are an export, which says how to verify it: a table's
journal has a file a gaming day, and the one that bears its name is the oldest.
"""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

EXPORT_S = 60.0
"""Longest export, on a busy machine."""


def files_of(folder: Path, began_s: float) -> list[Path]:
    """Return the files of the table in `folder` for a story that began at `began_s` (monotonic).

    Where its records cannot be exported, a file says why.
    """
    found = [folder / "settings.toml", folder / "service.log"]
    if not found[0].exists():  # a table on another computer keeps its records there
        return found
    since = datetime.fromtimestamp(time.time() - (time.monotonic() - began_s), UTC)
    export = folder / "export"
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from shaker_ctl.main import app; app()"),
            *("journal", "export", str(export), "--config", str(found[0])),
            *("--from", since.isoformat()),
        ],
        capture_output=True,
        text=True,
        timeout=EXPORT_S,
        check=False,
    )
    if done.returncode == 0:
        return [*found, *sorted(export.iterdir())]
    why = folder / "no-export.txt"
    why.write_text(done.stderr, "utf-8")
    return [*found, why]
