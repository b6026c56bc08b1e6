"""`shaker-ctl teach` with persons who type: whole, left, corrected, cut off, and of other dice."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

import vision.taught
from shaker_ctl import settings, whole_file
from shaker_ctl.adapters.camera import confirmed_tosses
from shaker_ctl.commands import teach
from shaker_ctl.console import accounts
from shaker_ctl.doctor import examination
from shaker_ctl.errors import CameraError, HardwareError, RefusedError, SettingsError, ShakerError
from shaker_ctl.reading import taught_table
from shaker_ctl.reading.parameters import CameraParameters, SecondLensParameters
from shaker_ctl.rules.vocabulary import Role
from vision.calibration import Calibration
from vision.frame import Frame
from vision.taught import Missed, Rate

WORD = "correct horse"
PICTURE = np.zeros((480, 640, 3), np.uint8)
DICE = ((2, 5, 3), (1, 1, 6), (4, 4, 4), (6, 2, 1))
"""What lies there, toss after toss, over and over."""


class Table:
    """A table whose dice lie as `DICE` says; the reader sees them unless `seen` says otherwise."""

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self.tossed = 0
        self.seen: dict[int, tuple[int, ...]] = {}
        self.trouble: list[ShakerError] = []

    def toss(self) -> tuple[Frame, Any]:
        if self.trouble:
            raise self.trouble.pop()
        true = DICE[self.tossed % len(DICE)]
        values = self.seen.get(self.tossed, true)
        self.tossed += 1
        dice = [
            SimpleNamespace(value=v, value_p=np.eye(6)[v - 1], corners=np.full((4, 2), float(i)))
            for i, v in enumerate(values)
        ]
        return Frame(PICTURE + self.tossed), SimpleNamespace(model=dice)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file, users = tmp_path / "settings.toml", tmp_path / "users.toml"
    file.write_text(
        f'[camera]\nteaching = "{tmp_path}/teaching"\n[console]\nusers_file = "{users}"\n'
    )
    for name in ("fay", "tom"):
        accounts.add(users, name, Role.FLOORPERSON, WORD, f"{name}-1")
    return file


@pytest.fixture
def table(config: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    """The table in place of motor and camera, with a teacher that takes no time."""
    made = Table(Calibration.from_table(settings.load(config).camera.calibration_table()))

    @contextlib.contextmanager
    def bench(_: settings.Settings) -> Iterator[Table]:
        yield made

    monkeypatch.setattr("shaker_ctl.commands.bench.opened", bench)
    monkeypatch.setattr(examination, "refuse_beside_a_service", lambda _: None)
    taught = SimpleNamespace(to_bytes=lambda: b"learnt")
    monkeypatch.setattr(vision.taught, "teach", lambda *_: taught)
    monkeypatch.setattr(vision.taught, "rate", lambda _, tosses: Rate(len(tosses), Counter()))
    return made


def run(config: Path, *typed: str, names: tuple[str, ...] = ("fay",)) -> Result:
    """What the command says to persons who type these lines, and then leave."""
    app = typer.Typer()
    app.command()(teach.teach)
    who = [line for name in names for line in (name, WORD)]
    options = [word for word in typed if word.startswith("--")]
    words = ["--config", str(config), "--tosses", "30", *options]
    lines = "".join(f"{line}\n" for line in (*who, "A1 A2 A3", *typed) if line not in options)
    return CliRunner().invoke(app, words, lines)


def words(*tosses: int) -> list[str]:
    """What a person types who sees these tosses."""
    return ["".join(map(str, DICE[n % len(DICE)])) for n in tosses]


def kept(config: Path) -> confirmed_tosses.ConfirmedTosses:
    camera = settings.load(config).camera
    bound = taught_table.Bound.now(camera, ("A1", "A2", "A3"))
    return confirmed_tosses.ConfirmedTosses(Path(f"{camera.teaching}.tosses"), bound, 640)


def values(config: Path) -> list[tuple[int, ...]]:
    return [said.values for said in kept(config).kept]


def found(config: Path) -> taught_table.TaughtTable:
    made = taught_table.found(settings.load(config).camera)
    assert made is not None
    return made


def test_thirty_confirmed_tosses_teach_a_table_and_the_file_says_by_whom(
    config: Path, table: Table
) -> None:
    done = run(config, *words(*range(30)))
    assert done.exit_code == 0, done.output
    made = found(config)
    assert made.taught == b"learnt"
    assert made.words().startswith(f"taught on {made.at.date()} by fay (fay-1), 30 tosses of A1 A2")
    assert made.words().endswith("reads 100.0 % of its own tosses")
    assert made.words_with(("a3", "A1", "A2")) == made.words()
    assert made.words_with(("B1", "B2", "B3")).endswith("; other dice are locked in")
    assert [toss.values for toss in kept(config).learnt_from()][:2] == [*DICE[:2]]


def test_a_teaching_that_is_left_goes_on_where_it_was(config: Path, table: Table) -> None:
    left = run(config, *words(0, 1, 2))
    assert left.exit_code == 130
    assert "Left; shaker-ctl teach goes on here" in left.output
    again = run(config, *words(*range(4, 31)))
    assert "3 tosses are kept" in again.output
    assert again.exit_code == 0, again.output
    assert found(config).tosses == 30


def test_what_does_not_agree_with_the_reader_is_looked_at_again(config: Path, table: Table) -> None:
    table.seen = {2: (4, 4, 5)}
    # A slip that is mended; a reader that errs and is not followed; two different words.
    said = run(config, "252", "253", "116", "444", "444", "555", "556")
    assert said.output.count("Look again") == 3
    assert "The reader sees 4 4 5" in said.output
    assert "Not kept: first 5 5 5, then 5 5 6" in said.output
    assert values(config) == [(2, 5, 3), (1, 1, 6), (4, 4, 4)]


def test_cocked_dice_are_not_kept_and_the_last_toss_is_taken_back(
    config: Path, table: Table
) -> None:
    run(config, *words(0), "n", "", "what?", *words(3), "b", *words(5))
    assert values(config) == [DICE[0], DICE[1]]


def test_two_persons_say_the_same_unseen_by_each_other_or_look_again(
    config: Path, table: Table
) -> None:
    config.write_text(config.read_text() + "[table]\ndice_by_two = true\n")
    typed = ("253", "235", "252", "116", "116", "611")
    said = run(config, *typed, names=("fay", "fay", "tom"))
    assert "another one confirms, too" in said.output
    assert said.output.count("You do not say the same") == 1
    assert "25" not in said.output.split("Enter toss again")[1]
    assert values(config) == [*DICE[:2]]
    assert [one.name for one in kept(config).kept[0].by] == ["fay", "tom"]


def test_a_stranger_confirms_nothing(config: Path, table: Table) -> None:
    refused = run(config, names=("eve",))
    assert isinstance(refused.exception, RefusedError)
    assert not table.tossed


def test_a_shaker_that_was_stopped_tosses_again_when_it_is_mended(
    config: Path, table: Table
) -> None:
    table.trouble = [HardwareError("interlock: the compartment is open", remedy="Close it")]
    said = run(config, "", *words(0))
    assert "the compartment is open. Close it" in said.output
    assert values(config) == [DICE[0]]


@pytest.mark.parametrize("writes", [0, 1])
def test_a_write_that_is_cut_off_leaves_the_tosses_before_it(
    config: Path, table: Table, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(config, *words(0))
    real, left = whole_file.put, [writes]

    def put(*of: Any) -> None:
        if not left[0]:
            raise SystemExit(137)
        left[0] -= 1
        real(*of)

    with monkeypatch.context() as cut:
        cut.setattr(confirmed_tosses, "put", put)
        assert run(config, *words(2)).exit_code == 137
    assert values(config) == [DICE[0]]
    run(config, *words(3))
    assert [toss.values for toss in kept(config).learnt_from()] == [DICE[0], DICE[3]]


@pytest.mark.parametrize("which", ["toss-001.json", "toss-001.png"])
def test_a_kept_file_that_is_damaged_is_named(config: Path, table: Table, which: str) -> None:
    run(config, *words(0))
    file = config.parent / "teaching.tosses" / which
    file.write_bytes(file.read_bytes()[:-9] + b"123456789")
    with pytest.raises(CameraError, match=which):
        kept(config).learnt_from()


def test_tosses_of_another_camera_are_refused_until_somebody_begins_anew(
    config: Path, table: Table
) -> None:
    run(config, *words(0, 1))
    config.write_text(config.read_text() + "[camera.calibration]\nheight_mm = 299.0\n")
    refused = run(config)
    assert isinstance(refused.exception, RefusedError)
    assert "--anew" in refused.exception.remedy
    run(config, *words(3), "--anew")
    assert values(config) == [DICE[3]]
    assert len(list(config.parent.glob("teaching.tosses.replaced-*/toss-*.json"))) == 2


def test_a_table_that_reads_too_few_says_what_to_change_and_enters_nothing_by_itself(
    config: Path, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    rated = Rate(30, Counter({Missed.NOT_FOUND: 2}))
    monkeypatch.setattr(vision.taught, "rate", lambda *_: rated)
    done = run(config, *words(*range(30)))
    assert done.exit_code == 1
    assert "It is not enough for automatic entry" in done.output.replace("\n", " ")
    assert "the floor has the dice's colour" in done.output.replace("\n", " ")
    stereo = CameraParameters(second=SecondLensParameters(fitted=True))
    with pytest.raises(SettingsError, match=r"reads 93\.3 % of its own tosses"):
        taught_table.require_may_enter(stereo, found(config))


def test_tosses_that_the_reader_does_not_see_count_against_the_table(
    config: Path, table: Table
) -> None:
    table.seen = {0: DICE[0][:2], 1: ()}
    twice = [word for word in words(0, 1) for _ in range(2)]
    done = run(config, *twice, *words(*range(2, 32)))
    assert "The reader sees no die" in done.output
    assert done.exit_code == 1
    assert (found(config).tosses, found(config).read) == (32, 1 - 2 / 32)


def test_a_floor_on_which_the_reader_sees_no_dice_ends_the_teaching(
    config: Path, table: Table
) -> None:
    table.seen = dict.fromkeys(range(40), ())
    ended = run(config, *(word for word in words(*range(20)) for _ in range(2)))
    assert isinstance(ended.exception, RefusedError)
    assert "another colour than the dice's" in ended.exception.remedy
    assert table.tossed == teach.MAX_UNSEEN
