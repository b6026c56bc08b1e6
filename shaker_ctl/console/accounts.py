"""Who may log in: the users file and the passphrases in it, as argon2id hashes.

Owns the file's form and the check of a passphrase. Must not know ports, delays or what a role may
do. A check takes some tens of milliseconds of one core by design; it runs in the console's own
thread, and argon2 releases the interpreter's lock meanwhile.

The file has a digest over its entries, so that a damaged or hand-changed entry lets nobody in. The
digest is no signature: whoever may write the file can write the digest.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from shaker_ctl.errors import SettingsError, reraise_as
from shaker_ctl.frozen import frozen
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.whole_file import put, read_bounded


class Looker(Enum):
    """Roles for looking alone: the page knows them, no console lets them in, no record names them
    as somebody who acted."""

    VIEWER = "viewer"
    """A screen on a wall, or a trainee: what the table shows now."""
    SURVEILLANCE = "surveillance"
    """Rounds with their pictures, exports of cases, and who looked at what."""
    DISPLAY = "display"
    """A machine with a token: what the room may read."""
    MACHINE = "machine"
    """A machine with a token: rounds and day sheets, too, with the persons in them."""


MACHINES = frozenset({Looker.DISPLAY, Looker.MACHINE})
"""Roles of tokens: nobody logs in with one."""


AnyRole = Role | Looker

ROLES: dict[str, AnyRole] = {role.value: role for role in (*Role, *Looker)}
"""Every role that a users file may give."""
PEOPLE = tuple(name for name, role in ROLES.items() if role not in MACHINES)
"""Those that a person may have."""

MIN_PASSPHRASE = 8
"""Characters of a passphrase: NIST SP 800-63B, 5.1.1.1."""
MAX_PASSPHRASE = 128
MAX_FILE = 65_536
_NAME = re.compile(r"\w[\w.-]{0,31}", re.ASCII)
_NAME_FORM = "up to 32 letters a to z, digits, . _ -"
"""Letters of one alphabet: names that look alike are alike."""
_NUMBER = re.compile(r"[A-Za-z0-9][A-Za-z0-9./-]{0,31}")
_NUMBER_FORM = "up to 32 letters a to z, digits, . / -"

# OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, 2 passes, 1 lane. Fits beside the model
# on a small computer; two consoles checking at once need 38 MiB for a moment.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)

_NOBODY = (
    "$argon2id$v=19$m=19456,t=2,p=1$pQF9bRNIgbIsnPNL/2nh5Q$"
    "AGxe+cNFFyvdkStYWFwp6E4oktWyF90UTcTlisZv130"
)
"""Checked when a name is unknown, so that the answer takes as long as for a known one: the hash of
random bytes that nobody kept, with the costs of `_HASHER`."""


LOOK_AGAIN_S = 10.0
"""Between two looks into the users file for people who are logged in: who was removed, or has
another passphrase, is out."""


@frozen
class Account:
    """One person in one role. Whoever has two roles stands in the file twice, with one number."""

    name: str
    role: AnyRole
    hash: str
    number: str = ""
    """Of the licence or credential. Who acts at a table has one; a screen that looks may have none.
    """


class Accounts:
    """The users file, read afresh at every login so that changes need no restart."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def verify(self, name: str, role: AnyRole, passphrase: str) -> Account | None:
        """Return to whom the three belong; None: to nobody. Takes tens of milliseconds either way.

        Raises `SettingsError` when the users file cannot be used.
        """
        asked = (one for one in admitted(self._path) if (one.name, one.role) == (name, role))
        found = next(asked, None)
        try:
            _HASHER.verify(found.hash if found else _NOBODY, passphrase)
        except (Argon2Error, InvalidHashError):
            return None
        return found

    def version(self) -> tuple[int, ...] | None:
        """What differs once the file was changed or exchanged; None where it is not there."""
        try:
            now = self._path.stat()
        except OSError:
            return None
        return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns

    def stored(self) -> dict[tuple[str, AnyRole], str]:
        """Return each person's hash now, by name and role. Raises `SettingsError` like `verify`."""
        return {(account.name, account.role): account.hash for account in admitted(self._path)}

    def knows(self, name: str) -> bool:
        """True when anybody has this name. Raises `SettingsError` like `verify`."""
        return any(account.name == name for account in admitted(self._path))


def load(path: Path) -> tuple[Account, ...]:
    """Read the users file. Raises `SettingsError` naming file and entry."""
    accounts, digest = _read(path)
    if digest != _digest(accounts):
        raise SettingsError(
            f"the users file {path} is not as it was written: an entry is damaged, missing or "
            "changed by hand",
            remedy=f"Restore it from a copy. If the change is yours: {_ACCEPT} {path}",
        )
    return accounts


def load_if_any(path: Path) -> tuple[Account, ...]:
    """Read the users file as `load`; nobody where there is none yet."""
    return load(path) if path.exists() else ()


