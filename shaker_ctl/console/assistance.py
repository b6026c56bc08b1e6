"""`help`: what this person may do now, one command, all of them, the codes.

Owns the texts of help, drawn from the tables of grammar and codes. Must not know sessions.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from shaker_ctl.console import codes, grammar, permission, render
from shaker_ctl.console.desk import Actor, TableView
from shaker_ctl.console.grammar import FORMS, CommandKind, ConsoleRefusal, Form
from shaker_ctl.console.queries import LookAnswer, Viewer
from shaker_ctl.console.render import WIDTH, Lines
from shaker_ctl.rules.vocabulary import Role

_COLUMN = 26


def assist(topic: str, viewer: Viewer) -> LookAnswer | ConsoleRefusal:
    """Return the help on `topic`: empty, `all`, `codes` or a command."""
    view = viewer.desk.view()
    if topic == "codes":
        return _codes(viewer.desk.fault_codes())
    if topic == "all":
        return LookAnswer(_table(FORMS), {"commands": [_facts(form, view) for form in FORMS]})
    if topic:
        found = grammar.named(topic)
        if isinstance(found, ConsoleRefusal):
            return found
        return LookAnswer(_one(found, view), {"commands": [_facts(found, view)]})
    return _now(viewer.actor, frozenset(viewer.port_roles), view)


def _now(actor: Actor, port_roles: frozenset[Role], view: TableView) -> LookAnswer:
    looks = [f for f in FORMS if f.kind is not CommandKind.ACT and f.roles <= _own_roles(actor)]
    acts = permission.allowed_now(actor, port_roles, view.allowed)
    words = ", ".join(form.name for form in looks)
    lines = ["always:", *textwrap.wrap(words, WIDTH, initial_indent="  ", subsequent_indent="  ")]
    if actor.role is None:
        roles = ", ".join(role.value for role in Role if role in port_roles)
        lines += ["", f"to act: login ROLE NAME   (here: {roles})"]
    elif acts:
        lines += ["", f"now, as {actor.role.value}:", *_table(acts)]
    else:
        lines += ["", f"nothing is for the {actor.role.value} to do now; status says what is"]
    lines += ["", "help CMD explains one; help all lists every command; help codes the codes"]
    return LookAnswer(
        lines, {"allowed": [form.name for form in acts], "always": [form.name for form in looks]}
    )


def _own_roles(actor: Actor) -> frozenset[Role]:
    # A look that needs a role shows up for that role alone; one that needs none for everybody.
    return frozenset(Role) if actor.role is Role.TECHNICIAN else frozenset()


def _one(form: Form, view: TableView) -> Lines:
    who = ", ".join(sorted(role.value for role in form.roles)) or "anyone, without login"
    lines = [form.line, *render.paragraph(form.help, "  "), f"  for {who}"]
    if form.kind is CommandKind.ACT:
        now = "yes" if form.name in view.allowed else "no, status says what the table waits for"
        lines += ["  written in full; taken when the line stays quiet after it", f"  now: {now}"]
    return lines


def _table(forms: Iterable[Form]) -> Lines:
    lines: Lines = []
    for form in forms:
        if len(form.line) > _COLUMN:
            lines.append(f"  {form.line}")
        head = "" if len(form.line) > _COLUMN else form.line
        lines += textwrap.wrap(
            form.help,
            WIDTH,
            initial_indent=f"  {head:<{_COLUMN}} ",
            subsequent_indent=" " * (_COLUMN + 3),
            break_on_hyphens=False,
        )
    return lines


def _facts(form: Form, view: TableView) -> dict[str, object]:
    return {
        "command": form.name,
        "usage": form.usage,
        "key": form.key,
        "kind": form.kind,
        "roles": form.roles,
        "now": form.kind is not CommandKind.ACT or form.name in view.allowed,
    }


def _codes(faults: Mapping[str, str]) -> LookAnswer:
    lines = ["refusals:"]
    for code, meaning in codes.MEANINGS.items():
        lines += textwrap.wrap(f"  {code:<18} {meaning}", WIDTH, subsequent_indent=" " * 21)
    lines += ["", "faults:"]
    for code, cause in faults.items():
        lines += textwrap.wrap(f"  {code:<18} {cause}", WIDTH, subsequent_indent=" " * 21)
    return LookAnswer(lines, {"refusals": codes.MEANINGS, "faults": faults})
