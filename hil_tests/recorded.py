"""A journal of many rounds, some seconds each: `python -m hil_tests.recorded FOLDER --rounds 200`.

Owns a table without a rig's clock. The product's own state thread, rules, journal, pictures and
reader work as they do at a table; the dice are tossed by the rig's physics and seen by its camera.
Motor, lamps and people answer at once and without errors. The journal has the form of any other,
for `shaker-ctl journal replay` and for other tools that need many rounds.
"""

from __future__ import annotations

import dataclasses
import queue
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import cv2
import numpy as np
import tomlkit
import typer

from hil_tests.reader.tosses import RigCamera, tosses
from hil_tests.rig.plant.geometry import GEOMETRIES
from hil_tests.table_under_test.table import ENTRIES
from shaker_ctl import settings as settings_file
from shaker_ctl.adapters.clock import SystemClock
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.disk.picture_folder import PictureFolder
from shaker_ctl.errors import JournalError
from shaker_ctl.ports import Pictures
from shaker_ctl.reading.kept_picture import kept
from shaker_ctl.reading.parameters import CalibrationParameters
from shaker_ctl.rules import commands, events, machine
from shaker_ctl.rules.rulebook import Rulebook, rulebook
from shaker_ctl.rules.vocabulary import (
    FaultKind,
    Notice,
    Occasion,
    Person,
    Role,
    Timer,
    TimeTrust,
    TossPlan,
    TossProof,
)
from shaker_ctl.service.heartbeat import Heartbeat
from shaker_ctl.service.journal_thread import JournalThread
from shaker_ctl.service.state_thread import StateThread
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.overlay import draw_reading
from vision.reading import Verdict
from vision.table.consensus import agree, refuse
from vision.table.reader import TableReader

FAY = Person("fay", Role.FLOORPERSON)
DAN = Person("dan", Role.DEALER)
TOM = Person("tom", Role.TECHNICIAN)

PLAN = TossPlan(720.0, 3.0, "steady")
PROOF = TossProof(3.0, 700.0, 740.0, 36.0)
PACED = frozenset({Timer.LOOK, Timer.BETTING, Timer.SETTLING, Timer.PAYOUT, Timer.MIN_ROUND})
"""Times that only let people do their part; nobody needs them here."""

BAD_CYCLES = "inspection-cycles"
"""Code of an inspection with three bad cycles in a row: dice that lean on the rough compartment's
ridges make them without any fault of the shaker."""

_MAX_FRAMES = 30
_STUCK_S = 120.0


