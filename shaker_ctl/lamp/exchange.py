"""What is said to the lamp box, in which order, and what counts as proof.

Each act has one deadline. If a step is lost or damaged on the line, it is sent again. To send a
step twice has no effect: a stage replaces a stage, and a commit of the round that is lit already
changes nothing. A refusal by the box, or a wrong lamp, is always reported and never retried. This
module owns that sequence. It must not know serial lines or the clock's source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol, TypeVar

from shaker_ctl.errors import LampReadbackError, LampReplyError, LampTimeoutError
from shaker_ctl.lamp import registers as r
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.rules.layout import AREAS, Layout
from shaker_ctl.rules.outcome import Area, Values

MAP_REMEDY = "Check the box's firmware against REGISTERS.md"
T = TypeVar("T")


class Registers(Protocol):
    """Holding registers of the box. Each call is one request and waits for its one reply.

    Raises `LampTimeoutError` when no reply came by `ends_at`, `LampRefusedError` when the box
    answered with an exception, and `LampReplyError` for anything else that came back.
    """

    @property
    def left_at(self) -> float:
        """When the last byte of the last request had left: the box acted no earlier than that."""

    @property
    def openings(self) -> int:
        """How often the line has been opened: behind another opening may be another box."""

    def read(self, address: int, count: int, ends_at: float) -> list[int]: ...

    def write_read(
        self, address: int, words: list[int], read_address: int, read_count: int, ends_at: float
    ) -> list[int]:
        """Write, then read, in one request (Modbus function 23)."""


class LampRefusedError(LampReplyError):
    """The box understood, refused, and changed nothing. `refusal` is the code it gave."""

    def __init__(self, message: str, *, refusal: int) -> None:
        super().__init__(message, remedy=MAP_REMEDY)
        self.refusal = refusal


class FreshReplies:
    """Detects a stale reply, which came late or is being repeated.

    RTU replies have no number, so the box's uptime serves as one. The box reads it at some time
    between the end of the request and the arrival of the reply. So between two replies the uptime
    must advance by a time that these two intervals allow, however late this program looks. After a
    stale reply, two replies in a row must agree.
    """

    SLACK_S = 0.03
    """Buffers of adapters and drivers, which the arithmetic of the wire does not know."""
    DRIFT = 0.005

    def __init__(self) -> None:
        self._last: tuple[r.LampStatus, float, float] | None = None
        self.breaks = 0
        """How often a status could not be of the same run of the same box as the one before."""

    def check(self, status: r.LampStatus, asked_at: float, now: float) -> None:
        """Accept `status`, asked for at `asked_at` and here `now`, or raise `LampReplyError`."""
        last, self._last = self._last, (status, asked_at, now)
        if last is None:
            return
        if last[0].restarts != status.restarts:
            self.breaks += 1
            return
        before, asked_before, here_before = last
        passed_s = (status.uptime_ms - before.uptime_ms) % 2**32 / 1000
        slack_s = self.SLACK_S + self.DRIFT * (now - asked_before)
        at_least_s = asked_at - here_before - slack_s
        at_most_s = now - asked_before + slack_s
        if passed_s == 0 or not at_least_s <= passed_s <= at_most_s:
            self.breaks += 1
            raise LampReplyError(
                f"the lamp box's status is not fresh: its clock moved {passed_s:.3f} s while ours "
                f"moved {now - here_before:.3f} s",
                remedy="Look for a repeater or a second controller on the lamp line",
            )

    def forget(self) -> None:
        """Start anew, after the line was opened again."""
        self._last = None


class LampExchange:
    """One lamp box that serves one layout, over its registers. Not thread-safe: the lamp thread
    owns it.

    Before each act but `darken` the box says who it is, where line or box may be another one.
    """

    MEASURE_PAUSE_S = 0.004
    """Seconds between two readings of lamps that are still warming up."""
    BOX_THINKS_S = 0.0005
    """Seconds that a box needs to switch the lamps after a command; a slower one is asked twice."""
    RETRY_PAUSE_S = 0.005
    """Seconds before a step is sent again, so that the rest of a damaged reply has passed."""

    def __init__(
        self,
        registers: Registers,
        parameters: LampParameters,
        layout: Layout,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._registers = registers
        self._p = parameters
        self._layout = layout
        self._clock = clock
        self._sleep = sleep
        self._sequence = 0
        self._identity: r.LampIdentity | None = None
        self._met_at = (0, 0)
        """Openings of the line and breaks of the status when the box said who it is."""
        self._fresh = FreshReplies()
        self.repeats = 0
        """Steps that were said again since the start."""

    # ── Acts ────────────────────────────────────────────────────────────────

    def identify(self) -> r.LampIdentity:
        """Return who the box is, asking only where line or box may be another one.

        Raises `LampReplyError` for a box that cannot serve this table, and for another one than at
        first.
        """
        openings = self._registers.openings
        if self._identity is None or self._met_at != (openings, self._fresh.breaks):
            if self._met_at[0] != openings:
                self._fresh.forget()
            block, read = r.IDENTITY, self._registers.read
            found = self._retried(
                lambda ends_at: r.decode_identity(read(block.address, block.words, ends_at)),
                "identify itself",
            )
            check_identity(found, self._layout)
            if self._identity is not None and found.serial_number != self._identity.serial_number:
                raise LampReplyError(
                    f"the lamp box on the line is number {found.serial_number}; this run began "
                    f"with number {self._identity.serial_number}",
                    remedy="Fit the box of this table; or stop the table, then: shaker-ctl lamp "
                    "adopt",
                )
            self._identity = found
            self._met_at = (self._registers.openings, self._fresh.breaks)
        return self._identity

    def status(self) -> r.LampStatus:
        """Read what the box does and measures, fresh."""
        return self._insist(self._read_status, "report its status")

    def prove_dark(self) -> r.LampStatus:
        """Return a fresh status that is dark and healthy; raise `LampReadbackError` otherwise."""
        status = self._insist(self._measured, "prove that it is dark")
        require_dark(status)
        require_healthy(status)
        return status

    def prove_lit(self, round_id: int, values: Values) -> r.LampStatus:
        """Return a fresh status that still shows exactly this result, or raise."""
        status = self.status()
        require_lit(status, self._layout.won(values), round_id)
        return status

    def show(self, round_id: int, values: Values) -> frozenset[Area]:
        """Stage, read the stage back, commit, and prove what is lit; return it.

        Raises `LampReadbackError` when the box computed other lamps (nothing is lit then), or when
        lamps lit or glowing are not exactly the expected ones.
        """
        return self._light(round_id, values, r.CommandCode.COMMIT)

    def correct(self, round_id: int, values: Values) -> frozenset[Area]:
        """Show a result in the place of the one that its round was committed with; see `show`.

        The lamps must be dark. The box does so once a round and keeps the first result.
        """
        return self._light(round_id, values, r.CommandCode.CORRECT)

    def _light(self, round_id: int, values: Values, code: r.CommandCode) -> frozenset[Area]:
        def attempt(ends_at: float) -> frozenset[Area]:
            self._stage(round_id, values, ends_at)
            status = self._switched(code, round_id, 0, ends_at)
            return self._proved(status, self._layout.won(values), round_id, ends_at).lit

        return self._insist(attempt, f"show round {round_id}", self._p.show_deadline_s)

    def clear(self, round_id: int) -> None:
        """End the result of `round_id` and prove every lamp dark."""
        status = self._insist(
            lambda ends_at: self._switched(r.CommandCode.CLEAR, round_id, 0, ends_at),
            f"clear round {round_id}",
        )
        require_dark(status)

    def darken(self) -> None:
        """Switch everything off, whatever is lit and whoever is there, and prove that nothing is
        driven.

        Does not wait for lamps to cool: the emergency ends when the box drives none.
        """
        status = self._retried(
            lambda ends_at: self._command(r.CommandCode.DARK, r.NO_ROUND, 0, ends_at), "go dark"
        )
        if status.driven:
            raise LampReadbackError(
                f"the lamp box was commanded dark and still drives {_names(status.driven)}",
                remedy="Switch the lamp supply off by hand",
            )

    def show_phase(self, phase: int, round_id: int) -> None:
        """Show a phase (`LampPhase`, plus `DEMONSTRATION`) and prove that the box took it."""
        status = self._insist(
            lambda ends_at: self._command(r.CommandCode.PHASE, round_id, phase, ends_at),
            f"show phase {phase}",
        )
        if (status.phase, status.phase_round) != (phase, round_id):
            raise LampReadbackError(
                f"the lamp box shows phase {status.phase} of round {status.phase_round} instead of "
                f"phase {phase} of round {round_id}",
                remedy=MAP_REMEDY,
            )

    def test_area(self, area: Area | None) -> frozenset[Area]:
        """Drive exactly one lamp, or none, wait until it is warm, and return the areas that glow.

        Raises `LampReadbackError` only when other lamps are driven than asked for; whether the
        right one glows is for the inspection to judge.
        """
        wanted = frozenset() if area is None else frozenset({area})
        argument = 0 if area is None else self._layout.rules[area].lamp + 1
        status = self._insist(
            lambda ends_at: self._switched(r.CommandCode.TEST, r.NO_ROUND, argument, ends_at),
            f"light {area or 'no area'} alone",
        )
        if status.driven != wanted:
            raise LampReadbackError(
                f"asked to light {_names(wanted)} alone, the lamp box drives "
                f"{_names(status.driven)}",
                remedy="Darken the box, and check its wiring list",
            )
        return status.glowing

    def show_multipliers(self, round_id: int, odds: Mapping[str, int]) -> None:
        """Show `odds` and prove them from the display drivers; an empty mapping blanks them all."""
        wanted = {place: value for place, value in odds.items() if value}
        words = r.encode_multipliers(round_id, wanted)
        block = r.MULTIPLIERS_SHOWN

        def attempt(ends_at: float) -> tuple[int, dict[str, int]]:
            reply = self._write("the multipliers", r.MULTIPLIERS, words, block, ends_at)
            return r.decode_multipliers(reply)

        shown_round, shown = self._insist(
            attempt, "show the multipliers", self._p.multipliers_deadline_s
        )
        if shown != wanted or (wanted and shown_round != round_id):
            differing = sorted(
                place for place in {*shown, *wanted} if shown.get(place) != wanted.get(place)
            )
            raise LampReadbackError(
                f"the multiplier displays of round {shown_round} differ from those of round "
                f"{round_id} at: {', '.join(differing) or 'the round number alone'}",
                remedy="Play without multipliers, and test the displays with the table closed",
            )

    # ── Memory ──────────────────────────────────────────────────────────────

    def keep(self, anchor: r.BoxAnchor) -> None:
        """Have the box retain `anchor`, and prove it by reading it back.

        To say it again changes nothing. Raises `LampRefusedError` with `BoxRefusal.ANCHORED` where
        the box holds a later one, another head for that round, or another table's.
        """
        words = r.encode_anchor(anchor)

        def attempt(ends_at: float) -> r.BoxAnchor:
            reply = self._write("the anchor", r.ANCHOR, words, r.ANCHOR, ends_at)
            return r.decode_anchor(reply)[0]

        kept = self._insist(attempt, f"keep the anchor of round {anchor.round_id}")
        if kept != anchor:
            raise LampReadbackError(
                f"the lamp box keeps the anchor of round {kept.round_id} instead of round "
                f"{anchor.round_id}",
                remedy=MAP_REMEDY,
            )

    def anchored(self) -> tuple[r.BoxAnchor, int]:
        """Return the anchor that the box retained, and how often its memory was erased by hand."""
        return self._ask(r.ANCHOR, r.decode_anchor, "tell its anchor")

    def committed(self) -> r.Committed:
        """Return the last result that the box retained."""
        decode = partial(r.decode_committed, layout=self._layout)
        return self._ask(r.COMMITTED, decode, "tell its last result")

    # ── Steps ───────────────────────────────────────────────────────────────

    def _next_sequence(self) -> int:
        self._sequence = self._sequence % 0xFFFF + 1
        return self._sequence

    def _ask(self, block: r.Block, decode: Callable[[list[int]], T], what: str) -> T:
        """Read a whole block, again where the reply was lost or makes no sense."""
        read = self._registers.read
        return self._insist(lambda ends_at: decode(read(block.address, block.words, ends_at)), what)

    def _write(
        self, what: str, block: r.Block, words: list[int], read: r.Block, ends_at: float
    ) -> list[int]:
        """Write a block and read another one; where the box refuses, ask it why."""
        try:
            return self._registers.write_read(
                block.address, words, read.address, read.words, ends_at
            )
        except LampRefusedError as refused:
            raise _refused(self._read_status(ends_at).last_refusal, what) from refused

    def _stage(self, round_id: int, values: Values, ends_at: float) -> None:
        expected = self._layout.won(values)
        sent = r.Stage(
            sequence=self._next_sequence(),
            round_id=round_id,
            values=values,
            layout=r.layout_word(self._layout),
            options=r.layout_options(self._layout),
            expected_mask=self._layout.mask(expected),
        )
        words = self._write("the stage", r.STAGE, r.encode_stage(sent), r.STAGE, ends_at)
        back = r.decode_stage(words, self._layout)
        if back.stage != sent:
            raise LampReplyError(
                f"the lamp box holds another stage than was sent: {back.stage} instead of {sent}",
                remedy=MAP_REMEDY,
            )
        if back.verdict == r.BoxRefusal.MASK_DIFFERS or (
            back.verdict == r.BoxRefusal.NONE and back.own != expected
        ):
            raise LampReadbackError(
                f"the lamp box computed other lamps for {values}: it adds "
                f"{_names(back.own - expected)} and lacks {_names(expected - back.own)}; "
                "nothing was lit",
                remedy="Check that box and profile mean the same layout",
            )
        if back.verdict != r.BoxRefusal.NONE:
            raise _refused(back.verdict, "the stage")

    def _command(
        self, code: r.CommandCode, round_id: int, argument: int, ends_at: float
    ) -> r.LampStatus:
        sequence = self._next_sequence()
        words = r.encode_command(sequence, code, round_id, argument)
        reply = self._write(f"command {code.name.lower()}", r.COMMAND, words, r.STATUS, ends_at)
        status = self._fresh_status(reply)
        if status.sequence != sequence:
            raise LampReplyError(
                f"the lamp box answered command {sequence} with the status after command "
                f"{status.sequence}",
                remedy=MAP_REMEDY,
            )
        return status

    def _switched(
        self, code: r.CommandCode, round_id: int, argument: int, ends_at: float
    ) -> r.LampStatus:
        """Give a command, and measure the lamps that it switched."""
        self._command(code, round_id, argument, ends_at)
        self._warm(self._registers.left_at, ends_at)
        return self._measured(ends_at)

    def _read_status(self, ends_at: float) -> r.LampStatus:
        words = self._registers.read(r.STATUS.address, r.STATUS.words, ends_at)
        return self._fresh_status(words)

    def _fresh_status(self, words: list[int]) -> r.LampStatus:
        status = r.decode_status(words, self._layout)
        self._fresh.check(status, self._registers.left_at, self._clock())
        return status

    def _warm(self, switched_at: float, ends_at: float) -> None:
        """Wait until lamps that were switched at `switched_at` can have been measured."""
        until = switched_at + self.BOX_THINKS_S + self.identify().warm_up_s
        self._sleep(max(0.0, min(until, ends_at) - self._clock()))

    def _measured(self, ends_at: float) -> r.LampStatus:
        """Read the status until the lamps have been measured since they were last switched."""
        while True:
            status = self._read_status(ends_at)
            if status.is_measured:
                return status
            if self._clock() + self.MEASURE_PAUSE_S >= ends_at:
                raise LampTimeoutError(
                    "the lamp box did not finish measuring its lamps",
                    remedy="Check the warm-up time of the box against its lamps",
                )
            self._sleep(self.MEASURE_PAUSE_S)

    def _proved(
        self, status: r.LampStatus, expected: frozenset[Area], round_id: int, ends_at: float
    ) -> r.LampStatus:
        """Measure once more where it differs: a fault is what two measurements show."""
        if not status.driven == expected == status.glowing:
            status = self._measured(ends_at)
        require_lit(status, expected, round_id)
        return status

    def _insist(self, attempt: Callable[[float], T], what: str, within_s: float | None = None) -> T:
        """Attempt with a box that has said who it is; see `_retried`."""
        self.identify()
        return self._retried(attempt, what, within_s)

    def _retried(
        self, attempt: Callable[[float], T], what: str, within_s: float | None = None
    ) -> T:
        """Attempt until it succeeds, or the deadline passes, which each attempt is told; then raise
        the last cause. `within_s`: how long; None: a request's patience."""
        ends_at = self._clock() + (self._p.request_deadline_s if within_s is None else within_s)
        while True:
            try:
                return attempt(ends_at)
            except (LampRefusedError, LampReadbackError):
                raise
            except (LampReplyError, LampTimeoutError) as cause:
                if self._clock() + self.RETRY_PAUSE_S < ends_at:
                    self.repeats += 1
                    self._sleep(self.RETRY_PAUSE_S)
                    continue
                raise type(cause)(
                    f"the lamp box did not {what} in time: {cause}",
                    remedy=cause.remedy or "Check the lamp box's supply, cable and address",
                ) from cause


