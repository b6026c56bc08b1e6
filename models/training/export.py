"""From a checkpoint to the file that ships, and the manifest that vouches for it.

Owns: the ONNX graph's names, types and free dimensions, the check that it computes what PyTorch
does, the SHA-256 entry. Thresholds and figures are kept from the manifest that is there, and are
written by `evaluate.py`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import onnxruntime as ort
import tomlkit
import torch

from models.training.libraries import libraries
from models.training.network import MULTIPLE, DieNet, ExportedDieNet
from vision.networks.model_card import CLASSES, digest_of

OPSET = 17
DICE = "dice.onnx"
NEAR = "near.onnx"
PHOTO = "photo.onnx"
MAX_BYTES = 4_000_000
DEFAULT_THRESHOLDS = {"score": 0.3}


def export(checkpoint: Path, out: Path) -> Path:
    """Write `<out>/dice.onnx`; raises ValueError when it is too big or computes otherwise."""
    net = DieNet()
    net.load_state_dict(torch.load(checkpoint, weights_only=True)["average"])
    whole = ExportedDieNet(net.eval()).eval()
    path = out / DICE
    example = torch.randint(0, 255, (1, 96, 128, 3), dtype=torch.uint8)
    torch.onnx.export(
        whole,
        (example,),
        str(path),
        dynamo=False,
        opset_version=OPSET,
        input_names=["image"],
        output_names=["peaks", "faces"],
        dynamic_axes={
            "image": {1: "height", 2: "width"},
            "peaks": {2: "height4", 3: "width4"},
            "faces": {2: "height8", 3: "width8"},
        },
    )
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{path} has {size} bytes, more than {MAX_BYTES}")
    compare(whole, path)
    return path


def compare(whole: ExportedDieNet, path: Path) -> None:
    """Raise ValueError where the file does not compute what PyTorch does."""
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for height, width in ((96, 128), (480, 640), (224, 352)):
        image = torch.randint(0, 255, (1, height, width, 3), dtype=torch.uint8)
        with torch.no_grad():
            wanted = whole(image)
        found = session.run(["peaks", "faces"], {"image": image.numpy()})
        # The maximum filter may break ties differently: compare the channels beside it.
        gaps = [
            float(np.abs(wanted[0][:, 1:].numpy() - found[0][:, 1:]).max()),
            float(np.abs(wanted[1].numpy() - found[1]).max()),
        ]
        if max(gaps) > 0.02:
            raise ValueError(f"{path} differs from the checkpoint by {gaps} at {width}×{height}")


def read_manifest(out: Path) -> dict:
    """What the manifest in that folder says now; empty when there is none."""
    manifest = out / "manifest.toml"
    return tomllib.loads(manifest.read_text("utf-8")) if manifest.exists() else {}


def write_manifest(out: Path, content: dict) -> None:
    """Write the manifest anew, tables in a fixed order."""
    head = (
        "# Written by models.training.export and models.training.evaluate; see MODEL_CARD.md.\n\n"
    )
    (out / "manifest.toml").write_text(head + tomlkit.dumps(content), encoding="utf-8")


def register(path: Path, out: Path, training: dict) -> None:
    """Enter the file into the manifest, and the networks that look at one die where they lie beside
    it; thresholds stay as they are."""
    content = read_manifest(out)
    net = DieNet()
    fresh = {
        "model": {
            "name": path.stem,
            "file": path.name,
            "sha256": digest_of(path),
            "bytes": path.stat().st_size,
            "parameters": sum(p.numel() for p in net.parameters()),
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
