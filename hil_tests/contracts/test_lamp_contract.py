"""What the table relies on in a lamp box, asked of the real client on a real serial line.

The box here is the virtual one at the end of a pseudo-terminal at its baud rate. What only a fault
can show needs a box that can be broken.
"""

from __future__ import annotations

import contextlib
import shutil
import statistics
import subprocess
import time
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest
import serial

from hil_tests.rig.lamp_box.box import LampBox
from hil_tests.rig.lamp_box.layout import own_areas
from hil_tests.rig.lamp_box.modbus_unit import ModbusUnit
from hil_tests.rig.wires.line import BoxEnd, Line, Terminal
from hil_tests.rig.wires.uart import Framing, Parity
from hil_tests.waiting import until
from shaker_ctl.adapters.lines.modbus_lamp import ModbusLamp
from shaker_ctl.errors import LampError, LampReadbackError, LampReplyError, LampTimeoutError
from shaker_ctl.lamp.exchange import FreshReplies
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.lamp.registers import (
    STAGE,
    LampPhase,
    Stage,
    decode_stage,
    encode_stage,
    layout_options,
    layout_word,
)
from shaker_ctl.rules.layout import Layout, sic_bo
from shaker_ctl.rules.profile_files import EXAMPLES, load

FIFTY = sic_bo()
FIFTY_TWO = sic_bo("win", "lose")
SUPER = sic_bo("lose")
FOUR_NUMBERS = EXAMPLES / "house-four-numbers.toml"
HOUSE = load(FOUR_NUMBERS).layout
VALUES = (2, 2, 5)
LIT = SUPER.won(VALUES)


PATIENT = {"reply_slack_s": 2.0, "show_deadline_s": 5.0, "request_deadline_s": 5.0}


class Bench:
    """A box at the end of a line."""

    def __init__(
        self,
        folder: Path,
        framing: Framing | None = Framing(115200),  # noqa: B008 - it is frozen
        box: LampBox | None = None,
    ) -> None:
        self.device = folder / "lamp"
        self.box = box or LampBox(memory=folder / "memory.json")
        end = BoxEnd()
        self.line = Line("lamp", Terminal(self.device), end, framing=framing)
        silence_s = (framing or Framing(115200)).silence_s
        self.unit = ModbusUnit(self.box, end, reply_delay_s=silence_s)
        self.unit.thread.start()

    def lamp(self, layout: Layout = SUPER, **parameters: float) -> ModbusLamp:
        return ModbusLamp(LampParameters(device=str(self.device), **parameters), layout)

    def patient_lamp(self, layout: Layout = SUPER, baudrate: int = 115200) -> ModbusLamp:
        """One that waits longer than a table may: what travels is asked of it, not how fast."""
        usual = LampParameters(device=str(self.device), baudrate=baudrate)
        return ModbusLamp(usual.model_copy(update=PATIENT), layout)

    def close(self) -> None:
        self.line.close()
        self.unit.thread.join(2)
        assert not self.unit.thread.is_alive()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


@pytest.fixture
def lamp(bench: Bench) -> Iterator[ModbusLamp]:
    lamp = bench.patient_lamp()
    lamp.prove_dark()
    yield lamp
    lamp.close()


@pytest.fixture
def timely(bench: Bench) -> Iterator[ModbusLamp]:
    """One with a table's own deadlines: asked where a deadline is what ends the try."""
    lamp = bench.lamp()
    lamp.prove_dark()
    yield lamp
    lamp.close()


# ── The good way ──


