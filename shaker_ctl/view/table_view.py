"""One view of the table, composed from what every thread last left.

Owns the composition. No lock is taken that any device's thread holds, nothing waits, and nothing is
judged: the view says what is known, and None where it is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from shaker_ctl.console import desk as console
from shaker_ctl.errors import RefusedError
from shaker_ctl.journal.dice_watch import DiceSoFar
from shaker_ctl.journal.meters import Meters
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.ports import DiceReader, GpioLink
from shaker_ctl.rules import blind, events
from shaker_ctl.rules.commands import RecordRound
from shaker_ctl.rules.regulation import Cited
from shaker_ctl.rules.rulebook import Rulebook, dice_end, out_of_force
from shaker_ctl.rules.state import Phase, TableState
from shaker_ctl.rules.vocabulary import Barrier
from shaker_ctl.service.fault_queue import FaultQueue
from shaker_ctl.service.lamp_thread import LampThread
from shaker_ctl.service.motion_thread import MotionThread
from shaker_ctl.service.state_thread import RecordKeeper, StateThread
from shaker_ctl.service.wall_time import WallTime
from shaker_ctl.view import room, standing, wording
from shaker_ctl.view.announcer import Announcer
from shaker_ctl.view.archive import JournalArchive
from shaker_ctl.view.phase_words import PHASE_WORDS
from shaker_ctl.view.why_due import WhyDue

WITHHELD = "withheld until the dealer has entered"


@dataclass(slots=True)
class TableFacts:
    """Everything that the desk looks at. One record instead of a dozen parameters."""

    table_name: str
    rulebook: Rulebook
    state: StateThread
    lamps: LampThread
    motion: MotionThread
    reader: DiceReader
    camera: Callable[[], console.CameraView]
    taught: Callable[[tuple[str, ...]], str]
    """Who taught the table, when and how well, while dice with these serials are in it."""
    faults: FaultQueue
    wall: WallTime
    journal: RecordKeeper
    archive: JournalArchive
    health: Callable[[], console.HealthView]
    digests: tuple[tuple[str, str, bool], ...]
    set_light: Callable[[float], None]
    link: GpioLink
    motion_parameters: MotionParameters
    announcer: Announcer
    """Knows how the newest powered run ended, and the newest round that is over."""
    dice: Callable[[], DiceSoFar | None]
    """What the records say of the dice; None while they are being counted."""
    meters: Callable[[], Meters | None]
    """Counters since they were last cleared; None while there are no tables."""
    check_lid: Callable[[], None]
    """Raises `RefusedError` while the shaker is not at rest."""
    post: Callable[[events.Event], None]
    """Leaves an event of the desk's own: a light that a technician has changed."""
    why_due: WhyDue
    keyed_answer: Callable[[str], str]
    require_verified: Callable[[], None] = lambda: None
    """Raises RefusedError while a closed volume of the journal or the seal is not verified."""
    monotonic: Callable[[], float] = time.monotonic
    stood: tuple[object, float] = (None, 0.0)
    """Where the table stood at the newest view, and since when (wall time)."""
    facts: tuple[tuple[str, str, str], ...] = field(init=False)
    """Every cited value of the profile as (what, value, clause): put into words once."""

    def __post_init__(self) -> None:
        self.facts = tuple(_facts(self.rulebook))


def compose(c: TableFacts, allowed: frozenset[str]) -> console.TableView:
    """Return the table as it stands now; `allowed`: the verbs that the rules would take."""
    state = c.state.state
    rules = c.rulebook.in_use(manual=state.manual)
    life = standing.life(state)
    bars = barrier(c, state) if state.phase in standing.BETWEEN else None
    return console.TableView(
        table=c.table_name,
        life=life,
        phase=state.phase.value.replace("_", " ") if life == "open" else "",
        says=says(c, state, bars),
        room=room.room(state, rules, c.announcer.last_round, bars),
        marks=rules.marks,
        round_id=state.round or None,
        # Those of an inspection's lamp entries have no source: nobody read them.
        last_result=None if state.source is None else state.values,
        last_ended=_last_ended(c.announcer.last_round, state),
        pending=standing.pending(state, rules.entry, rules.presence),
        next_step=standing.next_step(
            state,
            tuple(f.code for f in c.faults.standing()),
            bars,
            frozenset() if rules.autonomous else allowed,
            rules.retire_steps if rules.attended else frozenset(),
        ),
        since_s=_since(c, state),
        profile=_profile(c),
        faults=tuple(
            console.FaultView(
                code=f.code, wall_s=f.wall_s, cause=f.cause, remedy=f.remedy, is_clearable=True
            )
            for f in c.faults.standing()
        ),
        lamps=_lamps(c),
        motor=_motor(c),
        camera=_camera(c, is_blind=blind.awaits_entry(state, rules)),
        dice=_dice(c, state),
        journal=c.archive.view(),
        inspection=standing.inspection(
            state, rules, tried=c.lamps.picture.tried, because=c.why_due.words
        ),
        health=c.health(),
        digests=c.digests,
        allowed=allowed,
    )


def barrier(c: TableFacts, state: TableState) -> Barrier | None:
    """Return why no round would start now, by the clock: the rules, asked before anybody asks."""
    wall = c.wall
    return c.rulebook.in_use(manual=state.manual).bars(
        wall.now(),
        wall.trust(),
        wall.stands_behind_records,
        state.dice,
        in_doubt=state.dice_in_doubt,
    )


