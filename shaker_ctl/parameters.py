"""The base of every settings section: frozen, bounded, and intolerant of unknown keys.

A section class lives beside the code that it governs (`motion`, `lamp`, ...); `settings` composes
them. Each field's docstring gives unit, reason for the default, and the effect either way: the
settings reference is generated from it, and nothing else parses a source.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import textwrap
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator


class Parameters(BaseModel):
    """Read once, handed over frozen. Unknown keys are errors."""

    FILE: ClassVar[str] = "table"
    """Whose settings file these stand in: what `shaker-ctl settings` calls it after `--for`."""

    model_config = ConfigDict(
        defer_build=True,  # by `Settings`, once for all sections
        frozen=True,
        extra="forbid",
        validate_default=True,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _is_no_text(cls, value: Any, info: ValidationInfo) -> Any:
        """TOML tells numbers, switches and text apart, and `"no"` would be read as a switch."""
        kind = cls.model_fields[info.field_name or ""].annotation
        if kind is bool and not isinstance(value, bool):
            raise ValueError("give true or false, without quotes")
        if kind in (int, float) and isinstance(value, str | bool):
            raise ValueError("give a number, without quotes")
        return value


def reasons(section: type[BaseModel]) -> dict[str, str]:
    """The docstring of each field of a section by the field's name, in one line; a field without
    one is left out. Raises OSError where the section's source file is not there."""
    found: dict[str, str] = {}
    for kind in reversed(section.__mro__):
        if issubclass(kind, Parameters) and kind is not Parameters:
            found |= reasons_in(kind)
    return found


def reasons_in(kind: type) -> dict[str, str]:
    """The docstring of each field in the source of one class. Raises OSError as `reasons`."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: " ".join(after.value.value.split())
        for field, after in itertools.pairwise(body.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }


def bounded(
    default: float,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> Any:
    """Return a field with its default and its bounds; a value outside is a `SettingsError`."""
    return Field(default=default, gt=above, ge=at_least, lt=below, le=at_most)
