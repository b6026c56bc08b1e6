"""The printed target that a camera is calibrated with: a round card with a chessboard of markers.

Owns its design, from which it is both printed (`target_paper`) and found again in a picture. Must
not know paper or cameras.

It is a ChArUco board (OpenCV): corners of black squares, each known by the markers beside it. The
card fills the floor of the compartment, so that it centres itself and the corners reach the wall.

Coordinates on the card: millimetres from its centre, x to the right and y down.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.calibration import CalibrationError

RADII_MM = (15.0, 300.0)
"""Smallest and largest compartment that a card can be made for."""

PRINT_SCALES = (0.5, 2.0)
"""Smallest and largest that a printer may have made a millimetre, and the card still be used."""

MIN_MM = 6.6
"""Edge of a square: a cell of its marker is then 0.8 mm, three or four pixels of a camera that
suits this table."""

MAX_SQUARES = 11
"""Most squares along the board: 60 of the dictionary's 100 markers."""
MARKER_SHARE = 0.76
"""Edge of a marker as a share of its square's."""

CLEARANCE_MM = 0.5
"""By how much the card is smaller than the floor, in radius."""

_MARGIN_MM = 1.0
"""White between the outermost black and the card's edge."""

_DICTIONARY = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_100)
_BITS = 6
"""Cells along a marker: four of code, and its black border."""

_FINER = 4
"""Times as fine as printed, the drawing whose mean is the picture."""
_MAX_PX = 30_000
"""Of the picture that is averaged: 900 MB for the largest card at 600 dots per inch."""


@dataclass(frozen=True, slots=True)
class Target:
    """The card for one size of compartment."""

    compartment_radius_mm: float
    print_scale: float = 1.0
    """What the printer made of a millimetre: the measured length of the card's 50 mm rule / 50."""

    def __post_init__(self) -> None:
        """Raises CalibrationError where no such card can be made."""
        least, most = RADII_MM
        if not least <= self.compartment_radius_mm <= most:  # false for nan, too
            raise CalibrationError(
                f"no target for a compartment of {self.compartment_radius_mm:g} mm radius: "
                f"{least:g} to {most:g} mm"
            )
        least, most = PRINT_SCALES
        if not least <= self.print_scale <= most:
            raise CalibrationError(
                f"no target printed {self.print_scale:g} times as large: {least:g} to {most:g}"
            )

    @property
    def radius_mm(self) -> float:
        """Of the card as designed."""
        return self.compartment_radius_mm - CLEARANCE_MM

    @property
    def squares(self) -> int:
        """Along an edge of the board: an odd number, so that it has a middle."""
        room = int(2.0 * (self.radius_mm - _MARGIN_MM) / MIN_MM)
        return min(MAX_SQUARES, max(3, room - 1 + room % 2))

    @property
    def square_mm(self) -> float:
        """Edge of a square as designed, in whole tenths of a millimetre."""
        return float(np.floor(20.0 * (self.radius_mm - _MARGIN_MM) / self.squares)) / 10.0

    def board(self) -> cv2.aruco.CharucoBoard:
        """The board as OpenCV knows it; its origin is the corner of its first square."""
        return cv2.aruco.CharucoBoard(
            (self.squares, self.squares),
            self.square_mm,
            self.square_mm * MARKER_SHARE,
            _DICTIONARY,
        )

    def corners_mm(self) -> np.ndarray:
        """(N, 2) the board's inner corners on the printed card, by their number."""
        corners = np.asarray(self.board().getChessboardCorners(), float)[:, :2]
        return (corners - self.squares * self.square_mm / 2) * self.print_scale

    def is_whole(self) -> np.ndarray:
        """(N,) bool: corners whose four squares are all printed. The others, at the card's edge,
        are no saddles of light, and would be seen a little too far inside."""
        outermost = np.abs(self.corners_mm() / self.print_scale) + self.square_mm
        return np.asarray(np.hypot(*outermost.T) <= self.radius_mm - _MARGIN_MM / 2)

    def black(self) -> list[tuple[float, float, float]]:
        """The black squares to print, as (left, top, edge) in mm; cut off where the card ends."""
        found = []
        half, square = self.squares * self.square_mm / 2, self.square_mm
        edge = square * MARKER_SHARE
        inset, cell = (square - edge) / 2, edge / _BITS
        # Every second square has a marker: rows have an odd number of them.
        for number, (row, column) in enumerate(np.ndindex(self.squares, self.squares)):
            left, top = column * square - half, row * square - half
            if not self._is_on_card(left, top, square):
                continue
            if number % 2 == 0:
                found.append((left, top, square))
                continue
            code = _DICTIONARY.generateImageMarker(number // 2, _BITS)
            found += [
                (left + inset + x * cell, top + inset + y * cell, cell)
                for y, x in np.argwhere(np.asarray(code) == 0)
            ]
        return found

    def _is_on_card(self, left: float, top: float, edge: float) -> bool:
        far = max(abs(left), abs(left + edge)), max(abs(top), abs(top + edge))
        return bool(np.hypot(*far) <= self.radius_mm - _MARGIN_MM / 2)

    def picture(self, px_per_mm: float) -> np.ndarray:
        """Draw the card: (side, side) uint8, white with black, light grey outside of its edge."""
        # Some times too large, then averaged: a cell's edge need not fall on a pixel's.
        width = int(np.ceil(2.0 * self.compartment_radius_mm * px_per_mm))
        times = max(1, min(_FINER, _MAX_PX // width))
        fine, side = px_per_mm * times, width * times
        image = np.full((side, side), 210, np.uint8)
        cv2.circle(image, (side // 2, side // 2), round(self.radius_mm * fine), 255, -1)
        for left, top, edge in self.black():
            x0, y0 = (round(side / 2 + v * fine) for v in (left, top))
            x1, y1 = (round(side / 2 + (v + edge) * fine) for v in (left, top))
            image[y0:y1, x0:x1] = 0
        return np.asarray(cv2.resize(image, (width, width), interpolation=cv2.INTER_AREA))
