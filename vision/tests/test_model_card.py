"""The manifest vouches for the model file, or nothing is read."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from vision.errors import ModelError
from vision.networks.model_card import MODELS, digest_of, read_model_card
from vision.parameters import PhotoThresholds, ReadingThresholds
from vision.table import flatness
from vision.table.tilt import LAYER_STACKED, LEAN_NOT_FLAT_DEG, SKEW_NOT_FLAT


@pytest.fixture
def models(tmp_path: Path) -> Path:
    card = read_model_card()
    assert card.near is not None
    assert card.photo is not None
    for path in (card.path, card.near.path, card.photo.path, MODELS / "manifest.toml"):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


def _edit(models: Path, old: str, new: str) -> None:
    manifest = models / "manifest.toml"
    text = manifest.read_text("utf-8")
    assert old in text
    manifest.write_text(text.replace(old, new), "utf-8")


def test_shipped_manifest_matches_the_shipped_model():
    card = read_model_card()
    assert digest_of(card.path) == card.sha256
    assert card.near is not None
    assert card.photo is not None
    files = (card.path, card.near.path, card.photo.path)
    assert sum(file.stat().st_size for file in files) <= 4_000_000
    assert 0 < card.thresholds.score < 1


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


def test_manifest_without_thresholds_is_refused(models: Path):
    _edit(models, "[thresholds]", "[other]")
    with pytest.raises(ModelError, match="thresholds"):
        read_model_card(models / "manifest.toml")


def test_garbled_manifest_is_refused(models: Path):
    _edit(models, "[model]", "[model")
    with pytest.raises(ModelError, match="cannot read"):
        read_model_card(models / "manifest.toml")


def test_the_manifest_records_the_thresholds_that_the_reader_uses():
    photo = read_model_card().manifest["photo"]
    for name, value in asdict(PhotoThresholds()).items():
        assert photo[name] == value, name
    assert (MODELS / photo["curve"]).is_file()
    recorded = read_model_card().manifest["reading"]
    for name, value in asdict(ReadingThresholds()).items():
        assert recorded[name] == value, name
    assert recorded["lean_not_flat_deg"] == LEAN_NOT_FLAT_DEG
    assert recorded["layer_stacked"] == LAYER_STACKED
    assert recorded["skew_not_flat"] == SKEW_NOT_FLAT
    assert (MODELS / recorded["curve"]).is_file()
    weighed = read_model_card().manifest["flatness"]
    assert weighed["network"] == [flatness.NETWORK.constant, *flatness.NETWORK.each]
    assert weighed["outline"] == [flatness.OUTLINE.constant, *flatness.OUTLINE.each]
    assert weighed["no_fit_mm"] == flatness.NO_FIT_MM
    assert weighed["no_seam"] == list(flatness.NO_SEAM)
    assert weighed["no_fit_most"] == flatness.NO_FIT_MOST
    assert weighed["cues_sum"] == flatness.CUES_SUM
    assert weighed["cues_network"] == flatness.CUES_NETWORK
    assert weighed["flat_line"] == [list(point) for point in flatness.FLAT_LINE]
    assert weighed["not_flat_sum"] == flatness.NOT_FLAT_SUM
    assert weighed["not_flat_most"] == list(flatness.NOT_FLAT_MOST)
    assert (MODELS / weighed["curve"]).is_file()
