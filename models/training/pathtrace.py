"""The exact renderer: path-traced dice from real tosses, with light from die to die.

Owns: Mitsuba scenes, their denoising. Must not know: files, the network. Needs `mitsuba`,
`pyoidn`, and the LLVM 19 library that `DRJIT_LIBLLVM_PATH` names (Debian: `libllvm19`).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from models.training import floors, tosses
from models.training.colours import random_colour
from models.training.layout import FACE_AXES, FACE_FRAMES, Die, Pinhole
from models.training.looks import TEXELS, DieLook
from models.training.optimiser import DEVICE
from models.training.table_shots import PATTERNED, VARIED, WILD, Setting

_LLVM = Path("/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1")
if _LLVM.exists():
    os.environ.setdefault("DRJIT_LIBLLVM_PATH", str(_LLVM))

import drjit as dr  # noqa: E402
import mitsuba as mi  # noqa: E402 - reads the environment when it is imported
import pyoidn  # noqa: E402

mi.set_variant("cuda_ad_rgb", "llvm_ad_rgb")  # the first that this machine has
dr.set_thread_count(1)

_SAMPLES = 3
"""Rays a pixel: the denoiser leaves nothing of their noise, and a picture then costs a quarter of a
second instead of one and a half."""
_PRINTED = 0.25
"""Share of floors that are printed upon."""
_DOMED, _OFTEN_DOMED = 0.15, 0.4
"""Shares of compartments under a glass dome."""


class Studio:
    """Draws tables of one size, with the options of `table_shots`."""

    bends: ClassVar[bool] = False

    def __init__(self, options: frozenset[str]) -> None:
        self._printed = _PRINTED if options & {PATTERNED, WILD} else 0.0
        self._domed = _OFTEN_DOMED if options & {VARIED, WILD} else _DOMED

    def begin(
        self, rng: np.random.Generator, setting: Setting, rest: tosses.RestingDice
    ) -> dict[str, str]:
        """See `table_shots.Painter`."""
        self._looks = setting.dice
        self._scene, notes = self._build(rng, setting, rest)
        return notes

    def draw(self, rng: np.random.Generator, rest: tosses.RestingDice) -> np.ndarray:
        """Render and denoise: (H, W, 3) float32, linear BGR."""
        _place_dice(self._scene, rest.dice, self._looks)
        seed = mi.UInt32(int(rng.integers(2**30)))
        colour = np.array(mi.render(self._scene, spp=_SAMPLES, seed=seed), np.float32)[..., :3]
        noisy = torch.from_numpy(np.nan_to_num(colour).clip(0, 40)).to(DEVICE)
        clean = np.asarray(pyoidn.denoise(noisy, hdr=True).cpu())
        return np.ascontiguousarray(clean[..., ::-1])

    def _build(
        self, rng: np.random.Generator, setting: Setting, rest: tosses.RestingDice
    ) -> tuple[Any, dict[str, str]]:
        """A lit scene, ready to be rendered, and notes on it."""
        radius, camera = setting.radius, setting.camera
        kinds = (setting.floor_kind,)
        texture = floors.random_floor(rng, 512, 512 / (2 * radius), kinds, self._printed)
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
                "bsdf": _surface(_plain(random_colour(rng, (0, 0.5), (0.02, 0.6))), None),
            },
        }
        height = float(rng.uniform(1.5, 5))
        wall = random_colour(rng, (0, 0.7), (0.03, 0.95))
        scene["wall"] = {
            "type": "cylinder", "p0": [0, 0, -0.04], "p1": [0, 0, height], "radius": radius,
            "flip_normals": True,
            "bsdf": {"type": "twosided",
                     "bsdf": _surface(_plain(wall), 0.1 if rng.random() < 0.4 else 0.8)},
        }  # fmt: skip
        bar = random_colour(rng, (0, 0.7), (0.05, 0.9))
        for i, ridge in enumerate(rest.ridges):
            scene[f"ridge{i}"] = {
                "type": "cylinder", "p0": [*ridge.start, 0], "p1": [*ridge.end, 0],
                "radius": ridge.radius,
                "bsdf": {"type": "twosided", "bsdf": _surface(_plain(bar), None)},
            }  # fmt: skip
        for i, (die, look) in enumerate(zip(rest.dice, setting.dice, strict=True)):
            scene[f"die{i}"] = _die_mesh(f"die{i}", die, look)
        has_dome = rng.random() < self._domed
        if has_dome:
            scene["dome"] = {
                "type": "sphere", "radius": max(radius * 1.08, height * 0.7),
                "bsdf": {"type": "thindielectric"},
            }  # fmt: skip
        self._light(rng, scene, camera, radius)
        scene["sensor"] = _sensor(camera)
        notes = {"dome": str(has_dome), "ridges": str(len(rest.ridges))}
        return mi.load_dict(scene, optimize=False), notes

    def _light(
        self, rng: np.random.Generator, scene: dict[str, Any], camera: Pinhole, radius: float
    ) -> None:
        """Add a sky, three lamps and a ring of eight, some dark or of two colours in turn."""
        sky = random_colour(rng, (0, 0.2), (0.5, 1.0)) * rng.uniform(0.05, 0.8)
        scene["sky"] = {"type": "constant", "radiance": rgb(sky)}
        for i in range(rng.integers(1, 4)):
            heading, reach = rng.uniform(0, 2 * np.pi), rng.uniform(0.2, 2.2) * 12
            at = [reach * np.cos(heading), reach * np.sin(heading), rng.uniform(4.5, 22)]
            wide = float(rng.uniform(0.4, 5))
            while _is_in_the_way(at, wide, camera):
                at[0], at[1] = at[0] + 2 * np.cos(heading), at[1] + 2 * np.sin(heading)
            power = rng.uniform(8, 90) / wide**2 * (1 + reach / 12)
            scene[f"lamp{i}"] = panel(at, wide, random_colour(rng, (0, 0.2), (1, 1)) * power)
        reach = rng.uniform(0.6, 1.6)
        power = rng.uniform(20, 120) * (rng.random() < 0.5)
        high = max(min(float(camera.position[2]) - 0.3, float(rng.uniform(4, 14))), 3.0)
        dark = int(rng.integers(1, 5)) * (rng.random() < 0.3)
        tones = [random_colour(rng, (0, 0.3), (1, 1)) for _ in range(2)]
        is_mixed = rng.random() < 0.3
        for i in range(dark, 8 if power else dark):
            angle = 2 * np.pi * i / 8
            at = [radius * reach * np.cos(angle), radius * reach * np.sin(angle), high]
            scene[f"ring{i}"] = panel(at, 0.18, tones[i % 2 * is_mixed] * power)


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


def _place_dice(scene: Any, dice: list[Die], styles: list[DieLook]) -> None:
    """Move the dice of a built scene: a twentieth of what building another one costs."""
    parameters = mi.traverse(scene)
    for i, (die, look) in enumerate(zip(dice, styles, strict=True)):
        vertices, normals, _, _ = _rounded_cube(look.rounding, look.ball)
        _place(parameters, f"die{i}.", die, vertices, normals)
    parameters.update()


def _place(parameters: Any, name: str, die: Die, vertices: np.ndarray, normals: np.ndarray) -> None:
    """Give the mesh whose parameters begin with `name` the pose of a die."""
    world = vertices @ (die.rotation.T * die.edge) + die.centre
    turned = normals @ die.rotation.T
    parameters[f"{name}vertex_positions"] = np.ascontiguousarray(world, np.float32).ravel()
    parameters[f"{name}vertex_normals"] = np.ascontiguousarray(turned, np.float32).ravel()


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
