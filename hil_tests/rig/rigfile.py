"""`rig.toml`: which parts of a rig are simulated and which are real, and where the real ones are.

Owns the file's tables and keys, their defaults and their refusals. Must not know how any part is
started. The keys are explained, one by one, in `hil_tests/rigs/README.md`.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, astuple
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from hil_tests.rig.wires.uart import Parity
from hil_tests.rig.wires.wiring import PinMap
from virtual_pigpiod.buses.attached import attach
from virtual_pigpiod.server import LAST_PORT

if TYPE_CHECKING:
    from hil_tests.rig.camera.optics import Lens


MAX_PWM_HZ = 100_000
"""Above the fastest motor PWM of any settings of the controller."""

MAX_MOTOR_RUN_S = 600.0
"""Of a bench's own limit on EN; a motor that nobody watches runs no longer."""


TOKEN_LEN = 24
"""Fewest characters of the token of a door on a network."""


class RigFileError(Exception):
    """The rig file cannot be used. The text names file, key and what would be right."""


class Gpio(StrEnum):
    """Which wires the pins have."""

    VIRTUAL = "virtual"
    GPIOCHIP = "gpiochip"
    CROSSED = "crossed"
    BENCH = "bench"


class PartKind(StrEnum):
    """Whether a part is the rig's own or somebody else's."""

    VIRTUAL = "virtual"
    DEVICE = "device"


class RigTable(BaseModel):
    """Unknown keys are errors, and so is text where a number belongs."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_by_name=True)

    def but(self, **given: Any) -> Self:
        """The same with what is given, and is not None, in place of its own."""
        return self.model_copy(update={k: v for k, v in given.items() if v is not None})


class MachineTable(RigTable):
    """`[machine]`: the plant."""

    geometry: str = "standard"
    dice: str = "white"
    cover: str = "hand"
    seed: int = Field(0, ge=0)
    dead_lamps: int = 0
    """How many of the ring's eight lamps give no light."""


class GpioTable(RigTable):
    """`[gpio]`: the pins."""

    wires: Gpio = Gpio.VIRTUAL
    controller: str = "127.0.0.1:8888"
    """HOST:PORT of the daemon that the controller uses (bench)."""
    rig: str = "127.0.0.1:8889"
    """HOST:PORT of the daemon whose pins are wired to the controller's (bench)."""
    pwm_hz: int = Field(0, ge=0, le=MAX_PWM_HZ)
    """Frequency that the controller's settings must give the motor PWM; 0: whichever it has."""
    motor_run_s: float = Field(20.0, gt=0.0, le=MAX_MOTOR_RUN_S)
    """Longest time that EN may be high before the rig opens the e-stop line."""
    monostable: bool = True
    """Whether EN goes through a hardware monostable; without it EN alone enables the driver, as for
    tries by hand."""
    attached: tuple[str, ...] = ()
    """Devices on the buses of the controller's virtual daemon, as `pigpiod.attached` reads them."""
    pins: PinMap = PinMap()
    """`[gpio.pins]`: the controller's GPIO numbers."""
    wiring: PinMap = PinMap()
    """`[gpio.wiring]`: the rig's GPIO at the other end of each wire."""


class LampTable(RigTable):
    """`[lamp]`: the lamp box."""

    is_: PartKind = Field(PartKind.VIRTUAL, alias="is")
    device: str = ""
    baudrate: int = Field(115200, ge=9600, le=1_000_000)
    parity: Parity = Parity.NONE
    """Of the virtual box; a real one is asked without any, as the controller asks."""
    unit: int = Field(1, ge=1, le=247)
    layout: Path | None = None
    """A house's profile file: the virtual box is made for the areas that it adds."""
    port: str = ""
    """Serial port of this computer that is the virtual box's end; `device` is the controller's."""
    start: tuple[str, ...] = ()
    """A program that is the box, started with the rig; `{folder}` stands for the rig's folder."""
    log: str = ""
    """Where that program writes which lamps burn, in the form of `lamps.jsonl`."""


