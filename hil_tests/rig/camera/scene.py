"""The camera's picture of the plant: backdrop, shadows, dice, what people put in the way, sensor.

It owns the order of painting and what may be reused from the previous picture. It must not know of
HTTP, of faults of the camera, or of clients. A picture is made only from the true poses, the light
and the parts of the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from hil_tests.rig.camera.backdrop import Backdrop
from hil_tests.rig.camera.card import Card
from hil_tests.rig.camera.die_painter import DiePainter, Patch
from hil_tests.rig.camera.lighting import LightRig
from hil_tests.rig.camera.optics import Image, Lens, Sensor, Shutter, row_light
from hil_tests.rig.plant.dice import CORNERS
from hil_tests.rig.plant.geometry import Geometry
from hil_tests.rig.plant.looks import STYLES, DiceStyle, linear
from hil_tests.rig.plant.snapshot import SceneryView

Float = NDArray[Any]

_POSE_STEPS = 7
_SHADOW_SHRINK = 2


@dataclass(frozen=True, slots=True)
class _Still:
    """A finished picture without grain, kept while nothing in it moves."""

    position_mm: Float
    rotation: Float
    view: SceneryView
    light: Image


class Scene:
    """Renders frames. Not thread-safe: one owner renders."""

    def __init__(
        self,
        geometry: Geometry,
        *,
        seed: int = 0,
        lens: Lens | None = None,
        lights: LightRig | None = None,
        styles: Mapping[str, DiceStyle] = STYLES,
        grain_seed: int = 0,
    ) -> None:
        self.lens = lens or Lens()
        self.shutter = Shutter()
        self._geometry = geometry
        self._seed = seed
        self._lights = lights or LightRig()
        self._styles = styles
        self._backdrop = Backdrop(geometry, self.lens, self._lights, seed=seed)
        self._sensor = Sensor(self.lens, seed=grain_seed)
        self._painters: dict[tuple[str, str], DiePainter] = {}
        self._still: _Still | None = None
        self._card: Patch | None = None
        self._coin = _coin_patch(self.lens, geometry)
        self._hand = _hand_picture(self.lens, seed)
        self._flap = _flap_picture(self.lens, seed)

    def lay_card(self, card: Card | None) -> None:
        """Lay a card where the dice are, or take it out and put them back."""
        radius_mm = self._geometry.radius_mm
        self._card = None if card is None else card.seen(self.lens, self._lights, radius_mm)
        self._still = None

    def render(self, end_s: float, samples: NDArray[np.void], view: SceneryView) -> Image:
        """Return the frame whose last row's exposure ends at `end_s`, (height, width, 3) uint8.

        `samples` are the plant's (see `snapshot.SAMPLE`), oldest first, at least one, reaching back
        to the start of the exposure.
        """
        gain = row_light(self.shutter, end_s, self.lens.height, samples["at_s"], samples["light"])
        return self._sensor.expose(self._light(end_s, samples, view), gain)

    def _light(self, end_s: float, samples: NDArray[np.void], view: SceneryView) -> Image:
        """The scene in square-root light under full lamps, from the store where nothing moved."""
        last = samples[-1]
        position, rotation = samples["position_mm"], samples["rotation"]
        began = np.searchsorted(samples["at_s"], end_s - self.shutter.frame_s)
        recent = position[max(0, int(began) - 1) :]
        if not _is_still(recent, rotation[max(0, int(began) - 1) :], last):
            self._still = None
            return self._compose(end_s, samples, view)
        kept = self._still
        if (
            kept is not None
            and kept.view == view
            and kept.position_mm.shape == last["position_mm"].shape
            and _is_still(kept.position_mm, kept.rotation, last)
        ):
            return kept.light
        light = self._compose(end_s, samples[-1:], view)
        self._still = _Still(last["position_mm"].copy(), last["rotation"].copy(), view, light)
        return light

    def _compose(self, end_s: float, samples: NDArray[np.void], view: SceneryView) -> Image:
        if view.cover_open <= 0.0:
            return self._flap
        plate_mm = float(np.mean(samples["plate_mm"][-4:]))
        if self._card is not None:
            picture = self._backdrop.at(plate_mm).copy()
            _lay(picture, self._card, 1.0)
            return picture if view.lid_open else cv2.add(picture, self._backdrop.veil)
        middle = samples[max(0, len(samples) - 4)] if len(samples) > 1 else samples[-1]
        picture = self._shaded_floor(middle["position_mm"], middle["rotation"], plate_mm)
        if view.coin:
            _lay(picture, self._coin, 1.0)
        order = np.argsort(middle["position_mm"][:, 2])
        for die in order:
            positions, rotations = self._way(int(die), end_s, samples)
            others = np.delete(middle["position_mm"], die, axis=0)
            painter = self._painter(view, int(die) + 1)
            _lay(picture, painter.paint(positions, rotations, others, plate_mm), 0.97)
        if not view.lid_open:
            picture = cv2.add(picture, self._backdrop.veil)
        if view.hand > 0.0:
            hand, mask = self._hand
            picture = cv2.convertScaleAbs(picture * (1.0 - mask) + hand * mask)
        if view.cover_open < 1.0:
            edge = int(self.lens.width * view.cover_open)
            picture[:, edge:] = self._flap[:, edge:]
            if edge > 0:  # a cover that has opened by less than a column shows no edge of its own
                soft = slice(max(0, edge - 6), edge)
                mixed = cv2.addWeighted(picture[:, soft], 0.5, self._flap[:, soft], 0.5, 0)
                picture[:, soft] = mixed
        return picture

    def _painter(self, view: SceneryView, die: int) -> DiePainter:
        flaws = view.flaws_of(die)
        style = str(flaws.get("die_of_another_set", {}).get("style", view.style))
        if (style, str(flaws)) not in self._painters:
            known = self._styles.get(style)
            if known is None:
                raise KeyError(f"no dice style {style!r}; there are: {', '.join(self._styles)}")
            self._painters[style, str(flaws)] = DiePainter(
                known,
                self.lens,
                self._lights,
                die_mm=self._geometry.die_mm,
                seed=self._seed,
                flaws=flaws,
            )
        return self._painters[style, str(flaws)]

    def _way(self, die: int, end_s: float, samples: NDArray[np.void]) -> tuple[Float, Float]:
        """Poses of one die during the exposure of the rows that it lies in."""
        if len(samples) == 1:
            return samples["position_mm"][:, die], samples["rotation"][:, die]
        times = samples["at_s"]
        guess = samples["position_mm"][len(samples) // 2, die]
        row = float(np.clip(self.lens.project(guess[None])[0, 1], 0, self.lens.height - 1))
        start_s = float(self.shutter.row_start_s(end_s, row, self.lens.height))
        moments = np.linspace(start_s, start_s + self.shutter.exposure_s, _POSE_STEPS)
        after = np.clip(np.searchsorted(times, moments), 1, len(times) - 1)
        span = np.maximum(times[after] - times[after - 1], 1e-9)
        share = np.clip((moments - times[after - 1]) / span, 0.0, 1.0)
        p, r = samples["position_mm"][:, die], samples["rotation"][:, die]
        positions = p[after - 1] + share[:, None] * (p[after] - p[after - 1])
        mixed = r[after - 1] + share[:, None, None] * (r[after] - r[after - 1])
        u, _, vt = np.linalg.svd(mixed)
        return positions, u @ vt

    def _shaded_floor(self, position: Float, rotation: Float, plate_mm: float) -> Image:
        """The backdrop under the shadows of the dice."""
        shrink = _SHADOW_SHRINK
        shape = (self.lens.height // shrink, self.lens.width // shrink)
        half = self._geometry.die_mm / 2.0
        corners = position[:, None, :] + half * (CORNERS @ rotation.transpose(0, 2, 1))
        taken: Image = np.zeros(shape, np.uint8)
        for lamp, share in self._lights.shadow_sources():
            drop = (corners[..., 2:] - plate_mm) / np.maximum(lamp[2] - corners[..., 2:], 1.0)
            fallen = corners + (corners - lamp) * np.maximum(drop, 0.0)
            fallen[..., 2] = plate_mm
            mask: Image = np.zeros(shape, np.uint8)
            outline = ((self.lens.project(fallen) + 0.5) / shrink - 0.5) * 16.0
            for points in outline:
                hull = cv2.convexHull(np.clip(points, -8000, 16000).astype(np.int32))
                cv2.fillConvexPoly(mask, hull, round(230 * share), cv2.LINE_AA, 4)
            taken = cv2.add(taken, mask)
        foot: Image = np.zeros(shape, np.uint8)
        for die in range(len(position)):
            low = corners[die, :, 2].min() - plate_mm
            strength = round(125 * math.exp(-max(0.0, float(low)) / 3.0))
            flat = corners[die].copy()
            flat[:, 2] = plate_mm
            points = ((self.lens.project(flat) + 0.5) / shrink - 0.5) * 16.0
            cv2.fillConvexPoly(foot, cv2.convexHull(points.astype(np.int32)), strength, 8, 4)
        foot = cv2.GaussianBlur(foot, (0, 0), 7.0 / shrink)
        taken = cv2.add(cv2.GaussianBlur(taken, (0, 0), 3.4 / shrink), foot)
        left = cv2.LUT(taken, _SHADE)
        full = cv2.resize(left, (self.lens.width, self.lens.height))
        shade = cv2.cvtColor(full, cv2.COLOR_GRAY2BGR)
        return cv2.multiply(self._backdrop.at(plate_mm), shade, scale=1.0 / 255.0)


class StereoScene:
    """What the two lenses of a stereo camera show, side by side. Used as a `Scene`."""

    def __init__(self, first: Scene, second: Scene) -> None:
        self.scenes = (first, second)
        self.lens, self.shutter = first.lens, first.shutter

    def lay_card(self, card: Card | None) -> None:
        """As `Scene.lay_card`."""
        for scene in self.scenes:
            scene.lay_card(card)

    def render(self, end_s: float, samples: NDArray[np.void], view: SceneryView) -> Image:
        """As `Scene.render`, twice as wide."""
        return np.hstack([scene.render(end_s, samples, view) for scene in self.scenes])


def scene_of(
    geometry: Geometry,
    *,
    seed: int,
    lens: Lens | None = None,
    grain_seed: int | None = None,
    **looks: Any,
) -> Scene | StereoScene:
    """The scene that a camera shows, with one lens or with two. `looks`: as of `Scene`."""
    grain_seed = seed if grain_seed is None else grain_seed
    first = Scene(geometry, seed=seed, lens=lens, grain_seed=grain_seed, **looks)
    second = first.lens.second
    if second is None:
        return first
    right = Scene(geometry, seed=seed, lens=second, grain_seed=grain_seed + 1, **looks)
    return StereoScene(first, right)


def _is_still(position_mm: Float, rotation: Float, now: np.void) -> bool:
    """Whether nothing has moved from those poses to now as far as a picture shows."""
    moved_mm, turned = np.abs(position_mm - now["position_mm"]), np.abs(rotation - now["rotation"])
    return bool(moved_mm.max() < 0.02 and turned.max() < 2e-3)


_SHADE = np.rint(255.0 * np.sqrt(np.clip(1.0 - np.arange(256) / 255.0, 0.06, 1.0))).astype(np.uint8)


def _lay(picture: Image, patch: Patch, level: float) -> None:
    """Lay a patch over the picture, in linear light, clipped at the picture's border."""
    height, width = picture.shape[:2]
    top, left = max(0, patch.top), max(0, patch.left)
    bottom = min(height, patch.top + patch.coverage.shape[0])
    right = min(width, patch.left + patch.coverage.shape[1])
    if top >= bottom or left >= right:
        return
    rows = slice(top - patch.top, bottom - patch.top)
    columns = slice(left - patch.left, right - patch.left)
    under = picture[top:bottom, left:right].astype(np.float32)
    under *= under
    under *= 1.0 - patch.coverage[rows, columns]
    under += (65025.0 * level) * patch.colour[rows, columns]
    picture[top:bottom, left:right] = cv2.convertScaleAbs(cv2.sqrt(under))


