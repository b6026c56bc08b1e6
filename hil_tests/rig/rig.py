"""The composition root of a rig: it makes, connects, starts and ends every part in order.

Owns the connections between parts and all addresses. Must not know how any part works.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hil_tests.rig import lifetime, pinctrl
from hil_tests.rig.camera.card import Card
from hil_tests.rig.camera.lighting import LightRig
from hil_tests.rig.camera.stream import Camera, CameraLostError, CameraStatus
from hil_tests.rig.control import Control
from hil_tests.rig.fault_set import FaultPart
from hil_tests.rig.faults import CameraPart, DaemonPart, Faults, LinesPart, parse
from hil_tests.rig.gpio_sides import CANNOT, AbsentPart, KernelGpio, VirtualGpio, open_gpio
from hil_tests.rig.lamp_box.box import LampBox
from hil_tests.rig.lamp_box.faults import LAMP_EVENTS, LAMP_FAULTS, LampFaults
from hil_tests.rig.lamp_box.layout import own_areas
from hil_tests.rig.lamp_box.modbus_unit import ModbusUnit
from hil_tests.rig.logbook import Logbook
from hil_tests.rig.machine import PlantThread
from hil_tests.rig.plant.faults import PlantFaults
from hil_tests.rig.plant.geometry import MAX_DICE
from hil_tests.rig.plant.interlocks import Cover
from hil_tests.rig.plant.looks import STYLES
from hil_tests.rig.plant.plant import Plant
from hil_tests.rig.plant.snapshot import SceneBoard
from hil_tests.rig.plant.truth import TossRecord
from hil_tests.rig.process_faults import ProcessPart
from hil_tests.rig.reservation import Reservation
from hil_tests.rig.rigfile import PartKind, RigFile, fitted_lens, host_and_port
from hil_tests.rig.wires.line import LINE_FAULTS, BoxEnd, Line, Port, Terminal
from hil_tests.rig.wires.signals import SignalLog
from hil_tests.rig.wires.uart import Framing

CONSOLE_FRAMING = Framing(115200)
MONOSTABLE_S = 0.1
"""How long the hardware monostable on EN holds after a pulse; the controller sends one every 10 ms.

Twice the wiring page's 50 ms (40 to 60, systemd/README.md). That leaves room for a virtual daemon
that shares its computer with the whole rig: where that is busy the pulses cease for tens of
milliseconds at a time (hil_tests/rigs/README.md). So a rig says nothing about pulses that cease for
50 to 100 ms. The measured figures rest on this value.
"""

CONSOLES = ("technician", "dealer")
ADDRESSES = "rig.json"
LOCK = "lock"
"""File that a rig holds in its folder as long as it runs."""
REPLACE = "replace dice"
THROW = "throw dice"
LAY, RAISE = "lay card", "raise card"
NEEDS = (
    "dice and coins need the lid open, the lid's flag needs it closed. Where the latch holds the "
    "lid, force compartment opens it"
)
CARD_MM = 0.3
"""Thickness of the card that is laid: thin board."""
LINE_FAULT_NAMES = frozenset(LINE_FAULTS)
REAL_LINES = frozenset(("lamp", *CONSOLES))
DEVICE_S = 10.0
"""How long the device of a program that the rig starts may take to appear."""

SOCKET_PATH = 108
"""Bytes of a unix socket's path, its closing zero included (unix(7))."""


@dataclass(frozen=True, slots=True)
class RigPlan:
    """What kind of rig. A port of 0 takes any free one."""

    folder: Path
    pigpiod_port: int = 0
    camera_port: int = 0
    file: RigFile = field(default_factory=RigFile)
    """Which machine it is, which parts are real, and where."""
    rig_file: Path | None = None
    """Where that comes from, for the programs that the rig starts."""


