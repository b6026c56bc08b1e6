"""The reader of a table's frames, as its camera process builds it; loaded only where one is needed,
since it brings OpenCV and the model with it."""

from __future__ import annotations

from shaker_ctl.reading import taught_table
from shaker_ctl.reading.parameters import CameraParameters
from vision.calibration import Calibration
from vision.networks.classifier import DieFinder
from vision.table.reader import TableReader
from vision.taught import Teaching


def table_reader(camera: CameraParameters) -> TableReader:
    """Raises VisionError where calibration, model or teaching cannot be used, and CameraError where
    the teaching is damaged or of another camera."""
    calibration = Calibration.from_table(camera.calibration_table())
    table = taught_table.found(camera)
    teaching = None if table is None else Teaching.from_bytes(table.taught, calibration)
    return TableReader(DieFinder(), calibration, teaching=teaching)
