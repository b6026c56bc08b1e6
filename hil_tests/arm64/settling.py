"""Inside the emulation: from a verdict to lit lamps. `python -m hil_tests.arm64.settling DEVICE`.

One thread does what state, journal and lamp threads of a table do, one after the other; mark 1 ends
it. The lamp box at DEVICE is not emulated. A card's sync and bytes on a wire are no instructions.
"""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from hil_tests.arm64.marks import mark
from hil_tests.reliability.bytes_cut import forged
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.lines.modbus_lamp import ModbusLamp
from shaker_ctl.journal.record import Entry
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.rules import events, machine
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.record import to_record
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.rules.state import Lamps, Phase
from shaker_ctl.rules.vocabulary import Person, Role
from vision.reading import Verified

LIT = 1
WALL = "2026-01-01T00:00:00.000+00:00"
DIGESTS = dict.fromkeys(("software", "model", "settings", "profile"), "0" * 64)
PATIENCE = {"reply_slack_s": 20.0, "show_deadline_s": 60.0, "request_deadline_s": 60.0}
"""More than a table may wait: the emulation is slow."""


def main(device: Path) -> None:
    """Settle three rounds; the first ones fill the tables of Python and the libraries."""
    rules = rulebook(TableParameters())
    patient = LampParameters(device=str(device)).model_copy(update=PATIENCE)
    lamp = ModbusLamp(patient, rules.layout)
    lamp.identify()
    with closing(DiskJournal(device.with_name("settled.jsonl"))) as store:
        for number, values in enumerate(((1, 2, 3), (2, 2, 5), (1, 4, 6)), 1):
            at = replace(machine.initial(rules), phase=Phase.AWAITING_DEALER, round=number)
            state = replace(at, reading=Verified(values), lamps=Lamps.DARK)
            event = events.ValuesConfirmed(Person("dan", Role.DEALER), number, values)
            mark(0)
            step = machine.step(state, event, rules)
            body = {
                "event": to_record(event),
                "rows": [row.name for row in step.rows],
                "because": [cited.clause for _, cited in step.because()],
                "decision": [to_record(command) for command in step.commands],
            }
            entry = Entry("step", body, round=number)
            store.write(forged(store.head(), [entry], lambda _: WALL, DIGESTS))
            lamp.show(number, values)
            mark(LIT)
            lamp.clear(number)
    lamp.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
