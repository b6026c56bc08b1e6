"""Settings: bounded, frozen, intolerant of typing errors, and explained."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pydantic
import pytest

import shaker_ctl
from shaker_ctl.errors import SettingsError
from shaker_ctl.floor.parameters import FloorParameters
from shaker_ctl.link.parameters import LinkParameters
from shaker_ctl.parameters import Parameters, reasons
from shaker_ctl.reading.parameters import LensParameters
from shaker_ctl.rules.vocabulary import Timer
from shaker_ctl.settings import Settings, load, parse, parse_file
from shaker_ctl.settings_page import FOR_RIG, MACHINE, Key, entries, fresh, reference


def test_defaults_are_valid_and_frozen() -> None:
    settings = parse({}, source="nothing")
    assert settings.table.profile == "pa-625a"
    with pytest.raises(pydantic.ValidationError):
        settings.table.profile = "md"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"table": {"beting_s": 3.0}}, r"table\.beting_s .*did you mean table\.betting_s\?"),
        ({"lamps": {}}, r"lamps .*did you mean lamp\?"),
    ],
)
def test_an_unknown_key_names_file_key_and_the_nearest_one(given, said) -> None:
    with pytest.raises(SettingsError, match=rf"table\.toml: unknown key {said}"):
        parse(given, source="table.toml")


def test_a_console_that_only_names_its_device_keeps_its_roles() -> None:
    device = {"device": "/dev/ttyUSB9"}
    ports = parse({"console": {"technician": device}}, source="table.toml").console
    assert ports.technician.device == "/dev/ttyUSB9"
    assert ports.technician.roles == Settings().console.technician.roles


@pytest.mark.parametrize(
    "text",
    [
        "[table]\nbetting_s = 0x" + "9" * 6000,
        "[service]\ntable_name" + ".a" * 5000 + " = 1",
        "[service]\ntable_name = [" + "1, " * 5000 + "]",
    ],
    ids=["base 16", "dotted", "long"],
)
def test_an_endless_value_is_quoted_in_short(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match="Input should be") as caught:
        load(path)
    assert len(caught.value.line()) < 500


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("camera", "key"),
    [
        ({"calibration": {"image_size": [0, 0]}}, "image_size"),
        ({"calibration": {"tilt_deg": [90, 9000]}}, "tilt_deg"),
        ({"calibration": {"tilt_deg": [NAN, 0]}}, "tilt_deg"),
        ({"calibration": {"centre_px": [NAN, INF]}}, "centre_px"),
        ({"calibration": {"centre_px": [900.0, 240.0]}}, "centre_px"),
        ({"second": {"fitted": True, "centre_px": [900.0, 240.0]}}, "second: .*centre_px"),
        (
            {"second": {"fitted": True, "height_mm": 61.0}, "calibration": {"die_mm": 25.0}},
            "second: .*height_mm",
        ),
        ({"second": {"fitted": True}, "calibration": {"die_mm": 10.0}}, "too small for a stereo"),
        ({"second": {"turn_deg": 11.0}}, "second.turn_deg"),
        ({"calibration": {"compartment_mm": [NAN, 0]}}, "compartment_mm"),
        ({"calibration": {"compartment_mm": [0, 1e9]}}, "compartment_mm"),
        ({"calibration": {"height_mm": 70.0, "die_mm": 25.0}}, "height_mm"),
        ({"controls": {"colour_gains": [NAN, -1]}}, "colour_gains"),
        ({"controls": {"colour_gains": [INF, 1]}}, "colour_gains"),
        ({"device": -7}, "device"),
        ({"device": ""}, "device"),
        ({"device": "csi:front"}, "device"),
        ({"device": "csi:0", "controls": {"white_balance_k": 4500.0}}, "colour_gains"),
        ({"dip_level_low": 0.9, "dip_level_high": 0.3}, "dip_level_low"),
    ],
)
def test_a_camera_that_cannot_be_is_refused_by_key(camera: dict[str, object], key: str) -> None:
    with pytest.raises(SettingsError, match=rf"x: camera\b.*{key}"):
        parse({"camera": camera}, source="x")


@pytest.mark.parametrize(
    ("section", "key", "value", "said"),
    [
        ("table", "cover_fitted", "yes", "true or false, without quotes"),
        ("seal", "required", "no", "true or false, without quotes"),
        ("lamp", "baudrate", "9600", "a number, without quotes"),
        ("lamp", "baudrate", 115201, "give one of 9600, .*115200"),
        ("table", "betting_s", True, "a number, without quotes"),
        ("table", "betting_s", -1, "greater than or equal to"),
        ("sign", "felt", "green", "a colour as #0b3d2e"),
        ("service", "table_name", "", "1 to 40 characters"),
        ("service", "table_name", "a\u001b[31mred", "a screen can show"),
    ],
)
def test_a_value_of_another_type_or_that_no_screen_shows_is_refused(
    section: str, key: str, value: object, said: str
) -> None:
    with pytest.raises(SettingsError, match=rf"{section}\.{key} = .*: .*{said}"):
        parse({section: {key: value}}, source="x")


@pytest.mark.parametrize("second", ["journal.jsonl", "../{}/journal.jsonl", "link.jsonl"])
def test_the_second_copy_is_another_file(tmp_path: Path, second: str) -> None:
    journal = {"path": str(tmp_path / "journal.jsonl")}
    (tmp_path / "link.jsonl").symlink_to("journal.jsonl")
    journal["second"] = str(tmp_path / second.format(tmp_path.name))
    with pytest.raises(SettingsError, match=r"x: journal\.second is the same file"):
        parse({"journal": journal}, source="x")


def test_every_key_stands_in_the_reference_with_its_reason() -> None:
    text = reference()
    for section, field in Settings.model_fields.items():
        assert f"## [{section}]" in text
        inner = field.annotation
        assert isinstance(inner, type)
        assert issubclass(inner, Parameters)
        for key, member in inner.model_fields.items():
            assert f"`{key}`" in text or f"## [{section}.{key}]" in text
            if not hasattr(member.annotation, "model_fields"):
                assert reasons(inner).get(key), f"{section}.{key} has no reason"
                assert reasons(inner)[key] in text


def test_no_source_is_parsed_before_somebody_asks_for_reasons() -> None:
    """On a Raspberry Pi 4 that took a second of every command."""
    program = (
        "import inspect\n"
        "def parsed(*_): raise AssertionError('a source was parsed at import')\n"
        "inspect.getsource = inspect.findsource = inspect.getsourcelines = parsed\n"
        "import shaker_ctl.commands.run, shaker_ctl.table\n"
        "import shaker_ctl.adapters.camera.process\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


LOOKED_AT = {
    name
    for path in Path(shaker_ctl.__file__).parent.rglob("*.py")
    if "tests" not in path.parts
    for name in re.findall(r"\.(\w+)", path.read_text("utf-8"))
}
"""Every attribute that the program's code looks at."""

