"""The way in and out: whatever happens, a person reads one line and a script has a status.

Owns the streams and the wording of every error in one line. The command line is loaded inside
`app`, so that what can happen meanwhile is answered too.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import gc
import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shaker_ctl.commands.interruption import INTERRUPTED, quiet_interruption
from shaker_ctl.errors import (
    JournalCorruptError,
    JournalVersionError,
    SealError,
    SettingsError,
    ShakerError,
)

if TYPE_CHECKING:
    from shaker_ctl.commands.program import program as program

EX_DATAERR = 65
EX_CONFIG = 78
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""How a write says that there is no room for it."""


def __getattr__(name: str) -> Any:
    """`program`, for whoever wants the command line without running it: loaded when asked for."""
    if name != "program":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shaker_ctl.commands.program import program

    return program


def app(other: Callable[[], Any] | None = None) -> None:
    """Run the command line, or another program's. An error that a person can mend is one line.

    Status 78 (settings) and 65 (data), after sysexits.h, tell the service manager that a restart
    would change nothing; everything else that a person meets is 1. After Ctrl-C it is 130.
    """
    _write_whatever_comes()
    try:
        gc.disable()  # what imports make stays, and would be looked through again and again
        with quiet_interruption():
            from shaker_ctl.commands.program import program
        gc.enable()
        try:
            (other or program)()
        except SystemExit:
            if sys.stdout is not None:
                sys.stdout.flush()  # What still waits to be written may find the disk full, too.
            raise
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except ShakerError as error:
        _tell(error.code, error.line())
        sys.exit(exit_status(error))
    except OSError as error:
        # An open error carries a file name and is reported there; a write error is reported here.
        if error.errno not in (*FULL, errno.EPIPE) or error.filename is not None:
            raise
        _let_go_of_output()
        if error.errno in FULL:  # and where `| head` has read enough, there is nothing to say
            _tell("output", f"cannot write what was asked for: {error.strerror}. Make room (df)")
        sys.exit(1)


def exit_status(error: ShakerError) -> int:
    """Return the exit status that says what kind of help is needed."""
    if isinstance(error, SettingsError):
        return EX_CONFIG
    needs_a_person = isinstance(error, JournalCorruptError | JournalVersionError | SealError)
    return EX_DATAERR if needs_a_person else 1


def _write_whatever_comes() -> None:
    """Have both streams write a letter that their encoding lacks as `?`, and never fail for one.

    UTF-8 lacks none, but a file name may hold bytes that are none of it: written as `\\udcff`.
    """
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="replace")
        elif stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _tell(code: str, line: str) -> None:
    from rich.console import Console
    from rich.text import Text

    with contextlib.suppress(OSError):  # Where nothing can be written, the status still speaks.
        told = Text.assemble((code, "bold red"), f": {line}")
        Console(stderr=True, highlight=False).print(told, soft_wrap=True)


def _let_go_of_output() -> None:
    """Drop what could not be printed, so that Python does not stumble over it again at its end."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