def admitted(path: Path) -> tuple[Account, ...]:
    """Read the users file as `load`. Raises `SettingsError` also where somebody who acts at the
    table has no credential number, which alone tells two persons apart."""
    found = load(path)
    without = sorted({one.name for one in found if isinstance(one.role, Role) and not one.number})
    if without:
        raise SettingsError(
            f"the users file {path} has no credential number of {', '.join(without)}",
            remedy=f"For each of them: shaker-ctl console set-number NAME NUMBER --users {path}",
        )
    return found


def accept(path: Path) -> tuple[Account, ...]:
    """Write a new digest over the entries as they stand; return them. Raises `SettingsError`."""
    accounts, _ = _read(path)
    _write(path, list(accounts))
    return accounts


_ACCEPT = "shaker-ctl console users --accept --users"
_ADD = "shaker-ctl console add-user NAME ROLE --users"


def _digest(accounts: Sequence[Account]) -> str:
    """SHA-256 over all entries in their order, hex."""
    entries = [
        [one.name, one.role.value, one.hash, *([one.number] if one.number else [])]
        for one in accounts
    ]
    return hashlib.sha256(json.dumps(entries).encode()).hexdigest()


def _read(path: Path) -> tuple[tuple[Account, ...], str | None]:
    """Return the entries, and the digest that stands there. Raises `SettingsError`."""
    with_ = f"with: {_ADD} {path}"
    # `add` reads it first: no passphrase can be given in a file that is there and cannot be used.
    remedy = f"Mend it, or move it aside and write it anew {with_}"
    try:
        raw = tomllib.loads(read_bounded(path, MAX_FILE).decode())
    except FileNotFoundError as error:
        raise SettingsError(f"there is no users file {path}", remedy=f"Write it {with_}") from error
    except OSError as error:
        raise SettingsError(
            f"cannot read the users file {path}: {error.strerror}", remedy=remedy
        ) from error
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, nested too deep
        raise SettingsError(
            f"the users file {path} is not valid TOML: {error}", remedy=remedy
        ) from error
    digest, people = raw.pop("digest", None), raw.pop("user", [])
    if raw or not isinstance(people, list) or not isinstance(digest, str | None):
        raise SettingsError(
            f"the users file {path} holds only a digest and [[user]] tables", remedy=remedy
        )
    entries = enumerate(people, start=1)
    accounts = [_account(entry, f"{path}, user {number}", remedy) for number, entry in entries]
    for one in accounts:
        if (other := _other_with(accounts, one.name, one.number)) is not None:
            raise SettingsError(
                f"{path}: {one.name} and {other} have the credential number {one.number}",
                remedy=f"Give each their own in the file, then: {_ACCEPT} {path}",
            )
    return tuple(accounts), digest


def _other_with(accounts: Sequence[Account], name: str, number: str) -> str | None:
    """Return who else has this number, or None."""
    same = (one for one in accounts if number and one.number.casefold() == number.casefold())
    return next((one.name for one in same if one.name != name), None)


def _account(entry: object, where: str, remedy: str) -> Account:
    if not isinstance(entry, dict) or set(entry) - {"number"} != {"name", "role", "hash"}:
        raise SettingsError(
            f"{where}: name, number, role and hash belong here, nothing else", remedy=remedy
        )
    name, role, stored = entry["name"], entry["role"], entry["hash"]
    number = entry.get("number", "")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SettingsError(f"{where}: a name is {_NAME_FORM}", remedy=remedy)
    if not isinstance(number, str) or (number and not _NUMBER.fullmatch(number)):
        raise SettingsError(f"{where}: a number is {_NUMBER_FORM}", remedy=remedy)
    if not isinstance(role, str) or role not in ROLES:
        raise SettingsError(f"{where}: role {role!r} does not exist", remedy=remedy)
    form = TOKEN_HASH if ROLES[role] in MACHINES else "$argon2id$"
    if not isinstance(stored, str) or not stored.startswith(form):
        raise SettingsError(f"{where}: hash is not {form}...", remedy=remedy)
    return Account(name, ROLES[role], stored, number)


def hash_passphrase(passphrase: str) -> str:
    """Return the hash to be stored. Raises `SettingsError` for one that is too short or long."""
    if not MIN_PASSPHRASE <= len(passphrase) <= MAX_PASSPHRASE:
        raise SettingsError(
            f"a passphrase has {MIN_PASSPHRASE} to {MAX_PASSPHRASE} characters",
            remedy="Choose another; several words are easier to keep than one odd one",
        )
    return _HASHER.hash(passphrase)


TOKEN_HASH = "sha256:"
"""A token is 32 random bytes, which nobody guesses: a slow hash would only let strangers burn
processor time at the door (OWASP ASVS 4.0.3, 2.4: slow hashes are for what people choose)."""


