"""What the journal can tell: a round with everything about it, the newest records, figures.

Owns the reading of records back into words. Must not know the medium: it is handed a store.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from shaker_ctl.console.desk import JournalLine, JournalView, Parcel, RoundView
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.day_sheet import by_command, named, read_late, worded
from shaker_ctl.journal.history import Round, ends_round, result, round_of, understood, until_ended
from shaker_ctl.journal.pictures import is_recorded
from shaker_ctl.journal.record import Head, Record
from shaker_ctl.journal.statistics import figures_of
from shaker_ctl.journal.tally import Tally
from shaker_ctl.ports import JournalHealth
from shaker_ctl.rules.record import from_record
from shaker_ctl.rules.vocabulary import Multiplied, words
from shaker_ctl.view.wording import odds

BUNDLE_RECORDS = 2000
BUNDLE_DECISIONS = 2
"""Decisions whose pictures come along. Each is 100 kB to 200 kB: ten to twenty seconds of line."""

EXPORT_RECORDS = 20_000
"""Newest records that go over a line: some 400 rounds, minutes at 115200 baud. The whole journal is
for `shaker-ctl journal export`, on the controller.
"""

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s\"]+(?=@)")
"""The one place where a settings file can hold a secret: the address of a camera."""

PictureFiles = Callable[[int], Iterator[tuple[str, bytes]]]
"""Name and content of the pictures of the newest so many decisions."""


class Records(Protocol):
    """The readable side of one copy of the journal."""

    def head(self) -> Head: ...

    def read(self, first: int = 1, last: int | None = None) -> Iterator[Record]: ...

    def read_round(self, number: int) -> list[Record]: ...


class JournalArchive:
    """Implements `console.desk.Archive` over one copy of the journal."""

    def __init__(
        self,
        records: Records,
        health: Callable[[], JournalHealth],
        counted: Callable[[], tuple[Tally, int] | None],
        *,
        volumes: Callable[[], str],
        settings: str,
        versions: str,
        pictures: PictureFiles,
        profile: tuple[str, str],
    ) -> None:
        """`counted`: the tally of all outcomes, and the record that it reaches. `volumes`: how far
        the closed ones are verified, in words. `settings`, `versions`: texts for the bundle.
        `profile`: name and digest of the one in force; records name theirs by digest.
        """
        self._records = records
        self._health = health
        self._volumes = volumes
        self._counted = counted
        self._settings = settings
        self._versions = versions
        self._pictures = pictures
        self._profile = profile
        self._figures: tuple[Tally | None, Mapping[str, object]] = None, {}
        """The tally that was told last, and its figures."""

    def view(self) -> JournalView:
        """Head and health, without reading the disk."""
        health = self._health()
        behind = health.second_behind
        return JournalView(
            sequence=health.head.sequence,
            head=health.head.hash.hex()[:16],
            second_copy="none" if behind is None else f"{behind} behind" if behind else "equal",
            state=health.fault or "good",
            volumes=self._volumes(),
        )

    def round(self, round_id: int) -> RoundView | None:
        """Everything about one round of play; None where there is none."""
        kept = until_ended(self._records.read_round(round_id), round_id)
        steps = [plain for each in kept if (plain := each.plain)["kind"] == "step"]
        return round_view(round_of(kept, round_id), steps, self._profile) if steps else None

    def last(self, count: int) -> tuple[JournalLine, ...]:
        """The newest records, oldest first."""
        head = self._records.head().sequence
        found = self._records.read(first=max(1, head - count + 1))
        return tuple(told(r.plain) for r in islice(found, count))

    def statistics(self) -> Mapping[str, object]:
        """Figures over all recorded outcomes, from the tables beside the chain.

        Costs the same however long the journal is, and next to nothing until another round is
        counted: whoever asks without a pause takes no time from the control loop. Raises
        RefusedError while there are no tables.
        """
        if (found := self._counted()) is None:
            raise RefusedError(
                "the outcomes are still being counted", remedy="Ask again in a moment"
            )
        counts, sequence = found
        told, figures = self._figures
        if counts != told:
            figures = figures_of(counts)
            self._figures = counts, figures
        return {**figures, "counted_to_record": sequence}

    def bundle(self) -> Parcel:
        """See `log_bundle`. Raises RefusedError while nothing can be recorded."""
        self._require_recorded()
        return log_bundle(self._records, self._settings, self._versions, self._pictures)

    def export(self) -> Parcel:
        """The newest records as JSON lines, each with its hash, gzipped; for an inspector.

        Raises RefusedError for an empty journal, and while nothing can be recorded.
        """
        self._require_recorded()
        last = self._records.head().sequence
        if last == 0:
            raise RefusedError("the journal is empty")
        first = max(1, last - EXPORT_RECORDS + 1)
        buffer = io.BytesIO()
        with gzip.open(buffer, "wb") as packed:
            packed.writelines(record.exported for record in self._records.read(first))
        return Parcel(f"shaker-journal-{first}-{last}.jsonl.gz", buffer.getvalue())

    def _require_recorded(self) -> None:
        """Who takes records away is on record, or takes none."""
        if (health := self._health()).is_failed:
            raise RefusedError(
                f"nothing is handed out while that cannot be recorded: {health.fault}",
                remedy="Mend the journal first",
            )


def log_bundle(records: Records, settings: str, versions: str, pictures: PictureFiles) -> Parcel:
    """Journal slice, settings without secrets, versions, its last pictures, as one tar.gz. The name
    of a picture that is not as its record has it says so.

    `settings`: the settings file's text.
    """
    first = max(1, records.head().sequence - BUNDLE_RECORDS + 1)
    lines, named = [], {}
    for record in records.read(first):
        lines.append(record.exported)
        for kept in record.plain.get("pictures", {}).values():
            named[f"pictures/{kept['file']}"] = kept["sha256"]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as bundle:
        for name, content in (
            ("journal.jsonl", b"".join(lines)),
            ("settings.toml", _CREDENTIALS.sub("...", settings).encode()),
            ("versions.txt", versions.encode()),
            *(_judged(*each, named) for each in pictures(BUNDLE_DECISIONS) if each[0] in named),
        ):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), int(time.time())
            bundle.addfile(info, io.BytesIO(content))
    return Parcel("shaker-bundle.tar.gz", buffer.getvalue())


def _judged(name: str, content: bytes, named: Mapping[str, str]) -> tuple[str, bytes]:
    """A picture under its name, or under one that says that it is another one."""
    if is_recorded(content, named[name]):
        return name, content
    return name.removesuffix(".jpg") + ".NOT-AS-RECORDED.jpg", content


def round_view(
    told: Round, steps: Iterable[Mapping[str, Any]], profile: tuple[str, str] = ("", "")
) -> RoundView:
    """One round for a console. `steps`: the accepted; `profile`: name and digest of today's."""
    today = profile[0] if told.profile == profile[1] else "a profile that is not today's"
    facts = {
        "round": told.number,
        "profile": told.under or today,
        "phase": "ended" if told.ended_in else "lamps lit" if told.shown_in else "unfinished",
        "verdict": told.ending,
        "read": told.seen if told.reading == "Verified" else None,
        "entered": told.entered,
        "wagers": told.wagers,
        "lamps": told.areas,
        **_of_some(told),
        "profile_digest": told.profile,
    }
    return RoundView(facts=facts, events=tuple((_wall(step), said_in(step)) for step in steps))


