"""What a table has learnt, and the one file that keeps it.

Owns: the parts of a teaching, the file's form, and what a file must be before anything is made of
it. Must not know how anything was learnt, where files lie, nor who signs them.

The file is one JSON text of names and numbers. Every array must have the size that it has in this
version, and every number must be one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from vision.calibration import Calibration
from vision.errors import VisionError
from vision.taught import faces
from vision.taught.faces import Alike, Kind
from vision.taught.floor import TaughtFloor
from vision.taught.heights import UsualHeight
from vision.taught.poses import PIP_RINGS, TOP_RINGS
from vision.taught.regression import Logistic, Usual
from vision.taught.view import HALF, TopView

FORM = "taught dice 3"
"""Names the form; it changes with what is kept."""
MAX_BYTES = 8_000_000
"""Size beyond which a file is no teaching. That of a large compartment has a megabyte."""
_MOST = 1e9
"""No number of a teaching is as large."""
_SIZES = {"pip": 3 * len(PIP_RINGS), "top": 3 * len(TOP_RINGS), "face": faces.SIZE}
"""Features of each regression."""


class TeachingError(VisionError):
    """A teaching cannot be used: the table is taught again."""


def digest_of(calibration: Calibration) -> str:
    """What names a calibration: a teaching is of one camera at one place."""
    return hashlib.sha256(repr(calibration).encode()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Teaching:
    """What a table has learnt."""

    calibration: str
    """Digest of the calibration that it was taught under."""
    pip: Logistic
    top: Logistic
    face: Logistic
    alike: Alike
    floor: TaughtFloor
    spacing: float
    ace_diameter: float
    pip_diameter: float
    """Of an ace and of other pips, and how far pips are from the middle of a face, edges."""
    least: float
    """Score above which a pose is a die."""
    height: UsualHeight | None = None
    """Where two lenses show it."""

    def to_bytes(self) -> bytes:
        """The file of it."""
        models = (self.pip, self.top, self.face)
        plain = {
            "form": FORM,
            "calibration": self.calibration,
            "models": {
                name: [model.mean.tolist(), model.spread.tolist(), model.weights.tolist()]
                for name, model in zip(_SIZES, models, strict=True)
            },
            "pip direction": self.alike.direction.tolist(),
            "kinds": {
                name: [
                    kind.usual.mean.tolist(), kind.usual.inverse.tolist(),
                    kind.limit, kind.share, kind.reach,
                ]
                for name, kind in self.alike.kinds.items()
            },
            "floor": [
                self.floor.usual.mean.tolist(), self.floor.usual.inverse.tolist(),
                self.floor.limit,
            ],
            "picture": self.floor.picture.round(1).astype(float).tolist(),
            "die": [self.spacing, self.ace_diameter, self.pip_diameter, self.least],
            "height": None if self.height is None else list(astuple(self.height)),
        }  # fmt: skip
        return json.dumps(plain, allow_nan=False).encode()

    @classmethod
    def from_bytes(cls, data: bytes, calibration: Calibration) -> Teaching:
        """What a file says of the table with this calibration. Raises TeachingError where it is
        damaged, or of another calibration."""
        if len(data) > MAX_BYTES:
            raise TeachingError(f"{len(data)} bytes are no teaching: teach the table again")
        try:
            read = json.loads(data)
            if read["form"] != FORM:
                raise ValueError(f"its form is not {FORM!r}")
            side = len(TopView(calibration).inside) // HALF
            made = _made(read, (side, side))
        except (LookupError, TypeError, ValueError, RecursionError, AttributeError) as error:
            raise TeachingError(
                f"the teaching is damaged: {error}; teach the table again"
            ) from error
        made.check(calibration)
        return made

    def check(self, calibration: Calibration) -> None:
        """Raise TeachingError if it is of another calibration."""
        if self.calibration != digest_of(calibration):
            raise TeachingError("the camera was measured anew since: teach the table again")


def _made(read: Any, side: tuple[int, ...]) -> Teaching:
    models = {
        name: Logistic(*_arrays(read["models"][name], (size,), (size,), (2 * size + 1,)))
        for name, size in _SIZES.items()
    }
    if not all((model.spread > 0).all() for model in models.values()):
        raise ValueError("a spread of nothing")
    size = faces.SIZE
    kinds = {
        name: _kind(_arrays(parts, (size,), (size, size), (), (), ()))
        for name, parts in read["kinds"].items()
    }
    (direction,) = _arrays([read["pip direction"]], (size,))
    spacing, ace, pip, least = map(float, _arrays(read["die"], *[()] * 4))
    mean, inverse, limit = _arrays(read["floor"], (3,), (3, 3), ())
    (picture,) = _arrays([read["picture"]], (*side, 3))
    return Teaching(
        str(read["calibration"]), models["pip"], models["top"], models["face"],
        Alike(direction, kinds),
        TaughtFloor(picture.astype(np.float32), Usual(mean, inverse), float(limit)),
        spacing, ace, pip, least,
        _height(read["height"]),
    )  # fmt: skip


def _kind(parts: Sequence[np.ndarray]) -> Kind:
    mean, inverse, *numbers = parts
    limit, share, reach = map(float, numbers)
    if limit <= 0 or reach <= 0:
        raise ValueError("a limit of nothing")
    return Kind(Usual(mean, inverse), limit, share, reach)


def _height(read: Any) -> UsualHeight | None:
    if read is None:
        return None
    height = UsualHeight(*map(float, _arrays(read, (), (), ())))
    if height.reach <= 0 or height.rise <= 0:
        raise ValueError("a spread of nothing")
    return height


def _arrays(plain: Any, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Arrays of these shapes. Raises ValueError where they have others, or no numbers."""
    arrays = [np.array(each, np.float64) for each in plain]
    if [array.shape for array in arrays] != list(shapes):
        raise ValueError(f"an array that is not {shapes} large")
    if not all((np.abs(array) < _MOST).all() for array in arrays):
        raise ValueError("a number that is none")
    return arrays
