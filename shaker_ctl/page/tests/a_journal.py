"""A small journal of rounds, as a table writes one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.journal.record import Entry, link

BEGAN = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)
UNDER = "pa-625a, paytable A, entry dealer_confirm, 50 areas"
Values = tuple[int, int, int]


def picture(number: int) -> bytes:
    """The picture of a round's decision."""
    return b"\xff\xd8picture %d" % number


def digest(number: int) -> str:
    """The SHA-256 of that picture."""
    return hashlib.sha256(picture(number)).hexdigest()


class Scribe:
    """Writes records, a second apart."""

    def __init__(self, path: Path, marks: Sequence[str] = ()) -> None:
        self._marks = list(marks)
        self.book = DiskJournal(path)
        self.pictures = path.with_name("pictures")
        self.pictures.mkdir(exist_ok=True)
        self._at_s = 0.0

    def write(
        self,
        event: dict[str, Any],
        decision: Sequence[dict[str, Any]] = (),
        *,
        of: int | None = None,
        pictures: dict[str, Any] | None = None,
    ) -> int:
        """Append a step; return its number."""
        self._at_s += 1.0
        body = {
            "event": event,
            "decision": list(decision),
            "because": ["625a.5(d)"],
            "rows": ["a row"],
            "at_s": self._at_s,
            "under": UNDER,
            "marks": self._marks,
        }
        record = link(
            self.book.head(),
            Entry("step", body, of),
            monotonic_s=self._at_s,
            wall=(BEGAN + timedelta(seconds=self._at_s)).isoformat(timespec="milliseconds"),
            digests={"profile": "p"},
            pictures=pictures,
        )
        self.book.write([record])
        return record.sequence

    def round(self, number: int, values: Values | None, *, person: str = "dan") -> None:
        """A whole round; without values it ends as no roll."""
        toss = {"type": "Occasion", "purpose": "play", "number": number}
        who = {"type": "Person", "name": person, "role": "dealer"}
        self.write({"type": "BetsRequested", "person": who}, of=number)
        self.write({"type": "TossStarted", "occasion": toss}, of=number)
        proof = {"turns": 30.0, "in_band_s": 2.1, "lowest_rpm": 720.0, "highest_rpm": 850.0}
        self.write({"type": "TossSettled", "occasion": toss, "proof": proof}, of=number)
        self.write({"type": "AtRest", "occasion": toss}, of=number)
        verdict: dict[str, Any] = {"type": "NoRoll", "kind": "leaning", "angle_deg": 30.0}
        if values is not None:
            verdict = {"type": "Verified", "values": list(values), "confidence": 0.9}
        push = {"type": "PushLamps", "values": list(values or ()), "areas": ["big"]}
        self.write(
            {"type": "ReadingMade", "occasion": toss, "verdict": verdict},
            [push] if values else [],
            of=number,
            pictures=self._picture(number),
        )
        if values is not None:
            self.write({"type": "LampsShown", "occasion": toss, "values": list(values)}, of=number)
        ended = {
            "type": "RecordRound",
            "round": number,
            "ending": "settled" if values else "no_roll",
            "source": "verified" if values else None,
            "wagers": "settled" if values else "returned",
            "cause": None if values else "not_flat",
            "values": values and list(values),
            "multipliers": [],
        }
        self.write({"type": "LampsDark", "occasion": toss}, [ended], of=number)

    def _picture(self, number: int) -> dict[str, Any]:
        name = f"{number:08d}-0000000001-overlay.jpg"
        (self.pictures / name).write_bytes(picture(number))
        return {"overlay": {"file": name, "sha256": digest(number)}}

    def close(self) -> None:
        self.book.close()
