"""The rig's control socket: people and scenarios break parts, repair them, and read the state.

Owns the shape of its lines. A request is one line, `VERB [REST]` or the same as
JSON `{"command": "VERB REST"}`; the answer is one line of JSON with `ok` and either what was asked
for or `error`. Must not know what the verbs do. The service is never told of this socket.
"""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hil_tests.rig.door import Door

log = logging.getLogger(__name__)

Verb = Callable[[str], Any]
"""Takes the rest of the line; returns something JSON can hold; raises ValueError for bad input.
Other exceptions are answered, too, and logged."""

MAX_LINE = 4096
CLIENT_PATIENCE_S = 5.0


class Control(Door):
    """Answers at `path` until `close`."""

    def __init__(self, path: Path, verbs: Mapping[str, Verb]) -> None:
        self._verbs = verbs
        super().__init__(path, self._listen, "control")

    def _listen(self, client: socket.socket) -> None:
        with client.makefile("rb") as lines:
            while line := lines.readline(MAX_LINE):
                client.sendall(json.dumps(self._answer(line)).encode() + b"\n")

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            verb, rest = _understand(line)
            if verb not in self._verbs:
                raise ValueError(f"no command {verb!r}; there are: {', '.join(self._verbs)}")
            return {"ok": True, verb: self._verbs[verb](rest)}
        except ValueError as error:
            return {"ok": False, "error": str(error)}
        except Exception as error:  # whoever asked waits for a line, and the door stays open
            log.exception("the command %r failed", line)
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}


def _understand(line: bytes) -> tuple[str, str]:
    text = line.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        try:
            text = str(json.loads(text)["command"])
        except (ValueError, KeyError) as error:
            raise ValueError('write {"command": "VERB REST"}, or just VERB REST') from error
    verb, _, rest = text.partition(" ")
    return verb, rest.strip()


class RigRefusedError(ValueError):
    """The rig does not do that; the text is the rig's."""


def told(path: Path, command: str) -> Any:
    """Send one command to a running rig; return what was asked for.

    Raises RigRefusedError, and OSError without a rig.
    """
    answer = ask(path, command)
    if not answer["ok"]:
        raise RigRefusedError(answer["error"])
    return answer[command.partition(" ")[0]]


def ask(path: Path, command: str) -> dict[str, Any]:
    """Send one command to a running rig and return its answer. Raises OSError without a rig."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(CLIENT_PATIENCE_S)
        client.connect(str(path))
        client.sendall(command.encode() + b"\n")
        with client.makefile("rb") as lines:
            answer: dict[str, Any] = json.loads(lines.readline())
    return answer
