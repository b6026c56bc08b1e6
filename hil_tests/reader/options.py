"""Options that the reader's benches share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path | None, typer.Option(help="Folder of another model's manifest.", show_default=False)
]
Seed = Annotated[int, typer.Option(min=0, help="Of every chance in the run.")]
Sets = Annotated[
    list[Path] | None, typer.Argument(help="Rendered sets of pictures.", show_default=False)
]
Every = Annotated[int, typer.Option(min=1, help="Look at each so many-th picture only.")]
