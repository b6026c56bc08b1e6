"""Specks and highlights on dice and dome: `python -m hil_tests.reader specks [FOLDER...]`.

Owns: seeded discs of 0.3 to 2.0 mm radius, dark and bright, sharp and soft, on the pictures of flat
tosses, of the rig or in sets of calibrated shots, and the count of what was verified wrongly: per
cell of place, brightness, size and kind of dice, because a mean hides the one that is wrong. The
same pictures without a disc are counted beside, so that what the check costs is seen. Each result
is a line in `var/specks`; a stopped run goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hil_tests.reader.cases import Case, rows, scene_cases, toss_case
from hil_tests.reader.kept import contents_of, digest_of, results
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import MAX_FRAMES, has_wrong, read_still, readers, said
from hil_tests.reader.picture_damage import disc, with_grain
from hil_tests.reader.samples import RIG, STEREO
from hil_tests.reader.tosses import Toss, flat_tosses, level_axes
from hil_tests.rig.plant.looks import pip_places
from vision.networks.classifier import DieFinder
from vision.table.reader import TableReader

RADII_MM = (0.3, 2.0)
PLACES = ("centre", "empty place", "pip", "random", "dome")
SHADES = ("dark", "bright")
_COVERS_MM = 1.3
"""Radius from which a disc covers a pip of the rig's dice, or passes for one."""
_DOME_MM = 60.0
"""Height of the dome over the floor, where two lenses see it at different places."""
_POOL = 12
"""Tosses of each compartment that the cases show in turn."""


def place_on_face(kind: str, value: int, random: np.random.Generator) -> tuple[float, float]:
    """Where a disc lies on a top face that shows `value`, in edges from its middle."""
    if kind == "random":
        u, v = random.uniform(-0.5, 0.5, 2)
        return float(u), float(v)
    if kind == "centre":
        return 0.0, 0.0
    places = pip_places(value, are_empty=kind == "empty place")
    return places[int(random.integers(len(places)))]


def place_on_dome(random: np.random.Generator) -> tuple[float, float]:
    """Where a disc lies over the floor, mm from its middle."""
    reach, turn = 30.0 * np.sqrt(random.random()), random.uniform(0, 2 * np.pi)
    return reach * np.cos(turn), reach * np.sin(turn)


def place_mm(kind: str, toss: Toss, die_mm: float, random: np.random.Generator) -> np.ndarray:
    """(3,) mm: where a disc lies on the top face of one die of the rig, or anywhere over it."""
    die = int(random.integers(3))
    if kind == "dome":
        return np.array([*place_on_dome(random), die_mm])
    top = toss.position_mm[die] + (0.0, 0.0, die_mm / 2)
    level = level_axes(toss.rotation[die])
    u, v = place_on_face(kind, toss.dice[die].value, random)
    scatter = random.normal(0, 0.1, 2)
    at = np.asarray(top + level[0] * (u * die_mm + scatter[0]) + level[1] * (v * die_mm))
    return at + level[1] * scatter[1]


@dataclass(frozen=True, slots=True)
class Disc:
    """How a disc looks."""

    radius_mm: float
    is_dark: bool
    grey: float
    soft_px: float


def some_disc(random: np.random.Generator, shade: str | None = None) -> Disc:
    """Another disc, dark as often as bright if no `shade` is asked for."""
    radius_mm = float(random.uniform(*RADII_MM))
    is_dark = bool(random.random() < 0.5) if shade is None else shade == "dark"
    grey = float(random.uniform(5, 70) if is_dark else random.uniform(190, 255))
    return Disc(radius_mm, is_dark, grey, float(random.choice([0.5, 1.0, 1.5, 3.0, 5.0])))


def shots(folders: Sequence[Path]) -> list[tuple[Case, list[dict[str, Any]]]]:
    """The flat tosses in sets of calibrated shots, whose dice are wholly in sight, with the labels
    of their dice."""
    found = []
    for folder in folders:
        labels = [row["dice"] for _, row in rows(folder)]
        found += [
            (case, labels[case.number])
            for case in scene_cases(folder, set())
            if case.truth == "flat" and case.is_visible
        ]
    return found


def place_in_shot(
    case: Case, labels: Sequence[dict[str, Any]], kind: str, random: np.random.Generator
) -> np.ndarray:
    """(1, 2) pixels: a place for a disc in a shot."""
    calibration, label = case.calibration, labels[int(random.integers(len(labels)))]
    if kind == "dome":
        return calibration.to_px(np.array([*place_on_dome(random), calibration.die_mm]))
    a, b, c, d = np.array(label["corners"], float) - 0.5
    u, v = place_on_face(kind, label["value"], random)
    scatter = random.normal(0, 0.1, 2) / calibration.die_mm
    x, y = np.array([u, v]) + scatter + 0.5
    at = (1 - y) * ((1 - x) * a + x * b) + y * ((1 - x) * d + x * c)
    return np.asarray(at)[None]


