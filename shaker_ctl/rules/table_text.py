"""Reads the table of rows: `table/*.rows`, a text that a reviewer reads and signs.

Owns the grammar of a row. Must not know any particular row. Every name of the text is looked up
while it is read, and every argument is converted to the type that its builder declares; a name that
does not exist ends the import with its file, its line and the nearest names.

    title  [clause]
        phases · event · guard & guard
        → phase · note; note · command; command

A clause is a key of the profile, a name of `citations`, or the device's own duty in words. Groups
of `phases` stand in capitals, with `|` and `-`; `(at once)` is taken within the step that reached
the phase; `=` stays. Lines from a `#` on are for people. An empty line ends a row.

A row whose last line is `for A, B` stands for a row for each: the lines of these names in the
matrix above, which begins with `|`, fill its braces. What is empty there is left out.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from importlib import resources
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

from shaker_ctl.rules import citations, effects, events, guards, phases
from shaker_ctl.rules.events import Event
from shaker_ctl.rules.record import is_recorded
from shaker_ctl.rules.regulation import Profile
from shaker_ctl.rules.row import Act, ByCause, Cites, Guard, Note, Row
from shaker_ctl.rules.state import Phase, TableState

T = TypeVar("T")

FILES = ("manual_shaker", "restart", "toss", "round", "inspection", "life", "malfunction")
"""In this order: more particular rows stand before more general ones for the same event."""

EVERY_PHASE, AT_ONCE, STAYS = "EVERY_PHASE", "(at once)", "="

_TITLE = re.compile(r"(?P<name>[^][]*[^][\s])\s+\[(?P<cites>[^]]+)\]")
_CALL = re.compile(r"[^(]+\((?P<args>.*)\)")
_KEY = re.compile(r"[a-z_]+\.[a-z_]+")
_IN_WORDS = re.compile(r"[^\s._]+( [^\s._]+)+")
_STRANGE = re.compile(r"[^ -~·→]")
"""Letters of another script look like ours, and so do other spaces."""
_FOR = re.compile(r"\s+for (.+)")
_EMPTY = re.compile(r"(?<=·) *[;&](?= )|[;&] *(?= ·)| · *$", re.MULTILINE)


class RowTextError(ValueError):
    """The table's text is wrong. Nothing was read; whoever changed it reads where and why."""


class Entry(NamedTuple):
    """A row, and how it stands in the text."""

    row: Row
    file: str
    line: int
    above: str
    """The comment above it: what its clause says, in a few words."""
    text: str

    @property
    def cites(self) -> tuple[str, ...]:
        """Each key or word that it cites, its announcements' too."""
        return (*self.row.may_cite, *_KEY.findall(self.text))


@functools.cache
def entries() -> tuple[Entry, ...]:
    """Return every row of the table in its order.

    Raises:
        RowTextError: a file of the table is wrong.
    """
    folder = resources.files("shaker_ctl.rules") / "table"
    return tuple(
        each for name in FILES for each in read(name, (folder / f"{name}.rows").read_text("utf-8"))
    )


def read(name: str, text: str) -> Iterator[Entry]:
    """Yield the rows of one text; `name` stands in the messages.

    Raises:
        RowTextError: a name or an argument does not exist, or a row lacks a part.
    """
    above = ""
    matrix: Matrix = {}
    number, is_read = 1, False
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.split("\n")
        told = [line for line in lines if line.startswith("#")]
        own = [line for line in lines if line.strip() and not line.startswith("#")]
        above = "\n".join(told) or above
        if own:
            is_read = True
            line = number + lines.index(own[0])
            try:
                if own[0].startswith("|"):
                    matrix = _matrix(own)
                else:
                    for each in _filled(own, matrix):
                        yield Entry(_row(each.splitlines()), name, line, above, each)
            except RowTextError as error:
                raise RowTextError(f"{name}.rows, line {line}: {error}") from None
        number += len(lines) + 1
    if not is_read:
        raise RowTextError(f"{name}.rows has no row")


