"""The tables of the consoles' README: `python -m shaker_ctl.tests.console_tables` fills them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from shaker_ctl import console
from shaker_ctl.console.codes import MEANINGS
from shaker_ctl.console.grammar import FORMS, CommandKind
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.service.fault_queue import WORDS

README = Path(console.__file__).with_name("README.md")


def _table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    lines += [f"| `{_escaped(left)}` | {right} |" for left, right in rows]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _commands(*roles: Role) -> str:
    """The commands of these roles, or those that need none."""
    wanted = frozenset(roles)
    forms = [form for form in FORMS if bool(form.roles) == bool(wanted) and wanted <= form.roles]
    # Acts first: they are what a role is there for.
    forms.sort(key=lambda form: roles != () and form.kind is not CommandKind.ACT)
    return _table(("command", "what"), ((form.line, form.help) for form in forms))


def tables() -> Mapping[str, str]:
    """Return the Markdown of each table by its name in the page."""
    return {
        "everybody": _commands(),
        "dealer": _commands(Role.DEALER),
        "floor": _commands(Role.FLOORPERSON, Role.SUPERVISOR),
        "technician": _commands(Role.TECHNICIAN),
        "refusals": _table(("code", "meaning"), MEANINGS.items()),
        "faults": _table(("code", "cause"), ((code, words[0]) for code, words in WORDS.items())),
    }


def filled(page: str) -> str:
    """Return `page` with every table between its marks as the code has it today."""
    for name, table in tables().items():
        mark = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->\n)", re.DOTALL)
        page, count = mark.subn(partial(_put, table), page)
        if count != 1:
            raise ValueError(f"the page has {count} places for {name}")
    return page


def _put(table: str, found: re.Match[str]) -> str:
    return f"{found[1]}\n{table}\n{found[2]}"


if __name__ == "__main__":
    README.write_text(filled(README.read_text("utf-8")), "utf-8")
