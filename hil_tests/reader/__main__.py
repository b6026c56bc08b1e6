"""`python -m hil_tests.reader`: the benches of the reader, one command each."""

from __future__ import annotations

import cv2
import typer

from hil_tests.reader import (
    confirming,
    everything,
    flatness,
    leaning,
    refusals,
    replay,
    robustness,
    sheets,
    specks,
    speed,
    verification,
    wrong_model,
)
from vision.errors import VisionError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def reader() -> None:
    """What the reader accepts, refuses and costs, on pictures of known truth."""
    cv2.setNumThreads(1)


app.command("verification")(verification.main)
app.command("refusals")(refusals.main)
app.command("robustness")(robustness.main)
app.command("wrong-model")(wrong_model.main)
app.command("flatness")(flatness.main)
app.command("leaning")(leaning.main)
app.command("replay")(replay.main)
app.command("specks")(specks.main)
app.command("confirming")(confirming.main)
app.command("speed")(speed.main)
app.command("sheets")(sheets.main)
app.command("everything")(everything.main)

if __name__ == "__main__":
    try:
        app()
    except (VisionError, OSError) as error:
        raise SystemExit(f"{error}") from None