def test_a_result_takes_three_requests_and_245_bytes(lamp, bench, record_property) -> None:
    """Counted and not timed: the wire's arithmetic holds on a busy machine too.

    176 of the bytes lie on the way to the proof: 15 ms at 115200 baud, and 20 ms until the lamps
    are warm. The reply to the commit travels meanwhile.
    """
    counts, times = [], []
    for round_id in range(1, 6):
        before, began = sum(bench.line.carried), time.monotonic()
        lamp.show(round_id, VALUES)
        times.append(time.monotonic() - began)
        time.sleep(0.005)
        counts.append(sum(bench.line.carried) - before)
        lamp.clear(round_id)
    line = lamp.line()
    assert line.reply_ms is not None
    assert line.slowest_ms is not None
    assert 0.0 < line.reply_ms <= line.slowest_ms
    record_property("show_ms_median", round(statistics.median(times) * 1000, 1))
    assert min(counts) == 245


def test_a_slow_line_shows_a_result_too(tmp_path) -> None:
    bench = Bench(tmp_path, Framing(19200))
    lamp = bench.lamp(
        baudrate=19200, show_deadline_s=0.4, request_deadline_s=0.4, multipliers_deadline_s=1.0
    )
    lamp.prove_dark()
    assert lamp.show(7, VALUES) == LIT
    lamp.clear(7)
    lamp.show_multipliers(8, {"triple-1": 999})
    lamp.close()
    bench.close()


@pytest.mark.parametrize("layout", [FIFTY, FIFTY_TWO, SUPER, HOUSE])
def test_box_and_rules_name_the_same_lamps_for_all_216_results(layout) -> None:
    box = LampBox(own=own_areas(FOUR_NUMBERS) if layout is HOUSE else None)
    for a, b, c in product(range(1, 7), repeat=3):
        values = (a, b, c)
        expected = layout.mask(layout.won(values))
        stage = Stage(1, 1, values, layout_word(layout), layout_options(layout), expected)
        box.write(STAGE.address, encode_stage(stage))
        back = decode_stage(box.read(STAGE.address, STAGE.words), layout)
        assert (back.verdict, back.own) == (0, layout.won(values)), values


def test_the_areas_of_a_house_travel_the_whole_line(tmp_path) -> None:
    bench = Bench(tmp_path, None, LampBox(own=own_areas(FOUR_NUMBERS)))
    bench.box.faults.inject("lamp_late", delay_s=0.0)
    lamp = bench.patient_lamp(HOUSE)
    for round_id, values in enumerate(combinations_with_replacement(range(1, 7), 3), start=1):
        assert lamp.show(round_id, values) == HOUSE.won(values)
        assert bench.box.glance()["glowing"] == [*HOUSE.in_order(HOUSE.won(values))]
        lamp.darken()
    lamp.close()
    bench.close()


@pytest.mark.parametrize(
    ("made_for", "layout", "says"),
    [
        ({}, HOUSE, "the lamp box has 52 areas, the profile 56"),
        (own_areas(FOUR_NUMBERS), FIFTY, "is made for layout"),
        ({"x": {"lamp": 55, "shows": [1]}}, HOUSE, "is made for layout"),
    ],
)
def test_a_box_that_is_made_for_another_layout_is_refused(tmp_path, made_for, layout, says) -> None:
    bench = Bench(tmp_path, box=LampBox(own=made_for))
    with pytest.raises(LampReplyError, match=says):
        bench.patient_lamp(layout).identify()
    bench.close()


def test_phases_tests_and_odds_reach_the_box(lamp, bench) -> None:
    lamp.show_phase(LampPhase.BETS_OPEN, 5)
    lamp.show_multipliers(5, {"triple-1": 999, "one-1/2": 15, "total-4": 499})
    assert bench.box.read(0x0017, 3) == [LampPhase.BETS_OPEN, 0, 5]
    assert bench.box.read(0x00D0, 8)[1:] == [5, 0, 0, 0, 0, 0, 999]
    assert lamp.test_area("triple-6") == {"triple-6"}
    assert lamp.test_area(None) == frozenset()


def test_a_box_that_restarts_between_two_looks_is_found_dark(lamp, bench) -> None:
    lamp.show(7, VALUES)
    bench.box.restart()
    with pytest.raises(LampReadbackError, match="should show round 7"):
        lamp.prove_lit(7, VALUES)
    assert lamp.show(7, VALUES) == LIT


