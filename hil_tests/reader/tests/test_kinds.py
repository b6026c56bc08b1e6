"""Each kind of case is what it says, and the taught table states what is true of it, or nothing."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import cv2
import numpy as np
import pytest

from hil_tests.reader import changing, recordings, refused, tables, wrong_model
from hil_tests.reader.count import KINDS
from hil_tests.reader.lying import SUPPORTS, TIPPED_DEG, held_up, lean, not_flat, tipped
from hil_tests.reader.outcomes import FALSE, at_rest, judge
from hil_tests.reader.picture_damage import top_mm
from hil_tests.reader.recordings import CHANGES, EARLIER, after_tosses, recording
from hil_tests.reader.spots import LEFT, PLACES, lost_pip, place_mm, seen_at, smeared, speck
from hil_tests.reader.stage import Shown, Stage
from hil_tests.reader.tables import Table
from hil_tests.rig.plant.looks import pip_places
from vision.frame import Frame
from vision.reading import Reason, Unreadable

StageOf = Callable[[int], Stage]


def pictures_of(shown: Shown, count: int = 1) -> list[np.ndarray]:
    return list(itertools.islice(shown.pictures, count))


def changed(stage: Stage, picture: np.ndarray, step: int = 25) -> list[np.ndarray]:
    """(N, 2) pixels each: where a picture of each lens is not that of the stage's toss."""
    parts = (
        np.split(each, len(stage.camera.eyes), axis=1)
        for each in (picture, stage.camera.picture(stage.toss))
    )
    return [
        np.argwhere(np.abs(a.astype(int) - b).max(axis=2) > step)[:, ::-1]
        for a, b in zip(*parts, strict=True)
    ]


def tops_px(stage: Stage, die: int) -> list[np.ndarray]:
    """(4, 2) the corners of a top face before each lens."""
    corners = top_mm(stage.toss, die, stage.die_mm)
    return [eye.to_px(corners) for eye in stage.camera.eyes]


def first_of(kind: Iterable[str], name: str) -> Callable[[StageOf], Stage]:
    return lambda stage_of: stage_of(list(kind).index(name))


@pytest.mark.parametrize(
    "name",
    ["tipped", "speck", "lost pip", "smeared pip", "hidden die", "changing", "spoilt", "not flat"],
)
def test_what_is_said_of_a_case_is_true_of_it(stage_of: StageOf, name: str) -> None:
    kind = KINDS[name]
    stage = stage_of(1)
    shown = kind.make(stage)
    assert kind.read(stage, shown)["said"] not in FALSE.get(shown.truth, ())


def test_flat_tosses_are_read_and_others_are_not_flat(stage_of: StageOf) -> None:
    said = []
    for number in range(6):
        stage = stage_of(number)
        said.append(at_rest(stage, KINDS["flat"].make(stage))["said"])
        assert not_flat(stage).truth == "not flat"
    assert said.count("right") >= 5


@pytest.mark.parametrize("number", range(len(TIPPED_DEG)))
def test_a_tipped_die_is_flat_up_to_a_degree_and_a_half(stage_of: StageOf, number: int) -> None:
    degrees = TIPPED_DEG[number]
    truth = "flat" if degrees <= 1.5 else "not flat" if degrees >= 6 else "between"
    assert tipped(stage_of(number)).truth == truth


@pytest.mark.parametrize("support", SUPPORTS)
def test_a_die_leans_as_asked_and_lies_on_the_floor(table: Table, support: str) -> None:
    random, made = np.random.default_rng(4), []
    radius = 32.0 if table.camera is None else table.camera.geometry.radius_mm
    cube = np.array([[x, y, z] for x in (-8, 8) for y in (-8, 8) for z in (-8, 8)], float)
    for _ in range(100):
        flat = table.some(random).toss
        assert flat is not None
        toss = lean(flat, support, 7.0, radius, 16.0, random)
        if toss is None:
            continue
        made.append(toss)
        assert toss.dice[0].tilt_deg == pytest.approx(7.0, abs=0.01)
        assert toss.truth == "not flat"
        corners = cube @ toss.rotation[0].T + toss.position_mm[0]
        assert corners[:, 2].min() == pytest.approx(0.0, abs=1e-6)
        assert np.hypot(*corners[:, :2].T).max() < radius
    assert made
    if support == "neighbour":
        gaps = [np.hypot(*(t.position_mm[1] - t.position_mm[0])[:2]) for t in made]
        assert max(gaps) < 19.0


