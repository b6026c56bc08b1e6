"""Functions of a node that are asked again only where something differs that they looked at.

Owns the node as a row of small numbers, the stand-ins that note what a function looks at, and the
memory. Everything in a proof is a pure function of the node (`step`, `watched`, each property), and
most of them look at a few of its ninety fields. Two nodes that agree in all fields that a function
looked at, each with the value found there, have it go the same way to the same result. So the
result is remembered under exactly these fields and values, and nothing is left out by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Generic, TypeVar

from hil_tests.proofs.watch import Watch
from shaker_ctl.rules.state import TableState

Result = TypeVar("Result")
Node = tuple[TableState, Watch]
Code = bytes
"""A node: the number of each field's value, first the state's, then the watch's."""

_OF_STATE = {each.name: at for at, each in enumerate(fields(TableState))}
_OF_WATCH = {name: at for at, name in enumerate(Watch._fields, start=len(_OF_STATE))}
STATE_ENDS = len(_OF_STATE)
PHASE, PURPOSE = _OF_STATE["phase"], _OF_STATE["purpose"]


class StandIn:
    """Stands for the state or the watch of whichever node is asked about, and notes each look."""

    __slots__ = ("_at", "_nodes", "changes")

    def __init__(self, nodes: Nodes, at: dict[str, int], changes: dict[str, Any]) -> None:
        self._nodes, self._at, self.changes = nodes, at, changes

    def __getattr__(self, name: str) -> Any:
        if name in self.changes:
            return self.changes[name]
        if name in self._at:
            return self._nodes.look(self._at[name])
        return getattr(TableState, name).fget(self)  # a property, which looks at fields itself

    def __eq__(self, other: object) -> bool:
        raise TypeError("states and watches are compared field by field")

    def changed(self, changes: dict[str, Any]) -> StandIn:
        return StandIn(self._nodes, self._at, self.changes | changes)

    def _replace(self, **changes: Any) -> StandIn:
        return self.changed(changes)


class Nodes:
    """The nodes of one exploration, and the one that is asked about now."""

    def __init__(self) -> None:
        self._numbers: list[dict[Any, int]] = [{} for _ in (*_OF_STATE, *_OF_WATCH)]
        self._values: list[list[Any]] = [[] for _ in self._numbers]
        self.here = b""
        self.looked: dict[int, None] = {}
        self.state: Any = StandIn(self, _OF_STATE, {})
        self.watch: Any = StandIn(self, _OF_WATCH, {})

    def code(self, node: Node) -> Code:
        state, watch = node
        values = (*(getattr(state, name) for name in _OF_STATE), *watch)
        return bytes(self._number(at, value) for at, value in enumerate(values))

    def node(self, code: Code) -> Node:
        values = [self._values[at][number] for at, number in enumerate(code)]
        state = TableState(**dict(zip(_OF_STATE, values, strict=False)))
        return state, Watch(*values[STATE_ENDS:])

    def look(self, at: int) -> Any:
        """Return the value of a field where the present node has it, and note the look."""
        self.looked[at] = None
        return self._values[at][self.here[at]]

    def numbers(self, stand_in: Any) -> list[tuple[int, int]]:
        """Return (field, number) of everything that was changed in a stand-in."""
        return [
            (at := stand_in._at[name], self._number(at, value))
            for name, value in stand_in.changes.items()
        ]

    def _number(self, at: int, value: Any) -> int:
        numbers = self._numbers[at]
        if value not in numbers:
            numbers[value] = len(numbers)
            self._values[at].append(value)
        return numbers[value]

    def ask(
        self, code: Code, function: Callable[[], Result], given: tuple[int, ...]
    ) -> tuple[Result, list[int]]:
        """Return a function's result at a node, and at what it looked beside what is given."""
        outer, self.here, self.looked = self.looked, code, dict.fromkeys(given)
        try:
            return function(), list(self.looked)[len(given) :]
        finally:
            self.looked = outer


_UNKNOWN: Any = object()


class Remembered(Generic[Result]):
    """A function with its results so far, as a tree: which field decides next, and its branches.

    The function looks at `nodes.state` and `nodes.watch`, and returns no tuple. It is never asked
    about two nodes that differ in a field that is `given`.
    """

    __slots__ = ("_function", "_given", "_known", "_nodes")

    def __init__(
        self, nodes: Nodes, function: Callable[[], Result], given: tuple[int, ...] = ()
    ) -> None:
        self._nodes, self._function, self._given = nodes, function, given
        self._known: Any = _UNKNOWN

    def __call__(self, code: Code) -> Result:
        known = self._known
        while type(known) is tuple:
            at, branches = known
            known = branches.get(code[at], _UNKNOWN)
        if known is not _UNKNOWN:
            return known
        result, looked = self._nodes.ask(code, self._function, self._given)
        self.learn(code, result, looked)
        return result

    def learn(self, code: Code, result: Result, looked: list[int]) -> None:
        """Remember the result at a node, and everywhere else where the same is looked at."""
        branches, at, known = None, 0, self._known
        while type(known) is tuple:
            at, branches = known
            looked = [other for other in looked if other != at]
            known = branches.get(code[at], _UNKNOWN)
        grown: Any = result
        for other in reversed(looked):
            grown = (other, {code[other]: grown})
        if branches is None:
            self._known = grown
        else:
            branches[code[at]] = grown
