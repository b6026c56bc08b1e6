"""From the evidence of one frame to what it proves: values, no roll, or the reason for neither.

Owns: the rules of a verdict and their order. Must not know pictures, nor how evidence is made.

Values are stated only if (a) the model and (b) the second reader each see exactly the same dice
with the same values and (c) every die lies flat by all that both measured of it (`flatness`). A no
roll is stated only if both readers' sums say so of one die, each by itself, or two cues do that the
sums allow: how it looks (the network's `flat_p`), how its top face measures (`tilt`), whether an
upright cube fits its outline. Fewer dice in sight than there are, and the top face of one higher
than the other's, are two such cues as well.
Everything else is unreadable, with the reason that a person needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vision.calibration import Calibration
from vision.cube_outlines.reader import SecondReading
from vision.parameters import ReadingThresholds
from vision.quads import gap_px
from vision.reading import (
    DieEvidence,
    Kind,
    ModelVote,
    NoRoll,
    Reason,
    SecondVote,
    Unreadable,
    Verdict,
    Verified,
)
from vision.table import flatness, tilt

_ABOVE = 0.6
"""Dice; a top face so much higher than the middle one of its picture does not lie on the floor."""
_ON_ANOTHER = 0.75
"""Dice; the same where both readers miss a die: it is under this one. Of 4,900 pairs of flat dice
of the rig 10 differ by more; of 24 path-traced stacks seen as two dice 23 do, by 0.76-2.05."""
_HIGHEST = 2.3
"""Dice; three stand two high above the floor's at most. What measures higher was measured amiss: a
shadow or a reflection was taken for the top face's edges. Of 24 path-traced stacks none measured
more than 2.05."""
_UNDER = 0.85
"""Edges; two dice whose middles are nearer do not both lie on the floor."""
_LEAST_DIE_PX = 38.0
"""Edge below which nothing about a die's lie is proved: all limits were found on 41-75 pixels, and
flat dice of 24-32 pixels were called no roll by them."""
_SEEMS_FLAT = 0.5
"""Probability of flat by the near look above which nothing proves the contrary: three of seven flat
path-traced dice that were called no roll, and one of 111 of the rig's that rightly were."""
_FITS_MM, _FITS_SUPPORT = 0.3, 0.7
_CONTACT_MM = 1.2
"""Gap between two top faces below which dice touch: a network's corners are good to half of it."""
_LEAN_BESIDE_NEIGHBOUR_DEG = 25.0
"""Lean by the network's estimate that a hidden seam does not feign: under smears it gave 8-22."""
_SIDES_BESIDE_NEIGHBOUR_DEG = 10.0
"""The same for the side faces: a smear that ends beside the die widened one by 6°."""
_OFF_FACE = 0.33
"""Edges; pips so far from the middle of a face are not that face's, but what a hidden seam left of
a neighbour's. Of 438 dice of the rig that did not lie flat the farthest were 0.31 off; under smears
it is 0.34-0.38."""
_DOUBTS_OF_CONTACT = (
    Reason.READERS_DISAGREE,
    Reason.NO_LEGAL_FACE,
    Reason.UNKNOWN_STYLE,
    Reason.NOT_FLAT_DOUBTFUL,
    Reason.DOUBTFUL,
)
"""What a neighbour may be the cause of: its edge taken for the die's own, its pips for its own."""


