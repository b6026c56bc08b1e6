"""What is kept blind shares nothing with what limits are chosen on; a rig file's camera is seen."""

from pathlib import Path

from hil_tests.reader.samples import BLIND, STEREO, seen_by
from hil_tests.reader.tosses import flat_tosses
from hil_tests.rig.plant.geometry import GEOMETRIES
from hil_tests.rig.plant.looks import STYLES

RIGS = Path(__file__).parents[2] / "rigs"


def test_the_blind_sample_has_other_compartments_lenses_dice_and_lights():
    assert not set(BLIND.compartments) & set(STEREO.compartments)
    assert not set(BLIND.styles) & set(STYLES)
    assert not set(BLIND.lenses) & set(STEREO.lenses)
    lamps = [light.lamps_mm.shape for light in STEREO.lights]
    assert all(light.lamps_mm.shape not in lamps for light in BLIND.lights)


def test_a_rig_file_s_look_is_that_of_its_stories_and_no_two_frames_of_it_are_alike():
    camera = seen_by(RIGS / "second_look.toml").camera("standard", 0, 0, 5)
    (toss,) = flat_tosses(GEOMETRIES["standard"], 5, 1)
    assert camera.calibration.image_size == (800, 600)
    before, after = camera.picture(toss), camera.picture(toss)
    assert abs(before.astype(int) - after).mean() > 1.0


def test_a_neglected_camera_s_exposure_has_followed_what_is_seen():
    camera = seen_by(RIGS / "neglected.toml").camera("standard", 0, 0, 5)
    (toss,) = flat_tosses(GEOMETRIES["standard"], 5, 1)
    assert abs(camera.picture(toss).mean() - 60.0) < 10.0
