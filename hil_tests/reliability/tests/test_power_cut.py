"""Whatever an act is cut short at, nothing that it had reported is lost."""

from __future__ import annotations

import sys

import pytest

from hil_tests.reliability import power_cut
from hil_tests.reliability.power_cut import ACTS, GOES_ON, Act, Medium, images, tried

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ptrace(2) is Linux")

MIN_STATES = {
    "records and a change of volume": 25,
    "second copy written anew": 20,
    "archive": 15,
    "fetch": 10,
    "removal": 10,
}
"""States that an act has at least; 5 where it has no number here."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.name)
def test_each_state_that_a_crash_leaves_is_gone_on_from(act: Act) -> None:
    seen = tried(act)
    assert set(seen) == {GOES_ON}, seen
    assert seen.total() >= MIN_STATES.get(act.name, 5)


def test_what_was_not_synced_is_lost_and_what_was_is_not() -> None:
    medium = Medium({1: b"", 2: b"old"}, {"./": 1, "a": 2})
    files, inodes = {"./": b"", "a": b"new", "b": b"more"}, {"./": 1, "a": 2, "b": 3}
    left = dict(images(files, inodes, medium))
    assert left["killed"] == files
    assert left["power cut"] == {"./": b"", "a": b"old"}
    assert left["power cut, names first"] == {"./": b"", "a": b"old", "b": b""}
    medium.sync("b", files, inodes)
    assert dict(images(files, inodes, medium))["power cut"] == {"./": b"", "a": b"old"}
    medium.sync(".", files, inodes)
    assert dict(images(files, inodes, medium))["power cut"] == {
        "./": b"",
        "a": b"old",
        "b": b"more",
    }


def test_a_synced_name_in_a_folder_whose_own_name_is_lost_is_lost() -> None:
    inodes = {"./": 1, "new/": 2, "new/a": 3}
    files = {"./": b"", "new/": b"", "new/a": b"x"}
    medium = Medium({1: b""}, {"./": 1})
    medium.sync("new/a", files, inodes)
    medium.sync("new", files, inodes)
    assert medium.left(medium.names) == {"./": b""}
    medium.sync(".", files, inodes)
    assert medium.left(medium.names) == files


def test_a_loss_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that reports what it has not synced is found."""
    act = next(one for one in ACTS if one.name.startswith("records"))
    program = power_cut.PROGRAM.replace(
        "act.does",
        "import os; os.fdatasync = lambda _: None; act.does",
    )
    monkeypatch.setattr(power_cut, "PROGRAM", program)
    seen = tried(act)
    assert any("a reported record is lost" in what for what in seen), seen
