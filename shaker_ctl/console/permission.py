"""Who may give which command at which console. Pure; the table's state is the rules' business.

Owns the order in which a command is refused. Must not know passphrases or effects.
"""

from __future__ import annotations

from collections.abc import Iterable

from shaker_ctl.console import codes
from shaker_ctl.console.desk import Actor
from shaker_ctl.console.grammar import FORMS, CommandKind, ConsoleRefusal, Form
from shaker_ctl.rules.vocabulary import Role


def refusal(form: Form, actor: Actor, port_roles: Iterable[Role]) -> ConsoleRefusal | None:
    """Return why `actor` may not give this command at this console, or None.

    None does not mean that it succeeds: an act still goes to the rules.
    """
    if not form.roles:
        return None
    here = form.roles & frozenset(port_roles)
    who = " or ".join(sorted(role.value for role in form.roles))
    if not here:
        return ConsoleRefusal(
            codes.NOT_ON_THIS_PORT, f"{form.name} is for {who}, at the other console"
        )
    if actor.role is None:
        name = sorted(role.value for role in here)[0]
        return ConsoleRefusal(
            codes.NEEDS_LOGIN, f"{form.name} is for {who}; type: login {name} NAME"
        )
    if actor.role not in form.roles:
        return ConsoleRefusal(
            codes.NOT_YOUR_ROLE, f"{form.name} is for {who}, you are {actor.role.value}"
        )
    return None


def allowed_now(
    actor: Actor, port_roles: Iterable[Role], verbs: frozenset[str]
) -> tuple[Form, ...]:
    """Return the acts that this person may give and the rules would take now, in table order."""
    return tuple(
        form
        for form in FORMS
        if form.kind is CommandKind.ACT
        and form.name in verbs
        and refusal(form, actor, port_roles) is None
    )
