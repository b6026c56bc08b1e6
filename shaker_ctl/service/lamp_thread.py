"""The thread that talks to the lamp box: it performs commands and watches the box between them.

Owns the order of lamp work (darkening goes first) and the watch on the link. Must not decide what
is lit, nor what a fault means for the round: it answers with rules events.

While there is no other work, the watch asks for the box's status every `WATCH_S`. It posts a fault
once, with no occasion. It posts the fault again only after the box was healthy.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import field, replace

from shaker_ctl.errors import LampAnchorError, LampError
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.box_memory import BoxMemory
from shaker_ctl.journal.record import Anchor
from shaker_ctl.lamp.registers import DEMONSTRATION, BoxState, LampIdentity, LampPhase, LampStatus
from shaker_ctl.ports import LampBox, LampLine
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.outcome import Area, Values
from shaker_ctl.rules.vocabulary import Multiplied, Occasion, Purpose, ShownPhase, WalkStep

log = logging.getLogger(__name__)

RENEW_S = 4.0
"""Time, in seconds, after which a lamp that stays lit in a walk is commanded again. The box ends a
test that is not renewed for 10 s (REGISTERS.md, test life)."""

WATCH_S = 0.2
"""Time between looks at the box: two of them lie within the 500 ms after which an answer is old."""

LampCommand = (
    commands.ProveLampsDark
    | commands.PushLamps
    | commands.ClearLamps
    | commands.DarkenLamps
    | commands.ProveEachLamp
    | commands.SteerWalk
    | commands.ShowPhase
    | commands.ShowMultipliers
    | commands.HideMultipliers
)


@frozen
class LampPicture:
    """What is known of the lamps, for screens."""

    commanded: frozenset[Area] = frozenset()
    status: LampStatus | None = None
    seen_at_s: float | None = None
    line: LampLine = field(default_factory=LampLine)
    phase: ShownPhase | None = None
    fault: str = ""
    tried: int = 0
    """Areas lit alone so far, while each is being tried."""
    to_try: int = 0
    """How many areas the walk in hand, or the last one, was asked for."""
    failed: str = ""
    """Which area the last walk ended at, and how; empty where it was proved, or goes on."""


class LampThread:
    """One lamp box, served by one thread."""

    def __init__(self, box: LampBox, post: Callable[[events.Event], None]) -> None:
        self._box = box
        self._post = post
        self._work: deque[LampCommand] = deque()
        self._wake = threading.Condition()
        self._anchor: Anchor | None = None
        self._is_stopping = False
        self._stop_trial = False
        self._is_paused = False
        self._again_from: int | None = None
        """How a person has steered the walk since the lamp in hand was lit."""
        self._shown: tuple[int, Values] | None = None
        self._to_darken: commands.DarkenLamps | None = None
        """What the box has not heard yet: it would keep its lamps lit for ever."""
        self._is_reported = False
        self.picture = LampPicture()
        self.asked: tuple[Occasion, float] | None = None
        """The newest result that was to be lit, its record synced, and when that was asked."""
        self._thread = threading.Thread(target=self._run, name="lamps", daemon=True)

    def start(self) -> None:
        """Begin to serve and to watch."""
        self._thread.start()

    def meet(self) -> LampIdentity:
        """Ask the box who it is, before `start`. Raises a leaf of `LampError` with the remedy."""
        return self._box.identify()

    def memory(self) -> BoxMemory:
        """What the box retained without power, before `start`. Raises leaves of `LampError`."""
        return self._box.memory()

    def anchor(self, anchor: Anchor) -> None:
        """Have the box retain where the journal stands, once nothing is to be done with lamps.

        Only the newest is written; one that suffers on the line is written at the next occasion.
        """
        with self._wake:
            self._anchor = anchor
            self._wake.notify()

    def perform(self, command: LampCommand) -> None:
        """Queue a command. Darkening goes first and takes back what would light lamps after it;
        clearing ends a trial of lamps.
        """
        if isinstance(command, commands.PushLamps):
            self.asked = command.occasion, time.monotonic()
        with self._wake:
            if isinstance(command, commands.SteerWalk):
                self._steer(command.step)
                self._wake.notify()
                return
            if isinstance(command, commands.DarkenLamps | commands.ClearLamps):
                self._stop_trial = True
                self._take_back(commands.ProveEachLamp)
            if isinstance(command, commands.DarkenLamps):
                self._take_back(commands.PushLamps)
                self._work.appendleft(command)
            else:
                self._work.append(command)
            self._wake.notify()

    def _take_back(self, kind: type[commands.Command]) -> None:
        self._work = deque(waiting for waiting in self._work if not isinstance(waiting, kind))

    def stop(self) -> None:
        """End the thread after the work in hand."""
        with self._wake:
            self._is_stopping = True
            self._stop_trial = True
            self._wake.notify()
        self._thread.join(timeout=3)

    # ── The thread ──────────────────────────────────────────────────────────

    def _run(self) -> None:
        anchor_rests = False
        while True:
            with self._wake:
                has_anchor = self._anchor is not None and not anchor_rests
                if not (self._work or has_anchor or self._is_stopping):
                    self._wake.wait(timeout=WATCH_S)
                command = self._work.popleft() if self._work else None
                anchor = self._anchor if command is None else None
                is_last = command is None and self._is_stopping
                self._stop_trial = self._is_stopping
            if command is not None:
                self._do(command)
            elif anchor is not None:
                anchor_rests = not self._write_anchor(anchor)
            elif not is_last:
                self._watch()
            if is_last:
                return

    def _do(self, command: LampCommand) -> None:
        try:
            self._perform(command)
        except LampError as error:
            self._failed(command, error)
        except Exception:  # the thread must outlive a defect and say so
            log.exception("lamp command %s failed unexpectedly", type(command).__name__)
            self._fault(getattr(command, "occasion", None), "lamp-controller-defect")
        else:
            self._is_reported = False

    def _perform(self, command: LampCommand) -> None:
        box = self._box
        if isinstance(command, commands.PushLamps | commands.ClearLamps | commands.ProveEachLamp):
            self._to_darken = None
        match command:
            case commands.ProveLampsDark(occasion):
                status = box.prove_dark()
                answered_at_s = time.monotonic()
                self._note(status, answered_at_s)
                self._post(events.LampsProvedDark(occasion, answered_at_s))
            case commands.PushLamps(occasion, values, areas, corrects):
                self._picture(commanded=frozenset(areas))
                light = box.correct if corrects else box.show
                lit = light(_round(occasion), values)
                self._shown = (_round(occasion), values)
                if lit != frozenset(areas):  # the box proved its own mask; the rules' must be it
                    raise LampError(
                        f"areas {sorted(lit)} are lit, {sorted(areas)} were commanded",
                        remedy="layout of profile and lamp box differ: check both",
                    )
                self._post(events.LampsShown(occasion, values))
                self._note(box.status(), time.monotonic())
            case commands.ClearLamps(occasion):
                self._picture(commanded=frozenset())
                self._shown = None
                box.clear(_round(occasion))
                self._post(events.LampsDark(occasion))
                self._note(box.status(), time.monotonic())
            case commands.DarkenLamps(occasion):
                self._picture(commanded=frozenset())
                self._shown = None
                self._to_darken = command
                box.darken()
                self._to_darken = None
                self._note(box.prove_dark(), time.monotonic())
                self._post(events.LampsDark(occasion))
            case commands.ProveEachLamp(occasion, areas, dwell_s):
                self._prove_each(occasion, areas, dwell_s)
            case commands.ShowPhase(phase, demonstration):
                word = LampPhase[phase.name] | (DEMONSTRATION if demonstration else 0)
                self._picture(phase=phase)
                box.show_phase(word, 0)
            case commands.ShowMultipliers(occasion, multipliers):
                box.show_multipliers(_round(occasion), _odds(multipliers))
                self._post(events.MultipliersShown(occasion))
            case commands.HideMultipliers(occasion):
                box.show_multipliers(_round(occasion), {})

    def _prove_each(self, occasion: Occasion, areas: tuple[Area, ...], dwell_s: float) -> None:
        """Light each area alone for `dwell_s`, then dark, and prove both; a person may steer."""
        at, proved = 0, set[Area]()
        self._picture(tried=0, to_try=len(areas), failed="")
        with self._wake:
            self._is_paused, self._again_from = False, None
        try:
            while at < len(areas):
                if self._stop_trial:
                    return
                area = areas[at]
                self._picture(commanded=frozenset({area}), tried=len(proved))
                self._light_alone(area, area)
                again = self._dwell(area, dwell_s)
                self._light_alone(None, area)
                proved.add(area)
                at = at + 1 if again is None else max(0, at + again)
        finally:
            self._picture(commanded=frozenset(), tried=len(proved))
        self._post(events.EachLampProved(occasion, areas))

    def _light_alone(self, wanted: Area | None, under_test: Area) -> None:
        """Light one area, or none, and prove it. Raises `LampError`."""
        expected = frozenset({wanted} if wanted else ())
        try:
            glowing = self._box.test_area(wanted)
        except LampError as error:
            self._picture(failed=f"{under_test} was not proved: {error}")
            raise
        if glowing != expected:
            wrong = [f"{area} stays dark" for area in sorted(expected - glowing)]
            wrong += [f"{area} glows unasked" for area in sorted(glowing - expected)]
            told = f"{under_test} {'alone' if wanted else 'dark again'}: {', '.join(wrong)}"
            self._picture(failed=told)
            raise LampError(
                f"lamp test, {told}", remedy=f"check the bulb and wiring of {under_test}"
            )

    def _dwell(self, area: Area, dwell_s: float) -> int | None:
        """Keep the lamp lit so long, and for as long as the walk is paused.

        Returns by how many lamps a person wants to go back, 0 for this one again; None: go on.
        """
        ends_at, renew_at = time.monotonic() + dwell_s, time.monotonic() + RENEW_S
        while True:
            with self._wake:
                again, self._again_from = self._again_from, None
                if self._stop_trial or again is not None:
                    return again
                if time.monotonic() >= ends_at and not self._is_paused:
                    return None
                until = renew_at if self._is_paused else min(ends_at, renew_at)
                self._wake.wait(timeout=max(0.0, until - time.monotonic()))
            if time.monotonic() >= renew_at:
                self._light_alone(area, area)
                renew_at = time.monotonic() + RENEW_S

    def _steer(self, step: WalkStep) -> None:
        """In the caller's thread, with the lock held: what `_dwell` looks at."""
        if step in (WalkStep.PAUSE, WalkStep.ON):
            self._is_paused = step is WalkStep.PAUSE
        else:
            self._again_from = -1 if step is WalkStep.BACK else 0

    def _write_anchor(self, anchor: Anchor) -> bool:
        """Return False where the line ailed: the watch, which then looks at once, reports that."""
        try:
            self._box.anchor(anchor)
        except LampAnchorError as error:
            log.error("%s", error.line())
            self._post(events.ControllerFault(error.code))
        except LampError as error:
            log.warning("anchor of round %d: %s", anchor.round, error.line())
            self._watch()
            return False
        except Exception:  # as in _do
            log.exception("the anchor of round %d failed unexpectedly", anchor.round)
            self._post(events.ControllerFault("lamp-controller-defect"))
        with self._wake:
            if self._anchor is anchor:
                self._anchor = None
        return True

    def _failed(self, command: LampCommand, error: LampError) -> None:
        log.warning("%s: %s", type(command).__name__, error.line())
        self._picture(fault=error.line())
        if isinstance(command, commands.ShowMultipliers):
            self._post(events.MultipliersNotShown(command.occasion, error.code))
        elif isinstance(command, commands.DarkenLamps):
            return  # the rules wait for LampsDark no longer than they must; the watch tries again
        else:
            self._fault(getattr(command, "occasion", None), error.code)

    # ── The watch ───────────────────────────────────────────────────────────

    def _watch(self) -> None:
        if self._to_darken is not None:
            self._do(self._to_darken)
        try:
            if self._shown is not None:
                self._note(self._box.status(), time.monotonic())
                self._box.prove_lit(*self._shown)
            else:
                status = self._box.status()
                self._note(status, time.monotonic())
                if status.state is BoxState.DARK and status.is_measured:
                    self._box.prove_dark()
                elif not status.is_healthy:
                    raise LampError(
                        "the lamp box reports itself unhealthy", remedy="see `lamps` on a console"
                    )
        except LampError as error:
            self._picture(fault=error.line())
            if not self._is_reported:
                log.warning("lamp watch: %s", error.line())
                self._fault(None, error.code)
        except Exception:  # as in _do
            log.exception("lamp watch failed unexpectedly")
            if not self._is_reported:
                self._fault(None, "lamp-controller-defect")
        else:
            self._is_reported = False
            if self.picture.fault:
                self._picture(fault="")

    def _fault(self, occasion: Occasion | None, code: str) -> None:
        self._is_reported = True
        self._post(events.LampFault(occasion, code))

    # ── Screens ─────────────────────────────────────────────────────────────

    def _note(self, status: LampStatus, at_s: float) -> None:
        self._picture(status=status, seen_at_s=at_s, line=self._box.line(), fault="")

    def _picture(self, **changes: object) -> None:
        self.picture = replace(self.picture, **changes)  # type: ignore[arg-type]


def _round(occasion: Occasion) -> int:
    """The number under which the box keeps a result; it retains none that is not of play."""
    return occasion.number if occasion.purpose is Purpose.PLAY else 0


def _odds(multipliers: tuple[Multiplied, ...]) -> dict[str, int]:
    """Multipliers by the box's places: an area, or `one-N/2` and `one-N/3`."""
    return {f"{m.area}/{m.dice}" if m.dice else m.area: m.odds for m in multipliers}
