"""The exact renderer: path-traced dice from real tosses, with light from die to die.

Owns: Mitsuba scenes, their denoising. Must not know: files, the network. Needs `mitsuba`,
`pyoidn`, and the LLVM 19 library that `DRJIT_LIBLLVM_PATH` names (Debian: `libllvm19`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch

from models.training import floors, looks, tosses
from models.training.layout import FACE_AXES, FACE_FRAMES, Die, DieLabel, Pinhole, label, look_down
from models.training.looks import TEXELS, DieLook
from models.training.optimiser import DEVICE
from models.training.raster import RenderedPicture

_LLVM = Path("/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1")
if _LLVM.exists():
    os.environ.setdefault("DRJIT_LIBLLVM_PATH", str(_LLVM))

import drjit as dr  # noqa: E402
import mitsuba as mi  # noqa: E402 - reads the environment when it is imported
import pyoidn  # noqa: E402

mi.set_variant("cuda_ad_rgb", "llvm_ad_rgb")  # the first that this machine has
dr.set_thread_count(1)

_SAMPLES = 8
"""Rays per pixel: few, because the denoiser does the rest and training adds grain anyway."""
_CHANGING = {
    "data", "value", "alpha", "to_world", "vertex_positions", "vertex_normals",
    "vertex_texcoords", "x_fov",
}  # fmt: skip
"""Parameters that differ from scene to scene; everything else is the same in all of them."""

_DICE, _RIDGES = 5, 3
"""The most of each that a toss has."""


class Studio:
    """Draws pictures of one size."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.floor_kinds: tuple[str, ...] = floors.KINDS
        self.printed, self.domed = 0.12, 0.35
        """Shares of floors that are printed upon, and of compartments under a glass dome."""
        self._stage: Any = None
        self._spares = _buried_dice()

    def random_picture(self, rng: np.random.Generator) -> RenderedPicture:
        """One random scene: everything about it follows from the generator."""
        rest = tosses.rest_worth_drawing(rng)
        spread = max(float(np.linalg.norm(die.centre[:2])) for die in rest.dice) + 0.9
        middle = np.mean([die.centre[:2] for die in rest.dice], axis=0)
        is_whole = rng.random() < 0.4
        view = 2 * (rest.wall_radius * 1.1 if is_whole else min(spread, rest.wall_radius))
        oblique = rng.random()
        tilt = rng.uniform(0, 3) if oblique < 0.7 else rng.uniform(0, 45)
        distance = max(view * float(rng.uniform(1.1, 3.0)), 5.0)
        camera = look_down(self.size, self.size / view, distance, tilt, float(rng.uniform(0, 360)))
        if not is_whole:
            camera.position[:2] += middle * 0.7
        one_style = rng.random() < 0.7
        style = looks.random_look(rng)
        styles = [style if one_style else looks.random_look(rng) for _ in rest.dice]
        scene, notes = self.build(rng, rest, styles, camera, tilt)
        image = _develop(rng, scene, int(rng.integers(2**30)))
        notes |= {"style": style.style if one_style else "mixed", "tilt_deg": f"{tilt:.1f}"}
        return RenderedPicture(image, labels(rest.dice, camera), camera, notes)

    def build(
        self,
        rng: np.random.Generator,
        rest: tosses.RestingDice,
        styles: list[DieLook],
        camera: Pinhole,
        slant_deg: float,
    ) -> tuple[Any, dict[str, str]]:
        """A lit scene, ready to be rendered, and notes on it. `slant_deg`: of the camera."""
        radius = rest.wall_radius
        texture = floors.random_floor(rng, 512, 512 / (2 * radius), self.floor_kinds, self.printed)
        shiny = rng.random() < 0.3
        scene: dict[str, Any] = {
            "type": "scene",
            "integrator": {"type": "path", "max_depth": 6, "rr_depth": 4},
            "floor": {
                "type": "rectangle",
                "to_world": mi.ScalarTransform4f().scale([radius * 1.02, radius * 1.02, 1]),
                "bsdf": _surface(_bitmap(texture), 0.15 if shiny else 0.9),
            },
            "ground": {
                "type": "rectangle",
                "to_world": mi.ScalarTransform4f().translate([0, 0, -0.05]).scale([90, 90, 1]),
                "bsdf": _surface(_plain(looks.random_colour(rng, (0, 0.5), (0.02, 0.6))), None),
            },
        }
        # A wall as high as a real one would hide the dice from a slanting view.
        height = float(rng.uniform(1.5, 5) if slant_deg < 12 else rng.uniform(0.05, 0.5))
        wall = looks.random_colour(rng, (0, 0.7), (0.03, 0.95))
        scene["wall"] = {
            "type": "cylinder", "p0": [0, 0, -0.04], "p1": [0, 0, height], "radius": radius,
            "flip_normals": True,
            "bsdf": {"type": "twosided",
                     "bsdf": _surface(_plain(wall), 0.1 if rng.random() < 0.4 else 0.8)},
        }  # fmt: skip
        bar = looks.random_colour(rng, (0, 0.7), (0.05, 0.9))
        away = np.array([0.0, 0.0])
        spare = tosses.Ridge(away, away + 0.1, 0.05)
        ridges = rest.ridges + [spare] * (_RIDGES - len(rest.ridges))
        for i, ridge in enumerate(ridges):
            depth = 0 if i < len(rest.ridges) else -9
            scene[f"ridge{i}"] = {
                "type": "cylinder", "p0": [*ridge.start, depth],
                "p1": [*ridge.end, depth],
                "radius": ridge.radius,
                "bsdf": {"type": "twosided", "bsdf": _surface(_plain(bar), None)},
            }  # fmt: skip
        # The stage keeps its own meshes, because they will be moved.
        meshes = list(self._spares if self._stage is not None else _buried_dice())
        for i, (die, look) in enumerate(zip(rest.dice, styles, strict=True)):
            slot = i + (_DICE if look.translucency else 0)
            meshes[slot] = _die_mesh(f"die{slot}", die, look)
        scene |= {f"die{slot}": mesh for slot, mesh in enumerate(meshes)}
        has_dome = rng.random() < self.domed
        scene["dome"] = {
            "type": "sphere",
            "center": [0, 0, 0 if has_dome else -60],
            "radius": max(radius * 1.08, height * 0.7),
            "bsdf": {"type": "thindielectric"},
        }
        self.light(rng, scene, camera, radius)
        scene["sensor"] = _sensor(camera)
        notes = {"dome": str(has_dome), "ridges": str(len(rest.ridges))}
        return self._set(mi.load_dict(scene, optimize=False)), notes

    def _set(self, scene: Any) -> Any:
        """The one scene that is ever rendered, changed to look like this one.

        Mitsuba compiles a kernel for every scene that it has not rendered yet, which takes ten
        times as long as the picture; a scene whose numbers change keeps its kernel. So every
        scene has the same list of things, those not needed out of sight.
        """
        if self._stage is None:
            self._stage = scene
            return scene
        old, new = mi.traverse(self._stage), mi.traverse(scene)
        for key in old.keys():  # noqa: SIM118 - iterating yields pairs, as no dict does
            if key.rsplit(".", 1)[-1] in _CHANGING:
                value = new[key]
                # A number that the kernel knows is compiled into it.
                dr.make_opaque(value)
                old[key] = value
        old.update()
        return self._stage

    def light(
        self, rng: np.random.Generator, scene: dict[str, Any], camera: Pinhole, radius: float
    ) -> None:
        """Add a sky, three lamps and a ring of eight, some dark or of two colours in turn."""
        sky = looks.random_colour(rng, (0, 0.2), (0.5, 1.0)) * rng.uniform(0.05, 0.8)
        scene["sky"] = {"type": "constant", "radiance": rgb(sky)}
        lit = int(rng.integers(1, 4))
        for i in range(3):
            heading, reach = rng.uniform(0, 2 * np.pi), rng.uniform(0.2, 2.2) * 12
            at = [reach * np.cos(heading), reach * np.sin(heading), rng.uniform(4.5, 22)]
            wide = float(rng.uniform(0.4, 5))
            while _is_in_the_way(at, wide, camera):
                at[0], at[1] = at[0] + 2 * np.cos(heading), at[1] + 2 * np.sin(heading)
            power = rng.uniform(8, 90) / wide**2 * (1 + reach / 12) * (i < lit)
            scene[f"lamp{i}"] = panel(at, wide, looks.random_colour(rng, (0, 0.2), (1, 1)) * power)
        reach = rng.uniform(0.6, 1.6)
        power = rng.uniform(20, 120) * (rng.random() < 0.5)
        high = max(min(float(camera.position[2]) - 0.3, float(rng.uniform(4, 14))), 3.0)
        dark = int(rng.integers(1, 5)) * (rng.random() < 0.3)
        tones = [looks.random_colour(rng, (0, 0.3), (1, 1)) for _ in range(2)]
        is_mixed = rng.random() < 0.3
        for i in range(8):
            angle = 2 * np.pi * i / 8
            at = [radius * reach * np.cos(angle), radius * reach * np.sin(angle), high]
            scene[f"ring{i}"] = panel(at, 0.18, tones[i % 2 * is_mixed] * power * (i >= dark))