def _of_some(told: Round) -> dict[str, object]:
    """What only some rounds have."""
    found: dict[str, object] = {
        "reason": told.cause if told.ended_in else told.reason,
        "reading": told.verdicts[-1] if told.verdicts else None,
        "pictures": [file for _, file, _ in told.pictures],
        "plan": told.plan,
        "multipliers": odds(from_record(each, Multiplied) for each in told.multipliers),
        "camera": "off: no picture proves the toss (O-21)" if told.camera_off else "",
        "by_eye": read_late(told) if told.by_eye else "",
        "shaker": "a manual one, shaken by the dealer" if told.manual_shaker else "",
        "corrected_to": told.withdrawn and result(told.values),
        "corrected": _corrected(told),
    }
    if told.ended_in:
        found["source"] = told.source
    return {name: value for name, value in found.items() if value or name == "source"}


_SAID = ("values", "serials", "area", "kind", "steps", "stayed", "tossed")
"""Fields of an event that a reader of the journal wants beside its name and its person."""

_NO_ROLL = frozenset({"DisputeDecided", "CorrectionNamed", "CorrectionAgreed"})
"""Events that say no roll where they name no values."""


def _corrected(told: Round) -> dict[str, object]:
    """What the result was before, and who put another in its place."""
    if not told.corrected_by:
        return {}
    named_by, agreed_by = map(named, told.corrected_by)
    return {"from": told.withdrawn, "named_by": named_by, "agreed_by": agreed_by}


