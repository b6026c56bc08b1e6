"""The table's own view as another process follows it: page and link have one place each.

Owns the thread that follows the status socket, and how old the newest view is. Asks nothing else of
the table, and goes on when the table goes and comes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shaker_ctl.errors import RefusedError
from shaker_ctl.service.status_socket import follow_status

AGAIN_AFTER_S = 0.5
"""Between two tries while no table answers."""

View = Mapping[str, Any]


class TableWatch:
    """Follows the status socket of one table. `start` and `stop` once; everything else anywhere."""

    def __init__(
        self, folder: Path, rate_hz: float, heard: Callable[[], None] = lambda: None
    ) -> None:
        """`folder` holds the socket. `heard` is called from the thread after each view, and when
        the table goes.
        """
        self._folder = folder
        self._rate_hz = rate_hz
        self._heard = heard
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="table", daemon=True)
        self.view: View | None = None
        """The newest view; None before the first. It stays when the table goes."""
        self.trouble = "no view has come yet"
        """Why no view comes now; empty while views come."""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Let go of the socket, within one view or two seconds."""
        self._ended.set()

    def live(self) -> View | None:
        """The newest view while views come, else None."""
        return None if self.trouble else self.view

    def age_s(self) -> float | None:
        """Seconds since the table composed its newest view; None before the first.

        The table's clock for this is the computer's monotonic one, the same as here: views that
        waited in the socket while this process stood still do not look new.
        """
        return None if self.view is None else max(0.0, time.monotonic() - self.view["monotonic_s"])

    def _follow(self) -> None:
        while not self._ended.is_set():
            try:
                for view in follow_status(self._folder, self._rate_hz):
                    self.view, self.trouble = view, ""
                    self._heard()
                    if self._ended.is_set():
                        return
                self.trouble = "the table has ended"
            except RefusedError as error:
                self.trouble = str(error)
            except (FileNotFoundError, ConnectionRefusedError):
                self.trouble = "no table runs here"
            except OSError as error:
                self.trouble = f"no table answers: {error.strerror or error}"
            except (ValueError, KeyError) as error:
                self.trouble = f"the table answers what is not understood here: {error}"
            self._heard()
            self._ended.wait(AGAIN_AFTER_S)
