"""`shaker-ctl read PHOTO...`: read dice in photographs, without a table.

Owns: the command's words and its JSON. The reading is `vision`'s; no table is needed and none is
touched.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shaker_ctl.errors import PhotoError, RefusedError, SettingsError

if TYPE_CHECKING:  # OpenCV and onnxruntime are loaded only when something is read
    from vision.reader import Seen

REFUSED_STATUS = 1


def read(
    photos: Annotated[list[Path], typer.Argument(help="Pictures to read.", show_default=False)],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a photo, a line each.")
    ] = False,
    overlay: Annotated[
        Path | None, typer.Option(help="Folder for a picture of each reading.")
    ] = None,
    any_number: Annotated[
        bool, typer.Option("--any-number", help="Accept any number of dice, not three only.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(help="Settings with [camera.calibration]: read frames of that table."),
    ] = None,
) -> None:
    """Read dice in photographs: values where both readers agree, or why not.

    Ends with status 0 if every photograph was read, and with 1 if any was refused.
    """
    import cv2

    from vision.classifier import DieFinder
    from vision.errors import VisionError
    from vision.explain import read_calibration
    from vision.frame import Frame
    from vision.overlay import draw_reading
    from vision.photo_reader import PhotoReader
    from vision.reader import TableReader
    from vision.reading import Verified

    cv2.setNumThreads(1)
    wanted = None if any_number else 3
    is_refused = False
    try:
        finder = DieFinder()
        reader = (
            PhotoReader(finder) if config is None else TableReader(finder, read_calibration(config))
        )
    except VisionError as error:
        raise SettingsError(str(error)) from error
    if overlay is not None:
        _make_folder(overlay)
    for photo in photos:
        image = cv2.imread(str(photo), cv2.IMREAD_COLOR) if photo.is_file() else None
        if image is None:
            what = "is no picture that can be read" if photo.exists() else "does not exist"
            raise PhotoError(f"{photo} {what}", remedy="Name JPEG, PNG, BMP, WebP or TIFF files")
        seen = reader.look(Frame(image), wanted)
        verdict = seen.observation.opinion
        is_refused |= not isinstance(verdict, Verified)
        line = json.dumps(to_json(photo, seen)) if as_json else to_text(photo, seen)
        sys.stdout.write(line + "\n")
        if overlay is not None:
            out = overlay / f"{photo.stem}-read.jpg"
            cv2.imwrite(str(out), draw_reading(image, seen.observation, verdict))
    if is_refused:
        raise typer.Exit(REFUSED_STATUS)


def to_text(photo: Path, seen: Seen) -> str:
    """One line for a person."""
    from vision.overlay import describe

    plain = " ".join(str(die.value) for die in seen.model) or "none"
    took = sum(ms for _, ms in seen.observation.cost_ms)
    return f"{photo}: {describe(seen.observation.opinion)}   [model alone: {plain}; {took:.0f} ms]"


def to_json(photo: Path, seen: Seen) -> dict[str, Any]:
    """One object for a program: the verdict, and each die with both votes."""
    from vision.reading import NoRoll, Verified

    observation = seen.observation
    verdict = observation.opinion
    result: dict[str, Any] = {"photo": str(photo)}
    if isinstance(verdict, Verified):
        result |= {
            "verdict": "verified",
            "values": list(verdict.values),
            "confidence": round(verdict.confidence, 4),
        }
    elif isinstance(verdict, NoRoll):
        result |= {
            "verdict": "no_roll",
            "values": None,
            "die": verdict.die,
            "kind": verdict.kind.value,
            "angle_deg": round(verdict.angle_deg, 1),
        }
    else:
        result |= {
            "verdict": "unreadable",
            "values": None,
            "reason": verdict.reason.value,
            "detail": verdict.detail,
        }
    result["dice"] = [
        {
            "value": die.model.value if die.model else None,
            "value_p": round(die.model.value_p, 4) if die.model else None,
            "flat_p": round(die.model.flat_p, 4) if die.model else None,
            "near_flat_p": _rounded(die.model.near_p if die.model else None),
            "near_lean_deg": _rounded(die.model.near_lean_deg if die.model else None),
            "score": round(die.model.score, 4) if die.model else None,
            "second": die.second.value if die.second else None,
            "second_confidence": round(die.second.confidence, 4) if die.second else None,
            "corners": [[round(x, 1), round(y, 1)] for x, y in die.corners],
        }
        for die in observation.dice
    ]
    result["ms"] = {name: round(ms, 1) for name, ms in observation.cost_ms}
    return result


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RefusedError(
            f"cannot make the folder {folder}: {error.strerror}", remedy="Name another --overlay"
        ) from error
