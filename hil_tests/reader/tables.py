"""Tables that were taught their dice, each with tosses to show it: of the rig before a stereo
camera, and of sets of calibrated shots.

Owns: which tosses teach a table, and which it is shown. A teaching of the rig is kept on disk under
all that decides it, so that a run that goes on does not teach again. Must not know what is counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from hil_tests.reader.cases import Case, of_rig, of_shots
from hil_tests.reader.kept import digest_of
from hil_tests.reader.samples import STEREO, Sample
from hil_tests.reader.tosses import RigCamera, Toss, tosses
from vision.calibration import Calibration
from vision.errors import VisionError
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.table.confirmed import confirmed_toss
from vision.table.reader import TableReader
from vision.taught import Missed, Rate, Teaching, rate, teach
from vision.taught import Toss as TaughtToss

TAUGHT = 30
"""Confirmed tosses of a table, the first flat ones."""
_POOL = 40
"""Flat tosses of a table of the rig from which chance takes one."""
_LOOKED_AT = 40
"""Tosses of a table of the rig among which some may not lie flat; on a plain floor none do."""
_ENDLESS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A taught table."""

    number: int
    name: str
    finder: DieFinder
    reader: TableReader
    teaching: Teaching
    taught_by: Callable[[], Sequence[TaughtToss]]
    """The tosses that it was taught by, as persons confirmed them."""
    case: Callable[[str, int], Case]
    """Another toss of this truth, counted from 0; none that it was taught by."""
    known: Mapping[str, int]
    """How many there are of each truth."""
    camera: RigCamera | None = None
    """Of the rig."""

    @property
    def calibration(self) -> Calibration:
        return self.reader.calibration

    def some(self, random: np.random.Generator) -> Case:
        """One of its flat tosses."""
        return self.case("flat", int(random.integers(min(_POOL, self.known["flat"]))))

    def own_rate(self) -> str:
        """How many of the tosses that taught it it reads, each by what the others teach."""
        own = rate(self.calibration, self.taught_by())
        return f"{own.read:.0%} of {own.tosses} of its own; {_advice(own)}"


def _advice(own: Rate) -> str:
    released = "released" if own.is_enough else own.advice()
    return f"WRONG values; {released}" if own.missed[Missed.WRONG] else released


class _Tossed:
    """Tosses of a compartment by their truth, tossed as they are asked for."""

    def __init__(self, tossed: Iterator[Toss]) -> None:
        self._more = tossed
        self._found: dict[str, list[Toss]] = {"flat": [], "not flat": [], "between": []}
        for _ in range(_LOOKED_AT):
            self._toss()
        self.fallen = len(self._found["not flat"])

    def _toss(self) -> None:
        toss = next(self._more)
        self._found[toss.truth].append(toss)

    def __call__(self, truth: str, number: int) -> Toss:
        while len(self._found[truth]) <= number:
            self._toss()
        return self._found[truth][number]


def rig_tables(
    finder: DieFinder, seed: int, out: Path, sample: Sample = STEREO
) -> Callable[[int], Table]:
    """What gives the tables of the rig by their number: each compartment, lens and style in an
    order that chance gives, then again with other tosses."""
    every = list(itertools.product(sample.compartments, range(len(sample.lenses)), sample.styles))
    order = np.random.default_rng(seed).permutation(len(every))
    first = next(iter(sample.styles))
    cameras = cache(lambda name, lens: sample.camera(name, lens, lens % len(sample.lights), seed))

    def table(number: int) -> Table:
        compartment, lens, style = every[order[number % len(every)]]
        camera = cameras(compartment, lens)
        camera = camera if style == first else camera.with_dice(style)
        tossed = _Tossed(tosses(sample.compartments[compartment], seed + number))

        def taught_by() -> list[TaughtToss]:
            shown = [of_rig(camera, tossed("flat", toss)) for toss in range(TAUGHT)]
            return _confirmed(finder, camera.calibration, shown)

        def case(truth: str, which: int) -> Case:
            return of_rig(camera, tossed(truth, which + TAUGHT * (truth == "flat")))

        name = f"{number} {compartment} {lens} {style}"
        decides = (seed, sample.is_left_only, list(sample.styles))
        file = out / f"{name}-{digest_of(finder, decides)}.teaching".replace(" ", "-")
        teaching = _kept(file, camera.calibration, taught_by)
        reader = TableReader(finder, camera.calibration, teaching=teaching)
        known = {"flat": _ENDLESS, "not flat": tossed.fallen}
        return Table(number, name, finder, reader, teaching, taught_by, case, known, camera)

    return table


def _kept(
    file: Path, calibration: Calibration, tosses: Callable[[], Sequence[TaughtToss]]
) -> Teaching:
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_suffix(".new")
        fresh.write_bytes(teach(calibration, tosses()).to_bytes())
        fresh.replace(file)
    return Teaching.from_bytes(file.read_bytes(), calibration)


def _confirmed(
    finder: DieFinder, calibration: Calibration, cases: Sequence[Case]
) -> list[TaughtToss]:
    """The tosses as the network finds them, with their true values."""
    untaught = TableReader(finder, calibration)
    found = []
    for case in cases:
        frame = Frame(case.shoot())
        found.append(confirmed_toss(frame, untaught.look(frame), case.values, calibration))
    return [toss for toss in found if toss is not None]


def shot_tables(finder: DieFinder, folder: Path) -> Iterator[Table]:
    """The tables of a set of calibrated shots, each taught by its first flat tosses. Raises
    VisionError where one has too few."""
    tables = itertools.groupby(of_shots(folder), key=lambda shot: shot[:2])
    for number, ((calibration, look), shots) in enumerate(tables):
        of: dict[str, list[Case]] = {"flat": [], "not flat": [], "between": []}
        for *_, shot in shots:
            of[shot.truth].append(shot)
        yield _of_shots(number, f"{folder.name} {number} {look}", finder, calibration, of)


def _of_shots(
    number: int, name: str, finder: DieFinder, calibration: Calibration,
    cases: Mapping[str, Sequence[Case]],
) -> Table:  # fmt: skip
    taught, flat = cases["flat"][:TAUGHT], cases["flat"][TAUGHT:]
    if not flat:
        raise VisionError(f"{name}: {len(taught)} flat tosses; {TAUGHT} teach a table")
    own = _confirmed(finder, calibration, taught)
    teaching = teach(calibration, own)
    shown = {**cases, "flat": flat}
    return Table(
        number, name, finder, TableReader(finder, calibration, teaching=teaching), teaching,
        lambda: own, lambda truth, which: shown[truth][which],
        {truth: len(of) for truth, of in shown.items()},
    )  # fmt: skip
