"""Levels over time: the arithmetic answer and the listed edges must be the same story."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from virtual_pigpiod.pins.sources import Once, PulseTrain, Several
from virtual_pigpiod.pins.timeline import LevelSource, Timeline
from virtual_pigpiod.waves.patterns import Pattern, RepeatedPattern, Sequence, Wave
from virtual_pigpiod.waves.transmitter import Track, TrackOnPin
from virtual_pigpiod.waves.waveform import Pulse

times = st.integers(0, 5000)

trains = st.builds(
    lambda period, share, origin: PulseTrain(period, period * share // 4, origin),
    st.integers(20, 700),
    st.integers(0, 4),
    st.integers(0, 300),
)
once = st.builds(Once, times, st.integers(0, 1))
pulses = st.lists(
    st.builds(Pulse, st.integers(0, 3), st.integers(0, 3), st.integers(0, 200)),
    min_size=1,
    max_size=5,
)
parts = st.one_of(st.builds(lambda p: Wave(0, p), pulses), st.builds(Pattern, st.integers(0, 90)))


def _looped(children: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    body = st.builds(Sequence, st.lists(children, min_size=1, max_size=3))
    return body | st.builds(RepeatedPattern, body, st.integers(1, 3))


finite = st.recursive(parts, _looped, max_leaves=5)
patterns = finite | st.builds(RepeatedPattern, finite)
tracks = st.builds(
    lambda pattern, start: TrackOnPin(Track(pattern, start, start + pattern.duration_us), 0),
    patterns,
    st.integers(0, 400),
)
sources: st.SearchStrategy[LevelSource] = st.one_of(trains, once, tracks)
several = sources | st.builds(lambda a, b: Several((a, b)), trains, once)


@given(source=several, after=times, length=st.integers(0, 3000))
def test_the_last_write_is_the_last_of_the_listed_writes(
    source: LevelSource, after: int, length: int
) -> None:
    events = source.events(after, after + length)
    last = source.last(after, after + length)
    assert all(after < at <= after + length for at, _ in events)
    assert events == sorted(events, key=lambda event: event[0])
    assert last == (events[-1] if events else None)


@given(source=several, cuts=st.lists(times, min_size=2, max_size=6))
def test_writes_are_the_same_however_the_time_is_cut(source: LevelSource, cuts: list[int]) -> None:
    cuts = sorted(cuts)
    pieces = [e for a, b in itertools.pairwise(cuts) for e in source.events(a, b)]
    assert pieces == source.events(cuts[0], cuts[-1])


@given(
    begins=st.lists(st.tuples(st.integers(1, 200), st.integers(0, 1), st.none() | sources)),
    looks=st.lists(st.integers(0, 9)),
)
def test_a_tap_tells_the_level_at_every_moment(
    begins: list[tuple[int, int, LevelSource | None]], looks: list[int]
) -> None:
    """However the time is cut, and when the last look ended a little before a segment began."""
    line = Timeline(0, 0)
    tap, whole = line.tap(0), line.tap(0)
    now, heard = 0, []
    for (step, begun, source), early in itertools.zip_longest(begins, looks[: len(begins)]):
        now += step
        line.begin(now, begun, source)
        if early is not None:
            heard += tap.take(max(now - early, tap.upto_us))
    heard += tap.take(now + 1000)
    assert heard == whole.take(now + 1000)
    levels = [0, *(level for _, level in heard)]
    assert all(before != after for before, after in itertools.pairwise(levels))
    assert heard == sorted(heard, key=lambda event: event[0])
    assert levels[-1] == line.level_at(now + 1000)


def test_a_loop_of_nothing_does_not_stop_time() -> None:
    endless = RepeatedPattern(Sequence([Pattern(0)]))
    assert endless.events(0, 0, 100) == []
    assert endless.last(0, 1e6) is None


def test_a_long_chain_is_read_without_walking_through_it() -> None:
    body: Pattern = Wave(0, [Pulse(1, 0, 3), Pulse(0, 1, 4)])
    for _ in range(10):
        body = RepeatedPattern(Sequence([body]), 65_535)
    assert body.last(0, 7 * 10**30 + 5) is not None
