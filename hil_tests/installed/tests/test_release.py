"""A release is the same bytes twice, and one flipped byte or another signer is found."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[3]
CHECKED = "minisign -Vqm SHA256SUMS -p {} && sha256sum --check --strict --quiet SHA256SUMS"

pytestmark = pytest.mark.skipif(shutil.which("minisign") is None, reason="no minisign")


def run(*words: str, cwd: Path, status: int = 0) -> str:
    ran = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree whose packages were built, and two pairs of keys."""
    tree = tmp_path / "tree"
    for name in ("pyproject.toml", "CHANGELOG.md", "hil_tests/release"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / name, tree / name)
    (tree / ".gitignore").write_text("dist\nbuild\n")
    (tree / "dist").mkdir()
    for name in ("a.whl", "a.deb", "a.cdx.json"):
        (tree / "dist" / name).write_text(name)
    run("git", "init", "-q", cwd=tree)
    run("git", "add", "-A", cwd=tree)
    run("git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "All", cwd=tree)
    for name in ("ours", "other"):
        run("minisign", "-GWp", f"{tmp_path}/{name}.pub", "-s", f"{tmp_path}/{name}", cwd=tmp_path)
    return tree


def released(tree: Path) -> dict[str, bytes]:
    run("hil_tests/release", str(tree.parent / "ours"), "build/release", cwd=tree)
    return {path.name: path.read_bytes() for path in (tree / "build/release").iterdir()}


def check(tree: Path, by: str, status: int) -> None:
    line = CHECKED.format(tree.parent / f"{by}.pub")
    run("sh", "-c", line, cwd=tree / "build/release", status=status)


def test_it_is_the_same_bytes_twice_and_a_strangers_line_checks_it(tree: Path) -> None:
    first = released(tree)
    assert released(tree) == first
    assert {"NOTES.md", "SHA256SUMS", "SHA256SUMS.minisig", "a.whl", "a.deb"} < first.keys()
    check(tree, "ours", 0)


def test_a_flipped_byte_and_another_signer_are_found(tree: Path) -> None:
    for name, content in released(tree).items():
        file = tree / "build/release" / name
        file.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        with pytest.raises(AssertionError):
            check(tree, "ours", 0)
        file.write_bytes(content)
    check(tree, "ours", 0)
    check(tree, "other", 1)


def test_another_tag_and_what_was_not_committed_are_refused(tree: Path) -> None:
    words = ("hil_tests/release", "key", "build/release")
    (tree / "CHANGELOG.md").write_text("otherwise")
    assert "commit first" in run(*words, cwd=tree, status=1)
    run("git", "tag", "v9.9.9", cwd=tree)
    assert "v9.9.9" in run(*words, cwd=tree, status=1)
