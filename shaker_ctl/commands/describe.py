"""`shaker-ctl describe`: what machines read of a table, for whoever writes a program for it."""

from __future__ import annotations

import importlib
import json
from typing import Annotated, Any, Literal

import typer

from shaker_ctl.described import schema

What = Literal["page", "link", "status", "case", "export"]

OWN = {"page": "shaker_ctl.page.door", "link": "shaker_ctl.link.messages"}
"""Modules that describe themselves."""

VALUES = {
    "status": (
        "shaker_ctl.console.desk:TableView",
        "shaker_ctl.service.status_socket:StatusExtras",
    ),
    "case": ("shaker_ctl.page.case:Case",),
    "export": ("shaker_ctl.page.case:Chain",),
}
"""Classes whose fields together are one JSON object."""


def describe(
    what: Annotated[What, typer.Argument(help="Of the page, the link, a command or a file.")],
) -> None:
    """Describe what machines read of a table: OpenAPI, AsyncAPI, JSON Schema.

    page: OpenAPI, as `/openapi.json` of the page. link: AsyncAPI of the broker's topics. status:
    `shaker-ctl status --json`. case: case.json. export: chain.json.
    """
    typer.echo(json.dumps(described(what), indent=2, ensure_ascii=False))


def described(what: str) -> dict[str, Any]:
    """Return one of the descriptions. What it needs is loaded here."""
    if what in OWN:
        found: dict[str, Any] = importlib.import_module(OWN[what]).described()
        return found
    modules = (one.split(":") for one in VALUES[what])
    whole, *more = (schema(getattr(importlib.import_module(m), name)) for m, name in modules)
    for each in more:
        whole["properties"] |= each["properties"]
        whole["required"] = list(whole["properties"])
    return whole