def test_a_held_up_die_is_no_roll_or_nothing(stage_of: StageOf) -> None:
    for number in range(len(SUPPORTS)):
        stage = stage_of(number)
        assert at_rest(stage, held_up(stage))["said"] not in ("right", "WRONG")


@pytest.mark.parametrize("value", range(1, 7))
def test_a_face_has_its_pips_and_the_other_places_are_empty(value: int) -> None:
    assert len(pip_places(value)) == value
    assert len(pip_places(value, are_empty=True)) == 9 - value


@pytest.mark.parametrize("kind", PLACES)
def test_a_disc_lies_on_a_top_face_or_on_the_dome(stage_of: StageOf, kind: str) -> None:
    for number in range(20):
        stage = stage_of(number)
        at = place_mm(kind, stage.case, stage.die_mm, stage.random)
        away = [np.linalg.norm(top.mean(axis=0) - at[:2]) for top in stage.case.tops_mm]
        assert kind == "dome" or min(away) < 0.75 * stage.die_mm
        assert kind != "centre" or min(away) < 0.05 * stage.die_mm
        assert (at[2] > stage.die_mm) == (kind == "dome")


def test_a_speck_is_seen_by_both_lenses_at_one_place(stage_of: StageOf) -> None:
    stage = stage_of(5)
    (picture,) = pictures_of(speck(stage))
    left, right = (at.mean(axis=0) for at in changed(stage, picture))
    middles = [seen_at(np.array([*top.mean(axis=0), stage.die_mm]), stage.table.calibration)
               for top in stage.case.tops_mm]  # fmt: skip
    apart = [one[1] - one[0] - (stage.table.calibration.image_size[0], 0) for one in middles]
    assert np.abs(right - left - np.mean(apart, axis=0)).max() < 2.0


def test_a_lost_pip_is_lost_before_both_lenses(stage_of: StageOf) -> None:
    stage = stage_of(LEFT.index(0.0))
    (picture,) = pictures_of(lost_pip(stage))
    for lens, at in enumerate(changed(stage, picture)):
        assert len(at) > 20
        away = [np.linalg.norm(tops_px(stage, die)[lens].mean(axis=0) - at.mean(axis=0))
                for die in range(3)]  # fmt: skip
        assert min(away) < 3.0
        assert stage.toss.dice[int(np.argmin(away))].value in (3, 5)


def test_a_smear_lies_over_a_middle_pip(stage_of: StageOf) -> None:
    stage = stage_of(2)
    (picture,) = pictures_of(smeared(stage))
    for lens, at in enumerate(changed(stage, picture)):
        away = [np.linalg.norm(tops_px(stage, die)[lens].mean(axis=0) - at.mean(axis=0))
                for die in range(3)]  # fmt: skip
        assert min(away) < 6.0
        assert stage.toss.dice[int(np.argmin(away))].value in (1, 3, 5)


def test_a_hidden_die_shows_less_than_half_of_itself(stage_of: StageOf) -> None:
    stage = stage_of(1)
    (picture,) = pictures_of(refused.hidden_die(stage))
    die = stage.camera.calibration.die_px**2
    for at in changed(stage, picture):
        assert 0.02 * die < len(at) < 0.8 * die  # with its side and its shadow


RIGHT_REASONS = {
    "two dice": Reason.COUNT,
    "four dice": Reason.COUNT,
    "a hand over the dome": Reason.BLOCKED,
    "a cloth over the dome": Reason.BLOCKED,
    "black picture": Reason.BLACK,
    "over-exposed picture": Reason.OVER_EXPOSED,
    "defocused picture": Reason.DEFOCUSED,
    "frozen stream": Reason.FROZEN,
    "looped stream": Reason.LOOPED,
    "torn picture": Reason.TORN,
    "a die moves": Reason.MOVING,
    "a die moves slowly": Reason.MOVING,
    "camera bumped": Reason.CAMERA_MOVED,
}
"""Of the others the table may say several."""


