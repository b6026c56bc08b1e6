"""The fast renderer: rays against rounded cubes, on NumPy, some 20 pictures a second.

Owns: light, shadow and reflection good enough for variety. Must not know: where poses come from,
files. It trades exactness (no light from die to die) for speed; `pathtrace.py` supplies what is
missing here.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from models.training.layout import FACE_AXES, FACE_FRAMES, Die, Pinhole
from models.training.looks import TEXELS, DieLook

_FINE_BELOW_PX = 90
"""Smaller dice get 2 × 2 rays a pixel; on larger ones the pips are many pixels wide anyway."""


@dataclass(slots=True)
class Lamp:
    """A distant light of some width."""

    toward: np.ndarray
    colour: np.ndarray
    spread: float
    """Half its angular width, radians."""


@dataclass(slots=True)
class Light:
    """All the light of a scene."""

    ambient: np.ndarray
    lamps: list[Lamp]
    contact: float
    """Strength of the darkening under and between things, 0..1."""

    @property
    def from_above(self) -> np.ndarray:
        """What falls on a level surface that nothing shades."""
        lamps = (lamp.colour * lamp.toward[2] for lamp in self.lamps)
        return np.asarray(self.ambient + sum(lamps, np.zeros(3)))


@dataclass(slots=True)
class RasterScene:
    """All that a picture is drawn from."""

    dice: list[Die]
    styles: list[DieLook]
    """One for each of `dice`."""
    camera: Pinhole
    light: Light
    floor: np.ndarray
    """Covers [-reach, reach]² of the floor plane."""
    reach: float


def toward(heading: float, height: float) -> np.ndarray:
    """The unit vector with that heading, radians, and that height over the floor, 0..1."""
    flat = np.sqrt(1 - height**2)
    return np.array([flat * np.cos(heading), flat * np.sin(heading), height])


def render(scene: RasterScene) -> np.ndarray:
    """Draw a scene: linear BGR float32."""
    canvas = _floor(scene)
    bounce = np.asarray(scene.floor.mean(axis=(0, 1)), np.float32)
    depth = [float(np.linalg.norm(die.centre - scene.camera.position)) for die in scene.dice]
    for index in np.argsort(depth)[::-1]:
        drawn = _die(scene, scene.dice[index], scene.styles[index], bounce)
        if drawn is not None:
            window, colour, alpha = drawn
            canvas[window] = canvas[window] * (1 - alpha[..., None]) + colour
    return canvas


def _floor(scene: RasterScene) -> np.ndarray:
    """The floor with its shadows, linear float32, the size of the picture."""
    camera, light, floor, reach = scene.camera, scene.light, scene.floor, scene.reach
    cells = 384
    scale = cells / (2 * reach)

    def to_cells(points: np.ndarray) -> np.ndarray:
        return np.asarray((points + reach) * scale * 16, np.int32)

    total = np.zeros((cells, cells, 3), np.float32)
    for lamp in light.lamps:
        mask = np.zeros((cells, cells), np.uint8)
        for die in scene.dice:
            points = die.corners()
            ground = points[:, :2] - lamp.toward[:2] / lamp.toward[2] * points[:, 2:]
            hull = cv2.convexHull(to_cells(ground))
            cv2.fillConvexPoly(mask, hull, 255, cv2.LINE_AA, 4)
        soft = cv2.GaussianBlur(mask, (0, 0), max(0.6, np.tan(lamp.spread) * 0.6 * scale))
        lit = 1 - soft.astype(np.float32) / 255
        total += lit[..., None] * (lamp.colour * lamp.toward[2])
    near = np.zeros((cells, cells), np.float32)
    for die in scene.dice:
        points = die.corners()
        lift = float(np.clip(1 - points[:, 2].min() / die.edge, 0, 1))
        low = points[points[:, 2] < 0.9 * die.edge, :2]
        if len(low) < 3:
            continue
        print_ = np.zeros((cells, cells), np.uint8)
        cv2.fillConvexPoly(print_, cv2.convexHull(to_cells(low)), 255, cv2.LINE_AA, 4)
        near = np.maximum(near, print_.astype(np.float32) / 255 * lift)
    tight = cv2.GaussianBlur(near, (0, 0), max(0.6, 0.08 * scale))
    wide = cv2.GaussianBlur(near, (0, 0), max(0.6, 0.35 * scale))
    total += (1 - light.contact * np.maximum(tight, 0.8 * wide))[..., None] * light.ambient

    ys, xs = np.mgrid[0 : camera.size, 0 : camera.size].astype(np.float32) + 0.5
    rays = camera.rays(xs, ys)
    steps = -camera.position[2] / np.minimum(rays[..., 2], -0.02)
    x = (camera.position[0] + rays[..., 0] * steps).astype(np.float32)
    y = (camera.position[1] + rays[..., 1] * steps).astype(np.float32)
    texels = floor.shape[0] / (2 * reach)
    albedo = cv2.remap(
        floor, (x + reach) * texels - 0.5, (reach - y) * texels - 0.5, cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT,
    )  # fmt: skip
    shone = cv2.remap(
        total, (x + reach) * scale - 0.5, (y + reach) * scale - 0.5, cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    return np.asarray(albedo * shone, np.float32)


def _slabs(rounding: float) -> list[tuple[np.ndarray, float]]:
    """Normals and half widths of the pairs of planes that bound a cube with cut edges."""
    slabs = [(axis, 0.5) for axis in np.eye(3)]
    if rounding > 0.015:
        edge = (0.5 - rounding) * np.sqrt(2) + rounding
        tip = (0.5 - rounding) * np.sqrt(3) + rounding
        for i, j in ((0, 1), (0, 2), (1, 2)):
            for sign in (1, -1):
                normal = np.zeros(3)
                normal[i], normal[j] = 1, sign
                slabs.append((normal / np.sqrt(2), edge))
        for a in (1, -1):
            for b in (1, -1):
                slabs.append((np.array([1, a, b]) / np.sqrt(3), tip))
    return slabs


def _die(
    scene: RasterScene, die: Die, look: DieLook, bounce: np.ndarray
) -> tuple[tuple[slice, slice], np.ndarray, np.ndarray] | None:
    """Window, premultiplied colour and coverage of one die; None if unseen."""
    camera, light = scene.camera, scene.light
    points = camera.project(die.corners())
    x0, y0 = np.maximum(np.floor(points.min(axis=0)).astype(int) - 1, 0)
    x1, y1 = np.ceil(points.max(axis=0)).astype(int) + 1
    x1, y1 = min(int(x1), camera.size), min(int(y1), camera.size)
    if x1 - x0 < 2 or y1 - y0 < 2:
        return None
    fine = 2 if min(x1 - x0, y1 - y0) < _FINE_BELOW_PX else 1
    step = 1 / fine
    ys, xs = np.mgrid[y0:y1:step, x0:x1:step].astype(np.float32) + np.float32(step / 2)
    world = camera.rays(xs, ys)
    world /= np.linalg.norm(world, axis=-1, keepdims=True)
    turn = die.rotation.astype(np.float32)
    ray = world @ turn
    origin = ((camera.position - die.centre) @ die.rotation / die.edge).astype(np.float32)

    enter, leave, on_ball = _enter(ray, origin, look)
    hit = leave > enter
    if not hit.any():
        return None
    at = origin + enter[..., None] * ray
    core = np.float32(0.5 - max(look.rounding, 0.004))
    normal = at - np.clip(at, -core, core)
    normal = np.where(on_ball[..., None], at, normal)
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-6)

    albedo = _painted(die, look.faces, at, cv2.BORDER_REPLICATE)
    albedo = np.where(on_ball[..., None], look.side_albedo, albedo)
    out = normal @ turn.T
    height = die.centre[2] + (at @ turn.T[:, 2]) * die.edge
    colour = _shade(albedo, out, height, scene, bounce, die)
    if look.translucency:
        colour = _see_through(die, look, at, ray, normal, colour, light)
    colour = colour + _mirror(world, out, look, light)

    alpha = _shrink(hit.astype(np.float32), fine)
    premultiplied = _shrink(np.where(hit[..., None], colour, 0).astype(np.float32), fine)
    return (slice(y0, y1), slice(x0, x1)), premultiplied, alpha


def _shrink(rendered: np.ndarray, fine: int) -> np.ndarray:
    if fine == 1:
        return rendered
    size = (rendered.shape[1] // fine, rendered.shape[0] // fine)
    return np.asarray(cv2.resize(rendered, size, interpolation=cv2.INTER_AREA))


def _enter(
    ray: np.ndarray, origin: np.ndarray, look: DieLook
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each ray enters and leaves the body, and whether it enters through the ball."""
    enter = np.full(ray.shape[:2], -np.inf, np.float32)
    leave = np.full(ray.shape[:2], np.inf, np.float32)
    for normal, half in _slabs(look.rounding):
        along = ray @ normal.astype(np.float32)
        along = np.where(np.abs(along) < 1e-6, np.float32(1e-6), along)
        start = np.float32(origin @ normal)
        a, b = (-half - start) / along, (half - start) / along
        enter = np.maximum(enter, np.minimum(a, b))
        leave = np.minimum(leave, np.maximum(a, b))
    if look.ball >= 0.87:
        return enter, leave, np.zeros(ray.shape[:2], bool)
    b = ray @ origin
    under = b * b - np.float32(origin @ origin - look.ball**2)
    root = np.sqrt(np.maximum(under, 0))
    first, last = -b - root, -b + root
    on_ball = first > enter
    enter = np.maximum(enter, first)
    leave = np.where(under > 0, np.minimum(leave, last), -np.inf)
    return enter, leave, on_ball


