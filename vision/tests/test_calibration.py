"""A millimetre in the compartment is found in the picture, and back."""

import numpy as np
import pytest

from vision.calibration import Calibration, CalibrationError
from vision.tests.drawing import TABLE

TABLE_KEYS = TABLE.to_table()


def test_table_survives_the_way_to_a_file_and_back():
    assert Calibration.from_table(TABLE_KEYS) == TABLE


@pytest.mark.parametrize("tilt", [(0.0, 0.0), (2.0, -3.0), (-6.0, 4.0)])
@pytest.mark.parametrize("k1", [0.0, -0.08, 0.25])
@pytest.mark.parametrize("z", [0.0, 16.0, 32.0])
def test_points_come_back_from_the_picture(k1, z, tilt):
    calibration = Calibration.from_table(
        TABLE_KEYS | {"k1": k1, "compartment_mm": [3.0, -2.0], "tilt_deg": list(tilt)}
    )
    grid = np.array([(x, y, z) for x in (-45, 0, 30) for y in (-40, 5, 45)], float)
    assert np.allclose(calibration.to_mm(calibration.to_px(grid), z), grid[:, :2], atol=1e-3)


def test_a_camera_that_leans_to_the_right_sees_the_compartment_further_left_and_askew():
    straight = Calibration.from_table(TABLE_KEYS)
    leaning = Calibration.from_table(TABLE_KEYS | {"tilt_deg": [2.0, 0.0]})
    places = np.array([(-40, 0, 0), (0, 0, 0), (40, 0, 0)], float)
    moved = leaning.to_px(places) - straight.to_px(places)
    assert (moved[:, 0] < 0).all()
    steps = np.diff(leaning.to_px(places)[:, 0])
    assert steps[1] != pytest.approx(steps[0], abs=0.5)
    down = Calibration.from_table(TABLE_KEYS | {"tilt_deg": [0.0, 2.0]})
    assert down.to_px(places)[1, 1] < straight.to_px(places)[1, 1]


def test_a_die_on_another_appears_larger_by_the_known_share():
    assert TABLE.px_per_mm(32.0) / TABLE.px_per_mm(16.0) == pytest.approx(284 / 268)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"die_mm": -1}, "die_mm"),
        ({"k1": 0.9}, "k1"),
        ({"tilt_deg": [0.0, 12.0]}, "tilt_deg"),
        ({"height_mm": 20}, "height_mm"),
        ({"image_size": [640]}, "calibration"),
        ({"compartment_mm": [200.0, 0.0]}, "compartment_mm"),
        ({"centre_px": [0.0, 0.0], "tilt_deg": [9.0, 9.0]}, "centre_px"),
        ({"colour": 3}, "colour"),
    ],
)
def test_an_impossible_calibration_is_refused_by_name(change, named):
    with pytest.raises(CalibrationError, match=named):
        Calibration.from_table(TABLE_KEYS | change)


def test_a_missing_key_is_named():
    table = dict(TABLE_KEYS)
    del table["floor_px_per_mm"]
    with pytest.raises(CalibrationError, match="floor_px_per_mm"):
        Calibration.from_table(table)
