"""How photographs are counted: labels, their corrections, and what is exact, verified or wrong."""

import json
from pathlib import Path

import cv2
import pytest
import typer

from hil_tests.reader.photographs import Counts, compare, evaluate
from hil_tests.reader.photographs import main as command
from vision.errors import VisionError
from vision.photo.labels import Label, read_corrections, read_labels
from vision.reading import Reason, Unreadable, Verified
from vision.tests.drawing import Die, draw
from vision.tests.test_photos import three, truth

app = typer.Typer()
app.command()(command)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tree with two sets of drawn dice, one of them without boxes."""
    dice = three()
    boxes = [
        [*(float(v) for v in d.corners.min(axis=0)), *(float(v) for v in d.corners.max(axis=0))]
        for d in truth(dice)
    ]
    for name, has_boxes in (("boxes", True), ("deeper/bare", False)):
        place = tmp_path / name
        (place / "images").mkdir(parents=True)
        cv2.imwrite(str(place / "images" / "a.png"), draw(dice))
        cv2.imwrite(str(place / "images" / "b.png"), draw(dice, seed=2))
        rows = []
        for image, values in (("a", [2, 5, 4]), ("b", [2, 6, None])):
            row = [
                {"bbox": box if has_boxes else None, "value": value, "flat": True}
                for box, value in zip(boxes, values, strict=True)
            ]
            rows.append(json.dumps({"image": f"images/{image}.png", "dice": row}))
        (place / "labels.jsonl").write_text("\n".join(rows) + "\n")
    return tmp_path


def main(arguments):
    with pytest.raises(SystemExit) as ended:
        app(arguments)
    return ended.value.code


def evaluated(capsys, *arguments: str) -> dict:
    assert main([*arguments, "--json", "--jobs", "1"]) == 0
    return json.loads(capsys.readouterr().out)["sets"]


def test_evaluation_counts_every_set_below_a_folder(folder, tmp_path, capsys):
    sets = evaluated(capsys, str(folder), "--sheets", str(tmp_path / "sheets"))
    assert list(sets) == ["boxes", "bare"]
    for counts in sets.values():
        assert list(counts) == [
            "images", "exact", "dice", "found", "valued", "right", "spurious", "accepted",
            "wrong_accepted", "refused", "wrong",
        ]  # fmt: skip
        assert (counts["images"], counts["dice"], counts["found"]) == (2, 6, 6)
        assert (counts["exact"], counts["spurious"]) == (1, 0)
        assert counts["valued"] == 5, "a label without a value counts for detection only"
        assert counts["right"] == 4, "one label of the drawn dice is wrong on purpose"
        assert counts["accepted"] + sum(counts["refused"].values()) == 2
        assert counts["wrong_accepted"] == 1, "a value that nobody can know was verified"
        assert counts["wrong"] == ["b.png: label 2 6 ?, read 2 5 4"]


@pytest.mark.parametrize(
    ("label", "is_wrong"),
    [
        (Label(None, 3), False),
        (Label(None, 3, True), False),
        (Label(None, 3, False), True),
        (Label(None, None), True),
        (Label(None, 4), True),
    ],
    ids=["flat or not is unknown", "flat", "not flat", "nobody can know", "another value"],
)
def test_a_verified_reading_of_what_has_no_value_is_wrong(label, is_wrong):
    three = truth([Die(0, 0, 10, 3)])
    counts = Counts()
    compare(counts, [label], three, Verified((3,), 0.9))
    assert (counts.accepted, counts.wrong_accepted) == (1, int(is_wrong))
    refused = Counts()
    compare(refused, [label], three, Unreadable(Reason.NOT_FLAT_DOUBTFUL))
    assert (refused.accepted, refused.wrong_accepted) == (0, 0)


def test_processes_count_the_same(folder, capsys):
    alone = evaluated(capsys, str(folder / "boxes"))
    assert main([str(folder / "boxes"), "--json", "--jobs", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["sets"] == alone


def test_corrected_labels_are_applied_on_request(folder, tmp_path, capsys):
    corrections = tmp_path / "corrections.jsonl"
    row = {"set": "boxes", "image": "images/b.png", "die": 1, "old": 6, "new": 5, "why": "five"}
    corrections.write_text(json.dumps(row))
    sets = evaluated(capsys, str(folder / "boxes"), "--corrections", str(corrections))
    assert (sets["boxes"]["valued"], sets["boxes"]["right"]) == (5, 5)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"die": 1, "old": 3}], "die 1 is labelled 6, the correction expects 3"),
        ([{"die": 7, "old": 3}], "one is of a die that has no label"),
        ([{"die": 1, "old": 6}, {"die": 1, "old": 6}], "two corrections are of one die"),
    ],
)
def test_a_correction_of_another_label_is_refused(folder, tmp_path, rows, why):
    corrections = tmp_path / "corrections.jsonl"
    usual = {"set": "boxes", "image": "images/b.png", "new": 5, "why": "five"}
    corrections.write_text("\n".join(json.dumps(usual | row) for row in rows))
    with pytest.raises(VisionError, match=why):
        list(read_labels(folder / "boxes", read_corrections(corrections)))


def test_corrections_take_away_and_add_labels(folder, tmp_path):
    corrections = tmp_path / "corrections.jsonl"
    box = [10, 20, 30, 50]
    gone = {"set": "boxes", "image": "images/b.png", "die": 1, "old": 6, "new": "no die"}
    more = {"set": "boxes", "image": "images/b.png", "die": 3, "bbox": box, "old": None, "new": 2}
    corrections.write_text("\n".join(json.dumps(row | {"why": "seen"}) for row in (gone, more)))
    raw = dict(read_labels(folder / "boxes"))[folder / "boxes" / "images/b.png"]
    assert len(raw) == 3
    mended = dict(read_labels(folder / "boxes", read_corrections(corrections)))
    labels = mended[folder / "boxes" / "images/b.png"]
    assert labels[:2] == [raw[0], raw[2]]
    assert (labels[2].centre, labels[2].size, labels[2].value) == ((20, 35), 30, 2)
    assert len(labels) == 3


def test_an_added_die_must_have_the_next_free_number(folder, tmp_path):
    corrections = tmp_path / "corrections.jsonl"
    row = {"set": "boxes", "image": "images/b.png", "die": 5, "bbox": [1, 2, 3, 4], "old": None}
    corrections.write_text(json.dumps(row | {"new": 2, "why": "seen"}))
    with pytest.raises(VisionError, match=r"add dice \[5\], the next free numbers are \[3\]"):
        list(read_labels(folder / "boxes", read_corrections(corrections)))


def test_corrections_of_a_picture_that_has_no_row_are_refused(folder, tmp_path):
    corrections = tmp_path / "corrections.jsonl"
    row = {"set": "boxes", "image": "images/c.png", "die": 0, "old": 2, "new": 3, "why": "seen"}
    corrections.write_text(json.dumps(row))
    with pytest.raises(VisionError, match=r"no row of images/c\.png"):
        list(read_labels(folder / "boxes", read_corrections(corrections)))


def test_a_box_outside_of_its_picture_is_refused(folder, capsys):
    labels = folder / "boxes" / "labels.jsonl"
    row = json.loads(labels.read_text().splitlines()[0])
    row["dice"][1]["bbox"] = [100, 100, 9000, 9000]
    labels.write_text(json.dumps(row))
    assert main([str(folder / "boxes"), "--jobs", "1"]) == 2
    assert "the box of die 1" in capsys.readouterr().err


def test_a_folder_that_is_named_twice_counts_once(folder, capsys):
    assert list(evaluated(capsys, str(folder / "boxes"), f"{folder}/boxes/.")) == ["boxes"]


def test_every_picture_that_is_verified_wrongly_is_named():
    def result(number: int) -> tuple[Counts, None]:
        return Counts(images=1, wrong_accepted=1, wrong=[str(number)]), None

    counts, _ = evaluate("set", map(result, range(30)), 30)
    assert counts.wrong == [str(number) for number in range(30)]


def test_the_published_corrections_are_read_and_say_why():
    path = Path(__file__).parents[3] / "models" / "label_corrections.jsonl"
    assert read_corrections(path)
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        assert row["why"]
        assert row["old"] != row["new"]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"dice": [{"vlaue": 6}]}, "dice: 0: value"),
        ({"dice": [{"value": 6, "bbox": [30, 2, 10, 22]}]}, "not left, top, right, bottom"),
        ({"image": "./a.png", "dice": []}, "an earlier row is of"),
        ({"image": "b/../a.png", "dice": []}, "an earlier row is of"),
        ({"image": "a" * 5000, "dice": []}, "too long"),
    ],
)
def test_a_row_that_cannot_be_true_is_refused(tmp_path, row, why):
    (tmp_path / "b").mkdir()
    cv2.imwrite(str(tmp_path / "a.png"), draw(three()))
    rows = [{"image": "a.png", "dice": []}, {"image": "a.png"} | row]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(VisionError, match=f"line 2: not a row of labels .*{why}"):
        list(read_labels(tmp_path))


def test_a_row_with_another_end_of_line_in_a_name_is_one_row(tmp_path):
    cv2.imwrite(str(tmp_path / "a.png"), draw(three()))
    row = {"image": "a.png", "dice": [], "source": "one\u2028two"}
    (tmp_path / "labels.jsonl").write_text(json.dumps(row, ensure_ascii=False), "utf-8")
    assert len(list(read_labels(tmp_path))) == 1


def test_a_set_has_its_name_from_within_it_too(folder, tmp_path, capsys, monkeypatch):
    corrections = tmp_path / "corrections.jsonl"
    row = {"set": "boxes", "image": "images/b.png", "die": 1, "old": 6, "new": 5, "why": "five"}
    corrections.write_text(json.dumps(row))
    monkeypatch.chdir(folder / "boxes")
    assert evaluated(capsys, ".", "--corrections", str(corrections))["boxes"]["right"] == 5


def test_a_folder_without_labels_is_named(tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


@pytest.mark.parametrize(
    "row",
    [
        '{"image": "toss.png", "dice": [{"value": "six"}]}',
        '{"image": "toss.png", "dice": [{"value": 7}]}',
        '{"image": "toss.png", "dice": [{"value": 3.5}]}',
        '{"image": "toss.png", "dice": [{"value": [2]}]}',
        '{"image": "toss.png", "dice": [{"value": 2, "bbox": [1.5, 2.5, NaN, 1e400]}]}',
        '{"image": "toss.png", "dice": [{"value": 2, "bbox": [1, 2, 3]}]}',
        '{"image": "toss.png", "dice": [3]}',
        '{"image": "toss.png", "dice": [null]}',
        '{"image": "toss.png"}',
        '{"image": "absent.png", "dice": []}',
        "[]",
        "toss.png: 2 5 4",
    ],
)
def test_a_row_that_cannot_be_a_label_is_named_before_anything_is_read(tmp_path, capsys, row):
    cv2.imwrite(str(tmp_path / "toss.png"), draw(three()))
    good = '{"image": "toss.png", "dice": []}'
    (tmp_path / "labels.jsonl").write_text(f"{good}\n\n{row}\n")
    assert main([str(tmp_path), "--jobs", "1"]) == 2
    said = capsys.readouterr()
    assert "labels.jsonl, line 3" in said.err
    assert said.out == ""


def test_labels_without_a_row_are_an_error(tmp_path):
    (tmp_path / "labels.jsonl").write_text("\n")
    with pytest.raises(VisionError, match="has no row"):
        list(read_labels(tmp_path))


def test_labels_may_begin_with_a_mark_of_their_encoding(tmp_path):
    cv2.imwrite(str(tmp_path / "toss.png"), draw(three()))
    row = '{"image": "toss.png", "dice": [{"bbox": null, "value": null}]}\r\n'
    (tmp_path / "labels.jsonl").write_bytes(b"\xef\xbb\xbf" + row.encode())
    ((picture, labels),) = read_labels(tmp_path)
    assert (picture.name, [label.value for label in labels]) == ("toss.png", [None])


def test_what_is_no_text_and_where_no_sheet_can_be_written_is_said(folder, tmp_path, capsys):
    (tmp_path / "noise").write_bytes(b"\xff\xfe\xff")
    noise = str(tmp_path / "noise")
    assert main([str(folder), "--corrections", noise, "--jobs", "1"]) == 2
    assert "not UTF-8" in capsys.readouterr().err
    assert main([str(folder), "--sheets", noise, "--jobs", "1"]) == 2
    assert "--sheets" in capsys.readouterr().err
    assert main([str(folder), "--limit", "-1"]) == 2
