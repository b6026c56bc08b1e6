"""The page beside the code shows a script that stays as short as it is promised to be."""

from __future__ import annotations

from pathlib import Path

from shaker_ctl import console

README = Path(console.__file__).with_name("README.md").read_text()


def test_the_script_for_an_inspection_and_ten_rounds_is_python_of_under_thirty_lines() -> None:
    script = README.split("```python\n")[1].split("```")[0]
    compile(script, "README.md", "exec")
    assert len(script.splitlines()) < 30