# ── Judgements ──────────────────────────────────────────────────────────────


def check_identity(identity: r.LampIdentity, layout: Layout) -> None:
    """Raise `LampReplyError` unless this box can serve a table with this layout."""
    problem, needed = "", r.lamps_needed(layout)
    (major, minor), oldest = identity.map_version, r.OLDEST_MINOR
    if identity.magic != r.MAGIC:
        problem = f"the device on the lamp line is no lamp box (it says {identity.magic:04X})"
    elif major != r.MAP_MAJOR or minor < oldest:
        problem = (
            f"the lamp box has register map {major}.{minor}, this program takes {r.MAP_MAJOR}.x "
            f"from {r.MAP_MAJOR}.{oldest} on"
        )
    elif identity.areas_fitted < needed:
        problem = f"the lamp box has {identity.areas_fitted} areas, the profile {needed}"
    elif identity.layout_digest != layout.digest:
        theirs, ours = identity.layout_digest.hex(), layout.digest.hex()
        problem = f"the lamp box is made for layout {theirs}, the profile has layout {ours}"
    elif missing := r.REQUIRED & ~identity.capabilities:
        problem = f"the lamp box lacks: {missing.name}"
    if problem:
        raise LampReplyError(problem, remedy="Fit the right box, or choose the profile it serves")


