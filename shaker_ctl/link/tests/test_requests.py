"""What may be asked of a table: a picture, and nothing else."""

from __future__ import annotations

import pytest

from shaker_ctl.link import packing, requests
from shaker_ctl.link.packing import ProtocolError
from shaker_ctl.link.requests import Want


def test_only_a_picture_can_be_asked_for() -> None:
    want = Want(3, "ab" * 32)
    assert requests.parsed(requests.want_message(want)) == want
    for what in ("open", "close", "play", "settings", "records", "bundle", "", None, 7, ["x"]):
        with pytest.raises(ProtocolError):
            requests.parsed(packing.to_json({"what": what, "sequence": 3, "sha256": "ab" * 32}))
