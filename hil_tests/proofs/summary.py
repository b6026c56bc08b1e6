"""What an exploration found, as plain figures and text, so that shards can be put together.

Owns the file that `--out` writes. Must not explore.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import BaseModel, ConfigDict, RootModel

from hil_tests.proofs.explore import Exploration


class BrokenProperty(BaseModel):
    """One transition on which a property does not hold."""

    property: str
    state: str
    event: str
    outcome: str


class Tried(BaseModel):
    """What became of the mutants that were tried on one table."""

    killed: dict[str, str]
    """Name of a mutant to the property that killed it."""
    seconds: float
    """Processor time."""


class Summary(BaseModel):
    """What was found on one table."""

    model_config = ConfigDict(extra="forbid")

    table: str
    states: int
    nodes: int
    transitions: int
    accepted: int
    complete: bool
    seconds: float
    """Processor time."""
    reached: Counter[str]
    """Property to the number of transitions on which it had something to say."""
    rows: set[str]
    """Rows that were taken by an event that the product can post."""
    broken: list[BrokenProperty]
    stuck: list[str]
    """States from which no path leads home."""
    mutants: Tried | None = None
    """None: no mutant was tried."""

    @property
    def holds(self) -> bool:
        return self.complete and not self.broken and not self.stuck

    @classmethod
    def of(cls, found: Exploration) -> Summary:
        return cls(
            table=found.table,
            states=found.states,
            nodes=found.nodes,
            transitions=found.transitions,
            accepted=found.accepted,
            complete=found.complete,
            seconds=found.seconds,
            reached=found.reached,
            rows=found.rows,
            broken=[
                BrokenProperty(
                    property=each.property,
                    state=str(each.state),
                    event=str(each.event),
                    outcome=f"{each.step.state.phase.value} by {each.step.commands}",
                )
                for each in found.violations
            ],
            stuck=[str(state) for state in found.stuck],
        )


class _File(RootModel[list[Summary]]):
    """A shard's result."""


def write(path: Path, found: list[Summary]) -> None:
    path.write_text(_File(found).model_dump_json(indent=1), encoding="utf-8")


def read(path: Path) -> list[Summary]:
    """Return what a shard wrote. Raises ValueError where the file is no such result."""
    return _File.model_validate_json(path.read_text(encoding="utf-8")).root
