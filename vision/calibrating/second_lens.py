"""The second lens of a camera that has two, in the coordinates of the first.

Owns: how two calibrations, each measured by itself, become one. Must not know files, cameras or
people.

Each lens is first measured as if it were alone. Then both see one raised card, and what the second
lens puts elsewhere is a turn, a shift and a change of scale of that lens. So at the card's height
both agree. Heights are measured by what the lenses put at different places: a tenth of a millimetre
between them, 60 mm apart and 300 mm up, is half a millimetre of height.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vision.calibrating.calibrate import MIN_CORNERS, Fit, View, calibrate, find_corners
from vision.calibrating.target import Target
from vision.calibration import Calibration, CalibrationError

_MIN_APART = 0.1
"""Least distance between the lenses, in their height above the floor: 30 mm at 300; and how much
one may be measured higher than the other. Nearer, heights are grain: with 5 mm a flat die's is
wrong by 0.2 mm, and that of a die that leans by 6° by 0.3."""
_MAX_APART_MM = 0.15
"""Root mean square of what is left between the places at which both lenses have the corners, mm.
On the virtual rig it is 0.02 to 0.03."""
_BESIDE_MM = 40.0
"""How far the lenses of a stereo camera are beside the middle of their compartment (one sigma):
usual boards have 60 mm between the two."""


def calibrate_both(
    lenses: Sequence[Sequence[View]], target: Target, start: Calibration
) -> tuple[Fit, Fit]:
    """Measure both lenses; the calibration of the first has the second. Of each lens the first view
    shows the card on the floor, the last one at the height of the dice. `start` as in `calibrate`,
    without a second lens. Raises CalibrationError with what to do."""
    first, second = (calibrate(views, target, start, _BESIDE_MM) for views in lenses)
    shown = lenses[0][-1], lenses[1][-1]
    both, right = with_second(first.calibration, second.calibration, shown, target)
    return replace(first, calibration=both), replace(second, calibration=right)


def with_second(
    first: Calibration, second: Calibration, shown: tuple[View, View], target: Target
) -> tuple[Calibration, Calibration]:
    """The first lens's calibration with the second in it, and the second's, so placed that both
    have the card of `shown` at one place. Raises CalibrationError where too few corners are seen by
    both, where these do not fit, or where the lenses are too near each other."""
    seen = [find_corners(view.image, target) for view in shown]
    px_of = [dict(zip(map(tuple, places), px, strict=True)) for places, px in seen]
    common = sorted(px_of[0].keys() & px_of[1].keys())
    if len(common) < MIN_CORNERS:
        raise CalibrationError(
            f"only {len(common)} corners of the card are seen by both lenses "
            f"({MIN_CORNERS} needed): lay it in the middle, in focus, with nothing on it"
        )
    height = shown[0].raised_mm
    ours, theirs = (
        lens.to_mm(np.array([px[place] for place in common]), height)
        for lens, px in zip((first, second), px_of, strict=True)
    )
    # As complex numbers: ours is theirs, turned and scaled about its middle, and shifted.
    here, there = (points @ (1, 1j) for points in (ours, theirs))
    turned = np.vdot(there - there.mean(), here - here.mean())
    turned /= np.vdot(there - there.mean(), there - there.mean())
    left = here - here.mean() - turned * (there - there.mean())
    apart_mm = float(np.sqrt((abs(left) ** 2).mean()))
    if apart_mm > _MAX_APART_MM:
        raise CalibrationError(
            f"the two lenses see the card's corners {apart_mm:.2f} mm apart ({_MAX_APART_MM:g} at "
            "most): is it level, at the height of the dice, and in focus for both?"
        )
    beside = turned * (complex(*second.compartment_mm) + there.mean()) - here.mean()
    between_mm = abs(beside - complex(*first.compartment_mm))
    least_mm = _MIN_APART * first.height_mm
    if between_mm < least_mm or abs(first.height_mm - second.height_mm) > least_mm:
        raise CalibrationError(
            f"the lenses are {between_mm:.0f} mm apart, {first.height_mm:.0f} and "
            f"{second.height_mm:.0f} mm up; they must be {least_mm:.0f} mm apart at least, and as "
            "high as each other: does each picture show both lenses' pictures side by side?"
        )
    right = replace(
        second,
        turn_deg=float(np.degrees(np.angle(turned))),
        floor_px_per_mm=second.floor_px_per_mm / float(abs(turned)),
        compartment_mm=(float(beside.real), float(beside.imag)),
    )
    return replace(first, right=right), right