class Rig:
    """A running rig; use as a context manager. Leaving it ends every thread, process and port. Its
    folder keeps the four logs and the lamp box's memory."""

    def __init__(self, plan: RigPlan) -> None:
        self.plan = plan
        self.addresses: dict[str, Any] = {}
        self._is_quitting = False
        self._failure = ""
        self._is_open = False
        self._tosses = 0
        self._last_dice = ""
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> Rig:
        """Start everything. Raises ValueError for an unknown style, OSError for a taken port,
        `ReservedError` for a folder in which another rig runs, `CameraLostError` where the camera
        does not start, and `lifetime.RealTableError` on a real table."""
        lifetime.refuse_on_real_table()
        with contextlib.ExitStack() as started:
            self._start(started)
            self._closing = started.pop_all()
        self._is_open = True
        return self

    @property
    def has_ended(self) -> bool:
        """True when somebody asked it to quit, or a part has failed."""
        return self._is_quitting or bool(self.failure)

    @property
    def failure(self) -> str:
        """What ended the rig by itself; empty while nothing did."""
        if self.machine.failure is not None:
            return f"the machine stopped by itself: {self.machine.failure!r}"
        return self._failure or (self.gpio.trouble if self._is_open else "")

    def __exit__(self, *_: object) -> None:
        self._failure, self._is_open = self.failure, False
        self._closing.close()

    def _start(self, started: contextlib.ExitStack) -> None:
        _check_style(self.plan.file.machine.dice)
        folder = self.plan.folder
        folder.mkdir(parents=True, exist_ok=True)
        started.enter_context(
            Reservation(
                folder / LOCK,
                f"rig {self.plan.file.name}",
                what=f"the folder {folder}",
                remedy=f"End that rig (shaker-rig quit --dir {folder}), or choose another --dir",
            )
        )
        for old in (ADDRESSES, "truth.jsonl", "lamps.jsonl", "events.jsonl", "signals.jsonl"):
            (folder / old).unlink(missing_ok=True)
        truth, lamps, book = (
            Logbook(folder / name) for name in ("truth.jsonl", "lamps.jsonl", "events.jsonl")
        )
        for log in (truth, lamps, book):
            started.callback(log.close)
        plan, file = self.plan, self.plan.file
        self.gpio = open_gpio(file, folder, plan.pigpiod_port, plan.rig_file, started)
        if isinstance(self.gpio, VirtualGpio):
            self.board, self.pigpiod = self.gpio.board, self.gpio.daemon
        scene = SceneBoard()
        started.callback(scene.close)
        self.plant = Plant(
            file.machine.geometry,
            file.machine.dice,
            file.machine.seed,
            cover=Cover(file.machine.cover),
            monostable_s=MONOSTABLE_S if file.gpio.monostable else None,
            board=scene,
            foresight_s=self.gpio.wires.foresight_s,
        )
        self.plant.truth = self._note(truth)
        self.machine = PlantThread(self.gpio.wires, self.plant)
        signals = SignalLog(folder / "signals.jsonl")
        started.callback(signals.close)
        self.machine.seen = signals
        started.callback(self.machine.stop)
        self.machine.start()
        self.gpio.start(started)
        self._start_lines(started)
        if self.lamp is not None:
            self.lamp.on_change = lambda change: lamps.write(change.as_dict())
        self._start_camera(scene, started)
        self.faults = Faults(self._parts(), noted=lambda what, name: book.note(what, name=name))
        self._keep(book)
        started.callback(self.faults.close)
        self.machine.counted = self.faults.count
        if self.lamp is not None:
            self.lamp.faults.counted = self.faults.count
        control = Control(self._control_path(started), self._verbs())
        started.callback(control.close)
        for sentence in self.plan.file.faults:
            self._inject(sentence)
        if file.bench.door:
            token = Path(file.bench.token).read_text("ascii").strip()
            door = Control(host_and_port(file.bench.door), self._verbs(), token)
            started.callback(door.close)
        self.addresses = self._describe(truth.path, control.address)
        self._publish(started)

    def _keep(self, book: Logbook) -> None:
        """Have every part tell the logbook what it does."""
        began = lambda name: book.note("fault", name=name)  # noqa: E731 - one hook for three parts
        self.plant.faults.began = began
        for line in self.lines.values():
            line.faults.began = began
        if self.lamp is not None:
            self.lamp.faults.began = began
            self.lamp.noted = lambda what, facts: book.note(what, **facts)
        self.machine.noted = lambda level: book.note("enable", level=level)

    def _control_path(self, started: contextlib.ExitStack) -> Path:
        """In the folder where a socket's short path allows it, else in one of its own."""
        path = self.plan.folder / "control"
        if len(os.fsencode(path)) < SOCKET_PATH:
            return path
        return Path(started.enter_context(TemporaryDirectory(prefix="shaker-rig-"))) / "control"

    def _parts(self) -> list[FaultPart]:
        """Everything that can be broken, and for what is real: why it cannot."""
        lamp: FaultPart = AbsentPart("lamp box", LAMP_FAULTS, "the lamp box is a real one")
        camera: FaultPart = AbsentPart("camera", CameraPart.catalogue, "the camera is a real one")
        if self.lamp is not None:
            lamp = self.lamp.faults
        if self.camera is not None:
            camera = CameraPart(self.camera)
        return [
            self.plant.faults,
            camera,
            lamp,
            LinesPart(self.lines),
            self.gpio.fault_part(),
            ProcessPart(),
        ]

    def _start_lines(self, started: contextlib.ExitStack) -> None:
        folder, seed = self.plan.folder, self.plan.file.machine.seed
        self.lines: dict[str, Line] = {}
        self.lamp: LampBox | None = None
        unit: ModbusUnit | None = None
        if self.plan.file.lamp.is_ is PartKind.VIRTUAL:
            box_end = BoxEnd()
            table = self.plan.file.lamp
            own = own_areas(table.layout)
            self.lamp = LampBox(memory=folder / "lamp-memory.json", seed=seed, own=own)
            framing = Framing(table.baudrate, table.parity)
            unit = ModbusUnit(
                self.lamp, box_end, table.unit, reply_delay_s=framing.silence_s, seed=seed
            )
            end = Port(Path(table.port), framing) if table.port else Terminal(folder / "lamp")
            paced = None if table.port else framing
            self.lines["lamp"] = Line("lamp", end, box_end, framing=paced)
        else:
            self._start_lamp_program(started)
        if self.plan.file.console.is_ is PartKind.VIRTUAL:
            for name in CONSOLES:
                port = getattr(self.plan.file.console, name).get("port", "")
                service = Port(Path(port), CONSOLE_FRAMING) if port else Terminal(folder / name)
                person = Terminal(folder / f"{name}-person")
                paced = None if port else CONSOLE_FRAMING
                self.lines[name] = Line(name, service, person, framing=paced, seed=seed)
        for line in self.lines.values():
            started.callback(line.close)
        if unit is not None:
            unit.thread.start()

    def _start_lamp_program(self, started: contextlib.ExitStack) -> None:
        """Start what the file says is the box, and wait for its device. Raises OSError."""
        table = self.plan.file.lamp
        if table.start:
            words = [self._placed(word) for word in table.start]
            program = subprocess.Popen(words, stdin=subprocess.DEVNULL, process_group=0)
            started.callback(_end, program)
        device = Path(self._placed(table.device))
        deadline = time.monotonic() + DEVICE_S
        while not device.exists():
            if time.monotonic() > deadline:
                raise OSError(f"no lamp box: {device} is not there after {DEVICE_S:g} s")
            time.sleep(0.02)

    def _placed(self, text: str) -> str:
        """Put the rig's folder and this Python where a rig file names them."""
        return text.replace("{folder}", str(self.plan.folder)).replace("{python}", sys.executable)

    def _start_camera(self, scene: SceneBoard, started: contextlib.ExitStack) -> None:
        self.camera: Camera | None = None
        self._card: str | None = None
        if self.plan.file.camera.is_ is PartKind.VIRTUAL:
            self.camera = Camera(
                self.plant.geometry,
                scene,
                seed=self.plan.file.machine.seed,
                bind=self.plan.file.bind,
                port=self.plan.camera_port,
                lens=fitted_lens(self.plan.file),
                lights=LightRig(dead=self.plan.file.machine.dead_lamps),
            )
            self.camera.address = self.plan.file.address
            started.callback(self.camera.close)

    def _note(self, truth: Logbook) -> Callable[[TossRecord], None]:
        def note(record: TossRecord) -> None:
            truth.write(record.as_dict())
            self.faults.count("rest")
            self._tosses = record.toss
            self._last_dice = " ".join(
                f"{die.value}" if die.is_flat else f"{die.value}({die.lie.value})"
                for die in record.dice
            )

        return note

    # ── Addresses ───────────────────────────────────────────────────────────

    def _describe(self, truth: Path, control: str) -> dict[str, Any]:
        plan, file = self.plan, self.plan.file
        return {
            "pid": os.getpid(),
            "rig": file.name,
            "pigpiod": {
                "host": file.address if isinstance(self.gpio, VirtualGpio) else self.gpio.host,
                "port": self.gpio.port,
                **({"pwm_hz": file.gpio.pwm_hz} if file.gpio.pwm_hz else {}),
            },
            **({"gpiochip": self.gpio.address} if isinstance(self.gpio, KernelGpio) else {}),
            "camera": (
                {"url": file.camera.url, "calibration": file.camera.calibration}
                if self.camera is None
                else self.camera.as_delivered
            ),
            "drawing": {
                "compartment_radius_mm": self.plant.geometry.radius_mm,
                "die_mm": self.plant.geometry.die_mm,
            },
            "lamp": {
                "device": self._placed(file.lamp.device) or str(plan.folder / "lamp"),
                "baudrate": file.lamp.baudrate,
                "unit": file.lamp.unit,
            },
            "console": {
                name: {
                    "service": str(plan.folder / name),
                    "person": str(plan.folder / f"{name}-person"),
                    **{
                        end: device
                        for end, device in getattr(file.console, name).items()
                        if end != "port"
                    },
                }
                for name in CONSOLES
            },
            "control": control,
            "truth": str(truth),
            "lamps": self._placed(file.lamp.log) or str(plan.folder / "lamps.jsonl"),
            "events": str(plan.folder / "events.jsonl"),
            "signals": str(plan.folder / "signals.jsonl"),
            "geometry": file.machine.geometry,
            "dice": file.machine.dice,
            "seed": file.machine.seed,
            "dead_lamps": file.machine.dead_lamps,
            "faults": list(file.faults),
        }

    def _publish(self, started: contextlib.ExitStack) -> None:
        """Write the addresses whole, when everything listens; take them away first at the end."""
        path = self.plan.folder / ADDRESSES
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(self.addresses, indent=2) + "\n", encoding="utf-8")
        fresh.replace(path)
        started.callback(path.unlink, missing_ok=True)

    # ── Verbs ───────────────────────────────────────────────────────────────

    def _verbs(self) -> Mapping[str, Callable[[str], Any]]:
        return {
            "status": lambda rest: self.status(),
            "inject": self._inject,
            "heal": self._heal,
            "hands": self._hands,
            "addresses": lambda rest: self.addresses,
            "pinctrl": self._pinctrl,
            "quit": self._quit,
        }

    def status(self) -> dict[str, Any]:
        """What a person beside the rig sees."""
        inputs, outputs = self.machine.inputs, self.machine.outputs
        return {
            "speed_rpm": round(outputs.speed_rpm, 1),
            "current_a": round(outputs.current_a, 2),
            "duty": round(inputs.motor_duty, 3),
            "enabled": inputs.motor_enabled,
            "supply": outputs.motor_supplied,
            "light": round(inputs.ring_light, 2),
            "contacts": {
                "compartment": outputs.compartment_open,
                "lid flag": outputs.lid_flag_fallen,
                "cover": outputs.cover_open,
                "e-stop": outputs.estop_pressed,
                "button": outputs.button_pressed,
                "driver fault": outputs.driver_fault,
            },
            "tosses": self._tosses,
            "last_dice": self._last_dice,
            "lamp": None if self.lamp is None else self.lamp.glance(),
            "camera": None if self.camera is None else asdict(self._camera_status(self.camera)),
            "faults": self.faults.active(),
            "waiting": self.faults.waiting(),
            "gpio_clients": self.gpio.connections,
            "late_turns": self.machine.late_turns,
            "late_replies": 0 if self.lamp is None else self.lamp.late_replies,
            "underruns": self.gpio.underruns,
        }

    def _pinctrl(self, sentence: str) -> str:
        """What `pinctrl` of the controller's computer does to its pins."""
        if not isinstance(self.gpio, VirtualGpio | KernelGpio):
            raise ValueError(f"{CANNOT}: the controller's pins are another computer's")
        return pinctrl.obey(self.gpio.board, sentence)

    def _camera_status(self, camera: Camera) -> CameraStatus:
        try:
            return camera.status()
        except CameraLostError as error:
            self._failure = f"{error}. What it said, if anything, stands above; start the rig again"
            return CameraStatus()

    def _inject(self, sentence: str) -> dict[str, Any]:
        asked = parse(sentence)
        line = str(asked.parameters.get("line", "lamp"))
        if asked.name in LINE_FAULT_NAMES and line in REAL_LINES and line not in self.lines:
            raise ValueError(f"{CANNOT}: {asked.name}: the {line} line is a real one")
        if self.lamp is None and asked.after is not None and asked.after[1] in LAMP_EVENTS:
            raise ValueError(
                f"{CANNOT}: {asked.name}: nobody tells what a real lamp box is asked "
                f"(after {asked.after[0]} {asked.after[1]})"
            )
        order = self.faults.inject(sentence)
        return {"fault": order.name, "parameters": order.parameters, "after": order.after}

    def _heal(self, name: str) -> str:
        self.faults.heal(name or "all")
        return name or "all"

    def _quit(self, _: str) -> str:
        self._is_quitting = True
        return "ending"

    def _hands(self, action: str) -> Any:
        """Do what a person's hands would; of a throw, say how the dice lie."""
        acts = self._acts()
        if action == THROW:
            return self._throw()
        if action.startswith(REPLACE):
            style, values = _dice(action.removeprefix(REPLACE).split())
            acts[action] = lambda: self.plant.hands.replace_dice(style, values)
        elif action.startswith(LAY):
            acts[action] = lambda: self._lay(action.removeprefix(LAY))
        elif action.startswith(RAISE):
            acts[action] = lambda: self._raise(float(action.removeprefix(RAISE)))
        if action not in acts:
            raise ValueError(f"hands can: {', '.join(acts)}")
        if acts[action]() is False:
            raise ValueError(f"the machine does not let a person {action} now: {NEEDS}")
        self.machine.wake()
        return action

    def _throw(self) -> list[dict[str, Any]]:
        dice = self.plant.throw()
        if dice is None:
            raise ValueError(f"nobody can {THROW} now: {NEEDS}")
        self.machine.wake()
        return [die.as_dict() for die in dice]

    def _lay(self, file: str | None, raised_mm: float = 0.0) -> None:
        """Lay a printed card onto the floor in place of the dice, or higher, or take it out."""
        if self.camera is None:
            raise ValueError("the camera is a real one: lay the card under it yourself")
        radius_mm = self.plant.geometry.radius_mm
        height_mm = CARD_MM + raised_mm
        card = Card.load(Path(file.strip()), radius_mm, height_mm) if file else None
        self.camera.lay_card(card)
        self._card = file

    def _raise(self, mm: float) -> None:
        """Hold the card that lies there level, so much higher."""
        if self._card is None:
            raise ValueError("there is no card to raise: lay one first")
        self._lay(self._card, mm)

    def _acts(self) -> dict[str, Callable[[], bool | None]]:
        hands = self.plant.hands

        def puts(what: str, to: bool = True) -> Callable[[], None]:
            return lambda: setattr(hands, what, to)

        return {
            "press estop": puts("estop_pressed"),
            "release estop": puts("estop_pressed", False),
            "press button": puts("button_pressed"),
            "release button": puts("button_pressed", False),
            "open compartment": hands.open_compartment,
            "force compartment": lambda: hands.open_compartment(by_force=True),
            "close compartment": puts("lid_open", False),
            "set flag": hands.set_flag,
            "open cover": puts("cover_open"),
            "close cover": puts("cover_open", False),
            "cover dome": puts("hand_over_dome"),
            "uncover dome": puts("hand_over_dome", False),
            "drop coin": lambda: hands.drop_coin(True),
            "bump table": puts("bumped"),
            "take coin": lambda: hands.drop_coin(False),
            f"{LAY} FILE": lambda: False,
            f"{RAISE} MM": lambda: False,
            "take card": lambda: self._lay(None),
            f"{REPLACE} [STYLE] [A B C]": lambda: False,
            THROW: lambda: False,
        }


