"""How this reader runs a network: an onnxruntime session that leaves the other cores alone."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import numpy as np

# Else the library tells its maker of each session over the network, keeps a database for that in
# the user's cache, and takes a thread and 2 MB. It looks once, when it is loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime as ort

from vision.errors import ModelError

CPUINFO = Path("/proc/cpuinfo")

DOT_PRODUCTS = frozenset({"avx512_vnni", "avx_vnni"})
"""Flags of x86 processors that add products of bytes in 32 bits (Linux, cpufeatures.h)."""


@functools.cache
def adds_bytes_exactly(cpuinfo: Path = CPUINFO) -> bool:
    """True if this x86 processor has dot products of bytes; False if unknown or another kind."""
    try:
        lines = cpuinfo.read_text("ascii", errors="replace").splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith("flags")), "")
    return not DOT_PRODUCTS.isdisjoint(flags.partition(":")[2].split())


def open_session(path: Path, *, adds_exactly: bool | None = None) -> ort.InferenceSession:
    """A session on one core. Raises what onnxruntime raises, which is of undocumented types.

    `adds_exactly`: whether sums of byte products fit without help; None asks the processor.
    """
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # With AVX2 alone, pairs of byte products saturate in 16 bits, which changes what is read. This
    # option computes them in full, in a third more time. It also turns dot products of bytes off,
    # which need no help: there it doubles the time. On arm64 onnxruntime has no such option.
    if not (adds_bytes_exactly() if adds_exactly is None else adds_exactly):
        options.add_session_config_entry("session.x64quantprecision", "1")
    # An arena keeps the peak of each network and saves no instruction: the maps are small.
    options.enable_cpu_mem_arena = False
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Network:
    """A network from pictures (N, H, W, C) uint8, loaded and warm. One instance per thread."""

    def __init__(self, path: Path, picture: tuple[int, int, int]) -> None:
        """`picture`: the size of one. Raises ModelError when the file does not load or run."""
        try:
            self._session = open_session(path)
            (self._input,) = (each.name for each in self._session.get_inputs())
            # The first run picks kernels: several times slower than the others, however small.
            self(np.zeros((1, *picture), np.uint8))
        except Exception as error:  # onnxruntime raises undocumented types of its own
            raise ModelError(f"{path} does not load or run: {error}") from error

    def __call__(self, pictures: np.ndarray) -> list[np.ndarray]:
        """What it says of them, in the order of its outputs."""
        return list(self._session.run(None, {self._input: pictures}))
