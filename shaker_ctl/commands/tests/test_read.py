"""`shaker-ctl read`: the words, the JSON, the overlays, and files that are no pictures."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import vision.photo
from shaker_ctl.commands.remedies import REMEDIES
from shaker_ctl.main import program
from vision.pictures import load, save
from vision.reading import Reason
from vision.tests.drawing import Die, draw

THREE = [Die(-22.0, -8.0, 20.0, 2), Die(4.0, 14.0, 65.0, 5), Die(24.0, -10.0, 40.0, 4)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three dice, twice under one name, two dice, and half of a file."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        save(tmp_path / name / "toss.jpg", draw(THREE))
    save(tmp_path / "pair.png", draw(THREE[:2]))
    whole = (tmp_path / "one" / "toss.jpg").read_bytes()
    (tmp_path / "half.jpg").write_bytes(whole[: len(whole) // 2])
    return tmp_path


def read(*arguments: Path | str):
    return CliRunner().invoke(program, ["read", *map(str, arguments)])


def test_a_toss_is_read(folder):
    result = read(folder / "one" / "toss.jpg")
    assert result.exit_code == 0
    assert "VERIFIED 2 5 4  total 11" in result.stdout


def test_another_number_of_dice_only_on_request(folder):
    refused = read(folder / "pair.png").stdout
    assert "UNREADABLE: count" in refused
    assert "show three dice, or any number with `--any-number`" in refused
    assert "VERIFIED 2 5" in read(folder / "pair.png", "--any-number").stdout


def test_what_cannot_be_opened_is_reported_and_the_others_are_read(folder):
    photos = (folder / "half.jpg", folder / "absent.jpg", folder / "one" / "toss.jpg")
    result = read(*photos, "--json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert [row["verdict"] for row in rows] == [None, None, "verified"]
    assert "ends in the middle" in rows[0]["error"]
    assert "absent.jpg does not exist" in result.stderr
    assert rows[2]["values"] == [2, 5, 4]


def test_each_refusal_says_what_to_do():
    assert set(REMEDIES) == set(Reason)


@pytest.mark.parametrize("name", ["pair.png", "one/toss.jpg", "absent.jpg"])
def test_the_page_lists_each_key_of_the_json(folder, name):
    row = json.loads(read(folder / name, "--json").stdout)
    keys = {*row, *(key for die in row.get("dice", ()) for key in die)}
    page = (Path(vision.photo.__file__).parent / "README.md").read_text("utf-8")
    assert [key for key in sorted(keys) if f"`{key}`" not in page and f"`.{key}`" not in page] == []


def test_photographs_of_one_name_have_an_overlay_each(folder):
    out = folder / "seen"
    photos = (folder / "one" / "toss.jpg", folder / "two" / "toss.jpg")
    assert read(*photos, "--overlay", out).exit_code == 0
    assert sorted(file.name for file in out.iterdir()) == ["toss-read-2.jpg", "toss-read.jpg"]
    assert load(out / "toss-read-2.jpg").shape[1] >= load(photos[1]).shape[1]


def test_an_overlay_never_takes_the_place_of_a_photograph(folder):
    pair = folder / "one" / "toss-read.jpg"
    save(pair, draw(THREE[:2]))
    before = pair.read_bytes()
    result = read(folder / "one" / "toss.jpg", pair, "--overlay", folder / "one")
    assert pair.read_bytes() == before
    assert "UNREADABLE: count" in result.stdout.splitlines()[1]
    assert (folder / "one" / "toss-read-2.jpg").exists()


def test_a_reading_is_explained_beside_its_overlay(folder):
    out = folder / "seen"
    photo = folder / "one" / "toss.jpg"
    assert read(photo, "--overlay", out, "--explain", out).exit_code == 0
    assert sorted(file.name for file in out.iterdir()) == ["toss-explained.jpg", "toss-read.jpg"]
    assert load(out / "toss-explained.jpg").shape[1] > load(out / "toss-read.jpg").shape[1]


def test_an_overlay_that_cannot_be_written_is_an_error(folder):
    (folder / "seen" / "toss-read.jpg").mkdir(parents=True)
    result = read(folder / "one" / "toss.jpg", "--overlay", folder / "seen")
    assert result.exit_code != 0
    assert "toss-read.jpg" in str(result.exception)


def test_a_table_that_was_not_taught_reads_nothing_and_says_what_to_do(folder):
    """Keys with a default may be left out of the settings."""
    (folder / "table.toml").write_text("[camera.calibration]\nheight_mm = 300.0\n")
    result = read(folder / "one" / "toss.jpg", "--config", folder / "table.toml")
    assert result.exit_code == 1
    assert "UNREADABLE: untaught" in result.stdout
    assert "shaker-ctl teach" in result.output


def test_a_processor_that_lacks_an_instruction_is_named_before(folder, tmp_path, monkeypatch):
    dies = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    (tmp_path / "onnxruntime.py").write_text(dies)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = read(folder / "pair.png")
    assert done.exit_code == 1
    assert "this processor is not supported" in str(done.exception)
