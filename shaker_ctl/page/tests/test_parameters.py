"""Where the page may listen, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from shaker_ctl.errors import SettingsError
from shaker_ctl.page import server
from shaker_ctl.page.parameters import PageParameters

KEYS = {"certificate": Path("certificate.pem"), "key": Path("key.pem")}


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        *(({"address": address}, "TLS") for address in ("0.0.0.0", "::", "192.0.2.7")),
        ({"address": "0.0.0.0", "login": False, **KEYS}, "loopback"),
        ({"key": Path("key.pem")}, "go together"),
        ({"address": "table7.example"}, "IP address"),
    ],
)
def test_off_loopback_there_is_neither_plain_http_nor_a_page_without_login(
    settings: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValidationError, match=why):
        PageParameters(**settings)


@pytest.mark.parametrize(
    "settings", [{"address": "0.0.0.0", **KEYS}, {"address": "::1", "login": False}]
)
def test_tls_leads_off_loopback_and_loopback_needs_no_login(settings: dict[str, Any]) -> None:
    assert PageParameters(**settings).address == settings["address"]


def test_a_certificate_that_cannot_be_used_is_named_before_anything_listens(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be used"):
        server.require_certificate(PageParameters(**KEYS))


def test_a_taken_port_is_named() -> None:
    first = server.listen(PageParameters(port=0))
    with first, pytest.raises(SettingsError, match="cannot listen"):
        server.listen(PageParameters(port=first.getsockname()[1]))