# ── Damage: one bad reply costs nothing, a bad line is named, nothing wrong is ever taken ──


@pytest.mark.parametrize("event", ["stage", "commit"])
def test_a_restart_in_mid_push_still_ends_with_the_truth(bench, event) -> None:
    lamp = bench.lamp(show_deadline_s=0.4)
    lamp.prove_dark()
    bench.box.faults.inject("lamp_restart", after=(1, event), down_s=0.05)
    assert lamp.show(7, VALUES) == LIT
    lamp.close()


SPOILED = [
    ("lamp_silent", LampTimeoutError, "does not answer"),
    ("lamp_late", LampError, "in time"),
    ("lamp_exception", LampReplyError, "refused|exception"),
    ("lamp_crc", LampReplyError, "no reply of unit 1"),
    ("lamp_truncated", LampReplyError, "no reply of unit 1"),
    ("lamp_garbage_inside", LampReplyError, "no reply of unit 1"),
    ("lamp_other_unit", LampReplyError, "no reply of unit 1"),
]


@pytest.mark.parametrize(("fault", "leaf", "text"), SPOILED)
def test_a_spoiled_line_ends_at_the_deadline_with_its_own_error(
    timely, bench, fault, leaf, text
) -> None:
    bench.box.faults.inject(fault)
    began = time.monotonic()
    with pytest.raises(leaf, match=text) as error:
        timely.show(7, VALUES)
    assert time.monotonic() - began < 0.25 + 0.2  # the deadline, and what a busy machine adds
    assert error.value.remedy
    bench.box.faults.heal()
    time.sleep(0.35 if fault == "lamp_late" else 0.03)
    timely.darken()
    timely.prove_dark()


@pytest.mark.parametrize("fault", ["lamp_garbage_before", "lamp_garbage_after"])
def test_garbage_around_replies_never_makes_a_wrong_result(timely, bench, fault) -> None:
    bench.box.faults.inject(fault)
    with contextlib.suppress(LampError):
        assert timely.show(7, VALUES) == LIT
    assert bench.box.glance()["round"] in (0, 7)
    bench.box.faults.heal()
    assert timely.show(7, VALUES) == LIT


class LoudWire:
    """The box's end of a line with an adapter that hears itself, or a driver that chatters."""

    def __init__(self, end: BoxEnd, how: str) -> None:
        self._end, self._how = end, how
        self._held = b""

    def receive(self, timeout_s: float | None) -> bytes | None:
        data = self._end.receive(timeout_s)
        if data and "at once" in self._how:
            self._end.send(data)
        elif data and "in drips" in self._how:
            for byte in data:
                self._end.send(bytes((byte,)))
                time.sleep(0.0005)
        elif data and "beside the reply" in self._how:
            self._held += data
        return data

    def send(self, data: bytes) -> None:
        held, self._held = self._held, b""
        stray = b"\xff\x00" if "stray" in self._how else b""
        self._end.send(stray + held + stray + data)


LOUD = ["echo at once", "echo in drips", "echo beside the reply", "stray", "stray, echo at once"]


@pytest.mark.parametrize("how", [*LOUD, "quiet"])
def test_what_comes_before_a_reply_hides_no_reply(bench, how) -> None:
    bench.unit._wire = LoudWire(bench.unit._wire, how)
    lamp = bench.patient_lamp()
    for number in range(1, 4):
        assert lamp.show(number, VALUES) == LIT
        lamp.clear(number)
        lamp.prove_dark()
    assert lamp.line().repeats == 0
    lamp.close()


def test_an_echo_without_a_reply_is_called_an_echo(timely, bench) -> None:
    bench.box.faults.inject("lamp_silent")
    bench.unit._wire = LoudWire(bench.unit._wire, "echo at once")
    with pytest.raises(LampTimeoutError, match="its own request came back"):
        timely.status()


