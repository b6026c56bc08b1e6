"""The way to the pins is the one that works on the machine, and is said in the log."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Literal

import pytest

from shaker_ctl.adapters.pins.gpio_backend import choose, make_pins, read_model
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters


@pytest.mark.parametrize(
    ("model", "backend"),
    [
        ("Raspberry Pi 3 Model B Plus Rev 1.3", "pigpio"),
        ("Raspberry Pi 4 Model B Rev 1.5", "pigpio"),
        ("Raspberry Pi Compute Module 4 Rev 1.1", "pigpio"),
        ("Raspberry Pi Zero 2 W Rev 1.0", "pigpio"),
        ("Raspberry Pi 400 Rev 1.0", "pigpio"),
        ("Raspberry Pi 5 Model B Rev 1.0", "gpiod"),
        ("Raspberry Pi 500 Rev 1.0", "gpiod"),
        ("Raspberry Pi Compute Module 5 Rev 1.0", "gpiod"),
        ("", "pigpio"),
    ],
)
def test_auto_takes_what_the_model_can(model: str, backend: str) -> None:
    assert choose("auto", model) == backend


def test_one_that_is_named_is_obeyed_and_doubted_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert choose("pigpio", "Raspberry Pi 5 Model B Rev 1.0") == "pigpio"
    assert "Raspberry Pi 5 Model B" in caplog.text
    assert choose("gpiod", "Raspberry Pi 4 Model B Rev 1.5") == "gpiod"


def test_the_model_is_read_as_the_device_tree_has_it(tmp_path: Path) -> None:
    file = tmp_path / "model"
    file.write_bytes(b"Raspberry Pi 5 Model B Rev 1.0\0")
    assert read_model(file) == "Raspberry Pi 5 Model B Rev 1.0"
    assert read_model(tmp_path / "missing") == ""


@pytest.mark.parametrize("backend", ["pigpio", "gpiod"])
def test_all_adapters_are_made_without_touching_a_pin(backend: Literal["pigpio", "gpiod"]) -> None:
    pytest.importorskip("gpiod")
    pins = make_pins(GpioParameters(backend=backend, port=1), model="")
    assert pins.backend == backend
    assert pins.link.trouble() is not None
    pins.motor.stop()
