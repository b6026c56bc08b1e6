"""What the journal can tell: a round with everything about it, the newest records, figures.

Owns the reading of records back into words. Must not know the medium: it is handed a store.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from shaker_ctl import __version__
from shaker_ctl.console.desk import JournalLine, JournalView, Parcel, RoundView
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.record import Head, Record

BUNDLE_RECORDS = 2000


class Records(Protocol):
    """The readable side of one copy of the journal."""

    def head(self) -> Head: ...

    def read(self, first: int = 1, last: int | None = None) -> Iterator[Record]: ...

    def read_round(self, number: int) -> list[Record]: ...


@dataclass(frozen=True, slots=True)
class JournalState:
    """How the journal's writer does."""

    head: Head
    second_behind: int | None
    fault: str


class JournalArchive:
    """Implements the desk's `Archive` over one copy of the journal."""

    def __init__(
        self,
        records: Records,
        state: Callable[[], JournalState],
        settings: str,
        figures: Callable[[Iterator[Record]], Mapping[str, object]],
    ) -> None:
        """`settings`: the settings file's text, for the bundle; it holds no secrets."""
        self._records = records
        self._state = state
        self._settings = settings
        self._figures = figures

    def view(self) -> JournalView:
        """Head and health, without reading the disk."""
        state = self._state()
        behind = state.second_behind
        return JournalView(
            sequence=state.head.sequence,
            head=state.head.hash.hex()[:16],
            second_copy="none" if behind is None else f"{behind} behind" if behind else "equal",
            state=state.fault or "good",
        )

    def round(self, round_id: int) -> RoundView | None:
        """Everything about one round of play; None where there is none."""
        records = [r.plain for r in self._records.read_round(round_id)]
        records = [r for r in records if r["round"] == round_id and r["kind"] == "step"]
        return round_view(round_id, records) if records else None

    def last(self, count: int) -> tuple[JournalLine, ...]:
        """The newest records, oldest first."""
        head = self._records.head().sequence
        found = self._records.read(first=max(1, head - count + 1))
        return tuple(_line(r.plain) for r in islice(found, count))

    def statistics(self) -> Mapping[str, object]:
        """Figures over all recorded outcomes."""
        return self._figures(self._records.read())

    def bundle(self) -> Parcel:
        """Journal slice, settings and version, as one tar.gz."""
        head = self._records.head().sequence
        lines = b"\n".join(r.body for r in self._records.read(first=max(1, head - BUNDLE_RECORDS)))
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as bundle:
            for name, content in (
                ("journal.jsonl", lines + b"\n"),
                ("settings.toml", self._settings.encode()),
                ("version.txt", f"shaker-ctl {__version__}\n".encode()),
            ):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                bundle.addfile(info, io.BytesIO(content))
        return Parcel("shaker-bundle.tar.gz", buffer.getvalue())

    def export(self) -> Parcel:
        """The whole journal as JSON lines, each with its hash, for an inspector."""
        if self._records.head().sequence == 0:
            raise RefusedError("the journal is empty")
        lines = [
            json.dumps({"hash": r.hash.hex(), "record": r.plain}, separators=(",", ":"))
            for r in self._records.read()
        ]
        return Parcel("shaker-journal.jsonl", ("\n".join(lines) + "\n").encode())


def round_view(round_id: int, records: list[dict[str, Any]]) -> RoundView:
    """One round from its step records, oldest first."""
    read = entered = None
    verdict = reason = wagers = phase = ""
    lamps: tuple[str, ...] = ()
    happened: list[tuple[float, str]] = []
    details: dict[str, object] = {}
    for record in records:
        event = record["event"]
        happened.append((_wall(record), event["type"]))
        if event["type"] == "ReadingMade":
            said = event["verdict"]
            read = tuple(said["values"]) if said["type"] == "Verified" else None
            reason = said.get("reason", said.get("kind", ""))
            details["reading"] = said
            details["pictures"] = record.get("pictures", {})
        elif event["type"] in ("ValuesEntered", "ValuesConfirmed"):
            entered = tuple(event["values"])
        elif event["type"] == "LampsShown":
            phase = "lamps lit"
        for command in record["decision"]:
            if command["type"] == "PushLamps":
                lamps = tuple(command["areas"])
            elif command["type"] == "RecordRound":
                verdict, wagers = command["ending"], command["wagers"]
                reason = command["cause"] or ""
                phase = "ended"
                details["source"] = command["source"]
            elif command["type"] == "StartToss":
                details["plan"] = command["plan"]
    details["profile_digest"] = records[0].get("digests", {}).get("profile", "")
    return RoundView(
        round_id=round_id,
        phase=phase or "unfinished",
        verdict=verdict,
        reason=reason,
        read=read,
        entered=entered,
        wagers=wagers,
        lamps=lamps,
        events=tuple(happened),
        details=details,
    )


def _line(record: dict[str, Any]) -> JournalLine:
    event = record.get("event", {})
    kind = record["kind"]
    text = event.get("type") or record.get("note") or ""
    if kind == "step":
        does = ", ".join(command["type"] for command in record["decision"])
        text = f"{text} -> {does}" if does else text
    elif kind == "refused":
        text = f"{text}: {record.get('reason', '')}"
    return JournalLine(
        sequence=record["sequence"],
        wall_s=_wall(record),
        kind=kind if record.get("round") is None else f"{kind} {record['round']}",
        text=text,
    )


def _wall(record: dict[str, Any]) -> float:
    return datetime.fromisoformat(record["wall"]).timestamp()
