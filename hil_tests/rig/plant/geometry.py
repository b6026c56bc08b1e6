"""The shapes of the compartment: radius, floor, wall, ridges, dice; for physics and picture alike.

Physics and renderer both read this description, so the camera also sees a ridge that cocks a die.
This module must not know of physics or renderer.

Coordinates: millimetres; origin on the floor in the middle of the compartment, with the plate at
its lowest point; x to the right and y up as the camera sees it, z towards the camera.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

PLATE_STROKE_MM = 10.0
MAX_DICE = 4
"""One more than a table may have: somebody slipped a die in."""


@dataclass(frozen=True, slots=True)
class Ridge:
    """A straight bar on the plate, of round profile: `height_mm` above the floor."""

    from_mm: tuple[float, float]
    to_mm: tuple[float, float]
    height_mm: float


@dataclass(frozen=True, slots=True)
class Geometry:
    """One compartment with its dice."""

    name: str
    radius_mm: float
    wall_mm: float = 62.0
    """Height of the dome's top above the floor: nothing gets higher."""
    die_mm: float = 16.0
    die_grams: float = 5.0
    floor_friction: float = 0.35
    wall_friction: float = 0.1
    die_friction: float = 0.1
    floor: str = "felt"
    """Felt, wood, acrylic or rubber: how dice rebound from the floor, and how it looks."""
    wall: str = "clear"
    """Look of the wall: clear (a smooth acrylic tube) or rough (sandblasted)."""
    ridges: tuple[Ridge, ...] = ()
    wall_ribs: int = 0
    """Number of vertical ribs on the wall, evenly spaced."""
    wall_rib_mm: float = 0.0
    """How far a rib stands out of the wall."""


STANDARD = Geometry("standard", radius_mm=50.0)
"""Felt floor, smooth wall, 16 mm razor-edge dice: cocked well under once in a hundred tosses."""

NARROW = Geometry("narrow", radius_mm=32.0, floor="wood")
"""A tube barely wider than three dice side by side."""

ROUGH = Geometry(
    "rough",
    radius_mm=40.0,
    floor_friction=0.7,
    wall_friction=0.6,
    die_friction=0.5,
    floor="rubber",
    wall="rough",
    ridges=(
        Ridge((34.0, 0.0), (39.5, 0.0), 5.0),
        Ridge((-26.0, 21.9), (-30.3, 25.4), 5.0),
        Ridge((-4.0, -33.8), (-4.6, -39.2), 5.0),
        Ridge((10.0, 32.5), (11.7, 37.7), 5.0),
    ),
    wall_ribs=9,
    wall_rib_mm=2.0,
)
"""A worn tube: four ridges on the floor, ribs on a wall that grips, dice that stick to each other.
One toss in five ends not flat."""

LITTERED = replace(
    STANDARD,
    name="littered",
    ridges=(
        Ridge((-14.0, 9.0), (-12.5, 10.0), 0.9),
        Ridge((17.0, -6.0), (18.0, -4.5), 1.1),
        Ridge((3.0, -22.0), (4.5, -22.5), 0.8),
    ),
)
"""The standard one with three crumbs stuck to its felt: a die that stops on one lies askew."""

GEOMETRIES: dict[str, Geometry] = {
    shape.name: shape for shape in (STANDARD, NARROW, ROUGH, LITTERED)
}
