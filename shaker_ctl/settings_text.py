"""One table of a settings file measured anew, and everything that a person wrote there kept.

Owns which keys change: keys that stand there get new values in their place, new keys follow the
last one, and keys that are no more go. Comments and line ends stay. Must not know what keys mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.container import Container, OutOfOrderTableProxy
from tomlkit.items import Comment, Null, Table


def with_table(
    text: str, path: tuple[str, ...], values: Mapping[str, Any], note: str, marker: str
) -> str:
    """Return the text of a settings file with `values` in the table named by `path`.

    `note` is a comment under the table's header; the one there before, known by its beginning
    `marker`, goes. Raises TOMLKitError where `text` is not valid TOML, and KeyError where it has
    that table in another form than under a header of its own.
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    document = tomlkit.parse(text)
    table = _under_header(document, path)
    for key in [key for key in table if key not in values]:
        table.remove(key)
    body = table.value.body
    for at, (_, item) in enumerate(body):
        if isinstance(item, Comment) and item.as_string().lstrip().startswith(marker):
            body[at] = (None, Null())
    table.trivia.trail = line_end + note + line_end
    # What stands behind the last key belongs to the next table.
    behind = len(body) - next((n for n, (key, _) in enumerate(reversed(body)) if key), len(body))
    rest = body[behind:]
    del body[behind:]
    for key, value in values.items():
        if key not in table:
            table.add(key, value)
            table.value.body[-1][1].trivia.trail = line_end
        elif isinstance(value, list) and len(value) == len(table[key]):
            for n, each in enumerate(value):
                table[key][n] = each
        else:
            table[key] = value
    body += rest
    return document.as_string()


def _under_header(document: Container, path: tuple[str, ...]) -> Table:
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
