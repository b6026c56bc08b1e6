"""The table from a console's chair: snapshots out, requests in. Stands behind `console.desk.Desk`.

Owns the composition of what every thread last left (state, lamps, motor, camera, faults) into one
view, and the way of a request to the state thread and back. Must not judge: what is allowed now is
asked of the rules themselves, by a trial step that changes nothing.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from shaker_ctl.console import desk as console
from shaker_ctl.console.desk import Actor, Announcement, Answer, Note, Parcel, Request
from shaker_ctl.errors import JournalError, RefusedError, ShakerError
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.ports import DiceReader, GpioLink
from shaker_ctl.rules import events, machine
from shaker_ctl.rules.regulation import Cited
from shaker_ctl.rules.rulebook import INSPECTION_ENTRIES, Rulebook, dice_end, out_of_force
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Part, Purpose, Role, Unreadable, Verdict, Verified
from shaker_ctl.service import requests
from shaker_ctl.service.fault_queue import WORDS, FaultQueue
from shaker_ctl.service.lamp_thread import LampThread
from shaker_ctl.service.motion_thread import MotionThread
from shaker_ctl.service.state_thread import Outcome, RecordKeeper, StateThread
from shaker_ctl.service.wall_time import WallTime

NO_ANSWER = "no-answer"
SLOWEST_JOG_RPM = 60.0

_LIFE = {
    Phase.CLOSED: "closed",
    Phase.INSPECTION_DUE: "inspection due",
    Phase.INSPECTED: "inspected",
    Phase.OUT_OF_SERVICE: "out of service",
    Phase.SHAKER_RETIRED: "shaker retired",
}

_PENDING: dict[Phase, tuple[str, frozenset[Role], str]] = {
    Phase.AWAITING_DEALER: ("confirm", frozenset({Role.DEALER}), "announce and confirm the values"),
    Phase.DISPUTED: (
        "decide",
        frozenset({Role.FLOORPERSON, Role.SUPERVISOR}),
        "dealer and reader disagree: decide",
    ),
    Phase.LAMPS_TO_BE_SEEN: (
        "seen",
        frozenset({Role.FLOORPERSON, Role.SUPERVISOR}),
        "say that you saw every lamp lit and dark: inspect seen",
    ),
    Phase.TO_BE_SIGNED: (
        "sign",
        frozenset({Role.FLOORPERSON, Role.SUPERVISOR}),
        "the inspection has passed: sign",
    ),
    Phase.AWAITING_PRESENCE: (
        "presence",
        frozenset({Role.FLOORPERSON, Role.SUPERVISOR}),
        "come to the table, then say: presence",
    ),
    Phase.COLLECTING: ("settled", frozenset({Role.DEALER}), "collect and pay, then: settled"),
    Phase.PAYING: ("settled", frozenset({Role.DEALER}), "pay, then: settled"),
    Phase.SETTLING_BY_HAND: (
        "settled",
        frozenset({Role.DEALER}),
        "settle by hand, then: settled",
    ),
    Phase.WITHOUT_RESULT: ("settled", frozenset({Role.DEALER}), "deal with wagers, then: settled"),
    Phase.SETTLED_LIT: ("lamps-off", frozenset({Role.DEALER}), "clear the lamps: lamps-off"),
}


class Archive(Protocol):
    """What can be looked up in the journal, by whoever holds its files."""

    def round(self, round_id: int) -> console.RoundView | None: ...

    def last(self, count: int) -> tuple[console.JournalLine, ...]: ...

    def statistics(self) -> Mapping[str, object]: ...

    def bundle(self) -> Parcel: ...

    def export(self) -> Parcel: ...

    def view(self) -> console.JournalView: ...


class CameraFacts(Protocol):
    """The reader's own figures, for screens."""

    def camera_view(self) -> console.CameraView: ...


@dataclass(slots=True)
class Chairs:
    """Everything that the desk looks at. One record instead of a dozen parameters."""

    table_name: str
    rulebook: Rulebook
    state: StateThread
    lamps: LampThread
    motion: MotionThread
    reader: DiceReader
    camera: CameraFacts
    faults: FaultQueue
    wall: WallTime
    journal: RecordKeeper
    archive: Archive
    health: Callable[[], console.HealthView]
    digests: tuple[tuple[str, str, bool], ...]
    set_light: Callable[[float], None]
    link: GpioLink
    motion_parameters: MotionParameters
    monotonic: Callable[[], float] = time.monotonic
    subscribers: list[Callable[[Announcement], None]] = field(default_factory=list)


