"""Random and mutated input at every role."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hil_tests.proofs.console_fuzz import WORDS, fuzz
from shaker_ctl.console.tests.fake_desk import FakeDesk
from shaker_ctl.console.tests.support import Terminal
from shaker_ctl.rules.vocabulary import Role


@pytest.mark.parametrize("role", [None, *Role], ids=str)
def test_noise_neither_crashes_nor_trespasses(role: Role | None) -> None:
    desk = fuzz(role, 12_000, seed=7)
    assert desk.trespasses == []
    assert role is not None or not desk.taken


_pieces = st.lists(
    st.tuples(
        st.one_of(st.binary(max_size=80), st.sampled_from(WORDS).map(lambda word: word + b"\r")),
        st.sampled_from([0.0, 0.01, 0.04, 0.3, 5.0, 700.0]),
    ),
    max_size=40,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=_pieces)
def test_without_login_nothing_ever_reaches_the_table(
    users: Path, pieces: list[tuple[bytes, float]]
) -> None:
    desk = FakeDesk()
    person = Terminal(desk, users)
    for data, silence in pieces:
        person.send(data)
        person.wait(silence)
    assert desk.acts == []
    assert desk.refused == []
    person.wait(100)
    person.type("\x03")
    person.type("mode people")
    assert "Table 7" in person.type("status")