@pytest.mark.parametrize("name", refused.KINDS)
def test_nothing_but_three_readable_dice_is_accepted(
    table: Table, stage_of: StageOf, name: str
) -> None:
    for number in range(2):
        verdict = judge(table.reader, refused.KINDS[name](stage_of(number)))
        assert isinstance(verdict, Unreadable)
        assert verdict.reason == RIGHT_REASONS.get(name, verdict.reason)


@pytest.mark.parametrize("name", changing.CHANGES)
def test_a_scene_changes_after_a_frame_and_is_not_stated(stage_of: StageOf, name: str) -> None:
    stage = first_of(changing.CHANGES, name)(stage_of)
    pictures = pictures_of(changing.changing(stage), 3)
    assert not any(map(len, changed(stage, pictures[0], 60)))
    assert any(map(len, changed(stage, pictures[-1], 60)))


@pytest.mark.parametrize("how", CHANGES[:-1])
def test_a_recording_is_no_new_toss(stage_of: StageOf, how: str) -> None:
    told = after_tosses(*recorded(stage_of, how))
    assert told["said"] not in ("right", "WRONG")
    if how == "pure":
        assert told["said"] == Reason.LOOPED.value


def test_a_mixed_recording_shows_dice_of_two_tosses_that_were_read(stage_of: StageOf) -> None:
    stage, shown = recorded(stage_of, CHANGES[-1])
    *seen, mixed, again = pictures_of(shown, EARLIER + 2)
    assert (mixed != again).any(), "fresh grain"
    reader = stage.table.reader
    before = [die for picture in seen for die in reader.read(Frame(picture)).dice]
    found = reader.read(Frame(mixed)).dice
    assert tuple(sorted(die.model.value for die in found if die.model)) == shown.values
    away = np.array(
        [[np.hypot(die.x_mm - one.x_mm, die.y_mm - one.y_mm) for one in before] for die in found]
    )
    assert (away.min(axis=1) < 1.0).all()
    assert (away[:, :3].min(axis=1) < 1.0).sum() == 2, "of the first toss"


def test_a_toss_whose_dice_lie_together_is_not_put_together(
    stage_of: StageOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = stage_of(0)
    first = stage.toss
    monkeypatch.setattr(
        recordings, "_apart", lambda seen, _: None if seen[0] is first else [(0, 0), (0, 1), (1, 0)]
    )
    recording(stage)
    assert stage.toss is not first


def recorded(stage_of: StageOf, how: str) -> tuple[Stage, Shown]:
    stage = first_of(CHANGES, how)(stage_of)
    return stage, recording(stage)


@pytest.mark.parametrize("name", wrong_model.CELLS)
def test_a_wrong_network_is_told_and_never_believed(stage_of: StageOf, name: str) -> None:
    stage = first_of(wrong_model.CELLS, name)(stage_of)
    told = wrong_model.deceived(stage, wrong_model.wrong_network(stage))
    assert told["said"] not in ("right", "WRONG", wrong_model.NOTHING)


def test_a_set_of_shots_is_a_table_taught_by_its_first(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "TAUGHT", 12)
    right = table.calibration.right
    assert right is not None
    lines = []
    for number in range(14):
        case = table.case("flat", number)
        cv2.imwrite(str(tmp_path / f"{number}.png"), case.shoot())
        corners = [table.calibration.to_px(np.c_[top, [table.calibration.die_mm] * 4]) + 0.5
                   for top in case.tops_mm]  # fmt: skip
        dice = [{"corners": each.tolist(), "value": face, "visible": 1.0}
                for each, face in zip(corners, case.faces, strict=True)]  # fmt: skip
        notes = {"floor": "felt", "style": "opaque", "grain": 1.0, "truth": "flat"}
        calibration = table.calibration.to_table() | {"second": right.to_right_table()}
        row = {"image": f"{number}.png", "calibration": calibration, "dice": dice, "notes": notes}
        lines.append(json.dumps(row))
    (tmp_path / "0.jsonl").write_text("\n".join(lines))
    (of_shots,) = tables.shot_tables(table.finder, tmp_path)
    assert of_shots.known["flat"] == 2
    random = np.random.default_rng(1)
    for number in range(2):
        stage = Stage(of_shots, number, random)
        assert at_rest(stage, KINDS["flat"].make(stage))["said"] == "right"
        (specked,) = pictures_of(speck(stage))
        assert specked.shape == stage.case.shoot().shape
