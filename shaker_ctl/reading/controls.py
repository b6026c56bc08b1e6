"""Fixed exposure, gain, white balance and focus: what was asked for, and what the camera refused.

Owns the comparison of the requested and the actual values. A camera that adjusts itself changes
every picture when a hand passes, and answers a dip of the ring light with a longer exposure. Must
not know OpenCV or libcamera.
"""

from __future__ import annotations

from shaker_ctl.frozen import frozen

AUTOMATIC = "exposure is left automatic (exposure_ms is not set)"
"""A camera with this warning changes its exposure after a dip of the ring light or a passing
hand."""

TINTED = "white balance is left automatic (neither white_balance_k nor colour_gains is set)"
"""A camera with this warning changes the colours of all dice when a hand or other dice come."""

EXPOSURE_SHARE = 0.1
"""Largest relative difference of the exposure. A camera sets it in steps of a row's time or 0.1
ms."""

GAIN_SHARE = 0.15
KELVIN = 100.0
FOCUS_SHARE = 0.05


@frozen
class Controls:
    """What the settings ask for; None leaves that control as the camera has it."""

    exposure_ms: float | None = None
    gain: float | None = None
    white_balance_k: float | None = None
    colour_gains: tuple[float, float] | None = None
    """Red and blue, of a CSI camera; instead of a temperature."""
    focus: float | None = None


def compare(asked: Controls, has: Controls) -> list[str]:
    """Return a clause for each control that was asked for and did not take.

    `has` is what the camera says it has; None where it does not say, which counts as not taken.
    """
    return [
        *_differs("exposure", "ms", asked.exposure_ms, has.exposure_ms, share=EXPOSURE_SHARE),
        *_differs("gain", "", asked.gain, has.gain, share=GAIN_SHARE),
        *_differs("white balance", "K", asked.white_balance_k, has.white_balance_k, by=KELVIN),
        *_gains(asked.colour_gains, has.colour_gains),
        *_differs("focus", "", asked.focus, has.focus, share=FOCUS_SHARE, by=0.02),
    ]


def _differs(
    name: str,
    unit: str,
    asked: float | None,
    has: float | None,
    share: float = 0.0,
    by: float = 0.0,
) -> list[str]:
    if asked is None:
        return []
    wanted = f"{asked:g} {unit}".strip()
    if has is None:
        return [f"{name} {wanted} is not a control of this camera"]
    if abs(has - asked) > max(by, share * abs(asked)):
        return [f"{name} is {has:g} {unit}".strip() + f" and not {wanted}"]
    return []


def _gains(asked: tuple[float, float] | None, has: tuple[float, float] | None) -> list[str]:
    if asked is None:
        return []
    if has is None:
        return ["colour gains are not a control of this camera"]
    return [
        *_differs("red gain", "", asked[0], has[0], share=GAIN_SHARE),
        *_differs("blue gain", "", asked[1], has[1], share=GAIN_SHARE),
    ]
