"""A person or a script at a console: what they read, and what reaches the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shaker_ctl.console import accounts
from shaker_ctl.console.accounts import LOOK_AGAIN_S
from shaker_ctl.console.desk import Announcement, FaultView, InspectionView, LampView
from shaker_ctl.console.grammar import BY_NAME, TypedCommand
from shaker_ctl.console.tests.fake_desk import FakeDesk, verb
from shaker_ctl.console.tests.support import Terminal, users_file
from shaker_ctl.rules.vocabulary import Role


@pytest.fixture
def desk() -> FakeDesk:
    return FakeDesk("ready")


@pytest.fixture
def person(desk: FakeDesk, users: Path) -> Terminal:
    return Terminal(desk, users, port="dealer")


def test_the_banner_names_product_table_and_state_and_ends_with_ready(person: Terminal) -> None:
    assert "shaker-ctl" in person.banner
    assert "Table 7, dealer console: open - ready" in person.banner
    assert "type help" in person.banner
    assert "\r\nREADY shaker-ctl " in person.banner


def test_enter_after_a_long_silence_greets_whoever_has_plugged_in(person: Terminal) -> None:
    assert "READY" not in person.type("")
    person.wait(120)
    assert "READY" in person.type("")


def test_an_act_reaches_the_table_only_from_a_person_who_is_logged_in(
    desk: FakeDesk, person: Terminal
) -> None:
    assert "error needs-login" in person.type("bets")
    assert desk.acts == []
    person.login(Role.DEALER)
    assert "ok bets open" in person.type("bets")
    command, actor = desk.acts[0]
    assert command.name == "bets"
    assert (actor.name, actor.role, actor.port) == ("dan", Role.DEALER, "dealer")


def test_who_is_removed_acts_no_more_and_is_out_soon(desk: FakeDesk, tmp_path: Path) -> None:
    users = users_file(tmp_path)
    person = Terminal(desk, users, port="dealer")
    person.login(Role.DEALER)
    accounts.remove(users, "dan", Role.DEALER)
    said = person.type("bets")
    assert "logged out: the users file no longer has you" in said
    assert "error needs-login" in said
    assert desk.acts == []
    person.login(Role.FLOORPERSON)
    accounts.remove(users, "anna", Role.FLOORPERSON)
    assert "logged out" in person.wait(LOOK_AGAIN_S + 1)


def test_a_users_file_that_is_being_mended_puts_nobody_out(desk: FakeDesk, tmp_path: Path) -> None:
    users = users_file(tmp_path)
    person = Terminal(desk, users, port="dealer")
    person.login(Role.DEALER)
    users.write_text("[[", "utf-8")
    assert "logged out" not in person.wait(LOOK_AGAIN_S + 1)
    assert "ok bets open" in person.type("bets")


def test_an_act_waits_for_the_line_to_be_quiet(desk: FakeDesk, person: Terminal) -> None:
    person.login(Role.DEALER)
    person.send(b"bets\r")
    assert desk.acts == []
    person.wait(0.02)
    assert desk.acts == []
    person.wait(0.02)
    assert len(desk.acts) == 1


@pytest.mark.parametrize("paste", [b"bets\rnmb\r", b"bets\rx", b"bets\r\nstatus\r", b"bets\r\x00"])
def test_an_act_in_a_paste_is_not_taken(desk: FakeDesk, person: Terminal, paste: bytes) -> None:
    person.login(Role.DEALER)
    said = person.send(paste) + person.wait(0.5)
    assert "error paste" in said
    assert desk.acts == []


def test_a_large_paste_does_nothing_and_is_told_in_one_line(
    desk: FakeDesk, person: Terminal
) -> None:
    person.login(Role.DEALER)
    said = ""
    text = b"bets\rstatus\r" * 9000
    for start in range(0, len(text), 115):
        said += person.send(text[start : start + 115]) + person.wait(0.01)
    said += person.wait(0.5)
    assert desk.acts == []
    assert said.count("bytes ignored") == 1
    assert len(said) < 60_000
    assert "Table 7" in person.type("status")


def test_a_modems_chatter_does_nothing(desk: FakeDesk, person: Terminal) -> None:
    person.login(Role.DEALER)
    for chatter in ("ATZ", "AT+CGMI", "+++", "ATE0V1", "~", "b", "o", "y"):
        person.type(chatter)
    assert desk.acts == []
    assert desk.refused == []


def test_noise_on_a_line_with_an_act_is_not_acted_on(desk: FakeDesk, person: Terminal) -> None:
    person.login(Role.DEALER)
    assert "error noise" in person.send(b"be\xf0ts\r") + person.wait(0.5)
    assert "error noise" in person.send(b"\xf8bets\r") + person.wait(0.5)
    assert desk.acts == []


def test_without_a_round_in_hand_an_act_on_it_is_refused(desk: FakeDesk, person: Terminal) -> None:
    person.login(Role.DEALER)
    assert "error not-now there is no round" in person.type("nmb")


@pytest.mark.parametrize("topic", ["all", "codes", "jog", "camera snap", "st"])
def test_help_knows_its_topics(person: Terminal, topic: str) -> None:
    assert "error" not in person.type(f"help {topic}").split("\r\n", 1)[1][:6]


def test_alarms_reach_everybody_notices_only_those_at_work(
    desk: FakeDesk, person: Terminal
) -> None:
    desk.announce(Announcement("round", "bets are open"))
    desk.announce(Announcement("fault", "compartment opened", is_alarm=True))
    said = person.wait(0.1)
    assert "compartment opened" in said
    assert "bets are open" not in said
    person.login(Role.DEALER)
    desk.announce(Announcement("round", "bets are open"))
    assert "* bets are open" in person.wait(0.1)


def test_an_announcement_leaves_the_half_typed_line_standing(
    desk: FakeDesk, person: Terminal
) -> None:
    person.send(b"stat")
    desk.announce(Announcement("fault", "compartment opened", is_alarm=True))
    assert person.wait(0.1).endswith("> stat")
    assert "open - ready" in person.send(b"us\r")


def test_announcements_that_nobody_fetches_are_bounded(desk: FakeDesk, person: Terminal) -> None:
    for number in range(10_000):
        desk.announce(Announcement("fault", f"number {number}", is_alarm=True))
    assert len(person.wait(0.1)) < 10_000


@pytest.fixture
def watching(desk: FakeDesk, users: Path) -> Terminal:
    """A floorperson who has begun an inspection, and sees how far it is."""
    desk.go("inspection due")
    desk.steps_of_work = 1000
    desk.put(faults=(FaultView(code="lamp", wall_s=0.0, cause="dark", remedy="bulb"),))
    person = Terminal(desk, users)
    person.login(Role.FLOORPERSON)
    person.type("whoami")
    person.type("inspect all")
    return person


def test_a_long_command_shows_progress_and_ctrl_c_ends_it(
    desk: FakeDesk, watching: Terminal
) -> None:
    desk.put(inspection=InspectionView(stage="lamp walk", lamps_proved=25, lamps_of=50))
    assert "inspect all: lamp walk [##########..........] 25 of 50" in watching.wait(1)
    assert "ok inspection due" in watching.send(b"\x03")
    assert [verb(command) for command, _ in desk.acts] == ["inspect all", "cancel"]


@pytest.mark.parametrize(
    "typed", [b"whoami\r", b"\x1b[A\x1b[A\r", b" whoami\r"], ids=["a command", "arrow up", "space"]
)
def test_a_line_that_begins_while_progress_is_shown_loses_nothing_and_the_work_goes_on(
    desk: FakeDesk, watching: Terminal, typed: bytes
) -> None:
    said = "".join(watching.send(bytes((byte,))) for byte in typed) + watching.wait(0.2)
    assert "ok anna" in said.split("it goes on")[1]
    assert [verb(command) for command, _ in desk.acts] == ["inspect all"]


def test_work_that_ended_says_what_the_table_waits_for(desk: FakeDesk, watching: Terminal) -> None:
    desk.steps_of_work = 0
    said = watching.wait(1) + watching.wait(1)
    assert "ok the table is at to be seen" in said
    assert said.endswith("anna> ")


def test_an_inspectors_seed_is_answered_and_a_wrong_one_explained(person: Terminal) -> None:
    assert "answer to Qz81" not in person.type("answer Qz81")
    person.login(Role.TECHNICIAN)
    assert f"answer to Qz81: {4:064x}" in person.type("answer Qz81")
    assert "SEED has 1 to 64 letters and digits" in person.type("answer Qz-81")


@pytest.mark.parametrize("mode", ["machine", "people"])
def test_a_command_right_behind_a_files_reply_is_taken(person: Terminal, mode: str) -> None:
    person.type(f"mode {mode}")
    person.session.receive(b"camera snap\r", person.now)
    said = b""
    while b"snap.jpg, " not in said and b'"sha256"' not in said:
        said += person.session.take_output()
    person.session.receive(b"digests\r", person.now)
    assert "digests" in person.read()


def test_ctrl_c_ends_a_file_under_way(desk: FakeDesk, person: Terminal) -> None:
    person.session.receive(b"camera snap\r", person.now)
    for _ in range(3):
        person.session.take_output()
    person.session.receive(b"\x03", person.now)
    said = person.read()
    assert "error interrupted" in said
    assert "END" not in said
    assert "open - ready" in person.type("status")


def test_no_picture_leaves_the_table_while_it_may_not(desk: FakeDesk, person: Terminal) -> None:
    desk.covered = True
    assert "error refused no picture" in person.type("camera snap")


def test_bundles_are_for_the_technician_and_noted(desk: FakeDesk, users: Path) -> None:
    person = Terminal(desk, users)
    assert "error needs-login" in person.type("log bundle")
    person.login(Role.TECHNICIAN)
    assert "BEGIN bundle.tar.gz" in person.type("log bundle")
    assert desk.notes[-1].kind == "log bundle"
    assert desk.notes[-1].actor.name == "tom"


# ── the scripts' voice ──────────────────────────────────────────────────────


def test_machine_mode_gives_one_json_line_for_each_command_and_no_echo(person: Terminal) -> None:
    person.type("mode machine")
    said = person.type("status")
    assert said.count("\r\n") == 1
    assert json.loads(said)["status"] == "ok"
    assert json.loads(said)["phase"] == "ready"
    assert said.isascii()
    assert "\x1b" not in said


LOOKS = ["status", "faults", "lamps", "motor", "camera", "dice", "journal last", "inspection",
         "profile", "digests", "health", "statistics", "help", "help all",
         "help codes", "whoami", "history", "hello"]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_every_look_answers_in_both_voices(person: Terminal, look: str) -> None:
    assert "error" not in person.type(look).replace("error tree", "").split("\r\n")[1][:6]
    person.type("mode machine")
    assert person.ask(look)["status"] == "ok"


def test_status_for_scripts_is_short_enough_for_the_line(desk: FakeDesk, person: Terminal) -> None:
    desk.break_down()
    person.type("mode machine")
    assert len(person.type("status")) < 1000


def test_events_are_marked_in_machine_mode(desk: FakeDesk, person: Terminal) -> None:
    person.type("mode machine")
    desk.announce(Announcement("round", "bets are open", fields={"round": 3}))
    assert json.loads(person.wait(0.1)) == {"event": "round", "text": "bets are open", "round": 3}


def test_machine_mode_ends_where_somebody_walked_away(desk: FakeDesk, users: Path) -> None:
    person = Terminal(desk, users, idle_s=60.0)
    person.type("mode machine")
    person.wait(61)
    assert "Table 7> " in person.type("status")


# ── idle logout ─────────────────────────────────────────────────────────────


def test_an_idle_person_is_logged_out(desk: FakeDesk, users: Path) -> None:
    person = Terminal(desk, users, idle_s=60.0)
    person.login(Role.DEALER)
    assert "logged out" in person.wait(61)
    assert desk.notes[-1].kind == "idle-logout"
    assert "error needs-login" in person.type("bets")


def test_idle_logout_never_drops_a_pending_confirmation(desk: FakeDesk, users: Path) -> None:
    person = Terminal(desk, users, idle_s=60.0)
    person.login(Role.DEALER)
    desk.put(round_id=1)
    desk.go("awaiting dealer")
    for _ in range(100):
        assert "logged out" not in person.wait(30)
    assert "ok collecting" in person.type("enter 1 3 4 5")


def test_what_waits_for_another_role_does_not_keep_a_login_alive(
    desk: FakeDesk, users: Path
) -> None:
    person = Terminal(desk, users, idle_s=60.0)
    person.login(Role.TECHNICIAN)
    desk.go("awaiting dealer")
    assert "logged out" in person.wait(61)


def test_logout_forgets_the_history(person: Terminal) -> None:
    person.login(Role.DEALER)
    person.type("status")
    person.type("logout")
    assert "status" not in person.type("history").split("\r\n", 1)[1]


def test_a_lost_line_ends_the_login(desk: FakeDesk, person: Terminal) -> None:
    person.login(Role.DEALER)
    person.session.close()
    assert desk.notes[-1].kind == "console-lost"
    assert desk.callbacks == []


def test_work_fails_by_a_fault_that_is_new(desk: FakeDesk, watching: Terminal) -> None:
    new = FaultView(code="motor-stall", wall_s=1.0, cause="stuck", remedy="free")
    desk.put(faults=(*desk.view().faults, new))
    desk.steps_of_work = 0
    said = watching.wait(1) + watching.wait(1)
    assert "error failed inspect all: motor-stall, stuck" in said


def lamp_test(desk: FakeDesk, users: Path, area: str, lamps: LampView) -> str:
    """What a technician reads once a test of lamps has ended as `lamps` says."""
    desk.go("out of service")
    desk.put(faults=(FaultView(code="lamp", wall_s=0.0, cause="dark", remedy="bulb"),))
    person = Terminal(desk, users)
    person.login(Role.TECHNICIAN)
    desk.put(life="trial")
    person.type(f"lamp test {area}")
    desk.put(life="out of service", lamps=lamps)
    return "".join(person.wait(1) for _ in range(8))


def test_a_lamp_test_says_how_many_of_the_lamps_asked_for_were_proved(
    desk: FakeDesk, users: Path
) -> None:
    said = lamp_test(desk, users, "small", LampView(tried=1, to_try=1))
    assert "ok 1 of 1 lamp was lit alone and dark again." in said


def test_a_lamp_test_that_fails_names_the_lamp_whatever_faults_stood_before(
    desk: FakeDesk, users: Path
) -> None:
    failed = "small alone: small stays dark"
    said = lamp_test(desk, users, "small", LampView(tried=0, to_try=1, failed=failed))
    assert f"error failed lamp test: {failed}" in said


# ── a number pad ────────────────────────────────────────────────────────────


@pytest.fixture
def asked(desk: FakeDesk, person: Terminal) -> Terminal:
    """A dealer who is asked for the values of round 1; 3 4 5 was read."""
    person.login(Role.DEALER)
    desk.put(round_id=1)
    desk.go("awaiting dealer")
    return person


def test_enter_alone_confirms_nothing(desk: FakeDesk, asked: Terminal) -> None:
    for _ in range(3):
        asked.type("")
    assert desk.acts == []


def test_values_that_were_not_read_are_entered_not_confirmed(
    desk: FakeDesk, asked: Terminal
) -> None:
    asked.type("344")
    assert desk.acts[0][0] == TypedCommand(BY_NAME["enter"], {"values": (3, 4, 4), "round": 1})


@pytest.mark.parametrize("line", [b"345", b"000", b"no-roll", b"enter 1 3 4 5"])
def test_a_verdict_is_taken_only_for_the_reading_on_the_screen_when_it_was_begun(
    desk: FakeDesk, asked: Terminal, line: bytes
) -> None:
    asked.send(line[:1])
    desk.put(round_id=2)
    desk.go("awaiting dealer")  # the same values, of another round
    assert "error not-now what the table shows has changed" in asked.type(line[1:].decode())
    assert desk.acts == []


def test_an_act_means_the_round_that_was_on_the_screen_when_it_was_begun(
    desk: FakeDesk, person: Terminal
) -> None:
    person.login(Role.DEALER)
    person.type("+")
    person.send(b"n")
    desk.put(round_id=2)
    assert "error not-current" in person.type("mb")


def test_values_are_typed_each_time_and_never_recalled(desk: FakeDesk, asked: Terminal) -> None:
    asked.type("345")
    desk.go("awaiting dealer")
    asked.type("\x1b[A")  # cursor up brings back the login, not the values
    assert len(desk.acts) == 1
