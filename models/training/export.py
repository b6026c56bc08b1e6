"""The manifest that vouches for the files that ship.

Owns: the files' entries with the SHA-256. Thresholds and figures are kept from the
manifest that is there, and are written by `evaluate.py`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import tomlkit

from models.training.finder import DieNet
from models.training.libraries import libraries
from models.training.quantise import DICE, NEAR, PHOTO
from vision.networks.classifier import FACE_STRIDE, PEAK_STRIDE
from vision.networks.model_card import CLASSES, MULTIPLE, digest_of

_HEAD = "# Written by models.training.export and models.training.evaluate; see MODEL_CARD.md.\n\n"
DEFAULT_THRESHOLDS = {"score": 0.3}


def read_manifest(out: Path) -> dict:
    """What the manifest in that folder says now; empty when there is none."""
    manifest = out / "manifest.toml"
    return tomllib.loads(manifest.read_text("utf-8")) if manifest.exists() else {}


def write_manifest(out: Path, content: dict) -> None:
    """Write the manifest anew, tables in a fixed order."""
    (out / "manifest.toml").write_text(_HEAD + tomlkit.dumps(content), encoding="utf-8")


def register(out: Path, training: dict) -> None:
    """Enter the finder that lies in that folder into the manifest there, and the networks that look
    at one die where they lie beside it; thresholds stay as they are."""
    content, path = read_manifest(out), out / DICE
    fresh = {
        "model": {
            "name": path.stem,
            "file": path.name,
            "sha256": digest_of(path),
            "bytes": path.stat().st_size,
            "parameters": sum(p.numel() for p in DieNet().parameters()),
            "licence": "Apache-2.0",
        },
        "input": {
            "name": "image", "layout": "NHWC", "type": "uint8", "colours": "BGR",
            "multiple": MULTIPLE,
        },
        "output": {
            "names": ["peaks", "faces"], "strides": [PEAK_STRIDE, FACE_STRIDE],
            "classes": list(CLASSES),
        },
        **_looks(out, "near", NEAR),
        **_looks(out, "photo_look", PHOTO),
        "libraries": libraries(),
        "thresholds": content.get("thresholds", DEFAULT_THRESHOLDS),
        "training": training or content.get("training", {}),
        "figures": content.get("figures", {}),
    }  # fmt: skip
    write_manifest(out, fresh)


def _looks(out: Path, name: str, file: str) -> dict[str, dict]:
    """The entry of a network that looks at one die, where its file lies beside."""
    path = out / file
    if not path.exists():
        return {}
    return {
        name: {
            "file": path.name, "sha256": digest_of(path), "bytes": path.stat().st_size,
            "licence": "Apache-2.0", "layout": "NHWC", "type": "uint8",
            "inputs": ["windows"], "outputs": ["looks"],
        }
    }  # fmt: skip