READ_BY_NAME = {f"{timer.value}_s" for timer in Timer}
"""Keys that no line of code spells out: `TableParameters.seconds` puts them together."""


def keys_of(section: type[pydantic.BaseModel]) -> Iterator[str]:
    """Yield every key, without those of the lenses: `vision` is handed these tables whole."""
    for key, field in section.model_fields.items():
        inner = field.annotation
        if not (isinstance(inner, type) and issubclass(inner, pydantic.BaseModel)):
            yield key
        elif not issubclass(inner, LensParameters):
            yield from keys_of(inner)


def test_no_key_is_promised_that_no_code_reads() -> None:
    assert set(keys_of(Settings)) - READ_BY_NAME - LOOKED_AT == set()


def test_the_references_defaults_written_into_a_file_are_the_defaults(tmp_path: Path) -> None:
    lines = []
    for line in reference().splitlines():
        if line.startswith("## ["):
            lines.append(line[3:])
        elif found := re.match(r"- \*\*`(\S+)`\*\* = `(.+?)`(?: \(|$)", line):
            lines.append(f"{found[1]} = {found[2]}")
    path = tmp_path / "settings.toml"
    path.write_text("\n".join(lines))
    assert load(path) == Settings()
    assert len(lines) > 100


def test_a_fresh_file_changes_nothing_but_what_was_chosen(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(fresh({}))
    assert load(path) == Settings()
    path.write_text(fresh(FOR_RIG))
    assert load(path).service.heartbeat_s == FOR_RIG["service.heartbeat_s"][0]
    assert load(path).lamp.request_deadline_s == FOR_RIG["lamp.request_deadline_s"][0]


@pytest.mark.parametrize("kind", [LinkParameters, FloorParameters])
def test_link_and_floor_have_a_file_and_a_reference_of_their_own(
    kind: type[Parameters], tmp_path: Path
) -> None:
    path = tmp_path / "a.toml"
    with pytest.raises(SettingsError) as missing:
        parse_file(path, kind)
    assert f"settings new --for {kind.FILE} FILE" in str(missing.value.remedy)
    text = re.sub(r"(?m)^#(?! )", "", fresh({}, kind()))
    path.write_text(re.sub(r"(?m)^\w+ =  # not set.*\n", "", text))
    assert parse_file(path, kind) == kind()
    path.write_text("attended = true")
    with pytest.raises(SettingsError) as strange:
        parse_file(path, kind)
    assert f"settings reference --for {kind.FILE} " in str(strange.value.remedy)
    assert "`site`" in reference("", kind())


def test_every_key_of_a_fresh_file_can_be_taken_out_of_its_comment(tmp_path: Path) -> None:
    """A key is `#key = value`, a remark begins with `# `. The machine has a file of its own."""
    path = tmp_path / "settings.toml"
    keys = []
    for machine in (False, True):
        text = re.sub(r"(?m)^#(?! )", "", fresh({}, machine=machine))
        path.write_text(re.sub(r"(?m)^\w+ =  # not set.*\n", "", text))
        assert load(path) == Settings()
        keys.append(re.findall(r"(?m)^\w+(?= =)", text))
    every = [each.path[-1] for each in entries(Settings()) if isinstance(each, Key)]
    assert sorted(keys[0] + keys[1]) == sorted(every)
    assert {"proportional", "tach_glitch_us", "heartbeat_s"} <= set(keys[1])


def test_each_name_of_a_machines_keys_begins_some() -> None:
    names = [each.name for each in entries(Settings()) if isinstance(each, Key)]
    assert [each for each in MACHINE if not any(name.startswith(each) for name in names)] == []
