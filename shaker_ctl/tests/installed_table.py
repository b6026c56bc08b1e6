"""A folder that stands for a computer on which the package is installed, and which was set up."""

from __future__ import annotations

import shutil
from pathlib import Path

from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.installation import told
from shaker_ctl.installation.places import Places, shipped


def install_table(root: Path, pins: PinParameters) -> Places:
    """Bring what the doctor looks for: the stop script, the pins, and the link to the unit."""
    places = Places(root)
    places.stop_script.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(shipped() / "motor-off", places.stop_script)
    places.started.mkdir(parents=True, exist_ok=True)
    (places.started / "shaker-ctl.service").symlink_to("/usr/lib/systemd/system/shaker-ctl.service")
    told.mark_table(places, pins)
    return places
