"""Every weight and limit of the verified reading, with its unit and the data that chose it.

Owns: numbers, not decisions. They stand here once and in no file beside the model: a table must not
be able to buy coverage with wrong values. The model's own score threshold stands in its manifest.
"""

from __future__ import annotations

from dataclasses import dataclass

_NETWORK_WEIGHTS = (1.398, 0.518, -2.105, -4.861, 0.889, -1.919, -4.0)
_OUTLINE_WEIGHTS = (
    1.608, -0.524, -0.798, -1.671, 3.170, -1.153, -1.804, 0.516, 2.821, -2.959, 1.402,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """What a frame needs before it may state a value or a no roll. Odds are log-odds of flat."""

    network: tuple[float, ...] = _NETWORK_WEIGHTS
    """A constant and the weight of each of `witnesses.NETWORK_FEATURES`. A logistic regression on
    4,650 flat dice and 448 others below 14°, of the rig and path-traced; the last, an estimate from
    below: so short a top face is 200 times likelier on a die that leans by 12° and more."""
    outline: tuple[float, ...] = _OUTLINE_WEIGHTS
    """The same of `witnesses.OUTLINE_FEATURES`; on 3,629 and 395 dice of the rig."""
    no_fit_mm: float = 1.0
    """Spread of an outline's sides, mm, above which no upright cube fits it. Then the second reader
    says at most `no_fit`, whatever its other measurements say."""
    no_fit: float = -0.5
    no_cube: float = -3.0
    """Odds of an outline where something stands out from the floor and no upright cube fits it at
    all. Estimate: as much as the second reader says of dice at 8° to 12°."""
    contact: float = 0.5
    """Odds that a die gains by touching nothing: of 692 dice that stood free in the rig's physics
    none leaned. Bounded, since what is wholly hidden under a die may still support it."""
    contact_gap_mm: float = 1.2
    """Gap between two top faces, mm, below which dice touch: a network's corners are good to half
    of it."""
    contact_seen: float = 0.9
    """Share of the outline that must be seen against the floor for a die to stand free."""
    contact_foreign_dice: float = 0.12
    """Area of an unexplained thing, in dice, from which on it may support a die."""
    contact_below: float = 2.3
    """How far any witness may be below its `usual`, odds, where contact is still heard: a witness
    against flat is never outvoted by contact. One flat die of a hundred is further below."""
    usual: tuple[float, float, float, float, float] = (4.3, 0.0, -0.5, 1.8, 2.7)
    """Median odds of looks, top face, outline, pips and side faces on 2,000 flat dice of the rig.
    The witness that is farthest below names a refusal."""
    flat: float = 2.6
    """Sum of all witnesses, odds, above which a die is flat."""
    flat_each: float = -2.0
    """Least that the networks' side and the second reader's side must each say of a flat die."""
    no_roll: float = -4.0
    no_roll_networks: float = -2.0
    no_roll_second: float = -1.0
    """A die is not flat where both sides together and each by itself are below these."""
    seam_networks: float = -6.0
    seam_second: float = -2.0
    """The same where dice touch: a seam that a smear hides took the networks of 120 flat dice down
    to -4.7 and the second reader down to -11."""
    askew_looks: float = -1.0
    askew_top: float = -2.5
    """A die is not flat, whatever its outline says, where both its looks and the measured height
    and squareness of its top face are below these: an outline knows nothing of height."""
    above_dice: float = 0.6
    """A top face so much higher than the middle one of its picture does not lie on the floor."""
    on_another_dice: float = 0.75
    """The same where both readers miss a die, which is then under this one. Of 4,900 pairs of flat
    dice of the rig 10 differ by more; of 24 path-traced stacks seen as two dice 23 do."""
    highest_dice: float = 2.3
    """Three stand two high at most. What measures higher was measured wrongly: a shadow or a
    reflection was taken for an edge. Of 24 path-traced stacks none measured more than 2.05."""
    stacked_layer_dice: float = 1.95
    """Height of a top face, in dice, from which a die that is not flat is stacked, not tilted."""
    under_edges: float = 0.85
    """Two dice whose middles are nearer do not both lie on the floor."""
    die_px: float = 38.0
    """Edge of a die, pixels, below which nothing proves a no roll: the weights come from 41 to 75
    pixels."""
    seems_flat_p: float = 0.5
    """Probability of flat by the near look above which nothing proves a no roll."""
    off_face_edges: float = 0.33
    """Pips so far from the middle of a face are not that face's. Of 438 dice of the rig that did
    not lie flat the farthest were 0.31 off; under smears it is 0.34 to 0.38."""
    sides_lean: float = -3.0
    sides_beyond_mm: float = 0.60
    """Evidence of the side faces below which, and reach of a side face above which, it is they that
    measure the lean that a no roll states."""
    plain_fit_mm: float = 0.3
    plain_support: float = 0.7
    """An outline so even and so well seen is not spoilt by a neighbour."""
    score: float = 0.35
    """Least confidence of the model that a die is there."""
    value_p: float = 0.93
    """Least probability of the model's value. Of 1,355 flat dice of the rig one has less than 0.95;
    of 4,000 path-traced pictures the one in which both readers took a reflection in a translucent
    four for a fifth pip had 0.91."""
    pip_confidence: float = 0.50
    """Least contrast between the weakest pip and the strongest empty place, both beside the usual
    pip. Of 1,689 flat tosses of the rig that were read the least had 0.61; dice whose seam a smear
    hid were accepted with 0.36 and 0.45."""
    foreign_dice: float = 0.25
    """Largest piece of foreground, lying free, that no die explains, in dice. Of 115 flat tosses of
    the rig 98 % are below 0.12. What is smaller is not noticed."""
    foreign_at_wall_dice: float = 0.5
    """The same for pieces at the wall as short as ridges: the rough compartment's measure 0.34."""
    blocked_dice: float = 7.5
    """Foreground that cannot be three dice, their shadows (4.3 at the most) and a chip, in dice."""


LIMITS = Limits()


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
