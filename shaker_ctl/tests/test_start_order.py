"""The order of a start: what must be proved stands before whatever touches the world (O-1, O-8)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from shaker_ctl import sealed_start, table
from shaker_ctl.adapters.camera.dice_reader import CameraReader
from shaker_ctl.adapters.disk.dispute_list import KEY, NAME, Dispute, DisputeList
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.disk.records_watch import RecordsWatch
from shaker_ctl.errors import DisputesError, GpioLinkError, JournalCorruptError, SealError
from shaker_ctl.journal.record import Entry
from shaker_ctl.rules import events
from shaker_ctl.seal import fault
from shaker_ctl.seal.examine import NOTHING
from shaker_ctl.seal.manifest import SealFinding
from shaker_ctl.service.journal_thread import JournalThread
from shaker_ctl.settings import Settings, load


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "stick").mkdir()
    path = tmp_path / "settings.toml"
    path.write_text(
        f'[journal]\npath = "{tmp_path / "journal.jsonl"}"\n'
        f'second = "{tmp_path / "stick" / "journal.jsonl"}"\n'
        f'pictures = "{tmp_path / "pictures"}"\n'
    )
    return path


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what a start touches, in order; the GPIO daemon is the first that is not there."""
    order: list[str] = []

    def note(name: str, then: Callable[..., Any] | None = None) -> Callable[..., Any]:
        def act(*arguments: Any, **named: Any) -> Any:
            order.append(name)
            return then(*arguments, **named) if then is not None else None

        return act

    def no_daemon(*_: Any) -> None:
        raise GpioLinkError("no daemon answers")

    monkeypatch.setattr(table, "open_copies", note("journal", open_copies))
    check = sealed_start.check_journal
    monkeypatch.setattr(sealed_start, "check_journal", note("standing seal fault", check))
    monkeypatch.setattr(RecordsWatch, "start", note("reader of records"))
    monkeypatch.setattr("shaker_ctl.adapters.camera.dice_camera.DiceCamera.start", note("camera"))
    stop = note("camera stopped", CameraReader.stop)
    monkeypatch.setattr(CameraReader, "stop", stop)
    monkeypatch.setattr(
        "shaker_ctl.adapters.pins.pigpio_link.PigpioLink.open", note("pins", no_daemon)
    )
    monkeypatch.setattr("shaker_ctl.table.LampThread.meet", note("lamps"))
    monkeypatch.setattr(table, "consoles", note("consoles"))
    monkeypatch.setattr("shaker_ctl.table.StatusSocket.start", note("status"))
    return order


def started(settings: Settings, config: Path) -> None:
    made = table.Table(settings, config, NOTHING)
    try:
        made.start()
    finally:
        made.stop()


def test_journal_and_seal_are_proved_before_camera_pins_lamps_and_consoles(
    config: Path, touched: list[str]
) -> None:
    with pytest.raises(GpioLinkError):
        started(load(config), config)
    assert touched == [
        *("journal", "standing seal fault", "camera"),
        *("reader of records", "pins", "camera stopped"),
    ]


def test_under_a_standing_seal_fault_nothing_outside_is_touched(
    config: Path, touched: list[str]
) -> None:
    journal = open_copies(load(config).journal)
    sealed_start.write(journal, fault.broken([SealFinding("vision/table/reader.py", "differs")]))
    journal.close()
    for _ in range(2):
        touched.clear()
        with pytest.raises(SealError, match=r"vision/table/reader\.py"):
            started(load(config), config)
        # What had only loaded its libraries is ended; no camera was opened.
        assert touched == ["journal", "standing seal fault", "camera stopped"]


def test_with_a_damaged_journal_nothing_outside_is_touched(
    config: Path, touched: list[str]
) -> None:
    parameters = load(config).journal
    journal = open_copies(parameters)
    for _ in range(200):
        sealed_start.write(journal, Entry("note", {"text": "x" * 100}))
    journal.close()
    content = bytearray(parameters.path.read_bytes())
    content[len(content) * 2 // 3] ^= 0x10
    parameters.path.write_bytes(content)
    for _ in range(2):
        touched.clear()
        with pytest.raises(JournalCorruptError, match=r"journal\.jsonl"):
            started(load(config), config)
        assert touched == ["journal", "camera stopped"]


def test_a_list_of_disputes_that_the_journal_does_not_know_ends_the_start_before_the_camera(
    config: Path, touched: list[str]
) -> None:
    parameters = load(config).journal
    disputes = DisputeList(parameters.pictures)
    disputes.add(Dispute(12, True, "fay", "a five", "2026-11-23"))
    journal = open_copies(parameters)
    sealed_start.write(journal, disputes.listed().entry())
    journal.close()
    (parameters.pictures / NAME).unlink()
    with pytest.raises(DisputesError, match="open disputes: 12"):
        started(load(config), config)
    assert touched == ["journal", "standing seal fault", "camera stopped"]


def test_what_is_added_to_the_list_of_disputes_goes_on_record_and_what_is_lost_is_a_fault(
    config: Path,
) -> None:
    made = table.Table(load(config), config, NOTHING)
    pictures = load(config).journal.pictures
    made._disputes = DisputeList(pictures)
    made._keeper = keeper = Mock(spec=JournalThread)
    made._post = post = Mock()  # type: ignore[method-assign]
    made._look_at_the_disputes()
    keeper.append.assert_not_called()
    DisputeList(pictures).add(Dispute(12, True, "fay", "a five", "2026-11-23"))
    for _ in range(2):
        made._look_at_the_disputes()
    (told,) = keeper.append.call_args_list
    assert told.args[1][KEY] == keeper.know_of_run.call_args.args[0][KEY]
    assert told.args[1][KEY]["open"] == [12]
    (pictures / NAME).unlink()
    for _ in range(2):
        made._look_at_the_disputes()
    post.assert_called_once_with(events.ControllerFault("disputes"))
