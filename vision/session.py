"""How this reader runs a network: an onnxruntime session that leaves the other cores alone."""

from __future__ import annotations

from pathlib import Path

import onnxruntime as ort


def open_session(path: Path, threads: int) -> ort.InferenceSession:
    """A session on the CPU. Raises what onnxruntime raises, which is of undocumented types."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Idle threads that spin would cost the motion loop its core.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
