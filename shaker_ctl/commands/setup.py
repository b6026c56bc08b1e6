"""`shaker-ctl setup`: what only people know of a table, asked line by line.

Owns the conversation and its order. What an answer becomes is `installation`'s. What was answered
is noted beside the settings, so that a set-up that was left goes on at the next question.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any

import typer

from shaker_ctl import settings, settings_page
from shaker_ctl.adapters.pins.gpio_parameters import PinParameters
from shaker_ctl.commands.interruption import INTERRUPTED
from shaker_ctl.console import accounts
from shaker_ctl.errors import RefusedError, SettingsError
from shaker_ctl.frozen import frozen
from shaker_ctl.installation import certificate, sockets, told
from shaker_ctl.installation.files import SetupError, changing, have
from shaker_ctl.installation.places import PAGE_USER, Places
from shaker_ctl.rules.vocabulary import Role

PIGPIOD, TABLE, PAGE = "shaker-pigpiod.service", "shaker-ctl.service", "shaker-page.service"

PROGRAM = (sys.executable, "-I", "-c", "from shaker_ctl.main import app; app()")
"""This program, for the commands that a question leads to: some of them change their user."""

BY_ANOTHER = ("camera.calibration", "page.address")

ASKED = [name for name in settings_page.FIRST if name not in BY_ANOTHER]
"""Keys of the settings that are questions of their own."""

KEYS = {
    each.name: each.reason
    for each in settings_page.entries(settings.Settings())
    if isinstance(each, settings_page.Key)
}
"""Every key can be asked for by its name; and why it is as it is."""


@frozen
class SetUp:
    """A table that is being set up."""

    places: Places = field(default_factory=Places)

    # ── What was answered ───────────────────────────────────────────────────

    def answered(self) -> list[str]:
        file = self.places.answered
        with changing(file):
            return file.read_text("utf-8", "replace").split() if file.exists() else []

    def note(self, name: str) -> None:
        names = list(dict.fromkeys([*self.answered(), name]))
        have(self.places.answered, "\n".join(names) + "\n")

    def found(self) -> settings.Settings:
        return settings.parse(told.answers(self.places), source=str(self.places.settings))

    # ── What is run ─────────────────────────────────────────────────────────

    def call(self, *words: str, otherwise: str = "Mend that") -> None:
        """Run one of this program's commands at this terminal. `otherwise`: what to do where it
        fails."""
        typer.echo(f"$ shaker-ctl {' '.join(words)}")
        if subprocess.run([*PROGRAM, *words], check=False).returncode:
            raise SetupError(
                f"shaker-ctl {words[0]} did not succeed, see above",
                remedy=f"{otherwise}; shaker-ctl setup goes on there",
            )

    def tell_system(self, *words: str) -> None:
        """Have systemd or udev act; a folder that stands for a table has neither."""
        if self.places.is_staged or not Path("/run/systemd/system").exists():
            return
        ran = subprocess.run(words, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise SetupError(f"{' '.join(words)}: {ran.stderr.strip() or ran.returncode}")

    # ── Questions ───────────────────────────────────────────────────────────

    def ask_key(self, name: str) -> None:
        """Ask for one key of the settings until a table starts with the answer."""
        why = settings_page.FIRST.get(name, "")
        usual = _at(self.found().model_dump(mode="json"), name)
        standing = _at(told.answers(self.places), name)
        note = why if standing is None else ""  # a person may have written another one since
        if standing is None:
            standing = settings_page.SUGGESTED.get(name, usual)
        while True:
            said = _asked(f"{name}: {why or KEYS[name]}", default=_spelled(standing))
            try:
                told.tell(self.places, {name: _value(said, usual)}, note)
            except SettingsError as error:
                typer.echo(error.line())
            else:
                return

    def ask_pins(self) -> None:
        """Say that the pins are those of the wiring page, or give each."""
        if not typer.confirm("Is every wire at the GPIO of the wiring page?", default=True):
            for name in PinParameters.model_fields:
                self.ask_key(f"gpio.pins.{name}")

    def ask_sockets(self) -> None:
        """Name the USB sockets of the devices that the settings call by such a name."""
        named = str(told.answers(self.places))
        devices = {}
        for name, (_, link) in sockets.NAMES.items():
            if f"/dev/{link}'" in named:
                said = _asked(f"{name}: where it is plugged in, /dev/…; empty: as it is", "")
                if said:
                    devices[name] = Path(said)
        if devices and told.name_sockets(self.places, devices):
            self.tell_system("udevadm", "control", "--reload")
            self.tell_system("udevadm", "trigger")

    def ask_page(self) -> None:
        """Make the page's certificate and start it at power-on."""
        if not typer.confirm("Shall the page for browsers start at power-on?", default=False):
            return
        keys = self.places.page_keys
        certificate.have_pair(keys, None if self.places.is_staged else PAGE_USER)
        pair = (certificate.CERTIFICATE, certificate.KEY)
        told.tell(self.places, {f"page.{Path(name).stem}": str(keys / name) for name in pair})
        self.ask_key("page.address")
        self.tell_system("systemctl", "enable", PAGE)

    def ask_approver(self) -> None:
        """Take the key of whoever signs the seal."""
        if self.found().seal.required:
            told.take_key(self.places, Path(_asked("The approver's public key, seal.pub")))

    def ask_people(self) -> None:
        """Have somebody for each duty that a first opening needs."""
        users = self.places.house / "users.toml"
        for role in (Role.FLOORPERSON, Role.TECHNICIAN, Role.DEALER):
            if any(each.role is role for each in accounts.load_if_any(users)):
                continue
            name = _asked(f"Login name of a {role.value}")
            number = _asked("Number of the licence or badge")
            words = ("console", "add-user", "--number", number, "--users", str(users))
            self.call(*words, "--", name, role.value)

    def ask_calibration(self) -> None:
        """Measure the camera by the printed card."""
        self.tell_system("systemctl", "start", PIGPIOD)
        found = self.found().camera
        typer.echo(
            "Open the lid, take the dice out, and have the card ready, printed at 100 %: "
            "shaker-ctl calibrate target "
            f"--radius {found.calibration.compartment_radius_mm:g} --out target.pdf"
        )
        height = typer.prompt("Height of the lens above the floor, mm", type=float)
        words = ["calibrate", "camera", "--height", f"{height:g}"]
        if found.second.fitted:
            words += ["--raised", f"{found.calibration.die_mm:g}"]
        self.call(*words, "--config", str(self.places.settings))

    def ask_teaching(self) -> None:
        """Teach the table its dice, or go on with what it was taught before."""
        typer.echo(
            "An untaught table reads nothing, so its shaker passes no opening inspection. It learns"
            " its dice, floor and light by some 34 tosses that a person confirms. "
            "n goes on as it stands."
        )
        if typer.confirm("Teach it now? It takes ten minutes", default=True):
            otherwise = "More tosses may be enough: shaker-ctl teach --tosses 60. Or answer n"
            self.call("teach", "--config", str(self.places.settings), otherwise=otherwise)

    def ask_seal(self) -> None:
        """Have the approver seal the table as it stands."""
        if self.found().seal.required:
            key = _asked("The approver's key, seal.key")
            by = _asked("Name of the approver")
            words = ("seal", "write", "--key", key, "--by", by)
            self.call(*words, "--config", str(self.places.settings))

    def ask_doctor(self) -> None:
        """Look at the whole table, and turn the motor for a second."""
        _asked(
            "Take the card out, lay the dice in and lock the compartment. Enter",
            default="",
            show_default=False,
        )
        words = ["doctor", "--yes", "--config", str(self.places.settings)]
        self.call(*words, *(["--root", str(self.places.root)] if self.places.is_staged else []))

    def ask_start(self) -> None:
        """Start the table now and at power-on."""
        self.tell_system("systemctl", "enable", "--now", PIGPIOD, TABLE)

    def questions(self) -> Mapping[str, Callable[[], None]]:
        """Every question by its name, in order."""
        keys = {name: self._asking(name) for name in ASKED}
        return keys | {
            "pins": self.ask_pins,
            "sockets": self.ask_sockets,
            "page": self.ask_page,
            "approver": self.ask_approver,
            "people": self.ask_people,
            "calibration": self.ask_calibration,
            "doctor": self.ask_doctor,
            "teaching": self.ask_teaching,
            "seal": self.ask_seal,
            "start": self.ask_start,
        }

    def _asking(self, name: str) -> Callable[[], None]:
        return lambda: self.ask_key(name)

    def lead(self, again: list[str]) -> None:
        """Ask what was not answered yet, or what is asked `again`."""
        questions = self.questions()
        for name in again or [name for name in questions if name not in self.answered()]:
            questions.get(name, self._asking(name))()
            if told.mark_table(self.places, self.found().gpio.pins):
                self.tell_system("systemctl", "daemon-reload")
            self.note(name)