def test_a_noisy_line_shows_the_truth_or_nothing(timely, bench) -> None:
    bench.line.faults.inject("line_noise", per_byte=0.004)
    shown = tried = 0
    ends_at = time.monotonic() + 20.0
    while tried < 8 or (shown == 0 and time.monotonic() < ends_at):
        tried += 1
        try:
            shown += timely.show(tried, VALUES) == LIT
            timely.darken()
        except LampError:
            continue
    assert shown >= 1
    bench.line.faults.heal()


@pytest.mark.parametrize(
    ("fault", "leaf", "text"),
    [
        ("lamp_not_a_box", LampReplyError, "no lamp box"),
        ("lamp_other_map", LampReplyError, "register map 2.0"),
    ],
)
def test_another_device_is_refused_before_anything_is_written(bench, fault, leaf, text) -> None:
    bench.box.faults.inject(fault)
    lamp = bench.lamp()
    with pytest.raises(leaf, match=text):
        lamp.show(7, VALUES)
    assert bench.box.glance()["last_committed"] == 0
    lamp.close()


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ({"name": "bulb_burnt", "area": "total-9"}, "dark: total-9"),
        ({"name": "bulb_stuck", "area": "big"}, "nobody lit: big"),
        ({"name": "lamps_shifted"}, "wrong lamps"),
        ({"name": "lamp_extra", "area": "big"}, "too many big"),
    ],
)
def test_lamps_that_lie_are_found_and_darkened_within_half_a_second(
    timely, bench, sentence, text
) -> None:
    bench.box.faults.inject(**sentence)
    began = time.monotonic()
    with pytest.raises(LampReadbackError, match=text):
        timely.show(7, VALUES)
    timely.darken()
    timely.show_phase(LampPhase.FAULT, 7)
    assert time.monotonic() - began < 0.5
    assert bench.box.read(0x001E, 4) == [0, 0, 0, 0]


def test_lamps_that_do_not_go_dark_are_found(lamp, bench) -> None:
    lamp.show(7, VALUES)
    bench.box.faults.inject("lamps_latched")
    with pytest.raises(LampReadbackError, match="not dark"):
        lamp.clear(7)
    with pytest.raises(LampReadbackError, match="still drives"):
        lamp.darken()


@pytest.mark.parametrize("fault", ["lamp_supply_low", "lamp_memory_bad", "bulb_stuck"])
def test_a_sick_box_is_not_dark_and_healthy(lamp, bench, fault) -> None:
    bench.box.faults.inject(fault)
    # A reply that a busy computer left in the line counts as fresh for this long.
    time.sleep(FreshReplies.SLACK_S)
    with pytest.raises(LampReadbackError):
        lamp.prove_dark()


def test_wrong_odds_are_found(lamp, bench) -> None:
    bench.box.faults.inject("odds_wrong")
    with pytest.raises(LampReadbackError, match="triple-1"):
        lamp.show_multipliers(7, {"triple-1": 999})


# ── A line that is set otherwise ──


@pytest.mark.parametrize("ours", [9600, 57600, 230400])
def test_a_wrong_baudrate_is_a_box_that_does_not_answer_and_says_what_to_check(bench, ours) -> None:
    lamp = bench.lamp(baudrate=ours)
    with pytest.raises(LampTimeoutError, match="does not answer") as error:
        lamp.show(7, VALUES)
    assert "lamp.baudrate" in error.value.line()
    assert bench.box.glance()["last_committed"] == 0
    lamp.close()
    again = bench.lamp()
    assert again.show(7, VALUES) == LIT
    again.close()


@pytest.mark.parametrize("parity", [Parity.EVEN, Parity.ODD])
def test_a_box_that_is_set_to_parity_is_not_understood(tmp_path, parity) -> None:
    bench = Bench(tmp_path, Framing(115200, parity))
    lamp = bench.lamp()
    with pytest.raises(LampError):
        lamp.identify()
    lamp.close()
    bench.close()


