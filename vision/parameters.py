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

    looks: tuple[float, float, float, float] = (0.990, 0.508, 0.965, -0.515)
    """A constant, and the weights of the first network's log-odds of flat, of the near look's, and
    of the near look's lean in degrees. Source: a logistic regression on 4,091 flat dice and 580
    others below 14°, from the rig and path-traced."""
    flat: float = 2.0
    """Odds of the looks above which a die is flat before one lens, which enters nothing by
    itself."""
    lent: float = 2.0
    """Most odds that the looks may add to those of the height. A single pip of a clear die shows
    its height to 0.02 of a die, half of what a lean of 6° raises it."""
    leans: float = -4.0
    """Odds of the looks below which no height makes a die flat."""
    against: float = -2.0
    """Odds of the height, in one of the frames that agree, below which no value is stated."""
    no_roll: float = -5.0
    """Odds of height and looks together below which they prove a no roll."""
    height: float = 6.0
    """Most odds for or against flat by the height of the pips."""
    pip_alike: float = 0.5
    """How alike both lenses must show each pip, -1..1. Below: a speck on the dome, or a highlight,
    which the other lens sees beside the die."""
    score: float = 0.35
    """Smallest confidence of the model that a die is there."""
    value_p: float = 0.93
    """Smallest probability of the model's value. Of 1,355 flat dice of the rig one has less than
    0.95. In one of 4,000 path-traced pictures both readers counted a reflection in a translucent
    four as a fifth pip; it had 0.91."""
    blocked_dice: float = 7.5
    """Area of foreground, in dice, above which the view is blocked. Three dice with their shadows
    have 4.3 at most."""

    @property
    def height_sure(self) -> float:
        """Odds of the height, for or against flat, from which it is sure."""
        return self.height / 2


LIMITS = Limits()


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

    sure: float = 0.50
    """Worth from which a finding says how large the dice are, and how clear their pips."""
    flat_p: float = 0.15
    """Smallest probability of flat. It is low, because a die looks less flat from an oblique
    camera."""


PHOTO = PhotoLimits()
