"""A request to an ASGI application, and its answer, without a socket."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def words(self) -> str:
        """What a person reads: without marks, on one line."""
        return " ".join(re.sub(r"<[^>]*>", " ", self.text).split())


class Browser:
    """Keeps cookies, and says where it comes from."""

    def __init__(self, app: Any, host: str = "127.0.0.1", *, leaves: bool = False) -> None:
        """`leaves`: goes after the first piece of an answer; a stream never ends."""
        self.app, self.host, self._leaves = app, host, leaves
        self.cookies: dict[str, str] = {}
        self.answer = Answer()
        """The newest one; of a broken page, too, whose error goes on to the server."""

    def get(self, path: str, **headers: str) -> Answer:
        return asyncio.run(self.ask("GET", path, b"", headers))

    def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Answer:
        headers = {"origin": f"http://{self.host}", **headers}
        return asyncio.run(self.ask("POST", path, urlencode(form or {}).encode(), headers))

    async def ask(self, method: str, path: str, body: bytes, more: dict[str, str]) -> Answer:
        """Send one request, however strange."""
        plain, _, query = path.partition("?")
        headers = {"host": self.host, "accept": "text/html", **more}
        if method != "GET":
            headers["content-length"] = headers.get("content-length", str(len(body)))
        if self.cookies:
            headers["cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": plain,
            "raw_path": plain.encode(errors="replace"),
            "query_string": query.encode(errors="replace"),
            "root_path": "",
            "headers": [
                (k.replace("_", "-").encode(), v.encode("latin-1")) for k, v in headers.items()
            ],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 80),
        }
        answer = self.answer = Answer()
        is_left = asyncio.Event()
        told = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if told:
                return told.pop()
            await is_left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                for name, value in message["headers"]:
                    if name.lower() == b"set-cookie":
                        self._keep(value.decode(), answer)
                    else:
                        answer.headers[name.decode().lower()] = value.decode()
            else:
                answer.body += message.get("body", b"")
                if self._leaves:
                    is_left.set()

        await self.app(scope, receive, send)
        return answer

    def _keep(self, said: str, answer: Answer) -> None:
        pair, *rest = said.split(";")
        name, _, value = pair.partition("=")
        answer.cookies[name] = said
        if any(one.strip().lower() == "max-age=0" for one in rest):
            self.cookies.pop(name, None)
        else:
            self.cookies[name] = value
