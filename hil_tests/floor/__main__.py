"""`python -m hil_tests.floor`: load, chaos, and a floor to look at."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterable
from functools import wraps

import typer

from hil_tests.floor.beside import beside
from hil_tests.floor.chaos import broken_at_random
from hil_tests.floor.load import measured
from hil_tests.floor.show import show

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)


@app.callback()
def _begin() -> None:
    # Whoever ends it, its processes end and its disk is unmounted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    logging.getLogger("shaker_ctl.link").setLevel(logging.ERROR)  # links that come and go are meant


def _told(bench: Callable[..., Iterable[str]]) -> Callable[..., None]:
    """Print its lines as they come; status 1 where one says that something does not hold."""

    @wraps(bench)
    def command(**options: object) -> None:
        wrong = False
        for line in bench(**options):
            typer.echo(line)
            wrong = wrong or "NOT" in line
        if wrong:
            raise typer.Exit(1)

    return command


app.command("load")(_told(measured))
app.command("chaos")(_told(broken_at_random))
app.command("beside")(_told(beside))
app.command("show")(_told(show))

if __name__ == "__main__":
    app()