def _is_in_the_way(at: list[float], wide: float, camera: Pinhole) -> bool:
    """True if a lamp's panel, whose back is black, hangs between the camera and the picture."""
    axis = np.array(at) - camera.position
    depth = float(axis @ camera.rotation[2])
    if depth < 0.5:
        return False  # behind the lens, or beside it
    middle = camera.project(np.array([at]))[0]
    reach = 0.75 * wide * camera.focal_px / depth
    beside = np.abs(middle - camera.size / 2)
    return bool((beside < reach + camera.size / 2).all())


def _buried_dice() -> list[Any]:
    """A mesh for every slot, opaque ones first, all out of sight."""
    buried = Die(np.array([0.0, 0.0, -9.0]), np.eye(3), 1.0, (1, 6, 2, 5, 3, 4))
    solid, glass = (
        looks.random_look(np.random.default_rng(0), style) for style in ("white", "translucent")
    )
    return [
        _die_mesh(f"die{slot}", buried, solid if slot < _DICE else glass)
        for slot in range(2 * _DICE)
    ]


def labels(dice: list[Die], camera: Pinhole) -> list[DieLabel]:
    """The truth about each die; visible is what the others and the picture's border leave."""
    owner = np.full((camera.size, camera.size), -1, np.int16)

    def covered(outline: np.ndarray) -> np.ndarray:
        mask = np.zeros(owner.shape, np.uint8)
        cv2.fillConvexPoly(mask, np.round(outline * 16).astype(np.int32), 1, cv2.LINE_8, 4)
        return mask > 0

    depth = [float(np.linalg.norm(die.centre - camera.position)) for die in dice]
    for index in np.argsort(depth)[::-1]:
        hull = cv2.convexHull(camera.project(dice[index].corners()).astype(np.float32))
        owner[covered(hull)] = index
    found = []
    for index, die in enumerate(dice):
        face = camera.project(die.face_corners(die.top_face()))
        whole = max(float(cv2.contourArea(face.astype(np.float32))), 1.0)
        share = min(float((covered(face) & (owner == index)).sum()) / whole, 1.0)
        found.append(label(die, camera, share))
    return found