def _named(person: Mapping[str, Any]) -> str:
    number = person.get("number")
    return f"{person['name']}, {person['role']}{f', {number}' if number else ''}"


def happened_in(event: dict[str, Any]) -> str:
    """An event in words: what, by whom, and what was said."""
    text = words(event["type"])
    if person := event.get("person"):
        text += f" by {_named(person)}"
    said = (event.get(name) for name in _SAID)
    text += "".join(f": {worded(one)}" for one in said if one not in (None, "", []))
    if event["type"] in _NO_ROLL and not event.get("values"):
        text += ": no roll"
    return text


def said_in(record: Mapping[str, Any]) -> str:
    """What a record says happened, in words."""
    kind, event = record["kind"], record.get("event")
    text = happened_in(event) if event else record.get("note") or ""
    if kind == "refused":
        return f"refused: {text}: {record.get('reason', '')}"
    if kind == "console":
        actor, said = record["actor"], record.get("text")
        text += f" by {_named(actor)}" if actor.get("name") else ""
        return text + f" at the {actor['port']} console" + (f": {said}" if said else "")
    return text if event else f"{words(kind)}: {text}"


_QUIET = ("type", "occasion", "plan", "demonstration", "clause", "corrects", "multipliers")


def decided_in(record: Mapping[str, Any]) -> tuple[str, ...]:
    """What a record says was commanded, in words."""
    return tuple(_decided(command) for command in record.get("decision", ()))


def _decided(command: Mapping[str, Any]) -> str:
    told = [
        worded(value)
        for key, value in command.items()
        if key not in _QUIET and value not in (None, "", [], False) and not isinstance(value, dict)
    ]
    said = words(command["type"]) + (f": {', '.join(told)}" if told else "")
    return f"{said}, a correction" if command.get("corrects") else said


def told(record: dict[str, Any]) -> JournalLine:
    """A record in words, for reading."""
    number = record.get("round")
    return JournalLine(
        sequence=record["sequence"],
        wall_s=_wall(record),
        kind="table" if number is None else f"round {number}",
        text=said_in(record) + _ended_in(record),
    )


def _ended_in(record: Mapping[str, Any]) -> str:
    text = ""
    for one in (ended := understood(record)):
        values = f": {' '.join(map(str, one.values))}" if one.values else ""
        why = f" ({words(one.cause)})" if one.cause else ""
        text += f"; round {one.number} {words(one.ending or '')}{values}{why}"
    is_strange = ends_round(record) and not ended
    return text + is_strange * "; it ends a round in a way that is not understood"


def who(record: dict[str, Any]) -> str:
    """The name of the person whose act a record is; empty where nobody acted."""
    if by := by_command(record):
        return by.name
    person = record.get("event", {}).get("person") or record.get("actor") or {}
    return str(person.get("name") or "")


def is_of_people(record: dict[str, Any]) -> bool:
    """Whether a record tells what a person did, how a round ended, a fault, or a start or stop."""
    is_fault = "Fault" in record.get("event", {}).get("type", "")
    return bool(who(record)) or ends_round(record) or is_fault or record["kind"] != "step"


def _wall(record: Mapping[str, Any]) -> float:
    return datetime.fromisoformat(record["wall"]).timestamp()
