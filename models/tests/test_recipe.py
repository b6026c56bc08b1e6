"""The recipe as a whole, in small: every step from seeds to a model that the reader loads."""

from __future__ import annotations

import json
import shutil
import tomllib

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch", reason="training needs the train extra")

from models.training.__main__ import app
from models.training.pictures import SCENES
from models.training.recipe import TrainingPlan, follow
from vision.networks.classifier import DieFinder
from vision.networks.model_card import MANIFEST, digest_of


@pytest.fixture
def photos(tmp_path):
    """Six rendered pictures in the format of the photographs."""
    folder = tmp_path / "album"
    (folder / "images").mkdir(parents=True)
    rows = []
    for i in range(6):
        picture = SCENES["loose"](np.random.default_rng([77, i]), size=160)
        cv2.imwrite(str(folder / "images" / f"{i}.jpg"), picture.image)
        dice = []
        for die in picture.labels:
            ring = np.array(die.corners)
            box = [*ring.min(axis=0).tolist(), *ring.max(axis=0).tolist()]
            dice.append({"bbox": box, "value": die.value, "flat": None})
        rows.append({"image": f"images/{i}.jpg", "width": 160, "height": 160, "dice": dice})
    (folder / "labels.jsonl").write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return folder


# PyTorch says on every export that its older exporter, which keeps our graph small, is the older.
@pytest.mark.filterwarnings("ignore:You are using the legacy:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The feature will be removed:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.timeout(600)
def test_recipe_runs_from_seeds_to_a_registered_model(tmp_path, photos):
    plan = TrainingPlan.read().rehearsal()
    kinds = {plan.sets[name].kind for stage in plan.finder for name in stage.shares}
    scenes = ("loose", "shots wild", "snapshot", "shots wild leaning", "house", "surface")
    assert kinds == {f"quick {scene}" for scene in scenes}
    # The other scenes have tests of their own, and would take a minute here.
    few = ("loose-1", "loose-11", "surface-16", "quick-shots-leaning-21", "loose-1001")
    plan = plan.with_sets({name: plan.sets[name] for name in few})
    out = tmp_path / "models"
    out.mkdir()
    for name in ("near.onnx", "photo.onnx"):  # as in a clone, where those that ship lie
        shutil.copy2(MANIFEST.parent / name, out)
    follow(plan, tmp_path / "work", out, [photos], processes=2)

    finder = DieFinder(out)
    assert finder.find(np.full((96, 96, 3), 90, np.uint8), min_score=0.99) == []
    text = (out / "manifest.toml").read_text("utf-8")
    assert 'photographs = ["album"]' in text
    assert finder.photo is not None
    assert (tmp_path / "work" / "photo" / "guesses.json").exists()
    record = tomllib.loads((out / "record.toml").read_text("utf-8"))
    stages = {stage.name for stage in plan.finder}
    for stage in stages:
        assert (tmp_path / "work" / stage / "latest.pt").exists()
    assert set(record) == {*few, *stages, "near", "photo"}
    assert len(stages) > 1
    assert record["near"]["sha256"] == digest_of(out / "near.onnx")
    assert record["third"]["seed"] == 61
    assert all(len(step["sha256"]) == 64 and step["seconds"] > 0 for step in record.values())

    before = {path.name: path.read_bytes() for path in out.glob("*.onnx")}
    assert set(before) == {"dice.onnx", "near.onnx", "photo.onnx"}
    shipped = {path.name: path.read_bytes() for path in MANIFEST.parent.glob("*.onnx")}
    assert not set(before.values()) & set(shipped.values()), "all three are of this training"
    follow(plan, tmp_path / "work", out, [photos], processes=2)
    after = {path.name: path.read_bytes() for path in out.glob("*.onnx")}
    assert after == before, "a second call trains nothing anew"
    again = tomllib.loads((out / "record.toml").read_text("utf-8"))
    hashes = [{name: step["sha256"] for name, step in each.items()} for each in (record, again)]
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--photos", "nowhere"], "cannot read nowhere/labels.jsonl"),
        (["--photos", "empty"], "empty/labels.jsonl has no row"),
        (3 * ["--photos", "empty"], "at most 2 sources"),
    ],
)
def test_photographs_are_looked_for_before_anything_is_rendered(tmp_path, monkeypatch, given, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "labels.jsonl").touch()
    ended = CliRunner().invoke(app, ["recipe", "--rehearse", *given])
    assert ended.exit_code == 2
    assert told in ended.stderr
    assert not (tmp_path / "var").exists()


def test_shares_of_every_stage_add_up_to_about_one_with_the_photographs():
    plan = TrainingPlan.read()
    # The first stage has no photographs: there is nothing yet to guess their corners with.
    for stage in (*plan.finder[1:], plan.photo):
        assert sum(stage.shares.values()) + stage.photos == pytest.approx(1, abs=0.05), stage.name
    stages = (*plan.finder, plan.near, plan.photo)
    named = {name for stage in stages for name in stage.shares} | set(plan.held_out)
    assert named == set(plan.sets)
