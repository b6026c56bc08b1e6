"""Faults of one part of the rig: which there are, which are in force, and which wait for an event.

Owns how the faults of `hil_tests/faults.toml` are read, and triggers; what a table must do about
one is not looked at. A fault begins at once, or after a number of events of the part (`after 2
commit`). So a scenario times a fault by events and never by sleeping. The code of the part contains
the effect of the fault.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

Value = float | str
Bounds = tuple[float, float]
"""Minimum and maximum of a number, both included."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One injectable fault. `parameters` names every parameter that it takes, with its default."""

    name: str
    summary: str
    seen: str
    """What an observer outside the rig sees."""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """Of each parameter that is a number."""


TABLE = tomllib.loads((Path(__file__).parents[1] / "faults.toml").read_text("utf-8"))
_OF_TABLES = ("rows", "elsewhere")
"""What a table under test meets of a fault: see `hil_tests.reliability.catalogue`."""


def catalogue(part: str) -> dict[str, Fault]:
    """Return every fault of one part, by name, as `faults.toml` has them."""
    return {
        name: _fault(name, **{key: said for key, said in row.items() if key not in _OF_TABLES})
        for name, row in TABLE[part].items()
    }


def _fault(name: str, what: str, seen: str, **parameters: Value | list[float]) -> Fault:
    """Make one fault of its row; a list is a number's default, minimum and maximum."""
    defaults = {key: one[0] if isinstance(one, list) else one for key, one in parameters.items()}
    bounds = {key: (one[1], one[2]) for key, one in parameters.items() if isinstance(one, list)}
    return Fault(name, what, seen, defaults, bounds)


@dataclass(frozen=True, slots=True)
class Order:
    """One sentence, understood: a fault, its parameters, and the event it waits for."""

    name: str
    parameters: dict[str, Value]
    after: tuple[int, str] | None = None


Active = dict[str, dict[str, Value]]


def come_due(waiting: dict[str, Order], event: str, times: int = 1) -> list[Order]:
    """Count that `event` happened; take off and return the orders that need not wait any more."""
    due = []
    for name, order in list(waiting.items()):
        if order.after is None or order.after[1] != event:
            continue
        if (left := order.after[0] - times) > 0:
            waiting[name] = replace(order, after=(left, event))
        else:
            due.append(replace(waiting.pop(name), after=None))
    return due


def still_missing(waiting: Mapping[str, Order]) -> dict[str, str]:
    """By name, how many of which event each of them waits for."""
    return {name: f"{o.after[0]} {o.after[1]}" for name, o in waiting.items() if o.after}


class FaultPart:
    """A part of the rig that can be broken. This one has no faults in force, and none that wait."""

    name: str
    catalogue: Mapping[str, Fault]
    events: tuple[str, ...] = ()
    """What its faults can wait for, beside what any fault can."""

    def check(self, order: Order) -> None:
        """Say whether `inject` would take it, and change nothing.

        Raises TypeError or ValueError, each with a text that lists what there is.
        """
        checked(self.catalogue[order.name], order.parameters)

    def obey(self, order: Order) -> None:
        """Break it. Only ever called with what `check` has let pass."""

    def heal(self, name: str) -> None:
        """Mend it; nothing where it is not broken."""

    @property
    def active(self) -> Active:
        """Faults in force, with their parameters."""
        return {}

    @property
    def waiting(self) -> dict[str, str]:
        """Faults that wait, with what for."""
        return {}


def checked(fault: Fault, given: Mapping[str, Value]) -> dict[str, Value]:
    """Return all parameters of `fault`, those that are `given` in place of their defaults.

    Raises TypeError for a parameter that it does not take, and ValueError for a value of the wrong
    kind or outside its bounds (not a number is outside all); each text says what would be right.
    """
    known = fault.parameters
    if unknown := sorted(set(given) - set(known)):
        takes = sorted(known) or "no parameters"
        raise TypeError(f"fault {fault.name} takes {takes}, not {unknown}")
    return {key: _value(fault, key, given.get(key, known[key])) for key in known}