def _coin_patch(lens: Lens, geometry: Geometry) -> Patch:
    """A brass coin of 20 mm on the floor, half-way to the wall."""
    centre = np.array([0.45 * geometry.radius_mm, -0.5 * geometry.radius_mm, 1.5])
    middle = lens.project(centre[None])[0]
    radius = 10.0 * lens.floor_px_per_mm
    reach = int(radius) + 4
    left, top = int(middle[0]) - reach, int(middle[1]) - reach
    v, u = np.mgrid[0 : 2 * reach, 0 : 2 * reach].astype(np.float32)
    du, dv = u + left - middle[0], v + top - middle[1]
    r = np.hypot(du, dv) / radius
    coverage = np.clip((1.0 - r) * radius + 0.5, 0.0, 1.0)[..., None]
    brush = 0.5 + 0.5 * np.cos(2.0 * np.arctan2(dv, du) + 0.7)
    relief = 0.12 * np.sin(du * 0.55) * np.sin(dv * 0.5 + du * 0.2) * (r < 0.7)
    rim = 0.4 * np.exp(-(((r - 0.93) / 0.04) ** 2))
    colour = linear((206, 172, 92)) * (0.55 + 0.35 * brush + relief + rim)[..., None]
    return Patch(left, top, np.asarray(colour * coverage, np.float32), coverage)


