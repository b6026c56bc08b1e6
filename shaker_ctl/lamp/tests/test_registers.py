"""The register map: published vectors, widths, and the page that says what registers mean."""

from __future__ import annotations

import re
from enum import IntFlag
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.errors import LampReplyError
from shaker_ctl.lamp import registers as r
from shaker_ctl.rules.layout import AREAS, sic_bo

LAYOUTS = [sic_bo(), sic_bo("lose", "lose"), sic_bo("win")]
SUPER = LAYOUTS[2]


def status_words(**changes: int) -> list[int]:
    """Return the status of a healthy dark box; `changes` are by register address in hex."""
    words = [0] * r.STATUS.words
    words[1] = r.Flag.HEALTHY | r.Flag.MEASURED
    for address, word in changes.items():
        words[int(address.removeprefix("r"), 16) - r.STATUS.address] = word
    return words


PAGE = Path(r.__file__).with_name("REGISTERS.md").read_text("utf-8")
TABLE = re.compile(r"<!-- table: ([a-z ]+) -->\n.*?\n\| --- .*?\n(.*?)\n<!-- end -->", re.DOTALL)
TABLES = {
    name: [
        [cell.strip(" `") for cell in line.strip("|").split(" | ")] for line in rows.splitlines()
    ]
    for name, rows in TABLE.findall(PAGE)
}
"""The cells of each table of the page, by its mark."""


@pytest.mark.parametrize("block", r.BLOCKS, ids=lambda block: block.name)
def test_the_page_has_every_register_of_a_block_at_its_address(block):
    registers = [(f"{each.address:04X}", each.name, each.kind) for each in block.registers]
    assert [tuple(cells[:3]) for cells in TABLES[block.name]] == registers


def test_the_page_has_every_block_with_its_length():
    blocks = [(b.name, f"{b.address:04X}", str(b.words), str(b.written or "-")) for b in r.BLOCKS]
    assert [tuple(cells) for cells in TABLES["blocks"]] == blocks


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        *(("flags", r.Flag), ("capabilities", r.Capability), ("layout options", r.LayoutOption)),
        *(("commands", r.CommandCode), ("phases", r.LampPhase), ("refusals", r.BoxRefusal)),
    ],
)
def test_the_page_has_every_code_by_its_number_or_bit(name, codes):
    is_bits = issubclass(codes, IntFlag)
    numbers = [(int(code).bit_length() - 1 if is_bits else int(code), code.name) for code in codes]
    found = [(int(cells[0]), cells[1].upper().replace(" ", "_")) for cells in TABLES[name]]
    assert found == numbers


def test_the_page_says_of_a_refusal_what_a_person_is_told():
    assert [cells[2] for cells in TABLES["refusals"]] == [
        r.refusal_text(code) for code in r.BoxRefusal
    ]
    assert "99" in r.refusal_text(99)


def test_the_page_has_every_area_at_its_bit():
    areas = [area.strip(" `") for cells in TABLES["lamps"] for area in cells[1].split(",")]
    assert tuple(areas) == AREAS
    spans = [tuple(map(int, cells[0].split("-"))) for cells in TABLES["lamps"]]
    assert [bit for first, last in spans for bit in range(first, last + 1)] == [*range(len(AREAS))]


def test_the_page_is_of_this_version_of_the_map():
    assert f"this page is {r.MAP_MAJOR:02x}{r.MAP_MINOR:02x}" in PAGE


def test_blocks_do_not_overlap_and_fit_one_modbus_request():
    for one, other in pairwise(sorted(r.BLOCKS, key=lambda block: block.address)):
        assert one.address + one.words <= other.address
    assert all(block.words <= 118 for block in r.BLOCKS)  # function 23 may write 121, read 125


@given(st.integers(0, 2**64 - 1))
def test_wide_numbers_survive_their_words(number):
    assert r.join(r.split(number, 4)) == number


def test_wide_numbers_are_sent_most_significant_word_first():
    assert r.split(0x0001_0002_0003_0004, 4) == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="does not fit"):
        r.split(2**32, 2)


def test_a_stage_lies_in_its_registers_as_published():
    stage = r.Stage(1, 4711, (2, 2, 5), 52, r.LayoutOption(0), 0x0004802001001009)
    words = [1, 0, 4711, 2, 2, 5, 52, 0, 0x0004, 0x8020, 0x0100, 0x1009]
    assert r.encode_stage(stage) == words
    assert len(words) == r.STAGE.written
    back = r.decode_stage([*words, 6, 0, 0, 0, 1], SUPER)
    assert (back.stage, back.verdict, back.own) == (stage, 6, frozenset({"small"}))


def test_a_command_lies_in_its_registers_as_published():
    words = r.encode_command(7, r.CommandCode.TEST, 0x00010002, 11)
    assert words == [7, 5, 1, 2, 11]
    assert len(words) == r.COMMAND.written


