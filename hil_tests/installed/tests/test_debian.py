"""A Debian in a folder is only deleted when nothing of this machine is mounted in it any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from hil_tests.installed import debian
from hil_tests.installed.debian import DebianError, Recipe, mounts_below, unpack

OTHERS = "21 1 0:19 / /proc rw,relatime - proc proc rw\n22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian that a killed check left behind, its source tree still mounted."""
    root = tmp_path / "a root"
    (root / "source").mkdir(parents=True)
    (root / "source" / "precious.py").write_text("work")
    there = str(root).replace(" ", "\\040")
    table = tmp_path / "mountinfo"
    table.write_text(
        f"{OTHERS}90 22 0:19 / {there}/proc rw - proc proc rw\n"
        f"91 22 8:1 /home {there}/source rw - ext4 /dev/sda1 rw\n"
        f"92 22 8:1 /home {there}-beside/source rw - ext4 /dev/sda1 rw\n"
    )
    monkeypatch.setattr(debian, "MOUNT_TABLE", table)
    return root


def test_what_is_mounted_below_is_told_innermost_first(root: Path) -> None:
    assert mounts_below(root) == [root / "source", root / "proc"]
    assert mounts_below(root / "usr") == []


def test_nothing_is_deleted_while_something_stays_mounted(root: Path) -> None:
    """umount finds nothing here, so that the table goes on naming the tree."""
    with pytest.raises(DebianError, match="still mounted, nothing was deleted"):
        unpack(Recipe("bookworm", ()), root.parent, root)
    assert (root / "source" / "precious.py").read_text() == "work"
