"""What every answer carries, and what no request gets past: headers, origin, host, size.

Owns the ASGI layer around an application. Must not know pages or people.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}

PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "authorization",
}
"""What a browser is told before it sends a token from another site (Fetch, CORS preflight). Cookies
stay at home: no credentials are allowed."""

MAX_BODY = 4096
"""Bytes of a request's body: a login, and nothing else is ever sent here."""

MAX_PATH = 500
"""Characters of an address; a longer one is none of a page, and a number in it none of a round."""

READS = frozenset({"GET", "HEAD"})


def bearer(header: str) -> str:
    """Return the token of an Authorization header (RFC 6750); empty where it has none."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


class RequestGuard:
    """The outermost layer of a page."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        name: str = "",
        only_loopback: bool = False,
        is_tls: bool = False,
        is_machine: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`name`: host and port as people type them, where the Host header differs.
        `only_loopback`: answer only to names of this computer, which a strange site cannot take
        over by its DNS. `is_tls`: tell browsers to come by TLS alone. `is_machine`: whether a
        token is one; a script of any site may read the answer to it, and to nothing else.
        """
        self._app = app
        self._name = name
        self._only_loopback = only_loopback
        self._is_tls = is_tls
        self._is_machine = is_machine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it; other kinds of connections go through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        token = bearer(Headers(scope=scope).get("authorization", ""))

        async def furnished(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
                if token and self._is_machine(token):
                    headers["Access-Control-Allow-Origin"] = "*"
                if self._is_tls:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        if (refused := self._refusal(scope)) is not None:
            await refused(scope, receive, furnished)
            return
        await self._app(scope, _bounded(receive), furnished)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        if self._only_loopback and not _is_loopback(headers.get("host", "")):
            return PlainTextResponse("this page answers only by the name of its computer\n", 421)
        if len(scope["path"]) > MAX_PATH:
            return PlainTextResponse("", 404)
        if "transfer-encoding" in headers:  # chunks have no length, and come before it (RFC 9112)
            return PlainTextResponse("no chunks here\n", 411, {"Connection": "close"})
        if scope["method"] in READS:
            has_body = headers.get("content-length", "0") != "0"
            return PlainTextResponse("a read has no body\n", 413) if has_body else None
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            return PlainTextResponse("", 204, PREFLIGHT)
        if scope["method"] != "POST":
            return PlainTextResponse("not here\n", 405, {"Allow": "GET, HEAD, POST"})
        if not self._is_from_here(headers, scope["scheme"]):
            return PlainTextResponse("sent from another site\n", 403)
        length = headers.get("content-length", "")
        if not length.isascii() or not length.isdigit() or len(length) > 9:
            return PlainTextResponse("how long is it?\n", 411)
        if int(length) > MAX_BODY:
            return PlainTextResponse("too long\n", 413)
        return None

    def _is_from_here(self, headers: Headers, scheme: str) -> bool:
        """A browser says with every POST which site sends it; without that word it is refused."""
        try:
            sent_from = urlsplit(headers.get("origin", ""))
        except ValueError:
            return False
        hosts = {headers.get("host", ""), self._name} - {""}
        schemes = {scheme, "https"}  # a proxy in front of this page speaks TLS for it
        return sent_from.netloc in hosts and sent_from.scheme in schemes


def _bounded(receive: Receive) -> Receive:
    """`receive` that refuses a body beyond its bound, whatever the headers said of it."""
    left = MAX_BODY

    async def counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413)
        return message

    return counted


def _is_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False
