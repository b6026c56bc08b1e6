"""What the evidence of a frame proves at a table that was taught its dice, before two lenses.

Owns: the rules of its verdict and their order. Must not know pictures, nor how evidence is made.

Values are stated if both readers see the same dice with the same values, each like those that were
taught, with nothing beside them, and if the pips of each lie as high as the table's flat dice and
it does not look to the networks as if it leant; where the height is nearly sure, they may add to
it. What the edges of its top say, the height says better. A die surely higher, or surely askew, is
no roll if one reader bears that out. Every doubt refuses.
"""

from __future__ import annotations

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
from vision.table.witnesses import HEIGHT, LOOKS, NETWORKS, side_of
from vision.taught.own_rate import FOREIGN, SURE

LENT = 2.0
"""Log-odds of flat that the networks may add to those of the height. A single pip of a clear die
shows its height to 0.02 of a die, half of what a lean of 6° raises it."""
PIP_ALIKE = 0.5
"""How alike both lenses must show each pip, -1..1."""


def judge_taught(
    dice: Sequence[DieEvidence],
    scene: Scene,
    limits: Limits = LIMITS,
    *,
    is_lie_granted: bool = False,
) -> Verdict:
    """What the evidence of all dice of a frame proves. With `is_lie_granted`, as if every die lay
    flat."""
    found = sum(die.model is not None for die in dice)
    if scene.wanted is not None and found > scene.wanted:
        return Unreadable(Reason.COUNT, f"{found} dice")
    if not is_lie_granted and (fallen := _no_roll(dice, limits)):
        return fallen
    if not found or (scene.wanted is not None and found < scene.wanted):
        return Unreadable(Reason.COUNT, f"{found} dice" if found else "no dice")
    doubts = [
        Unreadable(doubt.reason, f"die {number} from the left: {doubt.detail}")
        for number, die in enumerate(dice, 1)
        for doubt in _doubts(die, limits, is_lie_granted=is_lie_granted)
    ]
    # A die that does not lie flat is none of those that were taught, and lies beside them.
    askew = [doubt for doubt in doubts if doubt.reason is Reason.NOT_FLAT_DOUBTFUL]
    if scene.unexplained > FOREIGN and not askew:
        size = f"{scene.unexplained:.2f} of a die large"
        return Unreadable(Reason.FOREIGN_OBJECT, f"something beside the dice, {size}")
    if doubts:
        return (askew or doubts)[0]
    seen = [(die.model, die.second) for die in dice if die.model and die.second]
    sure = min(min(model.value_p, model.score, vote.confidence) for model, vote in seen)
    return Verified(tuple(model.value for model, _ in seen), sure)


def _doubts(die: DieEvidence, limits: Limits, *, is_lie_granted: bool) -> Iterator[Unreadable]:
    """Why this die's value cannot be stated, if it cannot; first what explains the rest."""
    model, vote, height = die.model, die.second, die.height
    if model is None:
        yield Unreadable(Reason.READERS_DISAGREE, "only the second reader sees a die")
        return
    looks, by_height = side_of(die, (LOOKS,)), side_of(die, (HEIGHT,))
    sure = by_height + min(max(looks, 0.0), LENT)
    if not is_lie_granted and (looks < limits.no_roll or sure < limits.height_sure):
        says = ", ".join(map(str, die.witnesses))
        yield Unreadable(
            Reason.NOT_FLAT_DOUBTFUL,
            f"flat is not certain: {says}; needed {limits.height_sure:+.1f} of the height, "
            f"{limits.no_roll:+.1f} of the looks",
        )
    if vote is None or vote.value is None:
        yield Unreadable(Reason.READERS_DISAGREE, "only the model sees a flat die of this table")
        return
    if vote.value != model.value:
        yield Unreadable(
            Reason.READERS_DISAGREE,
            f"the model reads {model.value}, the second reader {vote.value}",
        )
    if spot := spot_doubted(vote):
        yield spot
    if height is None or height.least < PIP_ALIKE:
        yield Unreadable(Reason.DOUBTFUL, "a pip that the other lens does not show")
    if model.value_p < limits.value_p or model.score < limits.score:
        yield Unreadable(Reason.DOUBTFUL, f"the model is {model.value_p:.2f} sure of {model.value}")
    if vote.confidence < SURE:
        yield Unreadable(Reason.DOUBTFUL, f"the pips are {vote.confidence:.2f} sure")


def _no_roll(dice: Sequence[DieEvidence], limits: Limits) -> NoRoll | None:
    """No roll by the die whose pips surely do not lie as high as a flat die's, if another's do:
    else the second lens has moved."""
    heights = [side_of(die, (HEIGHT,)) for die in dice]
    if not any(height >= limits.height_sure for height in heights):
        return None
    fallen = [
        (die.measured.lean_deg, index)
        for index, (die, height) in enumerate(zip(dice, heights, strict=True))
        if height <= -limits.height_sure and die.measured is not None and _bears_out(die, limits)
    ]
    if not fallen:
        return None
    lean_deg, index = max(fallen)
    return NoRoll(index, Kind.TILTED, lean_deg)


def _bears_out(die: DieEvidence, limits: Limits) -> bool:
    """True if a reader, besides the height, says that a die does not lie flat."""
    if die.model is None or die.model.value_p < limits.value_p:
        return False
    return die.second is None or side_of(die, NETWORKS) < limits.against
