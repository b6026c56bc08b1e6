"""When a session ends: idle, after a shift, and when its person is no longer one."""

from __future__ import annotations

from pathlib import Path

import pytest
from argon2 import PasswordHasher

from shaker_ctl.console import accounts
from shaker_ctl.console.accounts import ROLES, Accounts
from shaker_ctl.console.lockout import LOCKED_AFTER, MAX_DELAY_S, MAX_FOR_ALL_S
from shaker_ctl.page.people import (
    MAX_CLIENTS,
    MAX_LOGIN_S,
    MAX_OWN_SESSIONS,
    MAX_SESSIONS,
    NOBODY,
    Logins,
    UncheckedPassword,
)

WORD = "correct horse battery"
IDLE_S = 900.0


class Pit:
    """People with a clock that a test sets, and one of each role who has logged in."""

    def __init__(self, folder: Path) -> None:
        self.now_s = 1000.0
        self.users = folder / "users.toml"
        for name, role in (("fay", "floorperson"), ("wall7", "viewer")):
            accounts.add(self.users, name, ROLES[role], WORD, f"{name}-1")
        self.people = Logins(Accounts(self.users), IDLE_S, clock=lambda: self.now_s)
        self.cookies = {}
        for name, role in (("fay", "floorperson"), ("wall7", "viewer")):
            got = self.people.log_in(name, role, WORD, "10.0.0.1")
            assert isinstance(got, tuple)
            self.cookies[name] = got[0]

    def is_in(self, name: str) -> bool:
        return self.people.session(self.cookies[name]) is not NOBODY


@pytest.fixture
def pit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pit:
    """Its passphrases cost a thousandth of a table's, which hundreds of logins would wait for."""
    monkeypatch.setattr(accounts, "_HASHER", PasswordHasher(1, 8, 1))
    return Pit(tmp_path)


def test_who_is_idle_is_out(pit: Pit) -> None:
    pit.now_s += IDLE_S - 1
    assert pit.is_in("fay")
    pit.now_s += IDLE_S + 1
    assert not pit.is_in("fay")


def test_a_script_keeps_no_session_longer_than_a_shift_but_a_wall_goes_on(pit: Pit) -> None:
    wall = pit.people.session(pit.cookies["wall7"])
    for _ in range(int(MAX_LOGIN_S / 600) + 1):
        pit.now_s += 600
        is_in = pit.is_in("fay")
        assert pit.people.goes_on(wall)
    assert not is_in


def test_who_is_removed_from_the_users_file_is_out(pit: Pit) -> None:
    wall = pit.people.session(pit.cookies["wall7"])
    accounts.remove(pit.users, "wall7", ROLES["viewer"])
    assert not pit.people.goes_on(wall)
    assert pit.is_in("fay")


def test_a_new_passphrase_ends_what_the_old_one_opened(pit: Pit) -> None:
    accounts.remove(pit.users, "fay", ROLES["floorperson"])
    accounts.add(pit.users, "fay", ROLES["floorperson"], WORD, "fay-1")
    assert not pit.is_in("fay")


def test_a_users_file_that_is_being_mended_puts_nobody_out(pit: Pit) -> None:
    pit.users.write_text("[[", "utf-8")
    assert pit.is_in("fay")


def test_who_guesses_at_one_computer_locks_nobody_out_at_another(pit: Pit) -> None:
    for _ in range(LOCKED_AFTER + 2):
        pit.now_s += MAX_DELAY_S
        assert isinstance(pit.people.log_in("fay", "floorperson", "guess", "10.0.0.66"), str)
    assert pit.people.is_locked("fay", "10.0.0.66")
    pit.now_s += MAX_FOR_ALL_S
    refused = pit.people.log_in("fay", "floorperson", WORD, "10.0.0.66")
    assert isinstance(refused, UncheckedPassword)
    assert isinstance(pit.people.log_in("fay", "floorperson", WORD, "10.0.0.1"), tuple)


def test_clients_that_are_remembered_have_a_bound(pit: Pit) -> None:
    for number in range(MAX_CLIENTS + 10):
        assert not pit.people.is_locked("fay", f"10.0.1.{number}")
    assert len(pit.people._lockouts) == MAX_CLIENTS


@pytest.mark.parametrize("computers", [1, 120])
def test_who_polls_the_login_keeps_nobody_else_out(pit: Pit, computers: int) -> None:
    looked_at = 0
    for poll in range(200):
        pit.now_s += 0.2
        polling = f"10.0.2.{poll % computers}"
        got = pit.people.log_in("fay", "floorperson", f"guess {poll}", polling)
        looked_at += not isinstance(got, UncheckedPassword)
        if poll % 40 == 39:
            assert isinstance(pit.people.log_in("fay", "floorperson", WORD, "10.0.0.1"), tuple)
    assert computers > 1 or looked_at < 20
    assert pit.people.is_locked("fay", "10.0.2.0") is (computers == 1)


def test_who_logs_in_often_ends_their_own_sessions_alone(pit: Pit) -> None:
    for _ in range(MAX_SESSIONS + 1):
        got = pit.people.log_in("wall7", "viewer", WORD, "10.0.0.2")
        assert isinstance(got, tuple)
    assert pit.is_in("fay")
    assert not pit.is_in("wall7")
    assert sum(one.name == "wall7" for one in pit.people._sessions.values()) == MAX_OWN_SESSIONS
