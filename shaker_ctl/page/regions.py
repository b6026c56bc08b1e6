"""Live parts of pages: drawn once for all who look, sent where they have changed.

Owns the drawing of named parts, one for each language that somebody looks at, and the wake-up of
those who wait for a change. A page has one stream; a stream sends whole parts as HTML, so that a
page which was away catches up with the first message. Must not know what the parts show.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

EVERY_S = 1.0
"""Longest silence of a stream: the age of the figures is said so often."""

RETRY_MS = 1000
"""How soon a browser comes back after a stream has ended."""


@lru_cache(maxsize=64)
def _said(text: str) -> str:
    """As JSON; a part is encoded once, however many look."""
    return json.dumps(text, ensure_ascii=False)


Draw = Callable[[str, str], str]
"""Draws a part by its name, in a language."""


@dataclass
class Regions:
    """The parts of all live pages. For one event loop; `changed` may be called from any thread."""

    draw: Draw
    loop: asyncio.AbstractEventLoop | None = None
    _drawn: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    """(part, language) to the change that it was drawn for, and its HTML."""
    _change: int = 0
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

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
        html = self.draw(name, language)
        # The same text object goes on: whoever has sent it sees by identity that nothing is new.
        if known is not None and known[1] == html:
            html = known[1]
        self._drawn[key] = (self._change, html)
        return html

    async def wait(self, seconds: float = EVERY_S) -> None:
        """Return at the next change, or after so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return


async def stream(
    regions: Regions,
    names: tuple[str, ...],
    language: str,
    told: Callable[[], tuple[int, Mapping[str, object]] | None],
) -> AsyncIterator[bytes]:
    """Yield server-sent events: what `told` says each time, and the parts that have changed.

    `told` returns the event's id and fields, or None to end the stream.
    """
    sent: dict[str, str] = {}
    last_s = float("-inf")
    loop = asyncio.get_running_loop()
    yield b"retry: %d\n\n" % RETRY_MS
    while (now := told()) is not None:
        number, fields = now
        parts = {name: regions.part(name, language) for name in names}
        new = {name: html for name, html in parts.items() if sent.get(name) is not html}
        if new or loop.time() - last_s >= EVERY_S:
            sent.update(new)
            last_s = loop.time()
            parts_said = ",".join(f"{_said(name)}:{_said(html)}" for name, html in new.items())
            rest = "".join(f",{_said(key)}:{json.dumps(value)}" for key, value in fields.items())
            yield f'id: {number}\ndata: {{"parts":{{{parts_said}}}{rest}}}\n\n'.encode()
        await regions.wait()