Matrix = dict[str, dict[str, str]]
"""By the name of a fault: its words, by the names of the columns."""


def _matrix(lines: list[str]) -> Matrix:
    head, *faults = ([cell.strip() for cell in each.split("|")[1:-1]] for each in lines)
    if uneven := next((words for words in faults if len(words) != len(head)), None):
        raise RowTextError(f"the matrix's line `{uneven[0]}` has not {len(head)} cells")
    return {words[0]: dict(zip(head, words, strict=True)) for words in faults}


def _filled(lines: list[str], matrix: Matrix) -> Iterator[str]:
    """Yield a row's text, once for each line of the matrix that it is for."""
    names = _FOR.fullmatch(lines[-1])
    if names is None:
        yield "\n".join(lines)
        return
    for name in names[1].split(", "):
        words = _found(matrix, name, "line of the matrix")
        try:
            yield _EMPTY.sub("", "\n".join(lines[:-1]).format_map(words))
        except KeyError as error:
            raise RowTextError(f"the matrix has no column {error}") from None


def _row(lines: list[str]) -> Row:
    whole = " ".join(line.strip(" ") for line in lines)
    if strange := _STRANGE.search(whole):
        raise RowTextError(f"the character {strange[0]!a} has no place in a row")
    head, arrow, then = whole.partition(" → ")
    title = _TITLE.match(head)
    parts = head[title.end() :].strip().split(" · ") if title and arrow else []
    if title is None or len(parts) not in (2, 3):
        raise RowTextError("a row is `title  [clause]`, then its phases and event, `→` and a phase")
    where, on, *when = parts
    to, *effects_of_it = then.split(" · ")
    guards_of_it = [each for part in when for each in part.split(" & ")]
    said = [each for part in effects_of_it for each in part.split("; ")]
    for each, number in Counter((*guards_of_it, *said)).items():
        if number > 1:
            raise RowTextError(f"`{each}` stands there {number} times")
    built = [_effect(each) for each in said]
    return Row(
        title["name"],
        _phases(where),
        None if on == AT_ONCE else _found(EVENTS, on, "event"),
        _cites(title["cites"]),
        tuple(map(_guard, guards_of_it)),
        None if to == STAYS else _found(PHASES, to, "phase"),
        tuple(built_ for kind, built_ in built if kind is Note),
        tuple(built_ for kind, built_ in built if kind is Act),
    )


# ── Names ───────────────────────────────────────────────────────────────────


def _found(known: Mapping[str, T], name: str, what: str) -> T:
    if name not in known:
        near = difflib.get_close_matches(name, known, 3)
        also = f"; did you mean {', '.join(near)}?" if near else ""
        raise RowTextError(f"no {what} is called `{name}`{also}")
    return known[name]


Named = Mapping[str, tuple[Any, Any]]
"""What a module offers to the text: by its spoken name, what it makes, and the thing itself."""


def _named(module: Any, kinds: Mapping[str, Any]) -> Named:
    found: dict[str, tuple[Any, Any]] = {}
    for name, value in vars(module).items():
        takes = dict(getattr(value, "__annotations__", {}))
        makes = takes.pop("return", None)
        can_be_written = (
            callable(value) and not name.startswith("_") and "Guard" not in takes.values()
        )
        if can_be_written and makes in list(kinds):
            found[name.replace("_", " ")] = (kinds[makes], value)
    return found


