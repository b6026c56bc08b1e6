"""Holds what machines read against its description."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator


def fits(
    value: Any, described: Mapping[str, Any], name: str = "", *, is_part: bool = False
) -> None:
    """Require that a value is as described, and has no field that is not. `is_part`: of its fields
    some may be missing."""
    whole = json.loads(json.dumps(described))
    parts = whole["$defs"] if "$defs" in whole else whole["components"]["schemas"]
    one = parts[name] if name else whole
    if is_part:
        one.pop("required")
    for each in (one, *parts.values()):
        if "properties" in each:
            each["additionalProperties"] = False
    if name:
        whole["$ref"] = f"#/components/schemas/{name}"
    wrong = Draft202012Validator(whole).iter_errors(value)
    assert [f"{each.json_path}: {each.message:.200}" for each in wrong] == []
