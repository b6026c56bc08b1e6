"""The page of obligations names tests and commands that exist; and what no other file tests."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any, cast

import pytest

from shaker_ctl.commands.program import LISTED, loaded
from shaker_ctl.journal.record import Anchor, Head
from shaker_ctl.ports import JournalHealth
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, Playing
from shaker_ctl.rules.vocabulary import Cause, Notice, Timer, play
from shaker_ctl.seal import fault
from shaker_ctl.service import last_end
from shaker_ctl.service.between_rounds import BetweenRounds
from shaker_ctl.service.dispatch import Dispatch
from shaker_ctl.service.fault_queue import WORDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "shaker_ctl" / "OBLIGATIONS.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"(?ms)^### (O-\d+) .*?\n(.*?)(?=^##|\Z)", PAGE))
TESTS = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)))
COMMANDS = sorted(set(re.findall(r"`shaker-ctl ([a-z][a-z ]*[a-z])", PAGE)))


def test_every_obligation_stands_on_the_page_with_a_test() -> None:
    assert set(SECTIONS) == {f"O-{number}" for number in range(1, 23)}
    assert [name for name, text in SECTIONS.items() if ".py::test_" not in text] == []


@pytest.mark.parametrize(("path", "name"), TESTS)
def test_every_test_that_the_page_names_exists(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    found = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert name in found
    marks = [ast.unparse(mark) for mark in found[name].decorator_list]
    marks += [ast.unparse(each) for each in tree.body if isinstance(each, ast.Assign)]
    is_of_rig = any("pytest.mark.rig" in mark for mark in marks if "pytest" in mark)
    assert (f"`{path}::{name}` (rig)" in PAGE) == is_of_rig


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_that_the_page_names_exists(words: str) -> None:
    first, *rest = words.split()
    assert first in LISTED, words
    command = loaded(first)
    for word in rest:
        assert word in command.commands, words
        command = command.commands[word]


def test_the_journal_is_checked_before_and_after_each_round() -> None:
    """O-5: when its bets open, and when it is recorded as ended."""
    checks: list[str] = []

    class Keeper:
        def check_soon(self) -> None:
            checks.append("checked")

        def health(self) -> JournalHealth:
            return JournalHealth(Head(20, bytes(32)), 0, 0, "")

    class Lamps:
        def anchor(self, anchor: Anchor) -> None:
            checks.append(f"anchored at record {anchor.head.sequence}")

    due = BetweenRounds(cast(Any, Keeper()), cast(Any, Lamps()), b"")
    due.announced(commands.Announce(play(1), Notice.NO_MORE_BETS))
    assert checks == []
    due.announced(commands.Announce(play(1), Notice.BETS_OPEN))
    assert checks == ["checked"]
    ended = Playing().open().lit()
    record = next(
        command
        for _, step in ended.cleared().history
        for command in step.commands
        if isinstance(command, commands.RecordRound)
    )
    checks.clear()
    due.recorded(record)
    assert checks == ["anchored at record 20", "checked"]


def test_the_events_that_must_have_names_have_them() -> None:
    """O-15: each word of the page's table is one that the product writes."""
    for name in ("ShakerFault", "LampFault", "ReaderFault", "ControllerFault", "Restarted"):
        assert hasattr(events, name)
        assert f"`{name}`" in SECTIONS["O-15"]
    for code in ("journal-corrupt", "journal-write", "memory-low", "disk-low"):
        assert code in WORDS
        assert f"`{code}`" in SECTIONS["O-15"]
    assert f"`{fault.BROKEN}`" in SECTIONS["O-15"]
    assert f"`{last_end.OPENING}`" in SECTIONS["O-15"]
    assert f"`{Cause.INTERRUPTED.value}`" in SECTIONS["O-15"]


def test_no_round_begins_before_the_least_length_of_the_last() -> None:
    """O-20: 72 s make fifty rounds an hour. The time counts from the opening of the bets."""
    unattended = {"attended": False, "autonomous": True}
    game = Playing(profile="house-auto", min_round_s=72.0, **unattended).open()
    game.lit()
    o = game.state.occasion
    game.do(events.TimerExpired(Timer.SETTLING, o), events.TimerExpired(Timer.PAYOUT, o))
    game.do(events.LampsDark(o))
    assert game.phase is Phase.PACING
    assert game.tell(events.BetsRequested(DEALER)).refused

    now = [100.0]
    nothing: Any = None
    dispatch = Dispatch(
        table=nothing,
        rulebook=game.rules,
        motion=nothing,
        lamps=nothing,
        reader=nothing,
        outputs=nothing,
        wall=nothing,
        faults=nothing,
        post=nothing,
        announce=lambda _: None,
        record_round=nothing,
        now=lambda: now[0],
    )
    dispatch.perform(commands.Announce(play(1), Notice.BETS_OPEN))
    now[0] += 30.0
    assert dispatch.timer_length_s(Timer.MIN_ROUND) == pytest.approx(42.0)
    now[0] += 60.0
    assert dispatch.timer_length_s(Timer.MIN_ROUND) == 0.0
