"""What starts the program is sealed too: start script, units, drop-ins, pins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shaker_ctl import libraries
from shaker_ctl.installation.places import shipped
from shaker_ctl.seal import environment
from shaker_ctl.seal.manifest import PACKAGES, Manifest, differences, digests_of_environment
from shaker_ctl.tests.installed_library import install_library

UNIT = "usr/lib/systemd/system/shaker-ctl.service"
BESIDE = [f"usr/lib/systemd/system/shaker-{name}.service" for name in ("page", "link")]
DROP_IN = "etc/systemd/system/shaker-ctl.service.d/bench.conf"


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """The packages of an installed table below a folder."""
    folder = tmp_path / "usr/lib/shaker-ctl/lib/python3.11/site-packages"
    folder.mkdir(parents=True)
    write(
        tmp_path,
        *("usr/lib/shaker-ctl/pyvenv.cfg", "usr/lib/shaker-ctl/bin/shaker-ctl", UNIT),
        *BESIDE,
        *("usr/libexec/shaker-ctl/motor-off", "etc/shaker-ctl/pins.conf"),
        *("usr/lib/systemd/system/other.service", "etc/systemd/system/other.service.d/x.conf"),
    )
    return folder


def sealed(packages: Path) -> Manifest:
    empty: dict[str, str] = {}
    elsewhere = digests_of_environment(packages)
    return Manifest("now", "Ann", empty, empty, elsewhere, "/settings", "/journal", "")


def found(manifest: Manifest, packages: Path) -> set[str]:
    """Files that differ by their absolute path: the libraries here are not this test's."""
    found = differences(manifest, Path("/settings"), packages)
    return {one.file for one in found if one.file.startswith("/")}


def test_everything_that_starts_the_program_is_sealed_and_nothing_else(packages: Path) -> None:
    manifest = sealed(packages)
    assert set(manifest.elsewhere) == {
        *("/usr/lib/shaker-ctl/pyvenv.cfg", "/usr/lib/shaker-ctl/bin/shaker-ctl", f"/{UNIT}"),
        *(f"/{name}" for name in BESIDE),
        *("/usr/libexec/shaker-ctl/motor-off", "/etc/shaker-ctl/pins.conf"),
    }
    assert found(manifest, packages) == set()


@pytest.mark.parametrize("name", [UNIT, *BESIDE, "etc/shaker-ctl/pins.conf"])
def test_a_changed_one_is_named(packages: Path, tmp_path: Path, name: str) -> None:
    manifest = sealed(packages)
    (tmp_path / name).write_text("other")
    assert found(manifest, packages) == {f"/{name}"}
    (tmp_path / name).unlink()
    assert found(manifest, packages) == {f"/{name}"}


@pytest.mark.parametrize(
    "name",
    [
        *(DROP_IN, "run/systemd/system/shaker-ctl.service.d/x.conf"),
        *("etc/systemd/system/service.d/x", "etc/systemd/system/shaker-page.service.d/x.conf"),
    ],
)
def test_a_drop_in_that_was_never_sealed_is_named(
    packages: Path, tmp_path: Path, name: str
) -> None:
    manifest = sealed(packages)
    write(tmp_path, name)
    assert found(manifest, packages) == {f"/{name}"}


@pytest.mark.parametrize(
    "name",
    [
        *("etc/systemd/system/shaker-ctl.service.d", "run/systemd/system/service.d"),
        "usr/libexec/shaker-ctl/more",
    ],
)
def test_a_linked_folder_is_named_since_systemd_follows_the_link(
    packages: Path, tmp_path: Path, name: str
) -> None:
    manifest = sealed(packages)
    write(tmp_path, "elsewhere/x.conf")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    assert found(manifest, packages) == {f"/{name}"}


def test_a_linked_folder_among_the_packages_is_named_since_python_takes_it_for_the_module(
    packages: Path, tmp_path: Path
) -> None:
    write(packages, "shaker_ctl/__init__.py", "shaker_ctl/program.py")
    write(tmp_path, "elsewhere/__init__.py")
    link = packages / "shaker_ctl/program"
    link.symlink_to(tmp_path / "elsewhere")
    script = f"import sys; sys.path.insert(0, {str(packages)!r}); import shaker_ctl.program as it"
    taken = [sys.executable, "-I", "-c", f"{script}; print(it.__file__)"]
    assert subprocess.check_output(taken, text=True).strip() == str(link / "__init__.py")
    differing = {one.file for one in differences(sealed(packages), Path("/settings"), packages)}
    assert "shaker_ctl/program" in differing


@pytest.mark.timeout(30)
def test_a_pipe_and_a_device_are_named_and_not_read_without_end(
    packages: Path, tmp_path: Path
) -> None:
    manifest = sealed(packages)
    (tmp_path / UNIT).unlink()
    os.mkfifo(tmp_path / UNIT)
    assert found(manifest, packages) == {f"/{UNIT}"}
    (tmp_path / UNIT).unlink()
    (tmp_path / UNIT).symlink_to("/dev/zero")
    assert found(manifest, packages) == {f"/{UNIT}"}


def test_a_package_that_is_only_unpacked_is_sealed_for_its_place_to_be(
    packages: Path, tmp_path: Path
) -> None:
    """Its own files are in its folder; the house's are this system's."""
    (tmp_path / "etc/shaker-ctl/pins.conf").unlink()
    (tmp_path / "etc/shaker-ctl").rmdir()
    assert environment.files(packages)[f"/{UNIT}"] == tmp_path / UNIT


def test_a_source_tree_has_none(tmp_path: Path) -> None:
    assert environment.files(tmp_path) == {}
    assert environment.files(Path("/")) == {}


@pytest.mark.parametrize("name", ["hook.pth", "numpy/core.so", "stray.py"])
def test_a_file_that_no_installer_has_put_beside_the_libraries_is_named(
    packages: Path, name: str
) -> None:
    install_library(packages, "numpy", "numpy.py", b"x = 1\n")
    write(packages, "shaker_ctl/is_looked_at_otherwise.py", "__pycache__/numpy.cpython-311.pyc")
    assert list(libraries.strangers(packages, PACKAGES)) == []
    write(packages, name)
    assert list(libraries.strangers(packages, PACKAGES)) == [name]


def test_a_link_to_a_folder_beside_the_libraries_is_named(packages: Path, tmp_path: Path) -> None:
    """Python takes the folder before the module of the same name."""
    install_library(packages, "numpy", "numpy.py", b"x = 1\n")
    write(tmp_path, "elsewhere/__init__.py")
    (packages / "numpy").symlink_to(tmp_path / "elsewhere")
    assert list(libraries.strangers(packages, PACKAGES)) == ["numpy"]


def test_each_unit_that_the_package_brings_is_sealed() -> None:
    units = {path.name for path in shipped().glob("*.service")}
    of_floor = {name for name in units if name.startswith("shaker-floor")}
    assert units - of_floor == set(environment.UNITS)
