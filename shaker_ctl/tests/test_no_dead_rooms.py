"""Whatever the rules can hear is posted, and what they decide is performed.

A row that only an event without a poster can reach is proved and never happens.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path

import shaker_ctl
from shaker_ctl.lamp.registers import LampPhase
from shaker_ctl.rules import commands, events
from shaker_ctl.rules.machine import ROWS
from shaker_ctl.rules.record import is_recorded
from shaker_ctl.rules.table_text import EVENTS
from shaker_ctl.rules.vocabulary import Condition, ShownPhase

ROOT = Path(shaker_ctl.__file__).parent

RULES = [path for path in (ROOT / "rules").rglob("*.py") if "tests" not in path.parts]
ELSEWHERE = [
    path
    for path in ROOT.rglob("*.py")
    if "tests" not in path.parts and ROOT / "rules" not in path.parents
]


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


def calls(paths: list[Path]) -> dict[str, set[str]]:
    """Every name that is called, with the names of the keywords that it is called with."""
    found: dict[str, set[str]] = {}
    for path in paths:
        for node in nodes(path):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                found.setdefault(name, set()).update(k.arg or "" for k in node.keywords)
    return found


def names(paths: list[Path]) -> set[str]:
    """Every name and attribute that stands anywhere in these files."""
    found: set[str] = set()
    for path in paths:
        for node in nodes(path):
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Name):
                found.add(node.id)
    return found


def is_kind(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, commands.Command) and is_recorded(value)


def test_every_event_is_posted_by_the_service_or_a_console() -> None:
    heard: set[str] = {row.on.__name__ for row in ROWS if row.on is not None}
    assert heard == set(EVENTS)
    posted = {*calls(ELSEWHERE), *names([ROOT / "console" / "grammar.py"])}
    assert heard - posted == set()


def test_the_evidence_of_a_restart_is_read_and_not_left_at_its_default() -> None:
    given = calls(ELSEWHERE)["Restarted"]
    assert given == set(inspect.signature(events.Restarted).parameters)


def test_every_condition_has_a_producer() -> None:
    named = names(ELSEWHERE)
    assert {what.name for what in Condition} <= named


def test_every_command_is_given_by_the_rules_and_performed() -> None:
    given = names([path for path in RULES if path.name != "commands.py"])
    known = {name for name, kind in vars(commands).items() if is_kind(kind)}
    assert known
    assert known - given == set()
    assert known - names(ELSEWHERE) == set()


def test_every_phase_that_a_lamp_box_may_be_shown_is_sent() -> None:
    assert set(ShownPhase.__members__) <= names(RULES)
    codes = {*(phase.name for phase in ShownPhase), LampPhase.BLANK.name}
    assert codes == {phase.name for phase in LampPhase}
