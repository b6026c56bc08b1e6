"""The error tree: every code is one error's own."""

from __future__ import annotations

import inspect

from shaker_ctl import errors


def test_no_two_errors_share_a_code() -> None:
    codes = [
        found.code
        for found in vars(errors).values()
        if inspect.isclass(found) and issubclass(found, errors.ShakerError)
    ]
    assert sorted(codes) == sorted(set(codes))
