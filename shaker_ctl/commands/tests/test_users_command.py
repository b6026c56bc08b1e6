"""`shaker-ctl console users`, `add-user`, `remove-user`: who may log in, and as what."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl.commands.console import app
from shaker_ctl.console import accounts
from shaker_ctl.console.tests.support import PASSPHRASE
from shaker_ctl.errors import SettingsError
from shaker_ctl.rules.vocabulary import Role


@pytest.fixture
def users(tmp_path: Path) -> Path:
    file = tmp_path / "users.toml"
    accounts.add(file, "ann", Role.DEALER, PASSPHRASE, "ann-1")
    accounts.add(file, "tom", Role.TECHNICIAN, PASSPHRASE, "tom-1")
    return file


def run(users: Path, *words: str, typed: str = "") -> str:
    done = CliRunner().invoke(
        app, [*words, "--users", str(users)], input=typed, catch_exceptions=False
    )
    assert done.exit_code == 0
    return done.output


def test_everybody_is_listed_with_every_role(users: Path) -> None:
    accounts.add(users, "ann", Role.FLOORPERSON, PASSPHRASE, "ann-1")
    lines = [line.split() for line in run(users, "users").splitlines()]
    assert ["ann", "ann-1", "dealer,", "floorperson"] in lines
    assert ["tom", "tom-1", "technician"] in lines


def test_a_second_role_is_said_when_it_is_given(users: Path) -> None:
    said = run(users, "add-user", "ann", "floorperson", typed=f"{PASSPHRASE}\n{PASSPHRASE}\n")
    assert "ann is also dealer" in said


def test_one_role_goes_and_the_others_stay(users: Path) -> None:
    accounts.add(users, "ann", Role.FLOORPERSON, PASSPHRASE, "ann-1")
    run(users, "remove-user", "ann", "dealer")
    left = {(each.name, each.role) for each in accounts.load(users)}
    assert left == {("ann", Role.FLOORPERSON), ("tom", Role.TECHNICIAN)}


def test_a_person_goes_with_every_role(users: Path) -> None:
    accounts.add(users, "ann", Role.FLOORPERSON, PASSPHRASE, "ann-1")
    assert "dealer, floorperson" in run(users, "remove-user", "ann")
    assert {each.name for each in accounts.load(users)} == {"tom"}


def changed(users: Path, old: str, new: str) -> None:
    text = users.read_text()
    assert text.count(old) == 1
    users.write_text(text.replace(old, new))


CHANGES = (
    ('name = "tom"', 'name = "tam"'),
    ('role = "dealer"', 'role = "floorperson"'),
    ('digest = "', 'digest = "0'),
)


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_an_entry_changed_by_hand_lets_nobody_in_until_a_person_accepts_it(
    users: Path, old: str, new: str
) -> None:
    changed(users, old, new)
    before = users.read_bytes()
    for act in (
        lambda: accounts.load(users),
        lambda: accounts.Accounts(users).verify("ann", Role.DEALER, PASSPHRASE),
        lambda: accounts.add(users, "dan", Role.DEALER, PASSPHRASE, "dan-1"),
        lambda: accounts.remove(users, "ann", None),
    ):
        with pytest.raises(SettingsError, match="is not as it was written") as caught:
            act()
        assert "users --accept" in caught.value.remedy
    assert users.read_bytes() == before
    assert "ann" in run(users, "users", "--accept")
    accounts.add(users, "dan", Role.DEALER, PASSPHRASE, "dan-1")
    assert len(accounts.load(users)) == 3


def test_a_file_without_its_last_person_is_no_damaged_one_and_an_emptied_file_is(
    users: Path,
) -> None:
    for name in ("ann", "tom"):
        run(users, "remove-user", name)
    assert accounts.load(users) == ()
    users.write_text("")
    with pytest.raises(SettingsError, match="is not as it was written"):
        accounts.load(users)


def test_each_flipped_bit_and_each_cut_is_named_or_changes_nobody(users: Path) -> None:
    content, whole = users.read_bytes(), accounts.load(users)
    seen = []
    for at in range(len(content)):
        for bit in range(8):
            flipped = content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]
            for damaged in (flipped, content[:at]) if not bit else (flipped,):
                users.write_bytes(damaged)
                try:
                    seen.append(accounts.load(users))
                except SettingsError:
                    seen.append(())
    assert set(seen) == {whole, ()}
    assert seen.count(()) > 0.6 * len(seen), "comments alone may change"


def refused(users: Path, *words: str) -> str:
    with pytest.raises(SettingsError) as caught:
        run(users, *words, typed=f"{PASSPHRASE}\n{PASSPHRASE}\n")
    return caught.value.line()


def test_nobody_is_added_without_a_number_or_with_somebody_elses(users: Path) -> None:
    assert "--number NUMBER" in refused(users, "add-user", "eve", "dealer")
    assert "is ann's" in refused(users, "add-user", "eve", "dealer", "--number", "ANN-1")
    assert "is ann's" in refused(users, "set-number", "tom", "ann-1")
    assert "set-number ann E-9" in refused(users, "add-user", "ann", "dealer", "--number", "E-9")
    run(users, "add-user", "eve", "dealer", "--number", "E-9", typed=f"{PASSPHRASE}\n" * 2)
    assert ["eve", "E-9", "dealer"] in [line.split() for line in run(users, "users").splitlines()]
    run(users, "add-user", "wall7", "viewer", typed=f"{PASSPHRASE}\n" * 2)


@pytest.mark.parametrize("name", ["f\u0430y", "jos\u00e9", "\uff46ay"])
def test_a_name_has_letters_of_one_alphabet(users: Path, name: str) -> None:
    assert "a to z" in refused(users, "add-user", name, "dealer", "--number", "E-9")
    users.write_text(users.read_text().replace('name = "ann"', f'name = "{name}"'))
    with pytest.raises(SettingsError, match="letters a to z"):
        accounts.load(users)


def test_a_file_without_numbers_lets_nobody_in_and_says_what_to_type(users: Path) -> None:
    without = [line for line in users.read_text().splitlines() if not line.startswith("number")]
    users.write_text("\n".join(without) + "\n")
    run(users, "users", "--accept")
    people = accounts.Accounts(users)
    with pytest.raises(SettingsError) as caught:
        people.verify("ann", Role.DEALER, PASSPHRASE)
    assert "no credential number of ann, tom" in str(caught.value)
    assert "set-number NAME NUMBER" in caught.value.remedy
    run(users, "set-number", "ann", "D-1")
    run(users, "set-number", "tom", "T-1")
    found = people.verify("ann", Role.DEALER, PASSPHRASE)
    assert found is not None
    assert found.number == "D-1"


def test_two_names_with_one_number_are_refused_in_the_file(users: Path) -> None:
    users.write_text(users.read_text().replace('number = "tom-1"', 'number = "ann-1"'))
    with pytest.raises(SettingsError, match="ann and tom have the credential number"):
        accounts.load(users)


def test_a_machine_gets_a_token_that_is_printed_once_and_withdrawn_by_name(users: Path) -> None:
    token = run(users, "add-token", "sign4", "display").splitlines()[0]
    kept = {(one.name, one.role): one.hash for one in accounts.load(users)}
    assert kept["sign4", accounts.Looker.DISPLAY] == accounts.token_hash(token)
    assert ["sign4", "none", "display"] in [li.split() for li in run(users, "users").splitlines()]
    assert run(users, "add-token", "sign4", "machine").splitlines()[0] != token
    assert "machine" in run(users, "remove-user", "sign4")
    assert "no role 'display'" in refused(users, "add-user", "eve", "display")
    assert "is a person" in refused(users, "add-token", "tom", "display")
