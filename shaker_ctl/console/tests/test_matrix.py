"""Every command, in every state of the table, from every role, at every console."""

from __future__ import annotations

from pathlib import Path

import pytest

from shaker_ctl.console import codes, permission
from shaker_ctl.console.desk import Actor
from shaker_ctl.console.grammar import BY_NAME, FORMS, CommandKind
from shaker_ctl.console.tests.fake_desk import PHASES, FakeDesk
from shaker_ctl.console.tests.support import EVERYONE, NAMES, PASSPHRASE, Terminal
from shaker_ctl.console.tests.test_grammar import sample
from shaker_ctl.rules.vocabulary import Role

PORTS = {
    "technician": (Role.TECHNICIAN, Role.FLOORPERSON, Role.SUPERVISOR),
    "dealer": (Role.DEALER, Role.FLOORPERSON, Role.SUPERVISOR),
}
NOT_HERE = {"login", "logout", "mode"}
"""These change who asks, or how; the login tests have them."""

# Who may do what, written down a second time, from the task a person has at a table.
DEALER = {"bets", "nmb", "activate", "reveal", "enter", "no-roll", "settled",
          "lamps-off", "in-view", "correct"}  # fmt: skip
FLOOR = {"presence", "in-view", "correct", "lid", "sign", "decide", "open", "close",
         "shift start", "time confirm", "dice changed", "dice log", "dice corrected", "dice same",
         "cover off",
         "out-of-order", "meters clear", "answer",
         "cancel",
         *(f"inspect {part}" for part in ("all", "lamps", "shaker")),
         *(f"inspect {step}" for step in ("enter", "seen", "wrong", "walk", "cycle")),
         *(f"inspect {word}" for word in ("pause", "on", "back", "again", "tossed", "not-tossed")),
         }  # fmt: skip
TECHNICIAN = {"out-of-order", "return-to-service", "fault clear", "jog", "test-toss", "lamp test",
              "light", "selftest", "log bundle", "export", "shaker back", "meters clear",
              "answer",
              "cancel"}  # fmt: skip
BY_ROLE = {
    None: set[str](),
    Role.DEALER: DEALER,
    Role.FLOORPERSON: FLOOR,
    Role.SUPERVISOR: FLOOR | {"inspect shift"},
    Role.TECHNICIAN: TECHNICIAN,
}
FREE = {"status", "faults", "lamps", "motor", "camera", "camera snap", "dice", "journal last",
        "round", "inspection", "profile", "digests", "health", "statistics", "meters", "help",
        "login", "logout", "whoami", "history", "mode", "hello"}  # fmt: skip

CASES = [
    (port, role)
    for port, roles in PORTS.items()
    for role in (None, *Role)
    if role is None or role in roles
]


@pytest.mark.parametrize("role", [None, *Role], ids=str)
def test_each_role_may_give_exactly_its_commands(role: Role | None) -> None:
    actor = Actor("x", role, "bench")
    may = {f.name for f in FORMS if permission.refusal(f, actor, EVERYONE) is None}
    assert may == BY_ROLE[role] | FREE


@pytest.mark.parametrize(("port", "role"), CASES, ids=str)
def test_every_command_in_every_state_works_or_is_refused_with_code_and_reason(
    users: Path, port: str, role: Role | None
) -> None:
    desk = FakeDesk()
    desk.steps_of_work = 10**9
    person = Terminal(desk, users, port=port, roles=PORTS[port])
    person.type("mode machine")
    if role is not None:
        person.type(f"login {role.value} {NAMES[role]}")
        assert '"ok"' in person.type(PASSPHRASE)
    actor = Actor("x", role, port)
    for phase in PHASES:
        for form in FORMS:
            if form.name in NOT_HERE:
                continue
            desk.put(round_id=12)
            desk.go(phase)
            desk.acts.clear()
            allowed = desk.view().allowed
            reply = person.ask(sample(form))
            refusal = permission.refusal(form, actor, PORTS[port])
            where = (phase, form.name, reply)
            if refusal is not None:
                assert reply["code"] == refusal.code, where
                assert not desk.acts, where
            elif form.kind is CommandKind.ACT:
                assert (reply["status"] == "ok") == (form.name in allowed), where
                assert len(desk.acts) == (form.name in allowed), where
            else:
                assert reply["status"] == "ok", where
            assert reply["status"] == "ok" or (reply["code"] and reply["text"]), where


def test_a_port_refuses_the_roles_of_the_other_even_to_those_logged_in() -> None:
    actor = Actor("x", Role.TECHNICIAN, "dealer")
    refusal = permission.refusal(BY_NAME["jog"], actor, PORTS["dealer"])
    assert refusal is not None
    assert refusal.code == codes.NOT_ON_THIS_PORT


def test_no_command_can_name_a_result_a_shake_or_an_interlock() -> None:
    """O-16: values are only ever a person's word on a round; nothing else names an outcome."""
    with_values = {f.name for f in FORMS if "values" in f.read(f.samples[0].split())}
    assert with_values == {"enter", "correct", "decide", "inspect enter"}
    words = {word for form in FORMS for word in form.words}
    assert not words & {"set", "force", "seed", "shake", "profile-set", "bypass", "override"}