EFFECTS = _named(effects, {"Changes": Note, "do.Command": Act, "do.Command | None": Act})
EFFECT_BUILDERS = _named(effects, {"Note": Note, "Act": Act})
GUARDS: Named = {
    name.replace("_", " "): (Guard, value)
    for name, value in vars(guards).items()
    if type(value) is Guard
}
GUARD_BUILDERS = _named(guards, {"Guard": Guard})
EVENTS: dict[str, type[Event]] = {
    name: value
    for name, value in vars(events).items()
    if isinstance(value, type) and issubclass(value, Event) and is_recorded(value)
}
TRUTHS = {name: name for name, kind in get_type_hints(TableState).items() if kind is bool}
"""Fields of the state that a row may set by itself."""
PHASES: dict[str, Phase] = {phase.name.lower().replace("_", " "): phase for phase in Phase}
GROUPS: dict[str, frozenset[Phase]] = {
    EVERY_PHASE: frozenset(Phase),
    **{name: group for name, group in vars(phases).items() if isinstance(group, frozenset)},
}
BY_CAUSE: dict[str, ByCause] = {
    name: each for name, each in vars(citations).items() if isinstance(each, ByCause)
}


@functools.cache
def _phases(text: str) -> frozenset[Phase]:
    """`A | b - c`, from left to right."""
    first, *rest = re.split(r" (?=[|-] )", text)
    found = _group(first)
    for each in rest:
        members, before = _group(each[2:]), found
        found = found | members if each.startswith("|") else found - members
        if found in (before, frozenset()):
            raise RowTextError(f"`{each}` leaves all or nothing of `{text}`")
    return found


def _group(name: str) -> frozenset[Phase]:
    if not name.isupper():
        return frozenset({_found(PHASES, name, "phase")})
    return _found(GROUPS, name, "group of phases")


@functools.cache
def _guard(text: str) -> Guard:
    found: Guard = _made(text, GUARDS, GUARD_BUILDERS, "guard")[1]
    return found._replace(name=text)


@functools.cache
def _effect(text: str) -> tuple[Any, Any]:
    """Return a note or a command, after its kind; called as the text spells it."""
    kind, made = _made(text, EFFECTS, EFFECT_BUILDERS, "note or command")
    made.__name__ = text
    return kind, made


def _made(text: str, plain: Named, builders: Named, what: str) -> tuple[Any, Any]:
    name, bracket, _ = text.partition("(")
    if not bracket and name in builders:
        raise RowTextError(f"`{name}` needs its arguments")
    if not bracket:
        return _found(plain, name, what)
    kind, build = _found(builders, name, what)
    return kind, _built(text, build)


# ── Arguments ───────────────────────────────────────────────────────────────


def _built(text: str, build: Callable[..., Any]) -> Any:
    call = _CALL.fullmatch(text)
    if call is None:
        raise RowTextError(f"`{text}` has no closing bracket")
    declared, given = _declared(build), call["args"].split(", ")
    if len(given) > len(declared):
        raise RowTextError(f"`{text}` has too many arguments")
    try:
        return build(*map(_argument, declared, given))
    except TypeError:
        raise RowTextError(f"`{text}` has too few arguments") from None


@functools.cache
def _declared(build: Callable[..., Any]) -> tuple[tuple[str, Any], ...]:
    """Return each parameter's name and type."""
    return tuple((name, kind) for name, kind in get_type_hints(build).items() if name != "return")


def _argument(declared: tuple[str, Any], text: str) -> Any:
    name, kind = declared
    if not text:
        raise RowTextError(f"the argument `{name}` is empty")
    if name == "cites":
        return _cites(text)
    if name == "field":
        return _found(TRUTHS, text, "field of the state that is true or false")
    if kind is object:
        return _found({"true": True, "false": False}, text, "truth value")
    for one in get_args(kind) or (kind,):
        if isinstance(one, type) and issubclass(one, Enum):
            members = {each.name.lower().replace("_", " "): each for each in one}
            return _found(members, text, one.__name__)
    return text


def _cites(text: str) -> Cites:
    if text.isupper():
        return _found(BY_CAUSE, text, "citation by cause")
    if not _IN_WORDS.fullmatch(text):
        _found(dict.fromkeys(_keys()), text, "key of the profile")
    return text


@functools.cache
def _keys() -> tuple[str, ...]:
    return tuple(
        f"{name}.{key}"
        for name, part in Profile.model_fields.items()
        for key in getattr(part.annotation, "model_fields", ())
    )