class Judge:
    """The rules, for one table."""

    def __init__(self, calibration: Calibration, thresholds: ReadingThresholds) -> None:
        self._calibration, self._thresholds = calibration, thresholds

    def judge(
        self, dice: Sequence[DieEvidence], second: SecondReading, wanted: int | None
    ) -> Verdict:
        """What the evidence of all dice of a frame proves. `wanted`: how many there must be; None:
        any number. Of several reasons to refuse, the one that explains the others comes first."""
        if second.foreground > self._thresholds.blocked_dice:
            return blocked(second)
        return (
            _too_many(dice, wanted)
            or self._not_flat(dice)
            or self._on_a_hidden_die(dice, wanted)
            or self._of_another_style(dice)
            or self._too_few(dice, wanted)
            or self._doubtful(dice, self._foreign(second))
            or _verified(dice)
        )

    def _not_flat(self, dice: Sequence[DieEvidence]) -> NoRoll | None:
        """No roll by the die that surely leans most."""
        lying = [(i, die) for i, die in enumerate(dice) if self._is_proved_not_flat(die, dice)]
        if not lying:
            return None
        index, die = max(lying, key=lambda pair: _lean(pair[1]))
        return NoRoll(index, die.kind or Kind.TILTED, _lean(die), _cues(die))

    def _of_another_style(self, dice: Sequence[DieEvidence]) -> Unreadable | None:
        """The refusal where most faces are of no kind that the second reader knows."""
        strange = [die for die in dice if die.second is not None and die.second.face_is_strange]
        # A smeared seam makes two faces strange that touch: a style is what a free one shows too.
        is_style = not all(self._touches(die, dice) for die in strange)
        is_missed = not any(die.model for die in dice) and len(dice) > 1 and bool(strange)
        if is_missed or (is_style and len(strange) > 1 and len(strange) > len(dice) // 2):
            note = strange[0].second.note if strange[0].second is not None else ""
            return Unreadable(
                Reason.UNKNOWN_STYLE, f"{len(strange)} faces of an unknown kind: {note}"
            )
        return None

    def _too_few(self, dice: Sequence[DieEvidence], wanted: int | None) -> Unreadable | None:
        """The refusal where the model sees fewer dice than there must be, or none."""
        seen = sum(die.model is not None for die in dice)
        if wanted is not None and seen < wanted == len(dice):
            missed = next(die for die in dice if die.model is None)
            if self._touches(missed, dice):
                return Unreadable(Reason.TOUCHING, "the model misses a die beside another")
        if wanted is not None and seen != wanted:
            return Unreadable(Reason.COUNT, f"{seen} dice, all at floor height")
        return None if seen else Unreadable(Reason.COUNT, "no dice")

    def _doubtful(
        self, dice: Sequence[DieEvidence], foreign: Unreadable | None
    ) -> Unreadable | None:
        """The refusal where a die proves nothing, or something beside the dice is `foreign`."""
        doubts = [
            (self._touches(die, dice), number, die, doubt)
            for number, die in enumerate(dice, 1)
            if (doubt := self._doubt(die)) is not None
        ]
        # What lies beside an upright die may look like its lean.
        if not doubts or (foreign is not None and all(map(_is_upright_but_doubted, doubts))):
            return foreign
        # A die that lies free says more plainly what is wrong than one beside another, and least
        # is said where an upright one only looks a little askew.
        touches, number, die, doubt = min(
            doubts, key=lambda found: (found[0], _is_upright_but_doubted(found), found[1])
        )
        detail = f"die {number} from the left: {doubt.detail}"
        is_there = die.second is not None or bool(die.not_flat)
        # Two odd faces side by side have lost their seam, one alone is odd by itself.
        is_alone = not any(_is_odd(other) for other in self._neighbours(die, dice))
        is_plain = doubt.reason is Reason.NO_LEGAL_FACE and _fits_well(die.second) and is_alone
        if doubt.reason in _DOUBTS_OF_CONTACT and is_there and touches and not is_plain:
            return Unreadable(Reason.TOUCHING, f"{detail}; it touches its neighbour")
        return Unreadable(doubt.reason, detail)

    def _on_a_hidden_die(self, dice: Sequence[DieEvidence], wanted: int | None) -> NoRoll | None:
        """No roll by the two cues of a stack seen from straight above: fewer dice than there are,
        and the top face of one higher than the other's. How it looks says nothing: it lies flat.

        A die that only the second reader sees must be that hidden one, and lie under the other.
        """
        seen = sum(die.model is not None for die in dice)
        if wanted is None or not 2 <= seen < wanted or len(dice) > wanted:
            return None
        missed = [die for die in dice if die.model is None]
        nearest = _UNDER * self._calibration.die_mm
        for index, die in enumerate(dice):
            if (
                die.model is not None
                and die.measured is not None
                and die.measured.above > _ON_ANOTHER
                and not flatness.is_flat(die.network_odds, die.outline_odds)
                and all(
                    math.hypot(die.x_mm - other.x_mm, die.y_mm - other.y_mm) < nearest
                    for other in missed
                )
            ):
                cues = (
                    f"{seen} of {wanted} dice are in sight",
                    f"its top face is {die.measured.above:.1f} dice above the other's",
                )
                return NoRoll(index, Kind.STACKED, 0.0, cues)
        return None

    def _foreign(self, second: SecondReading) -> Unreadable | None:
        """The refusal where something that is no die lies in the compartment."""
        is_free = second.unexplained > self._thresholds.foreign_dice
        if not is_free and second.unexplained_at_wall <= self._thresholds.foreign_at_wall_dice:
            return None
        size = second.unexplained if is_free else second.unexplained_at_wall
        return Unreadable(
            Reason.FOREIGN_OBJECT, f"something beside the dice, {size:.2f} of a die large"
        )

    def _touches(self, die: DieEvidence, dice: Sequence[DieEvidence]) -> bool:
        return bool(self._neighbours(die, dice))

    def _neighbours(self, die: DieEvidence, dice: Sequence[DieEvidence]) -> list[DieEvidence]:
        """The dice whose top faces are nearer than `_CONTACT_MM`."""
        nearest = _CONTACT_MM * self._calibration.px_per_mm(self._calibration.die_mm)
        return [
            other
            for other in dice
            if other is not die and gap_px(die.corners, other.corners) < nearest
        ]

    def _is_proved_not_flat(self, die: DieEvidence, dice: Sequence[DieEvidence]) -> bool:
        """True if the network and the second reader both say that it does not lie flat: each by a
        cue of its own, or by all that it measured together.

        An outline that was fitted amiss gives several cues at once: where the sums say otherwise,
        cues prove nothing; nor does anything where the die seems flat from near by.
        """
        if die.model is None or self._calibration.die_px < _LEAST_DIE_PX:
            return False
        if die.model.near_p is not None and die.model.near_p > _SEEMS_FLAT:
            return False
        if die.measured is not None and die.measured.above > _HIGHEST:
            return False
        odds = die.network_odds, die.outline_odds
        # A hidden seam spoils both sums, but never so much.
        is_not_flat = (
            flatness.is_hardly_a_seam if self._touches(die, dice) else flatness.is_not_flat
        )
        if is_not_flat(*odds):
            return True
        if self._is_no_proof(die, dice):
            return False
        return (
            len(die.not_flat) >= 2
            and not self._is_weighed_flat(die)
            and (
                die.second is None
                or die.kind is Kind.STACKED  # of height, the outline knows nothing
                or flatness.allows_cues(*odds)
            )
        )

    def _is_no_proof(self, die: DieEvidence, dice: Sequence[DieEvidence]) -> bool:
        """True where the cues against flat are not enough for a no roll all the same.

        If the second reader finds an upright die there, the cues all come from the network, but for
        the height of the top face: of that an outline says nothing. Where dice touch and the seam
        between them is hidden, looks, lean and outline suffer together: then only what a seam
        cannot feign is a proof.
        """
        second = die.second
        if second is not None and second.is_flat is True:
            return die.measured is None or die.measured.layer < tilt.LAYER_STACKED
        if not self._touches(die, dice):
            return False
        if second is None:
            return die.measured is None or not tilt.is_not_flat(die.measured)
        if second.offset > _OFF_FACE:
            return True
        if second.sides_lean_deg > _SIDES_BESIDE_NEIGHBOUR_DEG or second.has_two_cues:
            return False
        return die.measured is None or (
            die.measured.lean_deg < _LEAN_BESIDE_NEIGHBOUR_DEG
            and die.measured.layer < tilt.LAYER_STACKED
        )

    def _doubt(self, die: DieEvidence) -> Unreadable | None:
        """Why this die's value cannot be stated, if it cannot."""
        t = self._thresholds
        if die.model is None:
            if die.second is not None and _is_odd(die):
                return Unreadable(Reason.FOREIGN_OBJECT, "a thing of a die's size that is no die")
            return Unreadable(Reason.READERS_DISAGREE, "only the second reader sees a die")
        is_weighed_flat = self._is_weighed_flat(die)
        if die.not_flat and not is_weighed_flat:
            lean = die.measured.lean_deg if die.measured is not None else 0.0
            return Unreadable(
                Reason.NOT_FLAT_DOUBTFUL,
                f"only one cue says so: {die.not_flat[0]}; looks {die.model.flat_p:.2f}, "
                f"lean {lean:.0f}°",
            )
        if die.second is None:
            return Unreadable(Reason.READERS_DISAGREE, "only the model sees a die")
        if die.second.value is None:
            if die.second.face_is_strange:
                return Unreadable(Reason.UNKNOWN_STYLE, die.second.note)
            return Unreadable(Reason.NO_LEGAL_FACE, die.second.note)
        if die.second.value != die.model.value:
            return Unreadable(
                Reason.READERS_DISAGREE,
                f"the model reads {die.model.value}, the second reader {die.second.value}",
            )
        if not is_weighed_flat:
            lean = die.measured.lean_deg if die.measured is not None else 0.0
            return Unreadable(
                Reason.NOT_FLAT_DOUBTFUL,
                f"flat is not certain: looks {die.model.flat_p:.2f}{_near(die.model)}, "
                f"lean {lean:.0f}°, "
                f"side faces {die.second.sides:.1f} for it, {die.second.note}; log-odds of flat "
                f"{die.network_odds:+.1f} by the network, {die.outline_odds:+.1f} by the outline",
            )
        if die.model.value_p < t.value_p or die.model.score < t.score:
            return Unreadable(
                Reason.DOUBTFUL,
                f"the model is {die.model.value_p:.2f} sure of {die.model.value}",
            )
        if die.second.confidence < t.pip_confidence:
            return Unreadable(
                Reason.DOUBTFUL, f"pips stand out by {die.second.confidence:.2f} only"
            )
        return None

    def _is_weighed_flat(self, die: DieEvidence) -> bool:
        """True if all that both readers measured says flat, and its top face is no higher than
        those of the others."""
        return (
            die.second is not None
            and die.second.value is not None
            and die.measured is not None
            and die.measured.above < _ABOVE
            and flatness.is_flat(die.network_odds, die.outline_odds)
        )


def _too_many(dice: Sequence[DieEvidence], wanted: int | None) -> Unreadable | None:
    """The refusal where the model sees more dice than there must be."""
    seen = [die for die in dice if die.model is not None]
    if wanted is None or len(seen) <= wanted:
        return None
    read = [die for die in seen if die.second is not None and die.second.value is not None]
    if len(read) == wanted:
        return Unreadable(Reason.FOREIGN_OBJECT, "a thing that the model takes for a die")
    return Unreadable(Reason.COUNT, f"{len(seen)} dice")


def _verified(dice: Sequence[DieEvidence]) -> Verified:
    """What dice show of which nothing is doubted."""
    confidence = min(
        min(die.model.value_p, die.model.flat_p, die.model.score, die.second.confidence)
        for die in dice
        if die.model and die.second
    )
    return Verified(tuple(die.model.value for die in dice if die.model), confidence)


def blocked(second: SecondReading) -> Unreadable:
    """The refusal where a hand, a cloth or the like hides the compartment."""
    return Unreadable(
        Reason.BLOCKED, f"{second.foreground:.1f} dice' worth of something covers the floor"
    )


def _cues(die: DieEvidence) -> tuple[str, ...]:
    """What speaks against flat, in words; never less than what both readers' sums are."""
    sums = (
        f"log-odds of flat by the network {die.network_odds:+.1f}",
        f"log-odds of flat by the outline {die.outline_odds:+.1f}",
    )
    return die.not_flat if len(die.not_flat) >= 2 else (*die.not_flat, *sums)


def _is_upright_but_doubted(doubted: tuple[bool, int, DieEvidence, Unreadable]) -> bool:
    """True if only the networks doubt how a die lies, and the second reader sees it upright."""
    _, _, die, doubt = doubted
    is_upright = die.second is not None and die.second.is_flat is True
    return is_upright and doubt.reason is Reason.NOT_FLAT_DOUBTFUL


def _near(model: ModelVote) -> str:
    """What the near look says, in words; nothing where there was none."""
    return "" if model.near_p is None else f", near by {model.near_p:.2f}"


def _is_odd(die: DieEvidence) -> bool:
    """True if the second reader reads no face there, or one that is not where the die is."""
    return die.second is None or die.second.value is None or die.second.offset > _OFF_FACE


def _fits_well(vote: SecondVote | None) -> bool:
    """True if an upright cube has this outline wherever it was seen: then a neighbour spoils
    nothing of what is inside it."""
    return vote is not None and vote.spread_mm < _FITS_MM and vote.support > _FITS_SUPPORT


def _lean(die: DieEvidence) -> float:
    """By the side faces where they prove one: they err by half a degree, the network by three."""
    if die.second is not None and die.second.sides_lean_deg > 0:
        return die.second.sides_lean_deg
    return die.measured.lean_deg if die.measured is not None else 0.0
