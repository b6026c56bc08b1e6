"""A person who signs an act on the command line: name, role, passphrase and a reason.

Must not know what is signed.
"""

from __future__ import annotations

from pathlib import Path

import typer

from shaker_ctl.console.accounts import Accounts
from shaker_ctl.errors import RefusedError
from shaker_ctl.quoting import require_words
from shaker_ctl.rules.vocabulary import Person, Role

MENDERS = (Role.TECHNICIAN, Role.SUPERVISOR)
ROLES = "--role technician (as where none is given), or --role supervisor"


def require_mender(users: Path, name: str, role: Role, reason: str, act: str) -> Person:
    """Ask for the passphrase of a technician or supervisor, and for nothing where it cannot do.
    Return who signed.

    `act`: what is signed, after "does not". Raises RefusedError, and SettingsError of `users`.
    """
    if role not in MENDERS:
        raise RefusedError(
            f"a {role.value} does not {act}", remedy=f"A technician or supervisor does: {ROLES}"
        )
    require_words("--reason", reason)
    passphrase = typer.prompt("Passphrase", hide_input=True)
    account = Accounts(users).verify(name, role, passphrase)
    if account is None:
        raise RefusedError(
            f"{name} as {role.value} and this passphrase do not belong together",
            remedy=f"Type the passphrase again, with your own name and role: {ROLES}; people and "
            f"roles stand in {users}",
        )
    return Person(name, role, account.number)