def _hand_picture(lens: Lens, seed: int) -> tuple[Float, Float]:
    """A hand laid over the dome, out of focus: picture in square-root light, and its mask."""
    random = np.random.default_rng(seed + 77)
    drawn: Float = np.zeros((480, 640), np.float32)
    palm = np.array([[170, 480], [150, 300], [210, 235], [420, 220], [500, 300], [520, 480]])
    cv2.fillConvexPoly(drawn, palm.astype(np.int32), 1.0)
    for x, lean, tip in ((225, -26, 40), (295, -6, 8), (365, 12, 18), (430, 34, 66)):
        cv2.line(drawn, (x, 290), (x + lean, tip), 1.0, 62)
        cv2.circle(drawn, (x + lean, tip), 31, 1.0, -1)
    cv2.line(drawn, (190, 400), (78, 260), 1.0, 66)
    mask: Float = cv2.resize(drawn, (lens.width, lens.height), interpolation=cv2.INTER_LINEAR)
    inner: Float = cv2.GaussianBlur(mask, (0, 0), 16.0)
    mask = np.asarray(cv2.GaussianBlur(mask, (0, 0), 4.0))[..., None]
    skin = random.standard_normal((lens.height, lens.width)).astype(np.float32)
    skin = np.asarray(cv2.GaussianBlur(skin, (0, 0), 12.0))
    level = 0.35 + 0.55 * inner**2 + 0.04 * skin / float(skin.std())
    light = linear((172, 118, 92)) * np.clip(level, 0.0, 1.4)[..., None]
    return 255.0 * np.sqrt(np.clip(light, 0.0, 1.0)), mask


def _flap_picture(lens: Lens, seed: int) -> Image:
    """The underside of the closed cover: nearly black cloth."""
    random = np.random.default_rng(seed + 78)
    weave = random.standard_normal((lens.height, lens.width)).astype(np.float32)
    weave = np.asarray(cv2.GaussianBlur(weave, (0, 0), 0.9))
    v, u = np.mgrid[0 : lens.height, 0 : lens.width].astype(np.float32)
    glow = 7.0 + 6.0 * np.exp(-((u - 150.0) ** 2 + (v - 60.0) ** 2) / 60000.0)
    level = glow + 1.2 * weave / float(weave.std())
    return np.rint(np.stack([level, level, level * 1.05], -1)).clip(0, 255).astype(np.uint8)
