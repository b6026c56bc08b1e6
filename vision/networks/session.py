"""How this reader runs a network: an onnxruntime session that leaves the other cores alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort

from vision.errors import ModelError


def open_session(path: Path, threads: int) -> ort.InferenceSession:
    """A session on the CPU. Raises what onnxruntime raises, which is of undocumented types."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Where AVX2 is all a processor has, pairs of byte products saturate in 16 bits: 214 instead of
    # 236 pictures of `chase-crops` were read exactly. This computes them in full there, in a third
    # more time; processors with dot products of bytes, a Raspberry Pi's among them, ignore it.
    options.add_session_config_entry("session.x64quantprecision", "1")
    # Idle threads that spin would cost the motion loop its core.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class WindowNetwork:
    """A network from windows (N, S, S, C) uint8 to a row of numbers each, loaded and warm. One
    instance per thread."""

    def __init__(self, path: Path, threads: int, window: tuple[int, int, int]) -> None:
        """`window`: (S, S, C). Raises ModelError when the file does not load or run."""
        try:
            self._session = open_session(path, threads)
            self(np.zeros((3, *window), np.uint8))
        except Exception as error:  # onnxruntime raises undocumented types of its own
            raise ModelError(f"{path} does not load or run: {error}") from error

    def __call__(self, windows: np.ndarray) -> np.ndarray:
        """(N, numbers) float64."""
        return np.asarray(self._session.run(["looks"], {"windows": windows})[0], np.float64)
