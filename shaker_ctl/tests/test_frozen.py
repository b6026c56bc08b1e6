"""A frozen class is in every respect what the standard decorator makes of the same text."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest

from shaker_ctl.frozen import frozen
from shaker_ctl.rules.vocabulary import Occasion, Purpose, play

Decorator = Callable[..., Any]


def _standard(**options: bool) -> Any:
    return dataclass(frozen=True, slots=True, **options)


def _both(make: Callable[[Decorator], Any]) -> tuple[Any, Any]:
    """The classes that `make` defines, by our decorator and by the standard one."""
    return make(frozen), make(_standard)


def _shapes(decorator: Decorator) -> Any:
    class Given:
        @decorator()
        class Base:
            """Base."""

        @decorator()
        class Point(Base):
            """Required, with a default, made anew."""

            x: int
            y: int = 3
            seen: list[int] = field(default_factory=list, compare=False)
            hidden: str = field(default="", repr=False)

        @decorator()
        class Deep(Point):
            z: tuple[int, ...] = ()

        @decorator(kw_only=True)
        class Named(Base):
            a: int = 1
            b: str

        @decorator(eq=False)
        class Alone:
            x: int

        @decorator()
        class Checked(Base):
            x: int
            twice: int = field(init=False)

            def __post_init__(self) -> None:
                object.__setattr__(self, "twice", 2 * self.x)

        @decorator()
        class Spoken(Base):
            x: int

            def __repr__(self) -> str:
                return "spoken"

            def __hash__(self) -> int:
                return 7

    return Given


OURS, STANDARD = _both(_shapes)
MADE = [
    ("Base", (), {}),
    ("Point", (1,), {}),
    ("Point", (1, 2, [4]), {"hidden": "h"}),
    ("Deep", (1,), {"z": (1, 2)}),
    ("Named", (), {"b": "b"}),
    ("Alone", (1,), {}),
    ("Checked", (4,), {}),
    ("Spoken", (4,), {}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), MADE)
def test_what_is_made_is_what_the_standard_makes(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    ours, standard = (getattr(each, name)(*args, **kwargs) for each in (OURS, STANDARD))
    assert asdict(ours) == asdict(standard)
    assert repr(ours) == repr(standard)
    assert type(ours).__match_args__ == type(standard).__match_args__
    assert type(ours).__slots__ == type(standard).__slots__
    assert [each.name for each in fields(ours)] == [each.name for each in fields(standard)]
    assert not hasattr(ours, "__dict__")


@pytest.mark.parametrize("name", [name for name in vars(STANDARD) if name[0] != "_"])
def test_initialisers_take_the_same(name: str) -> None:
    def taken(cls: type) -> list[tuple[str, Any, bool]]:
        found = list(inspect.signature(cls.__init__).parameters.values())  # type: ignore[misc]
        return [(each.name, each.kind, each.default is each.empty) for each in found]

    assert taken(getattr(OURS, name)) == taken(getattr(STANDARD, name))


def test_equal_by_what_is_held_and_of_one_class_alone() -> None:
    for given in (OURS, STANDARD):
        point = given.Point
        assert point(1) == point(1, 3)
        assert point(1, seen=[1]) == point(1, seen=[2])
        assert point(1) != point(2)
        assert point(1) != given.Deep(1)
        assert point(1) != 1
        assert given.Base() == given.Base() != given.Alone(1)
        assert given.Alone(1) != given.Alone(1)
        assert hash(point(1)) == hash(point(1, seen=[1]))
        assert hash(given.Base()) == hash(given.Base())
        assert hash(given.Spoken(1)) == 7
        assert len({given.Alone(1), given.Alone(1)}) == 2


def test_what_is_made_anew_is_not_shared() -> None:
    first, second = OURS.Point(1), OURS.Point(1)
    assert first.seen == []
    assert first.seen is not second.seen


@pytest.mark.parametrize("name", ["x", "unknown"])
def test_nobody_changes_it(name: str) -> None:
    point = OURS.Point(1)
    with pytest.raises(FrozenInstanceError):
        setattr(point, name, 2)
    with pytest.raises(FrozenInstanceError):
        delattr(point, name)
    assert point == OURS.Point(1)


def test_replaced_copied_pickled_and_matched() -> None:
    point = OURS.Point(1, 2, [3], "h")
    changed = replace(point, y=9)
    assert (changed.x, changed.y, changed.seen, changed.hidden) == (1, 9, [3], "h")
    deep = copy.deepcopy(point)
    assert deep == point
    assert deep.seen is not point.seen
    assert copy.copy(point).seen is point.seen
    occasion = pickle.loads(pickle.dumps(play(3)))
    assert occasion == play(3)
    match occasion:
        case Occasion(purpose, number):
            assert (purpose, number) == (Purpose.PLAY, 3)
        case _:
            pytest.fail("an occasion is not matched")


def test_of_two_decorators_none_inherits_from_the_other() -> None:
    with pytest.raises(TypeError, match="frozen"):
        _standard()(type("Mixed", (OURS.Base,), {}))
    with pytest.raises(TypeError, match="frozen"):
        frozen(type("Mixed", (STANDARD.Base,), {}))
