"""All that is kept of one test, and its form in a report.

Owns that form. Must not know pytest or rigs.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hil_tests.report.measurement import Measure
from hil_tests.report.page import UNFINISHED
from hil_tests.report.story import Story, StoryLine


class TestRecord:
    """All that is kept of one test."""

    __test__ = False

    def __init__(
        self,
        node: str,
        title: str,
        promise: str,
        tell: Callable[[str], None] = lambda _: None,
        folder: Path | None = None,
    ) -> None:
        """`folder` is the report's."""
        self._folder = folder
        self.node, self.title, self.promise = node, title, promise
        self.measure = Measure(lambda taken: tell(f"    {taken.line()}"))
        self.story = Story(lambda line: tell(f"    {_told(line)}"))
        self.t0 = time.monotonic()
        self.t1 = self.t0
        self.outcome = UNFINISHED
        self.reason = ""
        self.trace = ""
        self.evidence: dict[str, Any] = {}
        self.attached: list[str] = []

    def attach(self, files: Iterable[Path]) -> None:
        """Keep copies beside the report, as they are now; those that do not exist are left out."""
        if self._folder is None:
            return
        place = self._folder / "attached" / re.sub(r"[^\w-]+", "-", self.node)[-100:].strip("-")
        for file in files:
            if not file.is_file():
                continue
            place.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place / file.name)
            self.attached.append((place / file.name).relative_to(self._folder).as_posix())

    def as_dict(self) -> dict[str, Any]:
        return {
            "node": self.node,
            "title": self.title,
            "promise": self.promise,
            "outcome": self.outcome,
            "reason": self.reason,
            "trace": self.trace,
            "t0": self.t0,
            "seconds": round(self.t1 - self.t0, 2),
            "measurements": [taken.as_dict() for taken in self.measure.taken],
            "story": [line.as_dict() for line in self.story.lines],
            "evidence": self.evidence,
            "attached": self.attached,
        }


def _told(line: StoryLine) -> str:
    mark = {"did": ">", "saw": "<", "held": "ok", "failed": "FAIL"}[line.kind]
    return f"{mark} {line.who}: {line.text}"
