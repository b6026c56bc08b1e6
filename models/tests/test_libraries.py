"""The manifest says which libraries its figures were measured with: those of the table's lock."""

from __future__ import annotations

import tomllib

from models.training.manifest import MEASURED_WITH, libraries
from vision.networks.model_card import MANIFEST


def test_the_manifest_names_the_libraries_of_the_lock() -> None:
    assert tomllib.loads(MANIFEST.read_text("utf-8"))["libraries"] == libraries()


def test_each_library_that_reads_has_its_digest(tmp_path) -> None:
    lock = tmp_path / "lock.txt"
    pins = [f"{name}==1.2 \\\n    --hash=sha256:{'a' * 64}" for name in (*MEASURED_WITH, "rich")]
    lock.write_text("\n".join(pins) + "\n")
    found = libraries(lock)
    assert set(found) == set(MEASURED_WITH)
    lock.write_text("\n".join(pins).replace("a" * 64, "b" * 64) + "\n")
    assert all(libraries(lock)[name] != line for name, line in found.items())
