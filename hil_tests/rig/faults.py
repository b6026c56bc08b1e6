"""The catalogue of all faults that can be injected into the rig, from all its parts.

Owns the one list of names, the responsible part for each name, and the sentence with which a person
or a scenario injects a fault:

    tach_silent after 12 edges
    bulb_burnt area=small,one-6 after 1 commit
    camera_frozen after 1 rest
    line_noise line=technician per_byte=0.1

If the part itself sees the event (a tach edge, a request to the lamp box), the fault begins exactly
then. For other events the rig tells the part, and the fault follows within a millisecond or two.

Must not know what any fault does, nor what a controller should do about it.
"""

from __future__ import annotations

import difflib
import logging
import queue
import shlex
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from hil_tests.rig.camera.faults import CAMERA_FAULTS
from hil_tests.rig.camera.stream import Camera, CameraLostError
from hil_tests.rig.fault_set import (
    Active,
    Fault,
    FaultPart,
    Order,
    Value,
    catalogue,
    checked,
    come_due,
    still_missing,
)
from hil_tests.rig.lamp_box.faults import LAMP_EVENTS
from hil_tests.rig.wires.line import LINE_FAULTS, Line

log = logging.getLogger(__name__)

EVENTS = ("start", "edges", "rest", "enable", "disable", "light", *LAMP_EVENTS)
"""What any fault can wait for: the shaker begins to move, a rising tach edge, the dice are truly at
rest, EN rises or falls, the ring light changes, and each kind of request that the lamp box took."""


