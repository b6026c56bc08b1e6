"""A library as an installer leaves it: one module and its record."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path


def install_library(
    folder: Path, name: str, file: str, content: bytes, version: str = "9.9"
) -> None:
    """Put library `name` with its one module `file` into `folder`, as pip does."""
    (folder / file).write_bytes(content)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    record = (
        f"{file},sha256={digest},{len(content)}\n{about.name}/METADATA,,\n{about.name}/RECORD,,\n"
    )
    (about / "RECORD").write_text(record)
