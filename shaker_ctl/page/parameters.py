"""Settings of the page: where it listens, who may look, where it keeps its own files."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from shaker_ctl.parameters import Parameters, bounded

Language = Literal["en", "zh-Hant"]


class PageParameters(Parameters):
    """The page for browsers, `shaker-ctl page`."""

    address: str = "127.0.0.1"
    """Address to listen at: `127.0.0.1` for this computer alone, `0.0.0.0` or `::` for the network.
    Off loopback the page serves TLS only, and refuses to start without `certificate` and `key`."""

    port: int = Field(default=8443, ge=0, le=65535)
    """TCP port; 0 takes a free one and prints it."""

    certificate: Path | None = None
    """File of the TLS certificate, PEM, with the chain. `shaker-ctl setup page` makes one that
    browsers warn of; a house puts its own in its place."""

    key: Path | None = None
    """File of the certificate's private key, PEM, readable by the page's user alone."""

    name: str = ""
    """Host and port as people type them, such as `table7.example:8443`, where that differs from
    what the browser sends: behind a proxy that changes the Host header."""

    login: bool = True
    """Whether people log in. Off only on loopback, for a demonstration: everybody then sees
    everything, and each page says so."""

    state_dir: Path = Path("/var/lib/shaker-page")
    """Folder of the page's own files: tables made from the journal, and the chained log of who
    looked at what."""

    idle_s: float = bounded(600.0, at_least=30.0, at_most=86_400.0)
    """Seconds without a request before a person is logged out, as on the consoles. An open sign
    keeps the role `viewer` logged in. Estimate; a house's own procedure settles it."""

    language: Language = "en"
    """Language where the browser asks for none that the page has."""

    words: Path | None = None
    """Folder with a house's own languages, as `LANGUAGE/LC_MESSAGES/page.mo`."""

    connections: int = Field(default=256, ge=8, le=900)
    """Most connections at once, of one address a quarter; one more is closed at once. Each takes up
    to 100 kB."""

    @model_validator(mode="after")
    def _no_plain_http_off_loopback(self) -> Self:
        try:
            is_local = ip_address(self.address).is_loopback
        except ValueError:
            raise ValueError(
                f"address {self.address!r} is no IP address: give 127.0.0.1, 0.0.0.0 or ::"
            ) from None
        if (self.certificate is None) != (self.key is None):
            raise ValueError("certificate and key go together: give both, or none")
        if not is_local and self.certificate is None:
            raise ValueError(
                f"address {self.address} is not this computer's own: off loopback the page serves "
                "TLS only, so give certificate and key (shaker-ctl setup page makes them)"
            )
        if not is_local and not self.login:
            raise ValueError(f"login = false is for loopback, and address is {self.address}")
        return self


class SignParameters(Parameters):
    """The room's sign, `/sign` of the page."""

    house: str = Field(default="", max_length=60)
    """Name of the house, above the table's."""

    logo: Path | None = None
    """File of the house's logo, SVG or PNG, in place of the name."""

    limits: str = Field(default="", max_length=60)
    """Least and greatest wager as the house words them, such as `$10 to $500`."""

    felt: str = ""
    """Colour of the layout, such as `#0b3d2e`; empty: green."""

    accent: str = ""
    """Colour of lit areas, such as `#ffce3a`; empty: gold. Dark letters must be legible on it."""

    bets_s: float = bounded(0.0, at_least=0.0, at_most=600.0)
    """Seconds that are counted down from bets open; 0: no countdown. It closes no bets: the dealer
    does, or `table.betting_s` at a table that paces itself."""

    sound: bool = False
    """Whether no more bets and the result are heard. The browser must permit sound unasked:
    Chromium's `--autoplay-policy=no-user-gesture-required`."""

    sounds: Path | None = None
    """Folder with the house's own `no-more-bets.mp3` and `result.mp3`; without it tones."""

    @field_validator("felt", "accent")
    @classmethod
    def _is_colour(cls, colour: str) -> str:
        if not re.fullmatch(r"(#[0-9a-fA-F]{6})?", colour):
            raise ValueError("give a colour as #0b3d2e is one")
        return colour
