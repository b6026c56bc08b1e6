"""The fast renderer: rays against rounded cubes, on NumPy, some 20 pictures a second.

Owns: light, shadow and reflection good enough for variety, and the count of visible pixels that
the labels need. Must not know: where poses come from, files. It trades exactness (no light from
die to die) for speed; `pathtrace.py` supplies what is missing here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from models.training import arrange, floors, looks, tosses
from models.training.layout import (
    FACE_AXES,
    FACE_FRAMES,
    Camera,
    Die,
    DieLabel,
    label,
    look_down,
    share_inside,
)
from models.training.looks import TEXELS, DieLook

_FINE_BELOW_PX = 90
"""Smaller dice get 2 × 2 rays a pixel; on larger ones the pips are many pixels wide anyway."""


_COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 14)
_COUNT_SHARES = (0.03, 0.07, 0.09, 0.25, 0.13, 0.12, 0.11, 0.09, 0.07, 0.04)
"""How many dice a scene has: three most often, none sometimes."""


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


@dataclass(slots=True)
class Picture:
    """A rendered scene: BGR uint8 and what it shows."""

    image: np.ndarray
    labels: list[DieLabel]
    camera: Camera
    notes: dict[str, str] = field(default_factory=dict)
    calibration: dict[str, Any] | None = None
    """Of the camera, as a table's settings have it, where the picture is of a table."""


def toward(heading: float, height: float) -> np.ndarray:
    """The unit vector with that heading, radians, and that height over the floor, 0..1."""
    flat = np.sqrt(1 - height**2)
    return np.array([flat * np.cos(heading), flat * np.sin(heading), height])


def random_light(rng: np.random.Generator) -> Light:
    """Between a cloudy sky and a single hard lamp."""
    lamps = []
    for _ in range(rng.integers(1, 4)):
        height = rng.uniform(0.35, 1.0)
        heading = rng.uniform(0, 2 * np.pi)
        lamps.append(
            Lamp(
                toward=toward(heading, height),
                colour=looks.random_colour(rng, (0, 0.25), (0.6, 1.0)) * rng.uniform(0.2, 0.9),
                spread=float(rng.uniform(0.03, 0.45)),
            )
        )
    ambient = looks.random_colour(rng, (0, 0.15), (0.6, 1.0)) * rng.uniform(0.2, 0.9)
    return Light(ambient, lamps, float(rng.uniform(0.3, 0.85)))


def render(
    rng: np.random.Generator,
    dice: list[Die],
    styles: list[DieLook],
    camera: Camera,
    light: Light,
    floor: np.ndarray,
    reach: float,
    strangers: int = 0,
) -> Picture:
    """Draw the dice; the last `strangers` of them are things that are not dice.

    `floor` covers [-reach, reach]² of the floor plane.
    """
    canvas = _floor(camera, dice, light, floor, reach)
    owner = np.full(canvas.shape[:2], -1, np.int16)
    tops: list[tuple[np.ndarray, tuple[slice, slice]] | None] = [None] * len(dice)
    bounce = np.asarray(floor.mean(axis=(0, 1)), np.float32)
    depth = [float(np.linalg.norm(die.centre - camera.position)) for die in dice]
    for index in np.argsort(depth)[::-1]:
        drawn = _die(dice[index], styles[index], camera, light, bounce, dice)
        if drawn is None:
            continue
        window, colour, alpha, top = drawn
        canvas[window] = canvas[window] * (1 - alpha[..., None]) + colour
        owner[window][alpha > 0.5] = index
        tops[index] = (top, window)
    labels = []
    for index, die in enumerate(dice[: len(dice) - strangers]):
        visible = 0.0
        seen = tops[index]
        if seen is not None:
            mask, window = seen
            shown = float((mask & (owner[window] == index)).sum())
            face = camera.project(die.face_corners(die.top_face()))
            visible = shown / max(float(mask.sum()), 1.0)
            visible *= share_inside(face, camera.size)
        labels.append(label(die, camera, visible))
    tone = np.clip(canvas, 0, 1) ** np.float32(1 / 2.2)
    return Picture((tone * 255 + 0.5).astype(np.uint8), labels, camera)


