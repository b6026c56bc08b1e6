"""Counting arm64 instructions: what the figures are made of, and when the command fails."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest

from hil_tests.arm64 import budgets, emulator, estimates, marks
from hil_tests.arm64.__main__ import START, table_of
from hil_tests.arm64.budgets import Budget
from hil_tests.arm64.emulator import EmulationError, Emulator, Mark, marks_of
from hil_tests.arm64.frames import SCENES, write_frames
from hil_tests.arm64.processors import A72, A76, BOARDS, CORES
from hil_tests.arm64.reading import CASES, STEPS, picture_of, table_reader
from vision.frame import Frame
from vision.reading import NoRoll, Verified


def test_counts_are_read_in_order():
    assert marks_of("0 120 3\n1 7 0\n-1 9 0\n") == [Mark(0, 120, 3), Mark(1, 7, 0), Mark(-1, 9, 0)]


@pytest.mark.parametrize("step", STEPS)
def test_every_step_is_a_function_of_the_reader(step):
    """A step that moved must move here, too."""
    module, _, path = STEPS[step].partition(":")
    holder = importlib.import_module(module)
    for name in path.split("."):
        holder = getattr(holder, name)
    assert callable(holder)


def test_the_frames_are_of_a_table_that_reads_them_by_its_teaching(tmp_path: Path):
    write_frames(tmp_path)
    reader = table_reader(tmp_path)
    opinions = {
        name: reader.read(Frame(picture_of(tmp_path / name / "0.png"))).opinion for name in SCENES
    }
    assert isinstance(opinions["warm"], Verified)
    assert isinstance(opinions["flat"], Verified)
    assert isinstance(opinions["leaning"], NoRoll)


def test_a_step_is_counted_without_the_steps_inside_it(monkeypatch: pytest.MonkeyPatch):
    told: list[int] = []
    monkeypatch.setattr(marks, "mark", told.append)
    steps = marks.Steps()
    steps.begin("case")
    outer = steps.counted("outer", lambda inner: inner())
    inner = steps.counted("inner", lambda: None)
    outer(inner)
    steps.end()
    assert [steps.names[number] for number in told] == [
        *("", "case", "case/outer", "case/inner", "case/outer", "case")
    ]


def test_every_budget_is_of_something_counted_and_each_core_has_one():
    found = budgets.read()
    counted = {*CASES, "--help", "journal last", estimates.SETTLING, START}
    assert {(what, core) for what in counted for core in CORES} <= found.keys()


def test_a_figure_over_its_budget_is_named():
    limits = {("reading", "a72"): Budget(100.0, goal=50.0)}
    for millions, over in ((100.4, ["reading on Cortex-A72: 100.4 of 100"]), (99.0, [])):
        assert table_of({("reading", "a72"): millions}, limits, ["a72"])[1] == over
    assert [limits["reading", "a72"].verdict(n) for n in (101.0, 60.0, 50.0)] == [
        *("OVER", "open", "ok")
    ]


def test_an_estimate_counts_networks_and_the_rest_apart():
    board = BOARDS[1]
    assert board.name == "Pi 4"
    measured = {("first flat frame", "a72"): 460.0, ("first flat frame/finder", "a72"): 260.0}
    least, most = estimates.reading_ms(board, "first flat frame", measured)
    assert least == pytest.approx((260 / 1.6 + 200 / 1.2) / 1.8)
    assert most == pytest.approx((260 / 1.3 + 200 / 0.9) / 1.8)


def test_a_cards_sync_counts_again_as_far_as_it_outlasts_the_reading(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(estimates, "SYNC_MS", (3.0, 275.0))
    terms = estimates.terms_ms(first=(10.0, 200.0), confirming=(1.0, 20.0), settling=(2.0, 4.0))
    assert terms["reading"] == (pytest.approx(200 / 3 + 1), 240.0)  # the least waits for frames
    assert terms["card"] == (3.0, 275.0 + 35.0)
    for end, lit in enumerate(estimates.lit_ms(terms)):
        assert lit == sum(terms[name][end] for name in estimates.TERMS)


def test_the_table_of_estimates_names_the_largest_part_for_each_board():
    whats = (*CASES, "--help", "journal last", estimates.SETTLING, START)
    table = estimates.table_of({(what, core): 100.0 for what in whats for core in CORES}, BOARDS)
    rows = {name: cells for name, *cells in zip(*(c.cells for c in table.columns), strict=True)}
    assert rows["largest"] == ["camera", "reading", "reading", "reading"]
    assert set(estimates.TERMS) <= rows.keys()


def test_what_is_missing_is_named_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: None if "qemu" in name else f"/bin/{name}")
    with pytest.raises(EmulationError, match=r"apt install qemu-user$"):
        Emulator(tmp_path)


@pytest.mark.skipif(
    not all(map(shutil.which, emulator.PROGRAMS)) or not emulator.CACHE.exists(),
    reason="make bench-arm64 was never run here",
)
def test_a_loop_of_known_length_is_counted(tmp_path: Path):
    """A million turns more cost the same number of instructions each, on both cores."""
    machine = Emulator()
    machine.run(A72, tmp_path, ["-S", "-c", ""])  # compiles what Python imports, once
    for core in (A72, A76):
        counts = [
            machine.run(core, tmp_path, ["-S", "-c", f"for _ in range({turns}): pass"])[-1]
            for turns in (1_000_000, 2_000_000, 3_000_000)
        ]
        assert {mark.number for mark in counts} == {-1}
        one, two, three = (mark.instructions for mark in counts)
        assert two - one > 5_000_000
        assert three - two == pytest.approx(two - one, rel=0.005)
