"""The page beside the code lists every command and code as they are."""

from __future__ import annotations

from pathlib import Path

from shaker_ctl import console
from shaker_ctl.console.codes import MEANINGS, fault_codes
from shaker_ctl.console.grammar import FORMS

README = Path(console.__file__).with_name("README.md").read_text()


def test_every_command_stands_in_the_readme_with_its_usage() -> None:
    for form in FORMS:
        line = form.line.replace("|", "\\|")
        assert f"| `{line}` | {form.summary} |" in README


def test_every_code_stands_in_the_readme_with_its_meaning() -> None:
    for code, meaning in {**MEANINGS, **dict(fault_codes())}.items():
        assert f"| `{code}` | {meaning} |" in README


def test_the_script_for_an_inspection_and_ten_rounds_is_python_of_under_thirty_lines() -> None:
    script = README.split("```python\n")[1].split("```")[0]
    compile(script, "README.md", "exec")
    assert len(script.splitlines()) < 30
