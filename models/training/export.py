"""The manifest that vouches for the files that ship.

Owns: the files' entries with the SHA-256, and with which libraries the model is measured.
Thresholds and figures are kept from the manifest that is there, and are written by `evaluate.py`.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

import tomlkit

from models.training.finder import MULTIPLE, DieNet
from models.training.quantise import DICE, NEAR, PHOTO
from shaker_ctl.libraries import LOCK
from vision.networks.model_card import CLASSES, digest_of

_HEAD = "# Written by models.training.export and models.training.evaluate; see MODEL_CARD.md.\n\n"
DEFAULT_THRESHOLDS = {"score": 0.3}
MEASURED_WITH = ("numpy", "onnxruntime", "opencv-python")
"""What turns a picture into a reading; their versions stand beside the figures."""


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
            "names": ["peaks", "faces"], "strides": [4, 8], "classes": list(CLASSES),
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


def libraries(lock: Path = LOCK) -> dict[str, str]:
    """Version of each such library, and SHA-256 over its wheels' digests in the lock."""
    entries = re.split(r"\n(?=\S)", lock.read_text("utf-8"))
    found = {}
    for entry in entries:
        name, _, rest = entry.partition("==")
        if name in MEASURED_WITH:
            digests = "\n".join(sorted(re.findall(r"sha256:([0-9a-f]{64})", rest)))
            digest = hashlib.sha256(digests.encode()).hexdigest()
            found[name] = f"{rest.split()[0]} sha256:{digest}"
    return found
