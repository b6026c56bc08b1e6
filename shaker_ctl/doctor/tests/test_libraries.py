"""The doctor says which library is missing, damaged or of another version."""

from __future__ import annotations

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


def test_another_version_is_a_warning_that_names_both(folder: Path) -> None:
    (folder / f"numpy-{library.locked()['numpy']}.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n"
    )
    found = libraries(folder)
    assert found.verdict is Grade.WARN
    assert f"numpy 1.0, measured with {library.locked()['numpy']}" in found.text


def test_a_damaged_file_fails(folder: Path) -> None:
    (folder / "rich.py").write_bytes(b"y = 1\n")
    found = libraries(folder)
    assert found.verdict is Grade.FAIL
    assert "rich.py" in found.text


def test_a_missing_library_that_decides_fails(folder: Path) -> None:
    about = next(folder.glob("pigpio-*.dist-info"))
    about.rename(folder / "gone")
    found = libraries(folder)
    assert found.verdict is Grade.FAIL
    assert "pigpio" in found.text


def test_a_processor_that_lacks_an_instruction_fails(folder, tmp_path, monkeypatch) -> None:
    (tmp_path / "dies").mkdir()
    dies = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    (tmp_path / "dies/onnxruntime.py").write_text(dies)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "dies"))
    found = libraries(folder)
    assert found.verdict is Grade.FAIL
    assert "this processor is not supported" in found.text
