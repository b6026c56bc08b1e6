"""A set-up asks line by line, can be left, and tells the table no more than was answered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl import settings, settings_page
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.commands import setup
from shaker_ctl.commands.interruption import INTERRUPTED
from shaker_ctl.console import accounts
from shaker_ctl.errors import RefusedError
from shaker_ctl.installation import pins, sockets, told
from shaker_ctl.installation.files import SetupError
from shaker_ctl.installation.places import Places, shipped
from shaker_ctl.main import program
from shaker_ctl.rules.vocabulary import Role


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "root")


def asked(places: Places, *again: str, said: str = "") -> tuple[int, str]:
    """Answer `setup` line by line; return its status, and all that it said."""
    done = CliRunner().invoke(program, ["setup", *again, "--root", str(places.root)], input=said)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


ENTERS = "\n" * len(setup.ASKED)


# ── The conversation ────────────────────────────────────────────────────────


def test_enter_takes_what_stands_in_brackets_and_the_settings_are_valid(places: Places):
    asked(places, said=ENTERS)
    found = settings.load(places.settings)
    assert (found.camera.device, found.lamp.device) == ("/dev/shaker-camera", "/dev/shaker-lamps")
    assert found.seal.required
    assert places.settings.stat().st_mode & 0o777 == 0o640
    assert all(
        f"# {settings_page.FIRST[name]}" in places.settings.read_text("utf-8")
        for name in ("service.table_name", "table.profile")
    )


def test_what_was_left_goes_on_at_the_next_question(places: Places):
    status, output = asked(places, said="Table 7\n")
    assert status == INTERRUPTED
    assert "goes on here" in output
    assert settings.load(places.settings).service.table_name == "Table 7"
    _, output = asked(places, said=ENTERS)
    assert "service.table_name" not in output
    assert output.startswith("table.profile")


def test_an_answer_that_no_table_starts_with_is_asked_again(places: Places):
    _, output = asked(places, "table.profile", said="atlantis\npa-625a\n")
    assert "atlantis" in output
    assert settings.load(places.settings).table.profile == "pa-625a"


def test_one_question_is_asked_anew_by_its_name(places: Places):
    asked(places, said=ENTERS)
    status, output = asked(places, "service.table_name", said="Table 8\n")
    assert status == 0
    assert "[Sic Bo 1]" in output
    assert settings.load(places.settings).service.table_name == "Table 8"


@pytest.mark.parametrize(
    ("key", "said", "value"),
    [
        ("camera.controls.exposure_ms", "8.5", 8.5),
        ("camera.controls.colour_gains", "1.8, 1.5", (1.8, 1.5)),
        ("camera.calibration.image_size", "1280, 720", (1280, 720)),
        ("camera.calibration.die_mm", "19", 19.0),
        ("gpio.pins.lid_flag", "26", 26),
        ("table.shifts", "06:00, 18:00", ("06:00", "18:00")),
        ("camera.device", "²", "²"),
        pytest.param("camera.device", "9" * 5000, "9" * 5000, id="many digits"),
        ("sign.logo", "/srv/logo.svg", Path("/srv/logo.svg")),
    ],
)
def test_every_key_is_asked_for_by_its_name(places: Places, key: str, said: str, value: object):
    asked(places, key, said=f"{said}\n")
    found: object = settings.load(places.settings)
    for part in key.split("."):
        found = getattr(found, part)
    assert found == value


def test_a_name_that_asks_nothing_is_refused_with_those_that_do(places: Places):
    with pytest.raises(RefusedError, match="nothing is asked") as refused:
        asked(places, "tabel.profile")
    assert "table.profile" in refused.value.remedy


def test_every_key_of_a_first_table_is_asked_for(places: Places):
    by_others = {"camera.calibration", "page.address"}
    assert set(setup.ASKED) | by_others == set(settings_page.FIRST)
    told_in = settings_page.fresh({})
    for why in settings_page.FIRST.values():
        assert f"# A first table sets this: {why}." in told_in


def test_other_pins_reach_the_stop_script_and_the_daemons_mask(places: Places):
    others = "\n".join(
        "17" if name == "motor_enable" else "" for name in PinParameters.model_fields
    )
    asked(places, "pins", said=f"n\n{others}\n")
    lines = places.pins.read_text().splitlines()
    assert "SHAKER_EN=17" in lines
    assert f"SHAKER_MASK=0x{0x03B53060 & ~(1 << 23) | 1 << 17:08X}" in lines


def test_the_page_gets_a_certificate_and_its_settings(places: Places):
    asked(places, "page", said="y\n0.0.0.0\n")
    found = settings.load(places.settings).page
    assert found.address == "0.0.0.0"
    assert found.key is not None
    assert found.key.exists()


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The commands that `setup` would run at this terminal."""
    called: list[tuple[str, ...]] = []
    monkeypatch.setattr(setup.SetUp, "call", lambda _self, *words, **_: called.append(words))
    return called