class RecordedTable:
    """One table in one folder. `play` it, then look at its journal."""

    def __init__(self, folder: Path, *, compartment: str = "standard", seed: int = 1) -> None:
        """Write the settings and open the journal. `compartment`: one of the rig's geometries."""
        folder.mkdir(parents=True, exist_ok=True)
        geometry = GEOMETRIES[compartment]
        self.folder = folder
        self.config = folder / "settings.toml"
        self._camera = RigCamera(geometry, "white", seed)
        self._tosses = tosses(geometry, seed)
        self._toss = next(self._tosses)
        self._chance = np.random.default_rng(seed)
        self._write_settings()
        self._settings = settings_file.load(self.config)
        self._rulebook: Rulebook = rulebook(self._settings.table)
        cv2.setNumThreads(1)
        self._reader = TableReader(DieFinder(), self._camera.calibration)
        self._work: queue.SimpleQueue[commands.Command | None] = queue.SimpleQueue()
        self._wanted = 0
        self._done = threading.Event()
        self._failure: BaseException | None = None
        self._fault: tuple[FaultKind, str] | None = None
        self.rounds = 0
        self.endings: list[str] = []

    def _write_settings(self) -> None:
        camera = dataclasses.asdict(self._camera.calibration)
        settings: dict[str, Any] = {
            "table": {
                "profile": "pa-625a",
                "entry_mode": "auto",
                "approval": "none: rounds recorded without a table",
                "as_demonstration": True,
                "autonomous": True,
            },
            "camera": {
                "calibration": {
                    "measured": "by a card that was never laid: a scene was measured",
                    **{k: camera[k] for k in CalibrationParameters.model_fields if k in camera},
                }
            },
            "journal": {
                "path": str(self.folder / "journal.jsonl"),
                "second": str(self.folder / "journal-second.jsonl"),
                "pictures": str(self.folder / "pictures"),
                "sync_deadline_s": 30.0,
                "second_lag_s": 600.0,
            },
        }
        self.config.write_text(tomlkit.dumps(settings), "utf-8")

    # ── Playing ─────────────────────────────────────────────────────────────

    def play(self, rounds: int, progress: Callable[[int], None] = lambda _: None) -> None:
        """Open the table, play so many rounds, and close the journal.

        Raises RuntimeError where the table stops by itself.
        """
        self._wanted, self._progress = rounds, progress
        clock = SystemClock()
        opened = open_copies(self._settings.journal)
        kept = self._settings.journal
        keeper = JournalThread(
            main=opened.main,
            second=opened.second,
            pictures=PictureFolder(kept.pictures, kept.pictures_mb),
            clock=clock,
            parameters=kept,
            digests={"seal": "unsealed"},
            on_fault=self._journal_failed,
        )
        self._state = StateThread(
            state=machine.initial(self._rulebook),
            rulebook=self._rulebook,
            journal=keeper,
            performer=self,
            heartbeat=Heartbeat(clock.monotonic, 0.1),
        )
        devices = threading.Thread(target=self._answer_all, name="devices", daemon=True)
        keeper.start()
        self._state.start()
        devices.start()
        try:
            self._open_table()
            last = -1
            while not self._done.wait(_STUCK_S):
                if self.rounds == last:
                    raise RuntimeError(f"no round ended: {self._state.state.phase}")
                last = self.rounds
            if self._failure is not None:
                raise RuntimeError("a device failed") from self._failure
        finally:
            self._state.stop()
            self._work.put(None)
            devices.join(10)
            keeper.close(60.0)
            opened.close()

    def _open_table(self) -> None:
        post = self._state.post
        post(events.Restarted(False, False, False))
        installed = datetime.now(UTC) - timedelta(hours=1)
        post(events.DiceChanged(TOM, ("1", "2", "3"), installed))
        self._inspect()

    def _inspect(self) -> None:
        self._entries = iter(ENTRIES)
        self._state.post(events.InspectionRequested(FAY))

    def _journal_failed(self, error: JournalError) -> None:
        self._failure = error
        self._done.set()

    # ── Devices and people, who answer at once ──────────────────────────────

    def perform(self, command: commands.Command) -> None:
        """The performer's side: in the journal's thread, so only handed over."""
        self._work.put(command)

    def timer_length_s(self, timer: Timer) -> float:
        """Nobody needs time here; a deadline of a device stays as it is."""
        return 0.0 if timer in PACED else max(_STUCK_S, self._settings.table.seconds(timer))

    def _answer_all(self) -> None:
        while (command := self._work.get()) is not None:
            try:
                self._answer(command)
            except Exception as error:  # noqa: BLE001 - told by `play`, in its own thread
                self._failure = error
                self._done.set()

    def _answer(self, command: commands.Command) -> None:
        post = self._state.post
        match command:
            case commands.CheckTime(occasion):
                post(events.TimeChecked(occasion, datetime.now(UTC), TimeTrust.RTC))
            case commands.DrawTossPlan(occasion):
                post(events.TossPlanDrawn(occasion, PLAN, datetime.now(UTC)))
            case commands.ProveLampsDark(occasion):
                post(events.LampsProvedDark(occasion, time.monotonic()))
            case commands.StartToss(occasion):
                self._toss = next(self._tosses)
                post(events.TossStarted(occasion))
                post(events.TossSettled(occasion, PROOF))
            case commands.StartReading(occasion):
                post(events.AtRest(occasion))
                verdict, pictures = self._read()
                post(events.ReadingMade(occasion, verdict), pictures)
            case commands.PushLamps(occasion, values):
                post(events.LampsShown(occasion, values))
            case commands.ClearLamps(occasion):
                post(events.LampsDark(occasion))
            case commands.ProveEachLamp(occasion, areas):
                post(events.EachLampProved(occasion, areas))
            case commands.RaiseFault(kind, code):
                self._fault = (kind, code)
            case commands.Announce(occasion, notice):
                self._hear(occasion, notice)
            case commands.RecordRound(ending=ending):
                self.rounds += 1
                self.endings.append(ending.value)
                self._progress(self.rounds)
                if self.rounds >= self._wanted:
                    self._done.set()
            case _:
                pass

    def _hear(self, occasion: Occasion, notice: Notice) -> None:
        """What a floorperson or dealer does on hearing this."""
        post, number = self._state.post, occasion.number
        match notice:
            case Notice.LAMP_VALUES:
                chosen = next(self._entries, None)
                post(events.LampValuesEntered(FAY, chosen) if chosen else events.WalkRequested(FAY))
            case Notice.SAY_SEEN | Notice.LAMPS_SEEN:
                post(events.LampsSeen(FAY))
            case Notice.CYCLE:
                post(events.CycleRequested(FAY))
            case Notice.CYCLE_SEEN:
                post(events.CycleJudged(FAY, tossed=True))
            case Notice.SIGN:
                post(events.Signed(FAY, datetime.now(UTC)))
            case Notice.INSPECTED:
                post(events.OpenRequested(FAY))
            case Notice.OUT_OF_SERVICE if self._fault == (FaultKind.SHAKER, BAD_CYCLES):
                self._inspect_again()
            case Notice.OUT_OF_SERVICE:
                raise RuntimeError(f"the table went out of service in {occasion}: {self._fault}")
            case Notice.ENTER if self._toss.truth == "not flat":
                post(events.NoRollCalled(DAN, number))
            case Notice.ENTER | Notice.ENTER_AGAIN:
                first, second, third = self._toss.values
                post(events.ValuesEntered(DAN, number, (first, second, third)))
            case _:
                pass

    def _inspect_again(self) -> None:
        """Three cycles in a row fell not flat: a technician finds the shaker well."""
        post = self._state.post
        post(events.FaultCleared(TOM, FaultKind.SHAKER))
        post(events.ReturnRequested(TOM))
        self._inspect()

    def _read(self) -> tuple[Verdict, Pictures]:
        """As the camera process reads a toss at rest: frames until enough of them agree."""
        seen, observed = None, []
        verdict: Verdict | None = None
        for number in range(_MAX_FRAMES):
            picture = self._camera.picture(self._toss, self._light(number))
            frame = kept(Frame(picture, number / 30, number))
            seen = self._reader.look(frame, 3)
            observed.append(seen.observation)
            if (consensus := agree(observed)) is not None:
                verdict = consensus.verdict
                break
        verdict = verdict or refuse(observed)
        assert seen is not None
        overlay = draw_reading(frame.image, seen.observation, verdict)
        return verdict, Pictures(frame.jpeg, kept(Frame(overlay)).jpeg)

    def _light(self, number: int) -> float:
        return float(self._chance.uniform(0.6, 0.75)) if number < 1 else 1.0


def main(
    folder: Annotated[Path, typer.Argument(help="New, for settings, journal, pictures.")],
    rounds: Annotated[int, typer.Option(min=1, help="Rounds to play.")] = 200,
    compartment: Annotated[
        Literal["standard", "narrow", "rough", "littered"],
        typer.Option(help="Where the dice fall."),
    ] = "standard",
    seed: Annotated[int, typer.Option(min=0, help="Of the tosses.")] = 1,
) -> None:
    """Record rounds; print how they ended. Status 2 where the folder cannot be used."""
    try:
        table = RecordedTable(folder, compartment=compartment, seed=seed)
    except OSError as error:
        raise typer.BadParameter(f"{folder} cannot be used ({error}); name a new folder") from error

    def tell(played: int) -> None:
        if played % 20 == 0:
            typer.echo(f"{played} rounds", err=True)

    table.play(rounds, tell)
    counts = {ending: table.endings.count(ending) for ending in sorted(set(table.endings))}
    typer.echo(f"{table.rounds} rounds in {folder}: {counts}")


if __name__ == "__main__":
    typer.run(main)