class Faults:
    """All parts together. Safe to call from any thread."""

    def __init__(
        self,
        parts: Iterable[FaultPart],
        noted: Callable[[str, str], None] = lambda what, name: None,
    ) -> None:
        """`noted` is told of each `fault` and each one `healed`, when it comes about; of those that
        a part times itself its own hook tells (`began`)."""
        self._noted = noted
        self._parts = tuple(parts)
        self._part_of = {name: part for part in self._parts for name in part.catalogue}
        self._lock = threading.Lock()
        self._waiting: dict[str, Order] = {}
        self._due: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._inject_due, name="faults", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread that injects what has waited. Idempotent."""
        self._due.put(None)
        self._thread.join()

    def inject(self, sentence: str) -> Order:
        """Break something as `sentence` says; returns how it was understood.

        Raises ValueError, with what would have been right, when it cannot be understood. Nothing
        is then broken, waiting or noted.
        """
        order = parse(sentence)
        part = self._part(order.name)
        known = dict.fromkeys((*part.events, *EVENTS))
        if order.after is not None and order.after[1] not in known:
            raise ValueError(f"a fault can wait for {', '.join(known)}, not {order.after[1]!r}")
        _check(part, order)
        if order.after is None or order.after[0] == 0:
            self._break(part, replace(order, after=None))
        elif order.after[1] in part.events:
            part.obey(order)
        else:
            with self._lock:
                self._waiting[order.name] = order
        return order

    def _break(self, part: FaultPart, order: Order) -> None:
        """Put a checked fault in force now."""
        self._noted("fault", order.name)  # before: it acts at once
        part.obey(order)

    def count(self, event: str, times: int = 1) -> None:
        """Tell that `event` happened; never waits for a part."""
        if not self._waiting:
            return
        with self._lock:
            for order in come_due(self._waiting, event, times):
                self._due.put(order)

    def _inject_due(self) -> None:
        while (order := self._due.get()) is not None:
            try:
                part = self._part(order.name)
                _check(part, order)  # again: a process may have ended while its fault waited
                self._break(part, order)
            except Exception:  # whatever it was, the next fault must find this thread alive
                log.exception("the fault %s could not be injected when its event came", order.name)

    def heal(self, name: str) -> None:
        """Mend one fault, or with `all` every one. Raises ValueError for an unknown name."""
        part_of_one = None if name == "all" else self._part(name)
        with self._lock:
            for one in list(self._waiting) if name == "all" else [name]:
                self._waiting.pop(one, None)
        self._noted("healed", name)
        if part_of_one is not None:
            part_of_one.heal(name)
            return
        for part in self._parts:
            for one in part.catalogue:
                part.heal(one)

    def active(self) -> Active:
        """Every fault in force, with its parameters."""
        return {name: values for part in self._parts for name, values in part.active.items()}

    def waiting(self) -> dict[str, str]:
        """Faults that wait for something, with what is still missing."""
        own = {name: what for part in self._parts for name, what in part.waiting.items()}
        with self._lock:
            return own | still_missing(self._waiting)

    def _part(self, name: str) -> FaultPart:
        if name not in self._part_of:
            near = difflib.get_close_matches(name, self._part_of)
            hint = f"did you mean {' or '.join(near)}?" if near else "`faults` lists them"
            raise ValueError(f"no fault {name!r}; {hint}")
        return self._part_of[name]


def _check(part: FaultPart, order: Order) -> None:
    try:
        part.check(order)
    except (KeyError, TypeError) as error:
        raise ValueError(str(error.args[0])) from error


def parse(sentence: str) -> Order:
    """Understand `NAME [KEY=VALUE]... [after COUNT EVENT]`. Raises ValueError."""
    words = shlex.split(sentence)
    if not words:
        raise ValueError("say which fault: NAME [KEY=VALUE]... [after COUNT EVENT]")
    name, *rest = words
    after: tuple[int, str] | None = None
    if "after" in rest:
        at = rest.index("after")
        tail = rest[at + 1 :]
        if len(tail) != 2 or not tail[0].isdecimal():
            raise ValueError("after `after` comes a count and an event, such as: after 12 edges")
        after = (int(tail[0]), tail[1])
        rest = rest[:at]
    parameters: dict[str, Value] = {}
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{word!r} is no parameter; write KEY=VALUE")
        parameters[key] = value
    return Order(name, parameters, after)


# ── Parts ───────────────────────────────────────────────────────────────────


class DaemonPart(FaultPart):
    """The GPIO daemon: each fault is something done to it, healing gives a good one back."""

    name = "pigpiod"
    _PREFIX = "pigpiod_"
    catalogue: Mapping[str, Fault] = catalogue("pigpiod")

    def __init__(self, act: Callable[[str], object]) -> None:
        """`act` does to the daemon, here or elsewhere, what is named as in `VirtualPigpiod`."""
        self._act = act
        self._active: set[str] = set()

    def obey(self, order: Order) -> None:
        self._act(order.name.removeprefix(self._PREFIX))
        if order.name != "pigpiod_vanish":
            self._active.add(order.name)

    def heal(self, name: str) -> None:
        if name in self._active:
            self._active.discard(name)
            self._act("resume")
            self._act("start")

    @property
    def active(self) -> Active:
        return {name: {} for name in sorted(self._active)}


class CameraPart(FaultPart):
    """The camera's stream; its faults are the camera's own names behind `camera_`."""

    name = "camera"
    PREFIX = "camera_"
    catalogue: Mapping[str, Fault] = {
        f"camera_{fault.name}": replace(fault, name=f"camera_{fault.name}")
        for fault in CAMERA_FAULTS.values()
    }

    def __init__(self, camera: Camera) -> None:
        self._camera = camera

    def obey(self, order: Order) -> None:
        numbers = {key: float(value) for key, value in order.parameters.items()}
        self._camera.inject(order.name.removeprefix(self.PREFIX), **numbers)

    def heal(self, name: str) -> None:
        self._camera.clear(name.removeprefix(self.PREFIX))

    @property
    def active(self) -> Active:
        try:
            faults = self._camera.status().faults
        except CameraLostError:
            return {}  # the rig's status tells of a camera that is lost
        return {self.PREFIX + name: dict(values) for name, values in faults.items()}


class LinesPart(FaultPart):
    """The serial lines; `line=NAME` says which, the lamp line where nothing is said."""

    name = "lines"
    events = ("transfers",)

    def __init__(self, lines: Mapping[str, Line]) -> None:
        self._lines = lines
        self.catalogue: Mapping[str, Fault] = {
            fault.name: replace(fault, parameters={"line": "lamp", **fault.parameters})
            for fault in LINE_FAULTS.values()
        }

    def check(self, order: Order) -> None:
        values = checked(self.catalogue[order.name], order.parameters)
        if values["line"] not in self._lines:
            raise ValueError(f"no line {values['line']!r}; there are: {', '.join(self._lines)}")

    def obey(self, order: Order) -> None:
        parameters = dict(order.parameters)
        name = str(parameters.pop("line", "lamp"))
        self._lines[name].faults.inject(order.name, after=order.after, **parameters)

    def heal(self, name: str) -> None:
        for line in self._lines.values():
            line.faults.heal(name)

    @property
    def active(self) -> Active:
        return {
            fault: {"line": line.name, **values}
            for line in self._lines.values()
            for fault, values in line.faults.active.items()
        }

    @property
    def waiting(self) -> dict[str, str]:
        return {
            fault: what
            for line in self._lines.values()
            for fault, what in line.faults.waiting.items()
        }
