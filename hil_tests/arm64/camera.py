"""Inside the emulation: the camera process until its first frame.

`python -m hil_tests.arm64.camera -m shaker_ctl.adapters.camera.process FD`, as the service starts
it. What was executed until a frame was announced is the mark 1.
"""

from __future__ import annotations

import sys
from typing import Any

from hil_tests.arm64.marks import mark

FIRST_FRAME = 1


def main(descriptor: int) -> int:
    """Run the camera process as its service does."""
    from shaker_ctl.adapters.camera import process

    announce = process.CameraWorker._announce_ready

    def announced(worker: process.CameraWorker, frame: Any) -> None:
        announce(worker, frame)
        mark(FIRST_FRAME)

    setattr(process.CameraWorker, announce.__name__, announced)
    return process.main(descriptor)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[-1])))