def place_dice(scene: Any, dice: list[Die], styles: list[DieLook]) -> None:
    """Move the dice of a built scene: a twentieth of what building another one costs."""
    parameters = mi.traverse(scene)
    for i, (die, look) in enumerate(zip(dice, styles, strict=True)):
        vertices, normals, _, _ = _rounded_cube(look.rounding, look.ball)
        name = f"die{i + (_DICE if look.translucency else 0)}."
        _place(parameters, name, die, vertices, normals)
    parameters.update()


def _place(parameters: Any, name: str, die: Die, vertices: np.ndarray, normals: np.ndarray) -> None:
    """Give the mesh whose parameters begin with `name` the pose of a die."""
    world = vertices @ (die.rotation.T * die.edge) + die.centre
    turned = normals @ die.rotation.T
    parameters[f"{name}vertex_positions"] = np.ascontiguousarray(world, np.float32).ravel()
    parameters[f"{name}vertex_normals"] = np.ascontiguousarray(turned, np.float32).ravel()


def trace(scene: Any, samples: int, seed: int) -> np.ndarray:
    """Render with so many rays a pixel and denoise: (H, W, 3) float32, linear, red first."""
    colour = np.array(mi.render(scene, spp=samples, seed=mi.UInt32(seed)), np.float32)[..., :3]
    noisy = torch.from_numpy(np.nan_to_num(colour).clip(0, 40)).to(DEVICE)
    return np.asarray(pyoidn.denoise(noisy, hdr=True).cpu())