def says(c: TableFacts, state: TableState, bars: Barrier | None = None) -> str:
    """Return the state, what bars a round and the first fault, each as a sentence."""
    parts = [PHASE_WORDS[state.phase].staff]
    if state.multipliers_shown:
        parts.append(f"Multipliers in force: {wording.odds(state.multipliers)}.")
    if bars := (bars or state.barred):
        rules = c.rulebook.in_use(manual=state.manual)
        parts.append(f"No round starts: {rules.explain(bars)}.")
    if faults := c.faults.standing():
        parts.append(f"{faults[0].code}: {faults[0].cause}.")
    return " ".join(parts)


# ── Pieces ──────────────────────────────────────────────────────────────────


def _since(c: TableFacts, state: TableState) -> float:
    where = (state.phase, state.purpose, state.round, state.serial)
    if c.stood[0] != where:
        c.stood = (where, c.wall.now().timestamp())
    return c.stood[1]


def _last_ended(record: RecordRound | None, state: TableState) -> str:
    if state.phase is Phase.WITHOUT_RESULT and state.ending is not None:  # on record when settled
        return wording.without_result(state.ending, state.cause)
    return wording.ended(record) if record is not None and record.round == state.round else ""


def _profile(c: TableFacts) -> console.ProfileView:
    profile = c.rulebook.profile
    return console.ProfileView(
        key=profile.name,
        title=profile.title,
        instrument=profile.instrument,
        paytable=c.rulebook.parameters.paytable,
        entry_mode=c.rulebook.entry.value,
        nmb_before=c.rulebook.nmb_before.value,
        attendance="attended" if c.rulebook.attended else "unattended",
        is_in_force=out_of_force(profile, profile.day(c.wall.now())) is None,
        facts=c.facts,
    )


def _facts(rulebook: Rulebook) -> Iterator[tuple[str, str, str]]:
    for section in type(rulebook.profile).model_fields:
        part = getattr(rulebook.profile, section)
        for key in getattr(type(part), "model_fields", {}):
            value = getattr(part, key)
            if isinstance(value, Cited):
                yield f"{section}.{key}", _words(value.value), value.clause


def _words(value: object) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list | set | frozenset):
        return ", ".join(_words(item) for item in value) or "none"
    return str(value).replace("_", " ")


def _camera(c: TableFacts, *, is_blind: bool) -> console.CameraView:
    held, view = c.state.state.dice, c.camera()
    view = replace(view, taught=c.taught(held.serials if held else ()))
    return replace(view, last_reading=WITHHELD) if is_blind else view


def _lamps(c: TableFacts) -> console.LampView:
    picture, laid = c.lamps.picture, c.rulebook.layout.in_order
    status, seen_s = picture.status, picture.seen_at_s
    if status is None or seen_s is None:
        return console.LampView(box=picture.fault or "the lamp box has not answered yet")
    return console.LampView(
        commanded=laid(picture.commanded),
        measured=laid(status.glowing),
        broken=laid(status.open_bulbs | status.stuck_bulbs),
        phase=picture.phase.value.replace("_", " ") if picture.phase else "",
        is_healthy=not picture.fault and status.is_healthy,
        box=picture.fault or f"{status.state.name.lower()}, supply {status.supply_v:.1f} V",
        age_s=c.monotonic() - seen_s,
        reply_ms=picture.line.reply_ms,
        slowest_ms=picture.line.slowest_ms,
        repeats=picture.line.repeats,
        tried=picture.tried,
        to_try=picture.to_try,
        failed=picture.failed,
    )


def _motor(c: TableFacts) -> console.MotorView:
    figures = c.motion.figures()
    trace, last = figures.trace, c.announcer.last_run
    trouble = c.link.trouble()
    return console.MotorView(
        rpm=figures.speed_rpm,
        duty=figures.duty,
        is_enabled=figures.activity == "driving",
        last_toss_rpm=tuple(round(rpm, 1) for _, rpm in trace[:: max(1, len(trace) // 60)]),
        last_toss_s=trace[-1][0] if trace else None,
        last_toss_is_over=figures.activity == "idle",
        last_toss_verdict=wording.run(last) if last else "",
        interlocks=_contacts(c),
        link="connected" if trouble is None else str(trouble),
    )


def _contacts(c: TableFacts) -> tuple[tuple[str, str], ...]:
    try:
        contacts = c.motion.contacts()
    except RefusedError:
        return ()
    return (
        ("compartment", "open" if contacts.compartment_open else "closed and locked"),
        ("cover", "open" if contacts.cover_open else "closed"),
        ("e-stop", "pressed" if contacts.estop_pressed else "released"),
        ("driver fault", "raised" if contacts.driver_fault else "none"),
        ("button", "pressed" if contacts.button_pressed else "released"),
    )


def _dice(c: TableFacts, state: TableState) -> console.DiceView:
    told = c.dice()
    counting = "still being counted"
    known = console.DiceView(
        tosses=None if told is None else told.worn.tosses,
        wear=counting if told is None else told.worn.line(),
        test=counting if told is None else told.watch.line(),
    )
    if state.dice is None:
        return known
    rules = c.rulebook.in_use(manual=state.manual)
    end = dice_end(state.dice.installed_at, rules.dice_age)
    return replace(
        known,
        serials=state.dice.serials,
        age_s=(c.wall.now() - state.dice.installed_at).total_seconds(),
        limit_s=None if end is None else (end - state.dice.installed_at).total_seconds(),
    )
