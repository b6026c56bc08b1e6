"""`dealer_entry` is blind: a reading is shown nowhere before the dealer's own is entered."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from hil_tests.waiting import until
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.picture_folder import newest_pictures
from shaker_ctl.adapters.disk.shown_journal import ShownRecords
from shaker_ctl.commands.journal import app
from shaker_ctl.console import json_voice, render
from shaker_ctl.console.desk import CameraView
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.journal.record import Entry, link
from shaker_ctl.link import packing
from shaker_ctl.link.outbox import Outbox
from shaker_ctl.page import tables
from shaker_ctl.page.app import Page
from shaker_ctl.page.journal import read_round
from shaker_ctl.page.parameters import PageParameters
from shaker_ctl.page.places import TablePlaces
from shaker_ctl.ports import JournalHealth, Pictures
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.tests.playing import DEALER, Playing
from shaker_ctl.rules.vocabulary import Timer
from shaker_ctl.service.heartbeat import Heartbeat
from shaker_ctl.service.state_thread import StateThread
from shaker_ctl.view.archive import JournalArchive
from shaker_ctl.view.desk import TableDesk
from shaker_ctl.view.tests.paper import facts
from vision.reading import Kind, NoRoll, Verdict, Verified

READ: Values = (2, 5, 6)
OVERLAY = b"\xff\xd8the dice with what was read"
FILE = "00000001-0000000001-overlay.jpg"
SHA256 = hashlib.sha256(OVERLAY).hexdigest()
LOOK_S = 0.02
"""Between two looks of the page at the journal."""
IN_WORDS = ("2 5 6", "2, 5, 6", "[2,5,6]", "2,5,6", "0.987", "tilted", "leaning", "33.25")


class Written:
    """The journal's thread, without a thread: each record is on the disk when `append` returns."""

    def __init__(self, path: Path) -> None:
        self.store = DiskJournal(path)
        self._pictures = path.with_name("pictures")
        self._pictures.mkdir()

    def append(
        self, kind: str, body: Any, *, pictures: Any = None, synced: Any = None, waits: bool = False
    ) -> None:
        named = {}
        if pictures is not None:
            (self._pictures / FILE).write_bytes(pictures.overlay)
            named = {"overlay": {"file": FILE, "sha256": SHA256}}
        body = dict(body)
        number = body.pop("round", None)
        record = link(
            self.store.head(),
            Entry(kind, body, number),
            monotonic_s=1.0,  # a running clock may spell a word of the reading
            wall="2026-03-02T12:00:00.000+00:00",
            digests={"profile": "p"},
            pictures=named,
        )
        self.store.write([record])
        if synced is not None:
            synced(record.sequence)


class Performer:
    def perform(self, command: commands.Command) -> None:
        pass

    def timer_length_s(self, timer: Timer) -> float:
        return 600.0


class Surfaces:
    """A table in its round 1, at the moment before the reader speaks, and all who look at it."""

    def __init__(self, folder: Path, entry_mode: str) -> None:
        self.folder, self.journal = folder, folder / "journal.jsonl"
        played = Playing(entry_mode=entry_mode).open().settled().revealed().at_rest()
        self.written = Written(self.journal)
        self.written.append("opening", {"note": "a run begins"})
        for event, step in played.history[-3:]:
            decided = [to_record(command) for command in step.commands]
            body = {"event": to_record(event), "decision": decided, "rows": [], "at_s": 1.0}
            self.written.append("step", {**body, "round": 1})
        self.state = StateThread(
            state=played.state,
            rulebook=played.rules,
            journal=self.written,
            performer=Performer(),
            heartbeat=Heartbeat(time.monotonic, 0.05),
        )
        (folder / "settings.toml").write_text("")
        self.camera = CameraView(fps=30.0, state="ready")
        self.archive = JournalArchive(
            ShownRecords(self.written.store),
            lambda: JournalHealth(self.written.store.head(), 0, None, ""),
            lambda: None,
            volumes=str,
            settings="",
            versions="",
            pictures=partial(newest_pictures, folder / "pictures"),
            profile=("pa-625a", "p"),
        )
        self.desk = TableDesk(
            facts(
                played.rules,
                self.state,
                archive=self.archive,
                camera=lambda: self.camera,
                reader=SimpleNamespace(snap=lambda: OVERLAY),
            )
        )
        self.occasion = played.state.occasion
        places = TablePlaces(
            name="Table 7",
            runtime_dir=folder / "run",
            journal=JournalParameters(path=self.journal, pictures=folder / "pictures"),
            users_file=folder / "users.toml",
            profile="pa-625a",
            settings=folder / "settings.toml",
            documents=folder,
        )
        self.page = Page(PageParameters(state_dir=folder / "page"), places)

    def reads(self, verdict: Verdict) -> None:
        """The reader has spoken."""
        self.camera = CameraView(fps=30.0, state="ready", last_reading=f"play 1: {verdict}")
        self.state.post(events.ReadingMade(self.occasion, verdict), Pictures(b"", OVERLAY))
        until(lambda: self.state.state.reading == verdict or self.state.state.values is not None)

    def shown(self) -> dict[str, str]:
        """Return what every surface gives of this round, by its name."""
        view = self.desk.view()
        surfaces: dict[str, Callable[[], Any]] = {
            "status socket": lambda: json.dumps(json_voice.plain(view)),
            "camera": lambda: render.camera(view),
            "status": lambda: render.status(view),
            "round": lambda: json_voice.plain(self.archive.round(1)),
            "journal at a console": lambda: self.archive.last(20),
            "export": lambda: gzip.decompress(self.archive.export().content),
            "bundle": lambda: _unpacked(self.archive.bundle().content),
            "page, round": lambda: read_round(self.journal, self.folder / "pictures", 1),
            "page, tables": lambda: (self.page.book.round(1), self.page.book.file_of(SHA256)),
            "floor, records": self._sent,
        }
        for words in ("last", "show 1", "show 1 --raw", "show 1 --json", "events --all", "day"):
            surfaces[f"journal {words}"] = partial(self._command, words)
        surfaces["journal export"] = self._exported
        return {name: _text(give()) for name, give in surfaces.items()}

    def _sent(self) -> list[bytes]:
        outbox = Outbox(self.journal)
        beginning = self.written.store.start
        outbox.go_on(packing.Have(self.written.store.identity, beginning))
        batch = outbox.next_batch()
        outbox.close()
        return [record.body for record in batch.records] if batch else []

    def _command(self, words: str) -> str:
        told = CliRunner().invoke(app, [*words.split(), "--journal", str(self.journal)])
        return told.output

    def _exported(self) -> str:
        to = Path(tempfile.mkdtemp(dir=self.folder))
        told = CliRunner().invoke(app, ["export", str(to), "--journal", str(self.journal)])
        return told.output + "".join(_text(path.read_bytes()) for path in to.rglob("*.jsonl"))


