"""The queue of faults that consoles and screens show: code, time, cause, remedy.

Owns the words for every fault code and the order in which faults came. Must not know how a fault
was found, nor what follows from it: only the rules decide that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from shaker_ctl.frozen import frozen
from shaker_ctl.rules.vocabulary import FaultKind

WORDS: dict[str, tuple[str, str]] = {
    "motor-driver": (
        "the motor driver raised its fault line",
        "let it cool; check supply and motor winding, then clear the fault and jog",
    ),
    "motor-slow-start": (
        "the shaker did not come up to speed in time",
        "look for a jam or a slack belt, then clear the fault and jog",
    ),
    "motor-stall": (
        "the shaker slowed down or stood still while driven",
        "look for a jam, then clear the fault and jog",
    ),
    "tach-silent": (
        "the motor was driven and no tach edge came",
        "look for a jam; check the tach's plug and wheel, then clear the fault and jog",
    ),
    "tach-unreliable": (
        "the tach's edges jump, so its speed proves nothing",
        "check the tach's gap and cable, then clear the fault and jog",
    ),
    "motor-overspeed": (
        "the shaker ran faster than its approved shake allows",
        "check the motor driver for a short, then clear the fault and jog",
    ),
    "motor-no-stop": (
        "the tach turns although EN is low",
        "cut the motor's supply now; the driver or its contactor is broken",
    ),
    "motor-enable": (
        "EN did not rise: the dead-man in the GPIO daemon does not act",
        "restart the GPIO daemon, then clear the fault",
    ),
    "toss-not-proved": (
        "the tach did not prove a full shake inside the band that mixes",
        "clear the fault, jog, and watch the speed on `motor`",
    ),
    "face-retention": (
        "the dice keep their faces more often than chance allows: the shake no longer mixes",
        "check stroke, belt and compartment, change the dice if worn, then clear the fault",
    ),
    "outcome-health": (
        "the outcomes of one die repeat more often than chance allows (SP 800-90B)",
        "take the table out of service and have dice and shaker examined",
    ),
    "controller-late": (
        "the controller's own threads were late, so the motor was not permitted to run",
        "see `health` for load and throttling, then clear the fault",
    ),
    "gpio-link": (
        "the pins cannot be reached",
        "systemctl restart shaker-pigpiod (on a Raspberry Pi 5: shaker-ctl), then clear the fault",
    ),
    "lamp": ("the lamp box does not show what it must", "see `lamps`, then clear the fault"),
    "lamp-timeout": (
        "the lamp box does not answer",
        "check its supply and the RS-485 line, then clear the fault",
    ),
    "lamp-reply": (
        "the lamp box answered wrongly",
        "check unit number, baud rate, layout and line termination, then clear the fault",
    ),
    "lamp-readback": (
        "a lamp is lit or dark against its command",
        "see `lamps` for the area; change the bulb, then clear the fault and inspect",
    ),
    "journal-write": (
        "the journal cannot be written",
        "free or replace the medium (`health`), then restart the service",
    ),
    "journal-busy": (
        "another process keeps a file of the journal",
        "find out which one has it open, end it, then restart the service",
    ),
    "seal": (
        "a sealed file is not as it was sealed",
        "the table halts after the round; `shaker-ctl seal check` names every file",
    ),
    "journal-corrupt": (
        "the journal does not verify",
        "shaker-ctl journal verify names the record; a person decides",
    ),
    "disputes": (
        "the list of disputes is damaged, or not the one that the journal knows",
        "bring it back from a copy and clear the fault, or stop the table and run "
        "`shaker-ctl journal rebuild --disputes`",
    ),
    "camera-process": (
        "the camera's process died and did not come back",
        "check the camera's cable and supply, then clear the fault",
    ),
    "camera-silent": (
        "the camera gives no frames",
        "check the camera's cable and supply, then clear the fault",
    ),
    "camera-open": (
        "the camera could not be opened",
        "check the setting camera.device and the cable, then clear the fault",
    ),
    "camera-moved": (
        "the camera does not stand where it was calibrated",
        "fix it, `shaker-ctl calibrate camera`, restart, then clear the fault and inspect",
    ),
    "dirty-dome": (
        "a spot stays in the picture while the dice move",
        "clean the dome and the lens (`camera` says where), then clear the fault and inspect",
    ),
    "frozen": (
        "the camera sends one picture again and again",
        "check the camera's cable and driver, then clear the fault",
    ),
    "looped": (
        "the camera sends pictures that were seen before",
        "look for a recorder in the camera's line, then clear the fault",
    ),
    "dice-unmoved": (
        "the motor turned and the dice lie as before",
        "check coupling, cam and plate, then clear the fault and jog",
    ),
    "toss-silent": (
        "the motion thread did not answer in time",
        "see the log; restart the service, then clear the fault",
    ),
    "draw-silent": (
        "a random draw was not made in time",
        "see the log; restart the service, then clear the fault",
    ),
    "cover-stuck": (
        "the cover did not get where it was driven",
        "look what is in its way, then clear the fault",
    ),
    "lamp-anchor": (
        "the lamp box refused the head of the journal: it holds a later one, or another table's",
        "look for a second controller on the lamp line; `shaker-ctl journal verify`, restart, then "
        "clear the fault",
    ),
    "lamp-seen-wrong": (
        "a person saw in the inspection that a lamp is not as it should be",
        "the journal names the area; check its bulb, cover and wiring, then clear the fault",
    ),
    "odds-not-shown": (
        "a multiplier display did not prove that it shows what it was told",
        "look at the displays and their line, then clear the fault; the inspection tries each",
    ),
    "lamps-silent": (
        "the lamps' thread did not answer in time",
        "see `lamps` and the log, then clear the fault",
    ),
    "controller-hung": (
        "the controller hung, and the watchdog ended it",
        "see what it did last (`journal last`) and the log (journalctl -u shaker-ctl), then clear "
        "the fault and inspect",
    ),
    "controller-died": (
        "the controller ended without being stopped: killed, crashed, or out of memory",
        "see what it did last (`journal last`) and the log (journalctl -u shaker-ctl), then clear "
        "the fault and inspect",
    ),
    "clock": (
        "the wall clock was stepped",
        "set the clock, clear the fault; a floorperson then says `time confirm`",
    ),
    "memory-low": (
        "the computer's memory is nearly used up",
        "see `health`; end what does not belong there or restart, then clear the fault",
    ),
    "disk-low": (
        "the journal's disk is nearly full",
        "free space (`health`), then clear the fault",
    ),
}

_KIND_WORDS = {
    FaultKind.SHAKER: ("the shaker failed", "see `motor`, then clear the fault and jog"),
    FaultKind.LAMP: ("the lamps failed", "see `lamps`, then clear the fault and inspect"),
    FaultKind.READER: ("the reader failed", "see `camera`, then clear the fault"),
    FaultKind.CONTROLLER: ("the controller failed", "see `health` and the log"),
}


@frozen
class QueuedFault:
    """One entry."""

    kind: FaultKind
    code: str
    wall_s: float
    cause: str
    remedy: str


class FaultQueue:
    """Faults that stand, oldest first. Any thread may read."""

    def __init__(self, raised: Callable[[QueuedFault], None] = lambda _: None) -> None:
        """`raised` is told of each new fault, in the thread that raised it; it returns at once."""
        self._raised = raised
        self._lock = threading.Lock()
        self._faults: tuple[QueuedFault, ...] = ()

    def raise_(self, kind: FaultKind, code: str, wall_s: float) -> None:
        """Add a fault; one that stands already keeps its time."""
        cause, remedy = WORDS.get(code, _KIND_WORDS[kind])
        fault = QueuedFault(kind, code, wall_s, cause, remedy)
        with self._lock:
            if any(f.kind is kind and f.code == code for f in self._faults):
                return
            self._faults = (*self._faults, fault)
        self._raised(fault)

    def clear(self, kind: FaultKind) -> None:
        """Take away every fault of this kind."""
        with self._lock:
            self._faults = tuple(f for f in self._faults if f.kind is not kind)

    def standing(self) -> tuple[QueuedFault, ...]:
        """Faults that stand now."""
        return self._faults

    def kind_of(self, code: str) -> FaultKind | None:
        """The kind of a standing fault, by its code or by the kind's own word."""
        for fault in self._faults:
            if code in (fault.code, fault.kind.value):
                return fault.kind
        return None
