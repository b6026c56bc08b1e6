"""From the evidence of a frame to what it proves: values, no roll, or the reason for neither.

Owns: the rules of a verdict and their order. Must not know pictures, nor how evidence is made.

Values are stated if both readers see the same dice with the same values, each like those that were
taught, with nothing beside them, and if each lies flat. Before two lenses a die lies flat if its
pips are as high as the table's flat dice and it does not look to the networks as if it leant; where
the height is nearly sure, the networks may add to it. A die surely higher, or surely askew, is no
roll if one reader bears that out. Before one lens the looks alone say how a die lies: nothing
proves a no roll then, and no table enters by itself. Every doubt refuses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from vision.parameters import LIMITS, Limits
from vision.reading import (
    DieEvidence,
    Kind,
    NoRoll,
    Reason,
    Scene,
    Unreadable,
    Verdict,
    Verified,
    spot_doubted,
)
from vision.table.witnesses import HEIGHT, LOOKS, said_by
from vision.taught.own_rate import FOREIGN, SURE

_ON_ANOTHER = 0.75
"""Height of its pips, in dice, above which a die lies on another."""


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
    found = sum(die.model is not None for die in dice)
    if not scene.is_taught:
        return _untaught(dice)
    if scene.wanted is not None and found > scene.wanted:
        return Unreadable(Reason.COUNT, f"{found} dice")
    if not is_lie_granted and (fallen := _no_roll(dice, scene, limits)):
        return fallen
    if not found or (scene.wanted is not None and found < scene.wanted):
        return Unreadable(Reason.COUNT, f"{found} dice" if found else "no dice")
    return _refused(dice, scene, limits, is_lie_granted=is_lie_granted) or _verified(dice)


def _numbers(dice: Sequence[DieEvidence], scene: Scene) -> Iterator[float]:
    """What is compared with limits: one that is no number would be on no side of any."""
    yield from (scene.foreground, scene.unexplained)
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


def _untaught(dice: Sequence[DieEvidence]) -> Unreadable:
    """The first reader's word, which alone proves nothing, as a help."""
    seen = " ".join(str(die.model.value) for die in dice if die.model) or "no dice"
    return Unreadable(Reason.UNTAUGHT, f"the network alone sees {seen}")


def is_flat(die: DieEvidence, scene: Scene, limits: Limits = LIMITS) -> bool:
    """True if the witnesses leave no doubt that a die lies flat on the floor."""
    looks, height = said_by(die, LOOKS), said_by(die, HEIGHT)
    if not scene.has_heights:
        return looks > limits.flat
    is_high_enough = height + min(max(looks, 0.0), limits.lent) >= limits.height_sure
    return is_high_enough and looks >= limits.leans


def _refused(
    dice: Sequence[DieEvidence], scene: Scene, limits: Limits, *, is_lie_granted: bool
) -> Unreadable | None:
    """Why these dice prove no values, if they do not."""
    doubts = [
        Unreadable(doubt.reason, f"die {number} from the left: {doubt.detail}")
        for number, die in enumerate(dice, 1)
        for doubt in _doubts(die, scene, limits, is_lie_granted=is_lie_granted)
    ]
    # A die that does not lie flat is none of those that were taught, and lies beside them.
    askew = [doubt for doubt in doubts if doubt.reason is Reason.NOT_FLAT_DOUBTFUL]
    if scene.unexplained > FOREIGN and not askew:
        size = f"{scene.unexplained:.2f} of a die large"
        return Unreadable(Reason.FOREIGN_OBJECT, f"something beside the dice, {size}")
    return next(iter(askew or doubts), None)


def _doubts(
    die: DieEvidence, scene: Scene, limits: Limits, *, is_lie_granted: bool
) -> Iterator[Unreadable]:
    """Why this die's value cannot be stated, if it cannot; first what explains the rest."""
    model, vote, height = die.model, die.second, die.height
    if model is None:
        yield Unreadable(Reason.READERS_DISAGREE, "only the second reader sees a die")
        return
    if not is_lie_granted and not is_flat(die, scene, limits):
        yield _not_flat(die, scene, limits)
    if vote is None:
        yield Unreadable(Reason.READERS_DISAGREE, "only the model sees a flat die of this table")
        return
    if vote.value != model.value:
        yield Unreadable(
            Reason.READERS_DISAGREE,
            f"the model reads {model.value}, the second reader {vote.value}",
        )
    if spot := spot_doubted(vote):
        yield spot
    if scene.has_heights and (height is None or height.least < limits.pip_alike):
        yield Unreadable(Reason.DOUBTFUL, "a pip that the other lens does not show")
    if model.value_p < limits.value_p or model.score < limits.score:
        yield Unreadable(Reason.DOUBTFUL, f"the model is {model.value_p:.2f} sure of {model.value}")
    if vote.confidence < SURE:
        yield Unreadable(Reason.DOUBTFUL, f"the pips are {vote.confidence:.2f} sure")


def _not_flat(die: DieEvidence, scene: Scene, limits: Limits) -> Unreadable:
    """The refusal, with what each witness says and what it would have to say."""
    says = ", ".join(map(str, die.witnesses))
    needed = f"{limits.flat:+.1f} of the looks"
    if scene.has_heights:
        needed = f"{limits.height_sure:+.1f} of the height, {limits.leans:+.1f} of the looks"
    return Unreadable(
        Reason.NOT_FLAT_DOUBTFUL, f"flat is not certain: log-odds of flat {says}; needed {needed}"
    )


def _verified(dice: Sequence[DieEvidence]) -> Verified:
    """What dice show of which nothing is doubted."""
    seen = [(die.model, die.second) for die in dice if die.model and die.second]
    sure = min(min(model.value_p, model.score, vote.confidence) for model, vote in seen)
    return Verified(tuple(model.value for model, _ in seen), sure)


def _no_roll(dice: Sequence[DieEvidence], scene: Scene, limits: Limits) -> NoRoll | None:
    """No roll by the die whose pips surely do not lie as high as a flat die's, if another's do:
    else the second lens has moved."""
    heights = [said_by(die, HEIGHT) for die in dice]
    if not any(height >= limits.height_sure for height in heights):
        return None
    fallen = [
        (_lean_deg(die), index)
        for index, die in enumerate(dice)
        if heights[index] <= -limits.height_sure
        and _bears_out(die, is_one_of_three=len(dice) == scene.wanted, limits=limits)
    ]
    if not fallen:
        return None
    angle_deg, index = max(fallen)
    return NoRoll(index, _kind(dice[index]), angle_deg)


def _kind(die: DieEvidence) -> Kind:
    is_stacked = die.height is not None and die.height.above > _ON_ANOTHER
    return Kind.STACKED if is_stacked else Kind.TILTED


def _bears_out(die: DieEvidence, *, is_one_of_three: bool, limits: Limits) -> bool:
    """True if a reader, besides the height, says that a die does not lie flat: the second one, that
    no flat die is there; or the networks, by its looks, or because they miss it."""
    if die.model is None:
        return is_one_of_three
    looks = said_by(die, LOOKS)
    # A face whose value is doubted may have its pips elsewhere.
    if die.model.value_p < limits.value_p and looks >= limits.leans:
        return False
    return die.second is None or said_by(die, HEIGHT) + looks < limits.no_roll


def _lean_deg(die: DieEvidence) -> float:
    """Its angle from flat, 0..90: by the near look, or by how its pips rise."""
    if die.model is not None and die.model.near_lean_deg is not None:
        return die.model.near_lean_deg
    return 0.0 if die.height is None else math.degrees(math.atan(die.height.slope))
