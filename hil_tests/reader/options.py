"""Options that the reader's benches share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path | None, typer.Option(help="Folder of another model's manifest.", show_default=False)
]
Seed = Annotated[int, typer.Option(min=0, help="Of every chance in the run.")]
Shots = Annotated[
    list[Path] | None,
    typer.Option(help="A set of calibrated shots; repeatable.", show_default=False),
]
