"""Middle pips that have lost their paint or filling: `python -m hil_tests.reader lost-pips`.

Owns: flat tosses of the rig that show a three or a five, one of which has so much of its middle pip
left, and the count of what was verified wrongly, for each kind of dice. The same tosses with whole
pips are counted beside. Each result is a line in `var/lost-pips`; a stopped run goes on.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hil_tests.reader.kept import digest_of, results
from hil_tests.reader.options import Model, Seed
from hil_tests.reader.outcomes import MAX_FRAMES, has_wrong, read_still, readers, said
from hil_tests.reader.samples import RIG
from hil_tests.reader.tosses import flat_tosses
from hil_tests.rig.fault_set import Active
from vision.networks.classifier import DieFinder

LEFT = (0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
"""How much of the pip is left. A person sees from 0.3 down at once that it is paler."""
WORN = (3, 5)
"""Faces that become another legal face without their middle pip."""
_POOL = 40
"""Tosses of each compartment, of which those with such a face are shown in turn."""


def lost_pip(die: int, face: int, left: float) -> Active:
    """The flaw of a die, counted from 0, whose face has so much of its middle pip left."""
    return {"pip_lost": {"die": die + 1, "face": face, "left": left}}


def main(
    count: Annotated[int, typer.Option(min=1, help="Cases.")] = 300,
    seed: Seed = 1,
    model: Model = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("var/lost-pips"),
) -> None:
    """Count which lost pips are verified as another value; status 1 if any is."""
    finder = DieFinder(model)
    reader_of = readers(finder)
    names, styles = list(RIG.compartments), list(RIG.styles)
    camera_of = cache(lambda name, lens: RIG.camera(name, lens, 0, seed))

    @cache
    def tosses(name: str) -> list[Any]:
        pool = flat_tosses(RIG.compartments[name], seed, _POOL)
        return [toss for toss in pool if set(WORN) & set(toss.values)]

    def case(number: int) -> dict[str, Any]:
        random = np.random.default_rng((seed, number))
        name, style = names[number % len(names)], styles[number // len(names) % len(styles)]
        toss = tosses(name)[int(random.integers(len(tosses(name))))]
        die = int(random.choice([i for i in range(3) if toss.dice[i].value in WORN]))
        left = LEFT[number % len(LEFT)]
        camera = camera_of(name, int(random.integers(len(RIG.lenses))))
        reader = reader_of(camera.calibration)
        seen = {"clean": {}, "worn": lost_pip(die, toss.dice[die].value, left)}
        shown = {
            key: [camera.picture(toss, style=style, flaws=of) for _ in range(MAX_FRAMES)]
            for key, of in seen.items()
        }
        verdicts = {key: said(read_still(reader, of)[1], toss.values) for key, of in shown.items()}
        is_clear = RIG.styles[style].glow is not None
        kind = f"{'clear' if is_clear else 'opaque'}, {left:.0%} left"
        return {"kind": kind, "style": style, "face": toss.dice[die].value, **verdicts}

    done = results(out / f"lost-pips-{seed}-{digest_of(finder)}.jsonl", count, case)
    raise typer.Exit(1 if has_wrong(done, "worn", "whole pips") else 0)