def setup(
    again: Annotated[
        list[str] | None,
        typer.Argument(help="Ask these anew: any key of the settings, or a question's name."),
    ] = None,
    root: Annotated[Path, typer.Option(help="A folder that stands for the system.")] = Path("/"),
) -> None:
    """Lead through the set-up of this table, question by question, until it starts.

    Ctrl-C leaves it, and the next call goes on there. Enter takes what stands in brackets. It asks
    for settings, pins, USB sockets, the page, the approver's key and people, measures the camera,
    runs the doctor, teaches the table its dice, without which it reads nothing, has the approver
    seal it, and starts it, now and at power-on.
    """
    table = SetUp(Places(root.resolve()))
    unknown = [name for name in again or () if name not in {*table.questions(), *KEYS}]
    if unknown:
        names = ", ".join(table.questions())
        raise RefusedError(
            f"nothing is asked by the name {unknown[0]}",
            remedy=f"Names: {names}; and every key of shaker-ctl settings reference",
        )
    try:
        table.lead(again or [])
    except typer.Abort:
        typer.echo("\nLeft; shaker-ctl setup goes on here.")
        raise typer.Exit(INTERRUPTED) from None
    typer.echo("The table is set up. At a console, a floorperson types: next")


def _asked(question: str, default: str | None = None, *, show_default: bool = True) -> str:
    said: str = typer.prompt(question, default, value_proc=_shown, show_default=show_default)
    return said


def _shown(said: str) -> str:
    if not said.isprintable():
        raise typer.BadParameter("give characters that a screen can show")
    return said


def _at(plain: Mapping[str, Any], name: str) -> Any:
    """The value of a key; None where it does not stand there."""
    found: Any = plain
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _spelled(value: Any) -> str:
    """A value as a person types it."""
    if isinstance(value, bool):
        return str(value).lower()
    words = value if isinstance(value, list) else ["" if value is None else value]
    return ", ".join(map(str, words))


def _value(said: str, usual: Any) -> Any:
    """What was typed, as the settings have it; what is not of that kind, the settings refuse.
    `usual`: the default; None where a key is not set by itself."""
    if isinstance(usual, list) or (usual is None and "," in said):
        kind = usual[0] if usual else None
        return [_value(word.strip(), kind) for word in said.split(",") if word.strip()]
    if isinstance(usual, bool):
        return {"true": True, "false": False}.get(said.lower(), said)
    for kind in NUMBERS.get(type(usual), ()):
        with suppress(ValueError):
            return kind(said)
    return said or ("" if isinstance(usual, str) else None)


NUMBERS = {int: (int,), float: (int, float), type(None): (int, float)}
"""As what an answer is tried, by the kind of the default."""
