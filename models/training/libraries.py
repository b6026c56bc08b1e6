"""Which libraries the model is measured with, for its manifest."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

LOCK = Path(__file__).resolve().parents[2] / "shaker_ctl" / "lock.txt"
MEASURED_WITH = ("numpy", "onnxruntime", "opencv-python")
"""What turns a picture into a reading; their versions stand beside the figures."""


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
