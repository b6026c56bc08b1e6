"""Fit the judgement of photographs: `python -m hil_tests.reader fit-photographs FOLDER...`.

Owns: what the weights of `models/photo_judgement.json` are fitted on, and how well they judge sets
that they never saw. Must not know how a face is measured, or a photograph judged (`vision.photo`).

A place has a pip if the label says so. Which way a face lies in its rectified picture nobody has
labelled: the pose that explains its value best says it, in turns with the fit. A die is right if
its label has the model's value. Specks are painted: a disc in the colour of the pips into the
middle of a two or four, one in the colour of the face over the middle of a three or five. Figures
are of whole sets left out: a set is judged by weights that saw the others alone.
"""

from __future__ import annotations

import json
import multiprocessing
import pickle
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import typer
from rich.progress import track
from scipy.optimize import minimize

from hil_tests.reader.photographs import Counts, compare, pair, report
from vision.faces_by_pips.faces import PhotoReading, read_photo
from vision.networks.classifier import DieFinder, FoundDie
from vision.networks.model_card import MODELS
from vision.parameters import PHOTO
from vision.photo.evidence import PhotoEvidence, settle
from vision.photo.evidence import compare as put_together
from vision.photo.finder import PhotoFinder
from vision.photo.judgement import features, judge
from vision.photo.labels import Corrections, Label, read_corrections, read_labels, sets_under
from vision.photo.places import (
    WEIGHTS,
    Measured,
    Weights,
    explained,
    fitted,
    kind_of_middle,
    measure,
    middle_of,
)
from vision.pictures import load
from vision.quads import SQUARE
from vision.taught.regression import Logistic

_PER_SET = 700
"""Most dice of a set that the places are fitted on: a set has one table, and one light."""
_TURNS = 4
"""How often poses and weights are fitted in turns."""
_RIDGE = 0.003
_WRONG = 3.0
"""A die that is none, or has another value, counts for so many right ones."""
_CERTAIN = 1.0
"""Log-odds that each die of a verified photograph has. Chosen on sets left out: with 0.5 there were
11 of 1,512 exact photographs more, and one wrong reading more."""
_PLAIN_LOST = 0.10
"""Share of clean middles that may count as odd, where the pips say so as well."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One photograph as both readers see it, before anything is fitted."""

    labels: list[Label]
    found: list[FoundDie]
    faint: list[FoundDie]
    second: PhotoReading
    size: tuple[int, int]
    faces: list[Measured]
    speck: tuple[int, Measured] | None
    """A face with a painted speck, and the value that it then shows."""

    def evidence(self, weights: Weights) -> PhotoEvidence:
        """As the reader puts it together with such weights."""
        both = zip(self.faces, self.found, strict=True)
        votes = [weights.vote(face, die.value) for face, die in both]
        return settle(put_together(self.found, self.faint, self.second, votes, self.size))

    def labelled(self) -> Iterable[tuple[int, int | None]]:
        """Each found die with its value: 0 where there is no die, None where nobody can tell."""
        if any(label.centre is None for label in self.labels):
            return
        pairs = {j: self.labels[i].value for i, j in pair(self.labels, self.found).items()}
        yield from ((j, pairs.get(j, 0)) for j in range(len(self.found)))


Cases = Mapping[str, Sequence[Case]]
"""By set."""
_finder: PhotoFinder | None = None


def _start() -> None:
    global _finder
    cv2.setNumThreads(1)
    _finder = PhotoFinder(DieFinder())


def _gather(task: tuple[Path, list[Label], Path]) -> Case:
    path, labels, kept = task
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    assert _finder is not None
    image = load(path)
    found, faint = _finder.find(image, PHOTO.found)
    case = case_of(path, labels, image, found, faint, read_photo(image))
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(case))
    return case


def case_of(
    path: Path, labels: list[Label], image: np.ndarray, found: list[FoundDie],
    faint: list[FoundDie], second: PhotoReading,
) -> Case:  # fmt: skip
    """A photograph with all its faces measured, and one of them with a speck."""
    faces = [measure(image, die.corners) for die in found]
    case = Case(labels, found, faint, second, image.shape[1::-1], faces, None)
    rng = np.random.default_rng(zlib.crc32(path.name.encode()))
    fit = [j for j, value in case.labelled() if value == found[j].value and kind_of_middle(value)]
    if not fit:
        return case
    die = found[fit[int(rng.integers(len(fit)))]]
    shows = die.value + 1 if kind_of_middle(die.value) == "plain" else die.value - 1
    return replace(case, speck=(shows, _with_speck(rng, image, die)))


