"""The camera process seen from its parent: it is light, it is killed, it answers or is answered
for."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from pydantic import ValidationError

from hil_tests.waiting import until
from shaker_ctl.adapters.camera.dice_camera import DiceCamera
from shaker_ctl.errors import CameraError
from shaker_ctl.reading.messages import CameraFault, ReadingDone
from shaker_ctl.reading.parameters import MAX_TILT_DEG, CalibrationParameters, CameraParameters
from shaker_ctl.rules.vocabulary import play
from vision.calibration import Calibration, CalibrationError
from vision.reading import Reason

pytestmark = pytest.mark.timed

NOWHERE = "http://127.0.0.1:9/camera.mjpg"
START_S = 120.0
"""An emulated processor loads the model and its libraries in half a minute and more."""


class Heard:
    def __init__(self):
        self.messages = []

    def wait(self, kind):
        return until(lambda: next((m for m in self.messages if isinstance(m, kind)), None), START_S)


@pytest.fixture
def heard():
    return Heard()


@pytest.fixture
def camera(heard):
    parameters = CameraParameters(
        device=NOWHERE,
        open_timeout_s=0.3,
        silent_after_s=5.0,  # four times this without a picture and the process gives itself up
        rest_timeout_s=0.4,
        read_timeout_s=0.4,
        start_timeout_s=START_S,
    )
    camera = DiceCamera(parameters, heard.messages.append)
    yield camera
    camera.stop()
    assert camera.pid is None


def test_the_process_loads_its_libraries_before_anything_is_opened(camera, heard):
    """The table starts it first, and opens the camera when seal and journal have been compared."""
    camera.load()
    until(lambda: camera.pid)
    assert not heard.messages
    camera.start()
    heard.wait(CameraFault)  # nobody is there: it was opened
    with pytest.raises(CameraError, match="already started"):
        camera.start()


def test_opencv_waits_a_second_for_a_v4l2_frame_and_not_ten(camera):
    camera.load()
    until(lambda: camera.pid)
    environment = Path(f"/proc/{camera.pid}/environ").read_bytes().split(b"\0")
    assert b"OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT=1" in environment


def test_a_process_that_only_loads_can_be_stopped(camera, heard):
    camera.load()
    camera.stop()
    assert not heard.messages


def test_a_missing_camera_is_one_line_with_a_remedy(camera):
    camera.start()
    with pytest.raises(CameraError, match=r"127\.0\.0\.1:9") as raised:
        camera.wait_ready(START_S)
    assert "cable" in raised.value.remedy


def test_every_read_is_answered_even_without_a_camera(camera, heard):
    camera.start()
    heard.wait(CameraFault)
    camera.read(play(5))
    done = heard.wait(ReadingDone)
    assert done.occasion == play(5)
    assert done.verdict.reason in (Reason.MOVING, Reason.NO_FRAMES)


def test_a_killed_process_is_named_and_replaced(camera, heard):
    camera.start()
    heard.wait(CameraFault)
    first = camera.pid
    camera._process.kill()
    until(lambda: camera.pid not in (None, first), START_S)
    assert any(isinstance(m, CameraFault) and m.code == "camera-process" for m in heard.messages)


def test_a_process_whose_processor_lacks_an_instruction_says_so(camera, heard):
    camera.start()
    heard.wait(CameraFault)
    camera._process.send_signal(signal.SIGILL)
    until(lambda: any("lacks an instruction" in getattr(m, "text", "") for m in heard.messages))


@pytest.mark.parametrize(
    "change",
    [{"tilt_deg": (MAX_TILT_DEG, -MAX_TILT_DEG)}, {"height_mm": 90.1, "die_mm": 30.0},
     {"tilt_deg": (0.0, MAX_TILT_DEG + 0.1)}, {"height_mm": 90.0, "die_mm": 30.0},
     {"k1": 0.3}, {"k1": 0.31}],
)  # fmt: skip
def test_the_settings_take_the_calibrations_that_the_reader_takes(change):
    table = CameraParameters().calibration_table() | change
    try:
        Calibration.from_table(table)
    except CalibrationError:
        with pytest.raises(ValidationError):
            CalibrationParameters(**table)
    else:
        CalibrationParameters(**table)
