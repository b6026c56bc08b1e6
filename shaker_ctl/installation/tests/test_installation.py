"""An installation says what it will do, does it once, and takes away only what it brought."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from shaker_ctl import settings, settings_page
from shaker_ctl.installation import pins, sockets
from shaker_ctl.installation.acts import InstallError
from shaker_ctl.installation.places import PACKAGED, Places, shipped
from shaker_ctl.installation.plan import (
    SCRIPTS,
    STARTED,
    UNITS,
    Wishes,
    kept,
    to_install,
    to_uninstall,
)
from shaker_ctl.main import program

PREFIX = Path("/opt/shaker-ctl")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "root", prefix=PREFIX)


def carry_out(wishes: Wishes) -> None:
    for act in to_install(wishes):
        act.do()


def everything_below(root: Path) -> dict[Path, tuple[int, bytes | str]]:
    def content(path: Path) -> bytes | str:
        return os.readlink(path) if path.is_symlink() else path.read_bytes()

    return {
        path.relative_to(root): (path.lstat().st_mode, content(path))
        for path in root.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def test_nothing_is_changed_by_a_plan(places: Places):
    assert to_install(Wishes(places))
    assert not places.root.exists()


def test_after_an_installation_nothing_is_left_to_do(places: Places):
    carry_out(Wishes(places))
    assert to_install(Wishes(places)) == []


def test_an_installation_brings_every_unit_script_and_mark(places: Places):
    carry_out(Wishes(places))
    for name in UNITS:
        assert (places.units / name).is_file()
    for name in STARTED:
        assert (places.units / "multi-user.target.wants" / name).is_symlink()
    for name in SCRIPTS:
        assert (places.scripts / name).stat().st_mode & 0o777 == 0o755
    for path in (places.pins, places.real_table, places.rules, places.tmpfiles, places.sysusers):
        assert path.is_file()
    assert places.settings.stat().st_mode & 0o777 == 0o640


def test_what_a_person_wrote_into_the_settings_stays(places: Places):
    carry_out(Wishes(places))
    places.settings.write_text('[service]\ntable_name = "Table 7"\n')
    carry_out(Wishes(places))
    assert "Table 7" in places.settings.read_text()


def test_a_changed_unit_is_put_right_and_said_so_first(places: Places):
    carry_out(Wishes(places))
    unit = places.units / "shaker-ctl.service"
    unit.write_text(unit.read_text().replace("WatchdogSec=2", "WatchdogSec=0"))
    assert [act.what for act in to_install(Wishes(places))] == [f"replace {unit}"]
    carry_out(Wishes(places))
    assert "WatchdogSec=2" in unit.read_text()


def test_a_stop_script_that_cannot_be_run_is_put_right(places: Places):
    carry_out(Wishes(places))
    (places.scripts / "motor-off").chmod(0o644)
    carry_out(Wishes(places))
    assert (places.scripts / "motor-off").stat().st_mode & 0o777 == 0o755


def test_the_units_name_the_environment_in_which_the_program_lies(places: Places):
    carry_out(Wishes(Places(places.root, prefix=Path("/srv/table"))))
    unit = (places.units / "shaker-ctl.service").read_text()
    assert "ExecStart=/srv/table/bin/python3 -I /srv/table/bin/shaker-ctl run" in unit
    assert str(PREFIX) not in unit


def test_a_package_leaves_settings_keys_and_switching_on(tmp_path: Path):
    places = Places(tmp_path / "root", prefix=PACKAGED)
    carry_out(Wishes(places))
    assert to_install(Wishes(places)) == []
    made = {str(path) for path in everything_below(places.root)}
    wants = "etc/systemd/system/multi-user.target.wants"
    assert {name for name in made if not (places.root / name).is_dir()} == {
        *("etc/shaker-ctl/settings.toml", "etc/shaker-ctl/pins.conf", "etc/shaker-ctl/real-table"),
        *(f"{wants}/shaker-ctl.service", f"{wants}/shaker-pigpiod.service"),
    }


def test_a_package_is_taken_away_by_apt():
    with pytest.raises(InstallError, match="Debian package") as refused:
        to_uninstall(Places(prefix=PACKAGED))
    assert "apt remove" in refused.value.remedy


def test_an_environment_that_the_service_may_not_see_is_refused():
    with pytest.raises(InstallError, match="may not look"):
        to_install(Wishes(Places(prefix=Path("/home/pi/venv"))))


def test_an_uninstallation_keeps_the_journal_and_all_that_was_told(places: Places):
    carry_out(Wishes(places))
    journal = places.at("/var/lib/shaker-ctl/journal.sqlite")
    journal.write_bytes(b"the table's memory")
    users = places.at("/etc/shaker-ctl/users.toml")
    users.write_text("")
    for act in to_uninstall(places):
        act.do()
    left = {path for path in places.root.rglob("*") if path.is_file() or path.is_symlink()}
    assert left == {journal, users, places.settings}
    assert journal.parent in kept(places)
    assert to_uninstall(places) == []


def test_an_uninstallation_takes_away_all_that_an_installation_brought(places: Places):
    foreign = places.units / "other.service"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("[Unit]\n")
    before = everything_below(places.root)
    carry_out(Wishes(places))
    for act in to_uninstall(places):
        act.do()
    after = everything_below(places.root)
    after.pop(places.settings.relative_to(places.root))
    assert after == before


def test_the_pins_of_the_settings_reach_the_stop_script_and_the_daemons_mask(places: Places):
    moved = settings.parse({"gpio": {"pins": {"motor_enable": 17}}}, source="here").gpio.pins
    carry_out(Wishes(places, pins=moved))
    lines = places.pins.read_text().splitlines()
    assert "SHAKER_EN=17" in lines
    assert f"SHAKER_MASK=0x{0x03B53060 & ~(1 << 23) | 1 << 17:08X}" in lines


def test_the_units_own_mask_is_that_of_the_default_pins():
    unit = (shipped() / "pigpiod.service").read_text()
    assert f"SHAKER_MASK=0x{pins.mask(settings.Settings().gpio.pins):08X}" in unit


def test_paths_in_units_and_scripts_are_those_of_an_installation(places: Places):
    carry_out(Wishes(places))
    unit = (places.units / "shaker-ctl.service").read_text()
    daemon = (places.units / "pigpiod.service").read_text()
    for path, text in (
        (places.settings, unit),
        (places.pins, (places.scripts / "motor-off").read_text()),
        (places.pins, daemon),
        (places.scripts / "motor-off", unit),
        (places.scripts / "motor-off", daemon),
        (places.scripts / "await-pigpiod", daemon),
    ):
        assert f"/{path.relative_to(places.root)}" in text


# ── Keys ────────────────────────────────────────────────────────────────────


def test_the_approvers_key_is_installed_once_and_never_replaced(places: Places, tmp_path: Path):
    mine, other = tmp_path / "mine.pub", tmp_path / "other.pub"
    mine.write_text("one key")
    other.write_text("another key")
    carry_out(Wishes(places, public_key=mine))
    assert places.public_key.read_text() == "one key"
    assert to_install(Wishes(places, public_key=mine)) == []
    with pytest.raises(InstallError, match="never replaced"):
        to_install(Wishes(places, public_key=other))


def test_a_key_that_is_not_there_is_named(places: Places, tmp_path: Path):
    with pytest.raises(InstallError, match="cannot be read"):
        to_install(Wishes(places, public_key=tmp_path / "none.pub"))


# ── Devices by their sockets ────────────────────────────────────────────────

CAMERA = {"SUBSYSTEM": "video4linux", "ID_PATH": "platform-fd500000.pcie-usb-0:1.1:1.0"}
ADAPTER = {"SUBSYSTEM": "tty", "ID_PATH": "platform-fd500000.pcie-usb-0:1.3:1.0"}


def test_a_named_device_gets_its_name_by_the_socket_it_is_in(places: Places):
    known = {Path("/dev/video0"): CAMERA, Path("/dev/ttyUSB1"): ADAPTER}
    wishes = Wishes(
        places,
        devices={"camera": Path("/dev/video0"), "lamps": Path("/dev/ttyUSB1")},
        properties=known.__getitem__,
    )
    carry_out(wishes)
    rules = places.socket_rules.read_text()
    assert 'ENV{ID_PATH}=="platform-fd500000.pcie-usb-0:1.1:1.0", ATTR{index}=="0"' in rules
    assert 'SYMLINK+="shaker-camera"' in rules
    assert 'ENV{ID_PATH}=="platform-fd500000.pcie-usb-0:1.3:1.0", SYMLINK+="shaker-lamps"' in rules
    assert to_install(wishes) == []


def test_a_device_of_another_kind_is_refused():
    with pytest.raises(InstallError, match="needs a video4linux device"):
        sockets.rule("camera", Path("/dev/ttyUSB1"), ADAPTER)


def test_a_device_in_no_socket_is_refused_with_what_to_write_instead():
    with pytest.raises(InstallError, match="no USB socket") as refused:
        sockets.rule("technician", Path("/dev/ttyAMA0"), {"SUBSYSTEM": "tty"})
    assert "/dev/ttyAMA0" in refused.value.remedy


# ── A new table's settings ──────────────────────────────────────────────────

NEW = (shipped() / "settings.toml").read_text("utf-8")


def test_a_new_tables_settings_are_valid_as_they_are(places: Places):
    carry_out(Wishes(places))
    assert settings.load(places.settings).camera.device == "/dev/shaker-camera"


def switched_on(text: str) -> str:
    """A new table's settings with each suggested key set."""
    lines = text.splitlines()
    return "\n".join(
        line[2:] if line.startswith("# ") and " = " in line else line for line in lines
    )