def token_hash(token: str) -> str:
    """Return how a machine's token is kept."""
    return TOKEN_HASH + hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def add_token(path: Path, name: str, role: AnyRole) -> str:
    """Let a machine look, by a new token in place of its former one; return the token, which is
    kept nowhere. Raises `SettingsError`, also where a person has this name.
    """
    require_name(name)
    there = load_if_any(path)
    if any(one.name == name and one.role not in MACHINES for one in there):
        raise SettingsError(f"{name} is a person", remedy="Give the machine a name of its own")
    token = secrets.token_urlsafe(32)
    mine = Account(name, role, token_hash(token))
    _write(path, [*(one for one in there if one.name != name), mine])
    return token


def require_name(name: str) -> None:
    """Raise `SettingsError` for what cannot be a login name."""
    if not _NAME.fullmatch(name):
        raise SettingsError(f"{name!r} cannot be a login name", remedy=f"Use {_NAME_FORM}")


def number_for(path: Path, name: str, role: AnyRole, number: str) -> str:
    """Return the credential number with which a person is added: `number`, or the one they have.

    Raises `SettingsError` where there is none, they have another, or somebody else has it.
    """
    there = load_if_any(path)
    held = next((one.number for one in there if one.name == name and one.number), "")
    if held and number and held != number:
        raise SettingsError(
            f"{name} has the credential number {held}",
            remedy=f"Leave --number out; to change it: shaker-ctl console set-number {name} "
            f"{number} --users {path}",
        )
    _require_free(there, name, number)
    if isinstance(role, Role) and not (number or held):
        raise SettingsError(
            f"{name} needs a credential number, which nobody else has",
            remedy="Give that of the licence, or of the house's badge: --number NUMBER",
        )
    return number or held


def set_number(path: Path, name: str, number: str) -> None:
    """Give a person their credential number, in every role. Raises `SettingsError`."""
    there = load(path)
    _require_free(there, name, number)
    if name not in {one.name for one in there}:
        raise SettingsError(
            f"{path} knows no user {name!r}", remedy=f"Add them with: {_ADD} {path}"
        )
    _write(path, [replace(one, number=number) if one.name == name else one for one in there])


def _require_free(there: Sequence[Account], name: str, number: str) -> None:
    if number and not _NUMBER.fullmatch(number):
        raise SettingsError(
            f"{number!r} cannot be a credential number", remedy=f"Use {_NUMBER_FORM}"
        )
    if (other := _other_with(there, name, number)) is not None:
        raise SettingsError(
            f"the credential number {number} is {other}'s",
            remedy="Two persons have two numbers: give each their own",
        )


def add(path: Path, name: str, role: AnyRole, passphrase: str, number: str = "") -> bool:
    """Add a person, or give them a new passphrase; True when they were there before.

    `number`: of their credential; may be left out for a person who has one, and for who only looks.

    The file is replaced in one step and readable by its owner only, or, where root writes it into
    a group's folder, by that group. Raises `SettingsError`.
    """
    require_name(name)
    number = number_for(path, name, role, number)
    there = load_if_any(path)
    if any(one.name == name and one.role in MACHINES for one in there):
        raise SettingsError(f"{name} is a machine", remedy="Give the person another name")
    others = [account for account in there if (account.name, account.role) != (name, role)]
    mine = Account(name, role, hash_passphrase(passphrase), number)
    _write(path, [*others, mine])
    return len(others) < len(there)


def remove(path: Path, name: str, role: AnyRole | None) -> tuple[AnyRole, ...]:
    """Take one role from a person, or all with None; return those that were taken.

    Raises `SettingsError` where the person has none of them.
    """
    there = load(path)
    gone = [each for each in there if each.name == name and role in (None, each.role)]
    if not gone:
        raise SettingsError(
            f"{path} knows no {role.value if role else 'user'} {name!r}",
            remedy=f"See who may log in with: shaker-ctl console users --users {path}",
        )
    _write(path, [each for each in there if each not in gone])
    return tuple(each.role for each in gone)


def _write(path: Path, accounts: list[Account]) -> None:
    lines = [
        "# People who may log in at this table's consoles, and machines; hashes, no passphrases.",
        "# shaker-ctl console add-user, add-token and remove-user write this file.",
        f'digest = "{_digest(accounts)}"',
    ]
    for account in accounts:
        lines += [
            "",
            "[[user]]",
            f'name = "{account.name}"',
            *([f'number = "{account.number}"'] if account.number else []),
            f'role = "{account.role.value}"',
            f'hash = "{account.hash}"',
        ]
    remedy = "Run as the user who owns it, or name another with --users"
    with reraise_as(SettingsError, f"cannot write the users file {path}", remedy=remedy):
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = path.parent
        put(path, "\n".join(lines) + "\n", lambda file: _let_group_read(file, folder))


def _let_group_read(number: int, folder: Path) -> None:
    """On an installed table root writes the file, and the service reads it by the folder's group.

    Elsewhere, and in a folder of root's own, it stays readable by its writer alone.
    """
    group = folder.stat().st_gid
    if os.geteuid() == 0 and group != 0:
        os.fchown(number, -1, group)
        os.fchmod(number, 0o640)
