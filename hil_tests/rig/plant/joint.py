"""The inputs and outputs of the plant: the joint between physics and wires.

The virtual pins and a bench's real pins fill the same two records. This module knows only names
and units.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PlantInputs:
    """What the controller's outputs do to the machine, as electrical facts.

    `enable_pulses` counts rising edges on EN since the board was powered. It is looked at only by a
    plant built with `monostable_s`, the hardware monostable of the wiring page: EN then counts as
    high only while it is high *and* its last rising edge is younger than that. It covers the death
    of the daemon itself, which leaves its pins as they were.
    """

    motor_duty: float = 0.0
    """PWM duty on the motor driver, 0.0-1.0."""
    motor_enabled: bool = False
    """Level of EN at the controller's pin, before the e-stop and compartment contacts."""
    enable_since_s: float = 0.0
    """Time at which EN took this level, seconds on the caller's clock; 0.0 if unknown. If a busy
    computer made an interval long, the machine is driven with the old level until this time."""
    ring_light: float = 0.0
    """Duty of the ring light, 0.0-1.0 (average of the soft PWM)."""
    cover_open_drive: bool = False
    """Drive of the cover, where a driven one is fitted: True opens, False closes."""
    latch_release: bool = False
    """Drive of the compartment latch: True releases, the lid may then be opened by hand."""
    enable_pulses: int = 0


@dataclass(frozen=True, slots=True)
class PlantOutputs:
    """What the machine does to the controller's inputs since the update before.

    Contacts are statements, not pin levels: the wiring (pull-ups, open = 1) belongs to the caller.
    """

    tach_edges: list[tuple[float, int]] = field(default_factory=list)
    """Edges of the tach in order: (time in seconds on the caller's clock, level after it)."""
    until_s: float = 0.0
    """End of the interval: later edges are still to come."""
    coming_edges: list[tuple[float, int]] = field(default_factory=list)
    """Edges after `until_s` that the machine will make if what drives it stays as it is, as far
    ahead as the wires asked for."""
    driver_fault: bool = False
    compartment_open: bool = False
    """True unless closed and locked; a broken wire reads open."""
    lid_flag_fallen: bool = False
    """True once the lid was raised, until a hand sets the flag again with its key."""
    cover_open: bool = False
    """True unless fully closed."""
    estop_pressed: bool = False
    button_pressed: bool = False
    motor_supplied: bool = True
    """Whether the contactor in the motor's supply is closed; its mirror contact says so."""
    current_a: float = 0.0
    """Motor current at the end of the interval, in amperes."""
    speed_rpm: float = 0.0
    """Cam speed at the end of the interval, turns per minute, never negative."""
