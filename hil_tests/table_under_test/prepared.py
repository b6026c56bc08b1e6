"""What people have prepared for one kind of table: its camera's measures and its teaching.

Two tables are of one kind where all that either depends on is alike: the rig's parts that show in a
picture, the controls, and the programs that measure, teach and paint. What was prepared once is
used again, in this process and, in a source tree, below `build/` by every other.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from shaker_ctl.errors import CameraError
from shaker_ctl.reading import taught_table
from shaker_ctl.seal.manifest import ROOT
from shaker_ctl.whole_file import put

_DEPENDS_ON = (
    "vision/**/*.py",
    "models/*.onnx",
    "models/*.toml",
    "shaker_ctl/reading/*.py",
    "shaker_ctl/adapters/camera/*.py",
    "hil_tests/rig/**/*.py",
    "hil_tests/table_under_test/*.py",
)
_SHOWN = ("geometry", "dice", "dead_lamps", "faults", "drawing")
"""Keys of `rig.json`, beside the camera's serial number."""

_known: dict[str, Prepared] = {}


@dataclass(frozen=True, slots=True)
class Prepared:
    """Tables of `[camera]`, and the file that `camera.teaching` names."""

    camera: Mapping[str, Any]
    teaching: str


def kind_of(rig: Mapping[str, Any], controls: Mapping[str, Any]) -> str:
    """What tables of one kind have in common, as a name. `rig` is the content of `rig.json`."""
    parts = [rig["camera"].get("serial"), {key: rig.get(key) for key in _SHOWN}, dict(controls)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def found(kind: str) -> Prepared | None:
    """What was prepared before; None where nothing was, or the file is torn."""
    if kind not in _known:
        try:
            kept = Prepared(**json.loads(_file(kind).read_text("utf-8")))
            taught_table.of_bytes(kept.teaching.encode(), _file(kind))
        except (OSError, ValueError, TypeError, CameraError):
            return None
        _known[kind] = kept
    return _known[kind]


def keep(kind: str, prepared: Prepared) -> None:
    """Keep it; of former programs nothing is kept."""
    _known[kind] = prepared
    if not (ROOT / "pyproject.toml").exists():
        return
    file = _file(kind)
    file.parent.mkdir(parents=True, exist_ok=True)
    put(file, json.dumps(asdict(prepared)))
    for former in file.parent.parent.iterdir():
        if former != file.parent:
            shutil.rmtree(former, ignore_errors=True)


def _file(kind: str) -> Path:
    return ROOT / "build/rig-tables" / _programs() / f"{kind}.json"


@cache
def _programs() -> str:
    """A name of the programs and models that all of it depends on."""
    digest = hashlib.sha256()
    for pattern in _DEPENDS_ON:
        for file in sorted(ROOT.glob(pattern)):
            digest.update(f"{file.relative_to(ROOT)}\0".encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]
