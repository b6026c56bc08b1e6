"""What was seen of one round from outside: pins, lamps, dice, and the journal read-only.

Owns the joining of the rig's logs and the journal into one `Observation`, and what must never
happen, whichever part fails:

- the lamps are told a value that the dice do not show;
- a round ends twice, or never, or a number is left out;
- the motor moves again in a round;
- the chain of the journal is broken, or its two copies differ.

Lamps are judged by `hil_tests.table_under_test.lamps`. Must not know what
was required.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hil_tests.reliability.required import Observation, RequiredLamps, RequiredMotor, matches
from hil_tests.table_under_test.lamps import against_truth, values_of
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.errors import JournalError
from shaker_ctl.journal.history import Round, ended_by
from shaker_ctl.journal.record import Damage, Head, walk

PLANNED_S = 1.8
"""The shortest approved shake: EN high for so long is a toss that went to its end."""

FINISHED_S = 0.93 * PLANNED_S
BRIDGED_S = 0.03
"""EN low for less than three turns of the dead-man is its own pulse."""

PROFILE = "pa-625a"
"""The layout of the tables under test has no `even` and no `odd`."""

PHASE_FAULT = 12
PHASE_MASK = 0xFF
"""Without the mark of a demonstration."""

MAX_EVENTS = 40
"""Events kept for the report."""

Note = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One recorded event."""

    at_s: float
    text: str
    round: int | None
    commands: tuple[Note, ...]
    ended: tuple[Round, ...] = ()
    """The rounds that it ends."""


@dataclass
class Witness:
    """Reads on where it stopped. One for a whole session, restarts of the service included."""

    rig: dict[str, Any]
    journal: Path
    second: Path
    rounds: dict[int, int] = field(default_factory=dict)
    """How often each round of play has been recorded as over."""
    _head: Head | None = None
    _places: dict[str, int] = field(default_factory=dict)

    # ── Reading on ──────────────────────────────────────────────────────────

    def notes(self, log: str) -> list[Note]:
        """New whole lines of one of the rig's logs: `events`, `lamps`, `truth`."""
        with Path(self.rig[log]).open("rb") as file:
            file.seek(self._places.get(log, 0))
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._places[log] = self._places.get(log, 0) + len(whole)
        return [json.loads(line) for line in whole.splitlines()]

    def steps(self) -> tuple[list[RecordedStep], list[str]]:
        """New steps of the journal, and what is wrong with its chain since the last look."""
        steps: list[RecordedStep] = []
        try:
            with closing(DiskJournal(self.journal, read_only=True)) as book:
                head = self._head or book.start
                for link in walk(head, book.read(head.sequence + 1), "journal"):
                    if isinstance(link, Damage):
                        return steps, [link.line()]
                    head = Head(link.sequence, link.hash)
                    steps += _step(link.plain)
                self._head = head
        except JournalError as error:
            return steps, [f"the journal cannot be read: {error}"]
        return steps, []

    def second_lags(self) -> str:
        """Why the second copy does not follow the first within two seconds; empty where it does."""

        def why() -> str:
            first, second = self._head_of(self.journal), self._head_of(self.second)
            if second.sequence >= first.sequence:
                return ""
            return (
                f"the second copy ends at record {second.sequence}, the first at {first.sequence}"
            )

        return _still(why, 2.0)

    def second_differs(self, patience_s: float = 1.0) -> str:
        """Why the second copy is not the first one's story; empty where it is (or is behind)."""

        def why() -> str:
            here = self._head_of(self.second)
            with closing(DiskJournal(self.journal, read_only=True)) as book:
                there = [record.hash for record in book.read(here.sequence, here.sequence)]
            if there in ([], [here.hash]):
                return ""
            return f"the copies of the journal differ at record {here.sequence}"

        return _still(why, patience_s)

    @staticmethod
    def _head_of(path: Path) -> Head:
        with closing(DiskJournal(path, read_only=True)) as book:
            return book.head()

    # ── Judging ─────────────────────────────────────────────────────────────

    def account(self, steps: Iterable[RecordedStep]) -> list[str]:
        """Count the rounds that ended; return what may never be."""
        wrong: list[str] = []
        for step in steps:
            for number in (one.number for one in step.ended):
                self.rounds[number] = self.rounds.get(number, 0) + 1
                if self.rounds[number] > 1:
                    wrong.append(f"round {number} ended {self.rounds[number]} times")
                if number > 1 and number - 1 not in self.rounds:
                    wrong.append(f"round {number - 1} never ended, round {number} did")
        return wrong


