"""What happened in a scenario, in plain words and in order: who did what, and what was then seen.

Owns the lines. Must not know tables or rigs. A failed expectation ends the scenario with the same
words that stand in the report.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

FOUND = " - but found: "
"""Between what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class StoryLine:
    """One line: `kind` is did, saw, held or failed."""

    t: float
    who: str
    text: str
    kind: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"t": round(self.t, 3)}


class Story:
    """The lines of one test."""

    def __init__(self, tell: Callable[[StoryLine], None] = lambda line: None) -> None:
        self.lines: list[StoryLine] = []
        self._tell = tell

    def did(self, who: str, text: str) -> None:
        """Somebody acted: a person, the rig, the test itself."""
        self._add(StoryLine(time.monotonic(), who, text, "did"))

    def saw(self, who: str, text: str) -> None:
        """Somebody saw or heard something."""
        self._add(StoryLine(time.monotonic(), who, text, "saw"))

    def expect(self, text: str, is_so: object, found: object = None) -> None:
        """State what must be so. Raises AssertionError with the same words where it is not."""
        if is_so:
            self._add(StoryLine(time.monotonic(), "expected", text, "held"))
            return
        said = text if found is None else f"{text}{FOUND}{found}"
        self._add(StoryLine(time.monotonic(), "expected", said, "failed"))
        raise AssertionError(f"expected: {said}")

    def _add(self, line: StoryLine) -> None:
        self.lines.append(line)
        self._tell(line)
