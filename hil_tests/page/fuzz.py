"""A million requests that no browser sends: `python -m hil_tests.page.fuzz`.

Compares every answer with what may come, for somebody without a login, a viewer, and somebody with
a cookie that is no longer valid. Ends with status 1 at the first answer that must not come, or if
the page dies or grows.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from hil_tests.processes import resident_mb
from shaker_ctl.console import accounts
from shaker_ctl.console.lockout import Lockout
from shaker_ctl.page.app import Page
from shaker_ctl.page.people import COOKIE
from shaker_ctl.page.tests.a_journal import Scribe, digest
from shaker_ctl.page.tests.asking import Browser
from shaker_ctl.page.tests.test_page import WORD
from shaker_ctl.page.tests.test_page import _logged_in as logged_in
from shaker_ctl.page.tests.test_page import _page as made_page

SECRETS = (b"dan, dealer", b"BetsRequested", b"root:x:", b"argon2id", b"Traceback", b"\xff\xd8")
"""What nobody without the right may get: names, records, files, hashes, code, pictures."""

MAY = {200, 204, 303, 400, 401, 403, 404, 405, 411, 413, 421, 429, 503}
"""Every status that may come; 500 means that something was not thought of."""

GROWTH_MB = 40.0
WARM_UP = 5000
"""Requests before growth counts."""

PATHS = (
    *("/sign", "/rounds", "/rounds/1", "/rounds/1/case", "/day", "/day.csv", "/statistics"),
    *("/technician", "/technician/bundle", "/technician/picture"),
    *("/looked", "/login", "/logout", "/alive", "/static/page.css", "/static/../app.py"),
    *("/stream/sign", "/stream/technician", "/stream/x", f"/picture/{digest(1)}"),
    *("/picture/" + "0" * 64, "/picture/..%2f..%2fjournal.jsonl", "/%2e%2e/%2e%2e/etc/passwd"),
    *(
        "/state.json",
        "/rounds.json",
        "/rounds/1.json",
        "/day.json",
        "/stream/state",
        "/openapi.json",
    ),
    *("//evil.example/", "/rounds/" + "9" * 400, "/rounds/-1", "/rounds/1e9", "/\x00"),
)
METHODS = (*("GET",) * 8, *("HEAD", "POST", "POST", "PUT", "DELETE", "OPTIONS", "GET\x00"))
WORDS = (
    "",
    "1",
    "vic",
    "viewer",
    "surveillance",
    "'; --",
    "../" * 9,
    "%00",
    "骰",
    "\ud800",
    "A" * 300,
)


class Fuzzer:
    """Sends one strange request after the other, and judges the answers."""

    def __init__(self, page: Page, cookies: dict[str, str], token: str, rnd: random.Random) -> None:
        """`token`: of a display; it is sent now and then beside whatever cookie."""
        self._page, self._cookies, self.token, self.rnd = page, cookies, token, rnd
        self.seen = Counter[str]()
        """`WHO STATUS` to how often it was answered."""

    async def once(self) -> None:
        """Raises AssertionError at an answer that must not come."""
        rnd = self.rnd
        who = rnd.choice(list(self._cookies))
        path = rnd.choice(PATHS)
        if rnd.random() < 0.4:
            path = self._mangled(path)
        query = "&".join(
            f"{rnd.choice(('next', 'day', 'number', 'from', 'language', 'before'))}="
            f"{rnd.choice(WORDS)}"
            for _ in range(rnd.randrange(3))
        )
        method = rnd.choice(METHODS)
        has_body = method == "POST" or rnd.random() < 0.1
        body = rnd.randbytes(rnd.choice((0, 1, 50, 4096, 9000)) if has_body else 0)
        length = str(len(body))
        headers = {
            "host": rnd.choice(("127.0.0.1", "127.0.0.1", "evil.example", "", "[::1]:1", "a" * 99)),
            "accept": rnd.choice(("text/html", "*/*", "")),
            "accept-language": rnd.choice(("en", "zh-TW", ";q=,", "x" * 2000)),
            "origin": rnd.choice(("http://127.0.0.1", "http://evil.example", "null", "http://[")),
            "content-length": rnd.choice((*[length] * 5, "-1", "9" * 30, "x")),
        }
        if self._cookies[who]:
            headers["cookie"] = f"{COOKIE}={self._cookies[who]}"
        if token := rnd.choice(("", "", self.token, "x", "é" * 99)):
            headers["authorization"] = rnd.choice(("Bearer ", "bearer  ", "Basic ", "")) + token
        browser = Browser(self._page.app, leaves=True)
        answer = await browser.ask(method, f"{path}?{query}", body, headers)
        self.seen[f"{who} {answer.status}"] += 1
        sent = f"{who}: {method!a} {path!a} {query!a} {headers}"
        told = f"{sent}: {answer.status} {answer.body[:200]!r}"
        assert answer.status in MAY, told
        if not path.startswith("/static"):
            assert not any(secret in answer.body for secret in SECRETS), told

    def _mangled(self, path: str) -> str:
        rnd = self.rnd
        letters = list(path)
        for _ in range(rnd.randrange(1, 4)):
            at = rnd.randrange(len(letters) + 1)
            letters[at:at] = [rnd.choice(("/", "..", "%2e", "\\", "\x7f", "é", ";", "?", "#", "0"))]
        return "/" + "".join(letters)


def main(
    requests: Annotated[int, typer.Option(min=1, help="How many.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Of what is asked.")] = 1,
) -> None:
    """Send the page strange requests; status 1 where it grew."""
    with tempfile.TemporaryDirectory(prefix="page-fuzz-") as folder:
        grown_mb = fuzz(Path(folder), requests, seed)
    if grown_mb > GROWTH_MB:
        raise typer.Exit(1)


class NoDelay(Lockout):
    """Looks at every passphrase at once."""

    def wrong(self, _name: str, _now: float) -> float:
        return 0.0


def fuzz(folder: Path, requests: int, seed: int) -> float:
    """Say what came of so many requests; return how much the page grew in them, in MB."""
    scribe = Scribe(folder / "journal.jsonl")
    for number in range(1, 6):
        scribe.round(number, (1, 6, 6))
    users = folder / "users.toml"
    accounts.add(users, "vic", accounts.ROLES["viewer"], WORD, "vic-1")
    page = made_page(folder)
    viewer = logged_in(page, "vic", "viewer").cookies[COOKIE]
    # No passphrase is right, none costs time, and nobody logs out: what is tried is all the rest.
    page.site.people._accounts.verify = lambda *_: None  # type: ignore[method-assign]
    page.site.people._lockout = lambda _: NoDelay()  # type: ignore[assignment,method-assign]
    page.site.people.log_out = lambda _: None  # type: ignore[assignment,method-assign]
    cookies = {"nobody": "", "viewer": viewer, "logged out": secrets.token_urlsafe(32)}
    token = accounts.add_token(users, "d1", accounts.Looker.DISPLAY)
    fuzzer = Fuzzer(page, cookies, token, random.Random(seed))
    grown_mb = asyncio.run(_grown(fuzzer, requests))
    page.book.stop()
    page.site.looked.close()
    scribe.close()
    for answer, count in sorted(fuzzer.seen.items()):
        typer.echo(f"{answer}: {count}")
    typer.echo(f"{fuzzer.seen.total()} requests, grown by {grown_mb:.1f} MB, nothing leaked")
    return grown_mb


async def _grown(fuzzer: Fuzzer, requests: int) -> float:
    """Send so many; return how much resident memory grew once it was warm, in MB."""
    before_mb = resident_mb(os.getpid())
    for number in range(requests):
        await fuzzer.once()
        if number == WARM_UP:
            before_mb = resident_mb(os.getpid())
    return resident_mb(os.getpid()) - before_mb


if __name__ == "__main__":
    typer.run(main)
