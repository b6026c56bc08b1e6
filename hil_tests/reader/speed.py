"""`make bench-reader`: what a reading costs, beside what others would.

Owns: timing of the model, the second reader and the whole reading of a table frame on one and two
threads, in one run with a network of YOLOv8n's size (random weights) and with the classical recipe
of blobs and clusters, also counted for accuracy. Best of many runs first: on a busy machine
the median measures the neighbours. `make` sets OPENBLAS_NUM_THREADS=1, as a table's camera process
does: else NumPy takes a second thread for products that take microseconds.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated

import cv2
import numpy as np
import onnxruntime as ort
import typer

from hil_tests.reader.options import Model, Seed
from hil_tests.reader.tosses import RigCamera, flat_tosses
from hil_tests.rig.plant.geometry import GEOMETRIES
from vision.cube_outlines.reader import SecondReader
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.reading import Verified
from vision.table.reader import TableReader


def milliseconds(work: Callable[[], object], times: int) -> tuple[float, float]:
    """Best and median of so many runs, after one that does not count."""
    work()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1e3)
    return min(taken), float(np.median(taken))


def blobs_and_clusters(image: np.ndarray, eps_px: float = 40.0) -> list[int]:
    """The recipe of many tutorials: round blobs, those near one another are one die's pips."""
    settings = cv2.SimpleBlobDetector.Params()
    settings.filterByInertia = True
    settings.minInertiaRatio = 0.6
    blobs = cv2.SimpleBlobDetector.create(settings).detect(cv2.medianBlur(image, 7))
    points = [np.array(blob.pt) for blob in blobs]
    clusters: list[list[np.ndarray]] = []
    for point in points:
        near = [c for c in clusters if any(np.linalg.norm(point - q) < eps_px for q in c)]
        clusters = [c for c in clusters if all(c is not n for n in near)]
        clusters.append([point, *itertools.chain(*near)])
    return sorted(len(cluster) for cluster in clusters)


def _session(model: bytes, threads: int) -> Callable[[np.ndarray], object]:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda batch: session.run(None, {"image": batch})


def main(
    times: Annotated[int, typer.Option(min=1, help="Runs of each.")] = 40,
    pictures: Annotated[int, typer.Option(min=1, help="For the accuracies.")] = 20,
    seed: Seed = 6,
    model: Model = None,
) -> None:
    """Time a reading beside a network of YOLOv8n's size and beside blobs."""
    from hil_tests.reader.yolo_sized import yolo_sized  # needs onnx, of the train extra

    geometry = GEOMETRIES["standard"]
    camera = RigCamera(geometry, "white", seed)
    pool = flat_tosses(geometry, seed, pictures)
    shown = [camera.picture(toss) for toss in pool]
    frame = shown[0]
    square = {side: np.ascontiguousarray(cv2.resize(frame, (side, side))) for side in (320, 640)}
    say = sys.stdout.write
    for threads in (1, 2):
        cv2.setNumThreads(threads)
        finder = DieFinder(model, threads)
        # The two readers beside each other, on a thread each, are how a table uses two threads.
        reader = TableReader(DieFinder(model), camera.calibration, threads=threads)
        second = SecondReader(camera.calibration)
        crop = reader.view.show(frame)
        say(f"{threads} thread{'s' * (threads > 1)}: best and median of {times} ms\n")
        works: list[tuple[str, Callable[[], object]]] = []
        for side in (320, 640):
            batch = np.zeros((1, 3, side, side), np.float32)
            yolo = _session(yolo_sized(side, side), threads)
            works += [
                (f"model, {side} x {side}", partial(finder.maps, square[side])),
                (f"YOLOv8n-sized, {side} x {side}", partial(yolo, batch)),
            ]
        works += [
            (f"model, {crop.shape[1]} x {crop.shape[0]} (a frame's)", partial(finder.find, crop)),
            ("second reader, a frame", partial(second.read, frame)),
            ("whole reading, a frame", partial(reader.read, Frame(frame, 0.0, 0))),
            ("blobs and clusters, a frame", partial(blobs_and_clusters, frame)),
        ]
        for name, work in works:
            best, median = milliseconds(work, times)
            say(f"  {name:<36} {best:7.1f} {median:7.1f}\n")
            sys.stdout.flush()
    cv2.setNumThreads(1)
    reader = TableReader(DieFinder(model), camera.calibration)
    ours = recipe = 0
    for toss, picture in zip(pool, shown, strict=True):
        opinion = reader.read(Frame(picture, 0.0, 0)).opinion
        ours += isinstance(opinion, Verified) and tuple(sorted(opinion.values)) == toss.values
        recipe += tuple(blobs_and_clusters(picture)) == toss.values
    say(f"right, of {len(pool)} flat tosses (single frames): whole reading {ours}, ")
    say(f"blobs and clusters {recipe}\n")
