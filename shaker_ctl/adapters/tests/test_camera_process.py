"""The camera process collects garbage once it has started, and starts without a bad teaching."""

from __future__ import annotations

import gc
import os
from typing import Any

import pytest

from shaker_ctl.adapters.camera import process
from shaker_ctl.reading import messages, taught_table
from shaker_ctl.reading.parameters import CameraParameters


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


def test_what_cannot_be_read_as_a_teaching_is_a_fault_and_the_reader_an_untaught_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[Any] = []
    monkeypatch.setattr(process, "send", lambda _, message: said.append(message))
    worker = process.CameraWorker(object(), CameraParameters().setup(b"torn"))  # type: ignore[arg-type]
    assert [type(each) for each in said] == [messages.CameraFault]
    assert said[0].code == taught_table.FAULT
    assert "shaker-ctl teach" in said[0].remedy
    said.clear()
    process.CameraWorker(worker._link, CameraParameters().setup())
    assert not said