def _painted(
    die: Die, textures: np.ndarray, at: np.ndarray, border: int = cv2.BORDER_CONSTANT
) -> np.ndarray:
    """What is on the faces (`textures`, by value - 1) at points on the surface, in die coordinates;
    `border`: what OpenCV takes beyond a face's edge."""
    face_of = np.argmax(at @ FACE_AXES.T.astype(np.float32), axis=-1)
    found = np.zeros((*at.shape[:2], *textures.shape[3:]), np.float32)
    for face in np.unique(face_of):
        u, v = FACE_FRAMES[face].astype(np.float32)
        x = ((at @ u + 0.5) * TEXELS - 0.5).astype(np.float32)
        y = ((0.5 - at @ v) * TEXELS - 0.5).astype(np.float32)
        here = face_of == face
        texture = textures[die.values[face] - 1]
        found[here] = cv2.remap(texture, x, y, cv2.INTER_LINEAR, borderMode=border)[here]
    return found


def _shade(
    albedo: np.ndarray, out: np.ndarray, height: np.ndarray, scene: RasterScene, bounce: np.ndarray,
    die: Die,
) -> np.ndarray:  # fmt: skip
    light = scene.light
    up = np.clip(0.5 + 0.5 * out[..., 2], 0, 1)
    low = np.clip(height / die.edge, 0, 1)
    closed = 1 - light.contact * (1 - low) * (1 - up)
    # A neighbour keeps the sky off the side that faces it.
    for other in scene.dice:
        gap = (other.centre - die.centre)[:2]
        distance = float(np.linalg.norm(gap))
        if other is not die and 0.1 < distance < 2.0 * die.edge:
            toward = np.clip((out[..., :2] @ (gap / distance).astype(np.float32)), 0, 1)
            closed = closed * (1 - light.contact * 0.6 * toward * (2 - distance / die.edge) / 1.3)
    closed = np.clip(closed, 0.08, 1)
    total = (up * closed)[..., None] * light.ambient
    total = total + ((1 - up) * 0.5 * closed)[..., None] * bounce * light.from_above
    for lamp in light.lamps:
        facing = out @ lamp.toward.astype(np.float32)
        lit = np.clip((facing + 0.15 * lamp.spread) / (1 + 0.15 * lamp.spread), 0, 1) * closed
        total = total + lit[..., None] * lamp.colour
    return np.asarray(albedo * total, np.float32)