def _with_speck(rng: np.random.Generator, image: np.ndarray, die: FoundDie) -> Measured:
    """A face with a disc in its middle, as large as a pip, as clear or as plain."""
    side = 96
    room = 2 * round(die.edge_px) + 2
    x, y = np.round(die.centre).astype(int).tolist()
    image = cv2.getRectSubPix(image, (2 * room, 2 * room), (x, y))
    corners = (die.corners - (x - room + 0.5, y - room + 0.5)).astype(np.float32)
    there = cv2.getPerspectiveTransform((SQUARE.astype(np.float32) + 1) * side / 2, corners)
    face = cv2.warpPerspective(image, np.linalg.inv(there), (side, side))[12:-12, 12:-12]
    pixels = face.reshape(-1, 3).astype(np.float32)
    body = np.median(pixels, axis=0)
    away = np.linalg.norm(pixels - body, axis=1)
    is_added = kind_of_middle(die.value) == "plain"
    if is_added:
        colour = np.median(pixels[away >= np.quantile(away, 0.95)], axis=0) + rng.normal(0, 6, 3)
    else:
        colour = body * rng.uniform(0.93, 1.18) + rng.normal(0, 4, 3)
    radius = side * float(rng.uniform(0.07, 0.115) if is_added else rng.uniform(0.10, 0.15))
    angles = np.linspace(0, 2 * np.pi, 40)
    ring = side / 2 + rng.normal(0, 1, 2) + radius * np.stack([np.cos(angles), np.sin(angles)], 1)
    outline = cv2.perspectiveTransform(ring[None].astype(np.float32), there)[0]
    mask = np.zeros(image.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.round(outline * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    cover = cv2.GaussianBlur(mask, (0, 0), max(0.5, 0.02 * die.edge_px))[..., None] / 255
    painted = image * (1 - cover) + np.clip(colour, 0, 255) * cover
    return measure(painted.astype(np.uint8), corners)


def gather(
    folders: Sequence[Path], corrections: Corrections, work: Path, processes: int
) -> dict[str, list[Case]]:
    """All photographs of the sets as both readers see them; kept in `work`."""
    tasks = [
        (name, (path, labels, work / name / f"{path.name}.pickle"))
        for name, folder in sets_under(folders)
        for path, labels in read_labels(folder, corrections)
    ]
    cases = defaultdict(list)
    with multiprocessing.get_context("spawn").Pool(processes, _start) as pool:
        done = pool.imap(_gather, [task for _, task in tasks])
        for (name, _), case in zip(tasks, track(done, "photographs", len(tasks)), strict=True):
            cases[name].append(case)
    return cases


def fit(cases: Cases) -> Weights:
    """The weights that these sets teach."""
    place = _place(cases)
    middle, least = _middles(cases, place)
    draft = Weights(place, middle, least, (), _CERTAIN)
    return Weights(place, middle, least, _certainty(cases, draft), _CERTAIN)


def _place(cases: Cases) -> Logistic:
    """Whether a place has a pip."""
    rng = np.random.default_rng(0)
    faces: list[tuple[Measured, int]] = []
    for of_set in cases.values():
        known = [(case.faces[j], value) for case in of_set for j, value in case.labelled() if value]
        faces += [known[i] for i in rng.permutation(len(known))[:_PER_SET]]
    scores: Callable[[Measured], np.ndarray] = _at_first
    for _ in range(_TURNS):
        poses = [(face, *fitted(scores(face), value)) for face, value in faces]
        rows = np.concatenate([face.rows[pose] for face, pose, _ in poses])
        model = Logistic.fit(rows, np.concatenate([on for *_, on in poses]), ridge=_RIDGE)
        scores = partial(explained, model)
    return model


def _at_first(face: Measured) -> np.ndarray:
    """(P, L) as `explained`, if all that is half as far as the paint from the face is a pip."""
    size = face.rows.shape[-1]
    weights = np.zeros(1 + 2 * size)
    weights[0], weights[1:5] = -4.0, 2.0
    return explained(Logistic(np.zeros(size), np.ones(size), weights), face)


def _middles(cases: Cases, place: Logistic) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Whether a middle is no speck: weights, and the least log-odds."""
    rows: dict[str, list[tuple[np.ndarray, bool]]] = defaultdict(list)
    for case in (case for of_set in cases.values() for case in of_set):
        clean = [
            (case.found[j].value, case.faces[j], True)
            for j, value in case.labelled()
            if value == case.found[j].value
        ]
        painted = [] if case.speck is None else [(*case.speck, False)]
        for value, face, is_plain in clean + painted:
            if (kind := kind_of_middle(value)) is not None:
                seen = middle_of(face, *fitted(explained(place, face), value))
                rows[kind].append((seen, is_plain))
    weights, least = {}, {}
    for kind, each in sorted(rows.items()):
        features_, truth = np.array([row for row, _ in each]), np.array([is_ for _, is_ in each])
        share = np.where(truth, 1 / truth.sum(), 1 / (~truth).sum())
        weights[kind] = _monotone(features_, truth, share)
        odds = weights[kind][0] + features_[truth] @ weights[kind][1:]
        least[kind] = float(np.quantile(odds, _PLAIN_LOST))
    return weights, least


def _certainty(cases: Cases, weights: Weights) -> list[float]:
    """Whether a die's value is right."""
    rows: list[np.ndarray] = []
    truth: list[bool] = []
    shares: list[float] = []
    for of_set in cases.values():
        begun = len(rows)
        for case in of_set:
            votes = [weights.vote(f, d.value) for f, d in zip(case.faces, case.found, strict=True)]
            dice = put_together(case.found, case.faint, case.second, votes, case.size).dice
            known = [(j, value) for j, value in case.labelled() if value is not None]
            rows += [features(dice[j]) for j, _ in known]
            truth += [value == dice[j].found.value for j, value in known]
        shares += [(len(rows) - begun + 1) ** -0.5] * (len(rows) - begun)
    right = np.array(truth)
    return _monotone(np.array(rows), right, np.array(shares) * np.where(right, 1.0, _WRONG))


def _monotone(rows: np.ndarray, truth: np.ndarray, shares: np.ndarray) -> list[float]:
    """A logistic regression, constant first, in which no measurement counts against itself."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    z, sign, shares = (rows - mean) / spread, np.where(truth, 1.0, -1.0), shares / shares.sum()

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        odds = sign * (weights[0] + z @ weights[1:])
        slope = -sign * shares / (1 + np.exp(odds))
        penalty = 0.001 * weights * (np.arange(len(weights)) > 0)
        value = shares @ np.logaddexp(0, -odds) + penalty @ weights / 2
        return float(value), np.r_[slope.sum(), slope @ z] + penalty

    bounds = [(None, None)] + [(0, None)] * rows.shape[1]
    start = np.zeros(1 + rows.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    weights = found[1:] / spread
    return [float(found[0] - weights @ mean), *map(float, weights)]


def count(cases: Sequence[Case], weights: Weights) -> Counts:
    """How well a set is judged with such weights."""
    counts = Counts()
    for case in cases:
        evidence = case.evidence(weights)
        compare(counts, case.labels, evidence.found, judge(evidence, None, weights))
    return counts


def left_out(cases: Cases) -> Iterable[tuple[str, Counts]]:
    """Each set, judged by weights that were fitted on the others; then all of them together."""
    together = Counts()
    for name, of_set in cases.items():
        counts = count(of_set, fit({other: rest for other, rest in cases.items() if other != name}))
        together.add(counts)
        yield name, counts
    yield "all", together


def table_of(weights: Weights) -> dict[str, Any]:
    """As the file has them, to six digits."""
    place = {name: np.asarray(row).tolist() for name, row in asdict(weights.place).items()}
    table = asdict(weights) | {"place": place}
    return json.loads(json.dumps(table), parse_float=lambda text: float(f"{float(text):.6g}"))


def main(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER", help="Labelled photographs.")],
    corrections: Annotated[Path, typer.Option(help="Wrong labels.")] = MODELS
    / "label_corrections.jsonl",
    work: Annotated[Path, typer.Option(help="Where what both readers see is kept.")] = Path(
        "var/photographs"
    ),
    out: Annotated[Path, typer.Option(help="Folder of the weights.")] = MODELS,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that read pictures.")] = 2,
) -> None:
    """Fit what a photograph must show to be verified; count each set by the others' weights."""
    cases = gather(folders, read_corrections(corrections), work, jobs)
    for name, counts in left_out(cases):
        typer.echo(report(name, counts))
    text = json.dumps(table_of(fit(cases)), indent=1) + "\n"
    (out / WEIGHTS.name).write_text(text, "utf-8")