class TableDesk:
    """Implements `console.desk.Desk` for all consoles at once."""

    def __init__(self, chairs: Chairs) -> None:
        self._c = chairs
        self._lock = threading.Lock()
        self._allowed: tuple[TableState | None, frozenset[str]] = (None, frozenset())

    # ── Asking ──────────────────────────────────────────────────────────────

    def view(self) -> console.TableView:
        """Compose the newest snapshot. No lock is taken that any device thread holds."""
        c, state = self._c, self._c.state.state
        profile = c.rulebook.profile
        last = state.values if state.values is not None else _values(state.reading)
        return console.TableView(
            table=c.table_name,
            life=_life(state),
            phase=state.phase.value.replace("_", " ") if _life(state) == "open" else "",
            says=self._says(state),
            marks=c.rulebook.marks,
            round_id=state.round or None,
            last_result=last,
            pending=_pending(state),
            profile=console.ProfileView(
                key=profile.name,
                title=profile.title,
                instrument=profile.instrument,
                entry_mode=c.rulebook.entry.value,
                nmb_before=c.rulebook.nmb_before.value,
                attendance="attended" if c.rulebook.attended else "unattended",
                is_in_force=out_of_force(profile, c.wall.now().date()) is None,
                facts=tuple(_facts(c.rulebook)),
            ),
            faults=tuple(
                console.FaultView(
                    code=f.code, wall_s=f.wall_s, cause=f.cause, remedy=f.remedy, is_clearable=True
                )
                for f in c.faults.standing()
            ),
            lamps=self._lamps(),
            motor=self._motor(),
            camera=c.camera.camera_view(),
            dice=self._dice(state),
            journal=c.archive.view(),
            inspection=_inspection(state, c.rulebook),
            health=c.health(),
            digests=c.digests,
            allowed=self._allowed_now(state),
        )

    def round(self, round_id: int) -> console.RoundView | None:
        """See `Desk.round`."""
        return self._c.archive.round(round_id)

    def journal_last(self, count: int) -> tuple[console.JournalLine, ...]:
        """See `Desk.journal_last`."""
        return self._c.archive.last(count)

    def statistics(self) -> Mapping[str, object]:
        """See `Desk.statistics`."""
        return self._c.archive.statistics()

    def bundle(self) -> Parcel:
        """See `Desk.bundle`."""
        return self._c.archive.bundle()

    def export(self) -> Parcel:
        """See `Desk.export`."""
        return self._c.archive.export()

    def fault_codes(self) -> Mapping[str, str]:
        """See `Desk.fault_codes`."""
        return {code: cause for code, (cause, _remedy) in WORDS.items()}

    def snap(self) -> Parcel:
        """See `Desk.snap`."""
        jpeg = self._c.reader.snap()
        if not jpeg:
            raise RefusedError("no picture is taken between cover-closed and reveal")
        return Parcel("camera.jpg", jpeg)

    # ── Acting ──────────────────────────────────────────────────────────────

    def submit(self, request: Request, actor: Actor, *, deadline_s: float = 2.0) -> Answer:
        """Hand an act to the rules and wait until it is recorded; see `Desk.submit`."""
        c = self._c
        if request.verb == "light":
            return self._light(request)
        if request.verb == "selftest":
            return self._selftest()
        if request.verb == "calibrate camera":
            return self._check_calibration()
        try:
            event = requests.to_event(
                request,
                actor,
                c.state.state,
                now=c.wall.now(),
                kind_of_fault=c.faults.kind_of,
            )
            if isinstance(event, events.JogRequested):
                self._check_jog(event)
        except RefusedError as error:
            return Answer.refused("not-now", error.line())
        answered = threading.Event()
        outcome: list[Outcome] = []

        def take(result: Outcome) -> None:
            outcome.append(result)
            answered.set()

        c.state.post(event, answer=take)
        if not answered.wait(deadline_s):
            return Answer.refused(NO_ANSWER, "the table did not decide in time; ask `status`")
        result = outcome[0]
        if not result.is_taken:
            return Answer("not-now", result.text, details={"reason": result.code, "recorded": True})
        return Answer.ok(self._says(c.state.state), record=result.sequence)

    def note(self, note: Note) -> None:
        """Put a fact about a console on record."""
        actor = {
            "name": note.actor.name,
            "role": note.actor.role.value if note.actor.role else None,
            "port": note.actor.port,
        }
        with contextlib.suppress(JournalError):  # said by the journal's own fault already
            self._c.journal.append(
                "console", {"note": note.kind, "text": note.text, "actor": actor}
            )

    def subscribe(self, callback: Callable[[Announcement], None]) -> Callable[[], None]:
        """Call back with each announcement; returns the way to end it."""
        with self._lock:
            self._c.subscribers.append(callback)

        def end() -> None:
            with self._lock:
                if callback in self._c.subscribers:
                    self._c.subscribers.remove(callback)

        return end

    def tell(self, announcement: Announcement) -> None:
        """Pass an announcement to every console. Called by the service."""
        with self._lock:
            callbacks = tuple(self._c.subscribers)
        for callback in callbacks:
            callback(announcement)

    # ── Pieces ──────────────────────────────────────────────────────────────

    def _allowed_now(self, state: TableState) -> frozenset[str]:
        """Verbs that some person could say now: a trial step of each, which changes nothing."""
        known_for, verbs = self._allowed
        if known_for is not state:
            verbs = allowed_verbs(state, self._c.rulebook, self._c.wall, self._c.faults)
            self._allowed = (state, verbs)
        return verbs

    def _says(self, state: TableState) -> str:
        parts = [_SAYS.get(state.phase, f"{state.phase.value.replace('_', ' ')}.")]
        if state.barred is not None:
            parts.append(f"No round starts: {self._c.rulebook.explain(state.barred)}.")
        if faults := self._c.faults.standing():
            parts.append(f"{faults[0].code}: {faults[0].cause}.")
        return " ".join(parts)

    def _lamps(self) -> console.LampView:
        picture = self._c.lamps.picture
        status, seen_s = picture.status, picture.seen_at_s
        if status is None or seen_s is None:
            return console.LampView(box=picture.fault or "the lamp box has not answered yet")
        return console.LampView(
            commanded=tuple(sorted(picture.commanded)),
            measured=tuple(sorted(status.glowing)),
            broken=tuple(sorted(status.open_bulbs | status.stuck_bulbs)),
            phase=picture.phase.value if picture.phase else "",
            box=picture.fault or f"{status.state.name.lower()}, supply {status.supply_v:.1f} V",
            age_s=self._c.monotonic() - seen_s,
        )

    def _motor(self) -> console.MotorView:
        figures = self._c.motion.figures()
        try:
            contacts = self._c.motion.contacts()
        except RefusedError:
            lines: tuple[tuple[str, str], ...] = ()
        else:
            lines = (
                ("compartment", "open" if contacts.compartment_open else "closed and locked"),
                ("cover", "open" if contacts.cover_open else "closed"),
                ("e-stop", "pressed" if contacts.estop_pressed else "released"),
                ("driver fault", "raised" if contacts.driver_fault else "none"),
                ("button", "pressed" if contacts.button_pressed else "released"),
            )
        trace = figures.trace
        return console.MotorView(
            rpm=figures.speed_rpm,
            duty=figures.duty,
            is_enabled=figures.activity == "driving",
            last_toss_rpm=tuple(round(rpm, 1) for _, rpm in trace[:: max(1, len(trace) // 60)]),
            last_toss_s=trace[-1][0] if trace else None,
            interlocks=lines,
            link=_link_words(self._c.link),
        )

    def _dice(self, state: TableState) -> console.DiceView:
        if state.dice is None:
            return console.DiceView(wear="not recorded: `dice changed` records them")
        end = dice_end(state.dice.installed_at, self._c.rulebook.dice_age)
        age_s = (self._c.wall.now() - state.dice.installed_at).total_seconds()
        limit_s = None if end is None else (end - state.dice.installed_at).total_seconds()
        return console.DiceView(serials=state.dice.serials, age_s=age_s, limit_s=limit_s)

    def _light(self, request: Request) -> Answer:
        if self._c.state.state.phase not in (Phase.CLOSED, Phase.OUT_OF_SERVICE):
            return Answer.refused("not-now", "the light is the technician's only while closed")
        level = request.arguments["level"]
        assert isinstance(level, int | float)
        self._c.set_light(float(level))
        return Answer.ok(f"ring light at {float(level):.0%}")

    def _check_jog(self, asked: events.JogRequested) -> None:
        p = self._c.motion_parameters
        top_rpm = p.shake.band_high_rpm
        if not (SLOWEST_JOG_RPM <= asked.rpm <= top_rpm and 0 < asked.seconds <= p.jog_limit_s):
            raise RefusedError(
                f"a jog is {SLOWEST_JOG_RPM:g} to {top_rpm:g} rpm for up to {p.jog_limit_s:g} s",
                remedy="give both inside these bounds",
            )

    def _selftest(self) -> Answer:
        """Every device that can be asked without moving anything."""
        view = self.view()
        wrong = [f"{f.code}: {f.cause}" for f in view.faults]
        if view.camera.fps is None or view.camera.fps < 1:
            wrong.append("camera: no frames")
        if view.lamps.age_s is None or view.lamps.age_s > 1.0:
            wrong.append(f"lamps: {view.lamps.box}")
        if view.motor.link != "connected":
            wrong.append(f"GPIO: {view.motor.link}")
        if wrong:
            return Answer.refused("not-now", "; ".join(wrong))
        return Answer.ok("camera, lamp box, GPIO daemon and journal answer")

    def _check_calibration(self) -> Answer:
        view = self._c.camera.camera_view()
        if view.state != "ready":
            return Answer.refused("not-now", f"the camera is {view.state}")
        return Answer.ok("the picture fits the calibration")


def _facts(rulebook: Rulebook) -> list[tuple[str, str, str]]:
    """Every cited value of the profile as (what, value, clause)."""
    found = []
    for section in type(rulebook.profile).model_fields:
        part = getattr(rulebook.profile, section)
        for key in getattr(type(part), "model_fields", {}):
            value = getattr(part, key)
            if isinstance(value, Cited):
                found.append((f"{section}.{key}", _words(value.value), value.clause))
    return found


def _words(value: object) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ", ".join(_words(item) for item in value)
    return str(value)


def _link_words(link: GpioLink) -> str:
    trouble = link.trouble()
    return "connected" if trouble is None else str(trouble)


def _values(verdict: Verdict | None) -> tuple[int, int, int] | None:
    return verdict.values if isinstance(verdict, Verified) else None


def _life(state: TableState) -> str:
    if state.phase in _LIFE:
        return _LIFE[state.phase]
    if state.purpose is Purpose.INSPECTION or state.phase is Phase.TO_BE_SIGNED:
        return "opening inspection"
    if state.purpose is Purpose.SHIFT:
        return "shift inspection"
    if state.purpose is Purpose.TRIAL:
        return "trial"
    return "open"


def _pending(state: TableState) -> console.PendingView | None:
    found = _PENDING.get(state.phase)
    if found is None:
        return None
    kind, roles, text = found
    if state.phase is Phase.AWAITING_DEALER and not isinstance(state.reading, Verified):
        kind, text = "enter", "read the dice by eye: enter the values, or call no roll"
        if isinstance(state.reading, Unreadable):
            text += f" ({state.reading.reason})"
    return console.PendingView(
        kind=kind,
        round_id=state.round or None,
        values=_values(state.reading) if kind == "confirm" else state.values,
        roles=tuple(sorted(roles, key=lambda role: role.value)),
        text=text,
    )


_INSPECTION_STAGES = {
    Phase.INSPECTION_DUE: "due",
    Phase.LAMP_ENTRY: "lamp entries",
    Phase.LAMP_ENTRY_CLEARING: "lamp entries",
    Phase.EACH_LAMP: "lamp walk",
    Phase.LAMPS_TO_BE_SEEN: "seen?",
    Phase.TO_BE_SIGNED: "signature?",
    Phase.INSPECTED: "signed",
}


def _inspection(state: TableState, rulebook: Rulebook) -> console.InspectionView:
    in_cycles = state.purpose in (Purpose.INSPECTION, Purpose.SHIFT)
    stage = _INSPECTION_STAGES.get(state.phase, "cycles" if in_cycles else "signed")
    is_shift = state.purpose is Purpose.SHIFT
    signers = rulebook.shift_signers if is_shift else rulebook.opening_signers
    cycles_of = rulebook.shift_cycles if is_shift else rulebook.cycles
    are_cycles_done = state.phase in (Phase.TO_BE_SIGNED, Phase.INSPECTED) or (
        Part.SHAKER in state.passed
    )
    are_lamps_done = Part.LAMPS in state.passed or (in_cycles and state.good > 0)
    walked = are_lamps_done or state.phase is Phase.LAMPS_TO_BE_SEEN
    entered = state.entry if state.phase in _ENTERING else len(INSPECTION_ENTRIES) * walked
    return console.InspectionView(
        stage=stage,
        entries=INSPECTION_ENTRIES[:entered],
        lamps_proved=len(rulebook.areas) * walked,
        lamps_of=len(rulebook.areas),
        lamps_seen_by=state.inspector.name if are_lamps_done and state.inspector else "",
        cycles_good=cycles_of if are_cycles_done else state.good,
        cycles_of=cycles_of,
        signed_by=state.signed_by.name if state.signed_by else "",
        signer_role=" or ".join(sorted(role.value for role in signers)),
    )


_ENTERING = frozenset({Phase.LAMP_ENTRY, Phase.LAMP_ENTRY_CLEARING})

_SAYS = {
    Phase.CLOSED: "The table is closed.",
    Phase.INSPECTION_DUE: "An opening inspection is due.",
    Phase.INSPECTED: "The inspection is signed; the table may be opened.",
    Phase.READY: "Open; the next round may begin.",
    Phase.BETTING: "Bets are open.",
    Phase.NO_MORE_BETS: "No more bets; the shaker waits to be started.",
    Phase.LAMP_ENTRY: "Inspection values are entered; the lamps are read back.",
    Phase.LAMP_ENTRY_CLEARING: "Inspection values are cleared; the lamps are read back dark.",
    Phase.EACH_LAMP: "Every lamp is lit alone, then dark.",
    Phase.LAMPS_TO_BE_SEEN: "Every lamp was lit and dark alone; the inspector says: inspect seen.",
    Phase.TO_BE_SIGNED: "The inspection has passed and waits for its signature.",
    Phase.ADMITTING: "The clock is checked before bets open.",
    Phase.PACING: "The least length of the last round has not passed.",
    Phase.COVERING: "The cover closes.",
    Phase.PLANNING: "The shake is drawn.",
    Phase.PROVING_DARK: "The lamps are proved dark before the shaker starts.",
    Phase.STARTING: "The shaker is started.",
    Phase.COVERED: "Tossed and settled under the cover; bets are open.",
    Phase.REVEALING: "The cover opens.",
    Phase.DRAWING_MULTIPLIERS: "Multipliers are drawn.",
    Phase.SHOWING_MULTIPLIERS: "Multipliers are shown and read back.",
    Phase.PUSHING: "The values are sent to the lamps and read back.",
    Phase.CLEARING: "The lamps are cleared.",
    Phase.JOGGING: "The motor is jogged.",
    Phase.LAMP_TRIAL: "Lamps are tried.",
    Phase.TOSSING: "The shaker runs.",
    Phase.COMING_TO_REST: "The dice come to rest.",
    Phase.READING: "The dice are read.",
    Phase.AWAITING_DEALER: "The dealer announces and confirms, or enters.",
    Phase.DISPUTED: "Dealer and reader disagree; the floorperson decides.",
    Phase.COLLECTING: "Losing wagers are collected.",
    Phase.PAYING: "Winning wagers are paid.",
    Phase.SETTLED_LIT: "All paid; the lamps are cleared next.",
    Phase.AWAITING_PRESENCE: "The lamps failed after the toss; the named person must come.",
    Phase.SETTLING_BY_HAND: "The round is settled by hand.",
    Phase.WITHOUT_RESULT: "The round ended without a result.",
    Phase.OUT_OF_SERVICE: "The table is out of service.",
    Phase.SHAKER_RETIRED: "The automated shaker is out of use; a manual one may be used.",
}

_TRIED: tuple[Request, ...] = (
    *(Request(verb) for verb in ("bets", "nmb", "activate", "reveal", "settled", "lamps-off")),
    *(Request(verb) for verb in ("presence", "sign", "open", "close", "shift start")),
    *(Request(verb) for verb in ("time confirm", "return-to-service", "test-toss", "lamp test")),
    *(Request(verb) for verb in ("no-roll", "out-of-order", "cancel")),
    *(Request("inspect", {"what": what}) for what in ("all", "seen", "shift")),
    Request("decide", {"values": None}),
    Request("enter", {"values": (1, 2, 3)}),
    Request("dice changed", {"serials": ("a", "b", "c")}),
    Request("jog", {"rpm": 120.0, "seconds": 1.0}),
)


def allowed_verbs(
    state: TableState, rulebook: Rulebook, wall: WallTime, faults: FaultQueue
) -> frozenset[str]:
    """Return the verbs that the rules would take now from some role."""
    tried = list(_TRIED)
    if isinstance(state.reading, Verified):
        tried.append(Request("confirm", {"values": state.reading.values}))
    tried += [Request("fault clear", {"code": f.code}) for f in faults.standing()]
    allowed = {"light", "selftest", "calibrate camera"}
    for request in tried:
        if request.verb in allowed:
            continue
        for role in Role:
            try:
                event = requests.to_event(
                    request,
                    Actor("somebody", role, "trial"),
                    state,
                    now=wall.now(),
                    kind_of_fault=faults.kind_of,
                )
                taken = machine.step(state, event, rulebook).refused is None
            except ShakerError:
                taken = False
            if taken:
                allowed.add(request.verb)
                break
    return frozenset(allowed)
