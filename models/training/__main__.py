"""`python -m models.training COMMAND`: from seeds to the files that ship, whole or by steps.

Owns: the command line. A command imports what it needs when it runs, because PyTorch,
Mitsuba and matplotlib take seconds each; the fast renderer needs none of the three.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from models.training.scenes import SceneSet, ScenesUnfinishedError, make, require_kind
from vision.errors import VisionError

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Make the networks."
)
_MODELS = Path("models")
_FIGURES = _MODELS / "figures"
_MAX_SOURCES = 2
"""Of photographs to train on: the others are for measuring."""


class _Shared(NamedTuple):
    """A set, and how often it is drawn."""

    folder: Path
    share: float


def _shared(text: str) -> _Shared:
    folder, _, share = text.partition("=")
    return _Shared(Path(folder), float(share or 1.0))


Sets = Annotated[list[Path], typer.Argument(metavar="SET", help="Rendered sets.")]
SomeSets = Annotated[list[Path] | None, typer.Argument(metavar="SET", help="Rendered sets.")]
SharedSets = Annotated[
    list[_Shared], typer.Argument(parser=_shared, metavar="SET[=SHARE]", help="Rendered sets.")
]
SharedPhotos = Annotated[
    list[_Shared] | None, typer.Option("--photos", parser=_shared, metavar="FOLDER[=SHARE]")
]
Photos = Annotated[list[Path] | None, typer.Option("--photos", help="A folder; repeatable.")]
Guesses = Annotated[Path | None, typer.Option(help="Corners on the photographs.")]
Count = Annotated[int, typer.Option(min=1, help="Pictures or windows to learn from.")]
Seed = Annotated[int, typer.Option(min=0)]
Rate = Annotated[float, typer.Option(help="The highest learning rate.")]
Begin = Annotated[Path | None, typer.Option(help="What to begin with.")]
Threads = Annotated[int, typer.Option(min=1, help="Of PyTorch.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes that draw samples.")]
Work = Annotated[Path, typer.Option(help="Where the state of the run is kept.")]
Out = Annotated[Path, typer.Option(help="Where the result goes.")]
Every = Annotated[int, typer.Option(min=1, help="Look at each so many-th picture only.")]


@contextmanager
def _resumable() -> Iterator[None]:
    """End with one line where the time was over, a disk was full, or somebody pressed Ctrl-C."""
    try:
        yield
    except (ScenesUnfinishedError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where this one was", file=sys.stderr)
        sys.exit(130)


@app.command()
def recipe(
    photos: Photos = None,
    check: Annotated[list[Path] | None, typer.Option(help="Photographs to report.")] = None,
    work: Work = Path("var"),
    out: Out = _MODELS,
    threads: Threads = 2,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="A few pictures a step: does each still run?")
    ] = False,
) -> None:
    """The whole way: render, train, quantise, measure. Goes on where it was stopped."""
    import torch

    from models.training.recipe import Plan, follow
    from vision.photo.labels import read_labels

    taught, told = photos or [], check or []
    if len(taught) > _MAX_SOURCES:
        raise typer.BadParameter(
            f"--photos: at most {_MAX_SOURCES} sources are trained on; others: --check"
        )
    for folder in (*taught, *told):
        try:
            labels = list(read_labels(folder))
        except VisionError as error:
            raise typer.BadParameter(f"{folder}: {error}") from error
        if not labels:
            raise typer.BadParameter(f"{folder}: no photographs with labels")
    torch.set_num_threads(threads)
    plan = Plan()
    if rehearse:
        plan, work = plan.rehearsal(), work / "rehearsal"
        out = work / "models"
    with _resumable():
        follow(plan, work, out, taught, told, threads)


@app.command()
def scenes(
    words: Annotated[
        list[str], typer.Argument(help="Renderer, scene, options: traced shots taught.")
    ],
    seed: Annotated[int, typer.Option(min=0)],
    count: Annotated[int, typer.Option(min=1, help="Pictures, rounded up to whole 50s.")],
    size: Annotated[int, typer.Option(help="Pixels of a picture's side.")] = 448,
    held_out: Annotated[bool, typer.Option("--held-out", help="What is kept for tests.")] = False,
    out: Out = Path("var/scenes"),
    processes: Annotated[int, typer.Option(min=1)] = 2,
    limit_s: Annotated[float, typer.Option(min=1, help="Stop after this time.")] = 7200.0,
) -> None:
    """Render a set of labelled scenes. Goes on where it was stopped."""
    pictures = SceneSet(" ".join(words), seed, count, size, held_out)
    try:
        require_kind(pictures.kind, held_out)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if size < pictures.min_size:
        raise typer.BadParameter(f"--size must be {pictures.min_size} or more, not {size}")
    try:
        pictures.folder(out).mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # the second for links that lead in a circle
        raise typer.BadParameter(f"cannot make a folder in --out {out}: {error}") from error
    with _resumable():
        print(make(pictures, out, processes, limit_s))


@app.command()
def train(
    sets: SharedSets,
    photos: SharedPhotos = None,
    guesses: Guesses = None,
    images: Count = 200_000,
    size: Annotated[int, typer.Option(help="Pixels of a sample's side.")] = 320,
    seed: Seed = 1,
    rate: Rate = 2e-3,
    begin: Begin = None,
    threads: Threads = 2,
    workers: Workers = 1,
    out: Out = Path("var/run"),
) -> None:
    """Train the die finder, from nothing or from a checkpoint."""
    import torch

    from models.training.samples import shared_sources
    from models.training.train import train

    torch.set_num_threads(threads)
    sources = shared_sources(sets, photos or [], guesses)
    print(train(sources, out, images, size, seed, rate, begin, workers))


@app.command()
def near_look(
    sets: Sets,
    samples: Count = 700_000,
    seed: Seed = 81,
    rate: Rate = 2e-3,
    begin: Begin = None,
    threads: Threads = 1,
    workers: Workers = 1,
    work: Work = Path("var/near"),
    out: Out = _MODELS,
) -> None:
    """Train the network that looks at one die, from nothing or from its float32 file."""
    import torch

    from models.training import near_look

    torch.set_num_threads(threads)
    net = near_look.train(sets, work, samples, seed, workers, begin, rate)
    _say(near_look.export(net, sets, work, out))


@app.command()
def photo_look(
    sets: SharedSets,
    photos: SharedPhotos = None,
    guesses: Guesses = None,
    samples: Count = 450_000,
    seed: Seed = 91,
    rate: Rate = 2e-3,
    begin: Begin = None,
    threads: Threads = 1,
    workers: Workers = 1,
    work: Work = Path("var/photo"),
    out: Out = _MODELS,
) -> None:
    """Train the network that looks at photographs, from nothing or the near look's float32 file."""
    import torch

    from models.training import photo_look
    from models.training.samples import shared_sources

    torch.set_num_threads(threads)
    sources = shared_sources(sets, photos or [], guesses)
    net = photo_look.train(sources, work, samples, seed, workers, begin, rate)
    _say(photo_look.export(net, sources, work, out))


