"""A whole table on the rig of this run, as somebody beside it meets it: two consoles, the rig's
door, and what can be seen. Scenarios are told with this and with nothing inside the service.

Owns how a scenario acts and looks, and what it leaves for the report. Must not know the service's
code beyond the client of its console.
"""

from __future__ import annotations

import hashlib
import time
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest

from hil_tests.report.evidence import gather, lines_of
from hil_tests.report.story import Story
from hil_tests.report.witness import PictureWitness
from hil_tests.rig.control import RigRefusedError
from hil_tests.rig.gpio_sides import CANNOT
from hil_tests.scenarios.running import RunningSession
from hil_tests.table_under_test.lamps import against_truth, toss_at, values_of
from hil_tests.table_under_test.session import Session
from hil_tests.table_under_test.table import READY_S, TableUnderTest
from shaker_ctl.console.client import ConsoleRefusedError, Reply
from shaker_ctl.errors import ShakerError

LOOK_S = 0.05
REST_S = 20.0
READ_WITHIN = 3
"""Rounds of which the reader must read one. It refuses 3 to 4 of 100 flat tosses."""
REST_TO_LIT_MS = 300
"""Longest median of a story's rounds, from dice at rest to lamps read back lit, beside no other
work. The README claims a median of 188 ms, from a bench that plays nothing else (`make bench`)."""
ROUND_S = 60.0
"""Longest round, with a dealer who must enter, on a busy machine."""


