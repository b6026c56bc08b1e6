"""A person who signs an act on the command line: name, role, passphrase and a reason.

Must not know what is signed.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    return signed_in(users, name, (role,), f"with your own name and role: {ROLES}")


def signed_in(users: Path, name: str, roles: Iterable[Role], otherwise: str) -> Person:
    """Ask for the passphrase; return the person in the first of `roles` that it is theirs for.

    `otherwise`: how to try again. Raises RefusedError, and SettingsError of `users`.
    """
    passphrase, people = typer.prompt("Passphrase", hide_input=True), Accounts(users)
    for role in roles:
        if account := people.verify(name, role, passphrase):
            return Person(name, role, account.number)
    raise RefusedError(
        f"{name} and this passphrase do not belong together",
        remedy=f"Type the passphrase again, {otherwise}; people and roles stand in {users}",
    )
