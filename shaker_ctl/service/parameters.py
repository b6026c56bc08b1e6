"""Settings of the service itself: where it runs and how patient its own threads are."""

from __future__ import annotations

from pathlib import Path

from pydantic import field_validator

from shaker_ctl.parameters import Parameters, bounded


class ServiceParameters(Parameters):
    """The service around the table."""

    table_name: str = "Sic Bo 1"
    """Name of the table on banners, screens and in every record. The house chooses it."""

    runtime_dir: Path = Path("/run/shaker-ctl")
    """Folder for the status socket; a tmpfs on a Pi, so that nothing here wears the SD card."""

    heartbeat_s: float = bounded(0.05, at_least=0.03, at_most=0.13)
    """Longest turn of the state thread, in seconds, that still refreshes the motor's dead-man.

    A state thread that hangs is noticed by the motion loop, which takes EN low itself: this time,
    one turn of 8 ms and the way to the pin (worst 12 ms measured) stay within the 150 ms that a
    hung service may drive the motor, up to 0.13. Lower: a busy core stops good tosses; higher: the
    bound is lost.
    """

    clock_step_s: float = bounded(2.0, at_least=0.5, at_most=3600.0)
    """Largest jump of the wall clock against the monotonic one, in seconds, that is no fault.

    A clock that is kept by NTP is slewed, and does not jump; whoever sets it by hand makes play
    stop until a floorperson has confirmed the time. Higher: dates of dice and shifts may be wrong
    by as much. Estimate.
    """

    memory_floor_mb: float = bounded(48.0, at_least=8.0, at_most=4096.0)
    """Least memory that must be available, in megabytes; below it the round is finished, then play
    stops. A reading needs about 20 MB for a moment. Lower: the kernel may kill something first.
    Estimate; a run on the computer fitted settles it."""

    disk_floor_mb: float = bounded(64.0, at_least=8.0, at_most=100_000.0)
    """Least space on the journal's disk, in megabytes; below it the round is finished, then play
    stops. A round writes about 0.2 MB, so that some hundred rounds are left. Estimate."""

    @field_validator("table_name")
    @classmethod
    def _can_be_shown(cls, name: str) -> str:
        if not 0 < len(name.strip()) <= 40 or not name.isprintable():
            raise ValueError("give 1 to 40 characters that a screen can show")
        return name
