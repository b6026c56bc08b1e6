"""What a camera in a room full of people adds to each picture: light, focus, dirt, a sensor's age.

Owns these effects, each as a function of the picture, its parameters and the moment. Must not know
how pictures are made, nor which effects are in force.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import cv2
import numpy as np

from hil_tests.rig.camera.optics import Image, Shutter

Numbers = Mapping[str, float]
Effect = Callable[[Image, Numbers, float], Image]
"""Takes a picture, the fault's parameters and the moment in seconds; returns another picture."""


def breathing(random: np.random.Generator, _: float = 0.0) -> Effect:
    """A bracket that trembles and a lamp whose supply is not quite steady."""

    def apply(picture: Image, values: Numbers, at_s: float) -> Image:
        x, y = random.normal(0.0, values["px"], 2)
        gain = 1.0 + random.normal(0.0, values["light"])
        move = np.array([[1.0, 0.0, x], [0.0, 1.0, y]])
        size = (picture.shape[1], picture.shape[0])
        moved = cv2.warpAffine(picture, move, size, borderMode=cv2.BORDER_REPLICATE)
        return cv2.convertScaleAbs(moved, alpha=gain)

    return apply


def auto_exposure(random: np.random.Generator, _: float = 0.0) -> Effect:
    """Brightness follows the mean of the picture, some time behind."""
    before: dict[str, float] = {}

    def apply(picture: Image, values: Numbers, at_s: float) -> Image:
        mean = max(1.0, float(picture[::8, ::8].mean()))
        wanted = min(4.0, max(0.25, values["level"] / mean))
        passed_s = at_s - before.get("at_s", at_s)
        share = 1.0 - math.exp(-max(0.0, passed_s) / values["seconds"])
        gain = before.get("gain", 1.0)
        before.update(at_s=at_s, gain=gain + share * (wanted - gain))
        return cv2.convertScaleAbs(picture, alpha=before["gain"])

    return apply


def white_balance(random: np.random.Generator, _: float = 0.0) -> Effect:
    """Colours are pulled towards a grey mean: a green floor makes white dice rosy."""

    def apply(picture: Image, values: Numbers, at_s: float) -> Image:
        means = np.maximum(picture[::8, ::8].reshape(-1, 3).mean(axis=0), 1.0)
        gains = (means.mean() / means) ** values["share"]
        return np.clip(np.rint(picture * gains), 0, 255).astype(np.uint8)

    return apply


def flicker(random: np.random.Generator, _: float = 0.0) -> Effect:
    """Room light at twice the mains frequency, as bands that a rolling shutter makes of it."""
    shutter = Shutter()

    def apply(picture: Image, values: Numbers, at_s: float) -> Image:
        rows = picture.shape[0]
        times = at_s + shutter.readout_s * np.arange(rows) / (rows - 1)
        # An exposure of some milliseconds averages most of it away.
        left = float(np.sinc(values["hz"] * shutter.exposure_s))
        gains = 1.0 + values["depth"] * left * np.sin(math.tau * values["hz"] * times)
        toned = picture * gains.astype(np.float32)[:, None, None]
        return np.clip(np.rint(toned), 0, 255).astype(np.uint8)

    return apply


def focus_drift(random: np.random.Generator, _: float = 0.0) -> Effect:
    """A lens that warms up: focus comes and goes."""

    def apply(picture: Image, values: Numbers, at_s: float) -> Image:
        sigma = values["sigma_px"] * abs(math.sin(math.pi * at_s / values["period_s"]))
        return picture if sigma < 0.15 else cv2.GaussianBlur(picture, (0, 0), sigma)

    return apply


