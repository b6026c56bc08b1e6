"""What machines read, described from the types of the code: JSON Schema, OpenAPI, AsyncAPI.

Owns the form of the descriptions. The fields, their types and what is said of them are those of the
classes that hold the values, so that no description can say something else than the code does.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import typing_extensions
from pydantic import TypeAdapter

from shaker_ctl.frozen import frozen
from shaker_ctl.parameters import reasons_in

VERSION = "1.0"
"""Of all descriptions. The first number rises when a field goes, or changes its name or its type,
the second when one comes."""

_AT = "#/components/schemas/"


@frozen
class Read:
    """Something that a machine may read."""

    where: str
    """Address or topic; what stands in braces is given by whoever asks."""
    what: type | None
    """Class of the value; None: none of JSON."""
    says: str
    kind: str = "application/json"


# ── JSON Schema ─────────────────────────────────────────────────────────────


def schema(cls: type) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a dataclass or TypedDict, as the plain form writes it."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    parts = schemas([cls], "#/$defs/")
    return {"$schema": dialect, "version": VERSION, **parts.pop(cls.__name__), "$defs": parts}


def schemas(classes: Iterable[type], at: str = _AT) -> dict[str, Any]:
    """Return the schemas of classes and of all classes in them by name; they will stand `at`."""
    kept = tuple(dict.fromkeys(classes))
    asked: Any = [(each, "serialization", TypeAdapter(each)) for each in kept]
    _, made = TypeAdapter.json_schemas(asked, ref_template=f"{at}{{model}}")
    known = {each.__name__: each for cls in kept for each in _classes_in(cls)}
    return {name: _plain(one, known.get(name)) for name, one in made["$defs"].items()}


def _plain(made: Mapping[str, Any], cls: type | None) -> dict[str, Any]:
    """One schema with what the class says of its fields. All those of a dataclass are there."""
    if cls is None:  # an Enum
        return {key: value for key, value in made.items() if key != "title"}
    said = reasons_in(cls)
    fields = {
        name: {
            **{key: value for key, value in one.items() if key not in ("title", "default")},
            **({"description": said[name]} if name in said else {}),
        }
        for name, one in made["properties"].items()
        if not name.startswith("_")
    }
    return {
        "type": "object",
        "description": " ".join((cls.__doc__ or "").split()),
        "properties": fields,
        "required": list(fields if dataclasses.is_dataclass(cls) else made.get("required", ())),
    }


def _classes_in(hint: Any) -> Iterator[type]:
    """The classes with fields that a type names, and those in their fields."""
    for part in typing.get_args(hint):
        yield from _classes_in(part)
    if dataclasses.is_dataclass(hint) or typing_extensions.is_typeddict(hint):
        yield hint
        for each in typing.get_type_hints(hint).values():
            yield from _classes_in(each)


# ── Addresses ───────────────────────────────────────────────────────────────


def openapi(title: str, reads: Sequence[Read]) -> dict[str, Any]:
    """Return the OpenAPI description of addresses that answer a GET."""
    paths: dict[str, Any] = {}
    for one in reads:
        path, _, query = one.where.partition("?")
        answer = {"description": one.says, "content": {one.kind: _schema_of(one)}}
        paths[path] = {
            "get": {
                "summary": one.says,
                "parameters": [
                    *(_parameter(name, "path") for name in re.findall(r"\{(\w+)\}", path)),
                    *(_parameter(name, "query") for name in query.split("&") if name),
                ],
                "responses": {"200": answer, **_REFUSALS},
            }
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": VERSION},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(one.what for one in reads if one.what),
        },
    }


_REFUSALS = {
    status: {"description": says}
    for status, says in (
        ("401", "No token, or one that was withdrawn."),
        ("403", "Not for this role."),
        ("404", "There is none, or it has not ended yet."),
        ("429", "Too often: at most twenty requests a second."),
    )
}


def _parameter(name: str, place: str) -> dict[str, Any]:
    is_path = place == "path"
    return {"name": name, "in": place, "required": is_path, "schema": {"type": "string"}}


def _schema_of(one: Read) -> dict[str, Any]:
    return {"schema": {"$ref": f"{_AT}{one.what.__name__}"}} if one.what else {}


# ── Topics ──────────────────────────────────────────────────────────────────


def asyncapi(title: str, reads: Sequence[Read]) -> dict[str, Any]:
    """Return the AsyncAPI description of topics on which messages are sent."""
    channels, messages = dict[str, Any](), dict[str, Any]()
    for one in reads:
        name = one.where.rpartition("}/")[2].partition("/")[0]
        channels[name] = {
            "address": one.where,
            "description": one.says,
            "parameters": {each: {} for each in re.findall(r"\{(\w+)\}", one.where)},
            "messages": {name: {"$ref": f"#/components/messages/{name}"}},
        }
        payload = {"payload": _schema_of(one)["schema"]} if one.what else {}
        messages[name] = {"contentType": one.kind, **payload}
    return {
        "asyncapi": "3.0.0",
        "info": {"title": title, "version": VERSION},
        "channels": channels,
        "operations": {
            name: {"action": "send", "channel": {"$ref": f"#/channels/{name}"}} for name in channels
        },
        "components": {
            "messages": messages,
            "schemas": schemas(one.what for one in reads if one.what),
        },
    }
