"""`python -m models.training COMMAND`: makes the networks from seeds, in one run or step by step.

Owns: the command line. A command imports what it needs when it runs, because PyTorch
and Mitsuba take seconds each; the fast renderer needs neither of the two.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from models.training.scenes import SceneSet, make
from vision.errors import VisionError

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Make the networks."
)
_MODELS = Path("models")
_MAX_SOURCES = 2
"""Of photographs to train on: the others are for measuring."""


Photos = Annotated[list[Path] | None, typer.Option("--photos", help="A folder; repeatable.")]
Work = Annotated[Path, typer.Option(help="Where sets, states and float32 files are kept.")]
Out = Annotated[Path, typer.Option(help="Where the result goes.")]


@contextmanager
def _resumable() -> Iterator[None]:
    """End with one line where a disk was full, or somebody pressed Ctrl-C."""
    try:
        yield
    except OSError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where this one was", file=sys.stderr)
        sys.exit(130)


@app.command()
def recipe(
    photos: Photos = None,
    work: Work = Path("var"),
    out: Out = _MODELS,
    threads: Annotated[int, typer.Option(min=1, help="Of PyTorch; processes that draw.")] = 2,
    rehearse: Annotated[
        bool,
        typer.Option(
            "--rehearse", help="A few pictures a step, into WORK/rehearsal: does each still run?"
        ),
    ] = False,
) -> None:
    """The whole way: render, train, quantise, measure. Goes on where it was stopped."""
    import torch

    from models.training.recipe import TrainingPlan, follow
    from vision.photo.labels import read_labels

    taught = photos or []
    if len(taught) > _MAX_SOURCES:
        raise typer.BadParameter(
            f"--photos: at most {_MAX_SOURCES} sources are trained on: the others are for counting"
        )
    for folder in taught:
        try:
            for _ in read_labels(folder):
                pass  # a wrong row is told here, not hours later
        except VisionError as error:
            raise typer.BadParameter(f"{folder}: {error}") from error
    torch.set_num_threads(threads)
    plan = TrainingPlan.read()
    if rehearse:
        plan, work = plan.rehearsal(), work / "rehearsal"
        out = work / "models"
    with _resumable():
        follow(plan, work, out, taught, threads)


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
) -> None:
    """Render a set of labelled scenes. Goes on where it was stopped."""
    try:
        pictures = SceneSet(" ".join(words), seed, count, size, held_out)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if size < pictures.min_size:
        raise typer.BadParameter(f"--size must be {pictures.min_size} or more, not {size}")
    try:
        pictures.folder(out).mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # the second for links that lead in a circle
        raise typer.BadParameter(f"cannot make a folder in --out {out}: {error}") from error
    with _resumable():
        print(make(pictures, out, processes))


if __name__ == "__main__":
    try:
        app()
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is missing: `make .venv/.train` installs what training needs")