def _see_through(
    die: Die, look: DieLook, at: np.ndarray, ray: np.ndarray, normal: np.ndarray,
    surface: np.ndarray, light: Light,
) -> np.ndarray:  # fmt: skip
    """Tinted glass: what is painted on the far walls shows through the body."""
    glow = look.glow
    bend = np.float32(1 / glow.index)
    cosine = np.clip(-(ray * normal).sum(axis=-1), 0, 1)
    inner = np.sqrt(np.maximum(1 - bend**2 * (1 - cosine**2), 0))
    path = bend * ray + (bend * cosine - inner)[..., None] * normal
    leave = np.full(ray.shape[:2], np.inf, np.float32)
    for axis in range(3):
        along = np.where(np.abs(path[..., axis]) < 1e-6, np.float32(1e-6), path[..., axis])
        leave = np.minimum(leave, np.maximum((-0.5 - at[..., axis]) / along,
                                             (0.5 - at[..., axis]) / along))  # fmt: skip
    far = at + leave[..., None] * path
    marks, own = _painted(die, look.pips, far), _painted(die, look.pips, at)
    rim = np.clip((np.abs(far).max(axis=-1) * 2 - 0.9) * 10, 0, 1)
    near_edge = np.sort(np.abs(far), axis=-1)[..., 1] > 0.44
    level = glow.ground + glow.marks * marks + glow.far_edges * (near_edge * rim)
    if glow.near_edges:
        inside = 0.5 - np.sort(np.abs(at), axis=-1)[..., 1]  # from the face's nearest edge
        level = level + glow.near_edges * np.exp(-np.clip(inside, 0, 1) / glow.near_width)
    if any(glow.slope):
        level = level + ((at + far) / 2) @ np.array(glow.slope, np.float32)
    sky = np.asarray(light.from_above, np.float32)
    through = look.tint * sky * np.clip(level, 0, 1.5)[..., None]
    share = look.translucency * (1 - own)[..., None] * glow.most
    return np.asarray(surface * (1 - share) + through * share, np.float32)


def _mirror(world: np.ndarray, out: np.ndarray, look: DieLook, light: Light) -> np.ndarray:
    cosine = np.clip(-(world * out).sum(axis=-1), 0, 1)
    back = world + 2 * cosine[..., None] * out
    fresnel = look.gloss + (1 - look.gloss) * (1 - cosine) ** 5 * (1 - look.blur)
    total = np.clip(back[..., 2:], 0, 1) * light.ambient * 0.7
    for lamp in light.lamps:
        near = np.clip(back @ lamp.toward.astype(np.float32), -1, 1)
        width = lamp.spread + look.blur
        off = np.arccos(near)
        shape = np.clip((width - off) / (0.5 * look.blur + 0.02), 0, 1)
        strength = 3.0 * (lamp.spread / width) ** 1.2
        total = total + (shape * strength)[..., None] * lamp.colour * 3
    return np.asarray(fresnel[..., None] * total, np.float32)
