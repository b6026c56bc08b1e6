"""`python -m hil_tests.reader`: the benches of the reader, one command each."""

from __future__ import annotations

import os
import sys
import traceback

import cv2
import typer

from hil_tests.reader import count, photo_judgement, photographs, speed
from vision.errors import VisionError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def reader() -> None:
    """What the reader accepts, refuses and costs, on pictures of known truth."""
    cv2.setNumThreads(1)


app.command("count")(count.main)
app.command("photographs")(photographs.main)
app.command("fit-photographs")(photo_judgement.main)
app.command("speed")(speed.main)


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
