"""The unix socket at which programs ask to be let into the world with a gpiochip.

Owns accepting them. Must not know what the chip does.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path

from hil_tests.rig.gpiochip.device import GpioChip


class Door:
    """Accepts until closed."""

    def __init__(self, path: Path, chip: GpioChip) -> None:
        """Listen at `path`. Raises OSError."""
        self.path = path
        self._chip = chip
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        self._thread = threading.Thread(target=self._run, name="gpiochip-door", daemon=True)
        self._thread.start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()
        self.path.unlink(missing_ok=True)

    def _run(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                return
            with line:
                _, descriptors, _, _ = socket.recv_fds(line, 16, 1)
                if descriptors:
                    self._chip.attend(descriptors[0])
                    line.sendall(b"1")
