"""From files to pixels and back: what is not whole, no picture, or cannot be written."""

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision.pictures import PictureError, check_kind, is_cut_off, load, load_whole, save, shown

PICTURE = np.random.default_rng(1).integers(0, 256, (60, 80, 3)).astype(np.uint8)
STRANGE = os.fsdecode(b"dice\xff.png")
"""A name that is no UTF-8: with it OpenCV's own functions end the process."""


def encoded(suffix: str) -> bytes:
    return cv2.imencode(suffix, PICTURE)[1].tobytes()


def with_preview(jpeg: bytes) -> bytes:
    """As cameras write them: a smaller picture, whole, in a segment of its own."""
    preview = b"Exif\0\0" + encoded(".jpg")[:40_000]
    return jpeg[:2] + b"\xff\xe1" + (len(preview) + 2).to_bytes(2, "big") + preview + jpeg[2:]


@pytest.mark.parametrize("name", ["dice.png", "Würfel €.bmp", STRANGE])
def test_a_picture_comes_back_as_it_was_written(tmp_path, name):
    save(tmp_path / name, PICTURE)
    assert np.array_equal(load_whole(tmp_path / name), PICTURE)


@pytest.mark.parametrize("data", [encoded(".jpg"), encoded(".png"), with_preview(encoded(".jpg"))])
def test_a_file_that_ends_too_early_is_no_picture(tmp_path, data):
    file = tmp_path / "dice.jpg"
    file.write_bytes(data + b"\0\0")  # some cameras append to what they wrote
    assert not is_cut_off(file.read_bytes())
    load_whole(file)
    for after in (b"", encoded(".jpg")):  # some phones put a small picture behind the large one
        file.write_bytes(data[: len(data) * 8 // 10] + after)
        assert is_cut_off(file.read_bytes()) or file.read_bytes().startswith(b"\x89PNG")
    file.write_bytes(data[: len(data) * 8 // 10])
    with pytest.raises(PictureError, match=r"dice\.jpg"):
        load_whole(file)


def test_a_jpeg_that_only_lacks_its_end_can_be_looked_at(tmp_path):
    (tmp_path / "dice.jpg").write_bytes(encoded(".jpg")[:-2])
    save(tmp_path / "whole.jpg", PICTURE)
    assert np.array_equal(load(tmp_path / "dice.jpg"), load(tmp_path / "whole.jpg"))


def test_what_cannot_be_opened_is_named(tmp_path):
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "words.jpg").write_text("no picture")
    (tmp_path / "circle.jpg").symlink_to(tmp_path / "circle.jpg")
    header = bytearray(encoded(".png"))
    header[16:24] = (100_000).to_bytes(4, "big") * 2
    (tmp_path / "giant.png").write_bytes(header)
    (tmp_path / STRANGE).mkdir()
    for name in ("absent.jpg", "empty.jpg", "words.jpg", "circle.jpg", "giant.png", STRANGE, "\0"):
        with pytest.raises(PictureError) as caught:
            load(tmp_path / name)
        assert shown(name) in str(caught.value)


def test_what_cannot_be_written_is_said(tmp_path):
    for name in ("dice", "dice.xyz", "no-folder/dice.jpg", "dice.jpg/dice.jpg", "\0.jpg"):
        (tmp_path / "dice.jpg").touch()
        with pytest.raises(PictureError, match="cannot write"):
            save(tmp_path / name, PICTURE)
    with pytest.raises(PictureError, match=r"\.jpg or \.png"):
        check_kind(Path("dice.txt"))


def test_a_small_file_that_claims_a_billion_pixels_is_refused_before_it_is_opened(
    tmp_path: Path,
) -> None:
    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    side = 32_000
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(side * (1 + side // 8)), 9)
    path = tmp_path / "bomb.png"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )
    program = (
        "import re, sys; from pathlib import Path; import shaker_ctl, cv2; "
        "from vision import pictures\n"
        "try: pictures.load_whole(Path(sys.argv[1]))\n"
        "except pictures.PictureError as error: print(error)\n"
        # Not getrusage(2): its peak is that of the process which started this one, too.
        "status = Path('/proc/self/status').read_text()\n"
        "print(int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    said, peak_mb = done.stdout.splitlines()
    assert "more pixels than can be read" in said
    assert int(peak_mb) < 300


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty; copy it again"),
        (b"\0\0\0\x18ftypheic\0\0", "HEIC picture.*save it as JPEG"),
    ],
)
def test_an_empty_file_and_an_iphones_picture_have_their_sentence(tmp_path, data, why):
    path = tmp_path / "a.heic"
    path.write_bytes(data)
    with pytest.raises(PictureError, match=why):
        load(path)


def test_a_pipe_is_not_waited_for_and_a_link_to_nothing_is_called_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("nowhere")
    for name, why in (("pipe", "is a pipe or a device"), ("link", "link to a file that does not")):
        with pytest.raises(PictureError, match=why):
            load(tmp_path / name)
