"""Rig files: those that come with the rig, and what a wrong one is told."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest

from hil_tests.rig.rigfile import Gpio, PartKind, RigFileError, load

RIGS = Path(__file__).parents[2] / "rigs"


@pytest.mark.parametrize("path", sorted(RIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_each_file_that_comes_with_the_rig_can_be_used(path: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("0123456789abcdef01234567")
    placed = tmp_path / path.name
    placed.write_text(path.read_text("utf-8").replace("/tmp/rig-token", f"{tmp_path}/token"))
    rig = load(placed)
    assert rig.name
    for pins in (rig.gpio.pins, rig.gpio.wiring):
        assert len(set(astuple(pins))) == len(astuple(pins))


def test_an_empty_file_is_a_virtual_rig(tmp_path: Path) -> None:
    path = tmp_path / "rig.toml"
    path.write_text("")
    rig = load(path)
    assert rig.gpio.wires is Gpio.VIRTUAL
    assert rig.lamp.is_ is rig.camera.is_ is rig.console.is_ is PartKind.VIRTUAL


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[gpoi]\n", "no key gpoi; hil_tests/rigs/README.md explains all"),
        (
            "[gpio]\nwires = 'real'\n",
            "gpio.wires is 'real': input should be 'virtual', 'gpiochip'",
        ),
        (
            "[gpio.wiring]\nestop = '13'\n",
            "gpio.wiring.estop is '13': input should be a valid int",
        ),
        ("[gpio]\nwires = 'bench'\n", "[bench] lock"),
        ("[gpio]\nwires = 'bench'\nrig = 'pi'\n[bench]\nlock = 'x'\n", "no HOST:PORT"),
        ("[lamp]\nis = 'device'\n", "needs device"),
        ("[camera]\nis = 'device'\n", "needs url"),
        ("[console]\nis = 'device'\n", "[console.technician] needs service and person"),
        (
            "[gpio]\nwires = 'bench'\nrig = 'pi:65536'\n[bench]\nlock = 'x'\n",
            "a port of 1 to 65535",
        ),
        ("machine = 3\n", "machine is 3: input should be an object"),
        ("[machine]\ngeometry = 'nope'\n", "machine.geometry is one of standard, narrow, rough"),
        ("[machine]\ncover = 'nope'\n", "machine.cover is one of hand, driven, not 'nope'"),
        ("[bench]\ndoor = '127.0.0.1:7411'\n", "needs token, a file of 24 characters or more"),
        ("[lamp]\nport = '/dev/ttyUSB0'\n", "needs device, the controller's name"),
        ("[console.dealer]\nport = '/dev/ttyUSB1'\n", "takes port and service, both"),
        ("[service]\nrig = '/run/shaker-rig'\n", "[service] rig, of one that runs, needs people"),
        ("[gpio]\nattached = ['i2c:1=clock']\n", "attaches nothing; say i2c:BUS:ADDRESS"),
        ("[gpio]\nattached = ['spi:0=loop', 'spi:0=loop']\n", "spi:0 is given twice"),
        ("[gpio]\nwires = 'crossed'\nattached = ['spi:0=loop']\n", "needs [gpio] wires"),
        (
            "[machine]\nseed = -1\n",
            "machine.seed is -1: input should be greater than or",
        ),
        ("[lamp]\nunit = 0\n", "lamp.unit is 0: input should be greater than or equal to 1"),
        ("[machine]\ndead_lamps = -1\n", "machine.dead_lamps is 0 to 7, not -1"),
        ("[gpio]\nmotor_run_s = nan\n", "gpio.motor_run_s is nan: input should be"),
        ("[gpio]\nmotor_run_s = inf\n", "gpio.motor_run_s is inf: input should be less than"),
        ("[gpio]\npwm_hz = -1\n", "gpio.pwm_hz is -1: input should be greater than or equal to 0"),
        (
            "[gpio.pins]\ntach = 99\n",
            "gpio.pins.tach is 99: input should be less than or equal to 31",
        ),
        ("[gpio.pins]\ntach = 18\n", "[gpio.pins] gives GPIO 18 to two lines"),
        (
            "[gpio]\nwires = 'bench'\nrig = 'pi:1'\ncontroller = 'pi:1'\n[bench]\nlock = 'x'\n",
            "are one daemon: a bench has two",
        ),
        ("a = " + "[" * 5000, "no TOML"),
        ("[machine]\ndead_lamps = 8\n", "machine.dead_lamps is 0 to 7, not 8"),
        (
            "[camera.lens]\ntilt = [1.0, 1.0]\n",
            "no key camera.lens.tilt; hil_tests/rigs",
        ),
        (
            "[camera.lens]\ntilt_deg = 1.0\n",
            "camera.lens.tilt_deg is 1.0: input should be a valid",
        ),
        ("[camera.lens]\ntilt_deg = [1.0]\n", "camera.lens.tilt_deg.1 is [1.0]: field required"),
        (
            "[camera.lens]\ntilt_deg = [40.0, 0.0]\n",
            "tilt_deg.0 is 40.0: input should be less than",
        ),
        ("[machine]\ndice = 'nope'\n", "machine.dice is one of white"),
        ("[[gpio", "no TOML"),
    ],
)
def test_a_wrong_file_is_told_which_key_and_what_would_be_right(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "rig.toml"
    path.write_text(text)
    with pytest.raises(RigFileError) as caught:
        load(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_utf_8_is_said(tmp_path: Path) -> None:
    path = tmp_path / "rig.toml"
    path.write_bytes(b"name = 'caf\xe9'\n")
    with pytest.raises(RigFileError, match=r"rig\.toml is no UTF-8 text, from byte 11 on"):
        load(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(RigFileError, match="No such file"):
        load(tmp_path / "none.toml")


@pytest.mark.parametrize("held", ["\n" * 30, "short" + " " * 30, "two words of one line " * 3])
def test_a_token_that_lets_anybody_in_or_nobody_is_refused(tmp_path: Path, held: str) -> None:
    token, path = tmp_path / "token", tmp_path / "rig.toml"
    token.write_text(held)
    path.write_text(f"[bench]\ndoor = '127.0.0.1:7411'\ntoken = '{token}'\n")
    with pytest.raises(RigFileError, match="needs token, a file of 24 characters"):
        load(path)
