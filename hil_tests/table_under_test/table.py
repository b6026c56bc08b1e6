"""One table under test: a session, the consoles' lines, the rig's door, and how the dice lie.

Owns what every bench does at a whole table. How a round is played, and what is made of a refusal,
is the bench's. Must not know the service's code beyond the client of its console.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from hil_tests.report.evidence import lines_of
from hil_tests.table_under_test.session import Session
from shaker_ctl.console.client import Console, Reply
from shaker_ctl.errors import ShakerError


class TableUnderTest:
    """Use as a context: everything is ended at the end."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._consoles: dict[str, Console] = {}

    def __enter__(self) -> Self:
        self.session.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave_consoles()
        self.session.close()

    @property
    def rig(self) -> Mapping[str, Any]:
        """The rig's addresses."""
        return self.session.rig

    def console(self, port: str) -> Console:
        """A script's end of the `technician` or the `dealer` line, kept until all are left.

        Raises `ConsoleLineError` where nobody answers.
        """
        if port not in self._consoles:
            self._consoles[port] = self.session.console(port)
        return self._consoles[port]

    def leave_consoles(self) -> None:
        """Let go of both lines."""
        while self._consoles:
            _, console = self._consoles.popitem()
            with suppress(ShakerError, OSError):
                console.close()

    def status(self) -> Reply:
        """What any console says of the table."""
        return self.console("technician").status()

    def ask_rig(self, command: str) -> Any:
        """Give the rig one command. Raises `RigRefusedError`, or OSError without a rig."""
        return self.session.ask_rig(command)

    def tosses(self) -> list[dict[str, Any]]:
        """Every toss so far, as the physics knows it."""
        return lines_of(self.rig["truth"])
