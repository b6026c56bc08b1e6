"""Start a program in a world that has a `/dev/gpiochip0`.

    python -m hil_tests.rig.gpiochip.enter SOCKET PROGRAM [ARGUMENT]...

Owns the hand-over: the filter is put on this process, its listener goes through the rig's unix
socket to the one who answers, and the process becomes the program. Children inherit the filter.
"""

from __future__ import annotations

import os
import socket
import sys

from hil_tests.rig.gpiochip import trap


def enter(door: str) -> None:
    """Put this process, and all that it starts, behind the filter of the chip at `door`.

    Raises OSError where nobody attends there, UnsupportedError where the kernel does not allow it.
    """
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(door)
        listener = trap.install()
        socket.send_fds(line, [b"listener"], [listener])
        os.close(listener)
        line.recv(1)  # Until somebody answers, nothing that is stopped would go on.


def main(door: str, *program: str) -> None:
    enter(door)
    os.execvp(program[0], program)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (OSError, trap.UnsupportedError) as error:
        sys.exit(f"no virtual gpiochip at {sys.argv[1]}: {error}")
