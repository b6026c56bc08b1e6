"""What a console may ask of the table, and the only things it can hand over.

The service stands behind `Desk`; consoles hold nothing else of it. Owns the question and answer
types; must not know threads, lines or words on a screen.

Theory of operation. `view()` is a finished snapshot that the state thread leaves in one
attribute after each turn: reading it takes no lock and cannot wait, so `status` answers in
every state. `submit()` is the only way in: a typed command makes a rules event (`grammar.FORMS`),
`step` decides, the journal records, and the service answers. An act carries what a person said,
never what the table shall show: the rules alone decide (O-16). Long work (a jog, the lamp walk)
is accepted at once and watched through `TableView.life` and `TableView.inspection`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Protocol

from shaker_ctl.console.grammar import TypedCommand
from shaker_ctl.frozen import frozen
from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.vocabulary import Role

NOTHING: Mapping[str, object] = MappingProxyType({})


@frozen
class Actor:
    """A person who gave the passphrase, or (role None) nobody in particular."""

    name: str
    role: Role | None
    port: str
    """Name of the console in the settings, e.g. `technician`."""
    number: str = ""
    """Of the person's credential."""


# ── What goes in ────────────────────────────────────────────────────────────


@frozen
class Answer:
    """What the table said. `code` is `ok`, or a stable reason of refusal; nothing in between."""

    code: str
    text: str
    details: Mapping[str, object] = field(default_factory=lambda: NOTHING)

    @property
    def is_ok(self) -> bool:
        return self.code == "ok"

    @classmethod
    def ok(cls, text: str, **details: object) -> Answer:
        return cls("ok", text, details)

    @classmethod
    def refused(cls, code: str, text: str) -> Answer:
        return cls(code, text)


@frozen
class Note:
    """Something about the console itself for the record: never a passphrase, never raw input.

    Kinds: `login`, `login-refused`, `login-locked`, `logout`, `idle-logout`, `console-lost`,
    `log bundle` and `export` (a file was handed over), and each act on a device that is no part of
    the table's state, with its answer.
    """

    kind: str
    actor: Actor
    text: str = ""


# ── What comes out ──────────────────────────────────────────────────────────
# None always means "not known now", and is shown as such; it never means zero.


@frozen(kw_only=True)
class ProfileView:
    """The rule text in force and what it decides."""

    key: str = ""
    title: str = ""
    instrument: str = ""
    paytable: str = ""
    entry_mode: str = ""
    nmb_before: str = ""
    attendance: str = ""
    is_in_force: bool | None = None
    facts: tuple[tuple[str, str, str], ...] = ()
    """(what, value, clause), for `profile`."""


@frozen(kw_only=True)
class FaultView:
    """One entry of the fault queue."""

    code: str
    wall_s: float
    """Wall time of the first occurrence, seconds since 1970."""
    cause: str
    remedy: str
    is_clearable: bool = False
    """Whether `fault clear CODE` is what comes next."""


@frozen(kw_only=True)
class LampView:
    """Areas by their names; `broken` are areas whose bulb measured otherwise than commanded."""

    commanded: tuple[str, ...] = ()
    measured: tuple[str, ...] | None = None
    broken: tuple[str, ...] = ()
    phase: str = ""
    box: str = ""
    """Identity and health of the lamp box in words."""
    is_healthy: bool = False
    """By its own newest word, and without a fault of the line to it."""
    age_s: float | None = None
    """How old the last answer of the box is."""
    reply_ms: float | None = None
    slowest_ms: float | None = None
    """Median and longest time of its last replies."""
    repeats: int = 0
    """Steps that had to be said again since the start."""
    tried: int = 0
    to_try: int = 0
    """Of the walk over lamps in hand, or of the last one: areas proved, and areas asked for."""
    failed: str = ""
    """Which area that walk ended at, and how."""


@frozen(kw_only=True)
class MotorView:
    """The shaker's drive."""

    rpm: float | None = None
    duty: float | None = None
    """0.0-1.0."""
    current_a: float | None = None
    """Amperes; None where the table has nothing that measures it."""
    is_enabled: bool | None = None
    last_toss_rpm: tuple[float, ...] = ()
    """Speeds of the last powered run, a toss or a jog, at even spacing."""
    last_toss_s: float | None = None
    """How long it lasted, to standstill."""
    last_toss_is_over: bool = True
    """False until standstill: the speeds are those so far."""
    last_toss_verdict: str = ""
    """How it ended, or why the one asked for last was not begun."""
    interlocks: tuple[tuple[str, str], ...] = ()
    """(contact, state) in words."""
    link: str = ""
    """The GPIO daemon in words: connected, hung, gone."""


