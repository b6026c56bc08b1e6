"""Every threshold of the verified reading, with the data that chose it.

Owns: numbers, not decisions. They are no settings: a table must not be able to buy coverage with
wrong values. The model's own score threshold stands in its manifest.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadingThresholds:
    """What a frame needs before it may state a value or a no roll."""

    score: float = 0.35
    """Least confidence of the model that a die is there."""
    value_p: float = 0.93
    """Least probability of the model's value. Of 1,355 flat dice of the rig one has less than 0.95;
    of 4,000 path-traced pictures the one in which both readers took a reflection in a translucent
    four for a fifth pip had 0.91."""
    not_flat_p: float = 0.33
    """Below, the die looks not flat: one cue."""
    pip_confidence: float = 0.50
    """Least contrast between the weakest pip and the strongest empty place, both beside the usual
    pip. Of 1,689 flat tosses of the rig that were read the least had 0.61, of 1,363 path-traced
    ones 60 less than 0.5; dice whose seam a smear hid were accepted with 0.36 and 0.45."""
    spread_flat_mm: float = 0.45
    """Largest spread of the outline's sides about an upright cube's for a flat die."""
    spread_not_flat_mm: float = 0.60
    """Above, no upright cube fits: one cue."""
    beyond_flat_mm: float = 2.00
    """Farthest that something die-like may reach beyond an upright cube."""
    beyond_not_flat_mm: float = 2.40
    """Above, a side face is seen that an upright cube would hide: one cue."""
    offset_flat: float = 0.028
    offset_not_flat: float = 0.055
    """Middle of the pips from the middle of the fitted cube's top, in edges, where `well_supported`
    of the outline or more was seen. 581 flat dice of the rig: the most 0.018; one that leaned 9.9°
    on a ridge, towards the lens, so that nothing else showed it: 0.036-0.050."""
    offset_flat_hidden: float = 0.048
    offset_not_flat_hidden: float = 0.085
    """The same where less was seen: 106 flat dice between neighbours and wall, the most 0.042."""
    beyond_usual_mm: float = 1.20
    """How far a flat die's soft edge and contact shadow reach."""
    well_supported: float = 0.80
    strain_not_flat: float = 2.00
    """Above this sum of squares, each in its own limit, of lean, spread, reach and offset, two
    faint cues of different kinds make a no roll. 581 flat dice of the rig: the most 1.22."""
    sides_flat: float = -0.50
    """Evidence of the side faces (`second_reader.sides`) from which an outline is no cue against
    flat. 1,259 flat dice of the rig, five colours, three compartments (seeds 301, 302): none below
    but for one beside a ridge; 231 dice that leaned 6-14°: seven above."""
    sides_sure: float = 1.00
    sides_contrast: float = 100.0
    """From both on, with both directions seen, side faces outweigh the outline: four fifths of
    those flat dice, and none that leaned. A die of the floor's colour has 60-100 grey levels."""
    sides_not_flat: float = -3.00
    sides_beyond_mm: float = 0.60
    """Less evidence together with a side that shows so much too wide: one cue."""
    lean_beside_sides_deg: float = 6.0
    looks_beside_sides: float = 0.60
    """With that cue, a lean above or a `flat_p` below is the second one."""
    lean_sure_deg: float = 15.0
    """Largest lean by the network's estimate where the side faces are sure."""
    foreign_dice: float = 0.25
    """Largest piece of foreground, lying free, that no die explains, in dice.

    115 flat tosses of the rig in three compartments, white, red and Asian dice: 98 % below 0.12,
    the most 0.27 (a glint, which since counts for less). What is smaller is not noticed.
    """
    foreign_at_wall_dice: float = 0.5
    """The same for pieces at the wall as short as ridges: the rough compartment's measure 0.34."""
    blocked_dice: float = 7.5
    """Foreground that cannot be three dice, their shadows (4.3 at the most) and a chip, in dice."""


@dataclass(frozen=True, slots=True)
class PhotoThresholds:
    """What a photograph without calibration needs before it may state values."""

    found: float = 0.25
    """Score times certainty of the value, means over the closer looks, from which the plain reading
    calls something a die."""
    alone: float = 0.50
    """The same where the second reader sees no pips that form a face."""
    small: float = 0.35
    """The same of dice too small for the second reader: from 0.25 to 0.35 the round button of a
    tray on `nell-byler` is a die in 20 pictures less, and 20 dice of its 1,795 are lost."""
    sure: float = 0.60
    size_ratio: float = 1.7
    """From the first on a die is sure; what is less sure must not be so many times smaller or
    larger than the sure dice of its picture. Of 56 things taken for dice on `matteop65` this leaves
    28, of 1,199 dice found it loses one."""
    faint: float = 0.18
    """From here on it may be one, and a picture with such a thing is not verified."""
    faint_to_both: float = 0.08
    """The same where the second reader sees pips that form a face, too: two faint witnesses."""
    faint_blank: float = 0.40
    """The same where the second reader sees nothing there that may be a pip: a button, a lid."""
    faint_size_ratio: float = 2.6
    """What is so many times smaller or larger than the sure dice must be likelier to be one than
    not. Dice at the far end of a table seemed 2.3 times as small as the near ones."""
    score: float = 0.40
    """How sure the model must be that a die is there at all. Of 926 photographs verified with 0.3
    five fell away with this, two of four wrong ones among them; with 0.55 twenty-two and three."""
    value_p: float = 0.50
    """Low, as a second reader that agrees is worth more than a surer model."""
    flat_p: float = 0.15
    """Photographs are taken from anywhere: a die seen obliquely looks less flat."""
    pip_confidence: float = 0.20
    """How far the weakest pip must stand out over the strongest empty place; less than at a table,
    whose light and sharpness are known."""
    missed_confidence: float = 0.60
    """A face that only the second reader sees, and this surely, is a die the model missed."""
    above_confidence: float = 0.45
    """The same of a face just above a found die, which may be that die's top."""
