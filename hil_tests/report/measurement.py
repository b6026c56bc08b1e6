"""A measured value with its limits, and a verdict.

Owns the record and its line of text. Must not know who measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Measurement:
    """`name` was `value` `unit`, and should lie from `lower` to `upper`, where there are any."""

    name: str
    value: float
    unit: str
    lower: float | None = None
    upper: float | None = None

    @property
    def passed(self) -> bool:
        """Within its limits; not a number never is."""
        return (
            self.value == self.value
            and (self.lower is None or self.value >= self.lower)
            and (self.upper is None or self.value <= self.upper)
        )

    @property
    def limits(self) -> str:
        """The limits as a person writes them."""
        if self.lower is None and self.upper is None:
            return "no limit"
        if self.lower is None:
            return f"at most {self.upper:g}"
        if self.upper is None:
            return f"at least {self.lower:g}"
        if self.lower == self.upper:
            return f"exactly {self.lower:g}"
        return f"{self.lower:g} to {self.upper:g}"

    def line(self) -> str:
        """One line for a screen."""
        verdict = "ok  " if self.passed else "FAIL"
        unit = f" {self.unit}" if self.unit else ""
        return f"{verdict} {self.name}: {self.value:.6g}{unit} ({self.limits})"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"passed": self.passed}


class Measure:
    """Takes the measurements of one test, as a fixture: call it once for each."""

    def __init__(self, tell: Callable[[Measurement], None]) -> None:
        self.taken: list[Measurement] = []
        self._tell = tell

    def __call__(
        self,
        name: str,
        value: float,
        unit: str = "",
        *,
        lower: float | None = None,
        upper: float | None = None,
    ) -> Measurement:
        """Take down one value. A value outside its limits fails the test at its end, so that
        those after it are still taken."""
        taken = Measurement(name, float(value), unit, lower, upper)
        self.taken.append(taken)
        self._tell(taken)
        return taken

    def verdict(self) -> str:
        """What was outside its limits, for an assertion; empty where nothing was."""
        return "; ".join(one.line().removeprefix("FAIL ") for one in self.taken if not one.passed)
