"""The camera process collects garbage once it has started, and not before."""

from __future__ import annotations

import gc
import os
from typing import Any

import pytest

from shaker_ctl.adapters.camera import process


class EndError(Exception):
    """Stands for the end of the process."""


def test_what_is_made_after_the_start_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    collects = []

    class Worker:
        def __init__(self, *_: Any) -> None:
            gc.disable()  # as the module does where it is the program

        def run(self) -> None:
            collects.append(gc.isenabled())

    def end(status: int) -> None:
        raise EndError(status)

    monkeypatch.setattr(process, "CameraWorker", Worker)
    monkeypatch.setattr(process, "Connection", lambda descriptor: descriptor)
    monkeypatch.setattr(process, "receive", lambda link: link)
    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    try:
        with pytest.raises(EndError):
            process.main(0)
        assert collects == [True]
    finally:
        gc.enable()