def _still(why: Callable[[], str], patience_s: float) -> str:
    """What is still wrong after so long; empty as soon as nothing is."""
    until_s = time.monotonic() + patience_s
    while True:
        try:
            said = why()
        except JournalError as error:
            return f"a copy of the journal cannot be read: {error}"
        if not said or time.monotonic() > until_s:
            return said
        time.sleep(0.05)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything written down during one trial."""

    number: int
    struck_s: float | None
    events: list[Note]
    lamps: list[Note]
    tosses: list[Note]
    steps: list[RecordedStep]
    seen_as: tuple[str, ...]


def judge(e: Evidence) -> Observation:
    """Return what the evidence says of round `e.number`; people's and consoles' facts are added
    by the caller."""
    seen = Observation()
    for step in e.steps:
        for one in step.ended:
            if one.number == e.number:
                seen.ending, seen.wagers, seen.source = one.ending, one.wagers, one.source
    _see_events(seen, e)
    _see_motor(seen, e)
    _see_lamps(seen, e)
    _see_commits(seen, e)
    return seen


def _see_events(seen: Observation, e: Evidence) -> None:
    if e.struck_s is None:
        return
    after = [s for s in e.steps if s.at_s >= e.struck_s - 0.002]
    seen.events = [s.text for s in after][:MAX_EVENTS]
    for step in after:
        if any(matches(pattern, step.text) for pattern in e.seen_as):
            seen.detected_after_s = round(max(0.0, step.at_s - e.struck_s), 3)
            return


def drives(events: Iterable[Note]) -> list[tuple[float, float | None]]:
    """When EN rose and fell for good, from the rig's notes; None: it is still high.

    The dead-man pulses EN low every 10 ms, for the hardware monostable. A daemon that is late makes
    that pulse longer than the driver's filter; what the monostable bridges is no fall.
    """
    found: list[tuple[float, float | None]] = []
    for note in events:
        if note["what"] != "enable":
            continue
        if not note["level"]:
            if found:
                found[-1] = (found[-1][0], note["t"])
        elif found and found[-1][1] is not None and note["t"] - found[-1][1] < BRIDGED_S:
            found[-1] = (found[-1][0], None)
        else:
            found.append((note["t"], None))
    return found


def _see_motor(seen: Observation, e: Evidence) -> None:
    driven = drives(e.events)
    if not driven:
        seen.motor = RequiredMotor.NEVER
        return
    rose_s, _ = driven[0]
    _, fell_s = driven[-1]
    if fell_s is None:
        seen.motor = "EN still high"
        return
    seen.motor = RequiredMotor.FINISHED if fell_s - rose_s >= FINISHED_S else RequiredMotor.STOPPED
    if e.struck_s is not None:
        seen.motor_after_s = round(fell_s - e.struck_s, 3)
    if len(driven) > 1:
        seen.violations.append(f"EN rose {len(driven)} times in round {e.number}")


def _dice(e: Evidence, before_s: float) -> list[Note] | None:
    """The dice of the last toss that began before that moment, as they came to lie."""
    known = [toss for toss in e.tosses if toss["t_start"] <= before_s]
    dice: list[Note] | None = known[-1]["dice"] if known else None
    return dice


def _see_lamps(seen: Observation, e: Evidence) -> None:
    changes = [(n["t"], set(n["areas"])) for n in e.lamps]
    lit = [(t, areas) for t, areas in changes if areas]
    wrong = [t for t, areas in lit if against_truth(areas, _dice(e, t), PROFILE).differs]
    if not lit:
        seen.lamps = RequiredLamps.DARK
    elif not wrong:
        seen.lamps = RequiredLamps.TRUTH
    else:
        darks = [t for t, areas in changes if not areas and t > wrong[0]]
        shown = [
            n["t"]
            for n in e.events
            if n["what"] == "phase"
            and n["argument"] & PHASE_MASK == PHASE_FAULT
            and n["t"] > wrong[0]
        ]
        seen.lamps = RequiredLamps.WRONG_THEN_DARK if darks else RequiredLamps.STUCK
        seen.dark_after_s = round(darks[0] - wrong[0], 3) if darks else None
        seen.fault_shown_after_s = round(shown[0] - wrong[0], 3) if shown else None
        if not darks and len(changes[-1][1]) > 1:
            seen.lamps = f"wrong for good: {', '.join(sorted(changes[-1][1]))}"


def _see_commits(seen: Observation, e: Evidence) -> None:
    """The controller never commits anything but the truth."""
    for note in e.events:
        if note["what"] not in ("commit", "correct") or not note["round"]:
            continue
        dice = _dice(e, note["t"])
        truth = values_of(dice or ())
        if truth is None or sorted(truth) != sorted(note["values"]):
            seen.violations.append(
                f"WRONG VALUE committed for round {note['round']}: {note['values']}, dice {dice}"
            )


def _step(plain: Note) -> list[RecordedStep]:
    if plain["kind"] != "step":
        return []
    told = (plain["at_s"], describe(plain["event"]), plain.get("round"))
    return [RecordedStep(*told, tuple(plain["decision"]), tuple(ended_by(plain)))]


def describe(event: Note) -> str:
    """A recorded event as `Type:text`: its code, reason, verdict or timer."""
    verdict = event.get("verdict")
    if isinstance(verdict, dict):
        text = f"{verdict['type']} {verdict.get('reason') or verdict.get('kind') or ''}".strip()
    else:
        text = str(event.get("code") or event.get("reason") or event.get("timer") or "")
    return f"{event['type']}:{text}" if text else str(event["type"])