class CameraTable(RigTable):
    """`[camera]`: the camera."""

    is_: PartKind = Field(PartKind.VIRTUAL, alias="is")
    url: str = ""
    calibration: dict[str, Any] = {}
    """`[camera.calibration]` of a real camera, as the controller's."""
    lens: dict[str, Any] = {}
    """`[camera.lens]` of the virtual one: what differs from the usual one, `optics.FITTED`."""


class ConsoleTable(RigTable):
    """`[console.technician]`, `[console.dealer]`: both ends of each line."""

    is_: PartKind = Field(PartKind.VIRTUAL, alias="is")
    technician: dict[str, str] = {}
    dealer: dict[str, str] = {}
    """Of a virtual line: `port`, a serial port of this computer, and `service`, the controller's
    device at the other end of its cable."""


class ServiceTable(RigTable):
    """`[service]`: the controller's program, where it is not simply started here."""

    through: tuple[str, ...] = ()
    """What stands before each of its commands: how to run it on another computer that sees the
    same folders, such as `nsenter -t PID -n`."""
    rig: str = ""
    """Folder of a rig that runs already, at a controller that is installed and runs. The stories
    then start neither of them."""
    people: str = ""
    """Their passphrases there: a TOML file of `fay`, `dan`, `tom` and `sue`."""
    off: tuple[str, ...] = ()
    """Command that takes the running controller's power: a relay's; empty: a person is asked."""
    on: tuple[str, ...] = ()
    """Command that gives it back."""


class BenchTable(RigTable):
    """`[bench]`: who may use it."""

    lock: str = ""
    """File of the reservation; empty: nobody else could use this rig."""
    door: str = ""
    """HOST:PORT at which the rig answers `shaker-rig` of other computers; empty: nowhere."""
    token: str = ""
    """File of the token that they must know."""


class RigFile(RigTable):
    """A whole rig. The default is a virtual one."""

    name: str = "virtual"
    bind: str = "127.0.0.1"
    """Address at which daemon and camera listen; 0.0.0.0 for every network of this computer."""
    address: str = "127.0.0.1"
    """Name or address by which the controller's computer reaches this one."""
    faults: tuple[str, ...] = ()
    """Faults in force from the start, as `shaker-rig inject` takes them."""
    machine: MachineTable = MachineTable()
    gpio: GpioTable = GpioTable()
    lamp: LampTable = LampTable()
    camera: CameraTable = CameraTable()
    console: ConsoleTable = ConsoleTable()
    service: ServiceTable = ServiceTable()
    bench: BenchTable = BenchTable()

    @property
    def is_virtual(self) -> bool:
        """Whether no part of it is a real one, and it starts no other program."""
        parts = (self.lamp.is_, self.camera.is_, self.console.is_)
        ports = (self.lamp.port, self.console.technician, self.console.dealer)
        return (
            self.gpio.wires is Gpio.VIRTUAL and set(parts) == {PartKind.VIRTUAL} and not any(ports)
        )


