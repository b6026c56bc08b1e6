"""The lamp box at the end of a serial line: `LampBox` over Modbus RTU.

Owns the first handshake with a box, again after every re-opening of the line, and the words between
port and exchange. Must not decide what is lit: the rules say which areas win, the box agrees or
refuses.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from shaker_ctl.adapters.lines.modbus_registers import SerialRegisters
from shaker_ctl.errors import LampAnchorError, LampReplyError
from shaker_ctl.journal.box_memory import ADOPT, BoxMemory
from shaker_ctl.journal.record import Anchor, Head
from shaker_ctl.lamp import registers
from shaker_ctl.lamp.exchange import LampExchange, LampRefusedError, Patience, require_lit
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.lamp.registers import BoxRefusal, LampIdentity, LampStatus
from shaker_ctl.ports import LampLine
from shaker_ctl.rules.layout import Layout
from shaker_ctl.rules.outcome import Area, Values

ANCHOR_REMEDY = (
    "Look for a second controller on the lamp line; then: shaker-ctl journal verify, and restart"
)


class ModbusLamp:
    """One lamp box that serves one layout. Not thread-safe; used by the lamp thread alone.

    Every failure is a leaf of `LampError`; after any of them the next call starts afresh.
    """

    def __init__(self, parameters: LampParameters, layout: Layout) -> None:
        self._layout = layout
        self._line = SerialRegisters(parameters)
        self._exchange = LampExchange(
            self._line,
            Patience(
                show_s=parameters.show_deadline_s,
                request_s=parameters.request_deadline_s,
                multipliers_s=parameters.multipliers_deadline_s,
            ),
            layout,
            clock=time.monotonic,
            sleep=time.sleep,
        )
        self._identity: LampIdentity | None = None
        self._met_at = (0, 0)

    def identify(self) -> LampIdentity:
        """Return who the box is, asking only where line or box may be another one.

        Raises `LampReplyError` where another box than at first answers.
        """
        met_at = (self._line.openings, self._exchange.breaks)
        if self._identity is None or self._met_at != met_at:
            if self._met_at[0] != self._line.openings:
                self._exchange.forget()
            found = self._exchange.identify()
            if self._identity is not None and found.serial_number != self._identity.serial_number:
                raise LampReplyError(
                    f"the lamp box on the line is number {found.serial_number}; this run began "
                    f"with number {self._identity.serial_number}",
                    remedy=f"Fit the box of this table; or stop the table, then: {ADOPT}",
                )
            self._identity = found
            self._met_at = (self._line.openings, self._exchange.breaks)
        return self._identity

    @property
    def _met(self) -> LampExchange:
        """The exchange with a box that has said who it is."""
        self.identify()
        return self._exchange

    def show(self, round_id: int, values: Values) -> frozenset[Area]:
        """Light the areas that `values` win and prove it; see `LampBox.show`."""
        return self._met.show(self._stage(round_id, values)).lit

    def correct(self, round_id: int, values: Values) -> frozenset[Area]:
        """Light other areas for a round that was lit before; see `LampBox.correct`."""
        return self._met.correct(self._stage(round_id, values)).lit

    def _stage(self, round_id: int, values: Values) -> registers.Stage:
        return registers.Stage(
            sequence=0,
            round_id=round_id,
            values=values,
            layout=registers.layout_word(self._layout),
            options=registers.layout_options(self._layout),
            expected_mask=self._layout.mask(self._layout.won(values)),
        )

    def clear(self, round_id: int) -> None:
        """End the result of `round_id` and prove every lamp dark."""
        self._met.clear(round_id)

    def darken(self) -> None:
        """Switch everything off now, without asking who is there first."""
        self._exchange.darken()

    def show_phase(self, phase: int, round_id: int) -> None:
        """Show a phase (`lamp.registers.LampPhase`, plus `DEMONSTRATION`) and prove it taken."""
        self._met.show_phase(phase, round_id)

    def test_area(self, area: Area | None) -> frozenset[Area]:
        """Light one lamp alone, or none; return the areas that are seen to glow."""
        return self._met.test_area(area).glowing

    def show_multipliers(self, round_id: int, odds: Mapping[str, int]) -> None:
        """Show odds at their places (`lamp.registers.ODDS_PLACES`) and prove them."""
        self._met.show_multipliers(round_id, odds)

    def status(self) -> LampStatus:
        """Read what the box does and measures."""
        return self._met.status()

    def prove_dark(self) -> LampStatus:
        """Return a fresh status that is dark and healthy, or raise."""
        return self._met.prove_dark()

    def prove_lit(self, round_id: int, values: Values) -> LampStatus:
        """Return a fresh status that still shows exactly this result, or raise."""
        status = self.status()
        require_lit(status, self._layout.won(values), round_id)
        return status

    def currents(self) -> dict[Area, int]:
        """Return each lamp's current in percent of the rated one."""
        return self._met.currents()

    def anchor(self, anchor: Anchor) -> bool:
        """Have the box retain where the journal stands; see `LampBox.anchor`."""
        if not self.identify().keeps_anchors:
            return False
        head = anchor.head
        try:
            self._exchange.anchor(
                registers.BoxAnchor(anchor.table, anchor.round, head.sequence, head.hash)
            )
        except LampRefusedError as refused:
            if refused.refusal != BoxRefusal.ANCHORED:
                raise
            raise LampAnchorError(str(refused), remedy=ANCHOR_REMEDY) from refused
        return True

    def memory(self) -> BoxMemory:
        """Return what the box retained without power; see `LampBox.memory`."""
        identity = self.identify()
        last_committed = self._exchange.status().last_committed_round
        if not identity.keeps_anchors:
            return BoxMemory(identity.serial_number, 0, last_committed, frozenset(), None)
        kept, erasures = self._exchange.anchored()
        committed = self._exchange.committed()
        lit = {committed.first, committed.areas} - {frozenset()}
        anchor = Anchor(kept.table, kept.round_id, Head(kept.record, kept.head))
        return BoxMemory(
            identity.serial_number,
            erasures,
            last_committed,
            frozenset(lit),
            anchor if kept.round_id != registers.NO_ROUND else None,
        )

    def line(self) -> LampLine:
        """Return how the line does; see `LampBox.line`."""
        times = sorted(self._line.reply_s)
        if not times:
            return LampLine(repeats=self._exchange.repeats)
        median_s, slowest_s = times[len(times) // 2], times[-1]
        return LampLine(1000 * median_s, 1000 * slowest_s, self._exchange.repeats)

    def close(self) -> None:
        """Close the line; the next call opens it again."""
        self._line.close()
