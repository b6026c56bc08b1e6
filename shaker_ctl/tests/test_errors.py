"""The error tree: nothing stands on it that nobody raises, and every code is one error's own."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import shaker_ctl
from shaker_ctl import errors

TREE = [
    found
    for found in vars(errors).values()
    if inspect.isclass(found) and issubclass(found, errors.ShakerError)
]

SOURCE = "\n".join(
    path.read_text("utf-8")
    for path in Path(shaker_ctl.__file__).parent.rglob("*.py")
    if "tests" not in path.parts and path.name != "errors.py"
)


def test_every_leaf_is_used_by_the_program() -> None:
    leaves = {found.__name__ for found in TREE if not found.__subclasses__()}
    assert leaves
    assert {name for name in leaves if not re.search(rf"\b{name}\b", SOURCE)} == set()


def test_no_two_errors_share_a_code() -> None:
    codes = [found.code for found in TREE]
    assert sorted(codes) == sorted(set(codes))