def _unpacked(content: bytes) -> list[Any]:
    with tarfile.open(fileobj=io.BytesIO(content)) as bundle:
        return [(m.name, bundle.extractfile(m).read()) for m in bundle]  # type: ignore[union-attr]


def _text(given: Any) -> str:
    text = given.decode("latin-1") if isinstance(given, bytes) else str(given)
    return text.replace("\\xff", "\xff").replace("\\xd8", "\xd8")


def _tells(text: str) -> bool:
    words = (*IN_WORDS, FILE, SHA256, OVERLAY.decode("latin-1"))
    return any(word in text for word in words)


@pytest.fixture
def surfaces(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Surfaces]:
    monkeypatch.setattr(tables, "PAUSE_S", LOOK_S)
    made = Surfaces(tmp_path, getattr(request, "param", "dealer_entry"))
    made.state.start()
    made.page.book.start()
    yield made
    made.state.stop()
    made.page.book.stop()
    made.page.site.looked.close()
    made.written.store.close()


def _caught_up(surfaces: Surfaces) -> dict[str, str]:
    time.sleep(10 * LOOK_S)
    return surfaces.shown()


@pytest.mark.parametrize("verdict", [Verified(READ, 0.987), NoRoll(1, Kind.TILTED, 33.25)])
def test_a_reading_is_on_no_surface_before_the_dealer_has_entered(
    surfaces: Surfaces, verdict: Verdict
) -> None:
    surfaces.reads(verdict)
    before = _caught_up(surfaces)
    assert [name for name, text in before.items() if _tells(text)] == []
    with pytest.raises(RefusedError, match="before the entry"):
        surfaces.desk.snap()
    surfaces.state.post(events.ValuesEntered(DEALER, 1, READ))
    until(lambda: surfaces.state.state.stated or surfaces.state.state.values)
    until(lambda: surfaces.page.book.file_of(SHA256), limit_s=5)
    after = _caught_up(surfaces)
    assert _tells(after["camera"])
    assert {name for name, text in after.items() if not _tells(text)} <= {"status", "journal last"}
    assert surfaces.desk.snap() is not None


@pytest.mark.parametrize("surfaces", ["dealer_confirm"], indirect=True)
def test_a_dealer_who_confirms_sees_what_was_read(surfaces: Surfaces) -> None:
    surfaces.reads(Verified(READ, 0.987))
    before = _caught_up(surfaces)
    assert all(_tells(before[name]) for name in ("status", "camera", "round", "floor, records"))


def test_a_table_that_died_before_the_entry_hides_the_reading_too(surfaces: Surfaces) -> None:
    surfaces.reads(Verified(READ, 0.987))
    surfaces.state.post(events.Restarted(False, False, False))
    until(lambda: surfaces.state.recorded.interrupted)
    surfaces.written.append("console", {"note": "login", "text": "", "actor": {}})
    before = _caught_up(surfaces)
    assert [name for name, text in before.items() if _tells(text)] == []
