"""The plant as its wires see it."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from hil_tests.rig.plant.dice import DieAtRest
from hil_tests.rig.plant.interlocks import Cover
from hil_tests.rig.plant.joint import PlantInputs, PlantOutputs
from hil_tests.rig.plant.plant import Plant
from hil_tests.rig.plant.snapshot import SceneBoard, SceneryView
from hil_tests.rig.plant.truth import TossRecord

DRIVEN = PlantInputs(motor_duty=0.765, motor_enabled=True, ring_light=0.9)
IDLE = PlantInputs(ring_light=0.9)


def run(
    plant: Plant,
    inputs: PlantInputs,
    start_s: float,
    seconds: float,
    each: Callable[[PlantOutputs], None] = lambda outputs: None,
) -> PlantOutputs:
    outputs = plant.update(start_s, inputs)
    for k in range(1, round(seconds / 0.005) + 1):
        outputs = plant.update(start_s + k * 0.005, inputs)
        each(outputs)
    return outputs


def test_toss_ends_in_a_record_of_true_values_and_times() -> None:
    plant = Plant("standard", seed=2)
    records: list[TossRecord] = []
    plant.truth = records.append
    run(plant, IDLE, 10.0, 0.1)
    assert run(plant, DRIVEN, 10.1, 1.2).speed_rpm > 650.0
    run(plant, IDLE, 11.3, 3.0)
    assert len(records) == 1
    record = records[0]
    assert record.toss == 1
    assert 10.1 <= record.t_start < 10.12
    assert 11.3 < record.t_rest < 14.0
    assert 10 < record.turns < 20
    assert tuple(plant.poses(14.3).dice) == record.dice


def test_a_loaded_die_shows_the_face_across_from_its_load_more_often() -> None:
    plant = Plant("standard", seed=4)
    plant.faults.inject("die_loaded", die=2, face=6, shift_mm=3.0)
    shown: list[int] = []
    plant.truth = lambda record: shown.append(record.dice[1].value)
    for toss in range(40):
        run(plant, DRIVEN, 4.0 * toss, 1.9 + 0.01 * toss)
        run(plant, IDLE, 4.0 * toss + 1.9 + 0.01 * toss, 1.5)
    assert len(shown) == 40
    assert shown.count(1) >= 10  # 7 of 40 would be fair
    assert shown.count(1) > 2 * shown.count(6)


def test_a_carried_die_lies_elsewhere_and_shows_its_face_again() -> None:
    plant = Plant("standard", seed=4)
    plant.faults.inject("die_carried", die=2)
    shown: list[tuple[DieAtRest, ...]] = []
    places: list[tuple[float, ...]] = []

    def note(record: TossRecord) -> None:
        shown.append(record.dice)
        places.append(tuple(plant._dice.poses().position_mm[1]))

    plant.truth = note
    for toss in range(18):
        run(plant, DRIVEN, 4.0 * toss, 1.9 + 0.01 * toss)
        run(plant, IDLE, 4.0 * toss + 1.9 + 0.01 * toss, 1.5)
    assert len(shown) == len(set(places)) == 18
    assert len({dice[1].value for dice in shown}) == 1
    assert all(dice[1].is_flat for dice in shown)
    assert min(len({dice[n].value for dice in shown}) for n in (0, 2)) >= 4


def test_a_load_that_was_mended_before_other_dice_were_laid_is_gone() -> None:
    plant = Plant("standard", seed=4)
    plant.faults.inject("die_loaded", die=3, face=6, shift_mm=3.0)
    run(plant, DRIVEN, 0.0, 0.3)
    run(plant, IDLE, 0.3, 1.5)
    assert np.abs(plant._dice._model.body("die2").ipos).max() == pytest.approx(0.003)
    plant.faults.heal("die_loaded")
    plant.hands.lid_open = True
    plant.hands.replace_dice(None, (1, 2, 3))
    run(plant, IDLE, 1.8, 0.1)
    plant.hands.lid_open = False
    run(plant, DRIVEN, 1.9, 0.3)
    assert np.abs(plant._dice._model.body("die2").ipos).max() == 0.0


def test_a_die_with_a_corner_broken_off_still_shows_every_face_and_rests_flat() -> None:
    plant = Plant("standard", seed=4)
    plant.faults.inject("die_chipped", die=2, corner=8, depth_mm=4.0)
    dice: list[DieAtRest] = []
    plant.truth = lambda record: dice.append(record.dice[1])
    for toss in range(20):
        run(plant, DRIVEN, 4.0 * toss, 1.9 + 0.01 * toss)
        run(plant, IDLE, 4.0 * toss + 1.9 + 0.01 * toss, 1.5)
    assert len(dice) == 20
    assert all(die.is_flat for die in dice)
    assert len({die.value for die in dice}) >= 4
    assert plant.dice_are_inside()


def test_a_misspotted_die_counts_by_the_spots_that_it_carries() -> None:
    plant = Plant("standard", seed=2)
    plant.faults.inject("die_misspotted", die=1, face=6, shows=1)
    plant.hands.lid_open = True
    plant.hands.replace_dice(None, (6, 6, 6))
    plant.update(0.0, IDLE)
    assert [die.value for die in plant.poses(0.0).dice] == [1, 6, 6]


def test_a_lost_pip_changes_what_is_seen_and_not_what_is_true() -> None:
    board = SceneBoard()
    plant = Plant("standard", seed=2, board=board)
    plant.faults.inject("pip_lost", die=2, face=5, left=0.2)
    plant.hands.lid_open = True
    plant.hands.replace_dice(None, (1, 5, 6))
    plant.update(0.0, IDLE)
    assert [die.value for die in plant.poses(0.0).dice] == [1, 5, 6]
    assert board.view().flaws_of(2) == {"pip_lost": {"die": 2.0, "face": 5.0, "left": 0.2}}
    assert board.view().flaws_of(1) == {}
    board.close()


def test_a_die_of_another_set_looks_otherwise_than_its_neighbours() -> None:
    board = SceneBoard()
    plant = Plant("standard", seed=2, board=board)
    plant.faults.inject("die_of_another_set", die=2, style="green")
    plant.update(0.0, IDLE)
    assert board.view().flaws_of(2) == {"die_of_another_set": {"die": 2.0, "style": "green"}}
    plant.faults.heal("die_of_another_set")
    plant.update(0.1, IDLE)
    assert board.view().flaws == {}
    board.close()


def test_a_bumped_table_moves_the_dice_without_a_turn_of_the_cam() -> None:
    plant = Plant("standard", seed=2)
    records: list[TossRecord] = []
    plant.truth = records.append
    run(plant, IDLE, 0.0, 0.1)
    before = plant.poses(0.1).poses.position_mm
    plant.hands.bumped = True
    run(plant, IDLE, 0.1, 1.0)
    moved = np.hypot(*(plant.poses(1.1).poses.position_mm - before).T[:2])
    assert 1.0 < moved.max() < 40.0
    assert [record.turns for record in records] == [0.0]


def test_the_camera_sees_as_many_dice_as_there_are() -> None:
    board = SceneBoard()
    plant = Plant("standard", seed=2, board=board)
    plant.hands.lid_open = True
    for second, values in enumerate([(1, 2), (1, 2, 3, 4), (6, 5, 4)]):
        plant.hands.replace_dice(None, values)
        run(plant, IDLE, float(second), 0.2)
        samples = board.recent(second + 0.1)
        assert samples["position_mm"].shape[1:] == (len(values), 3)
        assert np.abs(samples["position_mm"][-1] - plant.poses(0.0).poses.position_mm).max() < 0.1
    board.close()


OPENED: dict[str, Callable[[Plant], object]] = {
    "e-stop": lambda plant: setattr(plant.hands, "estop_pressed", True),
    "lid": lambda plant: plant.hands.open_compartment(by_force=True),
}
DRIVER_STUCK_ON = {"while it is driven": DRIVEN, "after the toss": IDLE}


@pytest.mark.parametrize("inputs", DRIVER_STUCK_ON.values(), ids=DRIVER_STUCK_ON)
@pytest.mark.parametrize("opened", OPENED.values(), ids=OPENED)
@pytest.mark.parametrize("at_s", [0.02, 0.3, 1.0])
def test_a_driver_that_is_stuck_on_loses_its_supply_to_e_stop_and_lid(
    opened: Callable[[Plant], object], inputs: PlantInputs, at_s: float
) -> None:
    plant = Plant(seed=3)
    plant.faults.inject("no_stop")
    run(plant, inputs, 10.0, at_s)
    opened(plant)
    outputs = run(plant, inputs, 10.0 + at_s, 0.2)
    assert not outputs.motor_supplied  # 0.2 s at most, and then only the brake's current
    assert run(plant, inputs, 10.2 + at_s, 0.6).speed_rpm == 0.0


def test_nothing_stops_a_driver_that_is_stuck_on_behind_a_welded_contactor() -> None:
    plant = Plant(seed=3)
    plant.faults.inject("no_stop")
    plant.faults.inject("supply_welded")
    plant.hands.estop_pressed = True
    outputs = run(plant, IDLE, 10.0, 1.5)
    assert outputs.motor_supplied
    assert outputs.speed_rpm > 500.0


def test_the_motor_has_its_supply_again_when_the_e_stop_is_released() -> None:
    plant = Plant(seed=3)
    plant.hands.estop_pressed = True
    assert not run(plant, DRIVEN, 10.0, 0.2).motor_supplied
    plant.hands.estop_pressed = False
    assert run(plant, DRIVEN, 10.2, 1.2).speed_rpm > 600.0


@pytest.mark.parametrize("contact", ["estop_contact_open", "compartment_contact_stuck"])
def test_a_contact_that_lies_does_not_speak_for_the_pole_of_the_supply(contact: str) -> None:
    plant = Plant(seed=3)
    plant.faults.inject(contact)
    assert run(plant, IDLE, 10.0, 0.2).motor_supplied
    plant.hands.open_compartment(by_force=True)
    assert not run(plant, IDLE, 10.2, 0.2).motor_supplied


def test_estop_and_open_compartment_cut_the_motor_whatever_the_pins_say() -> None:
    plant = Plant("standard", seed=2)
    run(plant, DRIVEN, 0.0, 0.5)
    plant.hands.estop_pressed = True
    outputs = run(plant, DRIVEN, 0.5, 0.5)
    assert outputs.estop_pressed
    assert outputs.speed_rpm == 0.0
    plant.hands.estop_pressed = False
    assert run(plant, DRIVEN, 1.0, 0.5).speed_rpm > 650.0
    plant.hands.open_compartment(by_force=True)
    outputs = run(plant, DRIVEN, 1.5, 0.5)
    assert outputs.compartment_open
    assert outputs.speed_rpm == 0.0


def test_what_a_late_turn_missed_acts_from_its_moment_on() -> None:
    """Of 50 ms without a turn EN was low for the last one: the shaft has hardly slowed down."""
    seconds, late_s = 0.5, 0.05

    def speed_after(fell_s: float) -> float:
        plant = Plant("standard", seed=2)
        before = run(plant, DRIVEN, 0.0, seconds)
        assert before.speed_rpm > 650.0
        low = PlantInputs(motor_duty=0.765, enable_since_s=fell_s)
        return plant.update(seconds + late_s, low).speed_rpm / before.speed_rpm

    assert speed_after(seconds + late_s - 0.001) > 0.9
    assert 0.65 < speed_after(seconds + late_s - 0.02) < 0.9
    assert speed_after(0.0) < 0.65


def test_what_is_switched_on_in_a_late_turn_acts_from_its_moment_on() -> None:
    plant = Plant("standard", seed=2)
    plant.update(0.0, IDLE)
    on = PlantInputs(motor_duty=0.765, motor_enabled=True, enable_since_s=0.19)
    assert plant.update(0.2, on).speed_rpm < 150.0


def test_monostable_stops_the_motor_when_the_enable_pulses_end() -> None:
    plant = Plant("standard", seed=2, monostable_s=0.2)
    now_s = 0.0
    plant.update(now_s, IDLE)
    for k in range(100):
        now_s += 0.005
        pulsed = PlantInputs(motor_duty=0.765, motor_enabled=True, enable_pulses=1 + k // 2)
        outputs = plant.update(now_s, pulsed)
    assert outputs.speed_rpm > 600.0
    held = PlantInputs(motor_duty=0.765, motor_enabled=True, enable_pulses=50)
    assert run(plant, held, now_s, 0.6).speed_rpm == 0.0


def test_a_computer_that_was_away_is_no_reason_for_the_monostable_to_fall() -> None:
    plant = Plant("standard", seed=2, monostable_s=0.1)
    now_s, pulses = 0.0, 0
    plant.update(now_s, IDLE)
    slowest_rpm = 2000.0
    for k in range(300):
        now_s += 0.105 if k in (200, 250) else 0.005
        pulses += k % 2
        pulsed = PlantInputs(motor_duty=0.765, motor_enabled=True, enable_pulses=pulses)
        outputs = plant.update(now_s, pulsed)
        if k > 150:
            slowest_rpm = min(slowest_rpm, outputs.speed_rpm)
    assert slowest_rpm > 650.0


def test_tach_edges_lie_between_the_updates() -> None:
    plant = Plant("standard", seed=2)
    now_s, last_s = 0.0, 0.0
    plant.update(now_s, IDLE)
    for _ in range(200):
        now_s += 0.005
        for at_s, _level in plant.update(now_s, DRIVEN).tach_edges:
            assert last_s <= at_s <= now_s + 1e-6
            last_s = at_s
    assert last_s > 0.9


def test_lid_opens_only_when_released_and_new_dice_need_it_open() -> None:
    plant = Plant("standard", seed=2)
    assert not plant.hands.open_compartment()
    assert not plant.hands.replace_dice("red")
    outputs = run(plant, PlantInputs(latch_release=True), 0.0, 0.05)
    assert outputs.compartment_open
    assert plant.hands.open_compartment()
    assert plant.hands.replace_dice("red", (1, 1, 6))
    plant.hands.lid_open = False
    outputs = run(plant, IDLE, 0.05, 0.05)
    assert not outputs.compartment_open
    assert [die.value for die in plant.poses(0.1).dice] == [1, 1, 6]
    assert plant.dice_style == "red"


def test_a_hand_throws_dice_into_an_open_compartment_and_that_is_no_toss() -> None:
    plant, tosses = Plant("rough", seed=1), list[TossRecord]()
    plant.truth = tosses.append
    assert plant.throw() is None
    plant.hands.open_compartment(by_force=True)
    thrown = [plant.throw() or () for _ in range(60)]
    assert plant.dice_are_inside()
    assert plant.poses(0.0).dice == thrown[-1]
    assert {die.value for dice in thrown for die in dice} == {1, 2, 3, 4, 5, 6}
    assert {die.is_flat for dice in thrown for die in dice} == {True, False}
    plant.update(1.0, PlantInputs())
    assert not tosses


def test_driven_cover_takes_its_time_and_can_stick() -> None:
    plant = Plant("standard", seed=2, cover=Cover.DRIVEN)
    assert not run(plant, IDLE, 0.0, 0.1).cover_open
    opening = PlantInputs(cover_open_drive=True)
    run(plant, opening, 0.1, 0.2)
    assert 0.2 < plant.poses(0.3).cover_open < 0.8
    run(plant, opening, 0.3, 0.4)
    assert plant.poses(0.7).cover_open == 1.0
    plant.faults.inject("cover_stuck")
    assert run(plant, IDLE, 0.7, 1.0).cover_open


@pytest.mark.parametrize(
    ("fault", "contact"),
    [
        ("compartment_contact_open", "compartment_open"),
        ("estop_contact_open", "estop_pressed"),
        ("button_stuck", "button_pressed"),
    ],
)
def test_broken_wires_show_at_their_contact(fault: str, contact: str) -> None:
    plant = Plant("standard", seed=2)
    assert not getattr(run(plant, IDLE, 0.0, 0.02), contact)
    plant.faults.inject(fault)
    assert getattr(run(plant, IDLE, 0.02, 0.02), contact)
    plant.faults.heal(fault)
    assert not getattr(run(plant, IDLE, 0.04, 0.02), contact)


def test_machine_at_rest_steps_nothing() -> None:
    plant = Plant("standard", seed=2)
    plant.update(0.0, IDLE)
    before = time.process_time()
    for k in range(1, 2001):
        plant.update(k * 0.005, IDLE)
    assert time.process_time() - before < 0.5  # Ten seconds of rest.


def test_scene_board_shows_the_newest_samples_to_another_reader() -> None:
    board = SceneBoard()
    reader = SceneBoard(board.name)
    try:
        plant = Plant("standard", "blue", seed=2, board=board)
        run(plant, DRIVEN, 0.0, 1.0)
        samples = reader.recent(0.95)
        assert samples["at_s"][0] <= 0.95 < samples["at_s"][-1] <= 1.0 + 1e-9
        assert np.all(np.diff(samples["at_s"]) >= 0.0)
        assert reader.view() == SceneryView(1.0, 0.0, False, False, "blue")
    finally:
        reader.close()
        board.close()
