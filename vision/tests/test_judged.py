"""Every limit and weight decides: recorded evidence has its verdict, and a changed limit another.

After a change that is meant, `python -m vision.tests.test_judged` writes the verdicts anew; their
difference is then part of the change. A new limit needs a case that it decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from vision.parameters import LIMITS, Limits
from vision.tests.judged import Judged, load, save


@pytest.fixture(scope="module")
def cases() -> list[Judged]:
    return load()


def test_recorded_evidence_has_its_verdict(cases):
    assert len(cases) >= 200
    other = [(i, c.verdict, c.stated()) for i, c in enumerate(cases) if c.stated() != c.verdict]
    assert not other


def changed(times: float) -> Iterator[tuple[str, Limits]]:
    """The limits with each number in turn so many times as large."""
    for field in fields(Limits):
        value: Any = getattr(LIMITS, field.name)
        if not isinstance(value, tuple):
            yield field.name, replace(LIMITS, **{field.name: value * times})
            continue
        for i, number in enumerate(value):
            if number:
                other: Any = (*value[:i], number * times, *value[i + 1 :])
                yield f"{field.name}[{i}]", replace(LIMITS, **{field.name: other})


@pytest.mark.parametrize("times", [1.5, 0.67])
def test_no_limit_changes_unnoticed(cases, times):
    unnoticed = [
        name
        for name, limits in changed(times)
        if all(case.stated(limits) == case.verdict for case in cases)
    ]
    assert not unnoticed


if __name__ == "__main__":
    save([replace(case, verdict=case.stated()) for case in load()])
