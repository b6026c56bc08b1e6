"""The examples of the README do what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from virtual_pigpiod.process import VirtualPigpiod

README = Path(__file__).parents[2] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=("pigpio", "gpiozero"))
def test_an_example_of_the_page_passes(example: str, virtual_pigpiod: VirtualPigpiod) -> None:
    if "gpiozero" in example:
        pytest.importorskip("gpiozero")
    names: dict[str, object] = {}
    exec(compile(example, README.name, "exec"), names)
    tests = [test for name, test in names.items() if name.startswith("test_") and callable(test)]
    assert len(tests) == 1
    tests[0](virtual_pigpiod)