def _develop(rng: np.random.Generator, scene: Any, seed: int) -> np.ndarray:
    """Render, denoise, expose: BGR uint8."""
    clean = trace(scene, _SAMPLES, seed)
    # An automatic exposure, as cameras have, a little off.
    grey = clean.mean(axis=2)
    middle = 0.5 * float(np.percentile(grey, 60)) + 0.5 * min(float(grey.mean()), 2.0) + 1e-3
    exposed = clean * (0.25 * np.exp(rng.normal(0, 0.45)) / middle)
    if rng.random() < 0.5:
        exposed = 1 - np.exp(-exposed * 1.2)
    srgb = np.clip(exposed, 0, 1) ** (1 / 2.2)
    return np.ascontiguousarray((srgb[..., ::-1] * 255 + 0.5).astype(np.uint8))


def rgb(bgr: np.ndarray) -> dict[str, Any]:
    """A colour as Mitsuba takes it."""
    return {"type": "rgb", "value": [float(bgr[2]), float(bgr[1]), float(bgr[0])]}


def _plain(bgr: np.ndarray) -> dict[str, Any]:
    return rgb(np.clip(bgr, 0.01, 0.97))


def _bitmap(bgr: np.ndarray) -> dict[str, Any]:
    rgb = np.ascontiguousarray(bgr[..., ::-1], np.float32)
    return {"type": "bitmap", "bitmap": mi.Bitmap(rgb), "raw": True, "filter_type": "bilinear"}


def _surface(colour: dict[str, Any], roughness: float | None) -> dict[str, Any]:
    if roughness is None:
        return {"type": "diffuse", "reflectance": colour}
    return {
        "type": "roughplastic", "diffuse_reflectance": colour, "alpha": roughness,
        "nonlinear": False,
    }  # fmt: skip


def panel(at: list[float], wide: float, bgr: np.ndarray) -> dict[str, Any]:
    """A square lamp that faces the middle of the floor."""
    place = mi.ScalarTransform4f().look_at(origin=at, target=[0, 0, 0], up=[0.1, 1, 0])
    return {
        "type": "rectangle",
        "to_world": place @ mi.ScalarTransform4f().scale([wide / 2, wide / 2, 1]),
        "emitter": {"type": "area", "radiance": rgb(bgr)},
    }


def _sensor(camera: Pinhole) -> dict[str, Any]:
    _, down, forward = camera.rotation
    place = mi.ScalarTransform4f().look_at(
        origin=camera.position.tolist(),
        target=(camera.position + forward).tolist(),
        up=(-down).tolist(),
    )
    return {
        "type": "perspective",
        "fov_axis": "x",
        "fov": float(np.degrees(2 * np.arctan(camera.size / 2 / camera.focal_px))),
        "to_world": place,
        "film": {
            "type": "hdrfilm", "width": camera.size, "height": camera.size,
            "rfilter": {"type": "box"}, "pixel_format": "rgb", "component_format": "float32",
        },
        "sampler": {"type": "independent"},
    }  # fmt: skip