def test_a_status_is_read_from_its_registers_as_published():
    status = r.decode_status(
        status_words(
            r10=1,
            r13=9,
            r14=1,
            r15=2,
            r16=3,
            r17=0x0108,
            r19=5,
            r1B=6,
            r1D=7,
            r21=0b11,
            r25=0b01,
            r29=0b10,
            r2A=0x0008,
            r2E=1199,
            r2F=0xFFF6,
        ),
        SUPER,
    )
    assert status.state is r.BoxState.RESULT
    assert (status.restarts, status.uptime_ms, status.sequence) == (9, 0x10002, 3)
    assert (status.phase, status.phase_round) == (r.LampPhase.RESULT | r.DEMONSTRATION, 5)
    assert (status.result_round, status.last_committed_round) == (6, 7)
    assert status.driven == {"small", "big"}
    assert status.lit == status.glowing == {"small"}
    assert status.open_bulbs == {"big"}
    assert status.stuck_bulbs == {"one-6"}
    assert (status.supply_v, status.temperature_c) == (11.99, -1.0)
    assert not status.is_dark


def test_dark_means_measured_and_not_glowing():
    assert r.decode_status(status_words(), SUPER).is_dark
    assert not r.decode_status(status_words(r11=1), SUPER).is_dark
    assert not r.decode_status(status_words(r25=1), SUPER).is_dark
    assert not r.decode_status(status_words(r10=2), SUPER).is_dark


def test_an_anchor_lies_in_its_registers_as_published():
    head = bytes(range(32))
    anchor = r.BoxAnchor(bytes.fromhex("5B0A1C93D2E47F68"), 0x00014711, 0x0002EF3C, head)
    words = r.encode_anchor(anchor)
    assert words[:9] == [0x5B0A, 0x1C93, 0xD2E4, 0x7F68, 1, 0x4711, 2, 0xEF3C, 0x0001]
    assert len(words) == r.ANCHOR.written
    assert r.decode_anchor([*words, 3]) == (anchor, 3)


@pytest.mark.parametrize(("table", "head"), [(bytes(7), bytes(32)), (bytes(8), bytes(31))])
def test_a_half_anchor_is_never_sent(table, head):
    with pytest.raises(ValueError, match="32 of head"):
        r.encode_anchor(r.BoxAnchor(table, 1, 1, head))


def test_a_committed_result_is_read_from_its_registers_as_published():
    words = [0, 4711, 0, 0, 0, 1, 0, 0, 0, 2, 1]
    assert r.decode_committed(words, SUPER) == r.Committed(
        4711, frozenset({"small"}), frozenset({"big"})
    )


@pytest.mark.parametrize("words", [[], [0] * 31, [0] * 33])
def test_a_status_of_another_length_is_refused(words):
    with pytest.raises(LampReplyError, match="registers for its status block"):
        r.decode_status(words, SUPER)


def test_a_status_with_what_the_map_has_not_is_refused():
    with pytest.raises(LampReplyError, match="state 9"):
        r.decode_status(status_words(r10=9), SUPER)
    with pytest.raises(LampReplyError, match="more than its 52"):
        r.decode_status(status_words(r1E=0x0010), SUPER)


@pytest.mark.parametrize(
    ("layout", "told"), [*zip(LAYOUTS, ((50, 1), (52, 0), (52, 3)), strict=True)]
)
def test_the_layout_is_told_with_its_options(layout, told):
    assert (r.layout_word(layout), r.layout_options(layout)) == told
    assert (r.lamps_needed(layout), layout.digest) == (told[0], bytes(8))


def test_odds_have_a_place_for_every_area_and_for_one_of_a_kind_twice_more():
    assert len(r.ODDS_PLACES) == len(set(r.ODDS_PLACES)) == r.ODDS == 64
    words = r.encode_multipliers(4712, {"triple-1": 999, "one-1/2": 15, "one-6/3": 87})
    assert len(words) == r.MULTIPLIERS.written == r.MULTIPLIERS_SHOWN.words
    assert (words[1], words[2 + 5], words[2 + 52], words[2 + 63]) == (4712, 999, 15, 87)
    assert r.decode_multipliers(words) == (4712, {"triple-1": 999, "one-1/2": 15, "one-6/3": 87})


def test_odds_outside_the_map_are_refused():
    with pytest.raises(KeyError, match="triple-7"):
        r.encode_multipliers(1, {"triple-7": 150})
    with pytest.raises(ValueError, match="0 to 9999"):
        r.encode_multipliers(1, {"triple-1": 10000})


def test_masks_of_all_results_fit_the_lamps():
    for a, b in combinations(range(1, 7), 2):
        areas = LAYOUTS[1].won((a, a, b))
        assert LAYOUTS[1].named(r.join(r.split(LAYOUTS[1].mask(areas), 4))) == areas
