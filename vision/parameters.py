"""Weights and limits of the verdicts, each with its unit and the data that chose it.

Owns: numbers, not decisions. Limits of a measurement stand in the module that measures. No settings
file contains these numbers: a house must not be able to read more tosses at the price of wrong
values. The model's own score threshold is in its manifest. The model card lists which sets of
pictures these sources are.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a frame needs before it may state a value or a no roll. Odds are log-odds of flat."""

    network: tuple[float, ...] = (0.990, 0.508, -11.82, -2.638, 0.965, -0.515, -4.0)
    """A constant and the weight of each of `witnesses.NETWORK_FEATURES`. Source: a logistic
    regression on 4,091 flat dice and 580 others below 14°, from the rig and path-traced. The last
    weight is a lower estimate: so short a top face is 200 times likelier on a die that leans by 12°
    and more."""
    outline: tuple[float, ...] = (
        0.62469, -0.506, -0.600, -2.845, 0.746, -1.085, -1.045, 1.148, 0.43375, -3.15190, 0.735,
    )  # fmt: skip
    """A constant and the weight of each of `witnesses.OUTLINE_FEATURES`. Source: a logistic
    regression on 4,069 flat dice and 363 others below 14° of the rig, half of them held up by
    something in sight, without those of which contact speaks. The weight of `beyond, seen well` is
    given. It is 0 for a die with nothing beside it: then the crumb under it is hidden."""
    contact_gap_mm: float = 1.2
    """Gap between two top faces, mm, below which dice touch. A network's corners have an error of
    half this gap."""
    lean_gap: float = -6.0
    """Odds of a die with a neighbour or the wall just where it would hold up one side at 6° to 12°:
    the side face that shows such a lean is then hidden in the gap. Source: of 168 dice of the rig
    that lean on one of them 123 are concerned; with -4 one of them passes, at 6.3°. Of 1,050 flat
    dice one is concerned."""
    lean_gap_mm: tuple[float, float] = (1.2, 3.2)
    """Min and max gap, mm, between the top face and that neighbour's, in the middle of where they
    face each other, or the wall. By their pips, 189 dice of 16 mm that lean on a neighbour by 6° to
    10° leave 1.65 to 2.76."""
    lean_gap_deg: float = 1.5
    """Largest angle between the sides that face each other, degrees: a support along a whole edge.
    Source: of 240 dice that lean on a neighbour one has more than 1.2, a clear one that its far
    face gives away; of 56 that lean on the wall the largest is 1.4."""
    lean_gap_share: float = 0.4
    """Smallest share of the side that the neighbour stands beside."""
    bare_gap_mm: float = 0.95
    """How much of that gap's width, mm, must lie beyond the place where the plain floor is first
    seen in it. Then no side face fills the gap, and the neighbour holds nothing up. Source: so it
    is with one of the 64 dice above that stand so beside a neighbour, and with both flat ones."""
    bare_far_mm: float = 0.35
    """How much farther, mm, than on the side that shows least a die must reach on the side away
    from the wall. A lean hides the side face there, which an upright die shows. Source: so it is
    with 3 of the 63 dice above that stand so at the wall, and with 20 of the 21 flat ones."""
    usual: tuple[float, float, float, float, float] = (4.0, -0.1, -1.0, 3.1, 3.9)
    """Median odds of looks, top face, outline, pips and side faces on 1,712 flat dice of the rig.
    The witness that is farthest below its median names a refusal."""
    flat: float = 2.0
    """Sum of all witnesses, odds, above which a die is flat. Source: 698 flat tosses of the rig and
    210 dice that something holds up at 6° to 8°: 665 and 1 pass, with 1.2 680 and 3. A leaning die
    that passes weighs more than a flat one refused."""
    against: float = -2.0
    """Odds below which a witness is against flat. No value is stated if a side, or the height of
    the pips, is below. A no roll needs the networks' side below. The top face (its height and
    squareness) may be below instead of the second side, whose outline contains no height; the looks
    then have the second side's limit."""
    height: float = 6.0
    """Most odds for or against flat by the height of the pips, for cameras with two lenses."""
    height_above: float = 0.025
    """Height of the pips above a flat die's, in dice, that says neither flat nor not. A lean of 6°
    raises the middle of a top by 0.047. Source: 270 flat dice of the rig and 633 path-traced ones,
    99 % within 0.013, and 69 that lean by 6° or more, all above 0.044."""
    height_likeness: float = 0.75
    """How alike both lenses must show the pips, -1..1. Below: their height says nothing."""

    pip_alike: float = 0.5
    """How alike both lenses must show each pip, -1..1. Below: a speck on the dome, or a highlight,
    which the other lens sees beside the die."""

    no_roll: float = -4.0
    no_roll_second: float = -1.0
    """A die is not flat if the sum of both sides is below the first limit, the networks' side
    `against`, and the second side below its own limit, in odds."""
    seam_networks: float = -6.0
    """The limit of the networks' side, in odds, for dice that touch. A smear over the seam took it
    down to -4.7 on 120 flat dice, and the second reader's, which then proves nothing, to -11."""
    above_dice: float = 0.6
    """Height of a top face above the middle one of its picture, in dice, above which the die does
    not lie on the floor."""
    on_another_dice: float = 0.75
    """The same limit if both readers miss a die; that die is then under this one. Source: of 4,900
    pairs of flat dice of the rig 10 differ by more; of 24 path-traced stacks seen as two dice 23
    differ by more. The other die must itself measure on the floor, within `above_dice`: a lamp
    mirrored in the floor spoils both heights. In 51 of 58 path-traced stacks it does. A die that is
    not flat, whose top is that much above one die's height, is stacked, not tilted."""
    max_height_dice: float = 2.3
    """Height of a top face above the middle one of its picture, in dice, above which the height is
    wrong: three dice that stand on each other show one. A shadow or a reflection then passed for an
    edge. Of 24 path-traced stacks none measured more than 2.05 above the floor."""
    under_edges: float = 0.85
    """Distance of two middles, in edges, below which not both dice lie on the floor."""
    die_px: float = 38.0
    """Edge of a die, pixels, below which nothing proves a no roll. Source: the weights come from
    dice of 41 to 75 pixels."""
    off_face_edges: float = 0.33
    """Distance of pips from the middle of a face, in edges, above which they belong to another
    face. Of 438 dice of the rig that did not lie flat the farthest were 0.31 off; under smears 0.34
    to 0.38."""
    sides_lean: float = -3.0
    sides_beyond_mm: float = 0.60
    """If the side faces' odds are below the first limit and a side face reaches farther than the
    second, mm, the side faces measure the lean that a no roll states. The far face of a clear die
    is heard by itself beyond the first limit: below, a neighbour spoils no proof of a lean; above
    its opposite, neither a spoilt outline nor a neighbour speaks against flat. Of 202 clear dice at
    6° to 20° 188 are below and none is above; of 423 flat ones none is below."""
    plain_fit_mm: float = 0.3
    plain_support: float = 0.7
    """An outline is not spoilt by a neighbour if its spread, mm, is below the first limit and its
    visible share above the second."""
    score: float = 0.35
    """Smallest confidence of the model that a die is there."""
    value_p: float = 0.93
    """Smallest probability of the model's value. Of 1,355 flat dice of the rig one has less than
    0.95. In one of 4,000 path-traced pictures both readers counted a reflection in a translucent
    four as a fifth pip; it had 0.91."""
    pip_confidence: float = 0.46
    """Smallest contrast between the weakest pip and the strongest empty place, both relative to the
    usual pip. Of 1,689 flat tosses of the rig that were read the smallest had 0.61. Below: dice
    with a smear over their seam were accepted, with 0.36 and 0.45. Path-traced dice have less: six
    of 486 flat tosses are read that have less than 0.50. With 0.42 and 0.46 none of 24 smears was
    accepted."""
    foreign_dice: float = 0.25
    """Largest free piece of foreground that no die explains, in dice. Above: the picture is
    refused. Below: the piece is not noticed. Of 115 flat tosses of the rig 98 % are below 0.12."""
    foreign_at_wall_dice: float = 0.5
    """The same limit for pieces at the wall that are as short as ridges. A ridge of the rough
    compartment measures 0.34."""
    blocked_dice: float = 7.5
    """Area of foreground, in dice, above which the view is blocked. Three dice with their shadows
    have 4.3 at most."""

    @property
    def height_sure(self) -> float:
        """Odds of the height, for or against flat, from which it stands for one of the sides."""
        return self.height / 2