def _die_mesh(name: str, die: Die, look: DieLook) -> Any:
    """A rounded cube with its six faces in one texture, three by two."""
    vertices, normals, texture_at, triangles = _rounded_cube(look.rounding, look.ball)
    atlas = np.zeros((2 * TEXELS, 3 * TEXELS, 3), np.float32)
    mask = np.zeros((2 * TEXELS, 3 * TEXELS, 1), np.float32)
    for face in range(6):
        row, column = divmod(face, 3)
        window = np.s_[row * TEXELS : (row + 1) * TEXELS, column * TEXELS : (column + 1) * TEXELS]
        atlas[window] = look.faces[die.values[face] - 1]
        mask[window][..., 0] = look.pips[die.values[face] - 1]
    if look.translucency:
        tint = np.clip(look.tint, 0.02, 1) ** 0.5
        bsdf: dict[str, Any] = {
            "type": "blendbsdf",
            "weight": {"type": "bitmap", "bitmap": mi.Bitmap(mask), "raw": True},
            "glass": {"type": "dielectric", "int_ior": 1.49, "specular_transmittance": rgb(tint)},
            "pip": {"type": "twosided", "bsdf": _surface(_bitmap(atlas), None)},
        }
    else:
        bsdf = _surface(_bitmap(atlas), max(look.blur, 0.04))
    properties = mi.Properties()
    properties["bsdf"] = mi.load_dict(bsdf)
    mesh = mi.Mesh(
        name, len(vertices), len(triangles), has_vertex_normals=True, has_vertex_texcoords=True,
        props=properties,
    )  # fmt: skip
    parameters = mi.traverse(mesh)
    _place(parameters, "", die, vertices, normals)
    parameters["vertex_texcoords"] = np.ascontiguousarray(texture_at, np.float32).ravel()
    parameters["faces"] = np.ascontiguousarray(triangles, np.uint32).ravel()
    parameters.update()
    return mesh


def _rounded_cube(
    rounding: float, ball: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Vertices, normals, texture places and triangles of a unit die."""
    core = 0.5 - rounding
    bend = np.sin(np.linspace(0, np.pi / 4, 5)) / np.sin(np.pi / 4)
    ticks = np.concatenate(
        [-core - rounding * bend[:0:-1], np.linspace(-core, core, 15), core + rounding * bend[1:]]
    )
    n = len(ticks)
    u, v = (grid.ravel() for grid in np.meshgrid(ticks, ticks))
    quads = np.arange(n * n).reshape(n, n)
    a, b, c, d = (
        q.ravel() for q in (quads[:-1, :-1], quads[:-1, 1:], quads[1:, 1:], quads[1:, :-1])
    )
    one = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    vertices: list[np.ndarray] = []
    normals: list[np.ndarray] = []
    texture_at: list[np.ndarray] = []
    triangles: list[np.ndarray] = []
    for face in range(6):
        along, across = FACE_FRAMES[face]
        cube = u[:, None] * along + v[:, None] * across + 0.5 * FACE_AXES[face]
        inner = np.clip(cube, -core, core)
        normal = cube - inner
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
        point = inner + rounding * normal
        far = np.linalg.norm(point, axis=1, keepdims=True)
        is_cut = far > ball
        normal = np.where(is_cut, point / far, normal)
        point = np.where(is_cut, point / far * ball, point)
        row, column = divmod(face, 3)
        x = (column + 0.5 + point @ along * 0.998) / 3
        y = (row + 0.5 - point @ across * 0.998) / 2
        triangles.append(one + len(vertices) * n * n)
        vertices.append(point)
        normals.append(normal)
        texture_at.append(np.stack([x, y], 1))
    return (
        np.concatenate(vertices), np.concatenate(normals), np.concatenate(texture_at),
        np.concatenate(triangles),
    )  # fmt: skip
