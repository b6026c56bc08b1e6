"""`shaker-ctl describe`: what machines read of a table, for whoever writes a program for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer

from shaker_ctl.described import schema

What = Literal["page", "link", "status", "case", "export"]


def describe(
    what: Annotated[What, typer.Argument(help="Of the page, the link, a command or a file.")],
) -> None:
    """Describe what machines read of a table: OpenAPI, AsyncAPI, JSON Schema.

    page: OpenAPI, as `/openapi.json` of the page. link: AsyncAPI of the broker's topics. status:
    `shaker-ctl status --json`. case: case.json. export: chain.json.
    """
    typer.echo(json.dumps(DESCRIBED[what](), indent=2, ensure_ascii=False))


def _page() -> dict[str, Any]:
    from shaker_ctl.page.door import described

    return described()


def _link() -> dict[str, Any]:
    from shaker_ctl.link.messages import described

    return described()


def _status() -> dict[str, Any]:
    from shaker_ctl.console.desk import TableView
    from shaker_ctl.service.status_socket import StatusExtras

    view, more = schema(TableView), schema(StatusExtras)
    view["properties"] |= more["properties"]
    view["required"] = list(view["properties"])
    return view


def _case() -> dict[str, Any]:
    from shaker_ctl.page.case import Case

    return schema(Case)


def _export() -> dict[str, Any]:
    from shaker_ctl.page.case import Chain

    return schema(Chain)


DESCRIBED: dict[str, Callable[[], dict[str, Any]]] = {
    "page": _page,
    "link": _link,
    "status": _status,
    "case": _case,
    "export": _export,
}
