"""`python -m vision.explain`: a picture of every step, and one line for whatever is amiss."""

import math

import cv2
import numpy as np
import pytest

from vision.errors import VisionError
from vision.explain import main, read_calibration
from vision.pictures import load, save
from vision.tests.drawing import TABLE, Die, draw

DICE = [Die(-22.0, -8.0, 20.0, 2), Die(4.0, 14.0, 65.0, 5), Die(24.0, -10.0, 40.0, 4)]


def settings(path, **changes):
    lines = ["[camera.calibration]"]
    lines += [f"{key} = {value}" for key, value in (TABLE.to_table() | changes).items()]
    path.write_text("\n".join(lines))
    return path


def test_a_picture_explains_a_photograph_and_a_frame(tmp_path, capsys):
    save(tmp_path / "toss.png", draw(DICE))
    for more in ([], ["--config", str(settings(tmp_path / "table.toml"))]):
        out = tmp_path / "explained.jpg"
        assert main([str(tmp_path / "toss.png"), "--out", str(out), *more]) == 0
        assert str(out) in capsys.readouterr().out
        assert min(load(out).shape[:2]) > 400
        out.unlink()


@pytest.mark.parametrize("size", [(3, 3000), (3000, 2)])
def test_a_strip_is_explained_as_well(tmp_path, size):
    save(tmp_path / "strip.png", np.zeros((*size, 3), np.uint8))
    assert main([str(tmp_path / "strip.png"), "--out", str(tmp_path / "out.jpg")]) == 0
    assert cv2.haveImageReader(str(tmp_path / "out.jpg"))


@pytest.mark.parametrize(
    ("photo", "out"), [("absent.png", "out.jpg"), ("toss.png", "out"), ("toss.png", "no/out.jpg")]
)
def test_what_is_amiss_is_one_line(tmp_path, capsys, photo, out):
    save(tmp_path / "toss.png", draw(DICE))
    assert main([str(tmp_path / photo), "--out", str(tmp_path / out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff", b"[camera", b"camera = 3", b"[camera]\ncalibration = 3",
        b"a = " + b"[" * 5000, b"[camera.calibration]\nheight_mm = 300.0",
    ],
)  # fmt: skip
def test_settings_without_a_calibration_are_named(tmp_path, content):
    file = tmp_path / "table.toml"
    file.write_bytes(content)
    with pytest.raises(VisionError, match=r"table\.toml"):
        read_calibration(file)


@pytest.mark.parametrize(
    "change",
    [{"centre_px": [math.nan, 3.0]}, {"tilt_deg": [0.0, math.nan]}, {"image_size": [0, 0]},
     {"image_size": [math.inf, 480]}, {"floor_px_per_mm": math.inf}],
)  # fmt: skip
def test_a_calibration_of_no_numbers_is_refused(tmp_path, change):
    with pytest.raises(VisionError, match=next(iter(change)) + r"|integer|infinity"):
        read_calibration(settings(tmp_path / "table.toml", **change))
