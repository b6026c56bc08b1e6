"""From the evidence of a frame to what it proves: values, no roll, or the reason for neither.

Owns: the rules of a verdict and their order. Must not know pictures, nor how evidence is made.

Values are stated only if the model and the second reader each see the same dice with the same
values, and if every die lies flat. A die lies flat if all witnesses together clearly say so and
neither reader's side says the contrary. With a stereo camera, the height of its pips must not say
the contrary either; if it surely says flat, each side may be more in doubt.

`no_roll` has the proofs of a no roll. Everything else is unreadable. The reason names the witness
that refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from vision.parameters import LIMITS, Limits
from vision.reading import (
    DieEvidence,
    GeometryReading,
    NoRoll,
    Reason,
    Scene,
    Unreadable,
    Verdict,
    Verified,
    spot_doubted,
)
from vision.table.no_roll import by_lean, fits, on_a_hidden_die
from vision.table.taught_judgement import judge_taught
from vision.table.witnesses import HEIGHT, NETWORKS, SECOND, farthest_below, side_of

_DOUBTS_OF_CONTACT = (
    Reason.READERS_DISAGREE,
    Reason.NO_LEGAL_FACE,
    Reason.UNKNOWN_STYLE,
    Reason.NOT_FLAT_DOUBTFUL,
    Reason.DOUBTFUL,
)
"""What a neighbour may be the cause of: its edge taken for the die's own, its pips for its own."""


def judge(
    dice: Sequence[DieEvidence],
    scene: Scene,
    limits: Limits = LIMITS,
    *,
    is_lie_granted: bool = False,
) -> Verdict:
    """What the evidence of all dice of a frame proves. Of several reasons to refuse, the one that
    explains the others comes first. With `is_lie_granted`, as if every die lay flat."""
    if scene.foreground > limits.blocked_dice:
        return blocked(scene)
    if not all(map(math.isfinite, _numbers(dice, scene))):
        return Unreadable(Reason.DOUBTFUL, "a measurement that is no number")
    if scene.is_taught:
        return judge_taught(dice, scene, limits, is_lie_granted=is_lie_granted)
    return _Judgement(dice, scene, limits, is_lie_granted).verdict()


def _numbers(dice: Sequence[DieEvidence], scene: Scene) -> Iterator[float]:
    """What is compared with limits: one that is no number would be on no side of any."""
    yield from (scene.foreground, scene.unexplained, scene.unexplained_at_wall)
    for die in dice:
        yield die.odds
        if die.model is not None:
            yield from (die.model.value_p, die.model.score)
        if die.second is not None:
            yield die.second.confidence
        if die.height is not None:
            yield die.height.least


def blocked(scene: Scene) -> Unreadable:
    """The refusal where a hand, a cloth or the like hides the compartment."""
    return Unreadable(
        Reason.BLOCKED, f"{scene.foreground:.1f} dice' worth of something covers the floor"
    )


def passes(
    networks: float,
    second: float,
    contact: float = 0.0,
    height: float = 0.0,
    limits: Limits = LIMITS,
) -> bool:
    """True if these odds of both sides, of contact and of the height make a flat die."""
    least = least_of_each(height, limits)
    is_doubted = min(networks, second) < least or height < limits.against
    return not is_doubted and networks + second + contact + height > limits.flat


def least_of_each(height: float, limits: Limits) -> float:
    """What each side must give a flat die whose height has these odds."""
    return -limits.height if height > limits.height_sure else limits.against


def is_flat(die: DieEvidence, limits: Limits) -> bool:
    """True if the witnesses leave no doubt that a die lies flat on the floor."""
    if die.second is None or die.second.value is None or die.measured is None:
        return False
    networks, second = side_of(die, NETWORKS), side_of(die, SECOND)
    height = side_of(die, (HEIGHT,))
    contact = die.odds - networks - second - height
    is_low = die.measured.above < limits.above_dice or height > limits.height_sure
    return is_low and passes(networks, second, contact, height, limits)


