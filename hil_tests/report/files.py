"""The files of a report: JSON for programs, a page for people, and a record for a laboratory.

Owns their names, and that each is written whole or not at all. Must not know what was tested.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hil_tests.report import openhtf, page
from shaker_ctl.whole_file import mode, put

FORMAT = 1


def write(
    folder: Path,
    *,
    rig: str,
    at: str,
    began_s: float,
    about: Mapping[str, str],
    tests: Sequence[Mapping[str, Any]],
    is_ended: bool = True,
) -> None:
    """Write `report.json`, `report.html` and `openhtf.json`. Raises OSError.

    `at`: when the run began, ISO 8601 with its zone; `began_s`: the same on CLOCK_MONOTONIC, on
    which all times of `tests` are. `is_ended`: whether all tests of the run are there.
    """
    whole = {
        "format": FORMAT,
        "rig": rig,
        "at": at,
        "began_s": began_s,
        "about": dict(about),
        "is_ended": is_ended,
        "tests": list(tests),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("report.json", json.dumps(whole)),
        ("report.html", page.draw(whole)),
        ("openhtf.json", json.dumps(openhtf.test_record(whole))),
    ):
        # A file's name in a message may be no UTF-8.
        put(folder / name, text.encode("utf-8", "backslashreplace"), mode(0o644))
