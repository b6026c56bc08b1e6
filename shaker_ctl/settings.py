"""One TOML file to one frozen object: every key bounded, every unknown key refused.

Owns the composition of the sections and how a wrong file is explained. Knows no behaviour: each
section class lives beside the code that it governs.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.console.parameters import ConsoleParameters
from shaker_ctl.errors import SettingsError
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.page.parameters import PageParameters, SignParameters
from shaker_ctl.parameters import Parameters
from shaker_ctl.quoting import quoted
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.rulebook import rulebook
from shaker_ctl.seal.parameters import SealParameters
from shaker_ctl.service.parameters import ServiceParameters
from shaker_ctl.whole_file import read_bounded


class Settings(Parameters):
    """Everything that one table is told; the sections' own docstrings say the rest."""

    table: TableParameters = Field(default_factory=TableParameters)
    service: ServiceParameters = Field(default_factory=ServiceParameters)
    motion: MotionParameters = Field(default_factory=MotionParameters)
    gpio: GpioParameters = Field(default_factory=GpioParameters)
    camera: CameraParameters = Field(default_factory=CameraParameters)
    lamp: LampParameters = Field(default_factory=LampParameters)
    console: ConsoleParameters = Field(default_factory=ConsoleParameters)
    journal: JournalParameters = Field(default_factory=JournalParameters)
    page: PageParameters = Field(default_factory=PageParameters)
    sign: SignParameters = Field(default_factory=SignParameters)
    seal: SealParameters = Field(default_factory=SealParameters)

    @model_validator(mode="after")
    def _two_copies_in_two_files(self) -> Self:
        path, second = self.journal.path, self.journal.second
        if second is not None and os.path.realpath(second) == os.path.realpath(path):
            raise ValueError(
                f"journal.second is the same file as journal.path ({path}): name one on another "
                "medium, or leave it out"
            )
        return self


Section = TypeVar("Section", bound=Parameters)


def load(path: Path) -> Settings:
    """Read and check `path`.

    Raises `SettingsError` that names the file, the key, the bound and, for an unknown key, the
    nearest one that exists.
    """
    return parse_file(path, Settings)


def parse_file(path: Path, kind: type[Section]) -> Section:
    """Read and check a settings file of any kind. Raises `SettingsError` as `load` does."""
    text = read_text(path, new=f"new{for_(kind)}")
    return _parse(_decoded(text, source=str(path)), kind, source=str(path))


def for_(kind: type[Parameters]) -> str:
    """Return the option with which `shaker-ctl settings` means such a file."""
    return "" if kind.FILE == Settings.FILE else f" --for {kind.FILE}"


MAX_FILE = 1_000_000
"""Bytes; a settings file with every key has some 20,000."""


def read_text(path: Path, new: str = "new") -> str:
    """Return what stands in the settings file. Raises `SettingsError` where it cannot be read."""
    try:
        return read_bounded(path, MAX_FILE).decode()
    except OSError as error:
        raise SettingsError(
            f"cannot read the settings file {path}: {error.strerror}",
            remedy=f"Give the path of another, or write one: shaker-ctl settings {new} FILE",
        ) from error
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{path} is not a text file (byte {error.start} is not UTF-8)",
            remedy="Give the path of a TOML file with --config",
        ) from error


def parse_text(text: str, *, source: str) -> Settings:
    """Check the text of a settings file; `source` names it in errors. Raises `SettingsError`."""
    return parse(_decoded(text, source=source), source=source)


def _decoded(text: str, *, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"{source} is not valid TOML: {error}", remedy="Mend that line and start again"
        ) from error
    except ValueError as error:  # Python refuses to read integers of more than 4,300 digits
        raise SettingsError(
            f"{source} holds a number with more digits than can be read",
            remedy="Shorten it: no setting needs more than ten",
        ) from error
    except RecursionError as error:
        raise SettingsError(
            f"{source} holds brackets nested deeper than can be read",
            remedy="Take them out: no setting nests deeper than a list",
        ) from error


def parse(raw: dict[str, Any], *, source: str) -> Settings:
    """Check already decoded settings; `source` names them in errors. Raises `SettingsError`."""
    return _parse(raw, Settings, source=source)


def _parse(raw: dict[str, Any], kind: type[Section], *, source: str) -> Section:
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        raise SettingsError(
            "; ".join(_explain(problem, source, kind) for problem in error.errors()),
            remedy=f"shaker-ctl settings reference{for_(kind)} lists every key with its unit and "
            "range",
        ) from error


def check_rules(found: Settings, *, source: str) -> None:
    """Hold the settings against their profile, as a start does; `source` names their file.

    Raises `SettingsError` where the profile cannot be read, or does not allow what is set.
    """
    try:
        rulebook(found.table)
    except SettingsError as error:
        raise SettingsError(f"{source}: {error}", remedy=error.remedy) from error


def _explain(problem: Any, source: str, kind: type[Parameters]) -> str:
    """One pydantic problem as a clause that a person can act on."""
    path = [str(part) for part in problem["loc"]]
    key = ".".join(path)
    if problem["type"] == "extra_forbidden":
        import difflib

        near = difflib.get_close_matches(path[-1], _keys_beside(path, kind), n=1, cutoff=0.5)
        hint = f" (did you mean {'.'.join([*path[:-1], near[0]])}?)" if near else ""
        return f"{source}: unknown key {key}{hint}"
    if problem["type"] == "model_type":
        return f"{source}: {key} = {quoted(problem['input'])}: {key} is a section, [{key}]"
    what = problem["msg"].removeprefix("Value error, ")
    return f"{source}: {key} = {quoted(problem['input'])}: {what}" if key else f"{source}: {what}"


def _keys_beside(path: list[str], kind: type[Parameters]) -> list[str]:
    """Return the keys that exist where the last part of `path` was looked for."""
    model: Any = kind
    for part in path[:-1]:
        field = model.model_fields.get(part) if _is_section(model) else None
        model = field.annotation if field is not None else None
    return list(model.model_fields) if _is_section(model) else []


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
