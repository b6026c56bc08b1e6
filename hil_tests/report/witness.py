"""An independent picture of the dice after every toss, whether a reader or a person read them.

Owns the pictures, keyed by the toss's number in the rig's log. Must not know the controller: it
looks at the same stream as anybody, and asks for one frame once the dice are truly at rest.
"""

from __future__ import annotations

import contextlib
import json
import threading
import urllib.request
from pathlib import Path

LOOK_S = 0.1
PATIENCE_S = 3.0
MAX_BYTES = 400_000


def one_frame(url: str) -> bytes:
    """Return the next whole JPEG of an MJPEG stream. Raises OSError."""
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as stream:
        seen = b""
        while len(seen) < MAX_BYTES:
            seen += stream.read(4096)
            begin = seen.find(b"\xff\xd8")
            end = seen.find(b"\xff\xd9", begin + 2) if begin >= 0 else -1
            if end > 0:
                return bytes(seen[begin : end + 2])
    raise OSError("no picture in the stream")


class PictureWitness:
    """Watches the rig's log of tosses from a thread of its own, until `close`."""

    def __init__(self, truth: Path, url: str) -> None:
        self._truth = truth
        self._url = url
        self._lock = threading.Lock()
        self._pictures: dict[int, bytes] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="witness", daemon=True)
        self._thread.start()

    @property
    def pictures(self) -> dict[int, bytes]:
        """JPEGs by number of the toss."""
        with self._lock:
            return dict(self._pictures)

    def close(self) -> None:
        """Stop watching. Idempotent."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        seen = 0
        while not self._ended.wait(LOOK_S):
            try:
                lines = self._truth.read_text("utf-8").splitlines()
            except OSError:
                continue
            if len(lines) <= seen:
                continue
            seen = len(lines)
            with contextlib.suppress(OSError, ValueError):  # a broken camera has no picture
                toss = int(json.loads(lines[-1])["toss"])
                picture = one_frame(self._url)
                with self._lock:
                    self._pictures[toss] = picture
