"""`python -m hil_tests.reader`: the benches of the reader, one command each."""

from __future__ import annotations

import os
import sys
import traceback

import cv2
import typer

from hil_tests.reader import (
    confirming,
    everything,
    flatness,
    leaning,
    lost_pips,
    photo_judgement,
    photographs,
    refusals,
    replay,
    robustness,
    sheets,
    specks,
    speed,
    taught,
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
app.command("photographs")(photographs.main)
app.command("fit-photographs")(photo_judgement.main)
app.command("refusals")(refusals.main)
app.command("robustness")(robustness.main)
app.command("wrong-model")(wrong_model.main)
app.command("flatness")(flatness.main)
app.command("leaning")(leaning.main)
app.command("lost-pips")(lost_pips.main)
app.command("replay")(replay.main)
app.command("specks")(specks.main)
app.command("confirming")(confirming.main)
app.command("speed")(speed.main)
app.command("taught")(taught.main)
app.command("sheets")(sheets.main)
app.command("everything")(everything.main)


def main() -> None:
    """Run a command. Status 1 is a bench that missed its goal; 2 and 70 one that came to no end."""
    try:
        app()
    except (VisionError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
    except Exception:  # noqa: BLE001 - a traceback alone would leave with status 1
        traceback.print_exc()
        raise SystemExit(os.EX_SOFTWARE) from None


if __name__ == "__main__":
    main()