def test_teaching_is_led_to_and_what_an_untaught_table_does_is_said(
    places: Places, called: list[tuple[str, ...]]
):
    _, output = asked(places, "teaching", said="n\n")
    assert "An untaught table reads nothing" in output
    assert not called
    asked(places, "teaching", said="\n")
    assert called == [("teach", "--config", str(places.settings))]


def test_the_card_is_that_of_the_floor(places: Places, called: list[tuple[str, ...]]):
    told.tell(
        places, {"camera.calibration.compartment_radius_mm": 60, "camera.second.fitted": True}
    )
    _, output = asked(places, "calibration", said="310\n")
    assert "--radius 60" in output
    words = ("calibrate", "camera", "--height", "310", "--raised", "16")
    assert called == [(*words, "--config", str(places.settings))]


def test_who_may_log_in_already_is_not_asked_for(places: Places, called: list[tuple[str, ...]]):
    told.mark_table(places, PinParameters())
    users = places.house / "users.toml"
    accounts.add(users, "fay", Role.FLOORPERSON, "a passphrase of hers", "F-100")
    asked(places, "people", said="tom\nT-200\ndan\nD-300\n")
    assert [words[-2:] for words in called] == [("tom", "technician"), ("dan", "dealer")]


def test_a_command_that_fails_is_not_noted_as_answered(places: Places):
    asked(places, "camera.device", said="/dev/none\n")
    with pytest.raises(SetupError, match="calibrate did not succeed"):
        asked(places, "calibration", said="300\n")
    assert "calibration" not in setup.SetUp(places).answered()