def require_dark(status: r.LampStatus) -> None:
    """Raise `LampReadbackError` unless nothing is driven and nothing glows."""
    if not status.is_dark:
        raise LampReadbackError(
            f"the lamps are not dark: driven {_names(status.driven)}, glowing "
            f"{_names(status.glowing)}, state {status.state.name.lower()}",
            remedy="Darken the box; where a lamp still glows, its driver is stuck on",
        )


def require_healthy(status: r.LampStatus) -> None:
    """Raise `LampReadbackError` unless the box finds nothing wrong with itself."""
    if not status.is_healthy:
        raise LampReadbackError(
            f"the lamp box is not healthy: {_ailment(status)}",
            remedy="Mend it, test that lamp with the table closed, and clear the fault",
        )


def require_lit(status: r.LampStatus, expected: frozenset[Area], round_id: int) -> None:
    """Raise `LampReadbackError` unless exactly `expected` is driven and glows, for `round_id`."""
    if status.state is not r.BoxState.RESULT or status.result_round != round_id:
        raise LampReadbackError(
            f"the lamp box should show round {round_id}, but is in state "
            f"{status.state.name.lower()} with round {status.result_round}",
            remedy="Look at the box's supply: it may have restarted",
        )
    if status.driven != expected:
        raise LampReadbackError(
            f"the lamp box drives wrong lamps: too many {_names(status.driven - expected)}, "
            f"missing {_names(expected - status.driven)}",
            remedy="Darken the box and settle by hand",
        )
    if dark := expected - status.glowing:
        raise LampReadbackError(
            f"lamps that should glow are dark: {_names(dark)}",
            remedy="Darken the box, settle by hand, and replace the lamp",
        )
    if stray := status.glowing - expected:
        raise LampReadbackError(
            f"lamps glow that nobody lit: {_names(stray)}",
            remedy="Darken the box, settle by hand, and replace the driver",
        )


