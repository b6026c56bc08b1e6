"""Live parts of pages: each is drawn once for all readers, and sent when it has changed.

Owns the drawing of named parts, once for each language in use, and the events that carry them. All
who read the same parts in the same language get the same event, and nobody is woken if nothing has
changed. A page has one stream; a stream sends whole parts as
HTML or JSON, so that a page which was away catches up with the first message. Must not know what
the parts show.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
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


class Feed:
    """Some parts in one language, as events for all who read them."""

    def __init__(self, regions: Regions, names: tuple[str, ...], language: str) -> None:
        self._regions, self._names, self._language = regions, names, language
        self.readers = 0
        self.parts: Mapping[str, str] = {}
        """As the newest event leaves them."""
        self.number = 0
        """How many events there were."""
        self.event = b""
        """The newest one, for those who have read the one before."""
        self.failure: Exception | None = None
        """Why it can go on no more: its readers end, and come again."""
        self.woken = asyncio.Event()
        self._due: asyncio.TimerHandle | None = None

    def renew(self, *, is_due: bool = False) -> None:
        """Make the next event where a part has changed, or where it is time for one."""
        try:
            parts = {name: self._regions.part(name, self._language) for name in self._names}
            if not (is_due or self.changed_in(parts, self.parts)):
                return
            self.event = self.told(parts, self.parts)
        except Exception as error:  # noqa: BLE001 - its readers raise it again
            self.failure = error
        else:
            self.parts = parts
            self.number += 1
        self.wake()
        self.rest()
        if self.readers and self.failure is None:
            loop = asyncio.get_running_loop()
            self._due = loop.call_later(EVERY_S, lambda: self.renew(is_due=True))

    def rest(self) -> None:
        """Make no event until a part changes."""
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def wake(self) -> None:
        """Have every reader look whether there is an event, and whether they may go on."""
        self.woken.set()
        self.woken = asyncio.Event()

    def told(self, parts: Mapping[str, str], known: Mapping[str, str]) -> bytes:
        """Return an event for somebody who knows some parts."""
        number, fields = self._regions.said()
        changed = self.changed_in(parts, known)
        is_json = self._names[0].endswith(JSON)
        said = {**(fields_of(changed) if is_json else {"parts": changed}), **fields}
        return f"id: {number}\ndata: {json.dumps(said, ensure_ascii=False)}\n\n".encode()

    @staticmethod
    def changed_in(parts: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
        """Parts that are not known as they are. A part that is drawn alike is the same object."""
        return {name: html for name, html in parts.items() if known.get(name) is not html}


def fields_of(parts: Mapping[str, str]) -> dict[str, Any]:
    """Return parts for machines as fields of one object, each named by what precedes the dot."""
    return {name.partition(".")[0]: json.loads(text) for name, text in parts.items()}


class Regions:
    """The parts of all live pages. For one event loop; `changed` may be called from any thread."""

    def __init__(self, draw: Draw, said: Said) -> None:
        self._draw = draw
        self.said = said
        self.loop: asyncio.AbstractEventLoop | None = None
        self._drawn: dict[tuple[str, str], tuple[int, str]] = {}
        """(part, language) to the change that it was drawn for, and its HTML."""
        self._change = 0
        self._feeds: dict[tuple[tuple[str, ...], str], Feed] = {}
        self._streams: Counter[str] = Counter()
        """Key of the session to how many it reads."""
        self._is_ending = False

    def changed(self) -> None:
        """Say that what the parts show may have changed. From any thread."""
        if self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._change += 1
        for feed in self._feeds.values():
            feed.renew()

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
        feed = self._feeds.setdefault((names, language), Feed(self, names, language))
        feed.readers += 1
        self._streams[session.key] += 1
        try:
            yield b"retry: %d\n\n" % RETRY_MS
            feed.renew(is_due=feed.readers == 1)
            number = -1
            known: Mapping[str, str] = {}
            while goes_on(session) and not self._is_ending:
                if feed.failure is not None:
                    raise feed.failure
                woken = feed.woken
                if number != feed.number:
                    is_next = number == feed.number - 1
                    event = feed.event if is_next else feed.told(feed.parts, known)
                    number, known = feed.number, feed.parts
                    yield event
                # What came while the event was sent is not waited for.
                if not woken.is_set():
                    await woken.wait()
        finally:
            self._streams[session.key] -= 1
            self._streams += Counter()  # without those who read none any more
            feed.readers -= 1
            if not feed.readers:
                feed.rest()
                self._feeds.pop((names, language), None)

    def end(self) -> None:
        """Have every stream end at once."""
        self._is_ending = True
        for feed in self._feeds.values():
            feed.wake()
