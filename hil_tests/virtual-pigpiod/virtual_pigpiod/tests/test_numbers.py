"""The numbers come from the client library, so that a type checker knows none of their names."""

import ast
from pathlib import Path

import pytest

from virtual_pigpiod import wire
from virtual_pigpiod.refusals import Reason
from virtual_pigpiod.wire import Command


@pytest.mark.parametrize("numbers", [Command, Reason], ids=["commands", "refusals"])
def test_every_name_that_the_daemon_uses_is_one_of_the_library(numbers) -> None:
    sources = Path(wire.__file__).parent.rglob("*.py")
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sources)
    used = {
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == numbers.__name__
        and node.attr.isupper()
    }
    assert len(used) > 50
    assert used <= set(numbers.__members__)