class _Judgement:
    """The rules on one frame."""

    def __init__(
        self, dice: Sequence[DieEvidence], scene: Scene, limits: Limits, is_lie_granted: bool
    ) -> None:
        self._dice, self._scene, self._limits = dice, scene, limits
        self._is_lie_granted = is_lie_granted
        self._seen = sum(die.model is not None for die in dice)
        heights = [die.height for die in dice if die.height is not None]
        self._is_seen_by_right = any(h.likeness >= limits.height_likeness for h in heights)

    def verdict(self) -> Verdict:
        return (
            self._too_many()
            or self._no_roll()
            or self._of_another_style()
            or self._too_few()
            or self._doubtful(self._foreign())
            or _verified(self._dice)
        )

    def _too_many(self) -> Unreadable | None:
        """The refusal where the model sees more dice than there must be."""
        wanted = self._scene.wanted
        if wanted is None or self._seen <= wanted:
            return None
        read = [die for die in self._dice if die.model and die.second and die.second.value]
        if len(read) == wanted:
            return Unreadable(Reason.FOREIGN_OBJECT, "a thing that the model takes for a die")
        return Unreadable(Reason.COUNT, f"{self._seen} dice")

    def _no_roll(self) -> NoRoll | None:
        """No roll by a die that leans, or by one that lies on another."""
        evidence = self._dice, self._scene, self._limits
        leaning = None if self._is_lie_granted else by_lean(*evidence)
        return leaning or on_a_hidden_die(*evidence)

    def _of_another_style(self) -> Unreadable | None:
        """The refusal where most faces are of no kind that the second reader knows."""
        dice = self._dice
        strange = [die for die in dice if die.second is not None and die.second.face_is_strange]
        # Blur where two dice touch looks like an unknown style: it is one if a free die shows it.
        is_style = not all(die.beside for die in strange)
        # The model takes hardly one for a die, the second reader none for a face.
        is_missed = len(dice) > 1 and bool(strange) and self._seen < min(len(strange), 2)
        if is_missed or (is_style and len(strange) > 1 and len(strange) > len(dice) // 2):
            note = strange[0].second.note if strange[0].second is not None else ""
            return Unreadable(
                Reason.UNKNOWN_STYLE, f"{len(strange)} faces of an unknown kind: {note}"
            )
        return None

    def _too_few(self) -> Unreadable | None:
        """The refusal where the model sees fewer dice than there must be, or none."""
        wanted, seen = self._scene.wanted, self._seen
        if wanted is not None and seen < wanted == len(self._dice):
            missed = next(die for die in self._dice if die.model is None)
            if missed.beside:
                return Unreadable(Reason.TOUCHING, "the model misses a die beside another")
            vote = missed.second
            if vote is not None and vote.value is None and fits(vote, self._limits):
                return _no_face(vote)  # why the model takes this upright cube for no die
        if wanted is not None and seen != wanted:
            return Unreadable(Reason.COUNT, f"{seen} dice, and no proof of a stack")
        return None if seen else Unreadable(Reason.COUNT, "no dice")

    def _foreign(self) -> Unreadable | None:
        """The refusal where something that is no die lies in the compartment."""
        scene, limits = self._scene, self._limits
        is_free = scene.unexplained > limits.foreign_dice
        if not is_free and scene.unexplained_at_wall <= limits.foreign_at_wall_dice:
            return None
        size = scene.unexplained if is_free else scene.unexplained_at_wall
        return Unreadable(
            Reason.FOREIGN_OBJECT, f"something beside the dice, {size:.2f} of a die large"
        )

    def _doubtful(self, foreign: Unreadable | None) -> Unreadable | None:
        """The refusal where a die proves nothing, or something beside the dice is `foreign`."""
        doubts = [
            (bool(die.beside), number, die, doubt)
            for number, die in enumerate(self._dice, 1)
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
        # Two odd faces side by side have lost their seam, one alone is odd by itself.
        is_alone = not any(self._is_odd(self._dice[i]) for i in die.beside)
        is_plain = (
            doubt.reason is Reason.NO_LEGAL_FACE and is_alone and fits(die.second, self._limits)
        )
        if doubt.reason in _DOUBTS_OF_CONTACT and touches and not is_plain:
            return Unreadable(Reason.TOUCHING, f"{detail}; it touches its neighbour")
        return Unreadable(doubt.reason, detail)

    def _doubt(self, die: DieEvidence) -> Unreadable | None:
        """Why this die's value cannot be stated, if it cannot."""
        limits = self._limits
        if die.model is None:
            if self._is_odd(die) and die.second is not None:
                return Unreadable(Reason.FOREIGN_OBJECT, "a thing of a die's size that is no die")
            return Unreadable(Reason.READERS_DISAGREE, "only the second reader sees a die")
        is_flat_by_all = self._is_lie_granted or is_flat(die, limits)
        if not is_flat_by_all and die.odds < limits.against:
            return _not_flat_doubtful(die, limits)
        if die.second is None:
            return Unreadable(Reason.READERS_DISAGREE, "only the model sees a die")
        if die.second.value is None:
            return _no_face(die.second)
        if die.second.value != die.model.value:
            return Unreadable(
                Reason.READERS_DISAGREE,
                f"the model reads {die.model.value}, the second reader {die.second.value}",
            )
        if not is_flat_by_all:
            return _not_flat_doubtful(die, limits)
        if spot := spot_doubted(die.second):
            return spot
        if self._is_seen_by_right and die.height and die.height.least < limits.pip_alike:
            return Unreadable(Reason.DOUBTFUL, "a pip that the other lens does not show")
        if die.model.value_p < limits.value_p or die.model.score < limits.score:
            return Unreadable(
                Reason.DOUBTFUL,
                f"the model is {die.model.value_p:.2f} sure of {die.model.value}",
            )
        if die.second.confidence < limits.pip_confidence:
            return Unreadable(
                Reason.DOUBTFUL, f"pips stand out by {die.second.confidence:.2f} only"
            )
        return None

    def _is_odd(self, die: DieEvidence) -> bool:
        """True if the second reader reads no face there, or one that is not where the die is."""
        vote = die.second
        return vote is None or vote.value is None or vote.offset > self._limits.off_face_edges


def _verified(dice: Sequence[DieEvidence]) -> Verified:
    """What dice show of which nothing is doubted."""
    confidence = min(
        min(die.model.value_p, die.model.flat_p, die.model.score, die.second.confidence)
        for die in dice
        if die.model and die.second
    )
    return Verified(tuple(die.model.value for die in dice if die.model), confidence)


def _no_face(vote: GeometryReading) -> Unreadable:
    """The refusal of a die on which the second reader reads no value."""
    reason = Reason.UNKNOWN_STYLE if vote.face_is_strange else Reason.NO_LEGAL_FACE
    return Unreadable(reason, vote.note)


def _not_flat_doubtful(die: DieEvidence, limits: Limits) -> Unreadable:
    """The refusal by the witness that is farthest from what it says of a flat die."""
    witness = farthest_below(die, limits)
    says = ", ".join(map(str, die.witnesses))
    rest = f": {die.may_rest_on} may hold up one side" if die.may_rest_on else ""
    least = least_of_each(side_of(die, (HEIGHT,)), limits)
    return Unreadable(
        Reason.NOT_FLAT_DOUBTFUL,
        f"flat is not certain, by {witness.name}{rest}; log-odds of flat {die.odds:+.1f} "
        f"(needed {limits.flat:+.1f}), the networks' {side_of(die, NETWORKS):+.1f}, the second "
        f"reader's {side_of(die, SECOND):+.1f} (each needed {least:+.1f}): {says}",
    )


def _is_upright_but_doubted(doubted: tuple[bool, int, DieEvidence, Unreadable]) -> bool:
    """True if only the networks doubt how a die lies, and the second reader sees it upright."""
    _, _, die, doubt = doubted
    return doubt.reason is Reason.NOT_FLAT_DOUBTFUL and side_of(die, SECOND) > 0
