"""Live parts of pages: each is drawn once for all readers, and sent when it has changed.

Owns the drawing of named parts, once for each language in use, and the events that carry them. A
page has one stream; a stream sends whole parts as HTML or JSON, so that a page which was away
catches up with the first message. Must not know what the parts show.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from shaker_ctl.page.people import PageLogin

EVERY_S = 1.0
"""Longest silence of a stream: the age of the figures is said so often."""

RETRY_MS = 1000
"""How soon a browser comes back after a stream has ended."""

MAX_STREAMS = 120
"""Live pages at once; one more is told to come again."""

MAX_OF_ONE = 12
"""Live pages at once of one login."""

JSON = ".json"
"""How the name of a part ends that machines read."""

Draw = Callable[[str, str], str]
"""Draws a part by its name, in a language."""

Said = Callable[[], tuple[int, Mapping[str, object]]]
"""What every event carries: its id, and fields beside the parts."""


def fields_of(parts: Mapping[str, str]) -> dict[str, Any]:
    """Return parts for machines as fields of one object, each named by what precedes the dot."""
    return {name.partition(".")[0]: json.loads(text) for name, text in parts.items()}


class Regions:
    """The parts of all live pages. For one event loop; `changed` may be called from any thread."""

    def __init__(self, draw: Draw, said: Said) -> None:
        self._draw = draw
        self._said = said
        self.loop: asyncio.AbstractEventLoop | None = None
        self._drawn: dict[tuple[str, str], tuple[int, str]] = {}
        """(part, language) to the change that it was drawn for, and its HTML."""
        self._change = 0
        self._woken = asyncio.Event()
        """Set once there may be something new; then another one takes its place."""
        self._streams: Counter[str] = Counter()
        """Key of the session to how many it reads."""
        self._is_ending = False

    def changed(self) -> None:
        """Say that what the parts show may have changed. From any thread."""
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._change += 1
        self._woken.set()
        self._woken = asyncio.Event()

    def part(self, name: str, language: str) -> str:
        """Return a part as it is now."""
        key = (name, language)
        known = self._drawn.get(key)
        if known is not None and known[0] == self._change:
            return known[1]
        html = self._draw(name, language)
        # The same text object goes on: whoever has sent it sees by identity that nothing is new.
        if known is not None and known[1] == html:
            html = known[1]
        self._drawn[key] = (self._change, html)
        return html

    # ── Streams ─────────────────────────────────────────────────────────────

    def streamed(
        self,
        names: tuple[str, ...],
        language: str,
        session: PageLogin,
        goes_on: Callable[[PageLogin], bool],
    ) -> StreamingResponse:
        """Return the stream of some parts: all of them, then those that change, for as long as
        the session goes on, which is asked before each event.

        Raises HTTPException where there are too many already.
        """
        if self._streams.total() >= MAX_STREAMS:
            raise HTTPException(503)
        if session.key and self._streams[session.key] >= MAX_OF_ONE:
            raise HTTPException(429)
        return StreamingResponse(
            self._events(names, language, session, goes_on),
            media_type="text/event-stream",
            headers={"X-Accel-Buffering": "no"},
        )

    async def _events(
        self,
        names: tuple[str, ...],
        language: str,
        session: PageLogin,
        goes_on: Callable[[PageLogin], bool],
    ) -> AsyncGenerator[bytes]:
        self._streams[session.key] += 1
        try:
            yield b"retry: %d\n\n" % RETRY_MS
            known: Mapping[str, str] = {}
            due_s = 0.0
            while goes_on(session) and not self._is_ending:
                woken = self._woken
                parts = {name: self.part(name, language) for name in names}
                # A part that is drawn alike is the same object.
                changed = {
                    name: html for name, html in parts.items() if known.get(name) is not html
                }
                if changed or time.monotonic() >= due_s:
                    yield self._event(changed, is_json=names[0].endswith(JSON))
                    known, due_s = parts, time.monotonic() + EVERY_S
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), max(0.0, due_s - time.monotonic()))
        finally:
            self._streams[session.key] -= 1
            self._streams += Counter()  # without those who read none any more

    def _event(self, changed: Mapping[str, str], *, is_json: bool) -> bytes:
        number, fields = self._said()
        said = {**(fields_of(changed) if is_json else {"parts": changed}), **fields}
        return f"id: {number}\ndata: {json.dumps(said, ensure_ascii=False)}\n\n".encode()

    def end(self) -> None:
        """Have every stream end at once."""
        self._is_ending = True
        self._wake()