LIMITS = Limits()

MAX_LEAN_DEG = 16.0
"""The largest lean, degrees about either axis, that the side faces are compared with. They measure
none that is steeper."""


ALIKE = 1.7
"""Largest ratio between the edges, as they look, of two dice of one photograph, or of two faces of
one die: a top that is foreshortened to a fifth has 0.6 of the front's mean edge."""
FINE_SIDE = 2048
"""Longer side, pixels, at which a photograph of small dice is looked at once more."""
MAX_ENLARGED = 2.0
"""Most times that a small photograph is enlarged."""


@dataclass(frozen=True, slots=True)
class PhotoLimits:
    """What a photograph without calibration needs before it may state values. A finding of the
    model is worth its score times the certainty of its value, as means over the closer looks."""

    found: float = 0.18
    """Worth above which a finding may be a die, and is one if the second reader sees its face. From
    half of it on, it may be one if the second reader sees a face or a body with a spot there: two
    faint witnesses. A picture with one that only may be a die is not verified."""
    small: float = 0.35
    """The same limit for dice that are too small for the second reader, and for what may be a die
    though the second reader sees no face there, and no body with a spot: a button, a lid."""
    sure: float = 0.50
    """Worth above which a finding is a die without the second reader. A finding below it must not
    be smaller or larger than the sure dice of its picture by more than `ALIKE`."""
    flat_p: float = 0.15
    """Smallest probability of flat. It is low, because a die looks less flat from an oblique
    camera."""
    missed: float = 0.60
    """Confidence above which a face that only the second reader sees is a die that the model
    missed."""


PHOTO = PhotoLimits()