@pytest.mark.parametrize("baudrate", [9600, 19200, 115200, 230400])
def test_no_request_begins_before_the_line_was_silent_for_long_enough(tmp_path, baudrate) -> None:
    bench = Bench(tmp_path, Framing(baudrate))
    lamp = bench.patient_lamp(baudrate=baudrate)
    for _ in range(6):
        lamp.status()
    lamp.close()
    assert bench.line.interrupted == 0
    bench.close()


def test_a_request_that_begins_too_early_is_not_heard(bench) -> None:
    ask = bytes.fromhex("0103000000018 40A".replace(" ", ""))
    with serial.Serial(str(bench.device), 115200, timeout=1.0) as line:
        line.write(ask)
        assert len(line.read(7)) == 7
        line.write(ask)
        early = line.read(7)
    assert len(early) == (0 if bench.line.interrupted else 7)


# ── The port ──


def test_a_missing_device_is_named_at_once(tmp_path) -> None:
    lamp = ModbusLamp(LampParameters(device=str(tmp_path / "none")), SUPER)
    with pytest.raises(LampTimeoutError, match="cannot open the lamp line") as error:
        lamp.identify()
    assert "lamp.device" in error.value.line()


def test_a_missing_device_is_named_even_where_the_time_ran_out_over_it(tmp_path) -> None:
    lamp = ModbusLamp(LampParameters(device=str(tmp_path / "none")), SUPER)
    registers = lamp._line
    with pytest.raises(LampTimeoutError):
        registers.read(0, 1, time.monotonic() + 1.0)
    with pytest.raises(LampTimeoutError, match="cannot open the lamp line"):
        registers.read(0, 1, time.monotonic() - 1.0)


def test_an_unplugged_adapter_is_named_and_taken_up_again(timely, bench) -> None:
    timely.show(7, VALUES)
    bench.line.faults.inject("line_unplugged")
    until(lambda: not bench.device.is_symlink())
    with pytest.raises(LampTimeoutError):
        timely.status()
    bench.line.faults.heal()
    until(bench.device.is_symlink)
    timely.prove_lit(7, VALUES)


def test_a_cut_cable_is_silence_and_the_result_holds(timely, bench) -> None:
    timely.show(7, VALUES)
    bench.line.faults.inject("line_cut")
    with pytest.raises(LampTimeoutError, match="does not answer"):
        timely.status()
    assert bench.box.glance()["state"] == "result"
    bench.line.faults.heal()
    timely.prove_lit(7, VALUES)


# ── Somebody else's client ──


def mbpoll(bench: Bench, options: str, values: str = "") -> str:
    """Return what mbpoll, which knows nothing of this project, prints."""
    program = shutil.which("mbpoll")
    if program is None:
        pytest.skip("mbpoll is not installed (Debian package mbpoll)")
    line = "-m rtu -a 1 -b 115200 -P none -0 -1 -o 2"
    command = [program, *line.split(), *options.split(), str(bench.device), *values.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    return done.stdout + done.stderr


def test_mbpoll_reads_the_box_when_the_service_is_stopped(bench) -> None:
    lamp = bench.lamp()
    lamp.show(4711, VALUES)
    lamp.close()
    assert "0x51B0" in mbpoll(bench, "-r 0 -c 16 -t 4:hex")
    status = mbpoll(bench, "-r 28 -c 1 -t 4:int -B")
    assert "4711" in status


def test_mbpoll_lights_a_lamp_by_the_document(bench) -> None:
    mbpoll(bench, "-r 96 -t 4", "1 5 0 0 11")
    time.sleep(0.05)
    assert bench.box.glance()["glowing"] == ["triple-6"]
    refused = mbpoll(bench, "-r 96 -t 4", "2 9 0 0 0")
    assert "Illegal data value" in refused
    mbpoll(bench, "-r 96 -t 4", "3 3 0 0 0")
    assert bench.box.glance()["state"] == "dark"