def _end(program: subprocess.Popen[bytes]) -> None:
    program.terminate()
    try:
        program.wait(5)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()


def _check_style(style: str) -> None:
    if style not in STYLES:
        raise ValueError(f"no dice style {style!r}; there are: {', '.join(STYLES)}")


def _dice(words: list[str]) -> tuple[str | None, tuple[int, ...] | None]:
    """Understand `[STYLE] [A B C]`, with one value fewer or more. Raises ValueError."""
    style = words.pop(0) if words and not words[0].isdigit() else None
    if style is not None:
        _check_style(style)
    if not words:
        return style, None
    if not 2 <= len(words) <= MAX_DICE or any(word not in tuple("123456") for word in words):
        raise ValueError(
            f"after {REPLACE!r} come a style, a value of 1 to 6 for each of 2 to {MAX_DICE} dice, "
            "both or neither"
        )
    return style, tuple(int(word) for word in words)


def known_parts() -> list[FaultPart]:
    """Every part that can be broken, as in a rig whose parts are all virtual; none has to run."""
    camera, daemon = (
        AbsentPart(part.name, part.catalogue, "no rig runs") for part in (CameraPart, DaemonPart)
    )
    return [PlantFaults(), camera, LampFaults(), LinesPart({}), daemon, ProcessPart()]
