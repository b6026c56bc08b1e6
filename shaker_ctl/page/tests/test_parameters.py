"""Where the page may listen, and how."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from shaker_ctl.errors import SettingsError
from shaker_ctl.page import server
from shaker_ctl.page.parameters import PageParameters

KEYS = {"certificate": Path("certificate.pem"), "key": Path("key.pem")}


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.0.2.7"])
def test_off_loopback_there_is_no_plain_http(address: str) -> None:
    with pytest.raises(ValidationError, match="TLS"):
        PageParameters(address=address)

    assert PageParameters(address=address, **KEYS).address == address


def test_without_a_login_it_is_on_loopback_alone() -> None:
    with pytest.raises(ValidationError, match="loopback"):
        PageParameters(address="0.0.0.0", login=False, **KEYS)

    assert not PageParameters(address="::1", login=False).login


def test_half_a_pair_of_keys_is_refused() -> None:
    with pytest.raises(ValidationError, match="go together"):
        PageParameters(key=Path("key.pem"))


def test_a_name_is_no_address() -> None:
    with pytest.raises(ValidationError, match="IP address"):
        PageParameters(address="table7.example")


def test_a_certificate_that_cannot_be_used_is_named_before_anything_listens(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be used"):
        server.require_certificate(PageParameters(**KEYS))


def test_a_taken_port_is_named() -> None:
    first = server.listen(PageParameters(port=0))
    with first, pytest.raises(SettingsError, match="cannot listen"):
        server.listen(PageParameters(port=first.getsockname()[1]))
