"""Settings of the consoles: which lines, who may stand there, how long they stay logged in.

Owns the section `[console]`. Must not know pyserial or what a command does.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from shaker_ctl.parameters import Parameters, bounded
from shaker_ctl.rules.vocabulary import Role


class PortParameters(Parameters):
    """One serial line with a person or a script at its other end."""

    device: str
    """Device file, e.g. `/dev/serial0`, `/dev/ttyGS0` (USB gadget), `/dev/serial/by-id/...`.

    An empty string switches this console off. Prefer `by-id` names: `ttyUSB0` and `ttyUSB1`
    change places when plugged in the other order, and with them the permitted roles.
    """

    baud: int = bounded(115200, at_least=9600, at_most=921600)
    """Bits per second, always 8N1 without flow control. Slower: `status` leaves the 100 ms."""

    roles: tuple[Role, ...] = Field(min_length=1)
    """Who may log in here. A role that is absent is refused before any passphrase is asked."""


class TechnicianPort(PortParameters):
    """The service port. Floorperson and supervisor too: a repair ends with their inspection."""

    device: str = "/dev/serial0"
    roles: tuple[Role, ...] = Field(
        default=(Role.TECHNICIAN, Role.FLOORPERSON, Role.SUPERVISOR), min_length=1
    )


class DealerPort(PortParameters):
    """The terminal at the table."""

    device: str = "/dev/ttyGS0"
    roles: tuple[Role, ...] = Field(
        default=(Role.DEALER, Role.FLOORPERSON, Role.SUPERVISOR), min_length=1
    )


class ConsoleParameters(Parameters):
    """Section `[console]`."""

    technician: TechnicianPort = TechnicianPort()
    dealer: DealerPort = DealerPort()

    users_file: Path = Path("/etc/shaker-ctl/users.toml")
    """Names, roles and argon2 hashes. Written by `shaker-ctl console add-user`, read afresh at
    every login, so that adding or removing a person needs no restart. Root's on an
    installed table, and readable by the service's group (0640)."""

    idle_s: float = bounded(600.0, at_least=30.0, at_most=7200.0)
    """Seconds without a key before a person is logged out; a confirmation that waits for their
    role holds it off.

    Shorter: a dealer who talks to a guest logs in again. Longer: an abandoned terminal acts for
    someone else. Estimate; a house's own procedure settles it."""

    answer_s: float = bounded(2.0, at_least=0.2, at_most=30.0)
    """Seconds that a console waits for the table's decision and its record before it says
    `no-answer`. The journal's own deadline plus a margin. Estimate."""

    def ports(self) -> dict[str, PortParameters]:
        """Return the consoles that are switched on, by name."""
        both = {"technician": self.technician, "dealer": self.dealer}
        return {name: port for name, port in both.items() if port.device}
