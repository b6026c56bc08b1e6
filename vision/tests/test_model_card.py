"""The manifest vouches for the model file, or nothing is read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from vision.errors import ModelError
from vision.networks.model_card import MODELS, digest_of, read_model_card


@pytest.fixture
def models(tmp_path: Path) -> Path:
    card = read_model_card()
    assert card.near is not None
    assert card.photo is not None
    for path in (card.finder.path, card.near.path, card.photo.path, MODELS / "manifest.toml"):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


def _edit(models: Path, old: str, new: str) -> None:
    manifest = models / "manifest.toml"
    text = manifest.read_text("utf-8")
    assert old in text
    manifest.write_text(text.replace(old, new), "utf-8")


def test_shipped_manifest_matches_the_shipped_model():
    card = read_model_card()
    assert digest_of(card.finder.path) == card.finder.sha256
    assert card.near is not None
    assert card.photo is not None
    files = (card.finder.path, card.near.path, card.photo.path)
    assert sum(file.stat().st_size for file in files) <= 4_000_000
    assert 0 < card.min_score < 1


@pytest.mark.parametrize("name", ["dice.onnx", "near.onnx", "photo.onnx"])
def test_changed_model_file_is_refused(models: Path, name: str):
    read_model_card(models / "manifest.toml")
    damaged = bytearray((models / name).read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (models / name).write_bytes(damaged)
    with pytest.raises(ModelError, match="SHA-256"):
        read_model_card(models / "manifest.toml")


@pytest.mark.parametrize("name", ["dice.onnx", "near.onnx", "photo.onnx"])
def test_missing_model_file_is_refused_with_the_remedy(models: Path, name: str):
    (models / name).unlink()
    with pytest.raises(ModelError, match="restore models/"):
        read_model_card(models / "manifest.toml")


def test_missing_manifest_is_refused_with_the_remedy(tmp_path: Path):
    with pytest.raises(ModelError, match="make model"):
        read_model_card(tmp_path / "manifest.toml")


def test_other_class_order_is_refused(models: Path):
    _edit(models, "classes = [1, 2, 3, 4, 5, 6]", "classes = [1, 2, 3, 4, 6, 5]")
    with pytest.raises(ModelError, match="classes"):
        read_model_card(models / "manifest.toml")


def test_a_network_for_other_sizes_of_pictures_is_refused(models: Path):
    _edit(models, "multiple = 32", "multiple = 1")
    with pytest.raises(ModelError, match="multiples of 1 pixels; needed: 32"):
        read_model_card(models / "manifest.toml")


def test_manifest_without_thresholds_is_refused(models: Path):
    _edit(models, "[thresholds]", "[other]")
    with pytest.raises(ModelError, match="thresholds"):
        read_model_card(models / "manifest.toml")


def test_garbled_manifest_is_refused(models: Path):
    _edit(models, "[model]", "[model")
    with pytest.raises(ModelError, match="cannot read"):
        read_model_card(models / "manifest.toml")


@pytest.mark.parametrize("score", ["nan", "0.0", "-1.0", "1.5"])
def test_a_score_out_of_range_is_refused(models: Path, score: str):
    _edit(models, f"score = {read_model_card().min_score}", f"score = {score}")
    with pytest.raises(ModelError, match="between 0 and 1"):
        read_model_card(models / "manifest.toml")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("multiple = 32", "multiple = inf"),
        ('file = "dice.onnx"', 'file = "a\\u0000b"'),
        ("[thresholds]", f"deep = {'[' * 20_000}"),
    ],
    ids=["infinite", "zero byte", "nested"],
)
def test_a_manifest_that_is_garbled_is_refused(models: Path, old: str, new: str):
    _edit(models, old, new)
    with pytest.raises(ModelError, match="model"):
        read_model_card(models / "manifest.toml")


@pytest.mark.parametrize("look", ["near", "photo_look"])
def test_the_product_never_reads_without_its_second_looks(models: Path, monkeypatch, look: str):
    _edit(models, f"[{look}]", "[other]")
    manifest = models / "manifest.toml"
    read_model_card(manifest)  # a finder in training
    monkeypatch.setattr("vision.networks.model_card.MANIFEST", manifest)
    with pytest.raises(ModelError, match="restore models/"):
        read_model_card(manifest)
