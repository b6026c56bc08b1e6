"""Which events the shipped code posts, read from the code itself.

Owns the search for constructions of events outside of `rules`, by name or by the consoles' acts.
An event that nobody constructs, or a field that every construction leaves at its default, is no
letter of the product's alphabet: a row that needs it is proved and never played.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path

import shaker_ctl
from shaker_ctl.console.grammar import ACTS, Form
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.table_text import EVENTS
from shaker_ctl.rules.vocabulary import FaultKind, Person, Role

_PRODUCT = Path(shaker_ctl.__file__).parent

_KNOWN = {"round": 1, "at": datetime.min, "kind": FaultKind.SHAKER}
"""What a table adds to an act, beside the person."""


@cache
def posted() -> dict[type[ev.Event], frozenset[str]]:
    """Return each event that the product constructs, with the fields that it ever passes."""
    found: dict[type[ev.Event], frozenset[str]] = {}
    for path in _PRODUCT.rglob("*.py"):
        inside = path.relative_to(_PRODUCT).parts
        if inside[0] == "rules" or "tests" in inside:
            continue
        for kind, passed in _constructions(ast.parse(path.read_text(encoding="utf-8"))):
            found[kind] = found.get(kind, frozenset()) | passed
    return found | {kind: frozenset(f.name for f in dataclasses.fields(kind)) for kind in typed()}


def typed() -> set[type[ev.Event]]:
    """Return the events that the consoles' acts make."""
    people = [Person(role.value, role) for role in Role]
    return {kind for form in ACTS for who in people for kind in events_of(form, who)}


def events_of(form: Form, who: Person) -> set[type[ev.Event]]:
    """Return what a person makes happen by this act of the consoles."""
    return {type(each.event({**_KNOWN, "person": who})) for each in form.typed_samples()}


def _constructions(tree: ast.AST) -> Iterator[tuple[type[ev.Event], frozenset[str]]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        kind = EVENTS.get(name)
        if kind is not None:
            fields = [each.name for each in dataclasses.fields(kind)]
            words = {word.arg or "" for word in node.keywords}
            yield kind, frozenset(fields[: len(node.args)]) | words


@cache
def is_posted(event: ev.Event) -> bool:
    """True when the product can post such an event: this type, with these fields set."""
    passed = posted().get(type(event))
    if passed is None:
        return False
    return all(
        each.name in passed or getattr(event, each.name) == each.default
        for each in dataclasses.fields(event)
    )