def reflections(random: np.random.Generator, beside_px: float = 0.0) -> Effect:
    """People and displays mirrored in the dome: two soft lights that wander."""

    def apply(picture: Image, values: Numbers, at_s: float) -> Image:
        height, width = picture.shape[:2]
        small = np.zeros((height // 8, width // 8, 3), np.float32)
        for number, (tint, reach) in enumerate((((1.0, 0.8, 0.6), 7), ((0.6, 0.8, 1.0), 11))):
            phase = math.tau * at_s / values["period_s"] + 2.1 * number
            middle = (
                int(small.shape[1] * (0.5 + 0.28 * math.cos(phase)) - beside_px / 8),
                int(small.shape[0] * (0.5 + 0.3 * math.sin(0.7 * phase + number))),
            )
            light = tuple(values["level"] * share for share in tint)
            cv2.ellipse(small, middle, (reach, reach * 2), 25.0, 0.0, 360.0, light, -1)
        small = np.asarray(cv2.GaussianBlur(small, (0, 0), 2.0))
        soft = cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)
        return cv2.add(picture, np.rint(soft).astype(np.uint8))

    return apply


def dirty_dome(random: np.random.Generator, beside_px: float = 0.0) -> Effect:
    """Dust that shades and scatters, drops of drink that bend what lies below, opaque blots."""
    kept: dict[tuple[Any, ...], tuple[Any, Any, Any, Any]] = {}

    def apply(picture: Image, values: Numbers, at_s: float) -> Image:
        height, width = picture.shape[:2]
        key = (height, width, values["specks"], values["drops"], values["blots"])
        if key not in kept:
            specks, drops, blots = (int(values[name]) for name in ("specks", "drops", "blots"))
            dirt = _dirt(height, width, specks, drops, random, beside_px)
            kept[key] = (*dirt, _blots(height, width, blots, random, beside_px))
        map_x, map_y, dust, blots = kept[key]
        bent = cv2.remap(picture, map_x, map_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        dusty = bent * (1.0 - 0.6 * dust) + 46.0 * dust
        return np.clip(np.rint(dusty * (1.0 - blots) + 34.0 * blots), 0, 255).astype(np.uint8)

    return apply


def _dirt(
    height: int,
    width: int,
    specks: int,
    drops: int,
    random: np.random.Generator,
    beside_px: float,
) -> tuple[Any, Any, Any]:
    """Where each pixel is seen through drops, and how much dust lies over it (height, width, 1)."""
    dust = np.zeros((height, width), np.float32)
    scale = width / 640.0
    for _ in range(specks):
        at = (int(random.uniform(0, width) - beside_px), int(random.uniform(0, height)))
        turn = float(random.uniform(0, 360))
        size = (max(1, round(random.uniform(1, 4) * scale)), max(1, round(1.2 * scale)))
        cv2.ellipse(dust, at, size, turn, 0, 360, float(random.uniform(0.15, 0.8)), -1, cv2.LINE_AA)
    dust = np.asarray(cv2.GaussianBlur(dust, (0, 0), 1.3 * scale))
    v, u = np.mgrid[0:height, 0:width].astype(np.float32)
    map_x, map_y = u.copy(), v.copy()
    for _ in range(drops):
        x, y = random.uniform(0.25, 0.75) * width - beside_px, random.uniform(0.2, 0.8) * height
        radius = random.uniform(9.0, 22.0) * scale
        r = np.hypot(u - x, v - y) / radius
        inside = np.clip((1.0 - r) * 4.0, 0.0, 1.0)
        bend = 1.0 - inside * (1.6 * np.clip(1.0 - r * r, 0.0, 1.0))
        map_x = np.where(r < 1.0, x + (u - x) * bend, map_x).astype(np.float32)
        map_y = np.where(r < 1.0, y + (v - y) * bend, map_y).astype(np.float32)
        dust = np.maximum(dust, 0.55 * np.exp(-(((r - 0.96) / 0.07) ** 2)).astype(np.float32))
    return map_x, map_y, dust[..., None]


def _blots(
    height: int, width: int, count: int, random: np.random.Generator, beside_px: float
) -> Any:
    """(height, width, 1) how much opaque blots hide, near the middle of the picture."""
    cover = np.zeros((height, width), np.float32)
    for _ in range(count):
        at = (
            round(float(random.uniform(0.4, 0.6)) * width - beside_px),
            round(float(random.uniform(0.35, 0.65)) * height),
        )
        radius = round(float(random.uniform(4.0, 7.0)) * width / 640.0)
        cv2.circle(cover, at, radius, 1.0, -1, cv2.LINE_AA)
    return cv2.GaussianBlur(cover, (0, 0), 0.8)[..., None]


def hot_pixels(random: np.random.Generator, _: float = 0.0) -> Effect:
    """Pixels of an old sensor that are bright whatever they see, each in one colour."""
    kept: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def apply(picture: Image, values: Numbers, at_s: float) -> Image:
        count = int(values["count"])
        key = (*picture.shape, count)
        if key not in kept:
            kept[key] = tuple(random.integers(0, most, count) for most in picture.shape)
        picture = picture.copy()
        picture[kept[key]] = 250
        return picture

    return apply


WEATHER: dict[str, Callable[[np.random.Generator, float], Effect]] = {
    "dirty_dome": dirty_dome,
    "reflections": reflections,
    "flicker": flicker,
    "breathing": breathing,
    "focus_drift": focus_drift,
    "auto_exposure": auto_exposure,
    "white_balance": white_balance,
    "hot_pixels": hot_pixels,
}
"""By fault, in the order in which light meets them: dome, room, bracket, lens, sensor.

Each is made for one lens, whose picture shows the dome so many pixels left of where the first does.
"""