def main(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Sets of calibrated shots, instead of the rig's tosses.", show_default=False
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Cases.")] = 200,
    seed: Seed = 1,
    place: Annotated[
        list[str] | None, typer.Option(help=f"Only at this place: {', '.join(PLACES)}.")
    ] = None,
    shade: Annotated[str | None, typer.Option(help=f"Only {' or '.join(SHADES)}.")] = None,
    stereo: Annotated[bool, typer.Option(help="The rig's tosses before a stereo camera.")] = False,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("var/specks"),
) -> None:
    """Count what specks and highlights make wrong; status 1 if anything is."""
    places = place or PLACES
    if set(places) - set(PLACES) or shade not in (None, *SHADES):
        raise typer.BadParameter(f"places: {', '.join(PLACES)}; shades: {', '.join(SHADES)}")
    finder = DieFinder(model)
    reader_of = readers(finder)
    sample = STEREO if stereo else RIG
    names = list(sample.compartments)
    tosses = cache(lambda name: flat_tosses(sample.compartments[name], seed, _POOL))
    camera_of = cache(lambda name, lens: sample.camera(name, lens, 0, seed))
    flat_shots = shots(folders or [])

    def of_rig(number: int, kind: str, random: np.random.Generator) -> dict[str, Any]:
        name = names[number % len(names)]
        toss = tosses(name)[int(random.integers(_POOL))]
        camera = camera_of(name, int(random.integers(len(sample.lenses))))
        place = place_mm(kind, toss, camera.die_mm, random)
        if stereo and kind == "dome":
            place[2] = _DOME_MM
        spot = some_disc(random, shade)
        style = list(sample.styles)[int(random.integers(len(sample.styles)))]
        shown = toss_case(number, camera, toss, partial(camera.picture, toss, style=style), style)
        row = _case(reader_of(shown.calibration), shown, camera.seen_at(place), spot, random)
        return row | _kind(kind, spot, is_clear=sample.styles[style].glow is not None)

    def of_shots(number: int, kind: str, random: np.random.Generator) -> dict[str, Any]:
        shown, labels = flat_shots[number % len(flat_shots)]
        at = place_in_shot(shown, labels, kind, random)
        spot = some_disc(random, shade)
        row = _case(reader_of(shown.calibration), shown, at, spot, random)
        return row | _kind(kind, spot, is_clear="translucent" in shown.look)

    def case(number: int) -> dict[str, Any]:
        random = np.random.default_rng((seed, number))
        kind = places[number % len(places)]
        return of_shots(number, kind, random) if folders else of_rig(number, kind, random)

    if folders and not flat_shots:
        raise typer.BadParameter("no flat toss is in these sets of shots")
    sets = [folder.name for folder in folders or []] + ["stereo"] * stereo
    only = [*(place or ()), *filter(None, [shade])]
    digest = digest_of(finder, *only, *map(contents_of, folders or []))
    name = "-".join([*sets, str(seed), digest])
    done = results(out / f"specks-{name}.jsonl", count, case)
    raise typer.Exit(1 if has_wrong(done, "specked", "no disc") else 0)


def _kind(place: str, spot: Disc, *, is_clear: bool) -> dict[str, str]:
    size = "as a pip" if spot.radius_mm >= _COVERS_MM else "smaller"
    dice = "clear" if is_clear else "opaque"
    return {"kind": ", ".join((place, SHADES[not spot.is_dark], size, dice))}


def _case(
    reader: TableReader, shown: Case, at_px: np.ndarray, spot: Disc, random: np.random.Generator
) -> dict[str, Any]:
    """`at_px`: (N, 2) the middle of the disc, as each lens shows it."""
    radius_px = spot.radius_mm * shown.calibration.px_per_mm(shown.calibration.die_mm)
    clean = [shown.shoot() for _ in range(MAX_FRAMES)]
    specked = clean
    for at in at_px:
        specked = [disc(p, at, radius_px, spot.grey, spot.soft_px) for p in specked]
    specked = [with_grain(picture, random, 1.0) for picture in specked]
    return {
        "style": shown.look,
        "radius_mm": spot.radius_mm,
        "soft_px": spot.soft_px,
        "grey": spot.grey,
        "clean": said(read_still(reader, clean)[1], shown.values),
        "specked": said(read_still(reader, specked)[1], shown.values),
    }