@frozen(kw_only=True)
class CameraView:
    """The reader's eye."""

    fps: float | None = None
    exposure: str = ""
    sharpness: float | None = None
    brightness: float | None = None
    late_frames: int | None = None
    last_reading: str = ""
    """In words: `round 41: 3 5 6 verified (0.999)`, or the refusal."""
    state: str = ""
    taught: str = ""
    """Who taught the table its dice, when, and how much of these tosses it reads; or why not."""


@frozen(kw_only=True)
class DiceView:
    """The three dice in the compartment."""

    serials: tuple[str, ...] = ()
    age_s: float | None = None
    limit_s: float | None = None
    tosses: int | None = None
    wear: str = ""
    test: str = ""
    """What the sequential test of their values has found, or how far it is."""


@frozen(kw_only=True)
class JournalView:
    """The record."""

    sequence: int | None = None
    head: str = ""
    second_copy: str = ""
    state: str = ""
    volumes: str = ""
    """How far the closed volumes are verified, in words."""


@frozen(kw_only=True)
class InspectionView:
    """How far the opening (or shift) inspection has come."""

    stage: str = ""
    """`due`, `values?`, `lamp entries`, `seen?`, `lamp walk`, `walk paused`, `multiplier displays`,
    `cycle?`, `cycles`, `tossed?`, `signature?`, `signed`."""
    reasons: tuple[str, ...] = ()
    """Why one is due."""
    entries_seen: int = 0
    entries_of: int = 3
    unseen: tuple[str, ...] = ()
    """What no entry has shown yet, in words: the house's care."""
    lamps_proved: int = 0
    lamps_of: int = 0
    lamps_seen_by: str = ""
    cycles_good: int = 0
    cycles_of: int = 3
    signed_by: str = ""
    signer_role: str = ""
    """Role that this profile asks for."""


@frozen(kw_only=True)
class HealthView:
    """The computer itself."""

    temperature_c: float | None = None
    throttled: tuple[str, ...] | None = None
    """What is wrong with the supply and the processor's speed; None: nothing tells."""
    disk_free_b: int | None = None
    memory_free_b: int | None = None
    uptime_s: float | None = None
    wall_s: float | None = None
    clock_trust: str = ""


@frozen(kw_only=True)
class PendingView:
    """What the table waits for a person to say. Idle logout never drops it."""

    kind: str
    """`confirm`, `enter`, `in-view`, `decide`, `presence`, `settled`, `lamps-off`, `sign`,
    `values`, `seen`, `on`, `cycle`, `tossed`."""
    round_id: int | None
    values: Values | None = None
    """The reading to be confirmed, where there is one."""
    roles: tuple[Role, ...] = ()
    text: str = ""


@frozen(kw_only=True)
class RoomView:
    """What everybody in the room may read: no reading before it is announced, and no names."""

    says: str = ""
    """The round in one sentence: `Place your bets.`"""
    are_bets_open: bool = False
    scene: str = "board"
    """What the sign makes large: `board`, `call` (the sentence), `dice` (or what is called)."""
    multipliers: tuple[tuple[str, str], ...] = ()
    """Areas with the odds in force that are shown there: `("one-4", "2 dice: 7 to 1")`."""
    call: str = ""
    """In the place of a result: `void`, `no roll`, `dispute`, `by hand`, ...; empty in play."""
    wagers: str = ""
    """What happens to the wagers of a round without a result."""
    clause: str = ""
    """That says so."""
    shape: str = "square"
    """`circle`: play; `square`: calm; `triangle`: somebody is waited for; `cross`: no result."""


