"""Whether an object on a photograph is a die, and which value it shows: the third, small network.

Owns: the window around an object that may be a die, and the network's session. Must not know how
such objects are found, nor when a reading may be trusted.

The first network finds dice of any size at any place in one pass. If the camera looks from the
side, it is not certain: a die then shows three faces, and the middle of a face does not tell
whether it is the top. This network sees one object at a time, upright as in the picture, at the
size that the object seems to have. It says whether the object is a die, where its top face lies,
and its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.networks import probability
from vision.networks.model_card import CLASSES, ModelFile
from vision.networks.session import Network
from vision.networks.windows import PADDING, SIDE, cut

EDGE = 34.0
"""Edge of the top face in it: a die's own sides are in sight, and most of its neighbours."""
CHANNELS = len(PADDING)
_SCALES = (1.0, 0.82)
"""Each thing is seen at these sizes, and mirrored at both."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoLook:
    """What a close look says of one thing."""

    die_p: float
    """Probability, 0..1, that a die with a value is here, of about the size that was said."""
    value_p: np.ndarray
    """(6,) float64: probabilities of the values 1..6 of its top face."""


class PhotoLooker:
    """The network, loaded and warm. One instance per thread."""

    def __init__(self, file: ModelFile) -> None:
        """Raises ModelError when the file does not load or run."""
        # (N, 9): the logit of a die, the logits of six values, and where its top face is, in edges
        # from the window's middle.
        self._tell = Network(file.path, (SIDE, SIDE, CHANNELS))

    def look(
        self, image: np.ndarray, things: Sequence[tuple[np.ndarray, float]]
    ) -> list[PhotoLook]:
        """One answer for each thing, middle (2,) and edge, in pixels of a (H, W, 3) uint8 BGR
        picture."""
        if not things:
            return []
        shown = []
        for centre, edge in things:
            for scale in _SCALES:
                window, _ = cut(image, centre, scale * EDGE / edge, 0.0, SIDE)
                shown += [window, window[:, ::-1]]
        told = self._tell(np.stack(shown))[0]
        answers = told.reshape(len(things), -1, told.shape[1]).mean(axis=1)
        values = slice(1, 1 + len(CLASSES))
        return [
            PhotoLook(probability.of_logit(float(each[0])), probability.of_logits(each[values]))
            for each in answers
        ]
