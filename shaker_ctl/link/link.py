"""The link: what a table hands to its floor, by outbound messages alone.

Owns what is sent, and when. It keeps no state: it goes on behind the last record that the floor has
committed, and on each connection it publishes all retained messages again. It follows the record
and the status socket as any screen does, and reaches nothing that could act on the table.
"""

from __future__ import annotations

import contextlib
import json
import logging
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from shaker_ctl import __version__, settings
from shaker_ctl.adapters.disk.dispute_list import DisputeList
from shaker_ctl.adapters.disk.shown_journal import opened
from shaker_ctl.errors import JournalError, ShakerError
from shaker_ctl.journal.record import SCHEMA, Head
from shaker_ctl.link import home_assistant, messages, packing, shown, topics
from shaker_ctl.link.connection import Connection, Will
from shaker_ctl.link.outbox import Outbox
from shaker_ctl.link.packing import ProtocolError
from shaker_ctl.link.parameters import LinkParameters
from shaker_ctl.link.results import NewestResult
from shaker_ctl.service.table_watch import TableWatch, View
from shaker_ctl.whole_file import mode, put

log = logging.getLogger(__name__)

TURN_S = 0.1
LOOK_S = 0.5
"""Seconds between two reads of the journal and the view. A round comes in some ten batches."""
STATE_S = 0.5
"""Seconds between two messages of state."""
ALIVE_S = 10.0
MAX_AGAIN_S = 60.0
LINK_REMEDY = "`shaker-ctl journal verify` at the table says what is wrong with its journal"


