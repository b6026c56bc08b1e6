"""`@frozen`: a dataclass that nobody can change, with slots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Any = None, /, *, eq: bool = True, kw_only: bool = False) -> Any:
    """`eq=False`: equal only to itself. `kw_only`: made with named values alone."""
    return dataclass(cls, frozen=True, slots=True, eq=eq, kw_only=kw_only)
