"""Settings of the service itself: where it runs and how patient its own threads are."""

from __future__ import annotations

from pathlib import Path

from shaker_ctl.parameters import Parameters, bounded


class ServiceParameters(Parameters):
    """The service around the table."""

    table_name: str = "Sic Bo 1"
    """Name of the table on banners, screens and in every record. The house chooses it."""

    runtime_dir: Path = Path("/run/shaker-ctl")
    """Folder for the status socket; a tmpfs on a Pi, so that nothing here wears the SD card."""

    heartbeat_s: float = bounded(0.05, at_least=0.03, at_most=0.08)
    """Longest turn of the state thread, in seconds, that still refreshes the motor's dead-man.

    The dead-man itself drops EN 100 ms after the last refresh (measured 75-82 ms), so 50 ms keeps
    the whole chain under the 150 ms that a hung service may drive the motor. Lower: a busy core
    stops good tosses; higher: the bound is lost.
    """

    start_deadline_s: float = bounded(20.0, at_least=4.0, at_most=120.0)
    """Longest start, in seconds, until camera, lamp box, daemon and journal have all answered.

    Estimate: a Pi 3 loads the model in about 6 s. A part that is still silent then is a named
    fault, and the table stays out of service.
    """
