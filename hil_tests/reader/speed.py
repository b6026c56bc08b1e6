"""`make bench-reader`: what a reading costs, beside what others would.

Owns: timing of the model and of a network of YOLOv8n's size (random weights), and of the second
reader and the whole reading of a frame of a taught table, on one and two threads. Best of many runs
first: on a busy machine the median measures the neighbours. `make` sets OPENBLAS_NUM_THREADS=1, as
a table's camera process does: else NumPy takes a second thread for products of microseconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import onnxruntime as ort
import typer

from hil_tests.reader.options import Model, Seed
from hil_tests.reader.tables import rig_tables
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.table.reader import TableReader
from vision.taught import TaughtReader


def milliseconds(work: Callable[[], object], times: int) -> tuple[float, float]:
    """Best and median of so many runs, after one that does not count."""
    work()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1e3)
    return min(taken), float(np.median(taken))


def _session(model: bytes) -> Callable[[np.ndarray], object]:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda batch: session.run(None, {"image": batch})


def main(
    times: Annotated[int, typer.Option(min=1, help="Runs of each.")] = 40,
    seed: Seed = 6,
    model: Model = None,
) -> None:
    """Time a reading beside a network of YOLOv8n's size."""
    from hil_tests.reader.yolo_sized import yolo_sized  # needs onnx, of the train extra

    finder = DieFinder(model)
    table = rig_tables(finder, seed, Path("var/counts"))(0)
    whole = Frame(table.case("flat", 0).shoot())
    frame = whole.parted(table.calibration.image_size[0]).image
    square = {side: np.ascontiguousarray(cv2.resize(frame, (side, side))) for side in (320, 640)}
    crop = table.reader.view.show(frame)
    works: list[tuple[str, Callable[[], object]]] = [
        (f"model, {crop.shape[1]} x {crop.shape[0]} (a frame's)", partial(finder.find, crop))
    ]
    for side in (320, 640):
        batch = np.zeros((1, 3, side, side), np.float32)
        yolo = _session(yolo_sized(side, side))
        works += [
            (f"model, {side} x {side}", partial(finder.maps, square[side])),
            (f"YOLOv8n-sized, {side} x {side}", partial(yolo, batch)),
        ]
    _tell("networks, one thread", works, times)
    second = TaughtReader(table.calibration, table.teaching)
    for threads in (1, 2):
        cv2.setNumThreads(threads)
        # The two readers beside each other, on a thread each, are how a table uses two threads.
        reader = TableReader(finder, table.calibration, threads, table.teaching)
        works = [
            ("second reader, a frame", partial(second.read, frame)),
            ("whole reading, a frame", partial(reader.read, whole)),
        ]
        _tell(f"readings, {threads} thread{'s' * (threads > 1)}", works, times)


def _tell(title: str, works: list[tuple[str, Callable[[], object]]], times: int) -> None:
    sys.stdout.write(f"{title}: best and median of {times} ms\n")
    for name, work in works:
        best, median = milliseconds(work, times)
        sys.stdout.write(f"  {name:<36} {best:7.1f} {median:7.1f}\n")
        sys.stdout.flush()
