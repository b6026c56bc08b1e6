"""The latch of the compartment's lid: one pulse at a time, and only while the shaker is at rest.

Owns the pulse's end. The rules judge who may ask, and whether a round is in hand. If the service
dies during the pulse, `motor-off` takes the pin low and so ends the pulse.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from shaker_ctl.errors import HardwareError, RefusedError, ShakerError
from shaker_ctl.ports import ShakerOutputs

log = logging.getLogger(__name__)

AT_REST_S = 2.0
"""EN low and the tach silent for this long, in seconds, before a lid is released."""


class Lid:
    """Releases the latch and locks it again. Safe to call from any thread."""

    def __init__(
        self, outputs: ShakerOutputs, still_for_s: Callable[[], float], pulse_s: float
    ) -> None:
        """`still_for_s`: for how long the shaker has been at rest."""
        self._outputs = outputs
        self._still_for_s = still_for_s
        self._pulse_s = pulse_s
        self._lock = threading.Lock()
        self._end: threading.Timer | None = None
        self._is_released = False

    def is_released(self) -> bool:
        """Whether a hand can open the lid now: nothing may begin to move."""
        return self._is_released

    def check(self) -> None:
        """Raise `RefusedError` while the shaker moves, or has moved within `AT_REST_S`."""
        still_s = self._still_for_s()
        if still_s < AT_REST_S:
            raise RefusedError(
                f"the shaker moved {max(still_s, 0.0):.1f} s ago",
                remedy=f"ask again when it has been at rest for {AT_REST_S:g} s",
            )

    def release(self) -> None:
        """Release the latch for one pulse. Raises `RefusedError`, or a `HardwareError`."""
        with self._lock:
            # Said before it is asked whether the shaker rests: of a release and a start in the same
            # moment, at least one sees the other.
            self._is_released, was_released = True, self._is_released
            try:
                self.check()
                self._outputs.release_latch(True)
            except ShakerError:
                self._is_released = was_released
                raise
            self._cancel()
            self._end = threading.Timer(self._pulse_s, self._lock_again)
            self._end.daemon = True
            self._end.start()

    def stop(self) -> None:
        """End a pulse that is under way, at once."""
        with self._lock:
            if self._end is not None:
                self._cancel()
                self._set_locked()

    def _lock_again(self) -> None:
        with self._lock:
            self._end = None
            self._set_locked()

    def _set_locked(self) -> None:
        try:
            self._outputs.release_latch(False)
        except HardwareError as error:  # the next opening of the link takes the pin low
            log.warning("the latch of the lid: %s", error.line())
        self._is_released = False

    def _cancel(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None