def load(path: Path) -> RigFile:
    """Read a rig file. Raises `RigFileError`."""
    try:
        text = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise RigFileError(f"{path}: {error.strerror}. See hil_tests/rigs/") from None
    except UnicodeDecodeError as error:
        raise RigFileError(
            f"{path} is no UTF-8 text, from byte {error.start} on. Save it as UTF-8"
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RigFileError(f"{path} is no TOML: {error}") from None
    try:
        # As JSON: there a list may be a tuple and a word an enumeration, and nothing else.
        rig = RigFile.model_validate_json(json.dumps(text, default=str))
        _check(rig)
    except ValidationError as error:
        raise RigFileError(f"{path}: {_first(error)}") from None
    except ValueError as error:
        raise RigFileError(f"{path}: {error}") from None
    return rig


def _first(error: ValidationError, where: str = "") -> str:
    """The first thing that is wrong: which key, and what would be right."""
    wrong = error.errors()[0]
    key = where + ".".join(map(str, wrong["loc"]))
    if wrong["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"no key {key}; hil_tests/rigs/README.md explains all that there are"
    return f"{key} is {wrong['input']!r}: {wrong['msg'].lower()}"


def _check(rig: RigFile) -> None:
    _check_machine(rig.machine)
    if rig.lamp.port and not (rig.lamp.is_ is PartKind.VIRTUAL and rig.lamp.device):
        raise ValueError("[lamp] port is a virtual box's, and needs device, the controller's name")
    if rig.lamp.is_ is PartKind.DEVICE and not rig.lamp.device:
        raise ValueError('[lamp] is = "device" needs device = "/dev/..."')
    if rig.camera.is_ is PartKind.DEVICE and not (rig.camera.url and rig.camera.calibration):
        raise ValueError('[camera] is = "device" needs url, and a [camera.calibration]')
    fitted_lens(rig)
    if rig.service.rig and (rig.service.through or not rig.service.people):
        raise ValueError("[service] rig, of one that runs, needs people and takes no through")
    for name in ("technician", "dealer"):
        ends = getattr(rig.console, name)
        if rig.console.is_ is PartKind.VIRTUAL and ends and set(ends) != {"port", "service"}:
            raise ValueError(f"[console.{name}] of a virtual line takes port and service, both")
        if rig.console.is_ is PartKind.DEVICE and set(ends) != {"service", "person"}:
            raise ValueError(f"[console.{name}] needs service and person, the line's two devices")
    if rig.bench.door:
        host_and_port(rig.bench.door)
        token = Path(rig.bench.token)
        words = token.read_bytes().split() if token.is_file() else []
        if len(words) != 1 or len(words[0]) < TOKEN_LEN:
            raise ValueError(
                f"[bench] door needs token, a file of {TOKEN_LEN} characters or more: "
                "openssl rand -hex 24 >token"
            )
    for table, pins in (("pins", rig.gpio.pins), ("wiring", rig.gpio.wiring)):
        numbers = astuple(pins)
        if twice := {number for number in numbers if numbers.count(number) > 1}:
            raise ValueError(f"[gpio.{table}] gives GPIO {min(twice)} to two lines; give it to one")
    attach(rig.gpio.attached)
    if rig.gpio.attached and rig.gpio.wires is not Gpio.VIRTUAL:
        raise ValueError('gpio.attached needs [gpio] wires = "virtual"')
    if rig.gpio.wires is Gpio.BENCH:
        if host_and_port(rig.gpio.controller) == host_and_port(rig.gpio.rig):
            raise ValueError("gpio.controller and gpio.rig are one daemon: a bench has two")
        if not rig.bench.lock:
            raise ValueError('[gpio] wires = "bench" needs [bench] lock, the reservation\'s file')


def _check_machine(machine: MachineTable) -> None:
    # Imported here: the looks load OpenCV, which commands without a rig file need not wait for.
    from hil_tests.rig.camera.lighting import LightRig
    from hil_tests.rig.plant.geometry import GEOMETRIES
    from hil_tests.rig.plant.interlocks import Cover
    from hil_tests.rig.plant.looks import STYLES

    for key, given, there_are in (
        ("geometry", machine.geometry, tuple(GEOMETRIES)),
        ("dice", machine.dice, tuple(STYLES)),
        ("cover", machine.cover, tuple(cover.value for cover in Cover)),
    ):
        if given not in there_are:
            raise ValueError(f"machine.{key} is one of {', '.join(there_are)}, not {given!r}")
    lamps = len(LightRig().lamps_mm)
    if not 0 <= machine.dead_lamps < lamps:
        raise ValueError(f"machine.dead_lamps is 0 to {lamps - 1}, not {machine.dead_lamps}")


def fitted_lens(rig: RigFile) -> Lens:
    """The lens of the virtual camera. Raises ValueError for a key or a number that none has."""
    from hil_tests.rig.camera.optics import FITTED, FITTED_OVER_A_TUBE, Lens
    from hil_tests.rig.plant.geometry import NARROW

    usual = FITTED_OVER_A_TUBE if rig.machine.geometry == NARROW.name else FITTED
    given = json.dumps({**asdict(usual), **rig.camera.lens}, default=str)
    try:
        return TypeAdapter(Lens).validate_json(given)
    except ValidationError as error:
        raise ValueError(_first(error, "camera.lens.")) from None


def host_and_port(address: str) -> tuple[str, int]:
    """Understand HOST:PORT. Raises ValueError."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) <= LAST_PORT:
        raise ValueError(f"{address!r} is no HOST:PORT, with a port of 1 to {LAST_PORT}")
    return host, int(port)
