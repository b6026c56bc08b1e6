"""Passphrases: never seen anywhere, slowed when wrong, and every attempt on record."""

from __future__ import annotations

import json
import os
from pathlib import Path

import argon2
import pytest

from shaker_ctl.console import accounts
from shaker_ctl.console.accounts import Accounts
from shaker_ctl.console.lockout import (
    AT_A_TERMINAL_S,
    MAX_DELAY_S,
    MAX_FOR_ALL_S,
    Lockout,
    delay_s,
)
from shaker_ctl.console.tests.fake_desk import FakeDesk
from shaker_ctl.console.tests.support import PASSPHRASE, Terminal
from shaker_ctl.errors import SettingsError
from shaker_ctl.rules.vocabulary import Role


def test_a_passphrase_is_not_echoed_remembered_or_noted(users: Path) -> None:
    desk = FakeDesk()
    person = Terminal(desk, users)
    said = person.type("login technician tom") + person.type(PASSPHRASE)
    said += person.type("history") + person.type("journal last 50") + person.type("whoami")
    said += person.send(b"\x1b[A\x1b[A\x1b[A\x1b[A")
    assert "ok tom, technician" in said
    assert PASSPHRASE not in said
    assert PASSPHRASE not in str(desk.notes)


def test_a_passphrase_typed_at_the_wrong_moment_is_forgotten(users: Path) -> None:
    desk = FakeDesk()
    person = Terminal(desk, users)
    for slip in (
        PASSPHRASE,
        f"login technician {PASSPHRASE}",
        f"login technician tom {PASSPHRASE}",
    ):
        said = person.type(slip)
        echoed, answered = said.split("\r\n", 1)
        assert PASSPHRASE in echoed
        assert PASSPHRASE not in answered
        person.send(b"\x03")
    person.type(f"login technician {PASSPHRASE}")
    person.type("whatever it is")
    assert PASSPHRASE not in person.type("history").split("\r\n", 1)[1]
    assert PASSPHRASE not in str(desk.notes)


def test_in_machine_mode_the_passphrase_is_asked_for_by_an_event(users: Path) -> None:
    person = Terminal(FakeDesk(), users)
    person.type("mode machine")
    assert json.loads(person.type("login technician tom"))["event"] == "passphrase"
    assert json.loads(person.type(PASSPHRASE))["status"] == "ok"


@pytest.mark.parametrize(
    ("role", "name", "passphrase"),
    [
        ("technician", "tom", "wrong but long"),
        ("technician", "nobody", PASSPHRASE),
        ("technician", "dan", PASSPHRASE),
        ("supervisor", "tom", PASSPHRASE),
        ("technician", "tom", ""),
        ("technician", "tom", PASSPHRASE.lower()),
        ("technician", "tom", PASSPHRASE + " "),
        ("technician", "tom", "x" * 150),
        ("technician", "tom", PASSPHRASE + "\0"),
    ],
)
def test_name_role_and_passphrase_must_belong_together(
    users: Path, role: str, name: str, passphrase: str
) -> None:
    desk = FakeDesk()
    person = Terminal(desk, users)
    person.type(f"login {role} {name}")
    assert "error wrong-passphrase" in person.type(passphrase)
    assert desk.notes[-1].kind == "login-refused"
    assert desk.notes[-1].actor.role is None


def test_the_delay_grows_and_the_lock_is_recorded(users: Path) -> None:
    desk = FakeDesk()
    lockout = Lockout()
    person = Terminal(desk, users, lockout=lockout)
    waits = []
    for _ in range(7):
        person.type("login technician tom")
        person.type("wrong but long")
        waits.append(round(lockout.remaining_s("tom", person.now), 1))
        assert waits[-1] < 1 or "error locked-out" in person.type("login technician tom")
        person.wait(lockout.remaining_s("tom", person.now) + 1)
    assert waits[:2] == [0.0, 0.0]
    assert waits[2:] == sorted(waits[2:])
    assert waits[-1] > 20
    kinds = [note.kind for note in desk.notes]
    assert kinds == ["login-refused"] * 4 + ["login-locked"] * 3


def test_the_lock_outlives_the_line(users: Path) -> None:
    lockout = Lockout()
    for _ in range(4):
        lockout.wrong("tom", 1000.0)
    assert "locked-out" in Terminal(FakeDesk(), users, lockout=lockout).type("login technician tom")


def test_another_persons_login_does_not_forgive_guesses_at_a_name() -> None:
    lockout = Lockout()
    for _ in range(5):
        lockout.wrong("sue", 0.0)
    lockout.right("dan")
    assert lockout.remaining_s("dan", 1.0) == 0.0
    assert lockout.remaining_s("sue", 1.0) > 0.0
    assert lockout.wrong("sue", 1.0) == delay_s(6)


def test_a_stranger_at_a_terminal_keeps_no_name_out_for_long() -> None:
    lockout = Lockout()
    now = 0.0
    for _ in range(20):
        now += lockout.wrong("tom", now)
    assert lockout.remaining_s("tom", now - AT_A_TERMINAL_S) <= AT_A_TERMINAL_S == 30.0
    lockout = Lockout(MAX_DELAY_S)
    for _ in range(20):
        lockout.wrong("tom", 0.0)
    assert lockout.remaining_s("tom", 0.0) == MAX_DELAY_S
    assert delay_s(10_000) == MAX_DELAY_S


