"""Continuous health tests on the outcomes (O-18), after NIST SP 800-90B, 4.4.

Each die face is one sample of log2(6) = 2.585 bits. At alpha 2^-20 the repetition count test then
has the cutoff 1 + ceil(20 / 2.585) = 9, and the adaptive proportion test over a window of 512 the
cutoff 129. It must not know of rounds or of what a failure leads to.
"""

from __future__ import annotations

from collections.abc import Iterable

from shaker_ctl.frozen import frozen

REPETITION_CUTOFF = 9
PROPORTION_WINDOW = 512
PROPORTION_CUTOFF = 129


@frozen
class HealthFailure:
    """Which test failed, on which face, with which count."""

    test: str
    face: int
    count: int
    cutoff: int

    def line(self) -> str:
        """For consoles and the journal."""
        return f"{self.test}: face {self.face} came {self.count} times, cutoff {self.cutoff}"


class OutcomeHealth:
    """Both tests over the stream of faces. Feed the dice of a toss by position, never by value:
    sorting by value would make equal faces neighbours."""

    def __init__(self) -> None:
        self._repeated_face = 0
        self._repeats = 0
        self._window_face = 0
        self._window_count = 0
        self._window_used = 0

    def add(self, faces: Iterable[int]) -> HealthFailure | None:
        """Take the faces of one toss; return the first failure, or None."""
        failures = [failure for face in faces for failure in self._add_one(face)]
        return failures[0] if failures else None

    def _add_one(self, face: int) -> Iterable[HealthFailure]:
        if face == self._repeated_face:
            self._repeats += 1
        else:
            self._repeated_face, self._repeats = face, 1
        if self._repeats >= REPETITION_CUTOFF:
            yield HealthFailure("repetition count", face, self._repeats, REPETITION_CUTOFF)

        if self._window_used == 0:
            self._window_face, self._window_count = face, 0
        self._window_used = (self._window_used + 1) % PROPORTION_WINDOW
        if face == self._window_face:
            self._window_count += 1
            if self._window_count >= PROPORTION_CUTOFF:
                yield HealthFailure(
                    "adaptive proportion", face, self._window_count, PROPORTION_CUTOFF
                )
