"""The base of every settings section: frozen, bounded, and intolerant of unknown keys.

A section class lives beside the code that it governs (`motion`, `lamp`, ...); `settings` composes
them. Each field's docstring gives unit, reason for the default, and the effect either way: the
settings reference is generated from it.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Parameters(BaseModel):
    """Read once, handed over frozen. Unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, validate_default=True
    )


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