class Link:
    """One table's link. `run` until told to stop."""

    def __init__(self, parameters: LinkParameters) -> None:
        """Raises SettingsError where settings or certificates cannot be used."""
        self._p = parameters
        table = settings.load(parameters.settings)
        self._place = topics.Place(parameters.site, parameters.table)
        self._name = table.service.table_name
        self._journal = table.journal.path
        self._disputes = DisputeList(table.journal.pictures)
        self._view = TableWatch(table.service.runtime_dir, 1.0 / STATE_S)
        self._outbox = Outbox(self._journal)
        self._results = NewestResult(self._journal)
        self._connection = Connection(
            parameters,
            parameters.table,
            will=lambda session: Will(self._topic(topics.ALIVE), _alive(session, "offline")),
            connected=self._connected,
            received=self._received,
            subscriptions=[(self._topic(kind), 1) for kind in (topics.ACK, f"{topics.ALARM}/+")],
        )
        self._sent: dict[str, bytes] = {}
        """What stands retained at the broker by this connection, by its kind."""
        self._due_s: dict[str, float] = {}
        self._sent_at: Head | None = None
        self._again_s = parameters.again_s
        self._run = ""
        """Name of the collector's run that acknowledged last."""
        self._journal_trouble = ""
        self._told = ""

    def run(self, is_over: Callable[[], bool]) -> None:
        """Serve until `is_over` says so; whatever happens at the table or at the floor."""
        self._view.start()
        try:
            while not is_over():
                self._connection.turn(TURN_S)
                if self._is_due("look", LOOK_S):
                    self._look()
        finally:
            session = self._connection.session
            self._connection.close(Will(self._topic(topics.ALIVE), _alive(session, "offline")))
            self._view.stop()
            self._outbox.close()

    # ── What comes ──────────────────────────────────────────────────────────

    def _connected(self) -> None:
        self._outbox.forget()
        self._sent.clear()
        self._due_s.clear()
        self._sent_at, self._again_s = None, self._p.again_s
        log.info("connected to %s as %s", self._connection.at, self._place.table)

    def _received(self, topic: str, payload: bytes) -> None:
        found = topics.parsed(topic)
        if found is None or found[0] != self._place:
            return
        kind = found[1]
        try:
            if kind == topics.ACK:
                self._floor_has(packing.have_of(payload))
            elif kind.startswith(f"{topics.ALARM}/"):
                self._sent.setdefault(kind, payload)  # of an earlier connection: `_look` ends it
        except ProtocolError as error:
            log.warning("refused from the floor on %s: %s", kind, error)

    def _floor_has(self, have: packing.Have) -> None:
        if self._outbox.floor is None:
            self._due_s.pop("alive", None)  # how far behind it is, is known from now on
        with self._journal_at_hand():
            self._outbox.go_on(have)
            if self._outbox.contradiction:
                log.error("the floor holds another history: %s", self._outbox.contradiction)
            if have.head == self._sent_at or have.run != self._run:
                self._run = have.run
                self._sent_at, self._again_s = None, self._p.again_s
                self._send_records()

    # ── What goes ───────────────────────────────────────────────────────────

    def _look(self) -> None:
        if self._connection.is_connected:
            view = self._view.live()
            with self._journal_at_hand():
                if topics.BIRTH not in self._sent or self._is_due("birth", 3600.0):
                    self._publish(topics.BIRTH, self._birth(view))
                    self._be_discovered()
                self._send_records()
                if (newest := self._results.now()) is not None:
                    self._publish(topics.RESULT, packing.to_json(newest))
            if self._is_due("state", STATE_S):
                self._publish(topics.STATE, packing.to_json(shown.state_of(view)))
                self._tell_alarms(view)
            if self._is_due("alive", ALIVE_S):
                self._tell_alive()
        if self._is_due("tell", 1.0):
            self._tell_here()

    def _send_records(self) -> None:
        """Send the next batch, or the last one again where no acknowledgement came."""
        if self._sent_at is not None and not self._is_due("again", self._again_s):
            return
        batch = self._outbox.next_batch()
        if batch is None:
            self._sent_at = None
            return
        if self._sent_at is not None:
            self._again_s = min(MAX_AGAIN_S, self._again_s * 2)
        self._sent_at = batch.end
        self._due_s["again"] = time.monotonic() + self._again_s
        self._connection.publish(self._topic(topics.JOURNAL), packing.pack(batch), qos=1)

    def _birth(self, view: View | None) -> bytes:
        with closing(opened(self._journal)) as book:
            identity, head, last = book.identity, book.head(), next(book.newest_first(), None)
        profile = (view or {}).get("profile") or {}
        birth: messages.Birth = {
            "v": packing.VERSION,
            "session": self._connection.session,
            "table": self._name,
            "identity": identity,
            "head": head.sequence,
            "schema": SCHEMA,
            "version": __version__,
            "python": platform.python_version(),
            "digests": {} if last is None else last.plain.get("digests", {}),
            "profile": profile.get("key", ""),
            "marks": (view or {}).get("marks") or [],
        }
        return packing.to_json(birth)

    def _be_discovered(self) -> None:
        if self._p.home_assistant:
            told = packing.to_json(home_assistant.discovery(self._place, self._name))
            topic = home_assistant.topic(self._place)
            self._connection.publish(topic, told, qos=1, retain=True)

    def _tell_alarms(self, view: View | None) -> None:
        standing = shown.alarms_of(view)
        if trouble := self._journal_trouble or self._results.trouble:
            standing["link-journal"] = _alarm("link-journal", trouble)
        if self._outbox.contradiction:
            standing["link-history"] = _alarm("link-history", self._outbox.contradiction)
        for code, alarm in standing.items():
            self._publish(f"{topics.ALARM}/{code}", packing.to_json(alarm))
        for kind in [k for k in self._sent if k.startswith(f"{topics.ALARM}/")]:
            if kind.partition("/")[2] not in standing:
                self._publish(kind, b"")
                del self._sent[kind]

    def _tell_alive(self) -> None:
        disputed: list[int] = []
        with contextlib.suppress(ShakerError):
            disputed = sorted(self._disputes.open_rounds())[-100:]
        with contextlib.suppress(JournalError), closing(opened(self._journal)) as book:
            head, floor = book.head(), self._outbox.floor
            behind = None if floor is None else head.sequence - floor.head.sequence
            payload = _alive(
                self._connection.session,
                "online",
                head=head.sequence,
                behind=behind,
                disputed=disputed,
                service=self._view.live() is not None,
                wall=datetime.now(UTC).isoformat(timespec="seconds"),
            )
            self._connection.publish(self._topic(topics.ALIVE), payload, retain=True)

    def _publish(self, kind: str, payload: bytes) -> None:
        """Have the broker retain what it does not know already."""
        if self._sent.get(kind) != payload:
            self._sent[kind] = payload
            self._connection.publish(self._topic(kind), payload, qos=1, retain=True)

    # ── Here ────────────────────────────────────────────────────────────────

    def _tell_here(self) -> None:
        """Leave in a file how it stands with the floor, for `shaker-ctl link --show`."""
        floor = None if self._outbox.contradiction else self._outbox.floor
        now = {
            "connected": self._connection.is_connected,
            "trouble": self._connection.trouble or self._journal_trouble or self._results.trouble,
            "contradiction": self._outbox.contradiction,
            "acknowledged": None if floor is None else floor.head.sequence,
            "acknowledged_hash": "" if floor is None else floor.head.hash.hex(),
        }
        text = json.dumps(now)
        if text == self._told:
            return
        self._told = text
        path = self._p.runtime_dir / "floor.json"
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            put(path, text, mode(0o644))

    @contextlib.contextmanager
    def _journal_at_hand(self) -> Iterator[None]:
        """What the journal refuses is said as an alarm; the link goes on and tries again."""
        try:
            yield
            self._journal_trouble = ""
        except JournalError as error:
            if str(error) != self._journal_trouble:
                log.error("%s", error.line())
            self._journal_trouble = str(error)

    def _is_due(self, what: str, every_s: float) -> bool:
        now_s = time.monotonic()
        if now_s < self._due_s.get(what, 0.0):
            return False
        self._due_s[what] = now_s + every_s
        return True

    def _topic(self, kind: str) -> str:
        return self._place.topic(kind)


def _alarm(code: str, cause: str) -> messages.Alarm:
    return {"code": code, "cause": cause, "remedy": LINK_REMEDY, "wall_s": None}


def _alive(session: str, says: str, **more: Any) -> bytes:
    alive: messages.Alive = {"v": packing.VERSION, "session": session, "is": says, **more}  # type: ignore[typeddict-item]
    return packing.to_json(alive)