def _value(fault: Fault, key: str, value: Value) -> Value:
    if isinstance(fault.parameters[key], str):
        return str(value)
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"{fault.name} {key} must be a number, not {value!r}") from None
    if key in fault.bounds:
        least, most = fault.bounds[key]
        if not least <= number <= most:
            raise ValueError(f"{fault.name} {key} must be {least:g} to {most:g}, not {value}")
    return number


class FaultSet(FaultPart):
    """The faults of a part that times them by its own events. Safe to call from any thread."""

    def __init__(self, name: str, faults: Iterable[Fault], events: Iterable[str] = ()) -> None:
        self.name = name
        self.catalogue = {fault.name: fault for fault in faults}
        self.events = tuple(events)
        self.counted: Callable[[str], None] = lambda event: None
        """Told of each event, for faults of other parts."""
        self.began: Callable[[str], None] = lambda name: None
        """Told of a fault that waited for an event of this part, when it comes into force."""
        self._lock = threading.Lock()
        self._active: Active = {}
        self._waiting: dict[str, Order] = {}

    def check(self, order: Order) -> None:
        self.values(order.name, order.parameters)

    def obey(self, order: Order) -> None:
        self.inject(order.name, after=order.after, **order.parameters)

    def inject(
        self, name: str, *, after: tuple[int, str] | None = None, **parameters: Value
    ) -> None:
        """Put a fault in force, now or after `(count, event)`.

        Raises KeyError for an unknown fault, TypeError for a parameter that it does not take, and
        ValueError for an unknown event or a value that it cannot have; each text lists what there
        is.
        """
        values = self.values(name, parameters)
        if after is not None and after[1] not in self.events:
            raise ValueError(f"{name} can wait for {', '.join(self.events)}, not {after[1]!r}")
        with self._lock:
            if after is not None and after[0] > 0:
                self._waiting[name] = Order(name, values, after)
            else:
                self._active[name] = values

    def values(self, name: str, given: Mapping[str, Value]) -> dict[str, Value]:
        """Return the parameters that a fault would have; changes nothing. Raises as `inject`."""
        if name not in self.catalogue:
            raise KeyError(f"no fault {name!r}; there are: {', '.join(sorted(self.catalogue))}")
        values = checked(self.catalogue[name], given)
        self.require(name, values)
        return values

    def require(self, name: str, values: dict[str, Value]) -> None:
        """Raise ValueError for values that a part cannot take; most take all."""

    def heal(self, name: str | None = None) -> None:
        """End one fault, or all, whether in force or still waiting."""
        with self._lock:
            for one in [name] if name is not None else [*self._active, *self._waiting]:
                self._active.pop(one, None)
                self._waiting.pop(one, None)

    def count(self, event: str) -> None:
        """Tell that `event` happened once."""
        self.counted(event)
        if not self._waiting:
            return
        with self._lock:
            due = come_due(self._waiting, event)
            self._active.update((order.name, order.parameters) for order in due)
        for order in due:
            self.began(order.name)

    @property
    def active(self) -> Active:
        """A copy of the faults in force with their parameters."""
        with self._lock:
            return {name: dict(values) for name, values in self._active.items()}

    @property
    def waiting(self) -> dict[str, str]:
        """Faults that wait, with what for."""
        with self._lock:
            return still_missing(self._waiting)

    def __contains__(self, name: str) -> bool:
        return name in self._active

    def number(self, name: str, parameter: str) -> float:
        """Return a number among the parameters of a fault in force; its default otherwise."""
        return float(self._value(name, parameter))

    def numbers(self, name: str) -> dict[str, float]:
        """Return the parameters of a fault in force that takes numbers only."""
        return {key: float(value) for key, value in self._active[name].items()}

    def text(self, name: str, parameter: str) -> str:
        """Return a text among the parameters of a fault in force; its default otherwise."""
        return str(self._value(name, parameter))

    def _value(self, name: str, parameter: str) -> Value:
        in_force = self._active.get(name)
        return (in_force or self.catalogue[name].parameters)[parameter]
