"""What proves that a die does not lie flat on the floor, so that the toss is no roll.

Owns: the three proofs. Must not know pictures, nor how evidence is made.

Each reader's side by itself says that one die is not flat. Or fewer dice are in sight than there
are, with one top face at the floor's height and one higher. Or the pips of a die lie higher than a
flat die's, and one side bears that out. Looks that say flat leave the first unproved, and a height
that surely says flat leaves all but a hidden die's unproved.

Looks and the measured top face together are one witness: both are the network's, and wrong corners
or a mirrored lamp mislead both. They need the second reader's word that no upright cube stands
there: none fits the outline, whatever the pips of a face that leans say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vision.parameters import LIMITS, MAX_LEAN_DEG, Limits
from vision.reading import DieEvidence, GeometryReading, Kind, NoRoll, Scene
from vision.table.witnesses import (
    HEIGHT,
    LOOKS,
    NETWORKS,
    OUTLINE,
    SECOND,
    SIDES,
    TOP,
    is_as_high_as_flat,
    side_of,
)


def by_lean(dice: Sequence[DieEvidence], scene: Scene, limits: Limits) -> NoRoll | None:
    """No roll by the die that surely leans most."""
    lying = [
        (i, die)
        for i, die in enumerate(dice)
        if scene.die_px >= limits.die_px and _is_not_flat(die, dice, limits)
    ]
    if not lying:
        return None
    index, die = max(lying, key=lambda pair: _lean_deg(pair[1], limits))
    assert die.measured is not None
    is_stacked = die.measured.layer > 1 + limits.on_another_dice
    kind = Kind.STACKED if is_stacked else Kind.TILTED
    return NoRoll(index, kind, _lean_deg(die, limits))


def _is_not_flat(die: DieEvidence, dice: Sequence[DieEvidence], limits: Limits) -> bool:
    """True if both sides, or its height and one of them, prove that a die does not lie flat."""
    if die.model is None or die.measured is None:
        return False
    if die.second is None:
        return False  # what covers a flat die hides its cube, too
    if die.measured.above > limits.max_height_dice:
        return False
    looks, networks, second = (side_of(die, names) for names in ((LOOKS,), NETWORKS, SECOND))
    height = side_of(die, (HEIGHT,))
    if height > limits.height_sure:
        return False
    if height < -limits.height_sure:
        return _is_high_by_both(die, dice, limits)
    if looks > 0 or networks + second > limits.no_roll:
        return False
    # A face whose value is doubted may be found at a wrong place.
    is_askew = side_of(die, (TOP,)) < limits.against and die.model.value_p >= limits.value_p
    by_outline = side_of(die, (OUTLINE,))
    is_no_cube = not fits(die.second, limits) and (
        die.second.value is None or by_outline < limits.no_roll_second
    )
    if die.beside and not _is_seen_through(die, limits):
        # A hidden seam spoils both sides, but never the networks' so much.
        is_doubted = second < limits.no_roll_second or (is_askew and is_no_cube)
        # Between two neighbours the outline goes with the looks, the side faces do not.
        is_denied = len(die.beside) > 1 and side_of(die, (SIDES,)) > 0
        return networks < limits.seam_networks and is_doubted and not is_denied
    is_seen_askew = looks < limits.no_roll_second and is_askew
    return fails(networks, second, limits) or (is_seen_askew and is_no_cube)


def _is_high_by_both(die: DieEvidence, dice: Sequence[DieEvidence], limits: Limits) -> bool:
    """True if a side bears out the height of a die's pips. The pips must be the face's, and
    another die must be as high as a flat one: else the right lens has moved."""
    vote = die.second
    assert die.model is not None
    is_read = vote is not None and vote.value == die.model.value
    if not is_read or die.model.value_p < limits.value_p:
        return False
    if not any(is_as_high_as_flat(other.height, limits) for other in dice):
        return False
    networks, second = side_of(die, NETWORKS), side_of(die, SECOND)
    return networks < limits.against or second < limits.no_roll_second


def on_a_hidden_die(dice: Sequence[DieEvidence], scene: Scene, limits: Limits) -> NoRoll | None:
    """No roll by a stack seen from straight above: fewer dice than there are, and the top face
    of one higher than the other's. How it looks says nothing: it lies flat.

    The other die must measure on the floor. A die that only the second reader sees must be the
    hidden one, and lie under the higher one.
    """
    missed = [die for die in dice if die.model is None]
    seen = len(dice) - len(missed)
    if scene.wanted is None or not 2 <= seen < scene.wanted or len(dice) > scene.wanted:
        return None
    nearest = limits.under_edges * scene.die_mm
    for index, die in enumerate(dice):
        if (
            die.model is not None
            and die.measured is not None
            and side_of(die, (HEIGHT,)) < limits.height_sure
            and limits.on_another_dice < die.measured.above < limits.max_height_dice
            and abs(die.measured.layer - die.measured.above - 1) < limits.above_dice
            and all(
                math.hypot(die.x_mm - other.x_mm, die.y_mm - other.y_mm) < nearest
                for other in missed
            )
        ):
            return NoRoll(index, Kind.STACKED, 0.0)
    return None


def _lean_deg(die: DieEvidence, limits: Limits) -> float:
    """By the side faces if they show a lean within their reach: they err by half a degree, the
    network by 3°."""
    vote = die.second
    by_network = die.measured.lean_deg if die.measured is not None else 0.0
    if (
        vote is not None
        and vote.sides < limits.sides_lean
        and by_network < MAX_LEAN_DEG
        and (vote.sides_beyond_mm > limits.sides_beyond_mm or _is_seen_through(die, limits))
    ):
        return vote.sides_lean_deg
    return by_network


def _is_seen_through(die: DieEvidence, limits: Limits) -> bool:
    """True if the far face of a clear die shows that it leans; no neighbour spoils that."""
    vote, model = die.second, die.model
    return (
        vote is not None
        and model is not None
        and vote.value == model.value
        and vote.through < limits.sides_lean
    )


def fits(vote: GeometryReading | None, limits: Limits) -> bool:
    """True if an upright cube has this outline wherever it was seen, or the far face of a clear
    die shows one: then a neighbour spoils nothing of what is inside it."""
    return vote is not None and (
        vote.through > -limits.sides_lean
        or (vote.spread_mm < limits.plain_fit_mm and vote.support > limits.plain_support)
    )


def fails(networks: float, second: float, limits: Limits = LIMITS) -> bool:
    """True if both sides say not flat, each by itself."""
    return (
        networks + second < limits.no_roll
        and networks < limits.against
        and second < limits.no_roll_second
    )
