#!/usr/bin/env python3
"""Stands in for `rpicam-vid`: the options that the adapter gives, MJPEG, metadata as it has them.

As in rpicam-apps 1.5: an unknown option ends it with `ERROR: *** … ***` and status 255, JPEG files
follow each other on standard output, each picture's metadata is `NAME=VALUE` lines and an empty
line, SIGINT ends it. `camera.json` beside it says what this camera is and when it fails.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent


class Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.exit(complain(message))


def complain(message: str) -> int:
    sys.stderr.write(f"ERROR: *** {message} ***\n")
    return 255


def main() -> int:
    camera = json.loads((HERE / "camera.json").read_text())
    options = Options(allow_abbrev=False)
    for name in ("nopreview", "flush"):
        options.add_argument(f"--{name}", action="store_true")
    for name in ("codec", "output", "metadata", "metadata-format", "awbgains", "autofocus-mode"):
        options.add_argument(f"--{name}", default="")
    for name in ("camera", "quality", "width", "height", "timeout", "shutter"):
        options.add_argument(f"--{name}", type=int, default=0)
    for name in ("framerate", "gain", "lens-position"):
        options.add_argument(f"--{name}", type=float, default=0.0)
    asked = options.parse_args()
    (HERE / "asked.json").write_text(json.dumps(vars(asked)))
    sys.stderr.write("[0:12:01.1] [901] INFO Camera camera_manager.cpp: libcamera v0.5\n")
    if asked.camera >= camera["cameras"]:
        return complain("no cameras available")
    said = {
        "ExposureTime": asked.shutter or 12_345,
        "AnalogueGain": f"{asked.gain or 3.1:f}",
        "ColourGains": f"[ {asked.awbgains.replace(',', ', ') or '1.7, 1.9'} ]",
        "ColourTemperature": 4500,
        "LensPosition": f"{asked.lens_position or 1.0:f}",
        "FrameDuration": 33_333,
        **camera["said"],
    }
    files = [path.read_bytes() for path in sorted(HERE.glob("*.jpg"))]
    with open(asked.metadata, "w") as metadata:
        number = 0
        while True:
            if number == camera["silent_after"]:
                time.sleep(3600)
            if number == camera["dies_after"]:
                return complain("failed to queue buffer")
            file = files[number % len(files)]
            half = len(file) // 2
            for part in (file[:half], file[half:]):
                os.write(1, part)
            metadata.writelines(f"{name}={value}\n" for name, value in said.items())
            metadata.write("\n")
            metadata.flush()
            number += 1
            time.sleep(1 / asked.framerate)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(0)