def test_every_key_that_a_new_tables_settings_suggest_exists():
    assert settings.parse_text(switched_on(NEW), source="it").journal.second is not None


def test_what_a_first_table_sets_is_one_list_in_the_page_in_its_file_and_in_a_new_one():
    keys = [*_keys(tomllib.loads(switched_on(NEW)))]
    keys = [re.sub(r"(?<=calibration)\..*", "", key) for key in keys]
    assert set(keys) == set(settings_page.FIRST)
    page = (shipped() / "README.md").read_text("utf-8")
    listed = page.partition("**What a first table sets.**")[2].partition("\n\n**")[0]
    rows = re.findall(r"^\| `(.+?)` \| (.+) \|$", listed, re.MULTILINE)
    assert dict(rows) == settings_page.FIRST
    told = settings_page.fresh({})
    assert all(f"# A first table sets this: {why}." in told for why in settings_page.FIRST.values())


def _keys(found: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _keys(value, f"{path}{name}.")
        else:
            yield f"{path}{name}"


@pytest.mark.parametrize("page", ["README.md", "PARTS.md"])
def test_what_a_page_shows_of_its_folder_is_installed_beside_it(places: Places, page: str):
    carry_out(Wishes(places))
    text = (places.documents / page).read_text("utf-8")
    shown = [name for name in re.findall(r"\]\(([^)#]+)", text) if "/" not in name]
    assert all((places.documents / name).is_file() for name in shown)
    if (shipped() / "build-deb").exists():  # and in the package, where this is the source tree
        rules = (shipped() / "debian" / "rules").read_text("utf-8").split()
        staged = (shipped() / "build-deb").read_text("utf-8").split()
        for name in (page, *shown):
            assert f"units/{name}" in rules, name
            assert name in staged, name


# ── The command ─────────────────────────────────────────────────────────────


def test_check_says_what_is_missing_with_status_1_and_changes_nothing(tmp_path: Path):
    root = tmp_path / "root"
    done = CliRunner().invoke(program, ["install", "--check", "--root", str(root)])
    assert done.exit_code == 1
    assert "shaker-ctl.service" in done.output
    assert not root.exists()


def test_install_asks_before_it_does_anything(tmp_path: Path):
    root = tmp_path / "root"
    done = CliRunner().invoke(program, ["install", "--root", str(root)], input="n\n")
    assert isinstance(done.exception, InstallError)
    assert not root.exists()


def test_install_check_and_uninstall_in_a_row(tmp_path: Path):
    root = str(tmp_path / "root")
    run = CliRunner().invoke
    assert run(program, ["install", "--yes", "--root", root]).exit_code == 0
    assert run(program, ["install", "--check", "--root", root]).exit_code == 0
    gone = run(program, ["uninstall", "--yes", "--root", root])
    assert gone.exit_code == 0
    assert "kept" in gone.output
    assert run(program, ["install", "--check", "--root", root]).exit_code == 1


def test_uninstall_check_says_what_would_go_with_status_1_and_changes_nothing(tmp_path: Path):
    root = tmp_path / "root"
    run = CliRunner().invoke
    assert run(program, ["install", "--yes", "--root", str(root)]).exit_code == 0
    told = run(program, ["uninstall", "--check", "--root", str(root)])
    assert told.exit_code == 1
    assert "shaker-ctl.service" in told.output
    assert run(program, ["install", "--check", "--root", str(root)]).exit_code == 0
    words = " ".join(run(program, ["uninstall", "--help"]).output.replace("│", " ").split())
    assert "what would be removed" in words
    assert "missing" not in words


def test_one_more_named_device_takes_no_name_from_those_before(places: Places):
    known = {Path("/dev/video0"): CAMERA, Path("/dev/ttyUSB1"): ADAPTER}
    for devices in ({"camera": Path("/dev/video0")}, {"dealer": Path("/dev/ttyUSB1")}):
        for act in to_install(Wishes(places, devices=devices, properties=known.__getitem__)):
            act.do()
    rules = places.socket_rules.read_text().splitlines()
    assert [line.split('SYMLINK+="')[1].split('"')[0] for line in rules[1:]] == [
        "shaker-camera",
        "shaker-dealer",
    ]
    again = Wishes(places, devices={"camera": Path("/dev/video0")}, properties=known.__getitem__)
    assert to_install(again) == []


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("where", ["file", "file/below", "loop", "loop/below", "y" * 300])
def test_a_root_that_is_no_folder_is_refused_before_any_work_is_listed(
    tmp_path: Path, command: str, where: str
):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    done = CliRunner().invoke(program, [command, "--check", "--root", str(tmp_path / where)])
    assert isinstance(done.exception, InstallError)
    assert "--root" in str(done.exception)
    assert done.output == ""


def test_a_root_is_shown_as_it_is_named(tmp_path: Path):
    root = tmp_path / "[" / "x]" / ":smile:"
    done = CliRunner().invoke(program, ["install", "--check", "--root", str(root)])
    assert done.exit_code == 1
    assert f"write {root}/etc/shaker-ctl/settings.toml" in done.output


def test_what_stands_where_another_thing_belongs_is_work_to_do(places: Places):
    carry_out(Wishes(places))
    places.pins.unlink()
    places.pins.mkdir()
    mount = places.at("/media/shaker-journal")
    mount.rmdir()
    mount.touch(mode=0o755)
    acts = to_install(Wishes(places))
    assert [act.what for act in acts] == [
        f"have the folder {mount}, mode 0755",
        f"replace {places.pins}",
    ]
    for act in acts:
        with pytest.raises(InstallError):
            act.do()
