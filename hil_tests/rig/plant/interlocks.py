"""Contacts, latch, cover, button, and everything that a person does by hand at the table.

It owns the positions of the movable parts and the resulting state of each contact. It must not know
of pins, levels, motors or rounds.
"""

from __future__ import annotations

from enum import Enum

from hil_tests.rig.plant.faults import PlantFaults
from hil_tests.rig.plant.looks import STYLES

COVER_TRAVEL_S = 0.45
"""Time of the driven cover from closed to open (estimate: a geared flap of about 10 cm)."""


class Cover(Enum):
    """How the opaque cover over the dome is moved, where there is one."""

    HAND = "hand"
    DRIVEN = "driven"


class Hands:
    """A person at the table. Safe to use from any thread: each act is one assignment.

    What the mechanism can refuse (lifting a latched lid) is a method, which then returns False and
    changes nothing.
    """

    def __init__(self) -> None:
        self.estop_pressed = False
        """The mushroom head is down, where it stays until somebody turns it and it springs back."""
        self.button_pressed = False
        self.hand_over_dome = False
        self.coin_in_compartment = False
        self.lid_open = False
        """Shut again, the latch snaps in by its spring."""
        self.cover_open = True
        """Of a cover that is moved by hand: whether it was slid away."""
        self.new_dice: tuple[str | None, tuple[int, ...] | None] | None = None
        self.bumped = False
        """Somebody knocks against the machine, hard enough that the dice slide."""
        self.latch_released = False
        self.flag_fallen = False

    def open_compartment(self, *, by_force: bool = False) -> bool:
        """Lift the lid; refused while latched, unless forced (the contact tells either way)."""
        if not (self.latch_released or by_force):
            return False
        self.lid_open = True
        self.flag_fallen = True
        return True

    def set_flag(self) -> bool:
        """Set the lid's flag again with its key; it cannot stand while the lid is open."""
        if self.lid_open:
            return False
        self.flag_fallen = False
        return True

    def drop_coin(self, present: bool = True) -> bool:
        """Put a coin on the floor of the compartment, or take it out; needs the lid open."""
        if not self.lid_open:
            return False
        self.coin_in_compartment = present
        return True

    def replace_dice(self, style: str | None = None, values: tuple[int, ...] | None = None) -> bool:
        """Lay dice flat on the floor, by style and values or three as chance has it. Two values
        lay two dice, as where one was taken; four lay four.

        Needs the lid open. Raises KeyError for a style that does not exist.
        """
        if style is not None and style not in STYLES:
            raise KeyError(f"no dice style {style!r}; there are: {', '.join(STYLES)}")
        if not self.lid_open:
            return False
        self.new_dice = (style, values)
        return True


SUPPLY_DROPS_S = 0.05
"""From an open pole to the contactor's open contacts. Makers of small DC contactors with a diode
across the coil give 20 to 70 ms."""


class Interlocks:
    """The movable parts and their contacts."""

    def __init__(self, hands: Hands, faults: PlantFaults, cover: Cover) -> None:
        self._hands = hands
        self._faults = faults
        self._cover = cover
        self.cover_position = 1.0 if cover is Cover.HAND else 0.0
        """0.0 closed over the dome … 1.0 fully away."""
        self._coil_off_s = 0.0

    def update(self, elapsed_s: float, *, latch_release: bool, cover_open_drive: bool) -> None:
        """Move latch and cover for `elapsed_s`."""
        self._hands.latch_released = latch_release and "latch_stuck" not in self._faults
        is_held = not (
            self._hands.estop_pressed or self._hands.lid_open or self._hands.latch_released
        )
        self._coil_off_s = 0.0 if is_held else self._coil_off_s + elapsed_s
        if self._cover is Cover.DRIVEN:
            if "cover_stuck" in self._faults:
                return
            opening = cover_open_drive
        else:
            opening = self._hands.cover_open
        travel = elapsed_s / COVER_TRAVEL_S
        step = travel if opening else -travel
        self.cover_position = min(1.0, max(0.0, self.cover_position + step))

    @property
    def motor_supplied(self) -> bool:
        """Whether the contactor is closed: e-stop and compartment hold its coil by a pole of their
        own, whatever their other contacts say."""
        return self._coil_off_s < SUPPLY_DROPS_S or "supply_welded" in self._faults

    @property
    def lid_open(self) -> bool:
        return self._hands.lid_open

    @property
    def compartment_open(self) -> bool:
        """What the contact says: anything but closed and locked is open."""
        if "compartment_contact_stuck" in self._faults:
            return False
        return (
            self._hands.lid_open
            or self._hands.latch_released
            or "compartment_contact_open" in self._faults
        )

    @property
    def lid_flag_fallen(self) -> bool:
        """The flag needs no power: it stands as people left it, whatever the controller does."""
        return self._hands.flag_fallen

    @property
    def cover_open(self) -> bool:
        if "cover_contact_stuck" in self._faults:
            return False
        return self.cover_position > 0.0 or "cover_contact_open" in self._faults

    @property
    def estop_pressed(self) -> bool:
        return self._hands.estop_pressed or "estop_contact_open" in self._faults

    @property
    def button_pressed(self) -> bool:
        return self._hands.button_pressed or "button_stuck" in self._faults
