"""The doctor says which library is missing, damaged or of another version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from shaker_ctl import libraries as library
from shaker_ctl.doctor.finding import Grade
from shaker_ctl.doctor.libraries import libraries
from shaker_ctl.tests.installed_library import install_library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, version in library.locked().items():
        install_library(tmp_path, name, f"{name}.py", b"x = 1\n", version)
    return tmp_path


def test_the_versions_of_the_lock_are_fine(folder: Path) -> None:
    assert libraries(folder).verdict is Grade.OK


def other_version(folder: Path) -> None:
    about = folder / f"numpy-{library.locked()['numpy']}.dist-info/METADATA"
    about.write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")


def damage(folder: Path) -> None:
    (folder / "rich.py").write_bytes(b"y = 1\n")


def loss(folder: Path) -> None:
    next(folder.glob("pigpio-*.dist-info")).rename(folder / "gone")


@pytest.mark.parametrize(
    ("befall", "verdict", "said"),
    [
        (other_version, Grade.WARN, f"numpy 1.0, measured with {library.locked()['numpy']}"),
        (damage, Grade.FAIL, "rich.py"),
        (loss, Grade.FAIL, "pigpio"),
    ],
)
def test_a_library_that_is_not_the_locks_is_named(
    folder: Path, befall: Callable[[Path], None], verdict: Grade, said: str
) -> None:
    befall(folder)
    found = libraries(folder)
    assert found.verdict is verdict
    assert said in found.text


def test_a_processor_that_lacks_an_instruction_fails(folder, tmp_path, monkeypatch) -> None:
    (tmp_path / "dies").mkdir()
    dies = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    (tmp_path / "dies/onnxruntime.py").write_text(dies)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "dies"))
    found = libraries(folder)
    assert found.verdict is Grade.FAIL
    assert "this processor is not supported" in found.text
