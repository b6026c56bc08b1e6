"""Every clause of the five rule texts: its duty in our words, who has it, and how it is kept.

Owns the files beside it and the reading of citations such as `625a.5(b)(2), (c)`. Must not hold a
text's own words: those belong to whoever publishes them, and `find` reads them from a file that a
person names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from enum import Enum
from functools import cache
from importlib import resources

from pydantic import TypeAdapter

from shaker_ctl.rules.regulation import Strict

TEXTS = ("pa-625a", "pa-625b", "ma", "pa-539", "md")
"""Profiles that rest on a rule text."""


class Kept(Enum):
    """How a clause is kept at a table with this controller."""

    ENFORCED = "enforced"
    PERSON = "person"
    """The table asks and records; that it was done is a person's word."""
    HOUSE = "house"
    """The house's business: no table can see it."""
    NOT_APPLICABLE = "not-applicable"

    @property
    def words(self) -> str:
        """The verdict as pages and screens tell it."""
        return {
            Kept.ENFORCED: "enforced",
            Kept.PERSON: "supported by a person's word",
            Kept.HOUSE: "the house's business",
            Kept.NOT_APPLICABLE: "not applicable",
        }[self]


class Clause(Strict):
    duty: str
    who: str
    verdict: Kept
    tests: tuple[str, ...] = ()


@cache
def clauses(text: str) -> dict[str, Clause]:
    """Return every clause of a text by its number, in the order of the text."""
    file = resources.files(__name__) / f"{text}.toml"
    told = tomllib.loads(file.read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, Clause]).validate_python(told)


def cited(citation: str, known: Collection[str]) -> Iterator[str]:
    """Yield each clause that a citation names: `5.B(2), 5.C` and `625a.5(b)(2), (c)` name two.

    A part that begins with a bracket goes on from the clause before it, at the deepest level where
    such a clause is `known`. What is no clause, such as `title page`, is yielded as it stands.
    """
    before = ""
    if citation in known:
        yield citation
        return
    for part in re.split(r", | and ", citation):
        name = part
        if part.startswith("("):
            stems = _stems(before)
            name = next((stem + part for stem in stems if stem + part in known), stems[-1] + part)
        before = name
        yield name


def _stems(name: str) -> list[str]:
    """`625a.5(b)(2)` to `625a.5(b)`, `625a.5`: what a sibling may be joined to, deepest first."""
    found = []
    while name.endswith(")"):
        name = name[: name.rindex("(")]
        found.append(name)
    return found or [name]


def parent(name: str) -> str:
    """Return the clause that holds this one; empty for a section."""
    return name[: name.rindex("(")] if name.endswith(")") else ""