@app.command()
def guess_corners(
    photos: Annotated[list[Path], typer.Argument(help="Folders of labelled photographs.")],
    out: Out,
    model: Annotated[Path, typer.Option(help="Folder of the networks.")] = _MODELS,
) -> None:
    """Corners for photographs that come with boxes only: what a model sees, where it agrees."""
    from models.training.guess_corners import guess_all

    out.write_text(json.dumps(guess_all(model, photos)))


@app.command()
def export(
    checkpoint: Path,
    out: Annotated[Path, typer.Option(help="Not models/, which holds what `quantise` makes.")],
    training: Annotated[Path | None, typer.Option(help="TOML: how it was trained.")] = None,
) -> None:
    """Write a checkpoint of the die finder as an ONNX file, and register it."""
    from models.training import export

    path = export.export(checkpoint, out)
    export.register(path, out, tomllib.loads(training.read_text("utf-8")) if training else {})
    _say(path)


@app.command()
def quantise(model: Path, sets: Sets, out: Out = _MODELS) -> None:
    """Write an exported die finder in int8 as dice.onnx, and register it with what lies beside."""
    from models.training import export, quantise

    path = quantise.quantise(model, sets, out / "dice.onnx")
    export.register(path, out, {})
    _say(path)


@app.command()
def unfold(model: Path, sets: Sets, out: Out) -> None:
    """Turn an exported float32 die finder into a checkpoint to train on from."""
    import torch

    from models.training.unfold import unfold

    torch.save({"average": unfold(model, sets).state_dict()}, out)
    _say(out)


@app.command()
def evaluate(
    sets: SomeSets = None,
    photos: Photos = None,
    out: Out = _MODELS,
    most: Annotated[int, typer.Option(min=1, help="Pictures of each rendered set.")] = 10_000,
    choose: Annotated[bool, typer.Option("--choose", help="Choose the thresholds anew.")] = False,
) -> None:
    """Measure the die finder alone; write its figures, curves and manifest."""
    from models.training.evaluate import measure_all

    measure_all(out, sets or [], photos or [], most, choose)


@app.command()
def photo_curve(
    sets: SomeSets = None,
    photos: Photos = None,
    corrections: Annotated[Path | None, typer.Option(help="Of the photographs' labels.")] = None,
    every: Every = 1,
    out: Out = _FIGURES / "photo_curve.png",
) -> None:
    """What each limit of a verified photograph buys and costs: counts, and a picture."""
    from models.training.photo_curve import draw_all

    if not sets and not photos:
        raise typer.BadParameter("name sets, or photographs with --photos")
    draw_all(sets or [], photos or [], corrections, every, out)


@app.command()
def sheets(sets: Sets, every: Every = 1, out: Out = _FIGURES) -> None:
    """Pictures of what is read, refused, and got wrong, in the order of the sets."""
    from models.training.sheets import write_all

    write_all(sets, every, out)


def _say(path: Path) -> None:
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    app()