def _refused(code: int, what: str) -> LampReplyError:
    """A refusal is final, but for a stage that is gone: a box that restarted takes it again."""
    message = f"the lamp box refused {what}: {r.refusal_text(code)}"
    if code == r.BoxRefusal.NOTHING_STAGED:
        return LampReplyError(message, remedy="Look at the box's supply: it may have restarted")
    return LampRefusedError(message, refusal=code)


def _ailment(status: r.LampStatus) -> str:
    ailments = []
    if r.Flag.SUPPLY in status.flags:
        ailments.append(f"supply {status.supply_v:.2f} V")
    if r.Flag.OVERHEATED in status.flags:
        ailments.append(f"{status.temperature_c:.1f} °C")
    if r.Flag.MEMORY in status.flags:
        ailments.append("retained memory bad")
    if status.open_bulbs:
        ailments.append(f"burnt-out lamps {_names(status.open_bulbs)}")
    if status.stuck_bulbs:
        ailments.append(f"stuck lamps {_names(status.stuck_bulbs)}")
    return ", ".join(ailments) or "it does not say why"


def _names(areas: frozenset[Area]) -> str:
    return ", ".join(sorted(areas, key=_as_laid)) or "none"


def _as_laid(area: Area) -> tuple[int, str]:
    """Areas of Sic Bo in the order of their lamps, then a house's own."""
    return AREAS.index(area) if area in AREAS else len(AREAS), area
