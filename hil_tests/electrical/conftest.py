"""The wire to measure: where a signal is made, and where it is seen.

On a virtual rig both ends are one pin of one daemon; on a cross-wired pair or a bench it is made on
the rig's side and seen on the controller's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pigpio
import pytest

from hil_tests.rig.crossed import CrossedPair
from hil_tests.rig.reservation import Reservation
from hil_tests.rig.rigfile import Gpio, RigFile, host_and_port
from virtual_pigpiod.client import hang_up
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.process import VirtualPigpiod

HERE = "127.0.0.1"
PATIENCE_S = 6.0
"""A client in Python takes its time over sixteen thousand edges a second, and loses none."""

Ends = tuple[tuple[str, int], int, tuple[str, int], int]
"""(maker's address, its pin, seer's address, its pin)."""


@dataclass
class Wire:
    """One line with a client at each end. `edges` are (tick in us, level) as the callbacks came."""

    maker: pigpio.pi
    made_at: int
    seer: pigpio.pi
    seen_at: int
    edges: list[tuple[int, int]] = field(default_factory=list)

    def listen(self) -> None:
        """Begin to take every edge."""
        self.seer.callback(self.seen_at, pigpio.EITHER_EDGE, self._take)
        time.sleep(0.05)
        self.edges.clear()

    def _take(self, _: int, level: int, tick: int) -> None:
        self.edges.append((tick, level))

    @property
    def rises(self) -> list[int]:
        """Ticks of the rising edges so far."""
        return [tick for tick, level in self.edges if level == 1]

    def whole_periods(self, count: int, period_us: int) -> list[tuple[int, int]]:
        """Edges of `count` periods from now on, by their ticks: a rise, ..., and a rise again.

        Then the PWM is switched off. Fewer where not all of them came within the client's patience.
        """
        now = self.seer.get_current_tick()
        self.edges.clear()
        edges: list[tuple[int, int]] = []
        time.sleep((count + 3) * period_us * 1e-6)
        self.maker.set_PWM_dutycycle(self.made_at, 0)
        ends_at = time.monotonic() + PATIENCE_S
        while len(edges) <= 2 * count and time.monotonic() < ends_at:
            time.sleep(0.01)
            # A client that is behind still gets edges from before.
            fresh = [one for one in list(self.edges) if (one[0] - now) & 0xFFFFFFFF < 1 << 31]
            first = next((i for i, (_, level) in enumerate(fresh) if level == 1), len(fresh))
            edges = fresh[first : first + 2 * count + 1]
        return edges

    def off(self) -> None:
        """Nothing is driven any more."""
        self.maker.wave_tx_stop()
        self.maker.wave_clear()
        self.maker.set_PWM_dutycycle(self.made_at, 0)
        self.maker.set_mode(self.made_at, pigpio.INPUT)


@pytest.fixture(scope="module")
def ends(rig_table: RigFile, rig_file: Path | None) -> Iterator[Ends]:
    """Where the daemons listen, and the pins at both ends."""
    pins, wiring = rig_table.gpio.pins, rig_table.gpio.wiring
    with ExitStack() as opened:
        if rig_table.gpio.wires is Gpio.VIRTUAL:
            daemon = opened.enter_context(VirtualPigpiod(Board()))
            here = (HERE, daemon.port)
            yield here, pins.tach, here, pins.tach
        elif rig_table.gpio.wires is Gpio.CROSSED:
            pair = opened.enter_context(CrossedPair(rig_file))
            rig, controller = (HERE, pair.where["rig"]), (HERE, pair.where["controller"])
            yield rig, wiring.tach, controller, pins.tach
        else:
            lock = Path(rig_table.bench.lock)
            opened.enter_context(Reservation(lock, "electrical measurements"))
            rig = host_and_port(rig_table.gpio.rig)
            controller = host_and_port(rig_table.gpio.controller)
            yield rig, wiring.tach, controller, pins.tach


@pytest.fixture
def wire(ends: Ends) -> Iterator[Wire]:
    """A quiet line that is listened to."""
    maker = pigpio.pi(*ends[0], show_errors=False)
    maker.set_mode(ends[1], pigpio.OUTPUT)
    maker.write(ends[1], 0)
    # After that: a client believes the level that it met, until it is told of another.
    seer = pigpio.pi(*ends[2], show_errors=False)
    line = Wire(maker, ends[1], seer, ends[3])
    line.listen()
    yield line
    line.off()
    for pi in (maker, seer):
        hang_up(pi)


def until(said: Callable[[], object], limit_s: float) -> None:
    """Wait until it is so, or until the limit: what is missing then is measured."""
    ends_at = time.monotonic() + limit_s
    while not said() and time.monotonic() < ends_at:
        time.sleep(0.002)
