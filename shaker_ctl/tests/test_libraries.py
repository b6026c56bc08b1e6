"""A table's libraries have one version each, one digest each, and are what was installed."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from shaker_ctl import libraries
from shaker_ctl.tests.installed_library import install_library

ROOT = Path(libraries.__file__).parents[1]
IN_TREE = [libraries.LOCK, *sorted(ROOT.glob("hil_tests/lock*.txt"))]
IN_TREE += sorted(ROOT.glob("models/training/lock.txt"))
EVERYWHERE = [*IN_TREE, ROOT / "shaker_ctl" / "floor" / "lock.txt"]
ENTRY = re.compile(r"([a-z0-9-]+)==([^ ;]+)( ; [^\\]+)? \\$")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?$")


@pytest.mark.parametrize("lock", EVERYWHERE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_lock_holds_names_versions_and_hashes_and_nothing_else(lock: Path) -> None:
    lines = [line for line in lock.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(lines) > 20
    assert [line for line in lines if not ENTRY.match(line) and not HASH.match(line)] == []
    assert not re.search(r"://|www\.|--(extra-)?index|--find-links", lock.read_text("utf-8"))


def test_no_library_stands_in_two_versions_or_with_two_sets_of_wheels_in_the_locks() -> None:
    seen: dict[str, set[str]] = {}
    for lock in EVERYWHERE:
        for entry in re.split(r"\n(?=[a-z0-9])", lock.read_text("utf-8")):
            name, _, pinned = entry.partition("==")
            seen.setdefault(name, set()).add(re.sub(r" ; [^\\]+", " ", pinned).strip())
    assert {name: entries for name, entries in seen.items() if len(entries) > 1} == {}


@pytest.mark.skipif(len(IN_TREE) == 1, reason="an installed package has one lock")
def test_a_list_has_only_what_the_lists_before_it_lack() -> None:
    table = set(libraries.locked())
    rig = set(libraries.locked(ROOT / "hil_tests" / "lock.txt"))
    assert not table & rig
    for lock in set(EVERYWHERE) - {libraries.LOCK, ROOT / "hil_tests" / "lock.txt"}:
        installed = table if "floor" in lock.parts else table | rig
        assert not installed & set(libraries.locked(lock)), lock


def test_what_decides_is_locked_and_bounded_from_above() -> None:
    assert set(libraries.DECIDING) <= set(libraries.locked())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    bounds = dict(re.split(r"(?=[<>=])", need, maxsplit=1) for need in project["dependencies"])
    assert {name for name in libraries.DECIDING if "<" not in bounds[name]} == set()
    assert set(bounds) <= set(libraries.locked())


@pytest.mark.skipif(len(IN_TREE) == 1, reason="an installed package has one lock")
def test_whatever_the_source_tree_asks_for_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    rig = tomllib.loads((ROOT / "hil_tests" / "pyproject.toml").read_text("utf-8"))
    asked = [need for group in project["dependency-groups"].values() for need in group]
    asked += rig["project"]["dependencies"]
    asked += [n for extra in project["project"]["optional-dependencies"].values() for n in extra]
    names = {re.split(r"[<>=[]", need)[0].lower() for need in asked} - {
        "shaker-ctl",
        "torch",
        "virtual-pigpiod",
    }
    assert names <= {name for lock in EVERYWHERE for name in libraries.locked(lock)}


def test_a_tables_lock_has_what_its_page_and_its_link_need_and_nothing_of_the_floor() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    names = {key: {re.split(r"[<>=[]", n)[0] for n in needs} for key, needs in extras.items()}
    assert names["page"] | names["link"] | names["pi"] <= set(libraries.locked())
    assert not names["floor"] & set(libraries.locked())


def test_the_same_wheel_has_the_same_digest_in_every_folder(tmp_path: Path) -> None:
    digests = set()
    for name in ("here", "there"):
        folder = tmp_path / name
        folder.mkdir()
        install_library(folder, "numpy", "numpy.py", b"x = 1\n")
        (folder / "numpy-9.9.dist-info" / "INSTALLER").write_text(name)
        with (folder / "numpy-9.9.dist-info" / "RECORD").open("a") as record:
            record.write(f"../../bin/{name},sha256={name},3\n__pycache__/numpy.pyc,,\n")
        digests.add(libraries.deciding(folder)["numpy"])
        assert list(libraries.damage(folder)) == []
    assert len(digests) == 1


def test_another_wheel_of_the_same_version_has_another_digest(tmp_path: Path) -> None:
    install_library(tmp_path, "numpy", "numpy.py", b"x = 1\n")
    before = libraries.deciding(tmp_path)
    install_library(tmp_path, "numpy", "numpy.py", b"x = 2\n")
    assert libraries.deciding(tmp_path) != before
    assert list(libraries.damage(tmp_path)) == []


def test_a_changed_and_a_missing_file_of_a_library_are_named(tmp_path: Path) -> None:
    install_library(tmp_path, "numpy", "numpy.py", b"x = 1\n")
    (tmp_path / "numpy.py").write_bytes(b"x = 7\n")
    assert list(libraries.damage(tmp_path)) == [
        ("numpy", "numpy.py", "differs from what was installed")
    ]
    (tmp_path / "numpy.py").unlink()
    assert list(libraries.damage(tmp_path)) == [("numpy", "numpy.py", "is missing")]


def test_a_library_that_no_lock_names_is_not_looked_at(tmp_path: Path) -> None:
    install_library(tmp_path, "stranger", "stranger.py", b"")
    assert libraries.installed(tmp_path) == {}


def test_opencv_without_windows_decides_as_well(tmp_path: Path) -> None:
    install_library(tmp_path, "opencv_python_headless", "cv2.py", b"")
    assert list(libraries.deciding(tmp_path)) == ["opencv-python-headless"]


def test_each_library_that_decides_has_a_version_and_a_digest() -> None:
    deciding = libraries.deciding(ROOT)
    assert set(deciding) == set(libraries.DECIDING)
    for name, line in deciding.items():
        assert re.fullmatch(rf"{re.escape(version(name))} sha256:[0-9a-f]{{64}}", line)