@frozen(kw_only=True)
class TableView:
    """Everything the read commands show, as of one turn of the state thread."""

    table: str
    life: str
    """`closed`, `inspection due`, `opening inspection`, `shift inspection`, `inspected`, `open`,
    `trial`, `out of service`."""
    phase: str = ""
    """Of the round: `bets open`, `no more bets`, `tossing`, ...; empty between rounds."""
    says: str = ""
    """The state and what is waited for, in one sentence, for staff."""
    room: RoomView = field(default_factory=RoomView)
    marks: tuple[str, ...] = ()
    """`DEMONSTRATION`, `RESTS ON NO INSTRUMENT`, `AUTO ENTRY: ...`: on every screen."""
    round_id: int | None = None
    last_result: Values | None = None
    """Of the round in hand."""
    last_ended: str = ""
    """How `round_id` ended, in words: `settled by hand: 1 5 5`; empty while it goes on."""
    pending: PendingView | None = None
    next_step: str = ""
    """What brings the table on, and who does it, while nobody plays and nothing is under way."""
    since_s: float | None = None
    """Wall time from which on the table has stood where it is."""
    profile: ProfileView = field(default_factory=ProfileView)
    faults: tuple[FaultView, ...] = ()
    lamps: LampView = field(default_factory=LampView)
    motor: MotorView = field(default_factory=MotorView)
    camera: CameraView = field(default_factory=CameraView)
    dice: DiceView = field(default_factory=DiceView)
    journal: JournalView = field(default_factory=JournalView)
    inspection: InspectionView = field(default_factory=InspectionView)
    health: HealthView = field(default_factory=HealthView)
    digests: tuple[tuple[str, str, bool], ...] = ()
    """(what, SHA-256 in hex, verified)."""
    allowed: frozenset[str] = frozenset()
    """Verbs that the rules would take now, whoever asks; `help` shows them."""


@frozen(kw_only=True)
class RoundView:
    """One round, also an unfinished one."""

    facts: Mapping[str, object]
    """What the journal tells of it, each fact by its name."""
    events: tuple[tuple[float, str], ...] = ()
    """(wall time in s, what happened), oldest first."""


@frozen(kw_only=True)
class JournalLine:
    """One record, for reading."""

    sequence: int
    wall_s: float
    kind: str
    text: str


@frozen
class Parcel:
    """A file that goes over the line: a picture, a bundle, an export."""

    name: str
    """A plain file name without folders."""
    content: bytes


@frozen
class Announcement:
    """Something a console may say unasked."""

    kind: str
    """Stable word for scripts: `state`, `round`, `fault`, `interlock`, `lockout`, `job`, ..."""
    text: str
    is_alarm: bool = False
    """Alarms reach people who are not logged in, too."""
    fields: Mapping[str, object] = field(default_factory=lambda: NOTHING)


class Archive(Protocol):
    """What the journal tells. Each method may read the disk, and raises `ShakerError`."""

    def round(self, round_id: int) -> RoundView | None:
        """Look a round up; None where there is none."""

    def last(self, count: int) -> tuple[JournalLine, ...]:
        """The newest records, oldest first, at most `count`."""

    def statistics(self) -> Mapping[str, object]:
        """Figures on outcomes and on the shake (O-17, O-18), labels in words."""

    def bundle(self) -> Parcel:
        """Journal slice, settings without secrets, versions, last pictures, as one archive."""

    def export(self) -> Parcel:
        """The sealed journal, for an inspector."""


class Desk(Protocol):
    """The table as a console meets it. Every method may be called from any console's thread."""

    @property
    def archive(self) -> Archive: ...

    def view(self) -> TableView:
        """Return the newest snapshot: no lock, no wait, never raises."""

    def submit(self, command: TypedCommand, actor: Actor, *, deadline_s: float = 2.0) -> Answer:
        """Hand an act to the rules and wait until it is recorded, at most `deadline_s`.

        Returns a refusal with code `no-answer` when the deadline passes (the act may still
        happen: ask `status`). Does not raise.
        """

    def note(self, note: Note) -> None:
        """Put something about the console on record; does not wait, does not raise."""

    def snap(self) -> Parcel:
        """A small JPEG of now; raises `RefusedError` between cover-closed and reveal."""

    def meters(self) -> Mapping[str, object]:
        """Counters since they were last cleared, when, and by whom; raises `ShakerError`."""

    def keyed_answer(self, seed: str) -> str:
        """HMAC-SHA256 under `seed` over the digests of what decides, read anew; raises OSError."""

    def fault_codes(self) -> Mapping[str, str]:
        """Every code that the fault queue may show, with its cause in words; does not wait."""

    def subscribe(self, callback: Callable[[Announcement], None]) -> Callable[[], None]:
        """Call back with each announcement, from any thread; returns the way to end it.

        The callback returns at once and does not raise.
        """
