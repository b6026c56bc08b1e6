"""`shaker-ctl read PHOTO...`: read dice in photographs, without a table.

Owns: the command's words and its JSON. The reading is `vision`'s; no table is needed and none is
touched.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shaker_ctl import libraries, settings
from shaker_ctl.commands.remedies import REMEDIES
from shaker_ctl.doctor.libraries import OTHER_COMPUTER
from shaker_ctl.errors import PhotoError, RefusedError, SettingsError, reraise_as

if TYPE_CHECKING:  # OpenCV and onnxruntime are loaded only when something is read
    from vision.findings import Findings
    from vision.photo.reader import PhotoReader
    from vision.table.reader import TableReader

REFUSED_STATUS = 1


def read(
    photos: Annotated[list[Path], typer.Argument(help="Pictures to read.", show_default=False)],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a photo, a line each.")
    ] = False,
    overlay: Annotated[
        Path | None, typer.Option(help="Folder for a picture of each reading.")
    ] = None,
    explain: Annotated[
        Path | None, typer.Option(help="Folder for a picture of every step of each reading.")
    ] = None,
    any_number: Annotated[
        bool, typer.Option("--any-number", help="Accept any number of dice, not three only.")
    ] = False,
    config: Annotated[
        Path | None, typer.Option(help="Settings of a table (camera.calibration): read its frames.")
    ] = None,
) -> None:
    """Read dice in photographs: values where both readers agree, or why not.

    Ends with status 0 if values were stated for every photograph. Ends with 1 if one was refused,
    was a no roll, or could not be opened; the others are read all the same.
    """
    if lacking := libraries.unsupported():
        raise RefusedError(lacking, remedy=OTHER_COMPUTER)
    import cv2

    from vision.errors import VisionError
    from vision.explain import explain as explained
    from vision.frame import Frame
    from vision.overlay import draw_reading
    from vision.pictures import PictureError, load_whole, save
    from vision.reading import Verified

    cv2.setNumThreads(1)
    wanted = None if any_number else 3
    reader = _reader(config)
    for folder in filter(None, (overlay, explain)):
        _make_folder(folder)
    # A photograph that is still to be read must not be written over.
    taken = {photo.resolve() for photo in photos}
    is_refused = False
    for photo in photos:
        try:
            image = load_whole(photo)
        except PictureError as error:
            is_refused = True
            if as_json:
                _say(json.dumps({"photo": str(photo), "verdict": None, "error": str(error)}))
            sys.stderr.write(f"{PhotoError.code}: {error}\n")
            continue
        seen = reader.look(Frame(image), wanted)
        verdict = seen.observation.opinion
        is_refused |= not isinstance(verdict, Verified)
        _say(json.dumps(to_json(photo, seen)) if as_json else to_text(photo, seen))
        try:
            if overlay is not None:
                out = _free_name(overlay, photo, "read", taken)
                save(out, draw_reading(image, seen.observation, verdict))
            if explain is not None:
                save(_free_name(explain, photo, "explained", taken), explained(image, seen))
        except VisionError as error:
            raise RefusedError(str(error), remedy="Name another folder") from error
    if is_refused:
        raise typer.Exit(REFUSED_STATUS)


def _reader(config: Path | None) -> PhotoReader | TableReader:
    """For photographs; or for the frames of the table whose settings these are."""
    from shaker_ctl.commands.table_reader import table_reader
    from vision.errors import VisionError
    from vision.networks.classifier import DieFinder
    from vision.photo.reader import PhotoReader

    try:
        if config is None:
            return PhotoReader(DieFinder())
        return table_reader(settings.load(config).camera)
    except VisionError as error:
        where = "" if config is None else f"{config}: "
        raise SettingsError(f"{where}{error}") from error


def _free_name(folder: Path, photo: Path, what: str, taken: set[Path]) -> Path:
    """Where a photograph's picture goes: photographs of one name have one each."""
    names = itertools.chain(("",), (f"-{number}" for number in itertools.count(2)))
    outs = (folder / f"{photo.stem}-{what}{number}.jpg" for number in names)
    out = next(each for each in outs if each.resolve() not in taken)
    taken.add(out.resolve())
    return out


def _say(line: str) -> None:
    from vision.pictures import shown

    sys.stdout.write(shown(line) + "\n")


def to_text(photo: Path, seen: Findings) -> str:
    """One line for a person: the verdict, and what to do where there is none."""
    from vision.overlay import describe
    from vision.reading import Unreadable

    plain = " ".join(str(die.value) for die in seen.model) or "none"
    took = sum(ms for _, ms in seen.observation.cost_ms)
    verdict = seen.observation.opinion
    remedy = f"; {REMEDIES[verdict.reason]}" if isinstance(verdict, Unreadable) else ""
    return f"{photo}: {describe(verdict)}{remedy}   [model alone: {plain}; {took:.0f} ms]"


def to_json(photo: Path, seen: Findings) -> dict[str, Any]:
    """One object for a program: the verdict, and each die with both votes. Its keys are listed in
    `vision/photo/README.md`."""
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
            "remedy": REMEDIES[verdict.reason],
        }
    result["dice"] = [
        {
            "value": die.model.value if die.model else None,
            "value_p": round(die.model.value_p, 4) if die.model else None,
            "flat_p": round(die.model.flat_p, 4) if die.model else None,
            "near_flat_p": _rounded(die.model.near_p if die.model else None),
            "near_lean_deg": _rounded(die.model.near_lean_deg if die.model else None),
            "score": round(die.model.score, 4) if die.model else None,
            "height": _rounded(die.height.above if die.height else None),
            "second": die.second.value if die.second else None,
            "second_confidence": round(die.second.confidence, 4) if die.second else None,
            "corners": [[round(x, 1), round(y, 1)] for x, y in die.corners],
            "witnesses": {each.name: round(each.odds, 2) for each in die.witnesses},
        }
        for die in observation.dice
    ]
    result["ms"] = {name: round(ms, 1) for name, ms in observation.cost_ms}
    return result


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _make_folder(folder: Path) -> None:
    with reraise_as(RefusedError, f"cannot make the folder {folder}", remedy="Name another folder"):
        folder.mkdir(parents=True, exist_ok=True)
