"""`python -m hil_tests.demo.moving_picture FILE`: one round of a demonstration as a GIF.

Owns how the rig's camera and the table's own words stand side by side in it. What it shows is what
the camera sent and what the status socket said; nothing is drawn that did not happen.
"""

from __future__ import annotations

import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import typer

from hil_tests.table_under_test.people import People
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.service.status_socket import read_status

SIDE = 220
"""Pixels of the camera's picture, and of the words beside it."""

EVERY_S = 0.3
LAST_MS = 3000
INK, GREY, LIT = (235, 235, 235), (150, 150, 150), (70, 215, 255)


def frames(session: Session) -> Iterator[np.ndarray]:
    """Yield the pictures of the first round, from its bets until its lamps are lit."""
    while read_status(session.runtime_dir)["phase"] != "betting":
        session.check()
        time.sleep(EVERY_S)
    camera = cv2.VideoCapture(session.rig["camera"]["url"])
    due_s = time.monotonic()
    while True:
        _, picture = camera.read()
        if time.monotonic() < due_s:
            continue
        due_s += EVERY_S
        view = read_status(session.runtime_dir)
        yield _frame(picture, view)
        if view["lamps"]["measured"] and view["phase"] in ("collecting", "paying"):
            return


def _frame(picture: np.ndarray, view: dict[str, Any]) -> np.ndarray:
    shown = np.zeros((SIDE, 2 * SIDE, 3), np.uint8)
    high, wide = picture.shape[:2]
    left = (wide - min(high, wide)) // 2
    square = picture[: min(high, wide), left : left + min(high, wide)]
    shown[:, :SIDE] = cv2.resize(square, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    y = 12
    for text, size, ink in _words(view):
        for line in textwrap.wrap(text, int(13 / size)):
            y += int(38 * size)
            place = (SIDE + 12, y)
            cv2.putText(shown, line, place, cv2.FONT_HERSHEY_SIMPLEX, size, ink, 1, cv2.LINE_AA)
        y += 8
    return shown


def _words(view: dict[str, Any]) -> Iterator[tuple[str, float, tuple[int, int, int]]]:
    yield f"round {view['round_id']}: {view['phase']}", 0.5, INK
    yield view["says"].encode("ascii", "ignore").decode(), 0.4, GREY
    if view["phase"] == "tossing":
        yield f"shaker {view['motor']['rpm'] or 0:.0f} rpm", 0.5, INK
    if areas := view["lamps"]["measured"]:
        yield " ".join(map(str, view["last_result"])), 1.0, LIT
        yield "lit: " + ", ".join(areas), 0.4, LIT


def main(file: Annotated[Path, typer.Argument(help="The GIF to write.")]) -> None:
    """Play one round on the virtual rig and write it as a moving picture."""
    with tempfile.TemporaryDirectory() as folder, Session(Plan(pace="brisk"), Path(folder)) as one:
        people = People(one, lambda _: None)
        people.start()
        shown = list(frames(one))
        people.stop()
    moving = cv2.Animation()
    moving.frames = shown
    moving.durations = [*[int(1000 * EVERY_S)] * (len(shown) - 1), LAST_MS]
    if not cv2.imwriteanimation(str(file), moving):
        raise SystemExit(f"{file} cannot be written")


if __name__ == "__main__":
    typer.run(main)
