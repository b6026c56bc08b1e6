"""The rig's control socket: people and scenarios break parts, repair them, and read the state.

Owns the shape of its lines. A request is one line, `VERB [REST]`; the answer is one line of JSON
with `ok` and either what was asked for or `error`. Where it listens on a network, a client's first
line is the token. Must not know what the verbs do. The service is never told of this socket.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hil_tests.rig.door import Door, Place

log = logging.getLogger(__name__)

Verb = Callable[[str], Any]
"""Takes the rest of the line; returns something JSON can hold; raises ValueError for bad input.
Other exceptions are answered, too, and logged."""

MAX_LINE = 4096
CLIENT_PATIENCE_S = 5.0
TOKEN = "SHAKER_RIG_TOKEN"
"""Environment variable of a client: what a door on a network lets in."""


class Control(Door):
    """Answers at `place` until `close`; with a token only to those who give it first."""

    def __init__(self, place: Place, verbs: Mapping[str, Verb], token: str = "") -> None:
        self._verbs = verbs
        self._token = token.encode()
        super().__init__(place, self._listen, "control")

    def _listen(self, client: socket.socket) -> None:
        with client.makefile("rb") as lines:
            if self._token:
                client.settimeout(CLIENT_PATIENCE_S)
                if not self._is_known(client, lines.readline(MAX_LINE).strip()):
                    return
                client.settimeout(None)
            while line := lines.readline(MAX_LINE):
                client.sendall(json.dumps(self._answer(line)).encode() + b"\n")

    def _is_known(self, client: socket.socket, given: bytes) -> bool:
        if hmac.compare_digest(given, self._token):
            return True
        refusal = {"ok": False, "error": f"wrong token: set {TOKEN} to what [bench] token holds"}
        client.sendall(json.dumps(refusal).encode() + b"\n")
        return False

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            verb, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
            if verb not in self._verbs:
                raise ValueError(f"no command {verb!r}; there are: {', '.join(self._verbs)}")
            return {"ok": True, verb: self._verbs[verb](rest.strip())}
        except ValueError as error:
            return {"ok": False, "error": str(error)}
        except Exception as error:  # whoever asked waits for a line, and the door stays open
            log.exception("the command %r failed", line)
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}


class RigRefusedError(ValueError):
    """The rig does not do that; the text is the rig's."""


def is_address(place: Path | str) -> bool:
    """Whether a place is HOST:PORT, and no path."""
    host, _, port = str(place).rpartition(":")
    return bool(host) and "/" not in host and port.isdecimal()


def told(place: Path | str, command: str) -> Any:
    """Send one command to a running rig, at its socket or at HOST:PORT; return what was asked for.

    Raises RigRefusedError, and OSError without a rig.
    """
    said = command.encode() + b"\n"
    if is_address(place):
        host, _, port = str(place).rpartition(":")
        client = socket.create_connection((host, int(port)), CLIENT_PATIENCE_S)
        said = os.environ.get(TOKEN, "").encode() + b"\n" + said
    else:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with client, client.makefile("rb") as lines:
        client.settimeout(CLIENT_PATIENCE_S)
        if not is_address(place):
            client.connect(str(place))
        client.sendall(said)
        answer = json.loads(lines.readline())
    if not answer["ok"]:
        raise RigRefusedError(answer["error"])
    return answer[command.partition(" ")[0]]
