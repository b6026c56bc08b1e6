"""Fit the judgement of photographs: `python -m hil_tests.reader fit-photographs FOLDER...`.

Owns: what the weights of `models/photo_judgement.json` are fitted on, and how well they judge sets
that they never saw. Must not know how a face is measured, or a photograph judged (`vision.photo`).

A place has a pip if the label says so. Which way a face lies in its rectified picture nobody has
labelled: the pose that explains its value best says it, in turns with the fit. A thing is a die if
a label lies there, and its value is right if the label has it. Specks are painted: a disc in the
colour of the pips into the middle of a two or four, one in the colour of the face over the middle
of a three or five. Figures are of whole sets left out: a set is judged by weights and limits that
saw the others alone.
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
from vision.networks.classifier import DieFinder, FoundDie
from vision.networks.model_card import MODELS
from vision.parameters import PHOTO
from vision.photo.evidence import PhotoEvidence, Thing, presence, settle, usual_edge
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
from vision.photo.spots import round_spots
from vision.pictures import load
from vision.quads import SQUARE
from vision.reading import Verdict, Verified
from vision.taught.regression import Logistic

_PER_SET = 700
"""Most dice of a set that the places are fitted on: a set has one table, and one light."""
_TURNS = 4
"""How often poses and weights are fitted in turns."""
_RIDGE = 0.003
_WRONG = 3.0
"""A die that is none, or has another value, counts for so many right ones."""
_DIE, _MAY_BE = 1.0, -1.0
"""Log-odds from which a thing is a die, and from which it may be one."""
_PROMISE = 0.002
"""Most verified photographs of which a die is none, or has another value."""
_CERTAIN = np.arange(0.0, 4.0, 0.25)
"""Log-odds that each die of a verified photograph may have to have: the least that keeps this."""
_PLAIN_LOST = 0.035
"""Share of clean middles that count as odd."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One photograph as both readers see it, before anything is fitted."""

    labels: list[Label]
    found: list[FoundDie]
    """All that the model takes for a die, surely or not."""
    spots: np.ndarray
    size: tuple[int, int]
    faces: list[Measured]
    speck: tuple[int, int, Measured] | None
    """Which face also was measured with a painted speck, and the value that it then shows."""

    def things(self, weights: Weights) -> tuple[Thing, ...]:
        """As the reader sees them with such weights."""
        both = zip(self.found, self.faces, strict=True)
        return tuple(Thing(die, weights.vote(face, die.value)) for die, face in both)

    def evidence(self, weights: Weights, things: Sequence[Thing]) -> PhotoEvidence:
        """As the reader puts its things together."""
        return settle(PhotoEvidence(tuple(things), (), self.spots, self.size), weights)

    def judged(self, weights: Weights) -> tuple[PhotoEvidence, Verdict]:
        """What the reader says of it with such weights."""
        evidence = self.evidence(weights, self.things(weights))
        return evidence, judge(evidence, None, weights)

    def with_speck(self) -> Case | None:
        """The same photograph if it had the speck, and the model took it for a pip, or missed that
        pip."""
        if self.speck is None:
            return None
        which, shows, face = self.speck
        die, faces, found = self.found[which], list(self.faces), list(self.found)
        value_p = die.value_p.copy()
        value_p[[shows - 1, die.value - 1]] = value_p[[die.value - 1, shows - 1]]
        faces[which], found[which] = face, replace(die, value=shows, value_p=value_p)
        return replace(self, faces=faces, found=found, speck=None)

    def labelled(self) -> Iterable[tuple[int, int | None]]:
        """Each found thing with its value: 0 where there is no die, None where nobody can tell."""
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
    found, faint = _finder.find(image, PHOTO.sure)
    case = case_of(path, labels, image, [*found, *faint])
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(pickle.dumps(case))
    return case


