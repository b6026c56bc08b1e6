"""The list of what a package carries is whole, repeatable, and names no address."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hil_tests.installed.sbom import bill
from shaker_ctl.libraries import locked


def made(tmp_path: Path) -> str:
    wheel = tmp_path / "shaker_ctl-1.2.3-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    return json.dumps(bill(wheel))


def test_every_library_of_the_lock_is_listed_with_its_version_and_digests(tmp_path: Path) -> None:
    listed = json.loads(made(tmp_path))["components"]
    assert {one["name"]: one["version"] for one in listed} == locked()
    assert all(one["properties"] for one in listed)


def test_every_library_says_its_licence(tmp_path: Path) -> None:
    listed = json.loads(made(tmp_path))["components"]
    assert [one["name"] for one in listed if "licenses" not in one] == []


def test_no_address_and_no_time_stands_in_it(tmp_path: Path) -> None:
    text = made(tmp_path)
    assert not re.search(r"://|www\.|timestamp|serialNumber", text)
    assert text == made(tmp_path)