def test_a_role_of_the_other_console_is_refused_before_the_passphrase(users: Path) -> None:
    person = Terminal(FakeDesk(), users, port="dealer", roles=(Role.DEALER,))
    said = person.type("login technician tom")
    assert "error not-on-this-port" in said
    assert "Passphrase" not in said


def test_a_missing_users_file_is_told_with_its_remedy(tmp_path: Path) -> None:
    person = Terminal(FakeDesk(), tmp_path / "none.toml")
    person.type("login technician tom")
    said = person.type(PASSPHRASE).replace("\r\n", " ")
    assert "error no-users" in said
    assert "add-user" in said


def test_nobody_waits_for_a_passphrase_for_ever(users: Path) -> None:
    person = Terminal(FakeDesk(), users)
    person.type("login technician tom")
    assert "error interrupted" in person.wait(61)
    assert "Table 7" in person.type("status")


def test_people_can_be_added_and_given_a_new_passphrase(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "users.toml"
    assert not accounts.add(path, "anna", Role.FLOORPERSON, "first passphrase", "anna-1")
    assert not accounts.add(path, "anna", Role.SUPERVISOR, "other passphrase", "anna-1")
    assert accounts.add(path, "anna", Role.FLOORPERSON, "second passphrase", "anna-1")
    people = Accounts(path)
    assert people.verify("anna", Role.FLOORPERSON, "second passphrase")
    assert people.verify("anna", Role.SUPERVISOR, "other passphrase")
    assert not people.verify("anna", Role.FLOORPERSON, "first passphrase")
    assert path.stat().st_mode & 0o077 == 0
    assert "passphrase" not in path.read_text().replace("no passphrases", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to other groups")
def test_what_root_writes_into_the_tables_folder_the_service_can_read(tmp_path: Path) -> None:
    os.chown(tmp_path, -1, 4242)
    path = tmp_path / "users.toml"
    accounts.add(path, "fay", Role.FLOORPERSON, "correct horse", "fay-1")
    assert path.stat().st_gid == 4242
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "text",
    [
        "not toml [",
        'user = "anna"',
        "[other]\n",
        '[[user]]\nname = "a"\nrole = "king"\nhash = "$argon2id$x"\n',
        '[[user]]\nname = "a"\nrole = "dealer"\nhash = "plain"\n',
        '[[user]]\nname = "a b"\nrole = "dealer"\nhash = "$argon2id$x"\n',
        '[[user]]\nname = "a"\nrole = "dealer"\nhash = "$argon2id$x"\nadmin = true\n',
        "#" * 70_000,
    ],
)
def test_a_wrong_users_file_is_one_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "users.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=r"users\.toml"):
        accounts.load(path)


def test_the_remedy_for_a_wrong_users_file_leads_out_of_it(tmp_path: Path) -> None:
    path = tmp_path / "users.toml"
    with pytest.raises(SettingsError) as missing:
        accounts.load(path)
    assert "Write it with: shaker-ctl console add-user" in missing.value.line()
    path.write_text("not toml [")
    with pytest.raises(SettingsError) as wrong:
        accounts.add(path, "anna", Role.DEALER, PASSPHRASE, "anna-1")
    assert "move it aside" in wrong.value.line()
    path.rename(tmp_path / "aside")
    assert not accounts.add(path, "anna", Role.DEALER, PASSPHRASE, "anna-1")


@pytest.mark.parametrize("passphrase", ["short", "x" * 129])
def test_a_passphrase_has_a_reasonable_length(tmp_path: Path, passphrase: str) -> None:
    with pytest.raises(SettingsError):
        accounts.add(tmp_path / "users.toml", "anna", Role.DEALER, passphrase, "anna-1")


def test_an_unknown_name_takes_as_long_as_a_known_one(
    users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the costs that the hash names: argon2's time is theirs alone."""
    hasher, asked = accounts._HASHER, list[str]()

    def verify(_hasher: argon2.PasswordHasher, stored: str, _word: str) -> None:
        asked.append(stored)
        raise argon2.exceptions.VerifyMismatchError

    monkeypatch.setattr(argon2.PasswordHasher, "verify", verify)
    for name in ("tom", "nobody"):
        assert Accounts(users).verify(name, Role.TECHNICIAN, PASSPHRASE) is None
    assert len(asked) == 2
    assert not any(hasher.check_needs_rehash(stored) for stored in asked)


def test_a_stranger_who_invents_names_locks_nobody_else_out_for_long() -> None:
    """Seventeen minutes of wrong logins, each with another name; then a dealer comes."""
    lockout, now = Lockout(), 0.0
    tries = 0
    while now < 1000.0:
        now += max(1.0, lockout.remaining_s(f"name{tries}", now))
        lockout.wrong(f"name{tries}", now)
        tries += 1
    assert lockout.remaining_s("dan", now) <= MAX_FOR_ALL_S
    assert tries < 1000 / MAX_FOR_ALL_S + 10, "guessing is slowed all the same"
