"""Keys of a settings file changed, and everything that a person wrote there kept.

Owns where a key goes: one that stands there gets its new value in its place, a new one follows the
last one of its table. Comments and line ends stay. Must not know what keys mean.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.container import Container, OutOfOrderTableProxy
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from shaker_ctl.errors import SettingsError
from shaker_ctl.whole_file import put


def changed(
    text: str, values: Mapping[str, Any], notes: Mapping[str, str], *, source: str = ""
) -> str:
    """Return the text of a settings file with `values` by their keys' names; None takes one away.

    `notes`: the comment behind a key. Raises SettingsError, which names the file `source`, for
    text that is not TOML, and where a table stands in another form than under a header of its own.
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    try:
        document = tomlkit.parse(text)
        for name, value in values.items():
            *path, key = name.split(".")
            table = _under_header(document, path)
            if value is None:
                table.pop(key, None)
                continue
            _put(table, key, value, line_end)
            if name in notes:
                table.value.item(key).comment(notes[name])
    except KeyError as error:
        raise SettingsError(
            f"{source} has its keys {error} not under the header [{error.args[0]}]",
            remedy="Take them out, write that header there, and try again",
        ) from error
    except TOMLKitError as error:
        raise SettingsError(
            f"{source} is not valid TOML: {error}", remedy="Mend that line and try again"
        ) from error
    return document.as_string()


def replace(file: Path, text: str) -> None:
    """Have this text in the settings file, whole or as it was; a link, owner and mode stay.

    Raises SettingsError where it cannot be written.
    """
    try:
        real = file.resolve(strict=True)
        old = real.stat()

        def as_before(number: int) -> None:
            if os.geteuid() == 0:
                os.fchown(number, old.st_uid, old.st_gid)
            os.fchmod(number, old.st_mode & 0o7777)

        put(real, text, as_before)
    except (OSError, UnicodeError) as error:
        raise SettingsError(
            f"{file} cannot be written: {error}",
            remedy="Run it as the owner of the file (sudo), or change these keys by hand",
        ) from error


def _put(table: Any, key: str, value: Any, line_end: str) -> None:
    if key not in table:
        _append(table, key, value, line_end)
    elif isinstance(value, list) and len(value) == len(table[key]):
        for n, each in enumerate(value):  # comments between them stay
            table[key][n] = each
    else:
        table[key] = value


def _append(table: Any, key: str, value: Any, line_end: str) -> None:
    """What stands behind the last key belongs to the next table."""
    body = table.value.body
    behind = len(body) - next((n for n, (each, _) in enumerate(reversed(body)) if each), len(body))
    rest = body[behind:]
    del body[behind:]
    table.add(key, value)
    body[-1][1].trivia.trail = line_end
    body += rest


def _under_header(document: Container, path: Sequence[str]) -> Any:
    """The table, made at the end of its parent where there is none."""
    inside: Any = document
    for depth, name in enumerate(path):
        if name not in inside:
            is_last = depth == len(path) - 1
            inside.add(name, tomlkit.table(is_super_table=not is_last))
        inside = inside[name]
        if not isinstance(inside, Table | OutOfOrderTableProxy):
            raise KeyError(".".join(path))
    return inside