class Table(TableUnderTest):
    """One running table. A scenario acts through it, and tells its story while doing so."""

    def __init__(self, session: Session, operator: Callable[[str], bool] | None = None) -> None:
        """`operator` asks a person at the bench to do something; False where they cannot."""
        super().__init__(session, self._said)
        self.story = Story()
        self._witness: PictureWitness | None = None
        self._seen_round = 0
        self.operator = operator
        self._broken_by_hand: list[str] = []

    def __enter__(self) -> Self:
        super().__enter__()
        self._witness = PictureWitness(Path(self.rig["truth"]), self.rig["camera"]["url"])
        return self

    def __exit__(self, *_: object) -> None:
        if self._witness is not None:
            self._witness.close()
        super().__exit__()

    # ── Consoles ────────────────────────────────────────────────────────────

    def wait(self, what: str, condition: Callable[[Reply], Any], seconds: float = ROUND_S) -> Reply:
        """Look at `status` until it is so, and tell the story; fails where it never is."""
        deadline = time.monotonic() + seconds
        while True:
            status = self.status()
            if condition(status):
                self.story.saw("console", f"{what}: {status['says']}")
                return status
            if time.monotonic() > deadline:
                faults = ", ".join(status["faults"]) or "none"
                self.story.expect(
                    f"within {seconds:g} s: {what}",
                    False,
                    f"{status['life']}, {status['phase']}, faults: {faults}. {status['says']}",
                )
            time.sleep(LOOK_S)

    def do(self, role: str, line: str) -> None:
        """Somebody in `role` gives a command, which the table takes."""
        self.story.expect(f"the table takes `{line}`", self.act(role, line))

    def play(self, rounds: int) -> None:
        """People play so many rounds by hand, and enter what truly lies there."""
        begun = 0

        def is_over(status: Reply) -> bool:
            nonlocal begun
            is_between = status["phase"] == "ready"
            if is_between and begun == rounds:
                return True
            begun += self.play_step(status) and is_between
            return False

        self.wait(f"{rounds} rounds are over", is_over, ROUND_S * rounds)

    def be_open(self, seconds: float = READY_S) -> None:
        """Whatever happened before: mend everything, clear what the table says, open it."""
        if self.status()["life"] != "open":
            self.heal()
            super().be_open(seconds)

    def betting(self) -> int:
        """Wait until bets are open on a round; return its number."""
        status = self.wait("bets are open", lambda seen: seen["phase"] == "betting")
        return int(status["round"])

    def _said(self, text: str) -> None:
        who, _, what = text.partition(": ")
        self.story.did(who, what)

    def round(self, number: int) -> dict[str, Any]:
        """The record of a round, as any console shows it."""
        found: dict[str, Any] = self.console("technician").ask(f"round {number}")["round"]
        return found

    def ended_round(self, number: int) -> dict[str, Any]:
        """Wait until a round is over; return its record.

        The reader refuses a few of a hundred tosses that lie flat. Dan then enters what he sees:
        the record says `entered`.
        """

        def is_over(status: Reply) -> bool:
            if status["round"] == number:
                self._enter_if_asked(status)
            return (status["round"] or 0) > number or self.has_ended(number)

        self.wait(f"round {number} is over", is_over)
        return self.round(number)

    def _enter_if_asked(self, status: Reply) -> None:
        """Dan enters what he sees, if the table asks for it."""
        if (status["pending"] or {}).get("kind") == "enter":
            self.prompt(status)

    def read_round(self) -> int:
        """Let the table play until it has settled a round without help; return its number."""
        for _ in range(READ_WITHIN):
            played = self.ended_round(number := self.betting())
            if played["verdict"] == "settled" and not played["entered"]:
                return number
        self.story.expect(f"one of {READ_WITHIN} rounds is read without help", False, played)
        raise AssertionError

    def has_ended(self, number: int) -> bool:
        try:
            return bool(self.round(number)["phase"] == "ended")
        except ConsoleRefusedError:
            return False

    # ── The rig's door ──────────────────────────────────────────────────────

    def ask_rig(self, command: str) -> Any:
        """One command at the rig's own door. What this rig cannot do skips the test."""
        try:
            return super().ask_rig(command)
        except RigRefusedError as refused:
            if str(refused).startswith(CANNOT):
                pytest.skip(str(refused))
            raise

    def inject(self, fault: str) -> None:
        """Break something, now or after an event.

        Where a part is a real one, the operator is asked to; nobody can be as quick as an event.
        """
        name = fault.split()[0]
        what = next(one["summary"] for one in self.ask_rig("faults") if one["name"] == name)
        who = "rig"
        try:
            super().ask_rig(f"inject {fault}")
        except RigRefusedError as refused:
            is_real = str(refused).startswith(CANNOT)
            if is_real and (self.operator is None or " after " in fault):
                pytest.skip(str(refused))
            if self.operator is None or not is_real:
                raise
            if not self.operator(f"Break it now: {fault} ({what})"):
                pytest.skip(f"the operator cannot do that: {fault}")
            self._broken_by_hand.append(fault)
            who = "operator"
        self.story.did(who, f"breaks: {fault} - {what}")

    def heal(self, fault: str = "all") -> None:
        """Mend it, also what the operator has broken."""
        self.ask_rig(f"heal {fault}")
        self.story.did("rig", f"mends: {fault}")
        for one in [one for one in self._broken_by_hand if fault in ("all", one.split()[0])]:
            assert self.operator is not None
            self.operator(f"Mend it now: {one}")
            self._broken_by_hand.remove(one)
            self.story.did("operator", f"mends: {one}")

    def hands(self, action: str) -> None:
        """Do what hands do at the machine."""
        self.ask_rig(f"hands {action}")
        self.story.did("hands", action)

    def machine(self) -> dict[str, Any]:
        """What somebody beside the machine sees."""
        found: dict[str, Any] = self.ask_rig("status")
        return found

    def await_machine(
        self, what: str, condition: Callable[[dict[str, Any]], Any], seconds: float = ROUND_S
    ) -> dict[str, Any]:
        """Look at the machine until it is so."""
        deadline = time.monotonic() + seconds
        while not condition(seen := self.machine()):
            if time.monotonic() > deadline:
                self.story.expect(f"within {seconds:g} s: {what}", False, seen)
            time.sleep(0.01)
        self.story.saw("machine", what)
        return seen

    # ── The controller as a box with a plug ─────────────────────────────────

    def cut_power(self, after: str) -> None:
        """Have the controller die outright (SIGKILL) after so many of an event, and wait for it."""
        if isinstance(self.session, RunningSession):
            self.session.arm_power_cut(self.operator)
        pid = self.session.service_pid
        self.inject(f"process_killed pid={pid} after {after}")
        self.await_end()
        self.story.saw("machine", "the controller is without power")

    def await_end(self, seconds: float = ROUND_S) -> None:
        """Wait until the controller serves no more. Until then people do what it waits for."""
        deadline = time.monotonic() + seconds
        says = ""
        while self.session.is_serving:
            if time.monotonic() > deadline:
                self.story.expect(f"within {seconds:g} s: the controller ends", False, says)
            with suppress(ShakerError, OSError):  # it may end in the middle of an answer
                status = self.status()
                says = status["says"]
                self.serve(status)
            time.sleep(LOOK_S)
        self.leave_consoles()

    def give_power(self) -> None:
        """Switch the controller on again, and wait until it is ready."""
        self.session.start_service()
        took = self.session.ready_after_s
        self.story.saw("machine", f"the controller is ready again after {took:.1f} s")

    # ── What was truly so ───────────────────────────────────────────────────

    def lamp_changes(self) -> list[dict[str, Any]]:
        """Which lamps burnt, and since when."""
        return lines_of(self.rig["lamps"])

    def lit_for(self, number: int) -> set[str]:
        """Every area that burnt at any moment for that round's result."""
        return {
            area
            for change in self.lamp_changes()
            if change["round"] == number
            for area in change["areas"]
        }

    def signals(self) -> list[dict[str, Any]]:
        """Every change of the lines."""
        return lines_of(self.rig["signals"])

    def happened(self, since_s: float) -> list[dict[str, Any]]:
        """What the rig's logbook has since then."""
        return [event for event in lines_of(self.rig["events"]) if event["t"] >= since_s]

    def enable_fell(self, after_s: float, seconds: float = 5.0) -> float:
        """When EN fell, seen from the machine, monotonic seconds; waits for it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for line in self.signals():
                if line["t"] >= after_s and line.get("enable") == 0:
                    return float(line["t"])
            time.sleep(0.02)
        self.story.expect("the motor's enable falls", False, f"still high after {seconds:g} s")
        raise AssertionError

    def held_against_truth(self, number: int) -> dict[str, Any]:
        """State that a round lit what its dice truly showed if it was settled, no more if it was
        settled by hand, and nothing if it was not (void, no roll); return its toss."""
        played = self.round(number)
        toss = self.toss_of(played)
        lit = self.lit_for(number)
        lamps = against_truth(lit, toss["dice"], self.session.plan.profile)
        self.story.saw("lamps", f"round {number}: {' '.join(sorted(lit)) or 'none'}")
        what = f"round {number}, {played['verdict']}, its dice show {lamps.values}"
        if played["verdict"] not in ("settled", "settled_by_hand"):
            self.story.expect(f"{what}: nothing burnt", not lit, sorted(lit))
            return toss
        self.story.expect(f"all dice of round {number} lie flat", lamps.values, toss["dice"])
        self.story.expect(f"{what}: no other lamp burnt", not lamps.wrong, sorted(lamps.wrong))
        is_whole = not lamps.missing or played["verdict"] == "settled_by_hand"
        self.story.expect(f"{what}: every lamp of theirs burnt", is_whole, sorted(lamps.missing))
        return toss

    def toss_of(self, played: Mapping[str, Any]) -> dict[str, Any]:
        """The physics' record of a round's toss; waits for the dice's true rest."""
        at = monotonic_of(played)
        assert at is not None, played
        deadline = time.monotonic() + REST_S
        while True:
            if toss := toss_at((one for one in self.tosses() if one["turns"] > 1.0), at):
                return toss
            self.story.expect("the dice of the toss come to rest", time.monotonic() < deadline)
            time.sleep(LOOK_S)

    # ── For the report ──────────────────────────────────────────────────────

    def evidence(self, t0: float, t1: float) -> dict[str, Any]:
        """What the report keeps of a test that ran from `t0` to `t1`."""
        pictures = {} if self._witness is None else self._witness.pictures
        readings: dict[int, dict[str, Any]] = {}
        with suppress(ShakerError, OSError):  # the console may be silent by then
            readings = self._readings()
        return {**gather(self.rig, t0, t1, pictures, readings), "table": self._about()}

    def _about(self) -> dict[str, str]:
        """The table in words: what it plays, with which settings, measured when."""
        if isinstance(self.session, RunningSession):
            return {"service": f"it ran already, at the rig in {self.session.elsewhere.rig}"}
        text = (self.session.folder / "settings.toml").read_text("utf-8")
        found = tomllib.loads(text)
        camera = found["camera"]["calibration"]
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        plan = self.session.plan
        return {
            "profile": f"{plan.profile}, entry mode {found['table']['entry_mode']}",
            "compartment and dice": f"{plan.compartment}, {plan.dice}, seed {plan.seed}",
            "settings": f"digest {digest}",
            "camera measured": str(camera.get("measured", "never")),
        }

    def _readings(self) -> dict[int, dict[str, Any]]:
        """The rounds since the last evidence was taken."""
        newest = self.status()["round"] or 0
        readings = {}
        for number in range(max(1, self._seen_round), newest + 1):
            with suppress(ConsoleRefusedError):
                played = self.round(number)
                readings[number] = self._reading(played)
        self._seen_round = newest
        return readings

    def _reading(self, played: dict[str, Any]) -> dict[str, Any]:
        names = list(played.get("pictures") or ())
        overlay = next((name for name in names if "overlay" in name), "")
        path = self.session.folder / "pictures" / overlay if overlay else None
        read = " ".join(map(str, played["read"])) if played.get("read") else "nothing"
        return {
            "at": monotonic_of(played),
            "title": f"read {read}; {played['verdict'] or 'not ended'}",
            "text": played.get("reason", ""),
            "picture": path.read_bytes() if path is not None and path.exists() else None,
        }


def all_flat(toss: Mapping[str, Any]) -> bool:
    return values_of(toss["dice"]) is not None


def monotonic_of(played: Mapping[str, Any], event: str = "tossstarted") -> float | None:
    """When an event of a round's record was last, on the clock of the rig's logs; None without."""
    offset = time.time() - time.monotonic()
    found = [wall - offset for wall, name in events_of(played) if name == event]
    return found[-1] if found else None


def events_of(played: Mapping[str, Any]) -> list[tuple[float, str]]:
    """A round's events in order: wall time, and the name without spaces, capitals or details."""
    return [
        (wall, name.partition(":")[0].replace(" ", "").lower()) for wall, name in played["events"]
    ]
