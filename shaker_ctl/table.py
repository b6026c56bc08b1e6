"""The composition root: one table, built from its settings, wired, started, stopped.

Owns the order of starting and stopping, and nothing that happens in between. Every collaborator is
made here and nowhere else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import platform
import time
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from shaker_ctl import __version__, libraries, sealed_start
from shaker_ctl.adapters.camera.dice_reader import CameraReader
from shaker_ctl.adapters.clock import SystemClock
from shaker_ctl.adapters.disk import dispute_list, record_tables
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.dispute_list import DisputeList
from shaker_ctl.adapters.disk.journal_copies import (
    OpenedJournal,
    await_media,
    open_copies,
)
from shaker_ctl.adapters.disk.picture_folder import PictureFolder, newest_pictures
from shaker_ctl.adapters.disk.record_tables import TablesReader
from shaker_ctl.adapters.disk.records_watch import RecordsWatch
from shaker_ctl.adapters.disk.shown_journal import ShownRecords
from shaker_ctl.adapters.lines.modbus_lamp import ModbusLamp
from shaker_ctl.adapters.lines.serial_console import consoles
from shaker_ctl.adapters.pins import daemon_network
from shaker_ctl.adapters.pins.gpio_backend import choose, make_pins, read_model
from shaker_ctl.adapters.sd_notify import SdNotifier
from shaker_ctl.console import json_voice
from shaker_ctl.errors import (
    CameraError,
    JournalCorruptError,
    JournalError,
    RefusedError,
    SealError,
    ShakerError,
)
from shaker_ctl.installation import real_table
from shaker_ctl.journal import dice_watch
from shaker_ctl.journal.box_memory import compare_lamp_box
from shaker_ctl.journal.record import Entry, table_mark
from shaker_ctl.journal.recovery import FETCH
from shaker_ctl.motion.reports import DriveEnded, MotionReport
from shaker_ctl.reading import taught_table
from shaker_ctl.rules import blind, commands, events, profile_files, rulebook
from shaker_ctl.rules.paytable import paid
from shaker_ctl.rules.phases import AT_HAND, SHUT, STOPPED
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.regulation import EntryMode
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import FaultKind
from shaker_ctl.seal import fault as seal_fault
from shaker_ctl.seal.answer import approved_list, keyed
from shaker_ctl.seal.examine import Examined
from shaker_ctl.seal.manifest import digest
from shaker_ctl.seal.watch import SealWatch
from shaker_ctl.service import digests, lamp_box, last_end, round_rules, thread_names
from shaker_ctl.service.between_rounds import BetweenRounds
from shaker_ctl.service.dice_log import DiceLog
from shaker_ctl.service.dispatch import Dispatch
from shaker_ctl.service.fault_queue import WORDS, FaultQueue
from shaker_ctl.service.heartbeat import Heartbeat
from shaker_ctl.service.journal_thread import JournalThread
from shaker_ctl.service.lamp_thread import LampThread
from shaker_ctl.service.lid import Lid
from shaker_ctl.service.motion_thread import MotionThread
from shaker_ctl.service.recovery import changed_conditions, may_be_left, standing_faults
from shaker_ctl.service.reminders import Reminders
from shaker_ctl.service.round_rules import recovered
from shaker_ctl.service.self_watch import SelfWatch
from shaker_ctl.service.state_thread import StateThread
from shaker_ctl.service.status_socket import StatusExtras, StatusSocket
from shaker_ctl.service.volume_turns import BETWEEN_ROUNDS, VolumeTurns
from shaker_ctl.service.wall_time import WallTime
from shaker_ctl.settings import Settings
from shaker_ctl.view.announcer import Announcer
from shaker_ctl.view.archive import JournalArchive
from shaker_ctl.view.desk import TableDesk
from shaker_ctl.view.health import read_health
from shaker_ctl.view.table_view import TableFacts
from shaker_ctl.view.why_due import WhyDue

log = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parents[1]


class Table:
    """One table. `start` once, `stop` always; errors of the start leave nothing running."""

    def __init__(self, settings: Settings, source: Path, sealed: Examined) -> None:
        """Check everything that can be checked without opening anything. Raises SettingsError.

        `sealed`: what the examination of the files at `source` gave (`sealed_start`).
        """
        self._settings = settings
        self._sealed = sealed
        self._source = source
        self._clock = SystemClock()
        self._started_s = self._clock.monotonic()
        self._self_watch = SelfWatch(self._clock, settings.service, settings.journal.path)
        self._rulebook = dataclasses.replace(
            rulebook.rulebook(settings.table), own_marks=_own_marks(settings)
        )
        self._taught, self._untaught = _taught(settings)
        if self._rulebook.entry is EntryMode.AUTO:
            taught_table.require_may_enter(settings.camera, self._taught)
        self._announcer = Announcer()
        self._faults = FaultQueue(self._announcer.fault)
        self._stops: list[Any] = []
        self._has_opened = False
        self._is_in_order = True
        self._is_broken_told = False
        self._seal_watch = SealWatch(sealed, source)
        self._was_shut = True
        self._build()

    # ── Building ────────────────────────────────────────────────────────────

    def _build(self) -> None:
        p, clock = self._settings, self._clock
        self._notifier = SdNotifier()
        self._heartbeat = Heartbeat(clock.monotonic, p.service.heartbeat_s)
        pins = make_pins(p.gpio)
        self._link, self._outputs = pins.link, pins.outputs
        self._reader = CameraReader(
            p.camera,
            self._outputs,
            self._post,
            self._seal_watch.check_loaded,
            self._taught.taught if self._taught else b"",
        )
        self._lid = Lid(self._outputs, self._still_for_s, p.gpio.latch_pulse_s)
        self._lamps = LampThread(ModbusLamp(p.lamp, self._rulebook.layout), self._post)
        self._motion = MotionThread(
            motor=pins.motor,
            tach=pins.tach,
            lines=pins.lines,
            link=self._link,
            clock=clock,
            parameters=p.motion,
            state_is_alive=self._heartbeat.is_fresh,
            post=self._post,
            report=self._note_motion,
            alive=self._notifier.alive,
            button=self._button,
            lid_is_released=self._lid.is_released,
        )
        if self._rulebook.covered:
            self._motion.require_cover(True)
        elif self._rulebook.cover_must_be_absent:
            self._motion.require_cover(False)

    def _build_on(self, opened: OpenedJournal) -> None:
        """What needs the journal open: the state thread and all that looks into records."""
        p, clock, journal = self._settings, self._clock, opened.main
        self._digests = self._take_digests()
        digests_by_name = {name: digest for name, digest, _ in self._digests}
        self._rules = round_rules.of_settings(p.table, digests_by_name["profile"])
        found, self._rules_before = recovered(journal, self._rules, self._rulebook)
        self._boot = last_end.text(last_end.BOOT)
        self._before = last_end.last_end(
            journal.milestones(), self._boot, last_end.text(last_end.MANAGERS_WORD)
        )
        for fault in standing_faults(journal.newest_first(), found.state.faults):
            self._faults.raise_(*fault)
        newest_s = datetime.fromisoformat(found.wall).timestamp() if found.wall else None
        self._wall = WallTime(clock, newest_s)
        self._libraries = libraries.deciding(ROOT)
        self._changed = changed_conditions(journal.newest_first(), digests_by_name)
        self._keeper = JournalThread(
            main=journal,
            second=opened.second,
            pictures=PictureFolder(
                p.journal.pictures, p.journal.pictures_mb, self._disputed, self._disputes
            ),
            clock=clock,
            parameters=p.journal,
            digests=digests_by_name,
            on_fault=self._journal_failed,
            run={
                "seal": self._sealed.seal,
                "boot": self._boot,
                dispute_list.KEY: self._disputes.known.plain(),
                round_rules.KEY: self._rules.table,
                **({"teaching": self._taught.words()} if self._taught else {}),
            },
        )
        mark = table_mark(journal.identity)
        self._between_rounds = BetweenRounds(self._keeper, self._lamps, mark)
        self._turns = VolumeTurns(journal, p.journal, self._wall, self._keeper.turn_volume)
        why_due = WhyDue(self._rules_changed())
        self._reminders = Reminders(self._rulebook, self._post, self._announcer.dice)
        tables = TablesReader(record_tables.place(journal.path))
        self._dice = DiceLog(
            tables.dice,
            self._newest_record,
            self._dice_outside,
            lambda until: told.odd_inside() if (told := tables.ledger(until)) else "",
            lambda odd: self._announcer.dice(f"The ledger of dice does not add up: {odd}."),
        )
        self._dispatch = Dispatch(
            table=p.table,
            rulebook=self._rulebook,
            motion=self._motion,
            lamps=self._lamps,
            reader=self._reader,
            outputs=self._outputs,
            wall=self._wall,
            faults=self._faults,
            post=self._post,
            announce=self._announce,
            record_round=self._note_round,
            release_lid=self._lid.release,
            mended=self._mended,
        )
        self._state = StateThread(
            state=found.state,
            rulebook=self._rulebook,
            journal=self._keeper,
            performer=self._dispatch,
            heartbeat=self._heartbeat,
            observers=(
                self._turns.observe,
                self._dice.observe,
                why_due.observe,
                self._announcer.contact,
            ),
            observer_failed=self._observer_failed,
        )
        self._desk = TableDesk(
            TableFacts(
                table_name=p.service.table_name,
                rulebook=self._rulebook,
                state=self._state,
                lamps=self._lamps,
                motion=self._motion,
                reader=self._reader,
                camera=self._reader.camera_view,
                taught=self._words_of_teaching,
                faults=self._faults,
                wall=self._wall,
                journal=self._keeper,
                archive=JournalArchive(
                    ShownRecords(journal),
                    self._keeper.health,
                    tables.counted,
                    volumes=self._records.words,
                    settings=self._source.read_text("utf-8"),
                    versions=self._versions(),
                    pictures=partial(newest_pictures, p.journal.pictures),
                    profile=(self._rulebook.profile.name, digests_by_name["profile"]),
                ),
                health=lambda: read_health(self._wall, self._started_s, p.journal.path.parent),
                digests=self._digests,
                set_light=self._outputs.set_light,
                link=self._link,
                motion_parameters=p.motion,
                check_lid=self._lid.check,
                post=self._post,
                announcer=self._announcer,
                dice=self._dice.figures,
                meters=tables.meters,
                why_due=why_due,
                keyed_answer=self._keyed_answer,
                require_verified=self._require_verified,
            )
        )
        self._announcer.speak_at(self._desk.tell)

    def _rules_changed(self) -> str:
        """From which rules to which, where others hold since the former run; else empty."""
        before, now = self._rules_before, self._rules
        is_changed = before is not None and not before.decides_as(now)
        return f"{before.words()} -> {now.words()}" if before and is_changed else ""

    def _take_digests(self) -> tuple[tuple[str, str, bool], ...]:
        p, model = self._settings, ROOT / "models" / "manifest.toml"
        is_verified = self._sealed.is_verified
        return (
            ("software", digests.of_program(ROOT), is_verified),
            ("model", digest(model), is_verified),
            ("settings", digest(self._source), is_verified),
            ("profile", digests.of_profile(p.table.profile, self._rulebook.profile), is_verified),
            ("calibration", p.camera.calibration_digest(), is_verified),
            ("seal", self._sealed.seal, is_verified),
            *([("teaching", digest(p.camera.teaching), False)] if self._taught else []),
        )

    def _words_of_teaching(self, serials: tuple[str, ...]) -> str:
        """Who taught the table, when and how well, while dice with these serials are in it."""
        return self._taught.words_with(serials) if self._taught else self._untaught

    def _keyed_answer(self, seed: str) -> str:
        """What an inspector is told, from the files as they lie now."""
        own = profile_files.own_files(self._settings.table.profile)
        taught = (self._settings.camera.teaching,) if self._taught else ()
        return keyed(seed, approved_list(others=(self._source, *own, *taught)))

    def _versions(self) -> str:
        """Program, interpreter, system and digests as text, for a bundle."""
        lines = [f"shaker-ctl {__version__}", f"python {platform.python_version()}"]
        lines += [f"{name} {line}" for name, line in self._libraries.items()]
        lines += [platform.platform(), *(f"{name} {digest}" for name, digest, _ in self._digests)]
        return "\n".join(lines) + "\n"

    # ── Life ────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Open everything in order and take up play where the journal left it.

        Raises a leaf of `ShakerError` whose line says what is missing and what to do.
        """
        p = self._settings
        self._stops.append(self._reader.stop)
        self._reader.camera.load()  # takes longest, and touches nothing
        verifying = partial(self._notifier.starting, f"verifying the journal {p.journal.path}")
        await_media(p.journal, partial(self._notifier.starting, "waiting for the journal's media"))
        journal = open_copies(p.journal, verifying)
        self._stops.append(journal.close)
        self._records = RecordsWatch(journal.copies)
        self._records.refuse_a_broken_one()
        sealed_start.check_journal(self._sealed, journal)
        self._disputes = DisputeList(
            p.journal.pictures, dispute_list.known(journal.main.milestones())
        )
        self._disputes.grown()  # since the table stopped; the opening record says it
        self._reader.camera.start()  # first of the outside world: its model has to load yet
        for notice in journal.notices:
            log.warning("%s", notice.line())
        self._build_on(journal)
        self._stops.append(self._close_journal)
        self._keeper.start()
        self._stops.append(self._records.stop)
        self._records.start()
        self._stops.append(self._seal_watch.stop)
        self._stops.append(self._link.close)
        self._link.open()
        identity = self._lamps.meet()
        log.info(
            "lamp box %d: map %d.%d, %d areas",
            identity.serial_number,
            *identity.map_version,
            identity.areas_fitted,
        )
        self._compare_with_lamp_box(journal.main)
        self._stops.append(self._motion.close)
        self._stops.append(self._lid.stop)
        self._state.start()
        self._motion.start()
        self._stops.append(self._state.stop)
        self._stops.append(self._lamps.stop)
        self._lamps.start()
        self._outputs.set_light(1.0)
        self._reader.camera.wait_ready()
        self._record_opening()
        self._post(self._restarted())
        for what in self._changed:
            self._post(events.ConditionChanged(what))
        if code := self._before.fault:
            log.error("%s: %s", code, ". ".join(WORDS[code]))
            self._post(events.ControllerFault(code))
        if self._taught is None:  # no reader: taught, or brought back without it
            log.error("%s: %s", taught_table.FAULT, self._untaught)
            self._post(events.ReaderFault(None, taught_table.FAULT))
        for line in consoles(p.console, self._desk):
            self._stops.append(line.stop)
            line.start()
        status = StatusSocket(p.service.runtime_dir, self.status, self._picture_at_hand)
        self._stops.append(status.stop)
        status.start()
        thread_names.publish()
        self._notifier.ready()
        log.info("ready after %.1f s", self._clock.monotonic() - self._started_s)

    def stop(self) -> None:
        """Motor off first, then everything in the reverse order of its start. Never raises."""
        self._notifier.stopping()
        self._motion.stop("service stopped", for_good=True)
        for end in reversed(self._stops):
            try:
                end()
            except Exception:  # every part must get its end, whatever another does
                log.exception("while stopping")
        self._stops.clear()

    def check(self) -> None:
        """Notice from outside that the state thread lives, and the ground that it stands on.

        Called by the main thread. Raises JournalError where the state thread has ended.
        """
        for code in self._self_watch.look():
            log.error("%s: %s", code, ". ".join(WORDS[code]))
            self._post(events.ControllerFault(code))
        self._records.look()
        if (broken := self._records.broken()) is not None:
            error = JournalCorruptError(broken.line, remedy=FETCH)
            self._halt_between_rounds(error, Entry("journal_broken", {"note": broken.line}))
        self._dice.look()
        self._look_at_the_disputes()
        self._look_at_the_seal()
        self._state.between_events(lambda: self._turns.look(self._state.state.phase))
        state = self._state.state
        self._reminders.look(self._wall.now(), self._wall.trust(), state.dice, manual=state.manual)
        if not self._state.is_alive():
            self._motion.stop("state thread ended")
            self._is_in_order = False
            raise JournalError(
                "the state thread ended", remedy="See the log above; the motor is off; restart"
            )

    def _look_at_the_seal(self) -> None:
        """Examined anew when an inspection begins, and in the background."""
        is_shut = self._state.state.phase in SHUT | STOPPED
        if self._was_shut and not is_shut:
            self._seal_watch.ask()
        self._was_shut = is_shut
        self._seal_watch.look()
        if findings := self._seal_watch.findings:
            error = SealError(
                f"the seal is broken: {findings[0].line()}", remedy=sealed_start.CHECK
            )
            self._halt_between_rounds(error, seal_fault.broken(findings))

    def _look_at_the_disputes(self) -> None:
        """What people add to the list goes on record; a list that lost something is a fault."""
        try:
            if (grown := self._disputes.grown()) is not None:
                entry = grown.entry()
                self._keeper.know_of_run({dispute_list.KEY: grown.plain()})
                self._keeper.append(entry.kind, entry.body)
        except JournalError as error:
            self._journal_failed(error)

    def _require_verified(self) -> None:
        """Raises RefusedError while something is not verified that must be before the opening."""
        self._records.require_proved()
        self._seal_watch.require_verified()

    def _halt_between_rounds(self, error: ShakerError, entry: Entry) -> None:
        """What the table stands on is broken: the round in hand is settled, then the table halts.

        Raises `error` as soon as no round is in hand.
        """
        if not self._is_broken_told:
            self._is_broken_told = True
            log.error("%s", error)
            with contextlib.suppress(JournalError):  # said by the journal's own fault already
                self._keeper.append(entry.kind, entry.body)
            self._post(events.ControllerFault(error.code))
        if self._state.state.phase in BETWEEN_ROUNDS:
            raise error

    def _compare_with_lamp_box(self, journal: DiskJournal) -> None:
        """What the box remembers proves a journal that is cut, rewritten, or another's."""
        self._box = self._lamps.memory()
        finding = compare_lamp_box(lamp_box.journal_memory(journal), self._box)
        if finding is not None and finding.halts:
            raise finding.error()
        # A run may last for months: a start finds the box in the open volume.
        self._keeper.know_of_run({lamp_box.KEY: lamp_box.as_recorded(self._box)})

    def _restarted(self) -> events.Restarted:
        contacts = self._motion.contacts()
        return events.Restarted(
            compartment_open=contacts.compartment_open,
            estop_pressed=contacts.estop_pressed,
            cover_closed=not contacts.cover_open,
            compartment_stayed_locked=contacts.lid_flag_stands and not contacts.compartment_open,
        )

    def _record_opening(self) -> None:
        self._has_opened = True
        facts = {
            "libraries": self._libraries,
            "table": self._settings.service.table_name,
            "day": self._turns.today(),
            "profile": self._rulebook.profile.name,
            "marks": list(self._rulebook.marks),
            **self._keeper.run,
        }
        opening = last_end.opening(self._before, facts)
        self._keeper.append(opening.kind, opening.body)
        if self._rules_before is not None and self._rules_changed():
            sealed = self._sealed.manifest if self._sealed.is_verified else None
            changed = self._rules_before.change_to(self._rules, sealed.by if sealed else "")
            self._keeper.append(changed.kind, changed.body)

    def _close_journal(self) -> None:
        """The last record says that this run was stopped; without it, it died (O-10)."""
        note = "stopped in order" if self._is_in_order else "ended by a fault of its own"
        closing: Entry | None = None
        if self._has_opened:
            facts: dict[str, Any] = {"in_order": self._is_in_order, "note": note}
            facts[lamp_box.KEY] = lamp_box.as_recorded(self._box)
            if not self._state.is_alive() and may_be_left(self._state.recorded):
                facts["state"] = to_record(self._state.recorded)
            closing = Entry(last_end.CLOSING, facts)
        self._keeper.close(last=closing)

    # ── What threads tell each other ────────────────────────────────────────

    def _post(self, event: events.Event, pictures: Any = None) -> None:
        state = getattr(self, "_state", None)
        if state is not None:
            state.post(event, pictures)

    def _still_for_s(self) -> float:
        return self._motion.still_for_s()

    def _button(self) -> None:
        self._post(events.PlayerPressed(self._state.state.round))

    def _disputed(self) -> tuple[int, ...]:
        """The round that dealer and reader disagree on, for the pictures' quota."""
        state = self._state.state
        return (state.round,) if state.phase is Phase.DISPUTED else ()

    def _journal_failed(self, error: JournalError) -> None:
        log.error("%s", error.line())
        self._faults.raise_(FaultKind.CONTROLLER, error.code, self._clock.wall())
        self._post(events.ControllerFault(error.code))

    def _observer_failed(self, error: Exception) -> None:
        """In the state thread: what only looks at its steps has failed, and the table goes on."""
        if not isinstance(error, JournalError):
            error = JournalError(
                f"what follows the table's steps has failed: {error!r}",
                remedy="See the log above and clear the fault; if it comes back, restart the table",
            )
        self._journal_failed(error)

    def _newest_record(self) -> int:
        health = self._keeper.health()
        return health.head.sequence + health.waiting

    def _dice_outside(self, found: str) -> None:
        """The test of the dice has found something; a restart may find what stands already."""
        if self._faults.kind_of(dice_watch.CODE) is None:
            log.error("%s: %s", dice_watch.CODE, found)
            self._announcer.dice(f"The dice are {found}.")
            self._post(events.ShakerFault(None, dice_watch.CODE, found))

    def _mended(self, kind: FaultKind) -> None:
        """A technician says so; where it is not true, the second copy says it again."""
        if kind is FaultKind.CONTROLLER:
            self._keeper.retry_second()

    def _announce(self, said: commands.Announce) -> None:
        self._between_rounds.announced(said)
        self._announcer.notice(said)

    def _note_motion(self, report: MotionReport) -> None:
        if isinstance(report, DriveEnded):
            self._reader.settle(report.occasion)
        else:
            self._announcer.motion(report)

    def _note_round(self, record: commands.RecordRound) -> None:
        """In the journal's thread: the record of a closed round is synced."""
        self._announcer.round_ended(record)
        self._between_rounds.recorded(record)

    # ── Screens ─────────────────────────────────────────────────────────────

    def _picture_at_hand(self) -> bytes:
        """The newest frame, for focusing and cleaning. Raises RefusedError while somebody plays."""
        self._require_at_hand()
        jpeg = self._reader.snap()
        self._require_at_hand()  # it may have been opened meanwhile
        return jpeg

    def _require_at_hand(self) -> None:
        if self._state.state.phase not in AT_HAND:
            raise RefusedError(
                "a live picture is given only while the table is closed or out of service"
            )

    def _is_blind(self) -> bool:
        state = self._state.state
        return blind.awaits_entry(state, self._rulebook.in_use(manual=state.manual))

    def status(self) -> dict[str, Any]:
        """The whole view as plain values, for the status socket."""
        extras: StatusExtras = {
            "areas": list(self._rulebook.areas),
            "odds": paid(self._rulebook.profile, self._rulebook.parameters.paytable),
            "rounds": list(self._announcer.rounds),
            "marks": list(self._rulebook.marks),
            "seal": self._sealed.seal,
            "camera_pid": self._reader.camera.pid,
            "reading": None if self._is_blind() else json_voice.plain(self._reader.last),
            "lamps_asked": json_voice.plain(self._lamps.asked),
            "monotonic_s": time.monotonic(),
        }
        return {**json_voice.plain(self._desk.view()), **extras}


BENCH = "BENCH: other programs reach the motor"


def _taught(settings: Settings) -> tuple[taught_table.TaughtTable | None, str]:
    """What the table was taught, or why it reads as an untaught one."""
    try:
        return taught_table.found(settings.camera), taught_table.UNTAUGHT
    except CameraError as error:
        return None, error.line()


def _own_marks(settings: Settings) -> tuple[str, ...]:
    """Say on every screen and record that a real table's GPIO daemon is open to other programs."""
    by_daemon = choose(settings.gpio.backend, read_model()) == "pigpio"
    is_open = by_daemon and real_table.mark() is not None and not daemon_network.is_private()
    return (BENCH,) if is_open else ()
