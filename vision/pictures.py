"""Picture files: read whole or not at all, written or said why not.

Owns: the way from a path to pixels and back. Must not know what a picture shows. OpenCV opens files
by itself, but ends the process on a name that is no UTF-8, says nothing when it cannot write, and
fills up a file that ends in the middle with grey.
"""

from __future__ import annotations

import re
from pathlib import Path

import cv2
import numpy as np

from vision.errors import VisionError

KINDS = "JPEG, PNG, BMP, WebP or TIFF"
_JPEG, _JPEG_SCAN, _JPEG_END = b"\xff\xd8\xff", b"\xff\xda", b"\xff\xd9"
_HEIC = re.compile(rb"....ftyp(heic|heix|hevc|mif1|msf1)", re.DOTALL)
_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND"


class PictureError(VisionError):
    """A file is missing, no picture, or cannot be written. The message names it."""


def load(path: Path) -> np.ndarray:
    """(H, W, 3) uint8 BGR, upright as the camera was held. Raises PictureError."""
    return decode(_read(path), path)


def load_whole(path: Path) -> np.ndarray:
    """The same, but a file that ends before its picture does is none: what is missing would be
    grey, and a die there gone. Raises PictureError."""
    data = _read(path)
    if is_cut_off(data):
        raise PictureError(
            f"{shown(path)} ends in the middle of the picture, and a die may be missing; copy it "
            "again from where it came from"
        )
    return decode(data, path)


def decode(data: bytes, path: Path) -> np.ndarray:
    """The picture in a file's bytes; `path` is for the message. Raises PictureError. Some cameras
    leave out a JPEG's end: it is lent one, as OpenCV takes none without."""
    if data.startswith(_JPEG) and is_cut_off(data):
        data += _JPEG_END
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    except cv2.error as error:  # whatever the file's size: its header may say anything
        raise PictureError(
            f"{shown(path)} claims to have more pixels than can be read ({error.err})"
        ) from error
    if not data:
        raise PictureError(f"{shown(path)} is empty; copy it again from where it came from")
    if image is None and _HEIC.match(data):
        raise PictureError(f"{shown(path)} is a HEIC picture, as iPhones take; save it as JPEG")
    if image is None:
        raise PictureError(f"{shown(path)} is no picture that can be read; name {KINDS} files")
    return np.asarray(image, np.uint8)


def is_cut_off(data: bytes) -> bool:
    """True if a JPEG or PNG file lacks its end. Before a JPEG's scan lies its preview, which has an
    end of its own, and so has one that was put after it; within the scan no other bytes look like
    an end (ITU-T T.81, B.1.1)."""
    if data.startswith(_JPEG):
        picture = data[max(0, _scan(data)) :].split(_JPEG, 1)[0]
        return _JPEG_END not in picture
    return data.startswith(_PNG) and _PNG_END not in data


def _scan(data: bytes) -> int:
    """Where a JPEG's first scan begins; -1 where it has none."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        if data[at : at + 2] == _JPEG_SCAN:
            return at
        if data[at + 1] == 0xFF:  # markers may be preceded by any number of these
            at += 1
            continue
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return -1


def save(path: Path, image: np.ndarray) -> None:
    """Write a (H, W, 3) uint8 BGR picture, in the kind that its name ends in. Raises PictureError
    where that is no kind of picture, or where nothing can be written."""
    check_kind(path)
    try:
        is_made, data = cv2.imencode(path.suffix, image)
    except cv2.error:
        is_made, data = False, np.zeros(0, np.uint8)
    if not is_made:
        raise PictureError(f"cannot write {shown(path)}: no such picture fits into {path.suffix}")
    try:
        path.write_bytes(data.tobytes())
    except (OSError, ValueError) as error:
        raise PictureError(f"cannot write {shown(path)}: {_why(error)}") from error


def check_kind(path: Path) -> None:
    """Raise PictureError if a picture cannot be written under this name."""
    try:
        is_kind = bool(path.suffix) and cv2.haveImageWriter(f"picture{path.suffix}")
    except (cv2.error, UnicodeError):
        is_kind = False
    if not is_kind:
        raise PictureError(f"cannot write {shown(path)}: let its name end in .jpg or .png")


def shown(name: Path | str) -> str:
    """A name for a message: bytes that are no UTF-8 written out, as no terminal can show them."""
    return str(name).encode("utf-8", "backslashreplace").decode()


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise PictureError(f"{shown(path)} is a pipe or a device; put the picture into a file")
        return path.read_bytes()
    except FileNotFoundError:
        what = "is a link to a file that does not exist" if path.is_symlink() else "does not exist"
        raise PictureError(f"{shown(path)} {what}") from None
    except (OSError, ValueError) as error:  # a name may hold what no file system takes
        raise PictureError(f"cannot read {shown(path)}: {_why(error)}") from error


def _why(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
