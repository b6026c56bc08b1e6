"""For the technician: how the devices do now, the last tosses, wiring, a bundle.

Owns these addresses. Only the table gives a live picture, and only while it is closed or out of
service.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shaker_ctl import __version__
from shaker_ctl.adapters.disk.picture_folder import newest_pictures
from shaker_ctl.adapters.disk.shown_journal import opened
from shaker_ctl.console.desk import Parcel
from shaker_ctl.errors import RefusedError
from shaker_ctl.page.history import download
from shaker_ctl.page.people import Right
from shaker_ctl.page.places import TablePlaces
from shaker_ctl.page.site import Site
from shaker_ctl.page.tables import Book
from shaker_ctl.service.status_socket import read_picture
from shaker_ctl.service.table_watch import TableWatch
from shaker_ctl.view.archive import log_bundle

DOCTOR = "doctor.jsonl"
"""Where `shaker-ctl doctor` leaves its last result, beside the journal."""

LOOKS = 500
FAULTS = 50

WIRING = {
    "motor": "the-chain-in-front-of-en",
    "tach": "wiring",
    "toss": "wiring",
    "lamp": "lamp-box",
    "camera": "camera",
    "reader": "camera",
    "gpio": "wiring",
    "estop": "the-chain-in-front-of-en",
}
"""Beginning of a fault's code to the part of the wiring page."""


class Technician:
    """The technician's pages, and who looked at what."""

    def __init__(self, site: Site, watch: TableWatch, book: Book, places: TablePlaces) -> None:
        self._site, self._watch, self._book = site, watch, book
        self._places = places

    def routes(self) -> list[Route]:
        """Addresses, each with the right that it needs."""

        def mine(path: str, handler: Any, *, is_page: bool = True) -> Route:
            guarded = self._site.guarded(Right.TECHNICIAN, handler, is_page=is_page)
            return Route(path, guarded)

        return [
            mine("/technician/wiring", self._wiring),
            mine("/technician/wiring.svg", self._drawing, is_page=False),
            mine("/technician/picture", self._picture, is_page=False),
            mine("/technician/bundle", self._bundle, is_page=False),
            Route("/looked", self._site.guarded(Right.LOOKED, self._who_looked)),
        ]

    def facts(self) -> Mapping[str, Any]:
        """What the page shows beside its live part."""
        return {
            "tosses": self._book.tosses(10),
            "faults": self._book.faults(FAULTS),
            "doctor": self._doctor(),
            "last": next(iter(reversed(self._book.last(1))), None),
            "wiring_of": wiring_of,
        }

    def _doctor(self) -> list[dict[str, Any]]:
        try:
            file = self._places.journal.path.with_name(DOCTOR)
            lines = file.read_text("utf-8").splitlines()[:200]
            told = [json.loads(line) for line in lines]
            return [each for each in told if isinstance(each, dict)]
        except (OSError, ValueError):
            return []

    # ── Wiring ──────────────────────────────────────────────────────────────

    async def _wiring(self, request: Request) -> Response:
        text = self._document("README.md").decode()
        has_drawing = (self._places.documents / "wiring.svg").exists()
        return self._site.page(
            request, "wiring.html", parts=parts_of(text), has_drawing=has_drawing
        )

    async def _drawing(self, _request: Request) -> Response:
        return Response(self._document("wiring.svg"), media_type="image/svg+xml")

    def _document(self, name: str) -> bytes:
        try:
            return (self._places.documents / name).read_bytes()
        except OSError:
            raise HTTPException(404) from None

    # ── From the table ──────────────────────────────────────────────────────

    async def _picture(self, request: Request) -> Response:
        """A picture of now, where the table gives one; else 409, with why."""
        try:
            data = await asyncio.to_thread(read_picture, self._places.runtime_dir)
        except RefusedError as error:
            return Response(str(error), 409, media_type="text/plain")
        except OSError as error:
            return Response(f"no table answers: {error}", 409, media_type="text/plain")
        return Response(data, media_type="image/jpeg")

    async def _bundle(self, request: Request) -> Response:
        self._site.noted(request, "log bundle", "")
        parcel = await asyncio.to_thread(self._packed)
        return download(parcel.content, parcel.name, "application/gzip")

    def _packed(self) -> Parcel:
        pictures = partial(newest_pictures, self._places.journal.pictures)
        with closing(opened(self._places.journal.path)) as book:
            settings = self._places.settings.read_text("utf-8")
            return log_bundle(book, settings, f"shaker-ctl {__version__}\n", pictures)

    # ── Who looked ──────────────────────────────────────────────────────────

    async def _who_looked(self, request: Request) -> Response:
        records = await asyncio.to_thread(lambda: list(self._site.looked.last(LOOKS)))
        return self._site.page(request, "looked.html", records=records)


def wiring_of(code: str) -> str:
    """Return the part of the wiring page that a fault code concerns; empty for none."""
    return next((part for start, part in WIRING.items() if code.startswith(start)), "")


def parts_of(text: str) -> list[tuple[str, str, str]]:
    """Split a page of Markdown at its headings: (anchor, heading, text as it stands)."""
    found = []
    for part in re.split(r"^(?=#{2,3} )", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        title = head.lstrip("# ").strip()
        anchor = re.sub(r"[^a-z0-9 ]", "", title.lower()).replace(" ", "-")
        found.append((anchor, title, body.strip()))
    return found
