"""The virtual lamp box behaves as REGISTERS.md says, on a clock that moves only when told."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement, product
from pathlib import Path

import pytest

from hil_tests.rig.lamp_box.box import LampBox, Refused
from hil_tests.rig.lamp_box.firmware import FirmwareBox
from hil_tests.rig.lamp_box.layout import LAMP, names_of, winning_lamps
from hil_tests.rig.lamp_box.tests.conftest import rig_alone
from hil_tests.rig.wires.tests.bench_line import Pause

Dice = tuple[int, int, int]

COMMIT, CLEAR, DARK, PHASE, TEST, CORRECT = range(1, 7)
WARM_S = 0.03


class Bench:
    """A box with a clock, spoken to in the words of the document."""

    def __init__(self, areas: int = 52, memory: Path | None = None) -> None:
        clock = Pause()
        self.clock: Pause | FirmwareBox = clock
        self.box: LampBox | FirmwareBox = LampBox(areas, clock=clock, memory=memory)

    def stage(
        self,
        round_id: int,
        values: Dice,
        mask: int | None = None,
        *,
        layout: int = 52,
        options: int = 0,
    ) -> int:
        """Stage and return the verdict."""
        if mask is None:
            mask = win(values, layout, options)
        words = [1, round_id >> 16, round_id & 0xFFFF, *values, layout, options]
        self.box.write(0x0040, [*words, *(mask >> 16 * k & 0xFFFF for k in (3, 2, 1, 0))])
        return self.box.read(0x004C, 1)[0]

    def command(self, code: int, round_id: int = 0, argument: int = 0) -> None:
        self.box.write(0x0060, [9, code, round_id >> 16, round_id & 0xFFFF, argument])

    def show(self, round_id: int, values: Dice, *, layout: int = 52) -> None:
        self.stage(round_id, values, layout=layout)
        self.command(COMMIT, round_id)
        self.clock.now += WARM_S

    def number(self, address: int, words: int = 1) -> int:
        value = 0
        for word in self.box.read(address, words):
            value = value << 16 | word
        return value

    @property
    def driven(self) -> list[str]:
        return names_of(self.number(0x001E, 4))

    @property
    def glowing(self) -> list[str]:
        return names_of(self.number(0x0022, 4))

    def refused(self, act: Callable[..., None], *args: object) -> int:
        """Do what must be refused and return why."""
        before = self.box.read(0x0016, 24)
        with pytest.raises(Refused) as refusal:
            act(*args)
        assert refusal.value.code == 3
        assert self.box.read(0x0016, 24) == before, "a refused write changed something"
        return self.number(0x0012)


def win(values: Dice, layout: int = 52, options: int = 0) -> int:
    return winning_lamps(
        values,
        areas=layout,
        double_on_triple=bool(options & 1),
        even_odd_on_triple=bool(options & 2),
    )


@pytest.fixture
def bench(box: LampBox | FirmwareBox) -> Bench:
    bench = Bench()
    if isinstance(box, FirmwareBox):
        bench.box = bench.clock = box
    return bench


# ── Winning lamps ──


def test_lamps_are_counted_as_the_definitions_of_the_wagers_say():
    for values in combinations_with_replacement(range(1, 7), 3):
        different = len(set(values))
        lit = len(names_of(win(values, 50, 1)))
        total_lit = 0 if sum(values) in (3, 18) else 1
        assert lit == {3: 8, 2: 6, 1: 4 + total_lit}[different]


def test_triples_lose_small_big_even_and_odd_unless_told():
    assert set(names_of(win((2, 2, 2)))) == {"any-triple", "triple-2", "total-6", "one-2"}
    assert "even" in names_of(win((2, 2, 2), 52, 2))
    assert "even" not in names_of(win((2, 2, 2), 50, 2))
    assert "double-2" in names_of(win((2, 2, 2), 52, 1))


def test_the_box_counts_every_result_on_every_layout_alike(bench):
    for values in product(range(1, 7), repeat=3):
        for layout, options in product((50, 52), range(4)):
            assert bench.stage(1, values, layout=layout, options=options) == 0, values


# ── Stage and commit ──


def test_a_committed_result_is_lit_and_measured(bench):
    bench.show(4711, (2, 2, 5))
    assert bench.glowing == bench.driven == names_of(win((2, 2, 5)))
    assert bench.number(0x0010) == 1
    assert bench.number(0x001A, 2) == bench.number(0x001C, 2) == 4711


def test_nothing_is_lit_by_staging_alone(bench):
    assert bench.stage(1, (1, 2, 3)) == 0
    bench.clock.now += 0.5
    assert bench.driven == bench.glowing == []


@pytest.mark.parametrize(
    ("values", "mask", "layout", "verdict"),
    [
        ((0, 2, 3), 0, 52, 4),
        ((1, 2, 7), 0, 52, 4),
        ((1, 2, 3), None, 51, 5),
        ((1, 2, 3), win((1, 2, 4)), 52, 6),
        ((1, 2, 3), win((1, 2, 3)) | 1 << 51, 52, 6),
        ((1, 2, 3), 0, 52, 6),
    ],
)
def test_a_bad_stage_has_its_verdict_and_is_never_committed(bench, values, mask, layout, verdict):
    assert bench.stage(1, values, 0 if mask is None else mask, layout=layout) == verdict
    assert bench.refused(bench.command, COMMIT, 1) == verdict
    assert bench.driven == []


def test_a_stage_expires_after_a_second(bench):
    bench.stage(1, (1, 2, 3))
    bench.clock.now += 1.01
    assert bench.refused(bench.command, COMMIT, 1) == 2
    assert bench.box.read(0x0040, 17) == [*[0] * 12, 2, 0, 0, 0, 0]


def test_a_commit_needs_the_staged_round(bench):
    bench.stage(1, (1, 2, 3))
    assert bench.refused(bench.command, COMMIT, 2) == 3
    assert bench.refused(bench.command, COMMIT, 0x10001) == 3


def test_a_commit_without_a_stage_is_refused(bench):
    assert bench.refused(bench.command, COMMIT, 0) == 2


def test_what_is_lit_may_be_staged_and_committed_again(bench):
    bench.show(5, (1, 2, 3))
    bench.show(5, (1, 2, 3))
    assert bench.driven == names_of(win((1, 2, 3)))


@pytest.mark.parametrize(("round_id", "values"), [(6, (1, 2, 3)), (5, (1, 2, 4))])
def test_another_result_needs_a_clear_first(bench, round_id, values):
    bench.show(5, (1, 2, 3))
    assert bench.stage(round_id, values) == 7
    assert bench.refused(bench.command, COMMIT, round_id) == 7
    assert bench.driven == names_of(win((1, 2, 3)))


def test_a_result_holds_until_its_own_clear(bench):
    bench.show(5, (1, 2, 3))
    bench.clock.now += 86400
    assert bench.glowing == names_of(win((1, 2, 3)))
    assert bench.refused(bench.command, CLEAR, 6) == 3
    bench.command(CLEAR, 5)
    bench.clock.now += WARM_S
    assert bench.glowing == []
    bench.command(CLEAR, 5)


def test_dark_is_never_refused(bench):
    bench.command(DARK)
    bench.show(5, (1, 2, 3))
    bench.command(DARK, 99)
    assert bench.driven == []
    bench.command(TEST, 0, 3)
    bench.command(DARK)
    assert bench.driven == []
    bench.box.faults.inject("lamp_dead_drivers")
    bench.command(DARK)


def test_a_box_of_50_serves_50_and_lights_no_even_or_odd():
    bench = Bench(50)
    assert bench.stage(1, (1, 2, 3)) == 5
    bench.show(1, (1, 2, 3), layout=50)
    assert not {"even", "odd"} & set(bench.driven)
    assert bench.refused(bench.command, TEST, 0, LAMP["even"] + 1) == 7
    bench.command(CLEAR, 1)
    assert bench.refused(bench.command, TEST, 0, LAMP["even"] + 1) == 9


def test_a_box_of_52_serves_50_too(bench):
    bench.show(1, (1, 2, 3), layout=50)
    assert bench.driven == names_of(win((1, 2, 3), 50))


# ── Correcting ──


def corrected(bench: Bench, round_id: int, values: Dice) -> None:
    bench.stage(round_id, values)
    bench.command(CORRECT, round_id)
    bench.clock.now += WARM_S


def committed(bench: Bench) -> tuple[int, int, int, int]:
    return (
        *(bench.number(0x0140, 2), bench.number(0x0142, 4), bench.number(0x0146, 4)),
        bench.number(0x014A),
    )


def test_a_round_is_lit_otherwise_only_as_a_correction_and_once(bench):
    first, second, third = (2, 2, 5), (2, 2, 6), (2, 2, 4)
    bench.show(7, first)
    bench.command(CLEAR, 7)
    assert bench.stage(7, second) == 0
    assert bench.refused(bench.command, COMMIT, 7) == 12
    corrected(bench, 7, second)
    assert bench.glowing == bench.driven == names_of(win(second))
    assert committed(bench) == (7, win(first), win(second), 1)
    bench.command(CLEAR, 7)
    for other in (first, third):
        bench.stage(7, other)
        assert bench.refused(bench.command, CORRECT, 7) == 12
        assert bench.refused(bench.command, COMMIT, 7) == 12
    assert bench.driven == []


def test_a_correction_may_be_said_again_and_shown_again_after_a_restart(tmp_path):
    bench = Bench(memory=tmp_path / "memory.json")
    bench.show(7, (2, 2, 5))
    bench.command(CLEAR, 7)
    corrected(bench, 7, (2, 2, 6))
    corrected(bench, 7, (2, 2, 6))
    bench.box.restart()
    assert bench.stage(7, (2, 2, 5)) == 0
    assert bench.refused(bench.command, COMMIT, 7) == 12
    bench.show(7, (2, 2, 6))
    assert bench.driven == names_of(win((2, 2, 6)))
    again = Bench(memory=tmp_path / "memory.json")
    assert committed(again) == (7, win((2, 2, 5)), win((2, 2, 6)), 1)


def test_the_result_that_stands_is_no_correction(bench):
    bench.show(7, (2, 2, 5))
    corrected(bench, 7, (5, 2, 2))
    assert committed(bench) == (7, win((2, 2, 5)), win((2, 2, 5)), 0)
    bench.command(CLEAR, 7)
    corrected(bench, 7, (1, 2, 3))
    assert committed(bench)[3] == 1


@pytest.mark.parametrize("round_id", [0, 6, 8])
def test_only_the_last_committed_round_is_corrected(bench, round_id):
    bench.show(7, (2, 2, 5))
    bench.command(CLEAR, 7)
    bench.stage(round_id, (1, 2, 3))
    assert bench.refused(bench.command, CORRECT, round_id) == 3
    assert bench.driven == []


def test_a_correction_waits_for_dark_lamps_and_for_its_own_stage(bench):
    bench.show(7, (2, 2, 5))
    assert bench.refused(bench.command, CORRECT, 7) == 2
    assert bench.stage(7, (2, 2, 6)) == 7
    assert bench.refused(bench.command, CORRECT, 7) == 7
    assert bench.driven == names_of(win((2, 2, 5)))


def test_the_next_round_begins_with_no_correction(bench):
    bench.show(7, (2, 2, 5))
    bench.command(CLEAR, 7)
    corrected(bench, 7, (2, 2, 6))
    bench.command(CLEAR, 7)
    bench.show(8, (1, 2, 3))
    assert committed(bench) == (8, win((1, 2, 3)), win((1, 2, 3)), 0)


def test_an_entry_of_the_inspection_may_be_lit_again_otherwise(bench):
    bench.show(7, (2, 2, 5))
    bench.command(CLEAR, 7)
    for values in ((4, 4, 4), (1, 2, 3)):
        bench.show(0, values)
        bench.command(CLEAR, 0)
    assert committed(bench) == (7, win((2, 2, 5)), win((2, 2, 5)), 0)


# ── Anchor ──

TABLE, OTHER_TABLE = [1, 2, 3, 4], [1, 2, 3, 5]


def anchor(round_id: int, record: int, head: int = 7, table: list[int] = TABLE) -> list[int]:
    return [*table, 0, round_id, 0, record, *[head] * 16]


def test_an_anchor_reads_back_and_survives_every_restart(tmp_path):
    bench = Bench(memory=tmp_path / "memory.json")
    bench.box.write(0x0150, anchor(7, 300))
    bench.box.restart()
    for box in (bench.box, Bench(memory=tmp_path / "memory.json").box):
        assert box.read(0x0150, 25) == [*anchor(7, 300), 0]


@pytest.mark.parametrize(
    "other",
    [
        anchor(7, 300, head=8),
        anchor(7, 301),
        anchor(6, 299),
        anchor(6, 301),
        anchor(8, 300),
        anchor(8, 299),
        anchor(8, 301, table=OTHER_TABLE),
    ],
)
def test_an_anchor_never_goes_back_changes_or_passes_to_another_table(bench, other):
    bench.box.write(0x0150, anchor(7, 300))
    bench.box.write(0x0150, anchor(7, 300))
    assert bench.refused(bench.box.write, 0x0150, other) == 13
    assert bench.box.read(0x0150, 24) == anchor(7, 300)
    bench.box.write(0x0150, anchor(8, 301, head=8))
    assert bench.box.read(0x0150, 24) == anchor(8, 301, head=8)


@pytest.mark.parametrize("other", [anchor(0, 300), anchor(7, 0)])
def test_an_anchor_belongs_to_a_round_and_a_record(bench, other):
    assert bench.refused(bench.box.write, 0x0150, other) == 9


def test_an_anchor_touches_no_lamp_and_is_taken_by_a_box_that_cannot_light(bench):
    bench.show(7, (2, 2, 5))
    bench.box.write(0x0150, anchor(6, 250))
    assert bench.driven == names_of(win((2, 2, 5)))
    bench.box.faults.inject("lamp_dead_drivers")
    bench.box.write(0x0150, anchor(7, 300))


def test_a_memory_that_cannot_be_trusted_keeps_no_anchor_and_corrects_nothing(bench):
    bench.show(7, (2, 2, 5))
    bench.box.write(0x0150, anchor(6, 250))
    bench.command(CLEAR, 7)
    bench.box.faults.inject("lamp_memory_bad")
    assert bench.box.read(0x0150, 24) == [0] * 24
    assert bench.box.read(0x0140, 11) == [0] * 11
    assert bench.refused(bench.box.write, 0x0150, anchor(7, 300)) == 11
    bench.stage(7, (2, 2, 6))
    assert bench.refused(bench.command, CORRECT, 7) == 11


def test_a_hand_inside_the_housing_erases_the_memory_and_is_counted(tmp_path):
    bench = Bench(memory=tmp_path / "memory.json")
    bench.show(7, (2, 2, 5))
    bench.box.write(0x0150, anchor(7, 300))
    restarts = bench.number(0x0013)
    bench.box.erase_memory()
    assert bench.driven == []
    assert bench.box.read(0x0150, 25) == [*[0] * 24, 1]
    assert committed(bench) == (0, 0, 0, 0)
    assert (bench.number(0x001C, 2), bench.number(0x0013)) == (0, restarts + 1)
    bench.box.write(0x0150, anchor(1, 12, table=OTHER_TABLE))


@rig_alone
def test_hands_at_the_box_erase_its_memory_or_put_another_in_its_place(bench):
    bench.show(7, (2, 2, 5))
    number = bench.number(0x0003, 2)
    bench.box.faults.inject("lamp_other_box")
    assert bench.box.is_up
    assert (bench.number(0x0003, 2), bench.number(0x001C, 2), bench.driven) == (4242, 0, [])
    bench.box.faults.heal()
    assert bench.box.is_up
    assert (bench.number(0x0003, 2), bench.number(0x001C, 2)) == (number, 7)
    bench.box.faults.inject("lamp_memory_erased")
    assert bench.box.is_up
    assert (bench.number(0x001C, 2), bench.number(0x0168)) == (0, 1)
    assert "lamp_memory_erased" not in bench.box.faults


# ── Blocks ──


@pytest.mark.parametrize("address", [0x0040, 0x0060, 0x0080, 0x0150])
@pytest.mark.parametrize("off", [-1, 1])
def test_a_write_that_does_not_cover_its_block_is_refused(bench, address, off):
    length = {0x0040: 12, 0x0060: 5, 0x0080: 66, 0x0150: 24}[address]
    assert bench.refused(bench.box.write, address, [1] * (length + off)) == 10


@pytest.mark.parametrize("address", [0x0000, 0x0010, 0x0030, 0x00D0, 0x0120, 0x0140, 0x0200])
def test_what_is_not_written_cannot_be_written(bench, address):
    with pytest.raises(Refused) as refusal:
        bench.box.write(address, [1])
    assert refusal.value.code == 2


@pytest.mark.parametrize(("address", "count"), [(0x000F, 2), (0x0030, 1), (0x003F, 2), (0x0139, 2)])
def test_a_read_ends_inside_its_block(bench, address, count):
    with pytest.raises(Refused) as refusal:
        bench.box.read(address, count)
    assert refusal.value.code == 2


@pytest.mark.parametrize("code", [0, 7, 0xFFFF])
def test_unknown_commands_are_refused(bench, code):
    assert bench.refused(bench.command, code) == 1


# ── Test, phase, multipliers ──


def test_every_lamp_can_be_lit_alone(bench):
    for area, lamp in LAMP.items():
        bench.command(TEST, 0, lamp + 1)
        bench.clock.now += WARM_S
        assert bench.glowing == [area]
    bench.command(TEST, 0, 0)
    bench.clock.now += WARM_S
    assert bench.glowing == []


def test_a_test_is_refused_while_a_result_is_lit(bench):
    bench.show(5, (1, 2, 3))
    assert bench.refused(bench.command, TEST, 0, 1) == 7


def test_a_forgotten_test_ends_by_itself(bench):
    bench.command(TEST, 0, 1)
    assert bench.stage(1, (1, 2, 3)) == 8
    bench.clock.now += 10.1
    assert bench.driven == []
    assert bench.number(0x0010) == 0


def test_phases_are_shown_with_their_mark(bench):
    bench.command(PHASE, 7, 0x0103)
    assert (bench.number(0x0017), bench.number(0x0018, 2)) == (0x0103, 7)
    assert bench.refused(bench.command, PHASE, 7, 14) == 9
    assert bench.refused(bench.command, PHASE, 7, 0x0200) == 9


def odds(round_id: int, **places: int) -> list[int]:
    words = [0, round_id, *[0] * 64]
    for place, value in places.items():
        words[2 + int(place[1:])] = value
    return words


def test_multipliers_are_shown_until_the_round_is_cleared(bench):
    bench.box.write(0x0080, odds(5, p5=999))
    assert bench.box.read(0x00D0, 66) == odds(5, p5=999)
    bench.show(5, (1, 2, 3))
    assert bench.box.read(0x00D0, 66) == odds(5, p5=999)
    assert bench.refused(bench.box.write, 0x0080, odds(5)) == 7
    bench.command(CLEAR, 5)
    assert bench.box.read(0x00D0, 66) == [0] * 66


def test_multipliers_of_another_round_do_not_survive_a_commit(bench):
    bench.box.write(0x0080, odds(4, p5=999))
    bench.show(5, (1, 2, 3))
    assert bench.box.read(0x00D0, 66) == [0] * 66


def test_odds_beyond_four_digits_are_refused(bench):
    assert bench.refused(bench.box.write, 0x0080, odds(5, p5=10000)) == 9


# ── Power ──


def test_a_restart_is_dark_and_remembers_the_last_committed_round(tmp_path):
    bench = Bench(memory=tmp_path / "memory.json")
    bench.show(0x00020001, (1, 2, 3))
    restarts = bench.number(0x0013)
    bench.box.restart()
    bench.clock.now += WARM_S
    assert bench.glowing == bench.driven == []
    assert (bench.number(0x0013), bench.number(0x001C, 2)) == (restarts + 1, 0x00020001)
    assert (bench.number(0x0010), bench.number(0x001A, 2), bench.number(0x0017)) == (0, 0, 0)
    again = Bench(memory=tmp_path / "memory.json")
    assert (again.number(0x0013), again.number(0x001C, 2)) == (restarts + 2, 0x00020001)


def test_an_inspections_entry_does_not_touch_the_retained_round(bench):
    bench.show(7, (1, 2, 3))
    bench.command(CLEAR, 7)
    bench.show(0, (4, 4, 4))
    assert bench.number(0x001C, 2) == 7


def test_a_memory_that_cannot_be_read_is_not_taken_for_zero(tmp_path):
    memory = tmp_path / "memory.json"
    Bench(memory=memory).show(7, (1, 2, 3))
    whole = memory.read_text()
    for damaged in ('{"last": ', "[]", "[" * 50_000, whole.replace('"last": 7', '"last": 5')):
        memory.write_text(damaged)
        for _ in range(2):  # a restart mends nothing
            bench = Bench(memory=memory)
            assert bench.number(0x0011) & 1 << 6
            assert not bench.number(0x0011) & 1
            assert bench.number(0x001C, 2) == 0
    bench.box.erase_memory()
    again = Bench(memory=memory)
    assert not again.number(0x0011) & 1 << 6
    memory.write_text(whole)
    assert Bench(memory=memory).number(0x001C, 2) == 7


# ── Lamps that fail ──


@rig_alone
def test_lamps_are_not_measured_until_they_are_warm(bench):
    bench.stage(1, (1, 2, 3))
    bench.command(COMMIT, 1)
    bench.clock.now += 0.002
    assert not bench.number(0x0011) & 2
    assert bench.glowing == []
    bench.clock.now += WARM_S
    assert bench.number(0x0011) & 2


def test_a_burnt_bulb_is_open_until_it_glows_again(bench):
    bench.box.faults.inject("bulb_burnt", area="total-6,one-1")
    bench.show(1, (1, 2, 3))
    assert set(bench.driven) - set(bench.glowing) == {"total-6", "one-1"}
    assert set(names_of(bench.number(0x0026, 4))) == {"total-6", "one-1"}
    bench.command(CLEAR, 1)
    bench.clock.now += WARM_S
    assert not bench.number(0x0011) & 1
    bench.box.faults.heal()
    for area in ("total-6", "one-1"):
        bench.command(TEST, 0, LAMP[area] + 1)
        bench.clock.now += WARM_S
        assert bench.glowing == [area]
    bench.command(TEST)
    bench.clock.now += WARM_S
    assert bench.number(0x0011) & 1


def test_a_stuck_bulb_glows_in_the_dark(bench):
    bench.box.faults.inject("bulb_stuck", area="big")
    assert bench.driven == []
    assert bench.glowing == ["big"]
    assert names_of(bench.number(0x002A, 4)) == ["big"]
    assert not bench.number(0x0011) & 1


def test_currents_tell_each_lamp(bench):
    bench.box.faults.inject("bulb_burnt", area="small")
    bench.show(1, (1, 2, 3))
    words = bench.box.read(0x0120, 26)
    currents = [percent for word in words for percent in divmod(word, 256)]
    assert currents[LAMP["small"]] == 0
    assert 90 <= currents[LAMP["total-6"]] <= 110
    assert currents[LAMP["big"]] == 0


@pytest.mark.parametrize(
    "fault", [{"name": "lamps_shifted"}, {"name": "lamp_extra", "area": "big"}]
)
def test_wrong_lamps_are_seen_in_what_glows(bench, fault):
    bench.box.faults.inject(**fault)
    bench.show(1, (1, 2, 3))
    assert bench.glowing != names_of(win((1, 2, 3)))
    bench.command(DARK)
    assert bench.driven == []


def test_latched_drivers_stay_lit(bench):
    bench.show(1, (1, 2, 3))
    bench.box.faults.inject("lamps_latched")
    bench.command(DARK)
    bench.clock.now += WARM_S
    assert bench.glowing == names_of(win((1, 2, 3)))


def test_a_box_in_fault_is_dark_and_lights_nothing(bench):
    bench.show(1, (1, 2, 3))
    bench.box.faults.inject("lamp_dead_drivers")
    assert bench.number(0x0010) == 3
    assert bench.driven == []
    assert bench.stage(1, (1, 2, 3)) == 11
    assert bench.refused(bench.command, COMMIT, 1) == 11
    assert bench.refused(bench.command, TEST, 0, 1) == 11
    assert bench.refused(bench.box.write, 0x0080, odds(1, p5=9)) == 11
    bench.command(CLEAR, 1)
    bench.box.faults.heal()
    assert bench.number(0x0010) == 0


@rig_alone
def test_the_rigs_own_eye_sees_every_lamp_that_burns_or_goes_out(bench):
    seen = []
    bench.box.on_change = lambda change: seen.append((change.round, set(change.areas)))
    bench.show(5, (1, 2, 3))
    bench.box.faults.inject("bulb_burnt", area="small")
    bench.box.glance()
    bench.command(CLEAR, 5)
    lit = set(names_of(win((1, 2, 3))))
    assert seen == [(5, lit), (5, lit - {"small"}), (0, set())]


@rig_alone
def test_a_fault_can_wait_for_what_the_box_does(bench):
    bench.box.faults.inject("lamp_restart", after=(1, "commit"))
    bench.stage(1, (1, 2, 3))
    assert bench.box.is_up
    bench.command(COMMIT, 1)
    assert not bench.box.is_up
    bench.clock.now += 0.31
    assert bench.box.is_up
    assert (bench.driven, bench.number(0x001C, 2)) == ([], 1)
