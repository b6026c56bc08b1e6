"""A wall clock that can be stepped from outside, for one process and its children.

Python imports this module at its start when its folder is on PYTHONPATH. `time.time` then adds the
number of seconds that stands in the file named by SHAKER_RIG_CLOCK. The monotonic clock is left
alone: it never steps.
"""

from __future__ import annotations

import mmap
import os
import struct
import time

_PATH = os.environ.get("SHAKER_RIG_CLOCK", "")

if _PATH:
    with open(_PATH, "rb") as _file:
        _OFFSET = mmap.mmap(_file.fileno(), 8, prot=mmap.PROT_READ)
    _TRUE_TIME = time.time

    def _stepped() -> float:
        """Seconds since 1970, as the stepped clock says."""
        offset: float = struct.unpack("<d", _OFFSET[:8])[0]
        return _TRUE_TIME() + offset

    time.time = _stepped
