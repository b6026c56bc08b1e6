"""A million requests that no browser sends: `python -m hil_tests.page.fuzz`.

Compares every answer with what may come, for somebody without a login, a viewer, and somebody with
a cookie that is no longer valid. Ends with status 1 at the first answer that must not come, or if
the page dies or grows.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from hil_tests.campaign import Campaign
from hil_tests.processes import resident_mb
from shaker_ctl.console import accounts
from shaker_ctl.console.lockout import Lockout
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.page.app import Page
from shaker_ctl.page.parameters import PageParameters
from shaker_ctl.page.places import TablePlaces
from shaker_ctl.page.tests.a_journal import Scribe, digest
from shaker_ctl.page.tests.asking import Browser

SECRETS = (b"dan, dealer", b"BetsRequested", b"root:x:", b"argon2id", b"Traceback", b"\xff\xd8")
"""What nobody without the right may get: names, records, files, hashes, code, pictures."""

MAY = {200, 204, 303, 400, 401, 403, 404, 405, 411, 413, 421, 429, 503}
"""Every status that may come; 500 means that something was not thought of."""

GROWTH_MB = 40.0
BATCH = 1000
WARM_UP = 5
"""Batches before growth counts."""

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

    def __init__(self, page: Page, cookies: dict[str, str], token: str) -> None:
        """`token`: of a display; it is sent now and then beside whatever cookie."""
        self._page, self._cookies, self.token = page, cookies, token

    def begin(self, batch: str) -> None:
        """What is sent, and was answered, from now on is of this batch."""
        self.rnd = random.Random(batch)
        self.seen = Counter[str]()

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
        body = rnd.randbytes(rnd.choice((0, 0, 1, 50, 4096, 9000)))
        method = rnd.choice(METHODS)
        headers = {
            "host": rnd.choice(("127.0.0.1", "127.0.0.1", "evil.example", "", "[::1]:1", "a" * 99)),
            "accept": rnd.choice(("text/html", "*/*", "")),
            "accept-language": rnd.choice(("en", "zh-TW", ";q=,", "x" * 2000)),
            "origin": rnd.choice(("http://127.0.0.1", "http://evil.example", "null", "http://[")),
            "content-length": rnd.choice((str(len(body)), "-1", "9" * 30, "x")),
        }
        if self._cookies[who]:
            headers["cookie"] = f"__Host-shaker={self._cookies[who]}"
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
    seconds: Annotated[float, typer.Option(help="At most so long.")] = float("inf"),
    kept: Annotated[
        Path | None, typer.Option(help="File of what was done; a later run goes on there.")
    ] = None,
) -> None:
    """Send the page strange requests; status 1 where it grew."""
    with tempfile.TemporaryDirectory(prefix="page-fuzz-") as folder:
        done = Campaign(kept, dict[str, int])
        if not asyncio.run(_fuzz(Path(folder), requests, seed, seconds, done)):
            raise typer.Exit(1)


class NoDelay(Lockout):
    """Looks at every passphrase at once."""

    def wrong(self, _name: str, _now: float) -> float:
        return 0.0


async def _fuzz(
    folder: Path, requests: int, seed: int, seconds: float, done: Campaign[dict[str, int]]
) -> bool:
    """`done`: the answers to each batch, as `WHO STATUS` to how often."""
    scribe = Scribe(folder / "journal.jsonl")
    for number in range(1, 6):
        scribe.round(number, (1, 6, 6))
    accounts.add(folder / "users.toml", "vic", accounts.ROLES["viewer"], "correct horse", "vic-1")
    places = TablePlaces(
        name="Table 7",
        profile="pa-625a",
        runtime_dir=folder / "run",
        journal=JournalParameters(path=folder / "journal.jsonl", pictures=scribe.pictures),
        users_file=folder / "users.toml",
        settings=folder / "settings.toml",
        documents=folder,
    )
    page = Page(PageParameters(state_dir=folder / "page"), places)
    # No passphrase is right, and none costs time: what is tried here is all the rest.
    page.people._accounts.verify = lambda *_: None  # type: ignore[method-assign]
    page.people._lockout = lambda _: NoDelay()  # type: ignore[assignment,method-assign]
    viewer, gone = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    (vic,) = accounts.load(places.users_file)
    with page.people._lock:
        page.people._judged("vic", vic, Lockout())
        (session,) = page.people._sessions.values()
        page.people._sessions = {_key(viewer): session}
    session.key = _key(viewer)
    token = accounts.add_token(places.users_file, "d1", accounts.Looker.DISPLAY)
    fuzzer = Fuzzer(page, {"nobody": "", "viewer": viewer, "logged out": gone}, token)
    page.book.start()
    before_mb = 0.0
    began_s = time.monotonic()
    batches = 0
    for batch in range(0, requests, BATCH):
        if done.find(case := f"{seed} {batch}") is not None:
            continue
        if time.monotonic() - began_s >= seconds:
            break
        fuzzer.begin(case)
        for _ in range(min(BATCH, requests - batch)):
            await fuzzer.once()
            if session.key not in page.people._sessions:  # it has logged out by chance
                session.is_open = True
                page.people._sessions[session.key] = session
        batches += 1
        if batches == WARM_UP:
            before_mb = resident_mb(os.getpid())
        done.keep(case, dict(fuzzer.seen))
    page.book.stop()
    page.looked.close()
    scribe.close()
    grown_mb = resident_mb(os.getpid()) - before_mb if before_mb else 0.0
    by_who: dict[str, dict[int, int]] = {}
    seen = sum((Counter(answers) for _, answers in done.all), Counter[str]())
    for key, n in sorted(seen.items()):
        who, _, status = key.rpartition(" ")
        by_who.setdefault(who, {})[int(status)] = n
    for who, statuses in by_who.items():
        sys.stdout.write(f"{who}: {statuses}\n")
    sys.stdout.write(
        f"{seen.total()} requests, grown by {grown_mb:.1f} MB in this run, nothing leaked\n"
    )
    return grown_mb <= GROWTH_MB


def _key(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


if __name__ == "__main__":
    typer.run(main)