def case_of(path: Path, labels: list[Label], image: np.ndarray, found: list[FoundDie]) -> Case:
    """A photograph with all its faces measured, and one of them with a speck."""
    faces = [measure(image, die.corners) for die in found]
    spots = round_spots(image, usual_edge(found)) if found else np.zeros((0, 4))
    case = Case(labels, found, spots, image.shape[1::-1], faces, None)
    rng = np.random.default_rng(zlib.crc32(path.name.encode()))
    fit = [j for j, value in case.labelled() if value == found[j].value and kind_of_middle(value)]
    if not fit:
        return case
    which = fit[int(rng.integers(len(fit)))]
    die = found[which]
    shows = die.value + 1 if kind_of_middle(die.value) == "plain" else die.value - 1
    return replace(case, speck=(which, shows, _with_speck(rng, image, die)))


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
    """The weights and limits that these sets teach."""
    place = _place(cases)
    middle, least = _middles(cases, place)
    draft = Weights(place, middle, least, (), _DIE, _MAY_BE, (), 0.0)
    things = {name: [case.things(draft) for case in of_set] for name, of_set in cases.items()}
    draft = replace(
        draft,
        presence=_odds(cases, things, presence, _is_die, 1.0),
        certainty=_odds(cases, things, features, _is_right, _WRONG),
    )
    return replace(draft, certainty_least=_least(cases, things, draft))


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
        painted = [] if case.speck is None else [(*case.speck[1:], False)]
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


Seen = Mapping[str, Sequence[tuple[Thing, ...]]]
"""The things of each photograph, by set."""


def _odds(
    cases: Cases,
    things: Seen,
    measured: Callable[[Sequence[Thing]], list[np.ndarray]],
    truth_of: Callable[[int | None, int], bool | None],
    wrong: float,
) -> list[float]:
    """The weights of what is measured of each thing, by whether it is so: `truth_of` the label and
    the model's value; None where nobody can tell. What is not so counts for `wrong` that are. All
    pictures of a set show one table: its things weigh as the root of their number."""
    rows: list[np.ndarray] = []
    truth: list[bool] = []
    shares: list[float] = []
    for name, of_set in cases.items():
        begun = len(rows)
        for case, seen in zip(of_set, things[name], strict=True):
            each = measured(seen)
            for j, value in case.labelled():
                if (is_so := truth_of(value, seen[j].found.value)) is not None:
                    rows.append(each[j])
                    truth.append(is_so)
        shares += [(len(rows) - begun + 1) ** -0.5] * (len(rows) - begun)
    is_true = np.array(truth)
    return _monotone(np.array(rows), is_true, np.array(shares) * np.where(is_true, 1.0, wrong))


def _is_die(label: int | None, _: int) -> bool:
    return label != 0


def _is_right(label: int | None, value: int) -> bool | None:
    return None if label is None else label == value


def _least(cases: Cases, things: Seen, weights: Weights) -> float:
    """The certainty from which no more verified photographs have a die that is none, or has another
    value, than `_PROMISE`. What was missed is not the certainty's."""
    anyhow = replace(weights, certainty_least=-np.inf)
    seen: list[tuple[float, bool]] = []
    for name, of_set in cases.items():
        for case, of_case in zip(of_set, things[name], strict=True):
            evidence = case.evidence(weights, of_case)
            if not isinstance(judge(evidence, None, anyhow), Verified):
                continue
            values = {id(case.found[j]): value for j, value in case.labelled()}
            is_right = all(values.get(id(die), die.value) == die.value for die in evidence.found)
            odds = min(weights.certainty_of(row) for row in features(evidence.dice))
            seen.append((odds, is_right))
    for limit in _CERTAIN.tolist():
        verified = [is_right for odds, is_right in seen if odds >= limit]
        if len(verified) - sum(verified) <= _PROMISE * len(verified):
            break
    return float(limit)


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
        evidence, verdict = case.judged(weights)
        wrong = counts.wrong_accepted
        compare(counts, case.labels, evidence.found, verdict)
        is_right = isinstance(verdict, Verified) and counts.wrong_accepted == wrong
        if is_right and (spoilt := case.with_speck()):
            counts.specks += 1
            counts.specks_accepted += isinstance(spoilt.judged(weights)[1], Verified)
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
