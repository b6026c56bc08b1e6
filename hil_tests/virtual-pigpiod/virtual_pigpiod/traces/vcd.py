"""A recorded trace as a VCD file, which GTKWave and PulseView open.

Owns: the format. Must not know: boards.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from virtual_pigpiod.traces.recorder import Trace


def write_vcd(trace: Trace, path: Path) -> None:
    """Write the trace with one wire per pin, in microseconds since its start."""
    codes = {gpio: chr(33 + index) for index, gpio in enumerate(trace.gpios)}
    with path.open("w", encoding="ascii") as file:
        file.write("$timescale 1 us $end\n$scope module board $end\n")
        for gpio, code in codes.items():
            file.write(f"$var wire 1 {code} gpio{gpio} $end\n")
        file.write("$upscope $end\n$enddefinitions $end\n#0\n$dumpvars\n")
        for gpio, code in codes.items():
            file.write(f"{trace.first_level(gpio)}{code}\n")
        file.write("$end\n")
        _write_changes(file, trace, codes)


def _write_changes(file: TextIO, trace: Trace, codes: Mapping[int, str]) -> None:
    changes = [
        (at_us, level, code) for gpio, code in codes.items() for at_us, level in trace.edges(gpio)
    ]
    written_us = None
    for at_us, level, code in sorted(changes, key=lambda change: change[0]):
        if at_us != written_us:
            file.write(f"#{at_us - trace.start_us}\n")
            written_us = at_us
        file.write(f"{level}{code}\n")
    file.write(f"#{trace.end_us - trace.start_us}\n")
