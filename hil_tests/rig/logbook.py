"""What a person with instruments at the rig would write down: one line of JSON for each fact.

Owns how the rig's logs are written, and the form of the lines of `events.jsonl`: `{"t": monotonic
seconds, "what": …}` and further keys. The facts there are EN at the driver, the commands that the
lamp box obeyed, and the start of each fault. Programs that judge a controller from outside read
these files; a controller never reads them. Must not know what follows from a fact.

| what | with |
| --- | --- |
| `enable` | `level`: EN behind its filter, before the monostable |
| `stage`, `commit`, `correct` | `round`, `values` |
| `odds` | `round`, and how many `places` show a multiplier |
| `clear`, `dark`, `phase`, `test` | `round`, `argument` |
| `fault`, `healed` | `name` |
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Logbook:
    """Appends lines, each complete at every moment. Safe to call from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")

    def note(self, what: str, **facts: Any) -> None:
        """Write what happens, with the moment of this call."""
        self.write({"t": round(time.monotonic(), 6), "what": what, **facts})

    def write(self, line: Mapping[str, Any]) -> None:
        """Write one line; after `close` nothing."""
        with self._lock:
            if not self._file.closed:
                self._file.write(json.dumps(line) + "\n")
                self._file.flush()

    def close(self) -> None:
        with self._lock:
            self._file.close()
