"""The lamp box at the end of a serial line: `ports.LampBox` over Modbus RTU.

Owns the words between the journal's anchor and the box's. Must not decide what is lit: the rules
say which areas win, the box agrees or refuses.
"""

from __future__ import annotations

import time

from shaker_ctl.adapters.lines.modbus_registers import SerialRegisters
from shaker_ctl.errors import LampAnchorError
from shaker_ctl.journal.box_memory import BoxMemory
from shaker_ctl.journal.record import Anchor, Head
from shaker_ctl.lamp import registers
from shaker_ctl.lamp.exchange import LampExchange, LampRefusedError
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.lamp.registers import BoxRefusal
from shaker_ctl.ports import LampLine
from shaker_ctl.rules.layout import Layout

ANCHOR_REMEDY = (
    "Look for a second controller on the lamp line; then: shaker-ctl journal verify, and restart"
)


class ModbusLamp(LampExchange):
    """One lamp box that serves one layout. Not thread-safe; used by the lamp thread alone.

    Every failure is a leaf of `LampError`; after any of them the next call starts afresh.
    """

    def __init__(self, parameters: LampParameters, layout: Layout) -> None:
        self._line = SerialRegisters(parameters)
        super().__init__(self._line, parameters, layout, clock=time.monotonic, sleep=time.sleep)

    def anchor(self, anchor: Anchor) -> None:
        """Have the box retain where the journal stands; see `LampBox.anchor`."""
        head = anchor.head
        try:
            self.keep(registers.BoxAnchor(anchor.table, anchor.round, head.sequence, head.hash))
        except LampRefusedError as refused:
            if refused.refusal != BoxRefusal.ANCHORED:
                raise
            raise LampAnchorError(str(refused), remedy=ANCHOR_REMEDY) from refused

    def memory(self) -> BoxMemory:
        """Return what the box retained without power; see `LampBox.memory`."""
        kept, erasures = self.anchored()
        committed = self.committed()
        anchor = Anchor(kept.table, kept.round_id, Head(kept.record, kept.head))
        return BoxMemory(
            self.identify().serial_number,
            erasures,
            self.status().last_committed_round,
            frozenset({committed.first, committed.areas} - {frozenset()}),
            anchor if kept.round_id != registers.NO_ROUND else None,
        )

    def line(self) -> LampLine:
        """Return how the line does; see `LampBox.line`."""
        times = sorted(self._line.reply_s)
        if not times:
            return LampLine(repeats=self.repeats)
        median_s, slowest_s = times[len(times) // 2], times[-1]
        return LampLine(1000 * median_s, 1000 * slowest_s, self.repeats)

    def close(self) -> None:
        """Close the line; the next call opens it again."""
        self._line.close()
