"""The manifest that vouches for the files that ship, and names the libraries that measured them.

Owns: the entries of the files with their SHA-256, the versions of the libraries. The threshold and
the figures are `evaluate.py`'s.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit

from vision.networks.classifier import FACE_STRIDE, PEAK_STRIDE
from vision.networks.model_card import CLASSES, MULTIPLE, digest_of

DICE, NEAR, PHOTO = "dice.onnx", "near.onnx", "photo.onnx"
LOCK = Path(__file__).resolve().parents[2] / "shaker_ctl" / "lock.txt"
MEASURED_WITH = ("numpy", "onnxruntime", "opencv-python")
"""What turns a picture into a reading; their versions stand beside the figures."""
_HEAD = "# Written by `make model`; see MODEL_CARD.md.\n\n"
_DRAFT = {"thresholds": {"score": 0.3}}


def register(out: Path, measured: Mapping[str, Any] = _DRAFT) -> None:
    """Write the manifest of the finder in that folder, and of the networks that look at one die
    where they lie beside it. `measured`: threshold, figures, training."""
    content = {
        "model": {"name": "dice", **_file(out / DICE)},
        "input": {
            "name": "image", "layout": "NHWC", "type": "uint8", "colours": "BGR",
            "multiple": MULTIPLE,
        },
        "output": {
            "names": ["peaks", "faces"], "strides": [PEAK_STRIDE, FACE_STRIDE],
            "classes": list(CLASSES),
        },
    }  # fmt: skip
    for name, path in (("near", out / NEAR), ("photo_look", out / PHOTO)):
        if path.exists():
            content[name] = _file(path) | {
                "layout": "NHWC", "type": "uint8", "inputs": ["windows"], "outputs": ["looks"],
            }  # fmt: skip
    text = tomlkit.dumps(content | {"libraries": libraries()} | dict(measured))
    (out / "manifest.toml").write_text(_HEAD + text, encoding="utf-8")


def _file(path: Path) -> dict[str, Any]:
    return {
        "file": path.name, "sha256": digest_of(path), "bytes": path.stat().st_size,
        "licence": "Apache-2.0",
    }  # fmt: skip


def libraries(lock: Path = LOCK) -> dict[str, str]:
    """Version of each library that measures, and SHA-256 over its wheels' digests in the lock."""
    entries = re.split(r"\n(?=\S)", lock.read_text("utf-8"))
    found = {}
    for entry in entries:
        name, _, rest = entry.partition("==")
        if name in MEASURED_WITH:
            digests = "\n".join(sorted(re.findall(r"sha256:([0-9a-f]{64})", rest)))
            digest = hashlib.sha256(digests.encode()).hexdigest()
            found[name] = f"{rest.split()[0]} sha256:{digest}"
    return found
