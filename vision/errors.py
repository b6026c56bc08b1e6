"""What the errors of `vision` have in common, and the one of the model.

An expected outcome (a cocked die, a blurred picture) is a `Verdict`, never an exception.
"""

from __future__ import annotations


class VisionError(Exception):
    """Base of everything that `vision` raises; the message says what to do next."""


class ModelError(VisionError):
    """The model, its manifest or their match is broken: nothing may be read with it.

    Raised at start, before the first frame. Someone has to restore `models/` from the
    release, or export and register the model again (`make model`).
    """
