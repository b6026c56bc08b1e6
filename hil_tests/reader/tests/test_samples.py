"""What is kept blind shares nothing with what limits are chosen on."""

from pathlib import Path

from hil_tests.reader.cases import rig_cases
from hil_tests.reader.samples import BLIND, RIG, seen_by
from hil_tests.rig.plant.looks import STYLES


def test_the_blind_sample_has_other_compartments_lenses_dice_and_lights():
    assert not set(BLIND.compartments) & set(RIG.compartments)
    assert not set(BLIND.styles) & set(STYLES)
    assert not set(BLIND.lenses) & set(RIG.lenses)
    lamps = [light.lamps_mm.shape for light in RIG.lights]
    assert all(light.lamps_mm.shape not in lamps for light in BLIND.lights)


def test_a_blind_case_is_a_picture_with_its_truth():
    case = next(rig_cases(2, 5, set(), are_some_set_up=True, sample=BLIND))
    height, width = case.shoot().shape[:2]
    assert case.calibration.image_size == (width, height)
    assert len(case.values) == 3


RIGS = Path(__file__).parents[2] / "rigs"


def test_a_rig_file_s_look_is_that_of_its_stories_and_no_two_frames_of_it_are_alike():
    case = next(rig_cases(2, 5, set(), sample=seen_by(RIGS / "second_look.toml")))
    assert case.calibration.image_size == (800, 600)
    before, after = case.shoot(), case.shoot()
    assert abs(before.astype(int) - after).mean() > 1.0


def test_a_neglected_camera_s_exposure_has_followed_what_is_seen():
    case = next(rig_cases(2, 5, set(), sample=seen_by(RIGS / "neglected.toml")))
    assert abs(case.shoot().mean() - 75.0) < 10.0
