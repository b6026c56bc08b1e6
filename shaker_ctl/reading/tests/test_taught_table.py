"""The file of a teaching: read back as it was written, or refused with a line."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shaker_ctl.errors import CameraError, SettingsError
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.reading.taught_table import Bound, TaughtTable, found, require_may_enter
from shaker_ctl.rules.vocabulary import Person, Role

FAY = Person("fay", Role.FLOORPERSON, "fay-1")


def camera(folder: Path, **changes: object) -> CameraParameters:
    return CameraParameters.model_validate({"teaching": folder / "teaching", **changes})


def taught(p: CameraParameters) -> TaughtTable:
    now = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)
    bound = Bound.now(p, ("A1", "A2", "A3"))
    return TaughtTable(bound, now, (FAY,), 32, 0.9874, True, "", b"\0learnt")


def test_a_file_is_read_back_and_none_is_none(tmp_path: Path) -> None:
    p = camera(tmp_path)
    assert found(p) is None
    p.teaching.write_bytes(taught(p).to_bytes())
    assert found(p) == taught(p)
    assert taught(p).words() == (
        "taught on 2026-11-28 by fay (fay-1), 32 tosses of A1 A2 A3; reads 98.7 % of its own tosses"
    )


STEREO = {"fitted": True}


@pytest.mark.parametrize(
    ("second", "changes", "why"),
    [
        (STEREO, None, "not taught"),
        (STEREO, {"is_enough": False, "read": 0.9}, "reads 90.0 %"),
        ({"fitted": False}, {}, "one lens"),
    ],
)
def test_only_a_taught_table_before_two_lenses_may_enter_by_itself(
    tmp_path: Path, second: dict[str, object], changes: dict[str, Any] | None, why: str
) -> None:
    p = camera(tmp_path, second=second)
    require_may_enter(camera(tmp_path, second=STEREO), taught(p))
    with pytest.raises(SettingsError, match=why) as caught:
        require_may_enter(p, None if changes is None else replace(taught(p), **changes))
    assert "dealer_confirm" in caught.value.remedy


@pytest.mark.parametrize("at", [0, 64, 65, 200, -1])
def test_one_changed_byte_is_a_damaged_file(tmp_path: Path, at: int) -> None:
    p = camera(tmp_path)
    data = bytearray(taught(p).to_bytes())
    data[at] ^= 1
    p.teaching.write_bytes(data)
    with pytest.raises(CameraError, match="is damaged") as caught:
        found(p)
    assert "shaker-ctl teach" in caught.value.remedy


@pytest.mark.parametrize("data", [b"", b"\n", b"x" * 13_000_000])
def test_another_file_is_none(tmp_path: Path, data: bytes) -> None:
    p = camera(tmp_path)
    p.teaching.write_bytes(data)
    with pytest.raises(CameraError, match="teaching"):
        found(p)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"calibration": {"height_mm": 301.0}}, "measured anew"),
        ({"second": {"fitted": True}}, "measured anew"),
        ({"controls": {"exposure_ms": 8.0}}, "controls"),
    ],
)
def test_a_teaching_of_another_camera_or_light_is_refused(
    tmp_path: Path, changes: dict[str, object], why: str
) -> None:
    p = camera(tmp_path)
    p.teaching.write_bytes(taught(p).to_bytes())
    with pytest.raises(CameraError, match=why):
        found(camera(tmp_path, **changes))
