"""What a process that the service starts gets of its surroundings.

Nothing of the service's own: what that was started with may name other code to load.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the packages that this program runs from; the process takes the same."""


def environment() -> dict[str, str]:
    """Return the variables for a Python process of this program."""
    return {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
