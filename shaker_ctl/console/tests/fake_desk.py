"""A table of paper: enough of the life of one for consoles, clients and the fuzzer to talk to.

It refuses what its phase does not list, so that a test sees what got through and what did not.
Work that takes time advances by one step whenever somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from shaker_ctl.console.desk import (
    Actor,
    Announcement,
    Answer,
    FaultView,
    InspectionView,
    JournalLine,
    LampView,
    MotorView,
    Note,
    Parcel,
    PendingView,
    RoundView,
    TableView,
)
from shaker_ctl.console.grammar import CONFIRM, TypedCommand
from shaker_ctl.errors import RefusedError
from shaker_ctl.rules.vocabulary import Role

TRIALS = frozenset({"jog", "test-toss", "lamp test", "light", "selftest", "dice changed"})
ALWAYS = frozenset({"out-of-order", "time confirm", "shift start", "fault clear"})

# phase -> verb -> next phase. A phase of its own stands for each thing a table waits for.
PHASES: dict[str, dict[str, str]] = {
    "closed": {"open": "inspection due"},
    "inspection due": {"inspect all": "inspecting"},
    "inspecting": {"cancel": "inspection due"},
    "to be seen": {"inspect seen": "inspecting", "cancel": "inspection due"},
    "to be signed": {"sign": "inspected", "cancel": "inspection due"},
    "inspected": {"open": "ready", "close": "closed"},
    "ready": {"bets": "bets open", "close": "closed"},
    "bets open": {"nmb": "no more bets"},
    "no more bets": {"activate": "tossing"},
    "tossing": {},
    "awaiting dealer": {"confirm": "collecting", "enter": "disputed", "no-roll": "disputed"},
    "disputed": {"decide": "collecting"},
    "collecting": {"settled": "lit"},
    "lit": {"lamps-off": "ready"},
    "settling by hand": {"presence": "collecting"},
    "out of service": {"return-to-service": "inspection due"},
}
ON_ROUND = {"nmb", "activate", "confirm", "enter", "no-roll", "decide", "settled", "lamps-off"}
WORK = {"inspecting", "tossing"}
PENDING = {
    "awaiting dealer": ("confirm", (Role.DEALER,)),
    "disputed": ("decide", (Role.FLOORPERSON, Role.SUPERVISOR)),
    "to be seen": ("seen", (Role.FLOORPERSON, Role.SUPERVISOR)),
    "to be signed": ("sign", (Role.FLOORPERSON, Role.SUPERVISOR)),
}
JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 12 + b"\xff\xd9"


def verb(command: TypedCommand) -> str:
    """The name of an act; `confirm` where the values on the screen are entered."""
    return "confirm" if command.form is CONFIRM else command.name


def _life(phase: str) -> str:
    if phase in list(PHASES)[6:15]:
        return "open"
    return "opening inspection" if phase in list(PHASES)[2:5] else phase


class FakeDesk:
    """See the module. `acts` and `notes` are what a test looks at."""

    def __init__(self, phase: str = "inspection due") -> None:
        self.acts: list[tuple[TypedCommand, Actor]] = []
        self.refused: list[tuple[TypedCommand, Actor]] = []
        self.notes: list[Note] = []
        self.callbacks: list[Callable[[Announcement], None]] = []
        self.steps_of_work = 3
        self.covered = False
        self._work = 0
        self._seen = False
        self._view = TableView(table="Table 7", life="", phase=phase)
        self.go(phase)

    # ── what tests do ───────────────────────────────────────────────────────

    def go(self, phase: str) -> None:
        verbs = frozenset(PHASES[phase]) | ALWAYS
        if phase in ("closed", "inspection due", "out of service"):
            verbs |= TRIALS
        kind, roles = PENDING.get(phase, ("", ()))
        self._view = replace(
            self._view,
            life=_life(phase),
            phase=phase,
            says=f"the table is at {phase}",
            allowed=verbs,
            pending=PendingView(
                kind=kind, round_id=self._view.round_id, values=(3, 4, 5), roles=roles
            )
            if kind
            else None,
        )

    def keyed_answer(self, seed: str) -> str:
        return f"{len(seed):064x}"

    def put(self, **fields: object) -> None:
        self._view = replace(self._view, **fields)  # type: ignore[arg-type]

    def announce(self, announcement: Announcement) -> None:
        for callback in list(self.callbacks):
            callback(announcement)

    def break_down(self) -> None:
        """A jam at night: what a technician finds."""
        self.go("out of service")
        self.put(
            faults=(
                FaultView(
                    code="motor-stall",
                    wall_s=1_790_000_000.0,
                    cause="the motor turned too slowly while driven at 0.62",
                    remedy="switch off, free the cam, look for a foreign body",
                    is_clearable=True,
                ),
            ),
            motor=MotorView(
                rpm=0.0,
                duty=0.0,
                is_enabled=False,
                last_toss_rpm=(0.0, 310.0, 690.0, 720.0, 440.0, 90.0, 0.0),
                last_toss_verdict="stalled",
            ),
        )

    # ── Desk ────────────────────────────────────────────────────────────────

    def view(self) -> TableView:
        view = self._view
        if view.phase in WORK:
            self._work += 1
            if self._work > self.steps_of_work:
                self._finish_work()
        return view

    def submit(self, command: TypedCommand, actor: Actor, *, deadline_s: float = 2.0) -> Answer:
        view = self._view
        if verb(command) not in view.allowed:
            self.refused.append((command, actor))
            return Answer.refused("not-now", f"{command.name}: not while {view.says}")
        if verb(command) in ON_ROUND and command.arguments.get("round") != view.round_id:
            self.refused.append((command, actor))
            return Answer.refused("not-current", f"the round in hand is {view.round_id}")
        self.acts.append((command, actor))
        return self._act(command)

    def note(self, note: Note) -> None:
        self.notes.append(note)

    @property
    def archive(self) -> FakeDesk:
        return self

    def round(self, round_id: int) -> RoundView | None:
        last = self._view.round_id or 0
        return (
            RoundView(facts={"round": round_id, "read": (3, 4, 5)})
            if 1 <= round_id <= last
            else None
        )

    def last(self, count: int) -> tuple[JournalLine, ...]:
        noted = [
            JournalLine(sequence=i, wall_s=1.79e9 + i, kind=note.kind, text=note.actor.name)
            for i, note in enumerate(self.notes)
        ]
        return tuple(noted[-count:])

    def snap(self) -> Parcel:
        if self.covered:
            raise RefusedError("no picture between cover-closed and reveal")
        return Parcel("snap.jpg", JPEG)

    def meters(self) -> Mapping[str, object]:
        return {"rounds": 12, "void rounds": 1, "counted_to_record": 400}

    def statistics(self) -> Mapping[str, object]:
        return {"tosses": 120, "chi-square": {"statistic": 3.1, "p": 0.68}}

    def bundle(self) -> Parcel:
        return Parcel("bundle.tar.gz", b"\x1f\x8b" + bytes(4000))

    def export(self) -> Parcel:
        return Parcel("journal.sealed", bytes(range(256)))

    def fault_codes(self) -> Mapping[str, str]:
        return {"motor-stall": "the shaker stood still while driven"}

    def subscribe(self, callback: Callable[[Announcement], None]) -> Callable[[], None]:
        self.callbacks.append(callback)
        return lambda: self.callbacks.remove(callback)

    # ── the paper ───────────────────────────────────────────────────────────

    def _act(self, command: TypedCommand) -> Answer:
        did = verb(command)
        if did == "inspect seen":
            self._seen = True
        if did == "bets":
            self.put(round_id=(self._view.round_id or 0) + 1)
        if did == "confirm":
            self.put(lamps=LampView(commanded=("big",)), last_result=command.arguments["values"])
        if did == "out-of-order":
            self.go("out of service")
            return Answer.ok("out of service")
        following = PHASES[self._view.phase].get(did)
        if following is None:
            return Answer.ok(f"{did} done")
        self.go(following)
        self._work = 0
        return Answer.ok(f"{did} has begun" if following in WORK else following)

    def _finish_work(self) -> None:
        if self._view.phase == "tossing":
            self.go("awaiting dealer")
        elif not self._seen:
            self.go("to be seen")
            self.put(inspection=InspectionView(stage="seen?", lamps_proved=50, lamps_of=50))
        else:
            self.go("to be signed")
            self.put(inspection=InspectionView(stage="signature?", cycles_good=3))