def test_a_teaching_that_is_not_enough_says_how_to_go_on(
    places: Places, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(setup, "PROGRAM", ("false",))
    with pytest.raises(SetupError) as refused:
        asked(places, "teaching", said="\n")
    assert "teach --tosses 60" in refused.value.remedy
    assert "teaching" not in setup.SetUp(places).answered()


def test_a_name_that_looks_like_an_option_adds_nobody_unsaid(places: Places):
    told.mark_table(places, PinParameters())
    with pytest.raises(SetupError, match="console did not succeed"):
        asked(places, "people", said="--help\nF-1\n" * 3)


def test_what_no_screen_shows_is_asked_again(places: Places, called: list[tuple[str, ...]]):
    told.mark_table(places, PinParameters())
    answers = "f\0ay\nfay\nF-\x1b1\nF-1\ntom\nT-2\ndan\nD-3\n"
    _, output = asked(places, "people", said=answers)
    assert output.count("give characters that a screen can show") == 2
    assert [words[-2] for words in called] == ["fay", "tom", "dan"]
    assert "\0" not in str(called)


def test_a_damaged_note_of_what_was_answered_is_asked_for_again(places: Places):
    asked(places, said="Table 7\n")
    for file in (places.answered, places.pins):
        file.write_bytes(b"\xff" + file.read_bytes())
    asked(places, said="Table 8\n")
    assert settings.load(places.settings).service.table_name == "Table 8"
    assert places.pins.read_bytes().isascii()


# ── What is told ────────────────────────────────────────────────────────────


def test_a_comment_of_a_person_stays(places: Places):
    told.tell(places, {"table.profile": "pa-625a"}, "the rule text")
    places.settings.write_text(places.settings.read_text() + "attended = true # ask the house\n")
    told.tell(places, {"table.paytable": "B"})
    assert "attended = true # ask the house" in places.settings.read_text()


def test_the_units_own_mask_is_that_of_the_default_pins():
    unit = (shipped() / "shaker-pigpiod.service").read_text()
    assert f"SHAKER_MASK=0x{pins.mask(settings.Settings().gpio.pins):08X}" in unit


def test_paths_in_units_and_scripts_are_those_of_an_installation():
    places = Places()
    table, daemon = (
        (shipped() / f"{name}.service").read_text() for name in ("shaker-ctl", "shaker-pigpiod")
    )
    script = (shipped() / "motor-off").read_text()
    for path, texts in (
        (places.settings, [table]),
        (places.pins, [script, daemon]),
        (places.stop_script, [table, daemon]),
        (places.stop_script.with_name("await-pigpiod"), [daemon]),
    ):
        assert all(str(path) in text for text in texts)


def test_the_approvers_key_is_installed_once_and_never_replaced(places: Places, tmp_path: Path):
    mine, other = tmp_path / "mine.pub", tmp_path / "other.pub"
    mine.write_text("one key")
    other.write_text("another key")
    for _ in range(2):
        told.take_key(places, mine)
        assert places.public_key.read_text() == "one key"
    with pytest.raises(SetupError, match="never replaced"):
        told.take_key(places, other)
    with pytest.raises(SetupError, match="cannot be read"):
        told.take_key(places, tmp_path / "none.pub")


# ── Devices by their sockets ────────────────────────────────────────────────

CAMERA = {"SUBSYSTEM": "video4linux", "ID_PATH": "platform-fd500000.pcie-usb-0:1.1:1.0"}
ADAPTER = {"SUBSYSTEM": "tty", "ID_PATH": "platform-fd500000.pcie-usb-0:1.3:1.0"}
KNOWN = {Path("/dev/video0"): CAMERA, Path("/dev/ttyUSB1"): ADAPTER}


def test_a_named_device_gets_its_name_by_the_socket_it_is_in(places: Places):
    told.name_sockets(places, {"camera": Path("/dev/video0")}, KNOWN.__getitem__)
    assert told.name_sockets(places, {"lamps": Path("/dev/ttyUSB1")}, KNOWN.__getitem__)
    assert not told.name_sockets(places, {"lamps": Path("/dev/ttyUSB1")}, KNOWN.__getitem__)
    rules = places.socket_rules.read_text()
    assert 'ENV{ID_PATH}=="platform-fd500000.pcie-usb-0:1.1:1.0", ATTR{index}=="0"' in rules
    assert 'SYMLINK+="shaker-camera"' in rules
    assert 'ENV{ID_PATH}=="platform-fd500000.pcie-usb-0:1.3:1.0", SYMLINK+="shaker-lamps"' in rules


def test_a_device_of_another_kind_and_one_in_no_socket_are_refused():
    with pytest.raises(RefusedError, match="needs a video4linux device"):
        sockets.rule("camera", Path("/dev/ttyUSB1"), ADAPTER)
    with pytest.raises(RefusedError, match="no USB socket") as refused:
        sockets.rule("technician", Path("/dev/ttyAMA0"), {"SUBSYSTEM": "tty"})
    assert "/dev/ttyAMA0" in refused.value.remedy


@pytest.mark.parametrize("page", ["README.md", "PARTS.md"])
def test_what_a_page_shows_of_its_folder_is_in_the_package_beside_it(page: str):
    text = (shipped() / page).read_text("utf-8")
    shown = [name for name in re.findall(r"\]\(([^)#]+)", text) if "/" not in name]
    rules = (shipped() / "debian" / "rules").read_text("utf-8").split()
    for name in (page, *shown):
        assert f"units/{name}" in rules, name