def _floor(
    camera: Camera, dice: list[Die], light: Light, floor: np.ndarray, reach: float
) -> np.ndarray:
    """The floor with its shadows, linear float32, the size of the picture."""
    cells = 384
    scale = cells / (2 * reach)

    def to_cells(points: np.ndarray) -> np.ndarray:
        return np.asarray((points + reach) * scale * 16, np.int32)

    total = np.zeros((cells, cells, 3), np.float32)
    for lamp in light.lamps:
        mask = np.zeros((cells, cells), np.uint8)
        for die in dice:
            points = die.corners()
            ground = points[:, :2] - lamp.toward[:2] / lamp.toward[2] * points[:, 2:]
            hull = cv2.convexHull(to_cells(ground))
            cv2.fillConvexPoly(mask, hull, 255, cv2.LINE_AA, 4)
        soft = cv2.GaussianBlur(mask, (0, 0), max(0.6, np.tan(lamp.spread) * 0.6 * scale))
        lit = 1 - soft.astype(np.float32) / 255
        total += lit[..., None] * (lamp.colour * lamp.toward[2])
    near = np.zeros((cells, cells), np.float32)
    for die in dice:
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
    die: Die, look: DieLook, camera: Camera, light: Light, bounce: np.ndarray, dice: list[Die]
) -> tuple[tuple[slice, slice], np.ndarray, np.ndarray, np.ndarray] | None:
    """Window, premultiplied colour, coverage and top-face mask of one die; None if unseen."""
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

    albedo, _ = _paint(die, look, at)
    albedo = np.where(on_ball[..., None], look.side_albedo, albedo)
    out = normal @ turn.T
    height = die.centre[2] + (at @ turn.T[:, 2]) * die.edge
    colour = _shade(albedo, out, height, light, bounce, die, dice)
    if look.translucency:
        colour = _see_through(die, look, at, ray, normal, colour, light, on_ball)
    colour = colour + _mirror(world, out, look, light)

    top = die.top_face()
    facing = np.argmax(at @ FACE_AXES.T.astype(np.float32), axis=-1) == top
    alpha = _shrink(hit.astype(np.float32), fine)
    premultiplied = _shrink(np.where(hit[..., None], colour, 0).astype(np.float32), fine)
    top_mask = _shrink((hit & facing & ~on_ball).astype(np.float32), fine) > 0.5
    return (slice(y0, y1), slice(x0, x1)), premultiplied, alpha, top_mask


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


def _paint(die: Die, look: DieLook, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Albedo and pip coverage at points on the surface, in die coordinates."""
    face_of = np.argmax(at @ FACE_AXES.T.astype(np.float32), axis=-1)
    albedo = np.zeros((*at.shape[:2], 3), np.float32)
    pips = np.zeros(at.shape[:2], np.float32)
    for face in np.unique(face_of):
        u, v = FACE_FRAMES[face].astype(np.float32)
        x = ((at @ u + 0.5) * TEXELS - 0.5).astype(np.float32)
        y = ((0.5 - at @ v) * TEXELS - 0.5).astype(np.float32)
        here = face_of == face
        which = die.values[face] - 1
        painted = cv2.remap(
            look.faces[which], x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        albedo[here] = painted[here]
        if look.translucency:
            marks = cv2.remap(look.pips[which], x, y, cv2.INTER_LINEAR)
            pips[here] = marks[here]
    return albedo, pips


def _shade(
    albedo: np.ndarray,
    out: np.ndarray,
    height: np.ndarray,
    light: Light,
    bounce: np.ndarray,
    die: Die,
    dice: list[Die],
) -> np.ndarray:
    up = np.clip(0.5 + 0.5 * out[..., 2], 0, 1)
    low = np.clip(height / die.edge, 0, 1)
    closed = 1 - light.contact * (1 - low) * (1 - up)
    # A neighbour keeps the sky off the side that faces it.
    for other in dice:
        gap = (other.centre - die.centre)[:2]
        distance = float(np.linalg.norm(gap))
        if other is not die and 0.1 < distance < 2.0 * die.edge:
            toward = np.clip((out[..., :2] @ (gap / distance).astype(np.float32)), 0, 1)
            closed = closed * (1 - light.contact * 0.6 * toward * (2 - distance / die.edge) / 1.3)
    closed = np.clip(closed, 0.08, 1)
    total = (up * closed)[..., None] * light.ambient
    sky = np.asarray(light.ambient + sum((x.colour * x.toward[2] for x in light.lamps), 0.0))
    total = total + ((1 - up) * 0.5 * closed)[..., None] * bounce * sky
    for lamp in light.lamps:
        facing = out @ lamp.toward.astype(np.float32)
        lit = np.clip((facing + 0.15 * lamp.spread) / (1 + 0.15 * lamp.spread), 0, 1) * closed
        total = total + lit[..., None] * lamp.colour
    return np.asarray(albedo * total, np.float32)


def _see_through(
    die: Die,
    look: DieLook,
    at: np.ndarray,
    ray: np.ndarray,
    normal: np.ndarray,
    surface: np.ndarray,
    light: Light,
    on_ball: np.ndarray,
) -> np.ndarray:
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
    _, marks = _paint(die, look, far)
    _, own = _paint(die, look, at)
    sky = light.ambient + sum((x.colour * x.toward[2] for x in light.lamps), np.zeros(3))
    rim = np.clip((np.abs(far).max(axis=-1) * 2 - 0.9) * 10, 0, 1)
    near_edge = np.sort(np.abs(far), axis=-1)[..., 1] > 0.44
    level = glow.ground + glow.marks * marks + glow.far_edges * (near_edge * rim)
    if glow.near_edges:
        inside = 0.5 - np.sort(np.abs(at), axis=-1)[..., 1]  # from the face's nearest edge
        level = level + glow.near_edges * np.exp(-np.clip(inside, 0, 1) / glow.near_width)
    if any(glow.slope):
        level = level + ((at + far) / 2) @ np.array(glow.slope, np.float32)
    through = look.tint * np.asarray(sky, np.float32) * np.clip(level, 0, 1.5)[..., None]
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


def random_picture(rng: np.random.Generator, size: int, held_out: bool = False) -> Picture:
    """One random scene: everything about it follows from the generator.

    `held_out` scenes use the floors, and half of them the dice, that training never shows.
    """
    count = int(rng.choice(_COUNTS, p=_COUNT_SHARES))
    px_per_edge = pixels_per_edge(rng, size, count, 34, min(190, size / 2.2))
    view = size / px_per_edge / 2
    oblique = rng.random()
    tilt = rng.uniform(0, 4) if oblique < 0.5 else rng.uniform(0, 25)
    if oblique > 0.82:
        tilt = rng.uniform(20, 52)
    camera = near_camera(rng, size, px_per_edge, tilt, bent=0.4)
    cocked = float(rng.choice([0.0, 0.35, 0.8], p=[0.45, 0.35, 0.2]))
    dice = arrange.arrange(rng, count, max(view * 0.95, 0.7), cocked, rng.random() < 0.25)
    one_style = rng.random() < 0.5
    unseen = looks.HELD_OUT_STYLES[0] if held_out and rng.random() < 0.5 else None
    style = looks.random_look(rng, unseen)
    styles = [style if one_style else looks.random_look(rng, unseen) for _ in dice]
    reach = float(view * (1.3 if tilt < 25 else 2.0) + 0.8)
    kinds = floors.HELD_OUT_KINDS if held_out else floors.KINDS
    floor = floors.random_floor(rng, 640, 640 / (2 * reach), kinds)
    if rng.random() < 0.4:
        floors.clutter(rng, floor, 640 / (2 * reach))
    if rng.random() < 0.35:
        floors.surround(rng, floor, 640 / (2 * reach), view * rng.uniform(0.9, 1.15))
    strangers = add_strangers(rng, dice, styles, view, chance=0.12, largest=1.6)
    picture = render(rng, dice, styles, camera, random_light(rng), floor, reach, strangers)
    picture.notes["style"] = style.style if one_style else "mixed"
    picture.notes["tilt_deg"] = f"{tilt:.1f}"
    return picture


def add_strangers(
    rng: np.random.Generator,
    dice: list[Die],
    styles: list[DieLook],
    view: float,
    chance: float,
    largest: float,
) -> int:
    """Lay one or two blank blocks beside the dice, with that chance: things that are no dice.

    Their edges are 0.4 to `largest` dice, their places within `view` (edges) of the middle. They
    are appended to `dice` and `styles`; returned is how many found a free place.
    """
    if rng.random() >= chance:
        return 0
    strangers = 0
    for _ in range(rng.integers(1, 3)):
        block = arrange.flat_die(rng, float(rng.uniform(0.4, largest)), (1, 6, 2, 5, 3, 4))
        block.centre[:2] = rng.uniform(-view, view, 2)
        if not any(arrange.overlap(block, die) for die in dice):
            dice.append(block)
            styles.append(looks.blank_look(rng))
            strangers += 1
    return strangers


def table_picture(rng: np.random.Generator, size: int, held_out: bool = False) -> Picture:
    """A tossed compartment from straight above, as the table's camera sees it."""
    rest = tosses.rest_worth_drawing(rng)
    radius = rest.wall_radius
    view = max(2 * radius * float(rng.uniform(0.85, 1.3)), size / 120)
    camera = table_camera(rng, size, view, radius, nearest=12)
    unseen = looks.HELD_OUT_STYLES[0] if held_out and rng.random() < 0.5 else None
    style = looks.random_look(rng, unseen)
    is_set = rng.random() < 0.75
    styles = [style if is_set else looks.random_look(rng, unseen) for _ in rest.dice]
    reach = float(view * 0.75 + 1.0)
    texels = 640 / (2 * reach)
    kinds = floors.HELD_OUT_KINDS if held_out else floors.KINDS
    floor = floors.random_floor(rng, 640, texels, kinds)
    floors.surround(rng, floor, texels, radius)
    draw_ridges(rng, floor, rest.ridges, reach)
    picture = render(rng, rest.dice, styles, camera, random_light(rng), floor, reach)
    picture.notes |= {"style": style.style if is_set else "mixed", "ridges": str(len(rest.ridges))}
    return picture


def draw_ridges(
    rng: np.random.Generator, floor: np.ndarray, ridges: list[tosses.Ridge], reach: float
) -> None:
    """Draw bars in one colour upon a floor that covers [-reach, reach]², in place."""
    texels = floor.shape[0] / (2 * reach)
    colour = looks.random_colour(rng, (0, 0.7), (0.05, 0.9)).tolist()
    for ridge in ridges:
        start, end = (
            (int((x + reach) * texels), int((reach - y) * texels))
            for x, y in (ridge.start, ridge.end)
        )
        thick = max(int(2 * ridge.radius * texels), 1)
        cv2.line(floor, start, end, colour, thick, cv2.LINE_AA)


def pixels_per_edge(
    rng: np.random.Generator, size: int, count: int, smallest: float, largest: float
) -> float:
    """Of dice of any size between two, but so that as many as `count` have room in the picture.

    Where the room decides it is NumPy's float64, and the picture is computed in double precision:
    sets of scenes come out byte by byte as before only so.
    """
    px_per_edge = float(np.exp(rng.uniform(np.log(smallest), np.log(largest))))
    return min(px_per_edge, size / (0.6 + 0.9 * np.sqrt(max(count, 1))))


def near_camera(
    rng: np.random.Generator, size: int, px_per_edge: float, tilt: float, bent: float
) -> Camera:
    """A camera at a random distance; `bent`: the share of lenses that are not straight."""
    distance = max(size / px_per_edge * float(rng.uniform(0.9, 3.0)), 4.0)
    k = float(rng.uniform(-0.05, 0.25)) if bent and rng.random() < bent else 0.0
    return look_down(size, px_per_edge, distance, tilt, float(rng.uniform(0, 360)), k)


def table_camera(
    rng: np.random.Generator, size: int, view: float, radius: float, nearest: float
) -> Camera:
    """A camera over a compartment of that radius, `view` edges wide; not quite in the middle."""
    camera = look_down(
        size, size / view, float(rng.uniform(nearest, 26)), float(rng.uniform(0, 2.5)),
        float(rng.uniform(0, 360)), float(rng.uniform(-0.03, 0.2)) if rng.random() < 0.4 else 0.0,
    )  # fmt: skip
    camera.position[:2] += rng.uniform(-0.25, 0.25, 2) * radius
    return camera
